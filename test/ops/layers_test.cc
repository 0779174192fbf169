// Softmax, normalisations, reductions, pooling and transposes with the library's schedules against
// plain loops in double precision, on shapes that fill vectors, leave rests, or are open, and on
// data of which much cancels.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace polyhalite::layers_test {
namespace {

constexpr double kUnit = 0x1p-24;  // half a unit in the last place of float32, relatively

using Shape = std::vector<int>;  // outermost first

int size_of(const Shape &s) {
  int n = 1;
  for (const int d : s) n *= d;
  return n;
}

// Numbers around `centre`.
Buffer<float> numbers(const Shape &s, uint32_t seed, float centre = 0) {
  Buffer<float> b(std::vector<int>(s.rbegin(), s.rend()));
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-3, 3);
  b.for_each_value([&](float &v) { v = centre + values(engine); });
  return b;
}

std::vector<Target> machines() {
  std::vector<Target> all = {get_jit_target_from_environment()};
  if (all[0].arch == Target::X86) {
    all.emplace_back("x86-64-linux-sse41");
    if (all[0].has_feature(Target::AVX512)) all.emplace_back("x86-64-linux-avx2-fma");
  }
  return all;
}

using Make = std::function<ops::Tensor(const ops::Tensor &)>;

// The same for images [image, channel, row, column] that lie with channels side by side, in and
// out.
std::vector<float> computed_together(const Buffer<float> &in, const Shape &s, const Shape &result,
                                     const Make &make, const Target &target) {
  Buffer<float> turned(std::vector<int>{s[1], s[3], s[2], s[0]});
  turned.for_each_element([&](int c, int x, int y, int n) { turned(c, x, y, n) = in(x, y, c, n); });
  const std::vector<int> order{1, 3, 2, 0};
  ImageParam image(Float(32), 4, "in");
  image.set(turned);
  const ops::Tensor made = make(ops::Tensor(image, ops::Index(s.begin(), s.end()), order));
  Func out = ops::materialize({made}, {"out"}, {order}, target)[0];
  const Buffer<float> values = out.realize({result[1], result[3], result[2], result[0]}, target);
  std::vector<float> got;
  for (int n = 0; n < result[0]; n++)
    for (int c = 0; c < result[1]; c++)
      for (int y = 0; y < result[2]; y++)
        for (int x = 0; x < result[3]; x++) got.push_back(values(c, x, y, n));
  return got;
}

// Says of an image that its rows follow each other.
template <typename Image>
void promise_dense(Image image, const Shape &s) {
  int stride = 1;
  for (int d = 0; d < static_cast<int>(s.size()); d++) {
    const int size = s[s.size() - 1 - static_cast<size_t>(d)];
    image.dim(d).set_bounds(0, size).set_stride(stride);
    stride *= size;
  }
}

// The values of make(x), of shape `result`, row after row. `dense`: strides are known.
std::vector<float> values_in_rows(const Buffer<float> &in, const Shape &s, const Shape &result,
                                  const Make &make, const Target &target, bool dense) {
  ImageParam image(Float(32), in.dimensions(), "in");
  image.set(in);
  if (dense) promise_dense(image, s);
  const ops::Tensor made = make(ops::Tensor(image, ops::Index(s.begin(), s.end())));
  Func out = ops::materialize({made}, {"out"}, {{}}, target, [&](const Func &f, size_t) {
    if (dense) promise_dense(f.output_buffer(), result);
  })[0];
  const Buffer<float> values = out.realize({result.rbegin(), result.rend()}, target);
  return std::vector<float>(values.data(), values.data() + size_of(result));
}

std::vector<float> computed(const Buffer<float> &in, const Shape &s, const Shape &result,
                            const Make &make, const Target &target) {
  return values_in_rows(in, s, result, make, target, false);
}

const Shape kMatrices[] = {{3, 5},     {7, 33},  {4, 768}, {1, 5003},
                           {130, 257}, {13, 49}, {33, 21}, {9, 128}};

