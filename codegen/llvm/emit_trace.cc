// Trace events: a polyhalite_trace_event_t in the frame, handed to polyhalite_trace.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

// trace(func, event, parent, value_index, tag, coordinates...) is the event's number;
// trace_access(value, func, event, parent, value_index, coordinates...) is the value.
Value *FunctionEmitter::emit_trace(const CallNode &call) {
  const bool access = call.name == intrinsic::kTraceAccess;
  const size_t first = access ? 1 : 0, coordinates_at = 5;
  auto lane0 = [&](const Expr &e) -> Value * {
    Value *v = emit(e);
    return e.type().is_vector() ? builder_.CreateExtractElement(v, uint64_t{0}) : v;
  };
  llvm::Type *pointer = builder_.getPtrTy(), *i32 = builder_.getInt32Ty();
  llvm::Type *i8 = builder_.getInt8Ty(), *i16 = builder_.getInt16Ty();
  auto *type_struct = llvm::StructType::get(context_, {i8, i8, i16});
  auto *event_struct = llvm::StructType::get(
      context_, {pointer, pointer, pointer, pointer, type_struct, i32, i32, i32, i32});
  const int lanes = access ? call.type.lanes() : 1;
  const size_t count = (call.args.size() - coordinates_at) * static_cast<size_t>(lanes);

  Value *traced = access ? emit(call.args[0]) : nullptr;
  std::vector<Value *> coordinates;
  for (size_t k = coordinates_at; k < call.args.size(); k++) {
    const Expr &e = call.args[k];
    Value *v = emit(e);
    coordinates.push_back(e.type().lanes() == lanes ? v : splat(v, lanes));
  }
  Value *event_code = lane0(call.args[first + 1]), *parent = lane0(call.args[first + 2]);
  Value *value_index = lane0(call.args[first + 3]);

  llvm::IRBuilder<> entry(entry_position());
  Value *event = entry.CreateAlloca(event_struct, nullptr, "event");
  Value *array = entry.CreateAlloca(llvm::ArrayType::get(i32, std::max<size_t>(count, 1)), nullptr,
                                    "coordinates");
  llvm::Value *value = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  if (access) {
    llvm::AllocaInst *place = entry.CreateAlloca(memory_type(context_, call.type));
    builder_.CreateStore(to_memory(traced, call.type), place);
    value = place;
  }
  for (size_t d = 0; d < coordinates.size(); d++) {
    Value *at = builder_.CreateConstInBoundsGEP1_64(i32, array, d * static_cast<size_t>(lanes));
    builder_.CreateAlignedStore(coordinates[d], at, llvm::Align(4));
  }
  const Expr &tag = call.args[4];
  const bool has_tag = !access && !as_imm(tag)->s.empty();
  const Type t = access ? call.type : Type(Type::Handle, 0, 0);
  auto set = [&](unsigned field, Value *v) {
    builder_.CreateStore(v, builder_.CreateStructGEP(event_struct, event, field));
  };
  set(0, module_.string(as_imm(call.args[first])->s));
  set(1, value);
  set(2, array);
  set(3, has_tag ? static_cast<Value *>(module_.string(as_imm(tag)->s))
                 : llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  set(4, llvm::ConstantStruct::get(
             type_struct,
             {llvm::ConstantInt::get(i8, static_cast<uint64_t>(t.code())),
              llvm::ConstantInt::get(i8, static_cast<uint64_t>(t.bits())),
              llvm::ConstantInt::get(i16, static_cast<uint64_t>(access ? lanes : 0))}));
  set(5, event_code);
  set(6, parent);
  set(7, value_index);
  set(8, builder_.getInt32(static_cast<uint32_t>(count)));
  Value *number = builder_.CreateCall(
      module_.declare("polyhalite_trace", i32, {pointer, pointer}), {user_context_, event});
  return access ? traced : number;
}

}  // namespace polyhalite
