// Param and ImageParam: inputs of a pipeline.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "polyhalite/buffer.h"
#include "polyhalite/choices.h"
#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/func.h"
#include "polyhalite/parameter.h"
#include "polyhalite/rdom.h"

namespace polyhalite {

struct ParameterContents;

namespace detail {

std::shared_ptr<ParameterContents> make_scalar_parameter(Type t, const std::string &name);
Expr parameter_value(const std::shared_ptr<ParameterContents> &p);
const std::string &parameter_name(const ParameterContents &p);
uint64_t parameter_bits(const ParameterContents &p);
void set_parameter_bits(ParameterContents &p, uint64_t bits);
enum class Limit { Min, Max, Estimate, Default };
void set_parameter_limit(ParameterContents &p, Limit limit, Expr value, const Here &here);
Expr parameter_limit(const ParameterContents &p, Limit limit);
Type parameter_type(const ParameterContents &p);
/// CompileError unless p has this type.
void check_parameter_type(const ParameterContents &p, const Type &t);

/// A number or pointer of C++ without loss.
struct Number {
  enum Kind { Signed, Unsigned, Real } kind = Signed;
  int64_t i = 0;
  uint64_t u = 0;
  double f = 0;

  template <typename V,
            typename = std::enable_if_t<std::is_arithmetic_v<V> || std::is_pointer_v<V> ||
                                        std::is_convertible_v<V, double>>>
  explicit Number(V v) {
    if constexpr (std::is_pointer_v<V>) {
      kind = Unsigned;
      u = reinterpret_cast<uint64_t>(v);
    } else if constexpr (std::is_integral_v<V> && std::is_signed_v<V>) {
      i = v;
    } else if constexpr (std::is_integral_v<V>) {
      kind = Unsigned;
      u = v;
    } else {
      kind = Real;
      f = static_cast<double>(v);
    }
  }
};
/// The number as bits of p's type, and as an Expr of it. CompileError where it would change.
uint64_t parameter_bits_of(const ParameterContents &p, const Number &n);
Expr checked_number(const ParameterContents &p, const Number &n);

}  // namespace detail

/// A scalar input of type T, or with T void of a type that is known at run time only.
template <typename T = void>
class Param {
  static_assert(std::is_void_v<T> || is_scalar_type<T>, "a Param has a scalar type, or void");
  template <typename>
  friend class Param;
  struct NoType;
  // void has no values: what takes one is then compiled for no caller.
  using Value = std::conditional_t<std::is_void_v<T>, NoType *, T>;
  template <typename V>
  using IfTyped = std::enable_if_t<!std::is_void_v<V>>;
  template <typename V>
  using IfVoid = std::enable_if_t<std::is_void_v<V>>;

 public:
  static constexpr bool has_static_type = !std::is_void_v<T>;
  static Type static_type() { return type_of<T>(); }

  template <typename V = T, typename = IfTyped<V>>
  Param() : Param(std::string()) {}
  template <typename V = T, typename = IfTyped<V>>
  explicit Param(const std::string &name)
      : param_(detail::make_scalar_parameter(type_of<V>(), name)) {}
  explicit Param(const char *name) : Param(std::string(name)) {}
  template <typename V = T, typename = IfVoid<V>>
  explicit Param(const Type &type, const std::string &name = "")
      : param_(detail::make_scalar_parameter(type, name)) {}
  /// With a value for JIT.
  template <typename U, typename V = T,
            typename = std::enable_if_t<!std::is_void_v<V> && std::is_convertible_v<U, Value> &&
                                        !std::is_pointer_v<std::decay_t<U>>>>
  explicit Param(U value) : Param(std::string()) {
    set(static_cast<Value>(value));
  }
  Param(const std::string &name, Value value) : Param(name) { set(value); }
  Param(Value value, Expr min, Expr max) : Param(value) {
    set_range(std::move(min), std::move(max));
  }
  Param(const std::string &name, Value value, Expr min, Expr max) : Param(name, value) {
    set_range(std::move(min), std::move(max));
  }
  /// The same input. CompileError where its type is another one than T.
  template <typename T2, typename = std::enable_if_t<!std::is_same_v<T, T2>>>
  Param(const Param<T2> &o) : param_(o.param_) {  // NOLINT
    if constexpr (!std::is_void_v<T>) detail::check_parameter_type(*param_, type_of<T>());
  }

  const std::string &name() const { return detail::parameter_name(*param_); }
  Type type() const { return detail::parameter_type(*param_); }

  /// The value that realize() passes. CompileError for numbers that the type cannot hold.
  template <typename V>
  void set(const V &value) {
    if constexpr (std::is_same_v<V, T>) {
      uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(V));
      detail::set_parameter_bits(*param_, bits);
    } else {
      detail::set_parameter_bits(*param_,
                                 detail::parameter_bits_of(*param_, detail::Number(value)));
    }
  }
  /// CompileError unless the type is V's.
  template <typename V = Value>
  V get() const {
    if constexpr (!std::is_same_v<V, T>) detail::check_parameter_type(*param_, type_of<V>());
    const uint64_t bits = detail::parameter_bits(*param_);
    V value;
    std::memcpy(&value, &bits, sizeof(V));
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
  template <typename V>
  void set_estimate(const V &value, Here here = Here()) {
    detail::set_parameter_limit(*param_, detail::Limit::Estimate,
                                detail::checked_number(*param_, detail::Number(value)), here);
  }

  operator Expr() const { return detail::parameter_value(param_); }  // NOLINT
  Parameter parameter() const { return param_; }

 private:
  std::shared_ptr<ParameterContents> param_;
};

/// Dimension i of an image input or of an output buffer: expressions for its shape, and constraints
/// on it that the compiled pipeline checks at entry.
class Dimension {
 public:
  Dimension(std::shared_ptr<ParameterContents> param, int index);
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
  std::shared_ptr<ParameterContents> param_;
  int index_;
};

/// The buffer of an output, from Func::output_buffer(), or of an image input: its element type, its
/// shape as expressions, and what the program promises about it.
class OutputImageParam {
 public:
  OutputImageParam() = default;
  explicit OutputImageParam(std::shared_ptr<ParameterContents> param) : param_(std::move(param)) {}

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
  /// The memory is the caller's: CompileError for others than Auto and Heap.
  OutputImageParam &store_in(MemoryType memory, Here here = Here());
  Parameter parameter() const { return param_; }

 protected:
  ParameterContents &defined_parameter(const Here &here) const;
  std::shared_ptr<ParameterContents> param_;
};

/// An image input, and for JIT the Buffer it stands for.
class ImageParam : public OutputImageParam {
 public:
  ImageParam() = default;
  ImageParam(Type t, int dimensions, const std::string &name = "", Here here = Here());
  explicit ImageParam(std::shared_ptr<ParameterContents> param)
      : OutputImageParam(std::move(param)) {}

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

  /// A Func that reads the image, to be scheduled: the consumer, or each of them, or every one that
  /// has none of its own, reads it in place of the image.
  Func in(const Func &consumer, Here here = Here());
  Func in(const std::vector<Func> &consumers, Here here = Here());
  Func in(Here here = Here());

  /// A Func of implicit arguments that reads the image.
  operator Func() const;  // NOLINT
};

}  // namespace polyhalite
