// Buffer: arrays of the language. Inputs and outputs of realize(), and constants in algorithms.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/rdom.h"
#include "polyhalite/runtime_buffer.h"
#include "polyhalite/target.h"

namespace polyhalite {

inline constexpr int AnyDims = runtime::AnyDims;

struct JITUserContext;

namespace detail {

/// Dense, not initialised. CompileError where sizes and order describe no array, RuntimeError where
/// there is no memory.
std::shared_ptr<BufferContents> make_buffer(Type t, const std::vector<int> &sizes,
                                            const std::vector<int> &order, const std::string &name);
std::shared_ptr<BufferContents> wrap_buffer(runtime::Buffer<> buf, const std::string &name);
/// dense_dimensions() with CompileErrors.
std::vector<polyhalite_dimension_t> checked_dimensions(const std::vector<int> &sizes,
                                                       const std::vector<int> &order = {});
/// b itself; CompileError for the null contents of an undefined Buffer.
BufferContents &defined_contents(BufferContents *b, const Here &here = Here(SourceLocation{}));
void set_buffer_name(BufferContents &b, const std::string &name);
/// CompileError for a use that the runtime's Buffer refused.
[[noreturn]] void buffer_misused(const BufferContents &b, const std::string &what);
/// CompileError unless there is a coordinate for each dimension. Dimensions beyond those that b has
/// have one element, at 0.
void check_coordinates(const BufferContents &b, int count, const int *pos);
/// CompileError unless b has dimension i.
void check_dimension(const BufferContents &b, int i);
Expr buffer_call(const std::shared_ptr<BufferContents> &b, const std::vector<Expr> &args);
/// CompileError unless b has this element type (Handle: any) and number of dimensions (-1: any).
void check_buffer(const BufferContents *b, Type t, int dimensions);
/// Calls f(interface, user context) for the target's device; CompileError where it has none,
/// RuntimeError where the call fails.
int device_call(const char *method, const Target &target,
                const std::function<int(const polyhalite_device_interface_t *, void *)> &f);
/// Calls f(user context) where the buffer is on a device.
int device_call(const polyhalite_buffer_t &b, const std::function<int(void *)> &f);

template <typename T>
Type element_type() {
  if constexpr (std::is_void_v<T>) {
    return Handle();
  } else {
    return type_of<std::remove_const_t<T>>();
  }
}

// Sizes, then perhaps a name.
template <typename... Args>
struct SizesAndName : std::true_type {};
template <typename First, typename... More>
struct SizesAndName<First, More...>
    : std::bool_constant<runtime::AllInts<First>::value
                             ? SizesAndName<More...>::value
                             : (sizeof...(More) == 0 &&
                                std::is_convertible_v<First, std::string>)> {};

template <typename... Args>
std::vector<int> leading_sizes(const Args &...args) {
  std::vector<int> sizes;
  auto add = [&](const auto &a) {
    if constexpr (runtime::AllInts<decltype(a)>::value) sizes.push_back(static_cast<int>(a));
  };
  (add(args), ...);
  return sizes;
}
template <typename... Args>
std::string trailing_name(const Args &...args) {
  std::string name;
  [[maybe_unused]] auto look = [&](const auto &a) {
    if constexpr (!runtime::AllInts<decltype(a)>::value) name = a;
  };
  (look(args), ...);
  return name;
}

}  // namespace detail

/// A shared, named handle on an array: copies see each other's crops. T is the element type, const
/// or not, or void where it is known at run time only; D is the number of dimensions, or AnyDims.
/// Conversions between them are checked. Methods without a comment are those of runtime::Buffer.
template <typename T = void, int D = AnyDims>
class Buffer {
  template <typename, int>
  friend class Buffer;
  using Raw = runtime::Buffer<T, D>;
  using AnyVoid = std::conditional_t<std::is_const_v<T>, const void, void>;

 public:
  using ElemType = T;
  static constexpr int AnyDims = runtime::AnyDims;
  static_assert(D >= AnyDims, "a number of dimensions is not negative");
  static constexpr bool has_static_halide_type = Raw::has_static_halide_type;
  static constexpr polyhalite_type_t static_halide_type() { return Raw::static_halide_type(); }
  static constexpr bool has_static_dimensions = Raw::has_static_dimensions;
  static constexpr int static_dimensions() { return D; }