// |error| <= (a few operations, and a sum of n terms in partial sums, as exp is within 1 unit)
TEST(layers, softmax) {
  for (const Target &target : machines()) {
    for (const Shape &s : kMatrices) {
      for (const float centre : {0.0f, 1e4f}) {
        const Buffer<float> in = numbers(s, 1, centre);
        const std::vector<float> got =
            computed(in, s, s, [](const ops::Tensor &x) { return ops::softmax(x, {-1}); }, target);
        const int n = s[1];
        for (int row = 0; row < s[0]; row++) {
          const float *x = in.data() + row * n;
          double peak = x[0], sum = 0;
          for (int i = 0; i < n; i++) peak = std::max<double>(peak, x[i]);
          for (int i = 0; i < n; i++) sum += std::exp(x[i] - peak);
          for (int i = 0; i < n; i++) {
            const double wanted = std::exp(x[i] - peak) / sum;
            // exp within 1 unit of 2 kUnit; its argument is off by kUnit of up to 6; a share of the
            // sum's rounding for each partial sum.
            const double bound = (2 + 6 + 8 + n / 32.0) * kUnit * wanted;
            ASSERT_NEAR(got[static_cast<size_t>(row * n + i)], wanted, bound)
                << s[0] << "x" << n << " " << row << " " << i << " " << target.to_string();
          }
        }
      }
    }
  }
}

// The same row after row of any image, with the library's schedule for what is open.
void expect_softmax(Func out, ImageParam image, int rows, int n, const Target &target) {
  const Buffer<float> in = numbers({rows, n}, 4);
  image.set(in);
  const Buffer<float> got = out.realize({n, rows}, target);
  for (int row = 0; row < rows; row++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += std::exp(double{in(i, row)});
    for (int i = 0; i < n; i++) {
      const double wanted = std::exp(double{in(i, row)}) / sum;
      ASSERT_NEAR(got(i, row), wanted, (16 + n / 32.0) * kUnit * wanted)
          << n << " " << row << " " << i << " " << target.to_string();
    }
  }
}

// One compilation for rows of any length, and for any number of rows.
TEST(layers, softmax_of_open_rows) {
  for (const Target &target : machines()) {
    Param<int> length("length");
    ImageParam image(Float(32), 2, "in");
    const ops::Tensor y = ops::softmax(ops::Tensor(image, {3, length}), {-1});
    const Func out = ops::materialize({y}, {"out"}, {{}}, target)[0];
    for (const int n : {1, 5, 16, 64, 133}) {
      length.set(n);
      expect_softmax(out, image, 3, n, target);
    }
  }
}
TEST(layers, softmax_of_an_open_number_of_rows) {
  for (const Target &target : machines()) {
    for (const int n : {21, 49, 128, 1000}) {
      Param<int> rows("rows");
      ImageParam image(Float(32), 2, "in");
      const ops::Tensor y = ops::softmax(ops::Tensor(image, {rows, n}), {-1});
      const Func out = ops::materialize({y}, {"out"}, {{}}, target)[0];
      for (const int count : {1, 3, 4, 8, 13}) {
        rows.set(count);
        expect_softmax(out, image, count, n, target);
      }
    }
  }
}

TEST(layers, softmax_of_an_outer_axis) {
  const Shape s{3, 20, 33};
  const Buffer<float> in = numbers(s, 2);
  const std::vector<float> got =
      computed(in, s, s, [](const ops::Tensor &x) { return ops::softmax(x, {1}); }, machines()[0]);
  for (int image = 0; image < 3; image++) {
    for (int i = 0; i < 33; i++) {
      double sum = 0;
      for (int k = 0; k < 20; k++) sum += std::exp(double{in(i, k, image)});
      for (int k = 0; k < 20; k++) {
        const double wanted = std::exp(double{in(i, k, image)}) / sum;
        ASSERT_NEAR(got[static_cast<size_t>((image * 20 + k) * 33 + i)], wanted, 1e-6 * wanted);
      }
    }
  }
}

TEST(layers, softmax_of_infinities) {
  const float inf = std::numeric_limits<float>::infinity();
  Buffer<float> in(40, 2);
  in.fill(-inf);
  in(3, 0) = 1;
  in(37, 0) = 1;
  in(0, 1) = 500;
  const std::vector<float> got = computed(
      in, {2, 40}, {2, 40}, [](const ops::Tensor &x) { return ops::softmax(x, {-1}); },
      machines()[0]);
  for (int i = 0; i < 40; i++) {
    EXPECT_EQ(got[static_cast<size_t>(i)], i == 3 || i == 37 ? 0.5f : 0.0f) << i;
    EXPECT_EQ(got[static_cast<size_t>(40 + i)], i == 0 ? 1.0f : 0.0f) << i;
  }
}

