// runtime::Buffer: arrays for programs that call compiled pipelines, and what the language's Buffer
// holds. Header only, C++17, needs no library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/buffer_base.h"
#include "polyhalite/buffer_walk.h"

#ifndef HALIDE_RUNTIME_BUFFER_CHECK_INDICES
#define HALIDE_RUNTIME_BUFFER_CHECK_INDICES 0
#endif

namespace polyhalite::runtime {

/// Are all of these implicitly integers? Floats are not meant.
template <typename... Args>
struct AllInts : std::bool_constant<((std::is_convertible_v<Args, int> &&
                                      !std::is_floating_point_v<std::remove_reference_t<Args>>) &&
                                     ...)> {};

/// An array that copies share, or that the caller owns. T is the element type, or (const) void
/// where it is known at run time only; Dims the number of dimensions, or AnyDims. Copies share
/// elements, but each has its own shape: a crop of one leaves the others alone. InClassDimStorage
/// is how many dimensions a program expects to be kept without memory of their own; four always
/// are.
///
/// Wrong shapes and coordinates beyond a crop throw std::invalid_argument; single accesses are
/// unchecked unless HALIDE_RUNTIME_BUFFER_CHECK_INDICES is 1.
template <typename T = void, int Dims = AnyDims, int InClassDimStorage = 4>
class Buffer : public BufferBase {
  static_assert(Dims >= AnyDims, "a number of dimensions is not negative");
  static constexpr bool kIsVoid = std::is_void_v<T>;
  template <typename U>
  using LikeT = std::conditional_t<std::is_const_v<T>, const U, U>;
  using NotVoid = std::conditional_t<kIsVoid, LikeT<uint8_t>, T>;
  using NotConst = std::remove_const_t<T>;
  // Pointers are stored in 64 bits.
  using Stored = std::conditional_t<std::is_pointer_v<T>, LikeT<uint64_t>, NotVoid>;
  using AnyVoid = LikeT<void>;
  template <int D>
  using WithDims = Buffer<T, D, 4>;

  template <typename, int, int>
  friend class Buffer;

 public:
  using ElemType = T;
  static constexpr bool has_static_halide_type = !kIsVoid;
  static constexpr polyhalite_type_t static_halide_type() {
    return polyhalite_type_of<std::remove_cv_t<NotVoid>>();
  }
  static constexpr bool has_static_dimensions = Dims != AnyDims;
  static constexpr int static_dimensions() { return Dims; }

  /// Without memory.
  Buffer() {
    buf_.type = static_halide_type();
    if constexpr (Dims > 0) {
      const std::vector<polyhalite_dimension_t> none(Dims);
      copy_shape(none.data(), Dims);
    }
  }
  Buffer(const Buffer &) = default;
  Buffer(Buffer &&) noexcept = default;
  Buffer &operator=(const Buffer &) = default;
  Buffer &operator=(Buffer &&) noexcept = default;
  template <typename T2, int D2, int S2>
  Buffer(const Buffer<T2, D2, S2> &o) : BufferBase(checked(o)) {}  // NOLINT
  template <typename T2, int D2, int S2>
  Buffer(Buffer<T2, D2, S2> &&o) : BufferBase(std::move(checked(o))) {}  // NOLINT
  template <typename T2, int D2, int S2>
  Buffer &operator=(const Buffer<T2, D2, S2> &o) {
    BufferBase::operator=(checked(o));
    return *this;
  }
  template <typename T2, int D2, int S2>
  Buffer &operator=(Buffer<T2, D2, S2> &&o) {
    BufferBase::operator=(std::move(checked(o)));
    return *this;
  }
  /// The fields of b. Host memory stays the caller's; device memory as `ownership` says.
  explicit Buffer(const polyhalite_buffer_t &b,
                  BufferDeviceOwnership ownership = BufferDeviceOwnership::Unmanaged) {
    check_type(b.type);
    check_count(b.dimensions);
    adopt(b, ownership);
  }