  /// Undefined.
  Buffer() = default;
  virtual ~Buffer() = default;
  Buffer(const Buffer &) = default;
  Buffer(Buffer &&) noexcept = default;
  Buffer &operator=(const Buffer &) = default;
  Buffer &operator=(Buffer &&) noexcept = default;
  template <typename T2, int D2>
  Buffer(const Buffer<T2, D2> &o) : Buffer(o.contents_) {  // NOLINT
    Raw::template static_assert_can_convert_from<T2, D2, 4>();
  }
  /// Shares the elements of a runtime buffer.
  template <typename T2, int D2, int S2>
  Buffer(runtime::Buffer<T2, D2, S2> b, const std::string &name = "")  // NOLINT
      : Buffer(detail::wrap_buffer(runtime::Buffer<>(unconst(std::move(b))), name)) {
    Raw::template static_assert_can_convert_from<T2, D2, S2>();
  }
  explicit Buffer(std::shared_ptr<BufferContents> contents) : contents_(std::move(contents)) {
    detail::check_buffer(contents_.get(), detail::element_type<T>(), D);
  }

  // Owning, dense, not initialised; perhaps with a name.
  template <typename... Args, typename = std::enable_if_t<detail::SizesAndName<Args...>::value>>
  explicit Buffer(int first, const Args &...rest)
      : Buffer(type_of<std::remove_const_t<T>>(), detail::leading_sizes(first, rest...),
               detail::trailing_name(rest...)) {}
  template <typename... Args, typename = std::enable_if_t<detail::SizesAndName<Args...>::value>>
  explicit Buffer(Type t, int first, const Args &...rest)
      : Buffer(t, detail::leading_sizes(first, rest...), detail::trailing_name(rest...)) {}
  explicit Buffer(const std::vector<int> &sizes, const std::string &name = "")
      : Buffer(type_of<std::remove_const_t<T>>(), sizes, name) {}
  /// `order` lists the dimensions from the innermost in memory.
  explicit Buffer(const std::vector<int> &sizes, const std::vector<int> &order,
                  const std::string &name = "")
      : Buffer(type_of<std::remove_const_t<T>>(), sizes, order, name) {}
  explicit Buffer(Type t, const std::vector<int> &sizes, const std::string &name = "")
      : Buffer(t, sizes, std::vector<int>{}, name) {}
  explicit Buffer(Type t, const std::vector<int> &sizes, const std::vector<int> &order,
                  const std::string &name = "")
      : Buffer(detail::make_buffer(t, sizes, order, name)) {}

  // Borrowing: the caller keeps the elements alive.
  explicit Buffer(const polyhalite_buffer_t &b, const std::string &name = "")
      : Buffer(detail::wrap_buffer(runtime::Buffer<>(b), name)) {}
  /// An array of C++; its last index is dimension 0.
  template <typename Array, size_t N>
  explicit Buffer(Array (&vals)[N], const std::string &name = "")
      : Buffer(runtime::Buffer<T>(vals), name) {}
  template <typename... Args, typename = std::enable_if_t<detail::SizesAndName<Args...>::value>>
  explicit Buffer(T *data, int first, const Args &...rest)
      : Buffer(data, detail::leading_sizes(first, rest...), detail::trailing_name(rest...)) {}
  template <typename... Args, typename = std::enable_if_t<detail::SizesAndName<Args...>::value>>
  explicit Buffer(Type t, AnyVoid *data, int first, const Args &...rest)
      : Buffer(t, data, detail::leading_sizes(first, rest...), detail::trailing_name(rest...)) {}
  explicit Buffer(T *data, const std::vector<int> &sizes, const std::string &name = "")
      : Buffer(type_of<std::remove_const_t<T>>(), data, sizes, name) {}
  explicit Buffer(Type t, AnyVoid *data, const std::vector<int> &sizes,
                  const std::string &name = "")
      : Buffer(runtime::Buffer<AnyVoid>(t, data, detail::checked_dimensions(sizes)), name) {}
  explicit Buffer(T *data, int n, const polyhalite_dimension_t *shape, const std::string &name = "")
      : Buffer(type_of<std::remove_const_t<T>>(), data, n, shape, name) {}
  explicit Buffer(Type t, AnyVoid *data, int n, const polyhalite_dimension_t *shape,
                  const std::string &name = "")
      : Buffer(runtime::Buffer<AnyVoid>(t, data, n, shape), name) {}

