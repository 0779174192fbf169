// VectorMath: mathematical functions of float32 as straight arithmetic, for scalars and vectors
// alike: the same operand gives the same result in every lane of every vector. Single sines and
// cosines of small numbers go a shorter way to it.
//
// Errors in units in the last place of float32, on every 61st operand and the special ones (the
// test's long form tries all): exp 1.2, log 1, erf 1.9, tanh 1.9, sin and cos 1.6 (to |x| = 1e4),
// cosh and acos 1.5, sinh 1.7, asin 2, tan (to 1e4), atan, atan2 and pow 3, asinh, acosh and atanh
// 4; of the fast_ functions below 2^-14 relatively (2^-19 absolutely for sines). NaN, infinities,
// denormal numbers and -0 as in C.
//
// Argument reduction after W. Cody and W. Waite, Software Manual for the Elementary Functions
// (1980). Polynomials of exp, log, sin, cos, tanh and erf: minimax, with coefficients of float32,
// by Sollya's fpminimax (erf's weighted by what its error is of the result's); of tan and atan: S.
// Moshier, Cephes mathematical library, single precision. pow takes its logarithm in float64.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <limits>
#include <string>
#include <vector>

namespace polyhalite {

class VectorMath {
 public:
  using Value = llvm::Value;

  /// `fused`: whether the machine has instructions for a*b + c that round once; `scales`: whether
  /// it has one for a*2^n (AVX-512); `branches`: whether a single number may take another way than
  /// the next, as threads of a warp had better not. Results are the same with these and without.
  explicit VectorMath(llvm::IRBuilder<> &builder, bool fused = true, bool scales = false,
                      bool branches = false)
      : b_(builder), fused_(fused), scales_(scales), branches_(branches) {}

  /// name(args...), or null where there is no own code for the function; `exp_of_nonpositive` is
  /// exp(x) for x <= 0, with the same results. `*exact_inside` is where
  /// the code holds, or null where it holds for all operands; outside of it the C library's
  /// function is to be asked.
  Value *emit(const std::string &name, const std::vector<Value *> &args, Value **exact_inside);

 protected:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kLog2E = 1.4426950408889634;
  // pi/2 in two numbers of float64.
  static constexpr double kHalfPi1 = 1.5707963267948966, kHalfPi2 = 6.123233995736766e-17;

  Value *exp(Value *x);
  Value *exp_of_nonpositive(Value *x);
  Value *log(Value *x);
  Value *pow(Value *x, Value *y);
  Value *sine(Value *x, bool cosine);
  Value *tan(Value *x);
  Value *atan(Value *x);
  Value *atan2(Value *y, Value *x);
  Value *tanh(Value *x);
  Value *erf(Value *x);
  Value *sinh(Value *x);
  Value *cosh(Value *x);
  Value *asin(Value *x);
  Value *acos(Value *x);
  Value *asinh(Value *x);
  Value *acosh(Value *x);
  Value *atanh(Value *x);
  Value *log1p(Value *x);
  Value *half_exp(Value *a);
  Value *sqrt(Value *x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x); }
  /// The arc sine of a number from 0 to 1/2 as a sum, and whether it is half of what is left to
  /// pi/2.
  struct ArcSine {
    Value *beyond, *large, *small;
  };
  Value *from_quarters(double quarters, Value *large, Value *small);
  ArcSine arc_sine_of_magnitude(Value *a);
  Value *fast_exp(Value *x);
  Value *fast_log(Value *x);
  Value *fast_sine(Value *x, bool cosine);

  /// Which powers of two are asked for: any, or those up to 1.
  enum class Powers { Any, UpToOne };
  /// x = n*ln2 + rest.
  struct Halvings {
    Powers powers;
    Value *n, *exponent;  // n as a number; an exponent's bits, behind others, which are never read
    Value *high, *rest;   // rest before and after the lower part of n*ln2 was taken off
  };
  Halvings halvings(Value *x, Powers powers);
  struct Steps {
    Value *power, *rest;
  };
  Steps steps(Value *x, double step);
  Value *exp_of_short_rest(Value *rest);
  Value *exp_beyond_linear(Value *rest);
  Value *exp_less_one(Value *rest);
  Value *exp_of_rest(const Halvings &h);
  struct Octant {
    Value *index, *rest;
  };
  Octant quarter_turns(Value *x);
  Value *wide_rest(Value *x, Value *turns);
  Value *sine_of(const Octant &o, bool cosine);
  Value *tan_of(const Octant &o);
  Value *atan_of_magnitude(Value *a);
  Value *power_of_two(Value *n);
  Value *number_of_exponent(Value *bits);
  /// p * 2^h.n, rounded once.
  Value *scaled(Value *p, const Halvings &h);
  Value *scaled_by_instruction(Value *p, Value *n);
  Value *magnitude(Value *x);
  Value *with_sign_of(Value *magnitude, Value *signed_value);
  /// a*b + c, rounded once where the machine can.
  Value *fused(Value *a, Value *b, Value *c);
  Value *polynomial(Value *x, std::initializer_list<double> highest_first);
  Value *f(Value *like, double v);
  Value *i(Value *like, int64_t v);
  Value *ints(Value *x);
  Value *floats(Value *x, llvm::Type *type);
  Value *select(Value *c, Value *a, Value *b) { return b_.CreateSelect(c, a, b); }

  llvm::IRBuilder<> &b_;
  bool fused_, scales_, branches_;
};

}  // namespace polyhalite
