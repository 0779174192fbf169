// RDom::where: what a condition says is how far reads go. Inputs have no element more than that,
// and the pages beside them cannot be touched.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"
#include "test/support/guarded_pages.h"

namespace polyhalite::domain_conditions_test {
namespace {

using test::GuardedPages;

int element(int i) { return i * i % 13 + 1; }

// Conditions that read memory are asked where the others hold.
TEST(DomainConditions, ReadWithinWhatTheOthersSay) {
  struct Lines {
    Func f{"f"};
    Var x{"x"};
    RDom r{0, 5000, "r"};
  };
  const std::vector<std::function<void(Lines &)>> schedules = {
      [](Lines &l) { l.f.update().unscheduled(); },
      [](Lines &l) { l.f.update().vectorize(l.x, 8, TailStrategy::GuardWithIf); },
      [](Lines &l) { l.f.update().reorder(l.x, l.r.x).vectorize(l.x, 8, TailStrategy::Predicate); },
      [](Lines &l) { l.f.update().atomic().vectorize(l.r.x, 8); },
      [](Lines &l) { l.f.update().unroll(l.r.x, 4); },
      [](Lines &l) { l.f.update().parallel(l.x); },
  };
  constexpr int kCount = 7, kRows = 11, kLimit = 9;
  GuardedPages<int> pages(kCount), more(kCount);
  Buffer<int> chosen(pages.end() - kCount, kCount), in(more.end() - kCount, kCount);
  for (int i = 0; i < kCount; i++) {
    chosen(i) = i % 3;
    in(i) = element(i);
  }
  for (size_t s = 0; s < schedules.size(); s++) {
    Lines l;
    l.r.where(chosen(l.r) > 0 && l.r < kCount && l.x < kLimit);
    l.f(l.x) = 0;
    l.f(l.x) += in(l.r) * (l.x + 1);
    schedules[s](l);
    const Buffer<int> out = l.f.realize({kRows});
    for (int x = 0; x < kRows; x++) {
      int sum = 0;
      for (int r = 0; r < kCount; r++) sum += r % 3 > 0 && x < kLimit ? element(r) * (x + 1) : 0;
      EXPECT_EQ(out(x), sum) << "schedule " << s << ", x " << x;
    }
  }
}

}  // namespace
}  // namespace polyhalite::domain_conditions_test
