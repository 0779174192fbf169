#include "lang/interpret/interpret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "lang/ir/text.h"

namespace polyhalite::interpret_test {
namespace {

// A dense buffer with minima.
template <typename T>
class Array {
 public:
  explicit Array(std::vector<int> extents, std::vector<int> mins = {}) {
    int64_t count = 1;
    for (size_t d = 0; d < extents.size(); d++) {
      polyhalite_dimension_t dim{};
      dim.min = d < mins.size() ? mins[d] : 0;
      dim.extent = extents[d];
      dim.stride = static_cast<int32_t>(count);
      count *= extents[d];
      dims_.push_back(dim);
    }
    data_.resize(static_cast<size_t>(count) + 1);
    const Type t = type_of<T>();
    raw_.host = reinterpret_cast<uint8_t *>(data_.data());
    raw_.type = t;
    raw_.dimensions = static_cast<int32_t>(dims_.size());
    raw_.dim = dims_.data();
  }
  Array(const Array &) = delete;

  template <typename... Ints>
  T &operator()(Ints... at) {
    size_t offset = 0, d = 0;
    ((offset += static_cast<size_t>((at - dims_[d].min) * dims_[d].stride), d++), ...);
    return data_.at(offset);
  }
  void fill_randomly(uint32_t seed, T low, T high) {
    std::mt19937 random(seed);
    for (T &v : data_) {
      v = static_cast<T>(low + static_cast<double>(random() % 10007) / 10007 *
                                   (static_cast<double>(high) - low));
    }
  }
  polyhalite_buffer_t *raw() { return &raw_; }

