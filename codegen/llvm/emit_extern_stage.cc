// Extern stages: functions of the program that get buffers.
//
//   evaluate extern_stage("f", view of in, 3, view of out)
//     ->  code = f(&in, 3, &out); if (code) return polyhalite_error_extern_stage_failed(..., code)
//   extern_bounds("f", 0, d, 0, query, 3, query of the box)
//     ->  the same call with buffers without memory; then the min of dimension d of argument 0
#include <algorithm>
#include <cstddef>

#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_buffer.h"
#include "lang/ir/cxx_symbol.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

constexpr size_t kFirstOfStage = 1;   // behind the function's name
constexpr size_t kFirstOfBounds = 4;  // behind name, operand, dimension, which end

const CallNode *as_extern_call(const Expr &e, const char *name) {
  const CallNode *c = as_call(e);
  return c && c->kind == CallKind::Extern && c->name == name ? c : nullptr;
}

}  // namespace

// A polyhalite_buffer_t in the frame: its dimensions are triples of min, extent and stride.
Value *FunctionEmitter::emit_buffer(Value *host, Value *type,
                                    const std::vector<std::array<Value *, 3>> &dims) {
  llvm::Type *byte = builder_.getInt8Ty();
  llvm::IRBuilder<> entry = entry_builder();
  auto frame = [&](uint64_t bytes) {
    llvm::AllocaInst *a = entry.CreateAlloca(llvm::ArrayType::get(byte, bytes));
    a->setAlignment(llvm::Align(8));
    return a;
  };
  const auto &fields = module_.abi.buffer;
  Value *buffer = frame(fields.bytes);
  Value *shape = frame(std::max<size_t>(dims.size(), 1) * sizeof(polyhalite_dimension_t));
  builder_.CreateMemSet(buffer, builder_.getInt8(0), fields.bytes, llvm::Align(8));
  builder_.CreateMemSet(shape, builder_.getInt8(0),
                        std::max<size_t>(dims.size(), 1) * sizeof(polyhalite_dimension_t),
                        llvm::Align(8));
  auto set = [&](Value *base, uint64_t offset, Value *value) {
    builder_.CreateAlignedStore(value, builder_.CreateConstInBoundsGEP1_64(byte, base, offset),
                                llvm::Align(4));
  };
  set(buffer, fields.host, host);
  set(buffer, fields.type, type);
  set(buffer, fields.dimensions, builder_.getInt32(static_cast<uint32_t>(dims.size())));
  set(buffer, fields.dim, shape);
  for (size_t d = 0; d < dims.size(); d++) {
    const size_t at = d * sizeof(polyhalite_dimension_t);
    set(shape, at + offsetof(polyhalite_dimension_t, min), dims[d][0]);
    set(shape, at + offsetof(polyhalite_dimension_t, extent), dims[d][1]);
    set(shape, at + offsetof(polyhalite_dimension_t, stride), dims[d][2]);
  }
  return buffer;
}

Value *FunctionEmitter::emit_c_argument(const Expr &e) {
  Value *zero = builder_.getInt32(0);
  for (const char *mark : {intrinsic::kWrittenBuffer, intrinsic::kCheckedBuffer}) {
    if (const CallNode *marked = as_extern_call(e, mark)) return emit_c_argument(marked->args[0]);
  }
  if (const CallNode *view = as_extern_call(e, intrinsic::kBufferView)) {
    const LoadNode *first = as_load(view->args[0]);
    internal_check(first != nullptr, "a buffer_view of what is no element");
    Value *index = emit_wide(first->args[0]);
    std::vector<std::array<Value *, 3>> dims;
    for (size_t i = 1; i < view->args.size(); i += 3) {
      // One step in this dimension: the distance of neighbours.
      Value *next = emit_wide(as_load(view->args[i + 2])->args[0]);
      dims.push_back(
          {emit(view->args[i]), emit(view->args[i + 1]),
           builder_.CreateTrunc(builder_.CreateSub(next, index), builder_.getInt32Ty())});
    }
    Value *host = builder_.CreateGEP(memory_type(context_, first->type.element_of()),
                                     base_pointer(first->buffer), index);
    return emit_buffer(
        host, builder_.getInt32(static_cast<polyhalite_type_t>(first->type.element_of()).as_u32()),
        dims);
  }
  if (const CallNode *query = as_extern_call(e, intrinsic::kBufferQuery)) {
    int64_t dimensions = 0;
    is_const_int(query->args[1], &dimensions);
    std::vector<std::array<Value *, 3>> dims;
    Value *stride = builder_.getInt32(1);
    for (size_t d = 0; d < static_cast<size_t>(dimensions); d++) {
      if (query->args.size() == 2) {
        dims.push_back({zero, zero, zero});
        continue;
      }
      Value *extent = emit(query->args[3 + 2 * d]);
      dims.push_back({emit(query->args[2 + 2 * d]), extent, stride});
      stride = builder_.CreateMul(stride, extent);
    }
    return emit_buffer(llvm::ConstantPointerNull::get(builder_.getPtrTy()), emit(query->args[0]),
                       dims);
  }
  return emit(e);
}