  // Owning, dense, not initialised; a type stands first where T is void.
  explicit Buffer(int size) : Buffer(static_halide_type(), sizes_of(size)) {
    static_assert(!kIsVoid, "a Buffer<void> needs its type: Buffer(type, sizes...)");
  }
  template <typename... Ints, typename = std::enable_if_t<AllInts<Ints...>::value>>
  Buffer(int first, int second, Ints... more)
      : Buffer(static_halide_type(), sizes_of(first, second, more...)) {
    static_assert(!kIsVoid, "a Buffer<void> needs its type: Buffer(type, sizes...)");
  }
  template <typename... Ints, typename = std::enable_if_t<AllInts<Ints...>::value>>
  Buffer(polyhalite_type_t t, int first, Ints... more) : Buffer(t, sizes_of(first, more...)) {}
  explicit Buffer(const std::vector<int> &sizes) : Buffer(static_halide_type(), sizes) {}
  Buffer(polyhalite_type_t t, const std::vector<int> &sizes)
      : Buffer(t, sizes, std::vector<int>{}) {}
  /// `order` lists the dimensions from the innermost in memory.
  Buffer(const std::vector<int> &sizes, const std::vector<int> &order)
      : Buffer(static_halide_type(), sizes, order) {}
  Buffer(polyhalite_type_t t, const std::vector<int> &sizes, const std::vector<int> &order) {
    set(t, nullptr, dense_dimensions(sizes, order));
    if (number_of_elements() == 0) return;
    check_size();
    allocate();
  }

  // Borrowing: the caller keeps the elements alive.
  /// An array of C++; its last index is dimension 0.
  template <typename Array, size_t N>
  explicit Buffer(Array (&vals)[N]) {
    std::vector<int> sizes;
    push_extents(sizes, vals);
    std::reverse(sizes.begin(), sizes.end());
    using Scalar = std::remove_all_extents_t<Array>;
    set(polyhalite_type_of<std::remove_cv_t<Scalar>>(), bytes(vals), dense_dimensions(sizes));
  }
  template <typename... Ints, typename = std::enable_if_t<AllInts<Ints...>::value>>
  explicit Buffer(T *data, int first, Ints &&...more) : Buffer(data, sizes_of(first, more...)) {}
  template <typename... Ints, typename = std::enable_if_t<AllInts<Ints...>::value>>
  explicit Buffer(polyhalite_type_t t, AnyVoid *data, int first, Ints &&...more)
      : Buffer(t, data, sizes_of(first, more...)) {}
  explicit Buffer(T *data, const std::vector<int> &sizes)
      : Buffer(static_halide_type(), data, sizes) {}
  explicit Buffer(polyhalite_type_t t, AnyVoid *data, const std::vector<int> &sizes) {
    set(t, bytes(data), dense_dimensions(sizes));
  }
  explicit Buffer(T *data, int n, const polyhalite_dimension_t *shape)
      : Buffer(static_halide_type(), data, n, shape) {}
  explicit Buffer(polyhalite_type_t t, AnyVoid *data, int n, const polyhalite_dimension_t *shape) {
    check_type(t);
    check_count(n);
    describe(t, bytes(data), shape, n);
  }
  explicit Buffer(T *data, const std::vector<polyhalite_dimension_t> &shape)
      : Buffer(data, static_cast<int>(shape.size()), shape.data()) {}
  explicit Buffer(polyhalite_type_t t, AnyVoid *data,
                  const std::vector<polyhalite_dimension_t> &shape)
      : Buffer(t, data, static_cast<int>(shape.size()), shape.data()) {}

