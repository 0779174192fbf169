// DeviceMath: mathematical functions of float32 where there is no C library: VectorMath's, and own
// code for the operands that are beyond VectorMath's reach.
//
// Errors are a few units in the last place of float32. Sines, cosines and tangents of numbers
// beyond 2^50 are some value of the function.
#pragma once

#include "codegen/llvm/vector_math.h"

namespace polyhalite {

class DeviceMath : public VectorMath {
 public:
  using VectorMath::VectorMath;

  /// name(args...), where VectorMath gives nothing or says that its code does not hold; null where
  /// there is no such function.
  Value *emit_rest(const std::string &name, const std::vector<Value *> &args);

 private:
  Octant many_quarter_turns(Value *x);
  Value *special_pow(Value *x, Value *y);
  Value *special_atan2(Value *y, Value *x);
  Value *is_odd(Value *y);
};

}  // namespace polyhalite