TEST(layers, normalisations) {
  const float epsilon = 1e-5f;
  for (const Target &target : machines()) {
    for (const Shape &s : kMatrices) {
      for (const float centre : {0.0f, 300.0f}) {
        const Buffer<float> in = numbers(s, 3, centre);
        const int n = s[1];
        const std::vector<float> normal = computed(
            in, s, s, [=](const ops::Tensor &x) { return ops::normalize(x, {-1}, epsilon); },
            target);
        const std::vector<float> scaled = computed(
            in, s, s, [=](const ops::Tensor &x) { return ops::rms_normalize(x, {-1}, epsilon); },
            target);
        for (int row = 0; row < s[0]; row++) {
          const float *x = in.data() + row * n;
          double mean = 0, variance = 0, square = 0;
          for (int i = 0; i < n; i++) mean += x[i];
          mean /= n;
          for (int i = 0; i < n; i++) {
            variance += (x[i] - mean) * (x[i] - mean);
            square += double{x[i]} * x[i];
          }
          const double deviation = std::sqrt(variance / n + epsilon);
          const double root = std::sqrt(square / n + epsilon);
          // The mean is off by the roundings of its partial sums, which numbers around the centre
          // carry into every distance.
          const double terms = 8 + n / 32.0;
          const double of_mean = terms * kUnit * (std::fabs(mean) + 3);
          for (int i = 0; i < n; i++) {
            const auto at = static_cast<size_t>(row * n + i);
            const double wanted = (x[i] - mean) / deviation;
            const double off = of_mean / deviation * (1 + std::fabs(wanted) * of_mean / deviation) +
                               terms * kUnit * std::fabs(wanted);
            ASSERT_NEAR(normal[at], wanted, off) << s[0] << "x" << n << " " << target.to_string();
            ASSERT_NEAR(scaled[at], x[i] / root, terms * kUnit * std::fabs(x[i] / root) + 1e-30)
                << s[0] << "x" << n << " " << target.to_string();
          }
        }
      }
    }
  }
}

TEST(layers, reductions) {
  struct Case {
    ops::Reduction how;
    double start;
    double (*add)(double, double);
  };
  const Case cases[] = {
      {ops::Reduction::Sum, 0, [](double a, double b) { return a + b; }},
      {ops::Reduction::SumSquare, 0, [](double a, double b) { return a + b * b; }},
      {ops::Reduction::L1, 0, [](double a, double b) { return a + std::fabs(b); }},
      {ops::Reduction::Max, -HUGE_VAL, [](double a, double b) { return std::max(a, b); }},
      {ops::Reduction::Min, HUGE_VAL, [](double a, double b) { return std::min(a, b); }},
  };
  for (const Target &target : machines()) {
    for (const Shape &s : kMatrices) {
      const Buffer<float> in = numbers(s, 4);
      for (const Case &c : cases) {
        for (const int axis : {0, 1}) {
          const std::vector<float> got = computed(
              in, s, {s[static_cast<size_t>(1 - axis)]},
              [&](const ops::Tensor &x) { return ops::reduce(x, c.how, {axis}, false); }, target);
          const int n = s[static_cast<size_t>(axis)], others = s[static_cast<size_t>(1 - axis)];
          for (int i = 0; i < others; i++) {
            double wanted = c.start, magnitude = 0;
            for (int k = 0; k < n; k++) {
              const double v = axis == 0 ? in(i, k) : in(k, i);
              wanted = c.add(wanted, v);
              magnitude += std::fabs(c.add(0, v));
            }
            ASSERT_NEAR(got[static_cast<size_t>(i)], wanted, n * kUnit * magnitude)
                << s[0] << "x" << s[1] << " axis " << axis << " " << target.to_string();
          }
        }
      }
    }
  }
}

struct Pool {
  int channels, size, kernel, stride, before;
  int result;
};

