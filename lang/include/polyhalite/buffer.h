// Buffer: arrays of the language. Inputs and outputs of realize(), and constants in algorithms.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/buffer_methods.h"
#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/rdom.h"
#include "polyhalite/runtime_buffer.h"

namespace polyhalite {

struct BufferContents;

namespace detail {

// What needs the definition of BufferContents.
std::shared_ptr<BufferContents> make_buffer(Type t, std::vector<polyhalite_dimension_t> dims,
                                            const std::string &name);
std::shared_ptr<BufferContents> wrap_buffer(Type t, void *host,
                                            std::vector<polyhalite_dimension_t> dims,
                                            std::shared_ptr<void> owner, const std::string &name);
std::shared_ptr<BufferContents> alias_buffer(const BufferContents &b);
/// dense_dimensions() with CompileErrors.
std::vector<polyhalite_dimension_t> checked_dimensions(const std::vector<int> &sizes,
                                                       const std::vector<int> &order = {});
/// b itself; CompileError for the null contents of an undefined Buffer.
BufferContents &defined_contents(BufferContents *b, const Here &here = Here(SourceLocation{}));
polyhalite_buffer_t *raw_buffer(const BufferContents &b);
Type buffer_type(const BufferContents &b);
const std::string &buffer_name(const BufferContents &b);
void set_buffer_name(BufferContents &b, const std::string &name);
/// CompileError unless b has `dimensions` of them.
void check_coordinates(const BufferContents &b, int count);
/// CompileError unless b has dimension i.
void check_dimension(const BufferContents &b, int i);
Expr buffer_call(const std::shared_ptr<BufferContents> &b, const std::vector<Expr> &args);
/// CompileError unless b has this element type (Handle: any) and number of dimensions (-1: any).
void check_buffer(const BufferContents *b, Type t, int dimensions);

template <typename T>
Type element_type() {
  if constexpr (std::is_void_v<T>) {
    return Handle();
  } else {
    return type_of<T>();
  }
}

template <typename T>
void *as_bytes(T *data) {
  return const_cast<void *>(static_cast<const void *>(data));
}

}  // namespace detail

/// A shared handle on an array. T is the element type, or void where it is known at run time only;
/// D is the number of dimensions, or -1. Conversions between them are checked.
template <typename T = void, int D = -1>
class Buffer : public detail::BufferMethods<Buffer<T, D>, T> {
  using Base = detail::BufferMethods<Buffer<T, D>, T>;
  template <typename, int>
  friend class Buffer;

 public:
  static constexpr int AnyDims = -1;

  /// Undefined.
  Buffer() = default;
  template <typename T2, int D2, typename = std::enable_if_t<!(std::is_same_v<T, T2> && D == D2)>>
  Buffer(const Buffer<T2, D2> &o) : contents_(o.contents_) {  // NOLINT
    static_assert(!std::is_const_v<T2> || std::is_const_v<T>, "constness cannot be dropped");
    detail::check_buffer(contents_.get(), detail::element_type<std::remove_const_t<T>>(), D);
  }
  /// Shares the elements of a runtime buffer.
  template <int D2>
  explicit Buffer(const runtime::Buffer<T, D2> &b, const std::string &name = "")
      : Buffer(*b.raw_buffer(), b.owner(), name) {}

  /// Owning, dense, not initialised.
  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  explicit Buffer(int first, Ints... more)
      : Buffer(std::vector<int>{first, static_cast<int>(more)...}) {}
  explicit Buffer(const std::vector<int> &sizes, const std::string &name = "")
      : Buffer(type_of<T>(), sizes, name) {}
  Buffer(const std::vector<int> &sizes, const std::vector<int> &storage_order,
         const std::string &name = "")
      : Buffer(type_of<T>(), sizes, storage_order, name) {}
  Buffer(Type t, const std::vector<int> &sizes, const std::string &name = "")
      : Buffer(t, sizes, std::vector<int>{}, name) {}
  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  Buffer(Type t, int first, Ints... more)
      : Buffer(t, std::vector<int>{first, static_cast<int>(more)...}) {}
  Buffer(Type t, const std::vector<int> &sizes, const std::vector<int> &storage_order,
         const std::string &name = "")
      : contents_(detail::make_buffer(t, detail::checked_dimensions(sizes, storage_order), name)) {
    detail::check_buffer(contents_.get(), detail::element_type<std::remove_const_t<T>>(), D);
  }