  static Buffer make_scalar() { return Buffer(std::vector<int>{}); }
  static Buffer<AnyVoid, Dims, InClassDimStorage> make_scalar(polyhalite_type_t t) {
    return Buffer<AnyVoid, Dims, InClassDimStorage>(t, std::vector<int>{});
  }
  static Buffer make_scalar(T *data) { return Buffer(data, std::vector<int>{}); }
  /// Channels innermost in memory: strides (channels, channels * width, 1).
  static Buffer make_interleaved(int width, int height, int channels) {
    return Buffer({width, height, channels}, std::vector<int>{2, 0, 1});
  }
  static Buffer<AnyVoid, Dims, InClassDimStorage> make_interleaved(polyhalite_type_t t, int width,
                                                                   int height, int channels) {
    return Buffer<AnyVoid, Dims, InClassDimStorage>(t, {width, height, channels},
                                                    std::vector<int>{2, 0, 1});
  }
  static Buffer make_interleaved(T *data, int width, int height, int channels) {
    return Buffer(data, dense_dimensions({width, height, channels}, {2, 0, 1}));
  }
  static Buffer<AnyVoid, Dims, InClassDimStorage> make_interleaved(polyhalite_type_t t,
                                                                   AnyVoid *data, int width,
                                                                   int height, int channels) {
    return Buffer<AnyVoid, Dims, InClassDimStorage>(
        t, data, dense_dimensions({width, height, channels}, {2, 0, 1}));
  }
  /// Dense, not initialised, with src's mins, extents and order in memory.
  template <typename T2, int D2, int S2>
  static Buffer make_with_shape_of(const Buffer<T2, D2, S2> &src,
                                   void *(*allocate_fn)(size_t) = nullptr,
                                   void (*deallocate_fn)(void *) = nullptr) {
    Buffer b;
    if constexpr (kIsVoid) {
      b.set(src.type(), nullptr, dense_like(*src.raw_buffer()));
    } else {
      b.set(static_halide_type(), nullptr, dense_like(*src.raw_buffer()));
    }
    b.allocate(allocate_fn, deallocate_fn);
    return b;
  }

  /// Could o, with the types and dimensions that it has now, become a Buffer of this class?
  template <typename T2, int D2, int S2>
  static bool can_convert_from(const Buffer<T2, D2, S2> &o) {
    static_assert_can_convert_from<T2, D2, S2>();
    if (!kIsVoid && std::is_void_v<T2> && o.type() != static_halide_type()) return false;
    return Dims == AnyDims || o.dimensions() == Dims;
  }
  template <typename T2, int D2, int S2>
  static void static_assert_can_convert_from() {
    static_assert(!std::is_const_v<T2> || std::is_const_v<T>,
                  "a Buffer of const elements does not become one of mutable elements");
    static_assert(std::is_same_v<std::remove_const_t<T>, std::remove_const_t<T2>> || kIsVoid ||
                      std::is_void_v<T2>,
                  "a Buffer's element type does not convert");
    static_assert(Dims == AnyDims || D2 == AnyDims || Dims == D2,
                  "a Buffer's number of dimensions does not convert");
  }
  template <typename T2, int D2, int S2>
  static void assert_can_convert_from(const Buffer<T2, D2, S2> &o) {
    checked(o);
  }

