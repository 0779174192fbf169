// Argument: an input of a compiled function. Lists of them fix the order of its C arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "polyhalite/buffer.h"
#include "polyhalite/expr.h"
#include "polyhalite/parameter.h"
#include "polyhalite/rdom.h"
#include "polyhalite/type.h"

namespace polyhalite {

class OutputImageParam;
template <typename T>
class Param;
struct ParameterContents;

/// What is known about an argument's values: for documentation and auto-schedulers.
struct ArgumentEstimates {
  Expr scalar_def, scalar_min, scalar_max, scalar_estimate;
  Region buffer_estimates;
};

struct Argument {
  enum Kind { InputScalar = 0, InputBuffer = 1, OutputBuffer = 2 };

  std::string name;
  Kind kind = InputScalar;
  uint8_t dimensions = 0;
  Type type;
  ArgumentEstimates argument_estimates;

  Argument() = default;
  /// By name: the pipeline's input that is called so, else an argument that nothing reads.
  Argument(const std::string &name, Kind kind, const Type &type, int dimensions,
           const ArgumentEstimates &estimates = {});
  Argument(const OutputImageParam &p);  // NOLINT
  template <typename T>
  Argument(const Param<T> &p) : Argument(p.parameter().contents()) {}  // NOLINT
  template <typename T, int D>
  Argument(const Buffer<T, D> &b)  // NOLINT
      : Argument(b.name(), InputBuffer, b.type(), b.dimensions()) {}
  explicit Argument(std::shared_ptr<ParameterContents> p);

  bool is_buffer() const { return kind != InputScalar; }
  bool is_scalar() const { return kind == InputScalar; }
  bool is_input() const { return kind != OutputBuffer; }
  bool is_output() const { return kind == OutputBuffer; }
  /// Undefined for an argument that is given by name.
  Parameter parameter() const { return param_; }
  /// Of one name, kind, type and number of dimensions.
  bool operator==(const Argument &o) const {
    return name == o.name && kind == o.kind && dimensions == o.dimensions && type == o.type;
  }
  bool operator!=(const Argument &o) const { return !(*this == o); }

 private:
  std::shared_ptr<ParameterContents> param_;
};

}  // namespace polyhalite
