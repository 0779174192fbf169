// Guards that leave single iterations of a reduction out, k != j, in loops of vectors: these are
// cut around the vector with the exception.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite::left_out_lanes_test {
namespace {

struct Guard {
  std::function<Expr(const Expr &j, const Expr &k)> in_language;
  std::function<bool(int j, int k)> in_numbers;
};

const std::vector<Guard> kGuards = {
    {[](const Expr &j, const Expr &k) { return j != k; }, [](int j, int k) { return j != k; }},
    {[](const Expr &j, const Expr &k) { return j != 2 * k - 1; },
     [](int j, int k) { return j != 2 * k - 1; }},
    {[](const Expr &j, const Expr &k) { return j + k != 11; },
     [](int j, int k) { return j + k != 11; }},
    {[](const Expr &j, const Expr &k) { return j != k && j != k + 3; },
     [](int j, int k) { return j != k && j != k + 3; }},
    {[](const Expr &j, const Expr &k) { return k != 2 * j + 1; },
     [](int j, int k) { return k != 2 * j + 1; }},
};

std::vector<int> expected(const Guard &guard, int n, int steps) {
  std::vector<int> f(n, 1);
  for (int k = 0; k < steps; k++) {
    for (int j = 0; j < n; j++) {
      if (guard.in_numbers(j, k)) f[j] = (f[j] * 3 + j + k) % 1009;
    }
  }
  return f;
}

TEST(LeftOutLanes, AreAllThatIsLeftOut) {
  constexpr int kSteps = 20;
  Var x("x");
  for (size_t g = 0; g < kGuards.size(); g++) {
    for (const int lanes : {4, 8, 16}) {
      for (const int form : {0, 1, 2}) {
        Param<int> n("n");
        Func f("f");
        RDom r(0, n, 0, kSteps, "r");
        RVar outer("outer"), inner("inner");
        r.where(kGuards[g].in_language(r.x, r.y));
        f(x) = 1;
        f(r.x) = (f(r.x) * 3 + r.x + r.y) % 1009;
        if (form == 0) f.update().vectorize(r.x, lanes);
        if (form == 1) {
          f.update().split(r.x, outer, inner, 2 * lanes).vectorize(inner, lanes).unroll(inner);
        }
        if (form == 2)
          f.update().split(r.x, outer, inner, lanes).reorder(inner, r.y, outer).vectorize(inner);
        Pipeline pipeline(f);
        for (const int size : {1, 7, 8, 29, 64, 131}) {
          n.set(size);
          const Buffer<int, 1> result = pipeline.realize({size});
          const std::vector<int> wanted = expected(kGuards[g], size, kSteps);
          for (int j = 0; j < size; j++) {
            ASSERT_EQ(result(j), wanted[static_cast<size_t>(j)])
                << "guard " << g << ", lanes " << lanes << ", form " << form << ", size " << size
                << ", at " << j;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::left_out_lanes_test