  /// This very object under another type; the elements' type must agree.
  template <typename T2, int D2 = Dims>
  Buffer<T2, D2, InClassDimStorage> &as() & {
    Buffer<T2, D2, InClassDimStorage>::checked(*this);
    return as_unchecked<T2, D2>();
  }
  template <typename T2, int D2 = Dims>
  const Buffer<T2, D2, InClassDimStorage> &as() const & {
    Buffer<T2, D2, InClassDimStorage>::checked(*this);
    return as_unchecked<T2, D2>();
  }
  /// For callers that know: all Buffers are a BufferBase and nothing else.
  template <typename T2, int D2 = Dims>
  Buffer<T2, D2, InClassDimStorage> &as_unchecked() {
    return static_cast<Buffer<T2, D2, InClassDimStorage> &>(static_cast<BufferBase &>(*this));
  }
  template <typename T2, int D2 = Dims>
  const Buffer<T2, D2, InClassDimStorage> &as_unchecked() const {
    return static_cast<const Buffer<T2, D2, InClassDimStorage> &>(
        static_cast<const BufferBase &>(*this));
  }
  template <typename T2, int D2 = Dims>
  Buffer<T2, D2, InClassDimStorage> as() && {
    return Buffer<T2, D2, InClassDimStorage>(std::move(*this));
  }
  Buffer<std::add_const_t<T>, Dims, InClassDimStorage> &as_const() & {
    return as<std::add_const_t<T>>();
  }
  const Buffer<std::add_const_t<T>, Dims, InClassDimStorage> &as_const() const & {
    return as<std::add_const_t<T>>();
  }
  Buffer<std::add_const_t<T>, Dims, InClassDimStorage> as_const() && {
    return std::move(*this).template as<std::add_const_t<T>>();
  }
  // Where a function takes a reference to a Buffer of const elements or of void.
  template <typename T2 = T, typename = std::enable_if_t<!std::is_const_v<T2>>>
  operator Buffer<std::add_const_t<T2>, Dims, InClassDimStorage> &() & {  // NOLINT
    return as_const();
  }
  template <typename V, typename T2 = T,
            typename = std::enable_if_t<std::is_void_v<V> && !std::is_const_v<V> &&
                                        !std::is_void_v<T2> && !std::is_const_v<T2>>>
  operator Buffer<V, Dims, InClassDimStorage> &() & {  // NOLINT
    return as<V, Dims>();
  }
  template <typename V, typename T2 = T,
            typename = std::enable_if_t<std::is_void_v<V> && !std::is_const_v<V> &&
                                        !std::is_void_v<T2> && std::is_const_v<T2>>>
  operator Buffer<const V, Dims, InClassDimStorage> &() & {  // NOLINT
    return as<const V, Dims>();
  }

  /// Becomes a Buffer without memory.
  void reset() { *this = Buffer(); }
  /// Memory for the shape it has. Null functions: the defaults, else the C library's.
  void allocate(void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) {
    allocate_host(allocate_fn, deallocate_fn);
  }
  /// Refuses a shape whose elements no address space holds.
  void check_overflow() const { check_size(); }
  Buffer alias() const { return *this; }

  /// The element at every dimension's min.
  T *data() const { return reinterpret_cast<T *>(buf_.host); }
  /// The first element in memory, and the end of the last one.
  T *begin() const {
    check(buf_.host != nullptr, "begin() of a Buffer without memory");
    return reinterpret_cast<T *>(buf_.begin());
  }
  T *end() const {
    check(buf_.host != nullptr, "end() of a Buffer without memory");
    return reinterpret_cast<T *>(buf_.end());
  }

  template <typename... Ints, typename = std::enable_if_t<AllInts<Ints...>::value>>
  const NotVoid &operator()(int first, Ints... more) const {
    return *reinterpret_cast<const NotVoid *>(element(first, more...));
  }
  const NotVoid &operator()() const { return *reinterpret_cast<const NotVoid *>(element()); }
  const NotVoid &operator()(const int *pos) const {
    return *reinterpret_cast<const NotVoid *>(element_at(pos));
  }
  template <typename... Ints, typename = std::enable_if_t<AllInts<Ints...>::value>>
  NotVoid &operator()(int first, Ints... more) {
    mark_written();
    return *reinterpret_cast<NotVoid *>(element(first, more...));
  }
  NotVoid &operator()() {
    mark_written();
    return *reinterpret_cast<NotVoid *>(element());
  }
  NotVoid &operator()(const int *pos) {
    mark_written();
    return *reinterpret_cast<NotVoid *>(element_at(pos));
  }

