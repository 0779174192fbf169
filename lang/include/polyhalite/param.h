// Param and ImageParam: inputs of a pipeline.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "polyhalite/buffer.h"
#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/func.h"
#include "polyhalite/rdom.h"

namespace polyhalite {

struct Parameter;

namespace detail {

std::shared_ptr<Parameter> make_scalar_parameter(Type t, const std::string &name);
Expr parameter_value(const std::shared_ptr<Parameter> &p);
const std::string &parameter_name(const Parameter &p);
uint64_t parameter_bits(const Parameter &p);
void set_parameter_bits(Parameter &p, uint64_t bits);
enum class Limit { Min, Max, Estimate, Default };
void set_parameter_limit(Parameter &p, Limit limit, Expr value, const Here &here);
Expr parameter_limit(const Parameter &p, Limit limit);

}  // namespace detail

/// A scalar input of type T.
template <typename T>
class Param {
  static_assert(is_scalar_type<T>, "a Param has a scalar type");

 public:
  Param() : Param(std::string()) {}
  explicit Param(const std::string &name)
      : param_(detail::make_scalar_parameter(type_of<T>(), name)) {}
  explicit Param(const char *name) : Param(std::string(name)) {}
  /// With a value for JIT.
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U, T> &&
                                                    !std::is_pointer_v<std::decay_t<U>>>>
  explicit Param(U value) : Param() {
    set(static_cast<T>(value));
  }
  Param(const std::string &name, T value) : Param(name) { set(value); }
  Param(T value, Expr min, Expr max) : Param(value) { set_range(std::move(min), std::move(max)); }
  Param(const std::string &name, T value, Expr min, Expr max) : Param(name, value) {
    set_range(std::move(min), std::move(max));
  }

  const std::string &name() const { return detail::parameter_name(*param_); }
  Type type() const { return type_of<T>(); }

  /// The value that realize() passes.
  void set(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    detail::set_parameter_bits(*param_, bits);
  }
  T get() const {
    const uint64_t bits = detail::parameter_bits(*param_);
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }

  /// Checked at entry of the compiled pipeline; undefined Exprs lift a limit.
  void set_range(Expr min, Expr max, Here here = Here()) {
    set_min_value(std::move(min), here);
    set_max_value(std::move(max), here);
  }
  void set_min_value(Expr min, Here here = Here()) {
    detail::set_parameter_limit(*param_, detail::Limit::Min, std::move(min), here);
  }
  void set_max_value(Expr max, Here here = Here()) {
    detail::set_parameter_limit(*param_, detail::Limit::Max, std::move(max), here);
  }
  Expr min_value() const { return detail::parameter_limit(*param_, detail::Limit::Min); }
  Expr max_value() const { return detail::parameter_limit(*param_, detail::Limit::Max); }
  /// What an auto-scheduler may assume.
  void set_estimate(T value) {
    detail::set_parameter_limit(*param_, detail::Limit::Estimate, Expr(value), Here());
  }

  operator Expr() const { return detail::parameter_value(param_); }  // NOLINT
  const std::shared_ptr<Parameter> &parameter() const { return param_; }

 private:
  std::shared_ptr<Parameter> param_;
};

/// Dimension i of an image input or of an output buffer: expressions for its shape, and constraints
/// on it that the compiled pipeline checks at entry.
class Dimension {
 public:
  Dimension(std::shared_ptr<Parameter> param, int index);
  Expr min() const;
  Expr extent() const;
  Expr max() const;
  Expr stride() const;
  /// An undefined Expr lifts the constraint.
  Dimension set_min(Expr min, Here here = Here());
  Dimension set_extent(Expr extent, Here here = Here());
  Dimension set_stride(Expr stride, Here here = Here());
  Dimension set_bounds(Expr min, Expr extent, Here here = Here());
  Dimension set_estimate(Expr min, Expr extent);
  Expr min_estimate() const;
  Expr extent_estimate() const;
  Dimension dim(int i) const;

 private:
  Expr checked(Expr e, const char *what, const Here &here) const;
  std::shared_ptr<Parameter> param_;
  int index_;
};

/// The buffer of an output, from Func::output_buffer(), or of an image input: its element type, its
/// shape as expressions, and what the program promises about it.
class OutputImageParam {
 public:
  OutputImageParam() = default;
  explicit OutputImageParam(std::shared_ptr<Parameter> param) : param_(std::move(param)) {}

  bool defined() const { return param_ != nullptr; }
  const std::string &name() const;
  Type type() const;
  int dimensions() const;
  Dimension dim(int i, Here here = Here()) const;
  Expr width(Here here = Here()) const { return dim(0, here).extent(); }
  Expr height(Here here = Here()) const { return dim(1, here).extent(); }
  Expr channels(Here here = Here()) const { return dim(2, here).extent(); }
  Expr left(Here here = Here()) const { return dim(0, here).min(); }
  Expr right(Here here = Here()) const { return dim(0, here).max(); }
  Expr top(Here here = Here()) const { return dim(1, here).min(); }
  Expr bottom(Here here = Here()) const { return dim(1, here).max(); }
  Region region(Here here = Here()) const;

  /// Of the first element's address, in bytes: a power of 2, checked at entry.
  int host_alignment() const;
  OutputImageParam &set_host_alignment(int bytes, Here here = Here());
  OutputImageParam &set_estimates(const Region &estimates, Here here = Here());
  const std::shared_ptr<Parameter> &parameter() const { return param_; }

 protected:
  Parameter &defined_parameter(const Here &here) const;
  std::shared_ptr<Parameter> param_;
};

/// An image input, and for JIT the Buffer it stands for.
class ImageParam : public OutputImageParam {
 public:
  ImageParam() = default;
  ImageParam(Type t, int dimensions, const std::string &name = "", Here here = Here());
  explicit ImageParam(std::shared_ptr<Parameter> param) : OutputImageParam(std::move(param)) {}

  /// Binds the buffer that realize() passes.
  void set(const Buffer<void, -1> &image, Here here = Here());
  Buffer<void, -1> get() const;
  void reset();
  /// See Func::trace_loads().
  void trace_loads();
  void add_trace_tag(const std::string &text);

  Expr operator()(const std::vector<Expr> &args, Here here = Here()) const;
  Expr operator()() const { return (*this)(std::vector<Expr>{}); }
  /// One index for each dimension; `_` stands for those that are not named.
  template <typename... Args, typename = std::enable_if_t<detail::all_exprs<Args...>>>
  Expr operator()(Index first, Args &&...more) const {
    return (*this)({std::move(first.value), Expr(std::forward<Args>(more))...}, Here(first.where));
  }

  /// A Func of implicit arguments that reads the image.
  operator Func() const;  // NOLINT
};

}  // namespace polyhalite
