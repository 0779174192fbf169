// DoubleMath: mathematical functions of float64 as straight arithmetic with fused products, for
// scalars and vectors alike, where there is no C library.
//
// Errors, in units in the last place of float64: exp, log, atan 1; sin and cos 1 up to 2^30, beyond
// which the absolute error grows to 2^-50 at 2^50, and some value of the function stands for it;
// expm1, log1p, pow, atan2, tanh 4; tan, sinh, cosh, asin, acos, asinh, acosh, atanh, erf 8.
//
// exp, sin and cos by their Taylor series; log by that of artanh, as in K. C. Ng's log of fdlibm;
// pow with a logarithm of two float64; atan and erf by polynomials fitted at Chebyshev points
// (erf by x*P(x^2) below 1, then 1 - exp(Q(x))); log1p after W. Kahan.
#pragma once

#include "codegen/llvm/vector_math.h"

namespace polyhalite {

class DoubleMath : public VectorMath {
 public:
  using VectorMath::VectorMath;

  /// name(args...); null where there is no such function.
  Value *emit_double(const std::string &name, const std::vector<Value *> &args);

 private:
  struct Pair {
    Value *high, *low;
  };
  Value *fma(Value *a, Value *b, Value *c);
  Value *horner(Value *x, std::initializer_list<double> highest_first, Value *highest = nullptr);
  Value *add(Value *a, Value *b) { return b_.CreateFAdd(a, b); }
  Value *sub(Value *a, Value *b) { return b_.CreateFSub(a, b); }
  Value *mul(Value *a, Value *b) { return b_.CreateFMul(a, b); }
  Value *div(Value *a, Value *b) { return b_.CreateFDiv(a, b); }
  Value *root(Value *x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  Value *nearest(Value *x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x); }
  Value *whole_part(Value *x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x); }
  Value *is_nan(Value *x) { return b_.CreateFCmpUNO(x, x); }
  Value *less(Value *a, double b) { return b_.CreateFCmpOLT(a, f(a, b)); }
  Value *greater(Value *a, double b) { return b_.CreateFCmpOGT(a, f(a, b)); }
  Value *as_int(Value *x);
  Value *two_to(Value *n);
  Value *times_two_to(Value *x, Value *n);
  Pair sum_of(Value *a, Value *b);
  Value *exp_of(Value *x);
  Value *expm1_of(Value *x);
  struct Parts {
    Value *exponent, *fraction;  // x = 2^exponent * fraction, in [sqrt(1/2), sqrt(2))
  };
  Parts parts_of(Value *x);
  Value *with_limits_of_log(Value *x, Value *log);
  Value *log_of(Value *x);
  Pair precise_log(Value *x);
  Value *log1p_of(Value *x);
  Value *pow_of(Value *x, Value *y);
  Value *sine_or_cosine(Value *x, bool cosine);
  struct Turned {
    Value *quarters, *sine, *cosine;  // of what is left
  };
  Turned turned(Value *x);
  Value *tangent(Value *x);
  Value *arctangent(Value *magnitude);
  Value *arctangent2(Value *y, Value *x);
  Value *sinh_of(Value *x);
  Value *cosh_of(Value *x);
  Value *tanh_of(Value *x);
  Value *asinh_of(Value *x);
  Value *acosh_of(Value *x);
  Value *atanh_of(Value *x);
  Value *erf_of(Value *x);
};

}  // namespace polyhalite