  static Buffer make_scalar(const std::string &name = "") {
    return Buffer(std::vector<int>{}, name);
  }
  static Buffer<> make_scalar(Type t, const std::string &name = "") {
    return Buffer<>(t, std::vector<int>{}, name);
  }
  static Buffer make_scalar(T *data, const std::string &name = "") {
    return Buffer(Raw::make_scalar(data), name);
  }
  /// Channels innermost in memory: strides (channels, channels * width, 1).
  static Buffer make_interleaved(int width, int height, int channels,
                                 const std::string &name = "") {
    return Buffer({width, height, channels}, std::vector<int>{2, 0, 1}, name);
  }
  static Buffer<> make_interleaved(Type t, int width, int height, int channels,
                                   const std::string &name = "") {
    return Buffer<>(t, {width, height, channels}, {2, 0, 1}, name);
  }
  static Buffer make_interleaved(T *data, int width, int height, int channels,
                                 const std::string &name = "") {
    return Buffer(Raw::make_interleaved(data, width, height, channels), name);
  }
  static Buffer<AnyVoid> make_interleaved(Type t, T *data, int width, int height, int channels,
                                          const std::string &name = "") {
    return Buffer<AnyVoid>(
        runtime::Buffer<AnyVoid>::make_interleaved(t, data, width, height, channels), name);
  }
  template <typename T2, int D2>
  static Buffer make_with_shape_of(const Buffer<T2, D2> &src,
                                   void *(*allocate_fn)(size_t) = nullptr,
                                   void (*deallocate_fn)(void *) = nullptr,
                                   const std::string &name = "") {
    return make_with_shape_of(*src.get(), allocate_fn, deallocate_fn, name);
  }
  template <typename T2, int D2, int S2>
  static Buffer make_with_shape_of(const runtime::Buffer<T2, D2, S2> &src,
                                   void *(*allocate_fn)(size_t) = nullptr,
                                   void (*deallocate_fn)(void *) = nullptr,
                                   const std::string &name = "") {
    return Buffer(Raw::make_with_shape_of(src, allocate_fn, deallocate_fn), name);
  }

  bool defined() const { return contents_ != nullptr; }
  template <typename T2, int D2>
  bool same_as(const Buffer<T2, D2> &o) const {
    return contents_ == o.contents_;
  }
  const std::string &name() const { return defined_contents().name; }
  void set_name(const std::string &name) { detail::set_buffer_name(defined_contents(), name); }
  Type type() const { return defined_contents().type(); }
  const std::shared_ptr<BufferContents> &contents() const { return contents_; }
  /// The runtime's Buffer behind this handle. CompileError while undefined.
  Raw *get() { return &defined_contents().buf.template as<T, D>(); }
  const Raw *get() const {
    return &static_cast<const BufferContents &>(defined_contents()).buf.template as<T, D>();
  }
  polyhalite_buffer_t *raw_buffer() { return &defined_contents().raw(); }
  const polyhalite_buffer_t *raw_buffer() const { return &defined_contents().raw(); }
  template <typename T2, int D2>
  static bool can_convert_from(const Buffer<T2, D2> &o) {
    return Raw::can_convert_from(*o.get());
  }

  int dimensions() const { return defined_contents().dimensions(); }
  /// CompileError for a dimension that it has not.
  BufferDimension dim(int i) const {
    detail::check_dimension(defined_contents(), i);
    return contents_->buf.dim(i);
  }
  int min(int i) const { return dim(i).min(); }
  int extent(int i) const { return dim(i).extent(); }
  int stride(int i) const { return dim(i).stride(); }
  int left() const { return dim(0).min(); }
  int right() const { return dim(0).max(); }
  int top() const { return dim(1).min(); }
  int bottom() const { return dim(1).max(); }
  Region region(Here here = Here()) const {
    detail::defined_contents(contents_.get(), here);
    Region r;
    for (int i = 0; i < dimensions(); i++) r.emplace_back(min(i), extent(i));
    return r;
  }

