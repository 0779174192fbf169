// Instructions of GPUs, from the table of codegen/ir/instructions, as PTX in the middle of code.
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

// Elements of 16 bits go two in a register.
int elements_per_register(Type t) { return t.bits() == 16 ? 2 : 1; }
int registers_of(const InstructionOperand &o) {
  return o.home == Home::Thread ? o.fragment.per_lane / elements_per_register(o.type) : 1;
}
const char *register_class(const InstructionOperand &o) {
  if (o.home == Home::Device) return "l";
  return o.home == Home::Thread && o.type == Float(32) ? "f" : "r";
}

// "{$0, $1}", "$4", "[$5]"
std::string operand_text(const InstructionOperand &o, int first) {
  if (o.home != Home::Thread) return "[$" + std::to_string(first) + "]";
  const int n = registers_of(o);
  std::string text;
  for (int i = 0; i < n; i++) text += (i ? ", $" : "$") + std::to_string(first + i);
  return n > 1 ? "{" + text + "}" : text;
}

std::string with_operands(const Instruction &i, const std::vector<int> &first, int64_t number) {
  std::string text;
  for (const char *c = i.ptx; *c; c++) {
    if (*c != '%') {
      text += *c;
    } else if (*++c == 'n') {
      text += std::to_string(number);
    } else {
      const auto operand = static_cast<size_t>(*c - '0');
      text += operand_text(i.operands[operand], first[operand]);
    }
  }
  return text;
}

llvm::Intrinsic::ID matrix_load(const Instruction &i) {
  const Fragment &to = i.operands[0].fragment;
  const bool transposed = to.element_bits[0].row != 0;
  if (to.per_lane == 4) {
    return transposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16
                      : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16;
  }
  internal_check(to.per_lane == 8, "matrices are loaded in twos or fours");
  return transposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                    : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
}

}  // namespace

// By LLVM's intrinsic, which knows what memory is read: text between barriers would move freely,
// or be loaded again for each product.
std::vector<Value *> FunctionEmitter::emit_matrix_load(const Instruction &i, Value *from) {
  Value *call = builder_.CreateIntrinsic(matrix_load(i), {from->getType()}, {from});
  std::vector<Value *> parts;
  for (unsigned r = 0; r < static_cast<unsigned>(registers_of(i.operands[0])); r++) {
    parts.push_back(builder_.CreateExtractValue(call, r));
  }
  return parts;
}

std::vector<Value *> FunctionEmitter::emit_gpu_instruction(
    const Instruction &i, const std::vector<std::vector<Value *>> &registers, int64_t number) {
  std::vector<llvm::Type *> results, inputs;
  std::vector<Value *> args;
  std::string outputs, read, tied;
  std::vector<int> first(i.operands.size());
  int position = 0;
  auto type_of = [&](const InstructionOperand &o) -> llvm::Type * {
    const std::string kind = register_class(o);
    if (kind == "f") return builder_.getFloatTy();
    return kind == "l" ? builder_.getInt64Ty() : builder_.getInt32Ty();
  };
  auto is_result = [](const InstructionOperand &o) {
    return o.home == Home::Thread && o.is_written;
  };
  for (size_t k = 0; k < i.operands.size(); k++) {
    const InstructionOperand &o = i.operands[k];
    if (!is_result(o)) continue;
    first[k] = position;
    for (int r = 0; r < registers_of(o); r++) {
      outputs += std::string(outputs.empty() ? "=" : ",=") + register_class(o);
      results.push_back(type_of(o));
      if (o.is_read) tied += "," + std::to_string(position);
      position++;
    }
  }
  for (size_t k = 0; k < i.operands.size(); k++) {
    const InstructionOperand &o = i.operands[k];
    if (is_result(o)) continue;
    first[k] = position;
    for (Value *v : registers[k]) {
      read += std::string(",") + register_class(o);
      args.push_back(v);
      position++;
    }
  }
  for (size_t k = 0; k < i.operands.size(); k++) {
    if (is_result(i.operands[k]) && i.operands[k].is_read) {
      args.insert(args.end(), registers[k].begin(), registers[k].end());
    }
  }
  for (Value *v : args) inputs.push_back(v->getType());
  std::string constraints = outputs + read + tied;
  if (!constraints.empty() && constraints[0] == ',') constraints.erase(0, 1);
  if (i.writes_memory) constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
  llvm::Type *result = results.empty()       ? builder_.getVoidTy()
                       : results.size() == 1 ? results[0]
                                             : llvm::StructType::get(context_, results);
  auto *code = llvm::InlineAsm::get(llvm::FunctionType::get(result, inputs, false),
                                    with_operands(i, first, number), constraints, i.writes_memory);
  llvm::CallInst *call = builder_.CreateCall(code, args);
  call->setDoesNotThrow();
  if (i.is_convergent) call->setConvergent();
  if (!i.writes_memory && i.reads_memory) call->setOnlyReadsMemory();
  if (!i.writes_memory && !i.reads_memory) call->setDoesNotAccessMemory();
  if (results.size() <= 1) return {call};
  std::vector<Value *> parts;
  for (unsigned r = 0; r < results.size(); r++)
    parts.push_back(builder_.CreateExtractValue(call, r));
  return parts;
}

void FunctionEmitter::emit_collective(const StmtNode &s) {
  const Instruction *i = find_instruction(s.name);
  internal_check(i && i->operands.size() == s.buffers.size(),
                 "a collective statement has the operands of its instruction");
  std::vector<std::vector<Value *>> registers;
  std::vector<Value *> addresses;
  for (size_t k = 0; k < s.buffers.size(); k++) {
    const InstructionOperand &o = i->operands[k];
    Value *from = scalar_address(s.buffers[k], o.type, s.args[k]);
    addresses.push_back(from);
    registers.emplace_back();
    if (o.home != Home::Thread) {
      registers[k] = {builder_.CreatePtrToInt(
          from, o.home == Home::Block ? builder_.getInt32Ty() : builder_.getInt64Ty())};
      continue;
    }
    if (!o.is_read) continue;
    llvm::Type *type = o.type == Float(32) ? builder_.getFloatTy()
                                           : static_cast<llvm::Type *>(builder_.getInt32Ty());
    for (unsigned r = 0; r < static_cast<unsigned>(registers_of(o)); r++) {
      auto *load = builder_.CreateAlignedLoad(
          type, builder_.CreateConstInBoundsGEP1_32(type, from, r), llvm::Align(4));
      module_.mark_access(load, s.buffers[k]);
      registers[k].push_back(load);
    }
  }
  const bool loads = i->meaning == InstructionMeaning::LoadMatrices;
  const std::vector<Value *> results =
      loads ? emit_matrix_load(*i, addresses[1]) : emit_gpu_instruction(*i, registers);
  size_t next = 0;
  for (size_t k = 0; k < s.buffers.size(); k++) {
    const InstructionOperand &o = i->operands[k];
    if (o.home != Home::Thread || !o.is_written) continue;
    for (unsigned r = 0; r < static_cast<unsigned>(registers_of(o)); r++) {
      Value *value = results[next++];
      module_.mark_access(
          builder_.CreateAlignedStore(
              value, builder_.CreateConstInBoundsGEP1_32(value->getType(), addresses[k], r),
              llvm::Align(4)),
          s.buffers[k]);
    }
  }
  scopes_.memory_changed();
}

}  // namespace polyhalite
