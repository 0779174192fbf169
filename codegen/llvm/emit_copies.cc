// Asynchronous copies of kernels, from memory of the device to memory of the block.
//
//   async t[ramp(i, 1, 8)] = in[ramp(j, 1, 8)]   ->   cp.async.cg.shared.global [t + i], [in + j],
//   16 commit_copies                                ->   cp.async.commit_group wait_copies 1 ->
//   cp.async.wait_group 1
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

// The copy of `bytes`, with as few instructions as the addresses allow; null: none does.
const Instruction *largest_copy(uint64_t bytes, uint64_t alignment) {
  const Instruction *found = nullptr;
  for (const Instruction &i : instructions()) {
    const auto size = static_cast<uint64_t>(i.bytes);
    if (i.meaning != InstructionMeaning::CopyAsync || bytes % size != 0 || alignment < size) {
      continue;
    }
    if (!found || found->bytes < i.bytes) found = &i;
  }
  return found;
}

const Instruction &control(InstructionMeaning meaning) {
  for (const Instruction &i : instructions()) {
    if (i.meaning == meaning) return i;
  }
  internal_check(false, "the table has the instructions of copies");
  return instructions()[0];
}

}  // namespace

void FunctionEmitter::emit_async_store(const StmtNode &store) {
  const LoadNode *load = as_load(store.args[1]);
  auto define = [this](const std::string &name) { return definition(name); };
  const auto to = to_lane_address(store.args[0], define);
  const auto from = load ? to_lane_address(load->args[0], define) : std::nullopt;
  const Type t = store.args[1].type();
  const auto bytes = static_cast<uint64_t>(t.bytes()) * static_cast<uint64_t>(t.lanes());
  auto refuse = [&](const std::string &why, const std::string &fix) {
    user_error("cannot produce '" + store.name + "' asynchronously in kernel '" +
                   kernel_->kernel->name + "'",
               why, fix);
  };
  const bool masked = store.args.size() > 2 || (load && load->args.size() > 1);
  if (!to || !from || masked) {
    refuse("the elements that a thread copies at once are masked or have no order",
           "use a tail strategy that keeps vectors whole, RoundUp");
  }
  auto is_dense = [&](const LaneAddress &a) {
    return t.is_scalar() || a.stride.as_constant() == 1;
  };
  if (!is_dense(*to) || !is_dense(*from)) {
    refuse("the elements that a thread copies at once do not lie beside each other",
           "vectorize the dimension that is innermost in memory, of both");
  }
  constexpr uint64_t kLeastBytes = 4;
  if (bytes % kLeastBytes != 0) {
    refuse("a thread copies " + std::to_string(bytes) +
               " bytes at once, and instructions copy 4, 8 or 16",
           "vectorize its innermost dimension");
  }
  const uint64_t known = std::min(alignment(store.name, t, to->base).value(),
                                  alignment(load->buffer, t, from->base).value());
  Value *target = address(store.name, t, to->base), *source = address(load->buffer, t, from->base);
  const Instruction *copy = largest_copy(bytes, known);
  if (!copy) {
    // Rows that begin anywhere: the thread moves the elements itself, which is early enough.
    for (int lane = 0; lane < t.lanes(); lane++) {
      llvm::Type *element = memory_type(context_, t.element_of());
      auto at = [&](Value *pointer) {
        return builder_.CreateConstInBoundsGEP1_32(element, pointer, static_cast<unsigned>(lane));
      };
      const llvm::Align align(static_cast<uint64_t>(t.bytes()));
      auto *value = builder_.CreateAlignedLoad(element, at(source), align);
      module_.mark_access(value, load->buffer);
      module_.mark_access(builder_.CreateAlignedStore(value, at(target), align), store.name);
    }
    scopes_.memory_changed();
    return;
  }
  for (uint64_t done = 0; done < bytes; done += static_cast<uint64_t>(copy->bytes)) {
    auto piece = [&](Value *pointer, llvm::Type *type) {
      return builder_.CreatePtrToInt(
          builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), pointer, done), type);
    };
    emit_gpu_instruction(
        *copy, {{piece(target, builder_.getInt32Ty())}, {piece(source, builder_.getInt64Ty())}});
  }
  scopes_.memory_changed();
}

void FunctionEmitter::emit_commit_copies() {
  emit_gpu_instruction(control(InstructionMeaning::CommitCopies), {});
}

void FunctionEmitter::emit_wait_copies(const StmtNode &s) {
  int64_t n = 0;
  is_const_int(s.args[0], &n);
  emit_gpu_instruction(control(InstructionMeaning::WaitCopies), {}, n);
  scopes_.memory_changed();
}

}  // namespace polyhalite
