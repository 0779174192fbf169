#include "apps/onnx/dim.h"

#include <gtest/gtest.h>

namespace polyhalite::onnx::dim_test {
namespace {

const Dim N = Dim::symbol("N"), H = Dim::symbol("H");

TEST(onnx_dim, equal_polynomials_have_one_text) {
  EXPECT_EQ(((N + 1) * (N - 1)).to_string(), "N*N - 1");
  EXPECT_EQ((H * N + N * H).to_string(), "2*H*N");
  EXPECT_EQ((N - N).to_string(), "0");
  EXPECT_EQ((Dim(3) * N + 2 - N).to_string(), "2*N + 2");
  EXPECT_TRUE(N + H == H + N);
}

TEST(onnx_dim, quotients_drop_what_divides) {
  EXPECT_EQ(Dim::floor_div(N * 4 + 6, 2).to_string(), "2*N + 3");
  EXPECT_EQ(Dim::floor_div(N * 4 + 7, 2).to_string(), "2*N + 3");
  EXPECT_EQ(Dim::floor_div(H * N * 12, N * 4).to_string(), "3*H");
  EXPECT_EQ(Dim::floor_div(N + 1, 2).to_string(), "floor((N + 1)/2)");
  EXPECT_EQ(Dim::floor_div((N + 1) * 512, N + 1).constant(), 512);
  EXPECT_EQ(Dim::floor_div((N * 2 + H - 3) * (N * H + 5), N * H + 5).to_string(), "H + 2*N - 3");
  EXPECT_EQ(Dim::floor_div((H - N) * (H - N) * 6, (N - H) * 3).to_string(), "-2*H + 2*N");
  EXPECT_THROW(Dim::floor_div(N * INT64_MIN, N * -1), std::overflow_error);
  EXPECT_THROW(Dim::floor_div(INT64_MIN, -1), std::overflow_error);
  EXPECT_EQ(Dim::floor_div(N * N + 1, N + 1).to_string(), "floor((N*N + 1)/(N + 1))");
  EXPECT_EQ(Dim::ceil_div(7, 2).constant(), 4);
  EXPECT_EQ(Dim::floor_div(-7, 2).constant(), -4);
}

TEST(onnx_dim, evaluation_and_substitution_agree) {
  const Dim d = Dim::floor_div(N * 3 + 1, 2) * H + Dim::minimum(N, H) - Dim::maximum(N, 4);
  for (int64_t n = 0; n < 9; n++) {
    for (int64_t h = 0; h < 5; h++) {
      const auto value = d.evaluate({{"N", n}, {"H", h}});
      ASSERT_EQ(value, (3 * n + 1) / 2 * h + std::min(n, h) - std::max<int64_t>(n, 4));
      ASSERT_EQ(d.substitute({{"N", Dim(n)}, {"H", Dim(h)}}).constant(), value);
    }
  }
  EXPECT_EQ(d.evaluate({{"N", 1}}), std::nullopt);
}

TEST(onnx_dim, lower_bounds_hold_for_all_sizes) {
  const std::vector<Dim> all{N + 1,
                             N * H - 3,
                             Dim::floor_div(N * 3 + 7, 2) + H,
                             Dim::minimum(N, H + 2) * N + 5,
                             Dim::maximum(N - 4, H),
                             Dim::maximum(N - H, -2)};
  for (const Dim &d : all) {
    const auto bound = d.lower_bound();
    ASSERT_TRUE(bound.has_value()) << d.to_string();
    int64_t least = INT64_MAX;
    for (int64_t n = 0; n < 9; n++) {
      for (int64_t h = 0; h < 9; h++) least = std::min(least, *d.evaluate({{"N", n}, {"H", h}}));
    }
    EXPECT_EQ(least, *bound) << d.to_string();
  }
  EXPECT_EQ((N - H).lower_bound(), std::nullopt);
  EXPECT_EQ(Dim::floor_div(N - 3, 2).lower_bound(), std::nullopt);
  // Equal up to what sizes cannot be.
  EXPECT_EQ(Dim::minimum(N, N + H), N);
  EXPECT_EQ(Dim::maximum(N + 2, 1), N + 2);
}

TEST(onnx_dim, sizes_beyond_64_bits_are_refused) {
  EXPECT_THROW(Dim(INT64_MAX) + 1, std::overflow_error);
  EXPECT_THROW(Dim(INT64_MAX) * 2, std::overflow_error);
}

}  // namespace
}  // namespace polyhalite::onnx::dim_test
