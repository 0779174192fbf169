// Parameter: what a Param, an ImageParam or an Argument stands for, whatever its type.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "polyhalite/buffer.h"
#include "polyhalite/expr.h"
#include "polyhalite/type.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct ParameterContents;

/// A handle on one input of pipelines, or on the buffer of an output. Copies share it. Methods of
/// an undefined one, and those of the other kind (scalar or buffer), are CompileErrors.
class Parameter {
 public:
  /// Undefined.
  Parameter() = default;
  /// A scalar has no dimensions.
  Parameter(const Type &type, bool is_buffer, int dimensions, const std::string &name = "",
            Here here = Here());
  Parameter(std::shared_ptr<ParameterContents> contents)  // NOLINT
      : contents_(std::move(contents)) {}

  bool defined() const { return contents_ != nullptr; }
  bool same_as(const Parameter &o) const { return contents_ == o.contents_; }
  bool operator<(const Parameter &o) const { return contents_ < o.contents_; }
  bool operator==(const Parameter &o) const { return same_as(o); }

  Type type() const;
  int dimensions() const;
  const std::string &name() const;
  bool is_buffer() const;

  /// The value that realize() passes. CompileError where none is set, or for another type.
  template <typename T>
  T scalar() const {
    const uint64_t bits = scalar_bits(type_of<T>());
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
  template <typename T>
  void set_scalar(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    set_scalar_bits(type_of<T>(), bits);
  }
  bool has_scalar_value() const;
  /// The set value as a constant.
  Expr scalar_expr() const;

  /// Undefined while none is bound.
  Buffer<> buffer() const;
  void set_buffer(const Buffer<> &b);

  // Of a scalar, as Param has them; undefined Exprs stand for none.
  void set_min_value(Expr e, Here here = Here());
  void set_max_value(Expr e, Here here = Here());
  void set_estimate(Expr e, Here here = Here());
  void set_default_value(Expr e, Here here = Here());
  Expr min_value() const;
  Expr max_value() const;
  Expr estimate() const;
  Expr default_value() const;

  // Of a dimension of a buffer, as ImageParam::dim() has them.
  void set_min_constraint(int dim, Expr e, Here here = Here());
  void set_extent_constraint(int dim, Expr e, Here here = Here());
  void set_stride_constraint(int dim, Expr e, Here here = Here());
  Expr min_constraint(int dim) const;
  Expr extent_constraint(int dim) const;
  Expr stride_constraint(int dim) const;
  /// Bounds that an auto-scheduler may assume.
  void set_min_constraint_estimate(int dim, Expr e);
  void set_extent_constraint_estimate(int dim, Expr e);
  Expr min_constraint_estimate(int dim) const;
  Expr extent_constraint_estimate(int dim) const;
  /// Of the first element's address, in bytes.
  void set_host_alignment(int bytes, Here here = Here());
  int host_alignment() const;

  /// Null where undefined.
  const std::shared_ptr<ParameterContents> &contents() const { return contents_; }

 private:
  ParameterContents &checked() const;
  ParameterContents &checked_scalar(const char *what) const;
  ParameterContents &checked_buffer(const char *what) const;
  ParameterContents &checked_dimension(int dim) const;
  uint64_t scalar_bits(const Type &t) const;
  void set_scalar_bits(const Type &t, uint64_t bits);
  std::shared_ptr<ParameterContents> contents_;
};

}  // namespace polyhalite
