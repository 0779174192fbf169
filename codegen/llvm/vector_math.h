// VectorMath: mathematical functions of float32 as straight arithmetic, for scalars and vectors
// alike. Errors are below 3 units in the last place of float32, of the fast_ functions below 2^-14
// relatively (2^-16 absolutely for sines).
//
// Polynomials of exp, log, sin, cos, atan and tanh: S. Moshier, Cephes mathematical library, single
// precision; argument reduction after W. Cody and W. Waite, Software Manual for the Elementary
// Functions (1980). pow takes its logarithm in float64.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <string>
#include <vector>

namespace polyhalite {

class VectorMath {
 public:
  using Value = llvm::Value;

  explicit VectorMath(llvm::IRBuilder<> &builder) : b_(builder) {}

  /// name(args...), or null where there is no own code for the function. `*exact_inside` is where
  /// the code holds, or null where it holds for all operands; outside of it the C library's
  /// function is to be asked.
  Value *emit(const std::string &name, const std::vector<Value *> &args, Value **exact_inside);

 protected:
  Value *exp(Value *x);
  Value *log(Value *x);
  Value *pow(Value *x, Value *y);
  Value *sine(Value *x, bool cosine);
  Value *tan(Value *x);
  Value *atan(Value *x);
  Value *atan2(Value *y, Value *x);
  Value *tanh(Value *x);
  Value *fast_exp(Value *x);
  Value *fast_log(Value *x);
  Value *fast_sine(Value *x, bool cosine);

  struct Octant {
    Value *index, *rest;
  };
  Octant quarter_turns(Value *x, bool precise);
  Value *sine_of(const Octant &o, bool cosine);
  Value *tan_of(const Octant &o);
  Value *atan_of_magnitude(Value *a);
  Value *power_of_two(Value *n);
  Value *magnitude(Value *x);
  Value *with_sign_of(Value *magnitude, Value *signed_value);
  Value *polynomial(Value *x, std::initializer_list<double> highest_first);
  Value *f(Value *like, double v);
  Value *i(Value *like, int64_t v);
  Value *ints(Value *x);
  Value *floats(Value *x, llvm::Type *type);
  Value *select(Value *c, Value *a, Value *b) { return b_.CreateSelect(c, a, b); }

  llvm::IRBuilder<> &b_;
};

}  // namespace polyhalite
