// Trace events: a polyhalite_trace_event_t in the frame, handed to polyhalite_trace.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

// An array of Int(32) in the frame.
Value *FunctionEmitter::store_numbers(const std::vector<Value *> &numbers, int lanes) {
  llvm::Type *i32 = builder_.getInt32Ty();
  const size_t count = numbers.size() * static_cast<size_t>(lanes);
  llvm::IRBuilder<> entry = entry_builder();
  Value *array =
      entry.CreateAlloca(llvm::ArrayType::get(i32, std::max<size_t>(count, 1)), nullptr, "numbers");
  for (size_t d = 0; d < numbers.size(); d++) {
    Value *at = builder_.CreateConstInBoundsGEP1_64(i32, array, d * static_cast<size_t>(lanes));
    builder_.CreateAlignedStore(numbers[d], at, llvm::Align(4));
  }
  return array;
}

Value *FunctionEmitter::store_event(const TraceEvent &e) {
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  llvm::Type *i8 = builder_.getInt8Ty(), *i16 = builder_.getInt16Ty();
  auto *type_struct = llvm::StructType::get(context_, {i8, i8, i16});
  auto *event_struct = llvm::StructType::get(
      context_, {pointer, pointer, pointer, pointer, type_struct, i32, i32, i32, i32});
  llvm::IRBuilder<> entry = entry_builder();
  Value *event = entry.CreateAlloca(event_struct, nullptr, "event");
  auto set = [&](unsigned field, Value *v) {
    builder_.CreateStore(v, builder_.CreateStructGEP(event_struct, event, field));
  };
  auto or_null = [&](Value *v) {
    return v ? v : llvm::ConstantPointerNull::get(builder_.getPtrTy());
  };
  set(0, module_.string(e.func));
  set(1, or_null(e.value));
  set(2, or_null(e.coordinates));
  set(3, or_null(e.tag));
  set(4, llvm::ConstantStruct::get(
             type_struct, {llvm::ConstantInt::get(i8, static_cast<uint64_t>(e.type.code())),
                           llvm::ConstantInt::get(i8, static_cast<uint64_t>(e.type.bits())),
                           llvm::ConstantInt::get(i16, static_cast<uint64_t>(e.type.lanes()))}));
  set(5, e.code);
  set(6, e.parent);
  set(7, e.value_index);
  set(8, builder_.getInt32(static_cast<uint32_t>(e.dimensions)));
  return event;
}

llvm::FunctionCallee FunctionEmitter::trace_function() {
  llvm::Type *pointer = builder_.getPtrTy();
  return module_.declare("polyhalite_trace", builder_.getInt32Ty(), {pointer, pointer});
}

// trace(func, event, parent, value_index, tag, numbers...)
Value *FunctionEmitter::emit_trace(const CallNode &call) {
  constexpr size_t kTag = 4, kNumbers = 5;
  std::vector<Value *> numbers;
  for (size_t k = kNumbers; k < call.args.size(); k++) numbers.push_back(emit(call.args[k]));
  TraceEvent e;
  e.func = as_imm(call.args[0])->s;
  e.type = Type(Type::Handle, 0, 0);
  e.code = emit(call.args[1]);
  e.parent = emit(call.args[2]);
  e.value_index = emit(call.args[3]);
  const std::string &tag = as_imm(call.args[kTag])->s;
  if (tag.empty()) {
    e.dimensions = numbers.size();
    if (!numbers.empty()) e.coordinates = store_numbers(numbers, 1);
  } else if (numbers.empty()) {
    e.tag = module_.string(tag);
  } else {
    // The numbers stand behind the text, each with a space in front.
    constexpr size_t kDigits = 12;
    llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
    llvm::IRBuilder<> entry = entry_builder();
    e.tag = entry.CreateAlloca(
        llvm::ArrayType::get(builder_.getInt8Ty(), tag.size() + 1 + kDigits * numbers.size()),
        nullptr, "tag");
    builder_.CreateCall(module_.declare("polyhalite_format_trace_tag", builder_.getVoidTy(),
                                        {pointer, pointer, pointer, i32}),
                        {e.tag, module_.string(tag), store_numbers(numbers, 1),
                         builder_.getInt32(static_cast<uint32_t>(numbers.size()))});
  }
  return builder_.CreateCall(trace_function(), {user_context_, store_event(e)});
}

// trace_access(x, condition, func, event, parent, value_index, coordinates...): the event has all
// lanes where all take part, else there is one for each lane that does.
Value *FunctionEmitter::emit_trace_access(const CallNode &call) {
  constexpr size_t kFunc = 2, kCoordinates = 6;
  const int lanes = call.type.lanes();
  // Everything that the event needs is known before the branch around it.
  Value *x = emit(call.args[0]);
  std::vector<Value *> coordinates;
  for (size_t k = kCoordinates; k < call.args.size(); k++) {
    Value *v = emit(call.args[k]);
    coordinates.push_back(call.args[k].type().lanes() == lanes ? v : splat(v, lanes));
  }
  TraceEvent e;
  e.func = as_imm(call.args[kFunc])->s;
  e.type = call.type;
  e.code = emit(call.args[kFunc + 1]);
  e.parent = emit(call.args[kFunc + 2]);
  e.value_index = emit(call.args[kFunc + 3]);
  e.dimensions = coordinates.size() * static_cast<size_t>(lanes);
  const Expr &condition = call.args[1];
  Value *holds = is_true(condition) ? nullptr : emit(condition);

  llvm::BasicBlock *after = nullptr;
  if (holds) {
    llvm::BasicBlock *yes = block("traced");
    after = block("after_trace");
    Value *some = condition.type().is_vector() ? builder_.CreateOrReduce(holds) : holds;
    builder_.CreateCondBr(some, yes, after);
    builder_.SetInsertPoint(yes);
  }
  llvm::IRBuilder<> entry = entry_builder();
  llvm::AllocaInst *value = entry.CreateAlloca(memory_type(context_, call.type), nullptr, "traced");
  builder_.CreateStore(to_memory(x, call.type), value);
  e.value = value;
  if (!coordinates.empty()) e.coordinates = store_numbers(coordinates, lanes);
  Value *event = store_event(e);
  if (holds && condition.type().is_vector()) {
    llvm::Type *pointer = builder_.getPtrTy();
    auto *bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), static_cast<unsigned>(lanes));
    llvm::AllocaInst *mask = entry.CreateAlloca(bytes, nullptr, "traced_lanes");
    builder_.CreateStore(builder_.CreateZExt(holds, bytes), mask);
    builder_.CreateCall(module_.declare("polyhalite_trace_lanes", builder_.getVoidTy(),
                                        {pointer, pointer, pointer, pointer}),
                        {user_context_, event, mask, trace_function().getCallee()});
  } else {
    builder_.CreateCall(trace_function(), {user_context_, event});
  }
  if (holds) {
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }
  return x;
}

}  // namespace polyhalite
