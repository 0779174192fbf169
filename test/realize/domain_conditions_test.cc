// RDom::where: what a condition says, of sums of variables too, is how far reads go. Inputs have no
// element more than that, and the pages beside them cannot be touched.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"
#include "test/support/guarded_pages.h"

namespace polyhalite::domain_conditions_test {
namespace {

using test::GuardedPages;

int element(int i) { return i * i % 13 + 1; }

// f(x) += in(...) over r in [0, m), q in [0, m), where the inputs are as large as they are here.
struct Form {
  const char *name;
  // Narrows the domain, and is what the update reads.
  std::function<Expr(RDom &, const Expr &x, const Expr &n, int m)> index;
  // The index at a point of the domain; -1: it is none.
  std::function<int(int x, int r, int q, int n, int m)> at;
  bool by_m = false;  // the input has m elements, otherwise n
};

const std::vector<Form> kForms = {
    {"x + r < n",
     [](RDom &r, const Expr &x, const Expr &n, int) {
       r.where(x + r.x < n);
       return x + r.x;
     },
     [](int x, int r, int, int n, int) { return x + r < n ? x + r : -1; }},
    {"r <= x",
     [](RDom &r, const Expr &x, const Expr &, int) {
       r.where(r.x <= x);
       return x - r.x;
     },
     [](int x, int r, int, int, int) { return r <= x ? x - r : -1; }},
    {"x >= 1",
     [](RDom &r, const Expr &x, const Expr &, int) {
       r.where(x >= 1 && r.x >= 0);
       return x - 1;
     },
     [](int x, int, int, int, int) { return x >= 1 ? x - 1 : -1; }},
    {"r + q < m",
     [](RDom &r, const Expr &, const Expr &, int m) {
       r.where(r.x + r.y < m);
       return r.x + r.y;
     },
     [](int, int r, int q, int, int m) { return r + q < m ? r + q : -1; }, true},
    {"r >= q",
     [](RDom &r, const Expr &, const Expr &, int) {
       r.where(r.x >= r.y);
       return r.x - r.y;
     },
     [](int, int r, int q, int, int) { return r >= q ? r - q : -1; }, true},
    {"from both sides",
     [](RDom &r, const Expr &x, const Expr &n, int) {
       r.where(x + r.x >= 2);
       r.where(x + r.x < n);
       return x + r.x;
     },
     [](int x, int r, int, int n, int) { return x + r >= 2 && x + r < n ? x + r : -1; }},
    {"2*x + 2*q < n, doubled",
     [](RDom &r, const Expr &x, const Expr &n, int) {
       r.where(2 * x + 2 * r.y < n);
       return 2 * x + 2 * r.y;
     },
     [](int x, int, int q, int n, int) { return 2 * x + 2 * q < n ? 2 * x + 2 * q : -1; }},
    {"q <= r <= x, from one to the other",
     [](RDom &r, const Expr &x, const Expr &, int) {
       r.where(r.y <= r.x && r.x <= x);
       return x - r.y;
     },
     [](int x, int r, int q, int, int) { return q <= r && r <= x ? x - q : -1; }},
    {"a square",
     [](RDom &r, const Expr &x, const Expr &, int) {
       r.where(r.x * r.x <= x);
       return x - r.x * r.x;
     },
     [](int x, int r, int, int, int) { return r * r <= x ? x - r * r : -1; }},
    {"a quotient",
     [](RDom &r, const Expr &x, const Expr &n, int) {
       r.where(x + r.x < 2 * n);
       return (x + r.x) / 2;
     },
     [](int x, int r, int, int n, int) { return x + r < 2 * n ? (x + r) / 2 : -1; }},
};

struct Pipeline {
  ImageParam in{Int(32), 1, "in"};
  Param<int> n{"n"};
  Func g{"g"}, f{"f"}, p{"p"};
  Var x{"x"}, xo{"xo"}, xi{"xi"};
  RDom r;
  RVar ro{"ro"}, ri{"ri"};
  Pipeline(const Form &form, int m, bool has_producer) : r(0, m, 0, m, "r") {
    const Expr i = form.index(r, x, n, m);
    p(x) = in(x);
    f(x) = 0;
    f(x) += (has_producer ? p(i) : in(i)) * (r.x + 2 * r.y + 1);
    g(x) = f(x);
    f.compute_root();
  }
};

struct Schedule {
  const char *name;
  bool has_producer;
  std::function<void(Pipeline &)> apply;
};

constexpr TailStrategy kGuard = TailStrategy::GuardWithIf;

const std::vector<Schedule> kSchedules = {
    {"as it is", false, [](Pipeline &l) { l.f.update().unscheduled(); }},
    {"vectors", false, [](Pipeline &l) { l.f.update().vectorize(l.x, 8, kGuard); }},
    {"vectors inside of nothing else", false,
     [](Pipeline &l) { l.f.update().reorder(l.x, l.r.x, l.r.y).vectorize(l.x, 8, kGuard); }},
    {"predicated vectors", false,
     [](Pipeline &l) {
       l.f.update().split(l.x, l.xo, l.xi, 8, TailStrategy::Predicate).vectorize(l.xi);
     }},
    {"predicated loads", false,
     [](Pipeline &l) {
       l.f.update().split(l.x, l.xo, l.xi, 4, TailStrategy::PredicateLoads).vectorize(l.xi);
     }},
    {"parallel tiles", false,
     [](Pipeline &l) { l.f.update().split(l.x, l.xo, l.xi, 4, kGuard).parallel(l.xo); }},
    {"unrolled reduction", false,
     [](Pipeline &l) { l.f.update().unroll(l.r.x, 2).vectorize(l.x, 4, kGuard); }},
    {"lanes of the reduction", false,
     [](Pipeline &l) { l.f.update().atomic().vectorize(l.r.x, 4); }},
    {"a branch", false,
     [](Pipeline &l) {
       l.f.update().specialize(l.n > 8).vectorize(l.x, 8, kGuard);
       l.f.update().unroll(l.x, 2, kGuard);
     }},
    {"producer at root", true, [](Pipeline &l) { l.p.compute_root().vectorize(l.x, 8, kGuard); }},
    {"producer in tiles", true,
     [](Pipeline &l) {
       l.f.update().split(l.x, l.xo, l.xi, 8, kGuard).vectorize(l.xi);
       l.p.compute_at(l.f, l.xo).vectorize(l.x, 4, kGuard);
     }},
    {"producer at each point", true,
     [](Pipeline &l) {
       l.f.update().parallel(l.x);
       l.p.compute_at(l.f, l.x);
     }},
    {"producer in the reduction", true, [](Pipeline &l) { l.p.compute_at(l.f, l.r.x); }},
    {"producer in front of vectors", true,
     [](Pipeline &l) {
       l.f.update().reorder(l.x, l.r.x, l.r.y).vectorize(l.x, 8, kGuard);
       l.p.compute_at(l.f, l.r.x);
     }},
    {"producer in lanes", true,
     [](Pipeline &l) {
       l.f.update().reorder(l.r.x, l.r.y, l.x).split(l.x, l.xo, l.xi, 8, kGuard).vectorize(l.xi);
       l.p.compute_at(l.f, l.xi);
     }},
    {"sliding producer", true, [](Pipeline &l) { l.p.store_root().compute_at(l.f, l.x); }},
};

void compare(const Form &form, const Schedule &schedule, int m) {
  Pipeline line(form, m, schedule.has_producer);
  schedule.apply(line);
  const Callable callable = line.g.compile_to_callable({line.in, line.n});
  for (const int n : {1, 2, 7, 8, 16, 21}) {
    const int size = form.by_m ? m : n;
    for (const bool at_end : {true, false}) {
      GuardedPages<int> pages;
      Buffer<int> in(at_end ? pages.end() - size : pages.first(), size);
      for (int i = 0; i < size; i++) in(i) = element(i);
      Buffer<int> out(n);
      ASSERT_EQ(callable(in, n, out), 0);
      for (int x = 0; x < n; x++) {
        int sum = 0;
        for (int q = 0; q < m; q++) {
          for (int r = 0; r < m; r++) {
            const int i = form.at(x, r, q, n, m);
            if (i >= 0) sum += element(i) * (r + 2 * q + 1);
          }
        }
        ASSERT_EQ(out(x), sum) << "n " << n << ", x " << x;
      }
    }
  }
}

TEST(DomainConditions, ReadsEndWhereTheConditionSays) {
  int m = 3;
  for (const Form &form : kForms) {
    for (const Schedule &schedule : kSchedules) {
      SCOPED_TRACE(std::string(form.name) + ", " + schedule.name + ", m " + std::to_string(m));
      EXPECT_EQ(message_of([&] { compare(form, schedule, m); }), "no error");
      m = 14 - m;  // 3 or 11
    }
    m = 14 - m;  // the schedules are even in number
  }
}

TEST(DomainConditions, ReadsThatGoFurtherAreRefused) {
  constexpr int kCount = 20;
  Buffer<int> in(kCount);
  in.fill(1);
  Var x("x");
  const struct {
    std::function<Expr(const Expr &x, const Expr &r)> condition;
    int sign;  // in(x + sign*r)
    const char *region;
  } cases[] = {
      {[](auto &x, auto &r) { return x + r <= kCount; }, 1, "0 to 20"},
      {[](auto &x, auto &r) { return x - r < kCount; }, 1, "0 to 23"},
      {[](auto &x, auto &r) { return x - r >= -1; }, -1, "-1 to 19"},
      {[](auto &x, auto &r) { return x + r != kCount; }, 1, "0 to 23"},
      // Either of them may hold.
      {[](auto &x, auto &r) { return x + r < kCount || r == 4; }, 1, "0 to 23"},
  };
  for (const auto &c : cases) {
    Func f("f");
    RDom r(0, 5, "r");
    r.where(c.condition(x, r));
    f(x) = 0;
    f(x) += in(x + c.sign * r);
    const int line = __LINE__ + 1;
    EXPECT_EQ(message_of([&] { f.realize({kCount}); }),
              at(line) + "error: f: buffer 'b' is accessed at " + c.region +
                  " in dimension 0, but has only 0 to 19; pass a larger buffer, compute less of "
                  "the output, or give the access a boundary condition");
  }
}

TEST(DomainConditions, AreWhatABoundsQueryAnswers) {
  ImageParam in(Int(32), 2, "in");
  Param<int> n("n");
  Func f("f");
  Var x("x"), y("y");
  RDom r(0, 9, "r");
  r.where(x + r < n && y >= 2 * r);
  f(x, y) = 0;
  f(x, y) += in(x + r + 1, y - 2 * r);
  const auto asked = [&](int size) {
    n.set(size);
    in.reset();
    f.infer_input_bounds({30, 6});
    const Buffer<int> b = in.get();
    return std::vector<int>{b.min(0), b.extent(0), b.min(1), b.extent(1)};
  };
  EXPECT_EQ(asked(100), (std::vector<int>{1, 32, 0, 6}));
  EXPECT_EQ(asked(25), (std::vector<int>{1, 25, 0, 6}));
  EXPECT_EQ(asked(0)[1], 0);
  EXPECT_EQ(asked(-5)[1], 0);
}

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
