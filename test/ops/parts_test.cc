// Tensors of parts beside each other along memory: concatenated, padded and repeated ones, of bytes
// and of floats, against plain loops.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <algorithm>
#include <random>
#include <vector>

namespace polyhalite::parts_test {
namespace {

constexpr int kRows = 5;

template <typename T>
Buffer<T, 2> numbers(int columns, uint32_t seed) {
  Buffer<T, 2> b(columns, kRows);
  std::mt19937 bits(seed);
  b.for_each_value([&](T &v) { v = static_cast<T>(bits() % 251); });
  return b;
}

template <typename T>
ops::Tensor tensor(ImageParam &image, const Buffer<T, 2> &b) {
  image = ImageParam(type_of<T>(), 2);
  image.dim(0).set_bounds(0, b.width());
  image.set(b);
  return ops::Tensor(image, {kRows, b.width()});
}

template <typename T>
void check(const ops::Tensor &t, int columns, const std::function<T(int, int)> &wanted) {
  const Target target = get_jit_target_from_environment();
  Func out = ops::materialize({t}, {"out"}, {{}}, target)[0];
  const Buffer<T, 2> got = out.realize({columns, kRows}, target);
  for (int row = 0; row < kRows; row++) {
    for (int i = 0; i < columns; i++)
      ASSERT_EQ(got(i, row), wanted(i, row)) << columns << " " << row << " " << i;
  }
}

template <typename T>
void check_parts(const std::vector<int> &widths) {
  std::vector<Buffer<T, 2>> parts;
  std::vector<ImageParam> images(widths.size());
  std::vector<ops::Tensor> tensors;
  int columns = 0;
  for (size_t i = 0; i < widths.size(); i++) {
    parts.push_back(numbers<T>(widths[i], static_cast<uint32_t>(i)));
    tensors.push_back(tensor(images[i], parts[i]));
    columns += widths[i];
  }
  check<T>(ops::concat(tensors, 1), columns, [&](int i, int row) {
    size_t k = 0;
    while (i >= widths[k]) i -= widths[k++];
    return parts[k](i, row);
  });
}

template <typename T>
void check_border(int width, int before, int after) {
  const Buffer<T, 2> in = numbers<T>(width, 3);
  ImageParam image;
  const ops::Tensor x = tensor(image, in);
  const int columns = before + width + after;
  check<T>(ops::pad(x, {0, before}, {kRows, columns}, ops::PadMode::Constant, 7), columns,
           [&](int i, int row) {
             const bool inside = i >= before && i < before + width;
             return inside ? in(i - before, row) : static_cast<T>(7);
           });
  check<T>(ops::pad(x, {0, before}, {kRows, columns}, ops::PadMode::Edge, 0), columns,
           [&](int i, int row) { return in(std::clamp(i - before, 0, width - 1), row); });
}

template <typename T>
void check_copies(int width, int columns) {
  const Buffer<T, 2> in = numbers<T>(width, 4);
  ImageParam image;
  check<T>(ops::tile(tensor(image, in), {kRows, columns}), columns,
           [&](int i, int row) { return in(i % width, row); });
}

template <typename T>
void check_all() {
  check_parts<T>({64, 32});
  check_parts<T>({58, 58});
  check_parts<T>({3, 70, 1, 61});
  check_parts<T>({1, 2});
  check_parts<T>({900, 800});  // too long to unroll
  check_border<T>(112, 3, 3);
  check_border<T>(5, 1, 0);
  check_border<T>(200, 0, 17);
  check_border<T>(64, -3, 2);  // cut off in front
  check_copies<T>(56, 112);
  check_copies<T>(7, 50);
  check_copies<T>(1, 40);
  check_copies<T>(33, 33);
  check_copies<T>(40, 33);
}

TEST(parts, of_bytes) { check_all<uint8_t>(); }
TEST(parts, of_floats) { check_all<float>(); }
TEST(parts, of_wide_integers) { check_all<int64_t>(); }

}  // namespace
}  // namespace polyhalite::parts_test
