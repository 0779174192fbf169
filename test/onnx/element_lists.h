// What tests of sorting and selection share: elements of all types, lists along an axis.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "apps/onnx/element_order.h"
#include "apps/onnx/rearrange_constant.h"
#include "apps/onnx/session.h"
#include "polyhalite/float16.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx {

using List = std::vector<int64_t>;
using Axis = std::optional<int64_t>;

inline int64_t product(const List &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

template <typename T>
ElementType element_of() {
  return element_type(type_of<T>());
}
template <typename T>
Constant tensor(const List &shape, const std::vector<T> &values,
                ElementType type = element_of<T>()) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
  return Constant::of_bytes(type, shape, {bytes, bytes + values.size() * sizeof(T)});
}

// To the last bit.
inline void expect_same(const Constant &got, const Constant &wanted, const std::string &what) {
  EXPECT_TRUE(got.same(wanted)) << what << ": got " << shape_text(got.shape()) << " "
                                << testing::PrintToString(numbers(got)) << ", wanted "
                                << shape_text(wanted.shape()) << " "
                                << testing::PrintToString(numbers(wanted));
}

template <typename F>
void for_all_types(const F &f) {
  f(float{}), f(double{}), f(float16_t{}), f(bfloat16_t{});
  f(int8_t{}), f(uint8_t{}), f(int16_t{}), f(uint16_t{});
  f(int32_t{}), f(uint32_t{}), f(int64_t{}), f(uint64_t{});
}

template <typename T>
constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>;

template <typename T>
bool is_nan(T v) {
  return v != v;
}

// Few, with both zeros and the ends of the type; the smallest float is a half's 0.
template <typename T>
std::vector<T> some_values() {
  std::vector<T> list;
  if constexpr (kIsFloat<T>) {
    for (const double v : {0.0, -0.0, 0x1p-149, -0x1p-24, 0x1p-24, 1.0, 1.5, -1.5, 65504.0,
                           -65504.0, HUGE_VAL, -HUGE_VAL})
      list.push_back(static_cast<T>(v));
  } else {
    const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    for (const T v : {T{0}, T{1}, static_cast<T>(~T{0}), low, static_cast<T>(low + 1), high,
                      static_cast<T>(high - 1)})
      list.push_back(v);
    if constexpr (sizeof(T) == 8) list.insert(list.end(), {T{1} << 53, (T{1} << 53) + 1});
  }
  return list;
}
template <typename T>
std::vector<T> some_values_and_nan() {
  std::vector<T> list = some_values<T>();
  if constexpr (kIsFloat<T>) list.push_back(static_cast<T>(std::nan("")));
  return list;
}

template <typename T>
std::vector<T> draw(int64_t n, const std::vector<T> &of, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<T> v;
  for (int64_t i = 0; i < n; i++) v.push_back(of[bits() % of.size()]);
  return v;
}

// What is no number is the largest.
template <typename T>
bool precedes(T a, T b, bool falling) {
  if (is_nan(a) || is_nan(b)) return falling ? is_nan(a) && !is_nan(b) : !is_nan(a) && is_nan(b);
  return falling ? a > b : a < b;
}
// Positions in their order, equal elements as they stand.
template <typename T>
List order_of(const std::vector<T> &row, bool falling) {
  List at(row.size());
  std::iota(at.begin(), at.end(), int64_t{0});
  std::stable_sort(at.begin(), at.end(), [&](int64_t i, int64_t j) {
    return precedes(row[static_cast<size_t>(i)], row[static_cast<size_t>(j)], falling);
  });
  return at;
}

inline std::vector<TestDim> open_dims(const List &shape) {
  const char *names[] = {"a", "b", "c", "d"};
  return {names, names + shape.size()};
}

// A tensor as outer x axis x inner; without an axis its elements are one row.
struct Along {
  List shape;
  size_t axis = 0;
  int64_t outer = 1, length = 1, inner = 1;

  Along(const List &given, Axis a) : shape(given) {
    if (!a) shape = {product(given)};
    axis = a ? positive_axis(*a, shape.size()) : 0;
    for (size_t d = 0; d < axis; d++) outer *= shape[d];
    length = shape[axis];
    for (size_t d = axis + 1; d < shape.size(); d++) inner *= shape[d];
  }
  size_t at(int64_t o, int64_t i, int64_t k) const {
    return static_cast<size_t>((o * length + i) * inner + k);
  }
  List with(int64_t count) const {
    List s = shape;
    s[axis] = count;
    return s;
  }
  std::string text() const { return shape_text(shape) + " along " + std::to_string(axis); }
};

}  // namespace polyhalite::onnx
