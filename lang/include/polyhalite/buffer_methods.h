// What the two Buffer classes (buffer.h of the language, runtime_buffer.h of programs that call
// compiled pipelines) have in common: everything that only needs a polyhalite_buffer_t. Needs no
// library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite_runtime.h"

namespace polyhalite {

/// One dimension of a buffer: indices min() .. max(), `stride` in elements. Iterable.
class BufferDimension {
 public:
  explicit BufferDimension(const polyhalite_dimension_t &d) : d_(d) {}
  int min() const { return d_.min; }
  int extent() const { return d_.extent; }
  int max() const { return d_.min + d_.extent - 1; }
  int stride() const { return d_.stride; }

  struct Iterator {
    int value;
    int operator*() const { return value; }
    bool operator!=(const Iterator &o) const { return value != o.value; }
    Iterator &operator++() {
      ++value;
      return *this;
    }
  };
  Iterator begin() const { return {d_.min}; }
  Iterator end() const { return {d_.min + d_.extent}; }

 private:
  polyhalite_dimension_t d_;
};

namespace detail {

template <typename T>
polyhalite_type_t runtime_type_of() {
  using U = std::remove_cv_t<T>;
  static_assert(std::is_arithmetic_v<U>, "elements of a buffer are numbers");
  polyhalite_type_t t{};
  t.code = std::is_floating_point_v<U>                       ? polyhalite_type_float
           : std::is_signed_v<U> && !std::is_same_v<U, bool> ? polyhalite_type_int
                                                             : polyhalite_type_uint;
  t.bits = std::is_same_v<U, bool> ? 1 : static_cast<uint8_t>(8 * sizeof(U));
  t.lanes = 1;
  return t;
}

inline size_t bytes_of(polyhalite_type_t t) { return (t.bits + 7u) / 8u; }
inline bool same_type(polyhalite_type_t a, polyhalite_type_t b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

template <typename... Ints>
inline constexpr bool all_ints = (std::is_convertible_v<Ints, int> && ...);

/// Dense dimensions with min 0; `order` lists them from the innermost in memory. Throws
/// std::invalid_argument or std::length_error where sizes and order describe no array.
inline std::vector<polyhalite_dimension_t> dense_dimensions(const std::vector<int> &sizes,
                                                            const std::vector<int> &order = {}) {
  std::vector<polyhalite_dimension_t> dims(sizes.size());
  std::vector<bool> seen(sizes.size());
  if (!order.empty() && order.size() != sizes.size()) {
    throw std::invalid_argument("a storage order of " + std::to_string(order.size()) +
                                " dimensions for a Buffer of " + std::to_string(sizes.size()));
  }
  int64_t stride = 1;
  for (size_t i = 0; i < sizes.size(); i++) {
    const size_t d = order.empty() ? i : static_cast<size_t>(order[i]);
    if (d >= sizes.size() || seen[d]) {
      throw std::invalid_argument("dimension " + std::to_string(order[i]) +
                                  " is no dimension, or named twice, in the storage order of a "
                                  "Buffer of " +
                                  std::to_string(sizes.size()) + " dimensions");
    }
    seen[d] = true;
    if (sizes[d] < 0) {
      throw std::invalid_argument("a Buffer with extent " + std::to_string(sizes[d]) +
                                  " in dimension " + std::to_string(d));
    }
    if (stride > INT32_MAX) {
      throw std::length_error("the stride of dimension " + std::to_string(d) +
                              " of a Buffer would be " + std::to_string(stride) + " elements");
    }
    dims[d] = {0, sizes[d], static_cast<int32_t>(stride), 0};
    stride *= sizes[d];
  }
  return dims;
}

/// 64-byte aligned, not initialised.
inline std::shared_ptr<void> allocate_bytes(size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  return std::shared_ptr<void>(::operator new(bytes + 64, kAlignment),
                               [=](void *p) { ::operator delete(p, kAlignment); });
}

// The number of int arguments that F takes, tried from `N` downwards; -1 if none fits.
template <typename F, typename Seq>
struct TakesInts;
template <typename F, size_t... I>
struct TakesInts<F, std::index_sequence<I...>> {
  template <size_t>
  using Int = int;
  static constexpr bool value = std::is_invocable_v<F, Int<I>...>;
  template <typename G>
  static void call(G &&f, const int *pos) {
    f(pos[I]...);
  }
};
template <typename F, int N>
constexpr int int_arity() {
  if constexpr (N < 0) {
    return -1;
  } else if constexpr (TakesInts<F, std::make_index_sequence<N>>::value) {
    return N;
  } else {
    return int_arity<F, N - 1>();
  }
}

/// Derived has raw_buffer(), alias() (another handle on the same elements) and allocate_like() (a
/// dense buffer of the same type, shape and dimension order).
template <typename Derived, typename T>
class BufferMethods {
 public:
  using ElemType = T;
  static constexpr bool has_type = !std::is_void_v<T>;
  // void has no references: element access is then compiled for no caller.
  using Element = std::conditional_t<has_type, T, uint8_t>;

  int dimensions() const { return raw()->dimensions; }
  BufferDimension dim(int i) const { return BufferDimension(raw()->dim[i]); }
  int min(int i) const { return raw()->dim[i].min; }
  int extent(int i) const { return raw()->dim[i].extent; }
  int stride(int i) const { return raw()->dim[i].stride; }
  int width() const { return dimensions() > 0 ? extent(0) : 1; }
  int height() const { return dimensions() > 1 ? extent(1) : 1; }
  int channels() const { return dimensions() > 2 ? extent(2) : 1; }
  int left() const { return dim(0).min(); }
  int right() const { return dim(0).max(); }
  int top() const { return dim(1).min(); }
  int bottom() const { return dim(1).max(); }

  size_t number_of_elements() const {
    size_t n = 1;
    for (int i = 0; i < dimensions(); i++) n *= static_cast<size_t>(extent(i));
    return n;
  }
  /// Bytes from the first to the last element in memory.
  size_t size_in_bytes() const {
    if (number_of_elements() == 0) return 0;
    ptrdiff_t first = 0, last = 0;
    reach(&first, &last);
    return static_cast<size_t>(last - first + 1) * bytes_of(raw()->type);
  }

  /// The element at every dimension's min.
  Element *data() const { return reinterpret_cast<Element *>(raw()->host); }
  /// The first element in memory, and the one after the last.
  Element *begin() const {
    ptrdiff_t first = 0, last = 0;
    reach(&first, &last);
    return data() + first;
  }
  Element *end() const {
    ptrdiff_t first = 0, last = 0;
    reach(&first, &last);
    return data() + last + 1;
  }

  bool contains(const std::vector<int> &pos) const {
    for (size_t i = 0; i < pos.size(); i++) {
      if (pos[i] < dim(static_cast<int>(i)).min() || pos[i] > dim(static_cast<int>(i)).max()) {
        return false;
      }
    }
    return true;
  }
  template <typename... Ints, typename = std::enable_if_t<all_ints<Ints...>>>
  bool contains(int first, Ints... more) const {
    return contains(std::vector<int>{first, static_cast<int>(more)...});
  }

  Element &at(const int *pos) const {
    static_assert(has_type, "a Buffer<void> has no element type: use as<T>()");
    ptrdiff_t offset = 0;
    for (int i = 0; i < dimensions(); i++) {
      offset += static_cast<ptrdiff_t>(pos[i] - min(i)) * stride(i);
    }
    return data()[offset];
  }

  /// Keeps [min, min + extent) of dimension d.
  Derived &crop(int d, int min, int extent) {
    raw()->host += static_cast<ptrdiff_t>(min - this->min(d)) * stride(d) *
                   static_cast<ptrdiff_t>(bytes_of(raw()->type));
    raw()->dim[d].min = min;
    raw()->dim[d].extent = extent;
    return self();
  }
  Derived &crop(const std::vector<std::pair<int, int>> &rectangle) {
    for (size_t i = 0; i < rectangle.size(); i++) {
      crop(static_cast<int>(i), rectangle[i].first, rectangle[i].second);
    }
    return self();
  }
  Derived cropped(int d, int min, int extent) const {
    Derived b = self().alias();
    b.crop(d, min, extent);
    return b;
  }
  Derived cropped(const std::vector<std::pair<int, int>> &rectangle) const {
    Derived b = self().alias();
    b.crop(rectangle);
    return b;
  }
  /// Fixes dimension d at pos and removes it.
  Derived &slice(int d, int pos) {
    crop(d, pos, 1);
    for (int i = d; i + 1 < dimensions(); i++) raw()->dim[i] = raw()->dim[i + 1];
    raw()->dimensions--;
    return self();
  }
  Derived sliced(int d, int pos) const {
    Derived b = self().alias();
    b.slice(d, pos);
    return b;
  }
  Derived &transpose(int d1, int d2) {
    std::swap(raw()->dim[d1], raw()->dim[d2]);
    return self();
  }
  Derived transposed(int d1, int d2) const {
    Derived b = self().alias();
    b.transpose(d1, d2);
    return b;
  }

  /// Changes coordinates, not elements.
  Derived &translate(int d, int delta) {
    raw()->dim[d].min += delta;
    return self();
  }
  Derived &translate(const std::vector<int> &delta) {
    for (size_t i = 0; i < delta.size(); i++) translate(static_cast<int>(i), delta[i]);
    return self();
  }
  Derived translated(int d, int delta) const {
    Derived b = self().alias();
    b.translate(d, delta);
    return b;
  }
  Derived &set_min(const std::vector<int> &mins) {
    for (size_t i = 0; i < mins.size(); i++) raw()->dim[i].min = mins[i];
    return self();
  }
  template <typename... Ints, typename = std::enable_if_t<all_ints<Ints...>>>
  Derived &set_min(int first, Ints... more) {
    return set_min(std::vector<int>{first, static_cast<int>(more)...});
  }

  /// f(const int *pos), or f(x, y, ...) with at most as many coordinates as there are dimensions;
  /// dimension 0 runs fastest.
  template <typename F>
  void for_each_element(F &&f) const {
    walk([&](const int *pos, ptrdiff_t) {
      if constexpr (std::is_invocable_v<F, const int *>) {
        f(pos);
      } else {
        constexpr int kArity = int_arity<F, 8>();
        static_assert(kArity >= 0, "for_each_element takes f(const int *) or f(int, int...)");
        TakesInts<F, std::make_index_sequence<kArity>>::call(f, pos);
      }
    });
  }
  /// f(element &).
  template <typename F>
  void for_each_value(F &&f) const {
    walk([&](const int *, ptrdiff_t offset) { f(data()[offset]); });
  }
  template <typename Value>
  Derived &fill(Value value) {
    if constexpr (std::is_invocable_v<Value, int> || std::is_invocable_v<Value, int, int> ||
                  std::is_invocable_v<Value, int, int, int> ||
                  std::is_invocable_v<Value, const int *>) {
      fill_by(value);
    } else {
      for_each_value([&](Element &e) { e = static_cast<Element>(value); });
    }
    return self();
  }

  /// A dense copy with the same shape.
  Derived copy() const {
    Derived result = self().allocate_like();
    result.copy_from(self());
    return result;
  }
  /// Copies where the two overlap; the element types must have the same size.
  template <typename Source>
  void copy_from(const Source &source) {
    const polyhalite_buffer_t *from = source.raw_buffer();
    const size_t bytes = bytes_of(raw()->type);
    walk([&](const int *pos, ptrdiff_t offset) {
      ptrdiff_t other = 0;
      for (int i = 0; i < from->dimensions; i++) {
        const int p = pos[i] - from->dim[i].min;
        if (p < 0 || p >= from->dim[i].extent) return;
        other += static_cast<ptrdiff_t>(p) * from->dim[i].stride;
      }
      std::memcpy(raw()->host + offset * static_cast<ptrdiff_t>(bytes),
                  from->host + other * static_cast<ptrdiff_t>(bytes), bytes);
    });
  }
  bool all_equal(Element value) const {
    bool equal = true;
    for_each_value([&](Element &e) { equal = equal && e == value; });
    return equal;
  }

 private:
  Derived &self() { return static_cast<Derived &>(*this); }
  const Derived &self() const { return static_cast<const Derived &>(*this); }
  polyhalite_buffer_t *raw() const { return const_cast<Derived &>(self()).raw_buffer(); }

  void reach(ptrdiff_t *first, ptrdiff_t *last) const {
    for (int i = 0; i < dimensions(); i++) {
      const ptrdiff_t span = static_cast<ptrdiff_t>(extent(i) - 1) * stride(i);
      (span < 0 ? *first : *last) += span;
    }
  }

  template <typename F>
  void fill_by(F &f) {
    walk([&](const int *pos, ptrdiff_t offset) {
      if constexpr (std::is_invocable_v<F, const int *>) {
        data()[offset] = static_cast<Element>(f(pos));
      } else if constexpr (std::is_invocable_v<F, int, int, int>) {
        data()[offset] = static_cast<Element>(f(pos[0], pos[1], pos[2]));
      } else if constexpr (std::is_invocable_v<F, int, int>) {
        data()[offset] = static_cast<Element>(f(pos[0], pos[1]));
      } else {
        data()[offset] = static_cast<Element>(f(pos[0]));
      }
    });
  }

  // f(position, offset of the element from data()).
  template <typename F>
  void walk(F &&f) const {
    const int n = dimensions();
    std::vector<int> pos(static_cast<size_t>(n) + 8);
    for (int i = 0; i < n; i++) {
      if (extent(i) <= 0) return;
      pos[i] = min(i);
    }
    ptrdiff_t offset = 0;
    while (true) {
      f(static_cast<const int *>(pos.data()), offset);
      int d = 0;
      for (; d < n; d++) {
        offset += stride(d);
        if (++pos[d] <= dim(d).max()) break;
        offset -= static_cast<ptrdiff_t>(extent(d)) * stride(d);
        pos[d] = min(d);
      }
      if (d == n) return;
    }
  }
};

/// The dimensions that a dense buffer of the same shape and order of memory has.
inline std::vector<polyhalite_dimension_t> dense_like(const polyhalite_buffer_t &b) {
  const size_t n = static_cast<size_t>(b.dimensions);
  std::vector<int> sizes(n), order(n);
  for (size_t i = 0; i < n; i++) {
    sizes[i] = b.dim[i].extent;
    order[i] = static_cast<int>(i);
  }
  // Insertion sort by stride: few dimensions, and stable.
  for (size_t i = 1; i < n; i++) {
    for (size_t j = i; j > 0 && b.dim[order[j]].stride < b.dim[order[j - 1]].stride; j--) {
      std::swap(order[j], order[j - 1]);
    }
  }
  std::vector<polyhalite_dimension_t> dims = dense_dimensions(sizes, order);
  for (size_t i = 0; i < n; i++) dims[i].min = b.dim[i].min;
  return dims;
}

}  // namespace detail

}  // namespace polyhalite
