// Calls: intrinsics and external functions.
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/types.h"
#include "lang/ir/expand_intrinsic.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"

namespace polyhalite {

using llvm::Value;

namespace {

bool belongs_to_runtime(const std::string &name) { return name.starts_with("polyhalite_"); }

}  // namespace

Value *FunctionEmitter::emit_call(const CallNode &call) {
  switch (call.kind) {
    case CallKind::Intrinsic:
      return emit_intrinsic(call);
    case CallKind::Math:
      return emit_math(call);
    case CallKind::Extern:
    case CallKind::PureExtern:
      return emit_extern(call);
    case CallKind::Func:
    case CallKind::Image:
      break;
  }
  internal_check(false, ("flat loop IR calls '" + call.name + "'").c_str());
  return nullptr;
}

Value *FunctionEmitter::emit_intrinsic(const CallNode &call) {
  const std::string &name = call.name;
  const auto &args = call.args;
  for (const char *hint : {intrinsic::kLikely, intrinsic::kLikelyIfInnermost,
                           intrinsic::kMemoizeTag, intrinsic::kPromiseClamped}) {
    if (name == hint) return emit(args[0]);
  }
  if (name == intrinsic::kPrint) return emit_print(call);
  if (name == intrinsic::kRequire) return emit_require(call);
  if (name == intrinsic::kTrace) return emit_trace(call);
  if (name == intrinsic::kTraceAccess) return emit_trace_access(call);
  if (name == intrinsic::kStrictFloat) {
    const bool outside = strict_;
    strict_ = true;
    Value *value = emit(args[0]);
    strict_ = outside;
    return value;
  }
  if (name == intrinsic::kAbs) {
    Value *x = emit(args[0]);
    const Type t = args[0].type();
    if (t.is_float()) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    return t.is_uint()
               ? x
               : builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse());
  }
  if (name == intrinsic::kAbsd) return emit_absolute_difference(call);
  if (name == intrinsic::kShiftLeft) return emit_shift(call, true);
  if (name == intrinsic::kShiftRight) return emit_shift(call, false);
  if (name == intrinsic::kBitwiseAnd) return builder_.CreateAnd(emit(args[0]), emit(args[1]));
  if (name == intrinsic::kBitwiseOr) return builder_.CreateOr(emit(args[0]), emit(args[1]));
  if (name == intrinsic::kBitwiseXor) return builder_.CreateXor(emit(args[0]), emit(args[1]));
  if (name == intrinsic::kBitwiseNot) return builder_.CreateNot(emit(args[0]));
  if (name == intrinsic::kUserContext) return user_context_;
  if (name == intrinsic::kLimitedProduct) return emit_limited_product(call);
  if (name == intrinsic::kPopcount) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, emit(args[0]));
  }
  if (name == intrinsic::kCountLeadingZeros || name == intrinsic::kCountTrailingZeros) {
    return builder_.CreateBinaryIntrinsic(
        name == intrinsic::kCountLeadingZeros ? llvm::Intrinsic::ctlz : llvm::Intrinsic::cttz,
        emit(args[0]), builder_.getFalse());
  }
  if (name == intrinsic::kSaturatingAdd || name == intrinsic::kSaturatingSub) {
    const bool adds = name == intrinsic::kSaturatingAdd, is_signed = call.type.is_int();
    return builder_.CreateBinaryIntrinsic(
        adds ? (is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat)
             : (is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat),
        emit(args[0]), emit(args[1]));
  }
  if (Value *known = emit_machine_instruction(call)) return known;
  if (const Expr meaning = expand_intrinsic(call); meaning.defined()) {
    kept_.push_back(meaning);  // values are remembered by node
    return emit(meaning);
  }
  if (name == intrinsic::kFma) {
    Value *a = emit(args[0]), *b = emit(args[1]), *c = emit(args[2]);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  }
  if (name == intrinsic::kPrefetch) return emit_prefetch(args[0], args[1]);
  // Passes may have put another value in the place of the read.
  if (name == intrinsic::kStream)
    return as_load(args[0]) ? emit_load(args[0], true) : emit(args[0]);
  if (name == intrinsic::kStreamFence) return emit_stream_fence();
  return emit_buffer_fact(call);
}

Value *FunctionEmitter::emit_limited_product(const CallNode &call) {
  Value *const limit = emit(call.args[0]);
  Value *const none = builder_.getInt64(INT64_MAX);
  Value *product = builder_.getInt64(1);
  for (size_t i = 1; i < call.args.size(); i++) {
    Value *both = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umul_with_overflow, product,
                                                 emit(call.args[i]));
    Value *fits =
        builder_.CreateAnd(builder_.CreateNot(builder_.CreateExtractValue(both, 1)),
                           builder_.CreateICmpULE(builder_.CreateExtractValue(both, 0), limit));
    product = builder_.CreateSelect(fits, builder_.CreateExtractValue(both, 0), none);
  }
  return product;
}

