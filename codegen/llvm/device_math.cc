#include "codegen/llvm/device_math.h"

namespace polyhalite {

using llvm::Value;

// As quarter_turns, in float64 with fused products: exact while the turns are.
VectorMath::Octant DeviceMath::many_quarter_turns(Value *x) {
  llvm::Type *wide = b_.getDoubleTy(), *whole = b_.getInt64Ty();
  if (auto *v = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
    wide = llvm::FixedVectorType::get(wide, v->getNumElements());
    whole = llvm::FixedVectorType::get(whole, v->getNumElements());
  }
  auto fma = [&](Value *a, double b, Value *c) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {wide}, {a, f(a, b), c});
  };
  Value *w = b_.CreateFPExt(x, wide);
  Value *n = b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven,
                                     b_.CreateFMul(w, f(w, 0.63661977236758134)));
  Value *minus = b_.CreateFNeg(n);
  Value *rest = fma(minus, kHalfPi2, fma(minus, kHalfPi1, w));
  Value *number = b_.CreateFreeze(b_.CreateFPToSI(n, whole));
  return {b_.CreateTrunc(number, ints(x)->getType()), b_.CreateFPTrunc(rest, x->getType())};
}

Value *DeviceMath::is_odd(Value *y) {
  Value *half = b_.CreateFMul(y, f(y, 0.5));
  auto is_whole = [&](Value *v) {
    return b_.CreateFCmpOEQ(b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v), v);
  };
  return b_.CreateAnd(is_whole(y), b_.CreateNot(is_whole(half)));
}

// pow where an operand is no finite number.
Value *DeviceMath::special_pow(Value *x, Value *y) {
  Value *a = magnitude(x), *one = f(x, 1), *zero = f(x, 0), *infinity = f(x, kInfinity);
  Value *infinite_y = b_.CreateFCmpOEQ(magnitude(y), infinity);
  Value *grows = b_.CreateFCmpOEQ(b_.CreateFAdd(zero, y), infinity);
  Value *large = b_.CreateFCmpOGT(a, one), *is_one = b_.CreateFCmpOEQ(a, one);
  Value *of_infinite_y = select(is_one, one, select(b_.CreateICmpEQ(large, grows), infinity, zero));
  // x is infinite.
  Value *size = select(b_.CreateFCmpOGT(y, zero), infinity, zero);
  Value *negative = b_.CreateAnd(b_.CreateFCmpOLT(x, zero), is_odd(y));
  Value *of_infinite_x = select(negative, b_.CreateFNeg(size), size);
  Value *r = select(infinite_y, of_infinite_y, of_infinite_x);
  Value *no_number = b_.CreateFCmpUNO(x, y);
  r = select(no_number, b_.CreateFAdd(x, y), r);
  Value *always_one = b_.CreateOr(b_.CreateFCmpOEQ(y, zero), b_.CreateFCmpOEQ(x, one));
  return select(always_one, one, r);
}

// atan2 where an operand is no finite number: infinities stand for 1 beside 0.
Value *DeviceMath::special_atan2(Value *y, Value *x) {
  auto limit = [&](Value *v) {
    Value *far = b_.CreateFCmpOEQ(magnitude(v), f(v, kInfinity));
    return with_sign_of(select(far, f(v, 1), f(v, 0)), v);
  };
  Value *r = atan2(limit(y), limit(x));
  return select(b_.CreateFCmpUNO(x, y), b_.CreateFAdd(x, y), r);
}

Value *DeviceMath::emit_rest(const std::string &name, const std::vector<Value *> &args) {
  Value *x = args[0];
  if (name == "sin" || name == "cos") return sine_of(many_quarter_turns(x), name == "cos");
  if (name == "tan") return tan_of(many_quarter_turns(x));
  if (name == "pow") return special_pow(x, args[1]);
  if (name == "atan2") return special_atan2(x, args[1]);
  return nullptr;
}

}  // namespace polyhalite
