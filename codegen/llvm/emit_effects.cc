// Expressions that act: print and require.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/widen_float16.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

bool is_text(const Expr &e) { return e->op == Op::StringImm; }

}  // namespace

// An array of polyhalite_print_item_t with lane `lane` of call.args[first..].
Value *FunctionEmitter::print_items(const CallNode &call, size_t first, Value *lane) {
  llvm::Type *i32 = builder_.getInt32Ty(), *i64 = builder_.getInt64Ty();
  auto *item_type = llvm::StructType::get(context_, {i32, i32, i64});
  const size_t count = call.args.size() - first;
  llvm::IRBuilder<> entry = entry_builder();
  Value *array = entry.CreateAlloca(llvm::ArrayType::get(item_type, std::max<size_t>(count, 1)),
                                    nullptr, "printed");
  for (size_t k = 0; k < count; k++) {
    const Expr &e = call.args[first + k];
    Type t = e.type().element_of();
    Value *v = emit(e);
    if (is_float16(t)) {
      v = float32_of(v, t);
      t = Float(32);
    }
    if (e.type().is_vector()) v = builder_.CreateExtractElement(v, lane);
    uint32_t type = static_cast<uint32_t>(t.code()) | static_cast<uint32_t>(t.bits()) << 8;
    if (is_text(e)) type |= POLYHALITE_PRINT_TEXT;
    if (t.is_handle()) {
      v = builder_.CreatePtrToInt(v, i64);
    } else {
      if (t.is_float()) v = builder_.CreateBitCast(v, builder_.getIntNTy(t.bits()));
      v = builder_.CreateIntCast(v, i64, t.is_int());
    }
    Value *item = builder_.CreateConstInBoundsGEP1_64(item_type, array, k);
    builder_.CreateStore(builder_.getInt32(type), builder_.CreateStructGEP(item_type, item, 0));
    builder_.CreateStore(v, builder_.CreateStructGEP(item_type, item, 2));
  }
  return array;
}

Value *FunctionEmitter::emit_print(const CallNode &call) {
  Value *value = emit(call.args[1]), *condition = emit(call.args[0]);
  int lanes = 1;
  for (const Expr &e : call.args) lanes = std::max(lanes, e.type().lanes());
  llvm::Type *pointer = builder_.getPtrTy();
  llvm::FunctionCallee format = module_.declare("polyhalite_format_line", builder_.getVoidTy(),
                                                {pointer, pointer, builder_.getInt32Ty()});
  llvm::FunctionCallee print =
      module_.declare("polyhalite_print", builder_.getVoidTy(), {pointer, pointer});
  llvm::IRBuilder<> entry = entry_builder();
  Value *line = entry.CreateAlloca(
      llvm::ArrayType::get(builder_.getInt8Ty(), POLYHALITE_PRINT_BYTES), nullptr, "line");
  // Emitted here, where every lane can use them.
  for (size_t k = 1; k < call.args.size(); k++) emit(call.args[k]);
  for (int lane = 0; lane < lanes; lane++) {
    Value *holds = condition;
    if (call.args[0].type().is_vector()) {
      holds = builder_.CreateExtractElement(condition, static_cast<uint64_t>(lane));
    }
    llvm::BasicBlock *yes = block("print"), *after = block("printed");
    builder_.CreateCondBr(holds, yes, after);
    builder_.SetInsertPoint(yes);
    Value *items = print_items(call, 1, builder_.getInt64(static_cast<uint64_t>(lane)));
    builder_.CreateCall(
        format, {line, items, builder_.getInt32(static_cast<uint32_t>(call.args.size() - 1))});
    builder_.CreateCall(print, {user_context_, line});
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }
  return value;
}

// The message is that of the first lane that fails.
Value *FunctionEmitter::emit_require(const CallNode &call) {
  Value *value = emit(call.args[1]), *condition = emit(call.args[0]);
  for (size_t k = 2; k < call.args.size(); k++) emit(call.args[k]);
  const Type each = call.args[0].type();
  Value *const conditions = condition;
  if (each.is_vector()) condition = builder_.CreateAndReduce(condition);
  llvm::BasicBlock *fail = block("required"), *holds = block("holds");
  builder_.CreateCondBr(condition, holds, fail,
                        llvm::MDBuilder(context_).createBranchWeights(1 << 20, 1));
  builder_.SetInsertPoint(fail);
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  Value *lane = builder_.getInt64(0);
  if (each.is_vector()) {
    llvm::Type *bits = builder_.getIntNTy(static_cast<unsigned>(each.lanes()));
    Value *failed = builder_.CreateBitCast(builder_.CreateNot(conditions), bits);
    lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, failed, builder_.getTrue());
    lane = builder_.CreateZExtOrTrunc(lane, builder_.getInt64Ty());
  }
  Value *items = print_items(call, 2, lane);
  llvm::FunctionCallee report = module_.declare("polyhalite_error_requirement_failed", i32,
                                                {pointer, pointer, pointer, pointer, i32});
  return_code(builder_.CreateCall(
      report,
      {user_context_, module_.string(module_.function.name), module_.string(to_text(call.args[0])),
       items, builder_.getInt32(static_cast<uint32_t>(call.args.size() - 2))}));
  builder_.SetInsertPoint(holds);
  return value;
}

}  // namespace polyhalite