  /// Borrowing: the caller keeps `data` alive.
  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  Buffer(T *data, int first, Ints... more)
      : Buffer(data, std::vector<int>{first, static_cast<int>(more)...}) {}
  Buffer(T *data, const std::vector<int> &sizes, const std::string &name = "")
      : contents_(detail::wrap_buffer(type_of<T>(), detail::as_bytes(data),
                                      detail::checked_dimensions(sizes), nullptr, name)) {}
  Buffer(T *data, int dimensions, const polyhalite_dimension_t *shape, const std::string &name = "")
      : contents_(detail::wrap_buffer(
            type_of<T>(), detail::as_bytes(data),
            std::vector<polyhalite_dimension_t>(shape, shape + dimensions), nullptr, name)) {}
  Buffer(Type t, void *data, const std::vector<int> &sizes, const std::string &name = "")
      : contents_(detail::wrap_buffer(t, data, detail::checked_dimensions(sizes), nullptr, name)) {}
  explicit Buffer(const polyhalite_buffer_t &b, std::shared_ptr<void> owner = nullptr,
                  const std::string &name = "")
      : contents_(
            detail::wrap_buffer(Type(static_cast<Type::Code>(b.type.code), b.type.bits), b.host,
                                std::vector<polyhalite_dimension_t>(b.dim, b.dim + b.dimensions),
                                std::move(owner), name)) {
    detail::check_buffer(contents_.get(), detail::element_type<std::remove_const_t<T>>(), D);
  }
  explicit Buffer(std::shared_ptr<BufferContents> contents) : contents_(std::move(contents)) {
    detail::check_buffer(contents_.get(), detail::element_type<std::remove_const_t<T>>(), D);
  }

  static Buffer make_scalar(const std::string &name = "") {
    return Buffer(std::vector<int>{}, name);
  }
  static Buffer<> make_scalar(Type t, const std::string &name = "") {
    return Buffer<>(t, std::vector<int>{}, name);
  }
  /// Channels innermost in memory: strides (channels, channels * width, 1).
  static Buffer make_interleaved(int width, int height, int channels,
                                 const std::string &name = "") {
    return Buffer({width, height, channels}, {2, 0, 1}, name);
  }

  bool defined() const { return contents_ != nullptr; }
  template <typename T2, int D2>
  bool same_as(const Buffer<T2, D2> &o) const {
    return contents_ == o.contents_;
  }
  const std::string &name() const { return detail::buffer_name(defined_contents()); }
  void set_name(const std::string &name) { detail::set_buffer_name(defined_contents(), name); }
  Type type() const { return detail::buffer_type(defined_contents()); }
  polyhalite_buffer_t *raw_buffer() const { return detail::raw_buffer(defined_contents()); }
  operator polyhalite_buffer_t *() const { return raw_buffer(); }  // NOLINT
  const std::shared_ptr<BufferContents> &contents() const { return contents_; }
  /// CompileError for a dimension that it has not.
  BufferDimension dim(int i) const {
    detail::check_dimension(defined_contents(), i);
    return Base::dim(i);
  }
  Region region(Here here = Here()) const {
    detail::defined_contents(contents_.get(), here);
    Region r;
    for (int i = 0; i < this->dimensions(); i++) r.emplace_back(this->min(i), this->extent(i));
    return r;
  }

  template <typename... Ints, typename = std::enable_if_t<detail::all_ints<Ints...>>>
  typename Base::Element &operator()(int first, Ints... more) const {
    const int pos[] = {first, static_cast<int>(more)...};
    detail::check_coordinates(defined_contents(), 1 + static_cast<int>(sizeof...(more)));
    return this->at(pos);
  }
  typename Base::Element &operator()() const {
    detail::check_coordinates(defined_contents(), 0);
    return *this->data();
  }
  typename Base::Element &operator()(const int *pos) const { return this->at(pos); }
  /// The buffer as a constant of an algorithm, read at computed coordinates.
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, Expr> && ...)>>
  Expr operator()(const Expr &first, Args &&...more) const {
    return detail::buffer_call(contents_,
                               std::vector<Expr>{first, Expr(std::forward<Args>(more))...});
  }
  Expr operator()(const std::vector<Expr> &args) const {
    return detail::buffer_call(contents_, args);
  }

  template <typename T2, int D2 = D>
  Buffer<T2, D2> as() const {
    return Buffer<T2, D2>(*this);
  }
  /// Another handle whose crops and translations leave this one alone.
  Buffer alias() const { return Buffer(detail::alias_buffer(defined_contents())); }
  Buffer allocate_like() const {
    return Buffer(detail::make_buffer(type(), detail::dense_like(*raw_buffer()), ""));
  }

  // Elements live on the host only: nothing to copy and nothing to mark.
  void set_host_dirty(bool = true) {}
  void copy_to_host() {}

 private:
  BufferContents &defined_contents() const {
    return contents_ ? *contents_ : detail::defined_contents(nullptr);
  }
  std::shared_ptr<BufferContents> contents_;
};

}  // namespace polyhalite