Value *FunctionEmitter::call_c_function(const std::string &function,
                                        const std::vector<Value *> &args, const char *error,
                                        const std::string &culprit) {
  std::vector<llvm::Type *> types;
  for (Value *a : args) types.push_back(a->getType());
  Value *code = call_program(module_.declare(function, builder_.getInt32Ty(), types), args);
  scopes_.memory_changed();
  llvm::BasicBlock *fail = block("extern_failed"), *fine = block("extern_done");
  builder_.CreateCondBr(builder_.CreateICmpEQ(code, builder_.getInt32(0)), fine, fail);
  builder_.SetInsertPoint(fail);
  llvm::Type *pointer = builder_.getPtrTy();
  llvm::FunctionCallee report = module_.declare(error, builder_.getInt32Ty(),
                                                {pointer, pointer, pointer, builder_.getInt32Ty()});
  return_code(builder_.CreateCall(report, {user_context_, module_.string(module_.function.name),
                                           module_.string(culprit), code}));
  builder_.SetInsertPoint(fine);
  return code;
}

Value *FunctionEmitter::emit_extern_stage(const CallNode &call) {
  std::vector<Value *> args;
  for (size_t i = kFirstOfStage; i < call.args.size(); i++) {
    args.push_back(emit_c_argument(call.args[i]));
  }
  auto each_marked = [&](const char *mark, auto act) {
    for (size_t i = 0; i < args.size(); i++) {
      const CallNode *marked = as_extern_call(call.args[kFirstOfStage + i], mark);
      if (!marked) continue;
      const CallNode *view = as_extern_call(marked->args[0], intrinsic::kBufferView);
      act(args[i], as_load(view->args[0])->buffer);
    }
  };
  describe_buffers(call, kFirstOfStage, args);
  each_marked(intrinsic::kWrittenBuffer, [&](Value *buffer, const std::string &) {
    call_msan("polyhalite_msan_annotate_buffer_is_initialized", {buffer});
  });
  const std::string &function = as_imm(call.args[0])->s;
  Value *code = call_c_function(function, args, "polyhalite_error_extern_stage_failed",
                                readable_symbol(function));
  each_marked(intrinsic::kCheckedBuffer, [&](Value *buffer, const std::string &name) {
    call_msan("polyhalite_msan_check_argument", {buffer, module_.string(name)});
  });
  return code;
}

// What the program's function reads of the arguments that are buffers was written by this code.
void FunctionEmitter::describe_buffers(const CallNode &call, size_t first,
                                       const std::vector<Value *> &args) {
  if (!module_.target.has_feature(Target::MSAN)) return;
  for (size_t i = 0; i < args.size(); i++) {
    const CallNode *c = as_call(call.args[first + i]);
    const bool is_buffer =
        c && c->kind == CallKind::Extern &&
        (c->name == intrinsic::kBufferView || c->name == intrinsic::kBufferQuery ||
         c->name == intrinsic::kWrittenBuffer || c->name == intrinsic::kCheckedBuffer);
    if (is_buffer) call_msan("polyhalite_msan_annotate_description", {args[i]});
  }
}

void FunctionEmitter::call_msan(const char *hook, std::vector<Value *> args) {
  args.insert(args.begin(), user_context_);
  const std::vector<llvm::Type *> types(args.size(), builder_.getPtrTy());
  builder_.CreateCall(module_.declare(hook, builder_.getInt32Ty(), types), args);
}

// debug_to_file("name.npy", view of f)
Value *FunctionEmitter::emit_debug_to_file(const CallNode &call) {
  const std::string &file = as_imm(call.args[0])->s;
  return call_c_function("polyhalite_debug_to_file",
                         {user_context_, module_.string(file), emit_c_argument(call.args[1])},
                         "polyhalite_error_debug_to_file_failed", file);
}

Value *FunctionEmitter::emit_extern_bounds(const CallNode &call) {
  std::vector<Expr> question = {call.args[0]};
  question.insert(question.end(), call.args.begin() + kFirstOfBounds, call.args.end());
  const bool known =
      asked_.block == builder_.GetInsertBlock() &&
      std::equal(question.begin(), question.end(), asked_.question.begin(), asked_.question.end(),
                 [](const Expr &a, const Expr &b) { return equal(a, b); });
  if (!known) {
    asked_.question = question;
    asked_.args.clear();
    for (size_t i = kFirstOfBounds; i < call.args.size(); i++) {
      asked_.args.push_back(emit_c_argument(call.args[i]));
    }
    describe_buffers(call, kFirstOfBounds, asked_.args);
    const std::string &function = as_imm(call.args[0])->s;
    call_c_function(function, asked_.args, "polyhalite_error_bounds_inference_call_failed",
                    readable_symbol(function));
    asked_.block = builder_.GetInsertBlock();
  }
  const std::vector<Value *> &args = asked_.args;
  int64_t operand = 0, dimension = 0, is_max = 0;
  is_const_int(call.args[1], &operand);
  is_const_int(call.args[2], &dimension);
  is_const_int(call.args[3], &is_max);
  llvm::Type *byte = builder_.getInt8Ty();
  Value *shape = builder_.CreateLoad(
      builder_.getPtrTy(), builder_.CreateConstInBoundsGEP1_64(
                               byte, args[static_cast<size_t>(operand)], module_.abi.buffer.dim));
  auto field = [&](size_t offset) {
    const size_t at = static_cast<size_t>(dimension) * sizeof(polyhalite_dimension_t) + offset;
    return builder_.CreateLoad(builder_.getInt32Ty(),
                               builder_.CreateConstInBoundsGEP1_64(byte, shape, at));
  };
  Value *min = field(offsetof(polyhalite_dimension_t, min));
  if (!is_max) return min;
  Value *extent = field(offsetof(polyhalite_dimension_t, extent));
  return builder_.CreateSub(builder_.CreateAdd(min, extent), builder_.getInt32(1));
}

}  // namespace polyhalite