  /// f(element, element of another Buffer of these extents...) at all positions, in any order.
  template <typename F, typename... Others>
  Buffer &for_each_value(F &&f, Others &&...others) {
    detail::for_each_value(f, *this, others...);
    return *this;
  }
  template <typename F, typename... Others>
  const Buffer &for_each_value(F &&f, Others &&...others) const {
    detail::for_each_value(f, *this, others...);
    return *this;
  }
  /// f(const int *pos), or f(x, y...) for as many of the first dimensions as f has parameters;
  /// dimension 0 runs fastest.
  template <typename F>
  Buffer &for_each_element(F &&f) {
    detail::for_each_element(f, buf_);
    return *this;
  }
  template <typename F>
  const Buffer &for_each_element(F &&f) const {
    detail::for_each_element(f, buf_);
    return *this;
  }
  bool all_equal(NotVoid value) const {
    bool equal = true;
    for_each_value([&](const NotVoid &e) { equal = equal && e == value; });
    return equal;
  }
  /// With a value, or with f(const int *pos) or f(x, y...).
  Buffer &fill(NotVoid value) {
    set_host_dirty();
    return for_each_value([&](NotVoid &e) { e = value; });
  }
  template <typename F,
            typename = std::enable_if_t<std::is_class_v<std::decay_t<F>> ||
                                        std::is_function_v<std::remove_reference_t<F>>>,
            typename = std::enable_if_t<std::is_invocable_v<F &, const int *> ||
                                        (detail::int_arity<F &>() >= 0)>>
  Buffer &fill(F &&f) {
    set_host_dirty();
    auto set_element = [&](const int *pos) {
      *reinterpret_cast<NotVoid *>(element_at(pos)) = static_cast<NotVoid>(detail::call_at(f, pos));
    };
    return for_each_element(set_element);
  }

  /// A dense copy with the same shape and order in memory.
  Buffer<NotConst, Dims, InClassDimStorage> copy(void *(*allocate_fn)(size_t) = nullptr,
                                                 void (*deallocate_fn)(void *) = nullptr) const {
    auto result = Buffer<NotConst, Dims, InClassDimStorage>::make_with_shape_of(*this, allocate_fn,
                                                                                deallocate_fn);
    result.copy_from(*this);
    return result;
  }
  Buffer<NotConst, Dims, InClassDimStorage> copy_to_interleaved(
      void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) const {
    check(dimensions() == 3, "copy_to_interleaved() of a Buffer that has not three dimensions");
    return copy_in_order({2, 0, 1}, allocate_fn, deallocate_fn);
  }
  Buffer<NotConst, Dims, InClassDimStorage> copy_to_planar(
      void *(*allocate_fn)(size_t) = nullptr, void (*deallocate_fn)(void *) = nullptr) const {
    return copy_in_order({}, allocate_fn, deallocate_fn);
  }
  /// Copies where the two overlap; the elements must have the same size.
  template <typename T2, int D2, int S2>
  void copy_from(Buffer<T2, D2, S2> src) {
    static_assert(!std::is_const_v<T>, "copy_from() writes to a Buffer of const elements");
    check(!device_dirty() && !src.device_dirty(), "copy_from() while a device has newer elements");
    check(dimensions() == src.dimensions(), "copy_from() a Buffer of another dimensionality");
    check(type().bytes() == src.type().bytes(), "copy_from() a Buffer of other elements");
    Buffer dst(*this);
    dst.device_deallocate();
    src.device_deallocate();
    for (int d = 0; d < dimensions(); d++) {
      const int first = std::max(dst.dim(d).min(), src.dim(d).min());
      const int last = std::min(dst.dim(d).max(), src.dim(d).max());
      if (last < first) return;
      dst.crop_host(d, first, last - first + 1);
      src.crop_host(d, first, last - first + 1);
    }
    switch (type().bytes()) {
      case 1:
        copy_elements<uint8_t>(dst, src);
        break;
      case 2:
        copy_elements<uint16_t>(dst, src);
        break;
      case 4:
        copy_elements<uint32_t>(dst, src);
        break;
      case 8:
        copy_elements<uint64_t>(dst, src);
        break;
      default:
        detail::refuse("copy_from() of elements that have not 1, 2, 4 or 8 bytes");
    }
    set_host_dirty();
  }