  // What runtime::Buffer does, with a CompileError where it refuses.
#define PH_FORWARD(method, Self, constness)                                              \
  template <typename... Args>                                                            \
  auto method(Args &&...args) constness                                                  \
      -> decltype(std::declval<Self &>().method(std::forward<Args>(args)...)) {          \
    return guarded(                                                                      \
        [&]() -> decltype(auto) { return get()->method(std::forward<Args>(args)...); }); \
  }
#define PH_FORWARD_CONST(method) PH_FORWARD(method, const Raw, const)
#define PH_FORWARD_MUTABLE(method) PH_FORWARD(method, Raw, )
  PH_FORWARD_CONST(width)
  PH_FORWARD_CONST(height)
  PH_FORWARD_CONST(channels)
  PH_FORWARD_CONST(number_of_elements)
  PH_FORWARD_CONST(size_in_bytes)
  PH_FORWARD_CONST(begin)
  PH_FORWARD_CONST(end)
  PH_FORWARD_CONST(data)
  PH_FORWARD_CONST(contains)
  PH_FORWARD_CONST(all_equal)
  PH_FORWARD_CONST(cropped)
  PH_FORWARD_CONST(sliced)
  PH_FORWARD_CONST(embedded)
  PH_FORWARD_CONST(translated)
  PH_FORWARD_CONST(transposed)
  PH_FORWARD_CONST(has_device_allocation)
  PH_FORWARD_CONST(host_dirty)
  PH_FORWARD_CONST(device_dirty)
  PH_FORWARD_CONST(owns_host_memory)
  PH_FORWARD_MUTABLE(crop)
  PH_FORWARD_MUTABLE(slice)
  PH_FORWARD_MUTABLE(embed)
  PH_FORWARD_MUTABLE(translate)
  PH_FORWARD_MUTABLE(set_min)
  PH_FORWARD_MUTABLE(transpose)
  PH_FORWARD_MUTABLE(add_dimension)
  PH_FORWARD_MUTABLE(allocate)
  PH_FORWARD_MUTABLE(deallocate)
  PH_FORWARD_MUTABLE(copy_to_device)
  PH_FORWARD_MUTABLE(set_host_dirty)
  PH_FORWARD_MUTABLE(set_device_dirty)
  PH_FORWARD_MUTABLE(device_malloc)
  PH_FORWARD_MUTABLE(device_wrap_native)
  PH_FORWARD_MUTABLE(device_detach_native)
  PH_FORWARD_MUTABLE(device_deallocate)
  PH_FORWARD_MUTABLE(device_free)
#undef PH_FORWARD_MUTABLE
#undef PH_FORWARD_CONST
#undef PH_FORWARD
  // Lists in braces have no type to forward.
  void crop(const std::vector<std::pair<int, int>> &rectangle) {
    guarded([&] { get()->crop(rectangle); });
  }
  Raw cropped(const std::vector<std::pair<int, int>> &rectangle) const {
    return guarded([&] { return get()->cropped(rectangle); });
  }
  void translate(const std::vector<int> &delta) {
    guarded([&] { get()->translate(delta); });
  }
  void set_min(const std::vector<int> &mins) {
    guarded([&] { get()->set_min(mins); });
  }
  void transpose(const std::vector<int> &order) {
    guarded([&] { get()->transpose(order); });
  }

  /// Devices: 0, a CompileError where the target has none, a RuntimeError where it fails.
  int copy_to_device(const Target &t = get_jit_target_from_environment(),
                     JITUserContext * = nullptr) {
    return detail::device_call("copy_to_device", t, [&](auto *device, void *context) {
      return get()->copy_to_device(device, context);
    });
  }
  int device_malloc(const Target &t = get_jit_target_from_environment(),
                    JITUserContext * = nullptr) {
    return detail::device_call("device_malloc", t, [&](auto *device, void *context) {
      return get()->device_malloc(device, context);
    });
  }
  int copy_to_host(void * = nullptr) {
    return detail::device_call(*get()->raw_buffer(),
                               [&](void *context) { return get()->copy_to_host(context); });
  }
  int device_sync(void * = nullptr) {
    return detail::device_call(*get()->raw_buffer(),
                               [&](void *context) { return get()->device_sync(context); });
  }
  int copy_to_device(const DeviceAPI &api, const Target &t = get_jit_target_from_environment(),
                     JITUserContext * = nullptr) {
    return copy_to_device(get_device_interface_for_device_api(api, t, "Buffer::copy_to_device"));
  }
  int device_malloc(const DeviceAPI &api, const Target &t = get_jit_target_from_environment(),
                    JITUserContext * = nullptr) {
    return device_malloc(get_device_interface_for_device_api(api, t, "Buffer::device_malloc"));
  }