TEST(layers, pools) {
  // Windows beyond both ends, that cover the image, that leave a rest, with and without padding.
  const Pool pools[] = {
      {3, 112, 3, 2, 1, 56}, {5, 7, 7, 1, 0, 1},    {40, 7, 7, 1, 0, 1},  {2, 111, 3, 2, 0, 55},
      {4, 56, 2, 2, 0, 28},  {3, 35, 3, 1, 1, 35},  {2, 13, 5, 3, 2, 5},  {1, 8, 8, 1, 0, 1},
      {6, 14, 14, 14, 0, 1}, {19, 14, 5, 1, 2, 14}, {8, 23, 7, 2, 3, 12}, {3, 40, 13, 1, 6, 40},
      {2, 50, 33, 4, 0, 5},  {3, 28, 3, 1, 1, 28},  {3, 57, 3, 1, 1, 57}, {2, 20, 3, 2, 1, 10}};
  for (const Target &target : machines()) {
    for (const Pool &p : pools) {
      const Shape s{2, p.channels, p.size, p.size};
      const Buffer<float> in = numbers(s, 5);
      ops::Window w;
      w.kernel = {p.kernel, p.kernel};
      w.stride = {p.stride, p.stride};
      w.dilation = {1, 1};
      w.before = {p.before, p.before};
      w.shape = {p.result, p.result};
      for (const bool together : {false, true})
        for (const auto how : {ops::Pooling::Max, ops::Pooling::Average}) {
          const auto run = together ? computed_together : computed;
          const std::vector<float> got = run(
              in, s, {2, p.channels, p.result, p.result},
              [&](const ops::Tensor &x) { return ops::pool(x, w, how); }, target);
          size_t at = 0;
          for (int plane = 0; plane < 2 * p.channels; plane++) {
            for (int y = 0; y < p.result; y++) {
              for (int x = 0; x < p.result; x++, at++) {
                double peak = -HUGE_VAL, sum = 0, magnitude = 0;
                int count = 0;
                for (int dy = 0; dy < p.kernel; dy++) {
                  for (int dx = 0; dx < p.kernel; dx++) {
                    const int u = x * p.stride - p.before + dx, v = y * p.stride - p.before + dy;
                    if (u < 0 || v < 0 || u >= p.size || v >= p.size) continue;
                    const double value = in(u, v, plane % p.channels, plane / p.channels);
                    peak = std::max(peak, value);
                    sum += value;
                    magnitude += std::fabs(value);
                    count++;
                  }
                }
                const bool max = how == ops::Pooling::Max;
                ASSERT_NEAR(got[at], max ? peak : sum / count,
                            max ? 0 : (count + 1) * kUnit * magnitude / count)
                    << p.size << " by " << p.kernel << "/" << p.stride
                    << (together ? ", channels together: " : ": ") << plane << " " << y << " " << x
                    << " " << target.to_string();
              }
            }
          }
        }
    }
  }
}

// Columns that windows share: of a small plane all, of a larger one those of eight rows, of long
// rows those of one.
TEST(layers, columns_of_pools_are_made_ahead) {
  const auto columns = [](int size) {
    const Target target(get_host_target().os, Target::X86, 64, {Target::AVX2});
    ImageParam x(Float(32), 4, "x");
    const ops::Window w{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {size, size}};
    const ops::Tensor y = ops::pool(ops::Tensor(x, {1, 4, size, size}), w, ops::Pooling::Max);
    Func out = ops::materialize({y}, {"y"}, {{}}, target)[0];
    const int sizes[] = {size, size, 4, 1};
    for (int d = 0; d < 4; d++) out.output_buffer().dim(d).set_bounds(0, sizes[d]);
    const std::string text = out.emit_text(Emit::stmt, {x}, target);
    const std::string word = "allocate columns: float32[";
    const size_t at = text.find(word);
    return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + word.size());
  };
  EXPECT_EQ(columns(28), 28 * 30);
  EXPECT_EQ(columns(56), 8 * 58);
  EXPECT_EQ(columns(400), 402);
}