  /// Keeps [min, min + extent) of dimension d, or of the first dimensions.
  void crop(int d, int min, int extent) { crop_in_place(d, min, extent); }
  void crop(const std::vector<std::pair<int, int>> &rectangle) {
    check(rectangle.size() <= static_cast<size_t>(dimensions()), "crop() of too many dimensions");
    for (size_t d = 0; d < rectangle.size(); d++) {
      crop_in_place(static_cast<int>(d), rectangle[d].first, rectangle[d].second);
    }
  }
  Buffer cropped(int d, int min, int extent) const { return Buffer(cropped_copy(d, min, extent)); }
  Buffer cropped(const std::vector<std::pair<int, int>> &rectangle) const {
    Buffer b = *this;
    b.crop(rectangle);
    return b;
  }
  Buffer translated(int d, int delta) const {
    Buffer b = *this;
    b.translate(d, delta);
    return b;
  }
  Buffer translated(const std::vector<int> &delta) const {
    Buffer b = *this;
    b.translate(delta);
    return b;
  }
  Buffer transposed(int d1, int d2) const {
    Buffer b = *this;
    b.transpose(d1, d2);
    return b;
  }
  Buffer transposed(const std::vector<int> &order) const {
    Buffer b = *this;
    b.transpose(order);
    return b;
  }
  /// Fixes dimension d at pos, by default its min, and removes it.
  void slice(int d, int pos) {
    static_assert(Dims == AnyDims, "slice() changes the number of dimensions: use sliced()");
    if (!buf_.device_interface) return slice_host(d, pos);
    BufferBase::operator=(sliced_copy(d, pos));
  }
  void slice(int d) {
    check_dimension(d, "slice");
    slice(d, dim(d).min());
  }
  WithDims<(Dims == AnyDims ? AnyDims : Dims - 1)> sliced(int d, int pos) const {
    static_assert(Dims != 0, "a scalar has nothing to slice");
    return WithDims<(Dims == AnyDims ? AnyDims : Dims - 1)>(sliced_copy(d, pos));
  }
  WithDims<(Dims == AnyDims ? AnyDims : Dims - 1)> sliced(int d) const {
    check_dimension(d, "sliced");
    return sliced(d, dim(d).min());
  }
  /// Adds dimension d, of one element at pos.
  void embed(int d, int pos = 0) {
    static_assert(Dims == AnyDims, "embed() changes the number of dimensions: use embedded()");
    embed_host(d, pos);
  }
  WithDims<(Dims == AnyDims ? AnyDims : Dims + 1)> embedded(int d, int pos = 0) const {
    WithDims<AnyDims> b(*this);
    b.embed(d, pos);
    return b;
  }
  /// Adds an outermost dimension of one element.
  void add_dimension() {
    static_assert(Dims == AnyDims, "add_dimension() changes the number of dimensions");
    append_dimension();
  }
  void add_dimension_with_stride(int stride) {
    add_dimension();
    buf_.dim[dimensions() - 1].stride = stride;
  }

 private:
  explicit Buffer(BufferBase &&b) : BufferBase(std::move(b)) {}

  // o, which this class can stand for; refuses if not.
  template <typename B>
  static B &checked(B &o) {
    if (!can_convert_from(o)) {
      detail::refuse("a Buffer of " + std::to_string(o.dimensions()) +
                     " dimensions or of other elements does not convert to a Buffer with type " +
                     std::to_string(static_halide_type().as_u32()) + " and " +
                     std::to_string(Dims) + " dimensions");
    }
    return o;
  }
  static void check_type(polyhalite_type_t t) {
    check(kIsVoid || t == static_halide_type(), "a Buffer's type is not that of its elements");
  }
  static void check_count(int n) {
    check(Dims == AnyDims || n == Dims, "a Buffer gets another number of dimensions than its type");
  }

