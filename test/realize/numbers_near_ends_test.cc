// Random expressions over numbers near the ends of their type: compiled, equal to the interpreter's
// wherever the program does not overflow.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::numbers_near_ends_test {
namespace {

// Expressions of Int(32) over numbers near the ends of the type, which may overflow in some points:
// there nothing is wanted. In all others the compiled code has the interpreter's value.
class ExpressionNearTheEnds {
 public:
  ExpressionNearTheEnds(uint32_t seed, int n) : random_(seed) {
    const int ends[] = {std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 0,
                        1 << 30, -(1 << 30)};
    for (Buffer<int> &b : data_) {
      b = Buffer<int>(n);
      for (int i = 0; i < n; i++) {
        const int end = ends[pick(5)], step = pick(8);
        b(i) = end == std::numeric_limits<int>::max() ? end - step
               : end < 0                              ? end + step
                                                      : end + step - 4;
      }
    }
  }

  Expr make(const Expr &x, int depth) {
    if (depth == 0) return leaf(x);
    const auto part = [&] { return make(x, depth - 1 - pick(2) % depth); };
    switch (pick(11)) {
      case 0:
      case 1:
        return part() + part();
      case 2:
      case 3:
        return part() - part();
      case 4:
        return part() * (pick(9) - 4);
      case 5:
        return part() / (pick(12) + 1);
      case 6:
        return part() % (pick(12) + 1);
      case 7:
        return pick(2) ? min(part(), part()) : max(part(), part());
      case 8:
        return select(condition(part(), part()), part(), part());
      case 9:
        return part() / part();
      default:
        return cast<int>(clamp((cast<int64_t>(part()) + cast<int64_t>(part())) / (pick(3) + 1),
                               cast<int64_t>(-1000000), cast<int64_t>(1000000)));
    }
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Expr leaf(const Expr &x) {
    switch (pick(8)) {
      case 0:
        return Expr(pick(9) - 4);
      case 1:
        return pick(2) ? Expr(std::numeric_limits<int>::max()) : Expr(-(1 << 30));
      case 2:
        return x;
      case 3:
        return data_[0](x / 2);
      default:
        return data_[pick(3)](x);
    }
  }

  static Expr condition_of(int kind, const Expr &a, const Expr &b) {
    return kind == 0 ? a < b : kind == 1 ? a <= b : kind == 2 ? a == b : a != b;
  }
  Expr condition(const Expr &a, const Expr &b) { return condition_of(pick(4), a, b); }

  std::mt19937 random_;
  Buffer<int> data_[3];
};

TEST(NumbersNearEnds, RandomExpressions) {
  constexpr int kPoints = 40;
  int defined = 0;
  for (uint32_t seed = 0; seed < 60; seed++) {
    const auto make = [&](Func f) {
      Var x("x");
      f(x) = ExpressionNearTheEnds(seed, kPoints).make(x, 3 + static_cast<int>(seed % 2));
      return f;
    };
    if (message_of([&] { make(Func("f")); }) != "no error") continue;  // constants that overflow
    std::vector<std::optional<int>> wanted(kPoints);
    const FrozenPipeline frozen = freeze({make(Func("f")).function()});
    for (int i = 0; i < kPoints; i++) {
      Buffer<int> point(1);
      point.set_min(i);
      try {
        interpret(frozen.algorithm, {}, {}, {point.raw_buffer()});
        wanted[static_cast<size_t>(i)] = point(i);
        defined++;
      } catch (const Error &) {
      }
    }
    for (const int lanes : {1, 8}) {
      Func f = make(Func("f"));
      Var x("x");
      if (lanes > 1) f.vectorize(x, lanes);
      const Buffer<int> got = f.realize({kPoints});
      for (int i = 0; i < kPoints; i++) {
        if (const auto &w = wanted[static_cast<size_t>(i)]) {
          ASSERT_EQ(got(i), *w) << "seed " << seed << ", x " << i << ", lanes " << lanes;
        }
      }
    }
  }
  EXPECT_GT(defined, 600);  // or nothing is compared
}

}  // namespace
}  // namespace polyhalite::numbers_near_ends_test