// A shift by a negative amount goes the other way; amounts from the width on shift everything out.
Value *FunctionEmitter::emit_shift(const CallNode &call, bool left) {
  const Type t = call.type, amount_type = call.args[1].type();
  Value *x = emit(call.args[0]), *amount = emit(call.args[1]);
  llvm::Type *type = x->getType();
  const int bits = t.bits();
  auto constant = [&](int c) { return llvm::ConstantInt::get(type, static_cast<uint64_t>(c)); };
  Value *zero = llvm::Constant::getNullValue(type);
  auto shift = [&](Value *by, bool to_left) {
    return to_left      ? builder_.CreateShl(x, by)
           : t.is_int() ? builder_.CreateAShr(x, by)
                        : builder_.CreateLShr(x, by);
  };
  int64_t known = 0;
  if (is_const_int(call.args[1], &known) && known > -bits && known < bits) {
    return shift(constant(static_cast<int>(known < 0 ? -known : known)), left == (known >= 0));
  }
  auto any = [&](Value *by, bool to_left) {
    Value *inside = builder_.CreateICmpULT(by, constant(bits));
    Value *safe = builder_.CreateSelect(inside, by, constant(bits - 1));
    Value *all_out = to_left || !t.is_int() ? zero : shift(constant(bits - 1), false);
    return builder_.CreateSelect(inside, shift(safe, to_left), all_out);
  };
  if (!amount_type.is_int()) return any(amount, left);
  Value *negative = builder_.CreateICmpSLT(amount, zero);
  return builder_.CreateSelect(negative, any(builder_.CreateNeg(amount), !left), any(amount, left));
}

Value *FunctionEmitter::emit_absolute_difference(const CallNode &call) {
  Value *a = emit(call.args[0]), *b = emit(call.args[1]);
  const Type t = call.args[0].type();
  if (t.is_float()) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, builder_.CreateFSub(a, b));
  }
  const auto larger = t.is_int() ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
  const auto smaller = t.is_int() ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
  return builder_.CreateSub(builder_.CreateBinaryIntrinsic(larger, a, b),
                            builder_.CreateBinaryIntrinsic(smaller, a, b));
}

Value *FunctionEmitter::emit_extern(const CallNode &call) {
  if (call.name == intrinsic::kExternStage) return emit_extern_stage(call);
  if (call.name == intrinsic::kDebugToFile) return emit_debug_to_file(call);
  if (call.name == intrinsic::kExternBounds) return emit_extern_bounds(call);
  std::vector<Value *> args;
  for (const Expr &arg : call.args) args.push_back(emit(arg));
  if (call.type.is_scalar()) return call_extern(call, args);
  // A C function knows no vectors.
  std::vector<Value *> lanes;
  for (int lane = 0; lane < call.type.lanes(); lane++) {
    std::vector<Value *> scalars;
    for (size_t i = 0; i < args.size(); i++) {
      const bool is_vector = call.args[i].type().is_vector();
      scalars.push_back(is_vector ? builder_.CreateExtractElement(args[i], lane) : args[i]);
    }
    lanes.push_back(call_extern(call, scalars));
  }
  return concatenate(lanes);
}

// No exception may cross the frames of the runtime and of tasks: it waits for the end of the call.
//
//   invoke f(args) to returned unwind to thrown
//   thrown: return polyhalite_keep_exception(context, what was thrown)
llvm::CallBase *FunctionEmitter::call_program(llvm::FunctionCallee callee,
                                              const std::vector<Value *> &args) {
  if (!module_.options.constants_by_address) return builder_.CreateCall(callee, args);
  if (auto *f = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    f->removeFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::Function *here = builder_.GetInsertBlock()->getParent();
  if (!here->hasPersonalityFn()) {
    here->setPersonalityFn(llvm::cast<llvm::Constant>(
        module_.module
            .getOrInsertFunction("__gxx_personality_v0",
                                 llvm::FunctionType::get(builder_.getInt32Ty(), true))
            .getCallee()));
    here->setUWTableKind(llvm::UWTableKind::Default);
  }
  llvm::BasicBlock *thrown = block("thrown"), *returned = block("returned");
  llvm::InvokeInst *result = builder_.CreateInvoke(callee, returned, thrown, args);
  builder_.SetInsertPoint(thrown);
  llvm::Type *pointer = builder_.getPtrTy();
  llvm::LandingPadInst *caught = builder_.CreateLandingPad(
      llvm::StructType::get(context_, {pointer, builder_.getInt32Ty()}), 1);
  caught->addClause(llvm::ConstantPointerNull::get(builder_.getPtrTy()));  // whatever it is
  llvm::FunctionCallee keep =
      module_.declare("polyhalite_keep_exception", builder_.getInt32Ty(), {pointer, pointer});
  return_code(builder_.CreateCall(keep, {user_context_, builder_.CreateExtractValue(caught, 0)}));
  builder_.SetInsertPoint(returned);
  return result;
}

// A call for one lane.
Value *FunctionEmitter::call_extern(const CallNode &call, std::vector<Value *> args) {
  const size_t first = belongs_to_runtime(call.name) ? 1 : 0;
  if (first) args.insert(args.begin(), user_context_);
  std::vector<llvm::Type *> types;
  for (Value *arg : args) types.push_back(arg->getType());
  const Type result_type = call.type.element_of();
  llvm::FunctionCallee callee =
      module_.declare(call.name, register_type(context_, result_type), types);
  const bool may_throw = call.kind == CallKind::Extern && !belongs_to_runtime(call.name);
  llvm::CallBase *result =
      may_throw ? call_program(callee, args) : builder_.CreateCall(callee, args);
  // The C ABI extends narrow integers to 32 bits, on both sides of the call.
  auto extension = [](Type t) {
    return t.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
  };
  auto is_narrow = [](Type t) { return t.is_int_or_uint() && t.bits() < 32; };
  for (size_t i = 0; i < call.args.size(); i++) {
    const Type t = call.args[i].type().element_of();
    if (is_narrow(t)) result->addParamAttr(static_cast<unsigned>(first + i), extension(t));
  }
  if (is_narrow(result_type)) result->addRetAttr(extension(result_type));
  if (call.kind == CallKind::PureExtern) {
    result->setDoesNotAccessMemory();
    result->setDoesNotThrow();
    result->addFnAttr(llvm::Attribute::WillReturn);
  } else {
    scopes_.memory_changed();
  }
  return result;
}

}  // namespace polyhalite