  void set(polyhalite_type_t t, void *host, const std::vector<polyhalite_dimension_t> &dims) {
    check_type(t);
    check_count(static_cast<int>(dims.size()));
    describe(t, host, dims.data(), static_cast<int>(dims.size()));
  }
  static void *bytes(const volatile void *p) { return const_cast<void *>(p); }
  template <typename... Ints>
  static std::vector<int> sizes_of(Ints... sizes) {
    static_assert(Dims == AnyDims || Dims == sizeof...(sizes),
                  "another number of sizes than the Buffer's type has dimensions");
    return {static_cast<int>(sizes)...};
  }
  template <typename Array>
  static void push_extents(std::vector<int> &sizes, Array &vals) {
    if constexpr (std::is_array_v<Array>) {
      sizes.push_back(static_cast<int>(std::extent_v<Array>));
      push_extents(sizes, vals[0]);
    }
  }

  void mark_written() {
    static_assert(!kIsVoid, "a Buffer<void> has no element type: use as<T>()");
    // Written only where it changes: threads may write elements side by side.
    if constexpr (!std::is_const_v<T>) {
      if (!buf_.host_dirty()) buf_.set_host_dirty();
    }
  }
  template <typename... Ints>
  Stored *element(Ints... at) const {
    static_assert(!kIsVoid, "a Buffer<void> has no element type: use as<T>()");
    static_assert(Dims == AnyDims || Dims == sizeof...(at),
                  "another number of coordinates than the Buffer's type has dimensions");
    const int pos[] = {static_cast<int>(at)..., 0};
#if HALIDE_RUNTIME_BUFFER_CHECK_INDICES
    check(sizeof...(at) == dimensions(), "another number of coordinates than dimensions");
    check_position(pos);
#endif
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < sizeof...(at); d++) {
      offset += static_cast<ptrdiff_t>(buf_.dim[d].stride) * (pos[d] - buf_.dim[d].min);
    }
    return reinterpret_cast<Stored *>(buf_.host) + offset;
  }
  Stored *element_at(const int *pos) const {
    static_assert(!kIsVoid, "a Buffer<void> has no element type: use as<T>()");
#if HALIDE_RUNTIME_BUFFER_CHECK_INDICES
    check_position(pos);
#endif
    ptrdiff_t offset = 0;
    for (int d = 0; d < dimensions(); d++) {
      offset += static_cast<ptrdiff_t>(buf_.dim[d].stride) * (pos[d] - buf_.dim[d].min);
    }
    return reinterpret_cast<Stored *>(buf_.host) + offset;
  }
  void check_position(const int *pos) const {
    for (int d = 0; d < dimensions(); d++) {
      check(pos[d] >= dim(d).min() && pos[d] <= dim(d).max(), "an access outside of a Buffer");
    }
  }

  template <typename Bits, typename B1, typename B2>
  static void copy_elements(B1 &dst, B2 &src) {
    Buffer<Bits> to(polyhalite_type_of<Bits>(), dst.buf_.host, dst.dimensions(), dst.buf_.dim);
    Buffer<const Bits> from(polyhalite_type_of<Bits>(), src.buf_.host, src.dimensions(),
                            src.buf_.dim);
    to.for_each_value([](Bits &a, Bits b) { a = b; }, from);
  }
  Buffer<NotConst, Dims, InClassDimStorage> copy_in_order(const std::vector<int> &order,
                                                          void *(*allocate_fn)(size_t),
                                                          void (*deallocate_fn)(void *)) const {
    std::vector<int> sizes;
    for (int d = 0; d < dimensions(); d++) sizes.push_back(extent(d));
    std::vector<polyhalite_dimension_t> dims = dense_dimensions(sizes, order);
    for (int d = 0; d < dimensions(); d++) dims[static_cast<size_t>(d)].min = min(d);
    Buffer<NotConst, Dims, InClassDimStorage> result;
    result.set(type(), nullptr, dims);
    result.allocate(allocate_fn, deallocate_fn);
    result.copy_from(*this);
    return result;
  }
};

}  // namespace polyhalite::runtime
