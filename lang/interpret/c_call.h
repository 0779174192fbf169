// Calls of C functions of any signature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "polyhalite/error.h"
#include "polyhalite/type.h"

namespace polyhalite::interpreter {

/// The arguments of one call. The calling conventions of x86-64 and AArch64 pass integers and
/// floats in registers of their own, in order, so that a call that fills all of them reaches a
/// function of any signature that needs no stack. A float32 is the low half of its register.
class CCall {
 public:
  static constexpr size_t kIntegers = 6, kFloats = 8;

  /// False where no register is left, or the type has none.
  bool add(Type t, const void *value);
  bool add_pointer(const void *p);
  template <typename R>
  R call(void *function) const {
    using F = R (*)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, double, double, double,
                    double, double, double, double, double);
    const int64_t *i = integers_;
    const double *x = floats_;
    return reinterpret_cast<F>(function)(i[0], i[1], i[2], i[3], i[4], i[5], x[0], x[1], x[2], x[3],
                                         x[4], x[5], x[6], x[7]);
  }

 private:
  int64_t integers_[kIntegers] = {};
  double floats_[kFloats] = {};
  size_t used_integers_ = 0, used_floats_ = 0;
};

/// The function that the process exports under this name; CompileError where there is none.
void *exported_function(const std::string &name);
[[noreturn]] void too_many_arguments(const std::string &name);

}  // namespace polyhalite::interpreter