  template <typename F, typename... Others>
  Buffer &for_each_value(F &&f, Others &&...others) {
    guarded([&] { get()->for_each_value(f, *others.get()...); });
    return *this;
  }
  template <typename F, typename... Others>
  const Buffer &for_each_value(F &&f, Others &&...others) const {
    guarded([&] { get()->for_each_value(f, *others.get()...); });
    return *this;
  }
  template <typename F>
  Buffer &for_each_element(F &&f) {
    guarded([&] { get()->for_each_element(f); });
    return *this;
  }
  template <typename F>
  const Buffer &for_each_element(F &&f) const {
    guarded([&] { get()->for_each_element(f); });
    return *this;
  }
  template <typename ValueOrFunction>
  Buffer &fill(ValueOrFunction &&v) {
    guarded([&] { get()->fill(std::forward<ValueOrFunction>(v)); });
    return *this;
  }
  template <typename T2, int D2 = D>
  Buffer<T2, D2> as() const {
    return Buffer<T2, D2>(*this);
  }
  /// A dense copy with the same shape and order in memory.
  Buffer<std::remove_const_t<T>, D> copy() const {
    return guarded([&] { return Buffer<std::remove_const_t<T>, D>(get()->copy()); });
  }
  template <typename T2, int D2>
  void copy_from(const Buffer<T2, D2> &o) {
    guarded([&] { get()->copy_from(*o.get()); });
  }
  /// Another handle, whose crops and translations leave this one alone.
  Buffer alias() const { return Buffer(*get()); }

  template <typename... Ints, typename = std::enable_if_t<runtime::AllInts<Ints...>::value>>
  auto operator()(int first, Ints... more) -> decltype(std::declval<Raw &>()(first, more...)) {
    auto &b = unchecked();
    if (b.dimensions() == 1 + static_cast<int>(sizeof...(more))) return b(first, more...);
    const int pos[] = {first, static_cast<int>(more)...};
    detail::check_coordinates(*contents_, 1 + static_cast<int>(sizeof...(more)), pos);
    return b(pos);
  }
  template <typename... Ints, typename = std::enable_if_t<runtime::AllInts<Ints...>::value>>
  auto operator()(int first, Ints... more) const
      -> decltype(std::declval<const Raw &>()(first, more...)) {
    const auto &b = std::as_const(*this).unchecked();
    if (b.dimensions() == 1 + static_cast<int>(sizeof...(more))) return b(first, more...);
    const int pos[] = {first, static_cast<int>(more)...};
    detail::check_coordinates(*contents_, 1 + static_cast<int>(sizeof...(more)), pos);
    return b(pos);
  }
  auto operator()() -> decltype(std::declval<Raw &>()()) {
    if (dimensions() != 0) detail::check_coordinates(*contents_, 0, nullptr);
    return unchecked()();
  }
  auto operator()() const -> decltype(std::declval<const Raw &>()()) {
    if (dimensions() != 0) detail::check_coordinates(*contents_, 0, nullptr);
    return unchecked()();
  }
  auto operator()(const int *pos) -> decltype(std::declval<Raw &>()(pos)) { return (*get())(pos); }
  auto operator()(const int *pos) const -> decltype(std::declval<const Raw &>()(pos)) {
    return (*get())(pos);
  }
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

 private:
  template <typename T2, int D2, int S2>
  static runtime::Buffer<std::remove_const_t<T2>, D2, S2> unconst(runtime::Buffer<T2, D2, S2> b) {
    return std::move(b.template as_unchecked<std::remove_const_t<T2>>());
  }
  BufferContents &defined_contents() const {
    return contents_ ? *contents_ : detail::defined_contents(nullptr);
  }
  Raw &unchecked() { return defined_contents().buf.template as_unchecked<T, D>(); }
  const Raw &unchecked() const {
    return static_cast<const BufferContents &>(defined_contents())
        .buf.template as_unchecked<T, D>();
  }
  template <typename F>
  decltype(auto) guarded(F &&f) const {
    defined_contents();
    try {
      return f();
    } catch (const std::invalid_argument &e) {
      detail::buffer_misused(*contents_, e.what());
    }
  }

  std::shared_ptr<BufferContents> contents_;
};

}  // namespace polyhalite
