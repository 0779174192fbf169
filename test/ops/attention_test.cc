// ops::attention with the library's schedule against plain loops in double precision: blocks that
// leave rests, heads that share keys, keys of the future, single queries, queries that see no key.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace polyhalite::attention_test {
namespace {

struct Sizes {
  int images, heads, key_heads, queries, keys, size, values;
  bool causal;
};

std::string text(const Sizes &s) {
  std::string line = s.causal ? "causal" : "all";
  for (const int n : {s.images, s.heads, s.key_heads, s.queries, s.keys, s.size, s.values}) {
    line += "_" + std::to_string(n);
  }
  return line;
}

Buffer<float> noise(const std::vector<int> &sizes, uint32_t seed) {
  Buffer<float> b(sizes);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-2, 2);
  b.for_each_value([&](float &v) { v = values(engine); });
  return b;
}

class Attention : public testing::TestWithParam<Sizes> {};

TEST_P(Attention, equals_plain_loops) {
  const Sizes s = GetParam();
  const Buffer<float> q = noise({s.size, s.queries, s.heads, s.images}, 1),
                      k = noise({s.size, s.keys, s.key_heads, s.images}, 2),
                      v = noise({s.values, s.keys, s.key_heads, s.images}, 3);
  ImageParam qs(Float(32), 4, "q"), ks(Float(32), 4, "k"), vs(Float(32), 4, "v");
  qs.set(q);
  ks.set(k);
  vs.set(v);
  ops::Attention how;
  how.causal = s.causal;
  const ops::Tensor made =
      ops::attention(ops::Tensor(qs, {s.images, s.heads, s.queries, s.size}),
                     ops::Tensor(ks, {s.images, s.key_heads, s.keys, s.size}),
                     ops::Tensor(vs, {s.images, s.key_heads, s.keys, s.values}), how);
  const Target target = get_jit_target_from_environment();
  const Buffer<float> got = ops::materialize({made}, {"out"}, {{}}, target)[0].realize(
      {s.values, s.queries, s.heads, s.images}, target);
  for (int image = 0; image < s.images; image++) {
    for (int head = 0; head < s.heads; head++) {
      const int from = head / (s.heads / s.key_heads);
      for (int row = 0; row < s.queries; row++) {
        const int seen =
            s.causal ? std::max(0, std::min(s.keys, row + s.keys - s.queries + 1)) : s.keys;
        std::vector<double> weights(static_cast<size_t>(seen));
        double peak = -HUGE_VAL, total = 0;
        for (int key = 0; key < seen; key++) {
          double sum = 0;
          for (int d = 0; d < s.size; d++) {
            sum += static_cast<double>(q(d, row, head, image)) * k(d, key, from, image);
          }
          weights[static_cast<size_t>(key)] = sum / std::sqrt(static_cast<double>(s.size));
          peak = std::max(peak, weights[static_cast<size_t>(key)]);
        }
        for (double &w : weights) total += w = std::exp(w - peak);
        for (int c = 0; c < s.values; c++) {
          double wanted = 0, magnitude = 0;
          for (int key = 0; key < seen; key++) {
            const double term = weights[static_cast<size_t>(key)] / total * v(c, key, from, image);
            wanted += term;
            magnitude += std::fabs(term);
          }
          // Scores of up to 4*sqrt(size) are off by size half units, sums of weights by their
          // number.
          const double bound = (s.size * 4 * std::sqrt(s.size) + s.keys + 16) * 0x1p-24 * magnitude;
          ASSERT_NEAR(got(c, row, head, image), wanted, bound)
              << c << " " << row << " " << head << " " << image;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    ops, Attention,
    testing::Values(Sizes{1, 2, 2, 128, 128, 64, 64, false}, Sizes{1, 2, 2, 128, 128, 64, 64, true},
                    Sizes{2, 4, 2, 40, 40, 32, 48, true}, Sizes{1, 4, 1, 37, 50, 24, 40, false},
                    Sizes{1, 4, 2, 1, 100, 64, 64, true}, Sizes{2, 3, 3, 3, 33, 20, 16, false},
                    Sizes{1, 1, 1, 5, 7, 3, 2, true}, Sizes{1, 2, 1, 33, 300, 16, 80, true},
                    Sizes{1, 2, 1, 70, 40, 32, 32, true}, Sizes{1, 2, 2, 5, 3, 4, 3, true}),
    [](const auto &info) { return text(info.param); });

TEST(attention, shapes_that_do_not_meet) {
  const auto tensor = [](const ops::Index &shape) {
    return ops::Tensor(Float(32), shape, [](const ops::Index &) { return Expr(0.0f); });
  };
  const ops::Tensor q = tensor({1, 4, 5, 8});
  const auto message = [&](const ops::Tensor &k, const ops::Tensor &v) {
    try {
      ops::attention(q, k, v);
    } catch (const CompileError &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(tensor({1, 4, 6, 7}), tensor({1, 4, 6, 8})),
            "error: queries, keys and values do not meet\n"
            "  why: they are [image, head, query, size], [image, key head, key, size] and "
            "[image, key head, key, value size]\n"
            "  fix: reshape or transpose them to that");
  EXPECT_EQ(message(tensor({1, 3, 6, 8}), tensor({1, 3, 6, 8})),
            "error: the queries' heads are no multiple of the keys'\n"
            "  why: each head of keys serves as many heads of queries as the others\n"
            "  fix: make both constants of which one divides the other");
}

}  // namespace
}  // namespace polyhalite::attention_test
