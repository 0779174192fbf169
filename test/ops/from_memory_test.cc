// Operators on more than caches hold, whose schedules go along rows, ask for the next ones and
// write past the caches: against plain loops, and what their loops say.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace polyhalite::from_memory_test {
namespace {

using Shape = std::vector<int>;  // outermost first
using Make = std::function<ops::Tensor(const ops::Tensor &)>;

int64_t size_of(const Shape &s) {
  int64_t n = 1;
  for (const int d : s) n *= d;
  return n;
}

std::vector<Target> machines() {
  std::vector<Target> all = {get_jit_target_from_environment()};
  if (all[0].arch == Target::X86 && all[0].has_feature(Target::AVX512))
    all.emplace_back("x86-64-linux-avx2-fma");
  return all;
}

// Whole numbers from -4 to 4, whose sums are exact.
Buffer<float> numbers(const Shape &s) {
  Buffer<float> b(std::vector<int>(s.rbegin(), s.rend()));
  uint32_t state = 7;
  for (int64_t i = 0; i < size_of(s); i++) {
    state = state * 1664525 + 1013904223;
    b.data()[i] = static_cast<float>(static_cast<int>((state >> 20) % 9) - 4);
  }
  return b;
}

template <typename Image>
void promise_dense(Image image, const Shape &s) {
  int stride = 1;
  for (size_t d = 0; d < s.size(); d++) {
    const int size = s[s.size() - 1 - d];
    image.dim(static_cast<int>(d)).set_bounds(0, size).set_stride(stride);
    stride *= size;
  }
}

Func made(const Make &make, ImageParam image, const Shape &s, const Shape &result,
          const Target &target) {
  promise_dense(image, s);
  return ops::materialize(
      {make(ops::Tensor(image, ops::Index(s.begin(), s.end())))}, {"out"}, {{}}, target,
      [&](const Func &f, size_t) { promise_dense(Func(f).output_buffer(), result); })[0];
}

Buffer<float> computed(const Make &make, const Buffer<float> &in, const Shape &s,
                       const Shape &result, const Target &target) {
  ImageParam image(Float(32), in.dimensions(), "in");
  image.set(in);
  Func f = made(make, image, s, result, target);
  return f.realize(std::vector<int>(result.rbegin(), result.rend()), target);
}

// The directives that the library gives on a processor with AVX-512.
std::string nest_of(const Make &make, const Shape &s, const Shape &result) {
  const Target target("x86-64-linux-sse41-avx-avx2-fma-avx512_skylake");
  ImageParam image(Float(32), static_cast<int>(s.size()), "in");
  return made(make, image, s, result, target).emit_text(Emit::tree, {image}, target);
}

// [outer][rows][points] reduced over rows.
void expect_reduced_down(int outer, int rows, int points, const Target &target) {
  SCOPED_TRACE(std::to_string(outer) + "x" + std::to_string(rows) + "x" + std::to_string(points) +
               " for " + target.to_string());
  const Shape s{outer, rows, points}, result{outer, 1, points};
  const Buffer<float> in = numbers(s);
  std::vector<float> sums(static_cast<size_t>(outer) * points), peaks(sums.size(), -HUGE_VALF);
  for (int o = 0; o < outer; o++) {
    for (int r = 0; r < rows; r++) {
      for (int x = 0; x < points; x++) {
        const float v = in.data()[(static_cast<int64_t>(o) * rows + r) * points + x];
        const size_t at = static_cast<size_t>(o) * points + x;
        sums[at] += v;
        peaks[at] = std::max(peaks[at], v);
      }
    }
  }
  for (const auto how : {ops::Reduction::Sum, ops::Reduction::Max}) {
    const Buffer<float> got =
        computed([&](const ops::Tensor &x) { return ops::reduce(x, how, {1}, true); }, in, s,
                 result, target);
    const std::vector<float> &wanted = how == ops::Reduction::Sum ? sums : peaks;
    for (size_t i = 0; i < wanted.size(); i++) ASSERT_EQ(got.data()[i], wanted[i]) << i;
  }
}

// Rows that eight divides or not, one piece and several, whole vectors and rests.
TEST(from_memory, reductions_go_down_rows) {
  for (const Target &target : machines()) {
    expect_reduced_down(1, 4096, 256, target);
    expect_reduced_down(1, 701, 517, target);
    expect_reduced_down(3, 331, 1003, target);
    expect_reduced_down(1, 97, 6144, target);
    expect_reduced_down(2, 67, 5001, target);
    expect_reduced_down(1, 13, 60001, target);
  }
}

TEST(from_memory, sums_of_all_are_made_in_parts) {
  for (const Target &target : machines()) {
    for (const Shape &s : {Shape{1, 1, 1200000},
                           {1, 1, 1048577},
                           {3, 1, 1500003},
                           {1, 1203, 1001},
                           {2, 1024, 1024}}) {
      const Buffer<float> in = numbers(s);
      const Buffer<float> got = computed(
          [](const ops::Tensor &x) { return ops::reduce(x, ops::Reduction::Sum, {1, 2}, true); },
          in, s, {s[0], 1, 1}, target);
      for (int o = 0; o < s[0]; o++) {
        const int64_t n = size_of(s) / s[0];
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += in.data()[o * n + i];
        EXPECT_EQ(got.data()[o], sum) << s[0] << "x" << s[1] << "x" << s[2];
      }
    }
  }
}

TEST(from_memory, running_sums) {
  for (const Target &target : machines()) {
    for (const Shape &s : {Shape{600, 1000}, {301, 4096}, {403, 703}, {3, 200000}}) {
      const Buffer<float> in = numbers(s);
      for (const int axis : {0, 1}) {
        const Buffer<float> got = computed(
            [axis](const ops::Tensor &x) { return ops::cumulate(x, axis, false, false, false); },
            in, s, s, target);
        std::vector<float> wanted(in.data(), in.data() + size_of(s));
        for (int y = 0; y < s[0]; y++) {
          for (int x = 0; x < s[1]; x++) {
            const size_t at = static_cast<size_t>(y) * s[1] + x;
            if (axis == 0 && y > 0) wanted[at] += wanted[at - s[1]];
            if (axis == 1 && x > 0) wanted[at] += wanted[at - 1];
            ASSERT_EQ(got.data()[at], wanted[at]) << x << " " << y << " along " << axis;
          }
        }
      }
    }
  }
}

// Whole lines of each row, and rows that begin inside of lines, whose stores are ordinary.
TEST(from_memory, points_are_written_past_the_caches) {
  for (const Target &target : machines()) {
    for (const Shape &s : {Shape{2100, 4096}, {2897, 2903}}) {
      const Buffer<float> in = numbers(s);
      const Buffer<float> got = computed(
          [](const ops::Tensor &x) {
            return ops::elementwise(x, [](const Expr &v) { return max(v, 0.0f) + 1.0f; });
          },
          in, s, s, target);
      for (int64_t i = 0; i < size_of(s); i++)
        ASSERT_EQ(got.data()[i], std::max(in.data()[i], 0.0f) + 1) << i;
    }
  }
}

// Rows that begin at multiples of 16 bytes go in pieces; the others are ordinary stores.
TEST(from_memory, rows_that_end_inside_of_lines) {
  for (const Target &target : machines()) {
    for (const Shape &s : {Shape{8400, 1004}, {8400, 1000}, {8400, 1002}, {84000, 100}}) {
      const Buffer<float> in = numbers(s);
      const Buffer<float> got = computed(
          [n = s[1]](const ops::Tensor &x) {
            const ops::Tensor columns(Float(32), {n},
                                      [](const ops::Index &i) { return cast<float>(i[0]); });
            return ops::add(x, columns);
          },
          in, s, s, target);
      for (int y = 0; y < s[0]; y++)
        for (int x = 0; x < s[1]; x++) ASSERT_EQ(got(x, y), in(x, y) + static_cast<float>(x));
    }
  }
}

TEST(from_memory, softmax_and_windows_ask_for_the_next_rows) {
  const Target target = get_jit_target_from_environment();
  const Shape rows{8501, 1000};
  const Buffer<float> in = numbers(rows);
  const Buffer<float> got =
      computed([](const ops::Tensor &x) { return ops::softmax(x, {-1}); }, in, rows, rows, target);
  for (int y = 0; y < rows[0]; y++) {
    double sum = 0;
    for (int x = 0; x < rows[1]; x++) sum += std::exp(in(x, y));
    for (int x = 0; x < rows[1]; x++) ASSERT_NEAR(got(x, y), std::exp(in(x, y)) / sum, 1e-8);
  }
  const Shape image{1, 17, 1000, 1030}, pooled{1, 17, 500, 515};
  ops::Window w;
  w.kernel = {3, 3};
  w.stride = {2, 2};
  w.dilation = {1, 1};
  w.before = {1, 1};
  w.shape = {500, 515};
  const auto pool = [&](const ops::Tensor &x) { return ops::pool(x, w, ops::Pooling::Max); };
  const Buffer<float> cells = numbers(image),
                      largest = computed(pool, cells, image, pooled, target);
  for (int c = 0; c < 17; c++) {
    for (int y = 0; y < 500; y++) {
      for (int x = 0; x < 515; x++) {
        float peak = -HUGE_VALF;
        for (int v = std::max(2 * y - 1, 0); v <= 2 * y + 1; v++)
          for (int u = std::max(2 * x - 1, 0); u <= 2 * x + 1; u++)
            peak = std::max(peak, cells(u, v, c, 0));
        ASSERT_EQ(largest(x, y, c, 0), peak) << x << " " << y << " " << c;
      }
    }
  }
}

// Of what caches may hold nothing is written past them, or asked for.
TEST(from_memory, loops_of_much_and_of_little) {
  const auto softmax = [](const ops::Tensor &x) { return ops::softmax(x, {-1}); };
  const std::string much = nest_of(softmax, {16384, 1000}, {16384, 1000}),
                    little = nest_of(softmax, {1000, 1000}, {1000, 1000});
  EXPECT_NE(much.find("prefetch in at scaled.s0.i1 from out.s0.i0 by 2 NonFaulting"),
            std::string::npos)
      << much;
  EXPECT_NE(much.find("out.s0 stream_stores"), std::string::npos) << much;
  EXPECT_EQ(little.find("prefetch"), std::string::npos) << little;
  EXPECT_EQ(little.find("stream_stores"), std::string::npos) << little;

  const auto nest_of_pool = [](int channels, int size) {
    ops::Window w;
    w.kernel = w.stride = {2, 2};
    w.dilation = {1, 1};
    w.before = {0, 0};
    w.shape = {size / 2, size / 2};
    return nest_of([&](const ops::Tensor &x) { return ops::pool(x, w, ops::Pooling::Max); },
                   {1, channels, size, size}, {1, channels, size / 2, size / 2});
  };
  const std::string large = nest_of_pool(32, 1000), small = nest_of_pool(8, 100);
  EXPECT_NE(large.find("prefetch in at columns.s0.i3 from out.s0.i2 by 2 NonFaulting"),
            std::string::npos)
      << large;
  EXPECT_EQ(small.find("prefetch"), std::string::npos) << small;

  const auto sum = [](const ops::Tensor &x) {
    return ops::reduce(x, ops::Reduction::Sum, {0}, true);
  };
  const std::string far = nest_of(sum, {4096, 1024}, {1, 1024}),
                    near = nest_of(sum, {64, 1024}, {1, 1024});
  EXPECT_NE(far.find("prefetch in at total_intm.s1.i0 from total_intm.s1.step by 2 NonFaulting"),
            std::string::npos)
      << far;
  EXPECT_EQ(near.find("prefetch"), std::string::npos) << near;
}

}  // namespace
}  // namespace polyhalite::from_memory_test