TEST(layers, transposes) {
  struct Case {
    Shape shape, permutation;
  };
  const Case cases[] = {{{64, 64}, {1, 0}},
                        {{16, 100}, {1, 0}},
                        {{37, 53}, {1, 0}},
                        {{3, 70}, {1, 0}},
                        {{2, 20, 17, 33}, {0, 2, 3, 1}},
                        {{2, 17, 33, 20}, {0, 3, 1, 2}},
                        {{5, 6, 40}, {2, 1, 0}},
                        {{20, 30, 40}, {1, 0, 2}},
                        {{1, 12, 6, 40}, {3, 0, 1, 2}},
                        {{33, 7, 19}, {2, 0, 1}},
                        {{2, 20, 9, 5}, {0, 2, 3, 1}},
                        {{6, 9, 5, 3}, {1, 0, 2, 3}},
                        {{7, 100, 3}, {0, 1, 2}},
                        {{33, 5, 14, 32}, {3, 0, 1, 2}},  // in parts
                        {{33, 9, 40, 7}, {0, 1, 2, 3}},
                        {{7, 5, 3, 4}, {2, 3, 0, 1}}};
  for (const Target &target : machines()) {
    for (size_t i = 0; i < 2 * std::size(cases); i++) {
      const Case &c = cases[i / 2];
      const bool dense = i % 2 == 1;
      Buffer<float> in = numbers(c.shape, 6);
      Shape result;
      for (const int d : c.permutation) result.push_back(c.shape[static_cast<size_t>(d)]);
      const std::vector<float> got = values_in_rows(
          in, c.shape, result,
          [&](const ops::Tensor &x) { return ops::transpose(x, c.permutation); }, target, dense);
      const size_t rank = c.shape.size();
      for (int flat = 0; flat < size_of(c.shape); flat++) {
        // The point of the result, the one of the operand, and that one's place.
        int rest = flat;
        std::vector<int> from(rank);
        for (size_t d = rank; d-- > 0;) {
          const auto axis = static_cast<size_t>(c.permutation[d]);
          from[axis] = rest % c.shape[axis];
          rest /= c.shape[axis];
        }
        int place = 0;
        for (size_t d = 0; d < rank; d++) place = place * c.shape[d] + from[d];
        ASSERT_EQ(got[static_cast<size_t>(flat)], in.data()[place]) << flat;
      }
    }
  }
}

// Windows along the rows that are normalised: both ask for parts of the output's loops.
TEST(layers, softmax_of_pooled_rows) {
  for (const Target &target : machines()) {
    const Shape s{2, 3, 30, 49};
    const Buffer<float> in = numbers(s, 7);
    const ops::Window window{{3, 3}, {1, 1}, {1, 1}, {1, 1}, {30, 49}};
    const auto pooled = [&](const ops::Tensor &x) {
      return ops::pool(x, window, ops::Pooling::Max);
    };
    const std::vector<float> peaks = computed(in, s, s, pooled, target);
    const std::vector<float> got = computed(
        in, s, s, [&](const ops::Tensor &x) { return ops::softmax(pooled(x), {3}); }, target);
    for (size_t row = 0; row < peaks.size(); row += 49) {
      double sum = 0;
      for (size_t i = 0; i < 49; i++) sum += std::exp(double{peaks[row + i]});
      for (size_t i = row; i < row + 49; i++)
        ASSERT_NEAR(got[i], std::exp(double{peaks[i]}) / sum, 1e-6) << i << target.to_string();
    }
  }
}

// Short rows are made a few at a time, each step for all of them, so that the steps of one row do
// not wait for each other; what is held of them lies in whole vectors.
TEST(layers, softmax_of_short_rows_together) {
  const Target target("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake");
  const auto loops = [&](const Shape &s) {
    ImageParam image(Float(32), 2, "in");
    const ops::Tensor x(image, ops::Index(s.begin(), s.end()));
    return ops::materialize({ops::softmax(x, {1})}, {"y"}, {{}}, target)[0].emit_text(
        Emit::tree, {image}, target);
  };
  const std::string tree = loops({100, 49});
  for (const char *part :
       {"y.s0: i0 -> i0.1, each by 4 ShiftInwards; i1 -> i1.1, i1_v by 16 Predicate",
        "for scaled.s0.i0 serial", "scaled.s0: i1 -> i1.1, i1_v by 16 Predicate"})
    EXPECT_NE(tree.find(part), std::string::npos) << part << "\n" << tree;
  EXPECT_NE(loops({100, 21}).find("each by 8"), std::string::npos);
  // Fewer rows, and long ones.
  for (const Shape &s : {Shape{3, 49}, Shape{100, 1000}})
    EXPECT_EQ(loops(s).find("each by"), std::string::npos) << loops(s);
}