 private:
  std::vector<T> data_;
  std::vector<polyhalite_dimension_t> dims_;
  polyhalite_buffer_t raw_{};
};

using Images = std::map<std::string, const polyhalite_buffer_t *>;

uint64_t bits_of(float v) {
  uint32_t u;
  std::memcpy(&u, &v, 4);
  return u;
}

// The message of the error that interpreting raises.
std::string error_of(const std::string &text, const Images &images,
                     const std::vector<polyhalite_buffer_t *> &outputs,
                     const std::map<std::string, uint64_t> &scalars = {}) {
  try {
    interpret(parse_algorithm(text, "t"), images, scalars, outputs);
  } catch (const Error &e) {
    return e.what();
  }
  return "no error";
}

TEST(interpret, blurs_as_loops_do) {
  Array<uint16_t> in({40, 30}), out({36, 25}, {2, 3});
  in.fill_randomly(1, 0, 65535);
  interpret(parse_algorithm("algorithm 1\n"
                            "image in: uint16, 2\n"
                            "bx(x, y) = (in(x - 1, y) + in(x, y) + in(x + 1, y))/3u16\n"
                            "by(x, y) = (bx(x, y - 1) + bx(x, y) + bx(x, y + 1))/3u16\n"
                            "output by\n"),
            {{"in", in.raw()}}, {}, {out.raw()});
  for (int y = 3; y < 28; y++) {
    for (int x = 2; x < 38; x++) {
      uint16_t rows[3];
      for (int k = 0; k < 3; k++) {
        const auto sum =
            static_cast<uint16_t>(in(x - 1, y + k - 1) + in(x, y + k - 1) + in(x + 1, y + k - 1));
        rows[k] = sum / 3;
      }
      ASSERT_EQ(out(x, y), static_cast<uint16_t>(rows[0] + rows[1] + rows[2]) / 3) << x << "," << y;
    }
  }
}

TEST(interpret, counts_a_histogram_and_scans_it) {
  Array<uint8_t> in({50, 41});
  Array<int32_t> out({300});
  in.fill_randomly(2, 0, 200);
  interpret(parse_algorithm("algorithm 1\n"
                            "image in: uint8, 2\n"
                            "hist(i) = 0\n"
                            "over r.x(0, in.extent.0), r.y(0, in.extent.1): "
                            "hist(int32(in(r.x, r.y))) = hist(int32(in(r.x, r.y))) + 1\n"
                            "cdf(i) = hist(i)\n"
                            "over r(1, 299): cdf(r) = cdf(r - 1) + hist(r)\n"
                            "output cdf\n"),
            {{"in", in.raw()}}, {}, {out.raw()});
  std::vector<int> count(300, 0);
  for (int y = 0; y < 41; y++) {
    for (int x = 0; x < 50; x++) count[in(x, y)]++;
  }
  int sum = 0;
  for (int i = 0; i < 300; i++) {
    sum += count[i];
    ASSERT_EQ(out(i), sum) << i;
  }
}

TEST(interpret, adds_a_matrix_product_in_order) {
  const int n = 37, m = 23, depth = 61;
  Array<float> a({depth, m}), b({n, depth}), c({n, m});
  a.fill_randomly(3, -1, 1);
  b.fill_randomly(4, -1, 1);
  interpret(parse_algorithm("algorithm 1\n"
                            "param scale: float32\n"
                            "image A: float32, 2\n"
                            "image B: float32, 2\n"
                            "C(x, y) = 0.0f\n"
                            "over k(0, A.extent.0): C(x, y) = C(x, y) + A(k, y)*B(x, k)*scale\n"
                            "output C\n"),
            {{"A", a.raw()}, {"B", b.raw()}}, {{"scale", bits_of(0.3f)}}, {c.raw()});
  for (int y = 0; y < m; y++) {
    for (int x = 0; x < n; x++) {
      volatile float sum = 0;
      for (int k = 0; k < depth; k++) {
        // One rounding per operation.
        volatile float product = a(k, y) * b(x, k);
        volatile float scaled = product * 0.3f;
        sum = sum + scaled;
      }
      ASSERT_EQ(bits_of(c(x, y)), bits_of(sum)) << x << "," << y;
    }
  }
}

TEST(interpret, clamps_at_the_boundary_and_gathers) {
  Array<int32_t> in({9}, {-4}), table({5}), out({30}, {-15});
  in.fill_randomly(5, 0, 5);
  table.fill_randomly(6, -100, 100);
  interpret(parse_algorithm("algorithm 1\n"
                            "image in: int32, 1\n"
                            "image table: int32, 1\n"
                            "edge(x) = in(max(min(x, in.min.0 + in.extent.0 - 1), in.min.0))\n"
                            "twice(i) = table(i)*2\n"
                            "f(x) = twice(edge(x)) + edge(x + 1)\n"
                            "output f\n"),
            {{"in", in.raw()}, {"table", table.raw()}}, {}, {out.raw()});
  for (int x = -15; x < 15; x++) {
    auto edge = [&](int at) { return in(at < -4 ? -4 : at > 4 ? 4 : at); };
    ASSERT_EQ(out(x), table(edge(x)) * 2 + edge(x + 1)) << x;
  }
}

TEST(interpret, runs_updates_in_order_under_their_predicate) {
  Array<int32_t> out({6, 6});
  interpret(parse_algorithm("algorithm 1\n"
                            "f(x, y) = x + 10*y\n"
                            "over r(0, 6), s(0, 6) where r < s: f(r, s) = f(s, r) + f(r, s)\n"
                            "f(x, 2) = f(x, 1) - 1\n"
                            "output f\n"),
            {}, {}, {out.raw()});
  int f[6][6];
  for (int y = 0; y < 6; y++) {
    for (int x = 0; x < 6; x++) f[y][x] = x + 10 * y;
  }
  for (int s = 0; s < 6; s++) {
    for (int r = 0; r < 6; r++) {
      if (r < s) f[s][r] = f[r][s] + f[s][r];
    }
  }
  for (int x = 0; x < 6; x++) f[2][x] = f[1][x] - 1;
  for (int y = 0; y < 6; y++) {
    for (int x = 0; x < 6; x++) ASSERT_EQ(out(x, y), f[y][x]) << x << "," << y;
  }
}

TEST(interpret, keeps_several_values_of_one_func) {
  Array<float> in({20});
  Array<int32_t> where({});
  Array<float> best({});
  in.fill_randomly(7, -5, 5);
  interpret(
      parse_algorithm("algorithm 1\n"
                      "image in: float32, 1\n"
                      "m() = {0, -inff}\n"
                      "over r(0, 20): m() = {select(in(r) > m().1, r, m()), max(m().1, in(r))}\n"
                      "output m\n"),
      {{"in", in.raw()}}, {}, {where.raw(), best.raw()});
  int expected = 0;
  for (int i = 1; i < 20; i++) {
    if (in(i) > in(expected)) expected = i;
  }
  EXPECT_EQ(where(), expected);
  EXPECT_EQ(best(), in(expected));
}

TEST(interpret, wraps_narrow_integers_and_divides_to_floor) {
  Array<int32_t> out({1});
  auto value = [&](const std::string &e) {
    interpret(parse_algorithm("algorithm 1\nf(x) = int32(" + e + ")\noutput f\n"), {}, {},
              {out.raw()});
    return out(0);
  };
  EXPECT_EQ(value("uint8(x + 200) + 100u8"), 44);
  EXPECT_EQ(value("int8(x + 100) + 100i8"), -56);
  EXPECT_EQ(value("(x - 7)/2"), -4);
  EXPECT_EQ(value("(x - 7)%2"), 1);
  EXPECT_EQ(value("(x - 7)/(x - 2)"), 4);
  EXPECT_EQ(value("(x - 7)%(x - 2)"), 1);
  EXPECT_EQ(value("(x - 7)/x"), 0);
  EXPECT_EQ(value("(x + 7)%x"), 0);
  EXPECT_EQ(value("abs(x - 3)"), 3);
  EXPECT_EQ(value("absd(uint8(x + 3), 250u8)"), 247);
  EXPECT_EQ(value("shift_right(x - 9, 1)"), -5);
  EXPECT_EQ(value("shift_left(x + 3, 2)"), 12);
  EXPECT_EQ(value("-2.5f + float32(x)"), -2);
  EXPECT_EQ(value("round(-2.5f + float32(x))"), -2);
  EXPECT_EQ(value("uint16(uint8(x + 255))*257u16"), 65535);
  EXPECT_EQ(value("bool(x + 256)"), 1);
  EXPECT_EQ(value("reinterpret<int32>(1.0f + float32(x))"), 0x3f800000);
}

TEST(interpret, rounds_float32_after_each_operation) {
  Array<float> out({1}), in({1});
  in(0) = 1.0f / 3;
  interpret(parse_algorithm("algorithm 1\nimage in: float32, 1\n"
                            "f(x) = in(x)*in(x) + 1.0f - 1.0f\noutput f\n"),
            {{"in", in.raw()}}, {}, {out.raw()});
  volatile float square = in(0) * in(0);
  volatile float sum = square + 1.0f;
  EXPECT_EQ(out(0), sum - 1.0f);
}

TEST(interpret, reports_signed_overflow_with_its_point) {
  Array<int32_t> out({300});
  EXPECT_EQ(error_of("algorithm 1\nf(x) = x + 2147483390\noutput f\n", {}, {out.raw()}),
            "t:2: error: signed overflow: 258 + 2147483390 leaves int32\n"
            "  why: in 'f' at (x=258); overflow of int32 and int64 has no value; narrower and "
            "unsigned integers wrap\n"
            "  fix: compute in a wider or an unsigned type");
}

TEST(interpret, ignores_what_a_select_does_not_take) {
  Array<int32_t> in({4}), out({9}, {-2});
  in.fill_randomly(8, 0, 50);
  interpret(parse_algorithm("algorithm 1\nimage in: int32, 1\n"
                            "f(x) = select(x >= 0 && x < 4, in(x), x*1000000000 - x*1000000000)\n"
                            "g(x) = select(x >= 0 && x < 4 && in(x) > -1, in(x), -1)\n"
                            "output g\n"),
            {{"in", in.raw()}}, {}, {out.raw()});
  for (int x = -2; x < 7; x++) ASSERT_EQ(out(x), x >= 0 && x < 4 ? in(x) : -1) << x;
}

TEST(interpret, reads_nothing_where_the_predicate_never_holds) {
  Array<int32_t> out({4});
  interpret(parse_algorithm("algorithm 1\n"
                            "g(x) = x\n"
                            "f(x) = 7*x\n"
                            "over r(0, 4) where r > 9: f(r) = g(r) + f(g(r))\n"
                            "over r(0, 0): f(r) = g(r + 100)\n"
                            "output f\n"),
            {}, {}, {out.raw()});
  for (int x = 0; x < 4; x++) ASSERT_EQ(out(x), 7 * x);
}

TEST(interpret, reports_an_input_that_is_read_outside) {
  Array<uint8_t> in({8, 5}), out({8, 5});
  EXPECT_EQ(error_of("algorithm 1\nimage in: uint8, 2\nf(x, y) = in(x + 1, y)\noutput f\n",
                     {{"in", in.raw()}}, {out.raw()}),
            "t:3: error: input 'in' is read at 8 in dimension 0, outside [0, 7]\n"
            "  why: in 'f' at (x=7, y=0)\n"
            "  fix: pass an input that covers it, or clamp the index");
}

TEST(interpret, reports_arguments_that_do_not_fit) {
  Array<uint8_t> in({8});
  Array<float> out({8}), flat({});
  const std::string text =
      "algorithm 1\nparam p: int32\nimage in: uint8, 1\nf(x) = in(x) + uint8(p)\noutput f\n";
  EXPECT_EQ(error_of(text, {}, {}),
            "error: output 'f' has no buffer\n"
            "  fix: pass one per output and value");
  EXPECT_EQ(error_of(text, {}, {out.raw()}),
            "error: output 'f' has type float32, not uint8\n  fix: pass a buffer of uint8");
  Array<uint8_t> good({8});
  EXPECT_EQ(error_of(text, {}, {good.raw()}, {{"p", 1}}),
            "error: image 'in' has no buffer\n  fix: pass it among the images");
  EXPECT_EQ(error_of(text, {{"in", in.raw()}}, {good.raw()}),
            "error: parameter 'p' has no value\n  fix: pass it among the scalars");
  EXPECT_EQ(error_of(text, {{"in", out.raw()}}, {good.raw()}, {{"p", 1}}),
            "error: image 'in' has type float32, not uint8\n  fix: pass a buffer of uint8");
  EXPECT_EQ(error_of(text, {{"in", in.raw()}}, {good.raw(), good.raw()}, {{"p", 1}}),
            "error: the algorithm has 1 output values, and 2 buffers are given\n"
            "  fix: pass one per output and value");
}

TEST(interpret, computes_a_producer_once_over_all_its_consumers_need) {
  // Twenty stages that each read their producer twice: walking paths would take 2^20 times as long.
  std::string text = "algorithm 1\nf0(x) = x\n";
  for (int i = 1; i <= 20; i++) {
    const std::string p = "f" + std::to_string(i - 1);
    text += "g" + std::to_string(i) + "(x) = " + p + "(x - 1)%1000\n";
    text +=
        "f" + std::to_string(i) + "(x) = (" + p + "(x + 1) + g" + std::to_string(i) + "(x))%1000\n";
  }
  Array<int32_t> out({10});
  interpret(parse_algorithm(text + "output f20\n"), {}, {}, {out.raw()});
  std::vector<int> f(200);
  for (int x = 0; x < 200; x++) f[x] = x - 100;
  auto mod = [](int v) { return (v % 1000 + 1000) % 1000; };
  for (int i = 1; i <= 20; i++) {
    std::vector<int> next(200);
    for (int x = 1; x < 199; x++) next[x] = mod(f[x + 1] + mod(f[x - 1]));
    f = next;
  }
  for (int x = 0; x < 10; x++) ASSERT_EQ(out(x), f[x + 100]) << x;
}

}  // namespace
}  // namespace polyhalite::interpret_test