// Dimensions that stay neighbours are one, which vectors fill, where it is known that they lie so.
TEST(layers, transposes_join_neighbours) {
  const Target target("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake");
  const auto loops = [&](const Shape &s, const std::vector<int> &permutation, bool dense) {
    ImageParam image(Float(32), static_cast<int>(s.size()), "in");
    Shape result;
    for (const int d : permutation) result.push_back(s[static_cast<size_t>(d)]);
    if (dense) promise_dense(image, s);
    const ops::Tensor x(image, ops::Index(s.begin(), s.end()));
    const Func out = ops::materialize({ops::transpose(x, permutation)}, {"y"}, {{}}, target,
                                      [&](const Func &f, size_t) {
                                        if (dense) promise_dense(f.output_buffer(), result);
                                      })[0];
    return out.emit_text(Emit::tree, {image}, target);
  };
  const auto expect = [](const std::string &tree, const std::string &nest) {
    EXPECT_NE(tree.find("y.s0: " + nest), std::string::npos) << tree;
  };
  expect(loops({1, 128, 12, 64}, {3, 0, 1, 2}, true),
         "i2, i3 -> joined0; joined0 -> joined0.1, column by 16 ShiftInwards");
  expect(loops({1, 36, 14, 14}, {0, 2, 3, 1}, true),
         "i1, i2 -> joined1; i3 -> i3.1, column by 16 ShiftInwards; joined1 -> joined1.1, row by "
         "16 ShiftInwards");
  expect(loops({33, 5, 14, 32}, {3, 0, 1, 2}, true),
         "i2, i3 -> joined0; i1, joined0 -> joined1; joined1 -> joined1.1, inner by 784 "
         "ShiftInwards; inner -> inner.1, column by 16");
  // Copies; what fills vectors on its own; what is not known to lie so.
  expect(loops({64, 33, 20, 3}, {1, 0, 2, 3}, true),
         "i2, i3 -> joined0; joined0 -> joined0.1, joined0_v by 16 ShiftInwards");
  for (const std::string &tree :
       {loops({1, 64, 32, 48}, {0, 2, 3, 1}, true), loops({1, 36, 14, 14}, {0, 2, 3, 1}, false)})
    EXPECT_EQ(tree.find("joined"), std::string::npos) << tree;
}

template <typename T>
void expect_turned(int rows, int columns, const Target &target) {
  SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns) + " of " +
               std::to_string(sizeof(T)) + " bytes for " + target.to_string());
  Buffer<T> in(columns, rows);
  in.for_each_element([&](int x, int y) { in(x, y) = static_cast<T>(x * 7 + y * 31); });
  ImageParam image(type_of<T>(), 2, "in");
  image.set(in);
  const ops::Tensor turned = ops::transpose(ops::Tensor(image, {rows, columns}), {1, 0});
  const Buffer<T> out =
      ops::materialize({turned}, {"out"}, {{}}, target)[0].realize({rows, columns}, target);
  for (int y = 0; y < columns; y++) {
    for (int x = 0; x < rows; x++) ASSERT_EQ(out(x, y), in(y, x)) << x << " " << y;
  }
}

// Squares of other types, as many lanes as of floats; of fewer lanes than a vector has; blocks of
// them, which go past the caches or not.
TEST(layers, transposes_of_all_types_and_sizes) {
  for (const Target &target : machines()) {
    for (const auto &[rows, columns] : {std::pair(40, 50), {10, 200}, {200, 5}, {1001, 613}}) {
      expect_turned<uint8_t>(rows, columns, target);
      expect_turned<uint16_t>(rows, columns, target);
      expect_turned<float>(rows, columns, target);
      expect_turned<double>(rows, columns, target);
    }
    expect_turned<float>(1100, 1003, target);
    expect_turned<uint8_t>(2100, 2003, target);
  }
}

// Parts of a line that are written past the caches take twenty times as long as whole lines.
TEST(layers, transposes_write_whole_lines_past_the_caches) {
  const Target target("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake");
  for (const Type &type : {Float(32), UInt(8), UInt(16)}) {
    ImageParam image(type, 2, "in");
    const Func out = ops::materialize({ops::transpose(ops::Tensor(image, {4096, 4096}), {1, 0})},
                                      {"out"}, {{}}, target)[0];
    const std::string assembly = out.emit_text(Emit::assembly, {image}, target);
    EXPECT_EQ(assembly.find("vmovnt") != std::string::npos, type == Float(32)) << type;
  }
}

}  // namespace
}  // namespace polyhalite::layers_test
