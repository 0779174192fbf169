// Directives that derive stages and branches, compiled and run: results are those of the algorithm
// without them.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::deriving_test {
namespace {

Buffer<int32_t> numbers(int width, int height) {
  Buffer<int32_t> b(width, height);
  b.for_each_element([&](int x, int y) { b(x, y) = (x * 37 + y * 101) % 59 - 20; });
  return b;
}

template <typename T>
int differences(const Buffer<T> &a, const Buffer<T> &b) {
  int n = 0;
  a.for_each_element([&](int x) { n += a(x) != b(x); });
  return n;
}

// Rows of `in` summed up; `schedule` gets the Func.
template <typename Schedule>
Buffer<int32_t> sums(const Buffer<int32_t> &in, Schedule &&schedule) {
  Var x("x");
  RDom r(0, in.height(), "r");
  Func f("f");
  f(x) = 7;
  f(x) += in(x, r);
  schedule(f, x, r);
  return f.realize({in.width()});
}

TEST(Deriving, WrappersAndClones) {
  const Buffer<int32_t> in = numbers(40, 3);
  Var x("x"), xi("xi");
  ImageParam image(Int(32), 2, "image");
  image.set(in);
  auto run = [&](bool scheduled) {
    Func f("f"), g("g"), h("h");
    f(x) = image(x, 0) + 2 * image(x, 1);
    g(x) = f(x) + f(x + 1);
    h(x) = g(x) * f(x);
    if (scheduled) {
      h.split(x, x, xi, 8);
      g.compute_root();
      f.in(g).compute_at(g, x);
      f.clone_in(h).compute_at(h, x).vectorize(x, 4);
      f.compute_root();
      image.in().compute_root().vectorize(image.in().args()[0], 4);
    }
    return Buffer<int32_t>(h.realize({32}));
  };
  EXPECT_EQ(differences(run(true), run(false)), 0);
}

TEST(Deriving, AWrapperOfAFuncWithUpdatesIsAskedForTwice) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = x;
  f(x) += 5;
  g(x) = f(x) * 2;
  f.in(g).compute_root();
  EXPECT_EQ(f.in(g).name(), f.in(g).name());
  Buffer<int32_t> out = g.realize({10});
  for (int i = 0; i < 10; i++) EXPECT_EQ(out(i), (i + 5) * 2);
}

TEST(Deriving, PartialSumsInParallelAndVectors) {
  const Buffer<int32_t> in = numbers(20, 101);
  const Buffer<int32_t> plain = sums(in, [](Func &, Var &, RDom &) {});
  EXPECT_EQ(differences(sums(in,
                             [](Func &f, Var &x, RDom &r) {
                               RVar ro("ro"), ri("ri");
                               Var u("u");
                               f.update().split(r, ro, ri, 8);
                               Func p = f.update().rfactor(ro, u);
                               p.compute_root().update().parallel(u);
                               p.vectorize(x, 4);
                             }),
                        plain),
            0);
  EXPECT_EQ(differences(sums(in,
                             [](Func &f, Var &x, RDom &r) {
                               RVar ro("ro"), ri("ri");
                               Var u("u"), v("v");
                               f.update().split(r, ro, ri, 8);
                               Func p = f.update().rfactor({{ro, u}, {ri, v}});
                               p.compute_root().update().parallel(u).vectorize(v);
                             }),
                        plain),
            0);
}

TEST(Deriving, PartialResultsOfPartialResults) {
  const Buffer<int32_t> in = numbers(20, 64);
  const Buffer<int32_t> plain = sums(in, [](Func &, Var &, RDom &) {});
  EXPECT_EQ(differences(sums(in,
                             [](Func &f, Var &x, RDom &r) {
                               RVar ro("ro"), ri("ri"), rii("rii"), rio("rio");
                               Var u("u"), v("v");
                               f.update().split(r, ro, ri, 16);
                               Func p = f.update().rfactor(ro, u);
                               p.compute_root().update().split(ri, rio, rii, 4);
                               Func q = p.update().rfactor(rii, v);
                               q.compute_at(p, u);
                             }),
                        plain),
            0);
}

// Of equal keys the algorithm's order decides, in whatever order partial results are taken: few
// values and many ties, first and last, least and greatest, against plain loops.
TEST(Deriving, PlacesOfExtremesWithTies) {
  constexpr int kWidth = 24, kHeight = 10;
  for (int seed = 0; seed < 4; seed++) {
    Buffer<uint8_t> in(kWidth, kHeight);
    in.for_each_element([&](int x, int y) {
      in(x, y) = seed == 3 ? (x % 2) * 255 : (x * 7 + y * 13 + x * y * (seed + 1)) % 5;
    });
    for (const bool last : {false, true}) {
      for (const bool least : {false, true}) {
        const int none = least ? 255 : 0;
        int best = none, at_x = 0, at_y = 0;
        for (int y = 0; y < kHeight; y++) {
          for (int x = 0; x < kWidth; x++) {
            const int v = in(x, y);
            const bool better = least ? v < best : v > best;
            if (!better && !(last && v == best)) continue;
            best = v, at_x = x, at_y = y;
          }
        }
        RDom r(0, kWidth, 0, kHeight, "r");
        RVar xo("xo"), xi("xi");
        Var u("u"), v("v");
        Func f("f");
        const Expr key = in(r.x, r.y);
        f() = Tuple(cast<uint8_t>(none), 0, 0);
        const Expr old = f()[0];
        const Expr takes =
            least ? (last ? key <= old : key < old) : (last ? key >= old : key > old);
        f() = Tuple(least ? min(old, key) : max(old, key), select(takes, r.x, f()[1]),
                    select(takes, r.y, f()[2]));
        Func rows = f.update().rfactor(r.y, u);
        rows.compute_root().update().parallel(u).split(r.x, xo, xi, 8);
        Func lanes = rows.update().rfactor(xi, v);
        lanes.compute_at(rows, u).vectorize(v).update().vectorize(v);
        Buffer<uint8_t> found = Buffer<uint8_t>::make_scalar();
        Buffer<int> found_x = Buffer<int>::make_scalar(), found_y = Buffer<int>::make_scalar();
        f.realize({found, found_x, found_y});
        EXPECT_EQ(std::make_tuple(int(found()), found_x(), found_y()),
                  std::make_tuple(best, at_x, at_y))
            << "seed " << seed << (last ? " last" : " first") << (least ? " least" : " greatest");
      }
    }
  }
}

TEST(Deriving, AtomicUpdates) {
  const Buffer<int32_t> in = numbers(100, 50);
  Var x("x");
  auto histogram = [&](bool parallel) {
    RDom r(0, 100, 0, 50, "r");
    Func f("f");
    f(x) = 0;
    f(clamp(in(r.x, r.y) + 20, 0, 59)) += 1;
    if (parallel) f.update().atomic().parallel(r.y);
    return Buffer<int32_t>(f.realize({60}));
  };
  EXPECT_EQ(differences(histogram(true), histogram(false)), 0);
  const Buffer<int32_t> plain = sums(in, [](Func &, Var &, RDom &) {});
  EXPECT_EQ(differences(sums(in,
                             [](Func &f, Var &, RDom &r) {
                               RVar ro("ro"), ri("ri");
                               f.update().atomic().split(r, ro, ri, 8).vectorize(ri);
                             }),
                        plain),
            0);
}

// Lanes that are added up stand inside and outside of a vector of cells.
TEST(Deriving, AtomicLanesAndVectorsOfCells) {
  Var xi("xi");
  RVar ro("ro"), ri("ri"), rio("rio"), rii("rii");
  for (const int rows : {48, 50}) {  // the second one leaves a rest
    const Buffer<int32_t> in = numbers(96, rows);
    const Buffer<int32_t> plain = sums(in, [](Func &, Var &, RDom &) {});
    auto split = [&](Func &f, Var &x, RDom &r, int lanes) {
      return f.update().split(x, x, xi, 8).split(r, ro, ri, lanes).atomic();
    };
    const auto inside = sums(in, [&](Func &f, Var &x, RDom &r) {
      split(f, x, r, 4).reorder(ri, xi, x, ro).vectorize(ri).vectorize(xi);
    });
    EXPECT_EQ(differences(inside, plain), 0) << rows;
    const auto outside = sums(in, [&](Func &f, Var &x, RDom &r) {
      split(f, x, r, 3).reorder(xi, ri, x, ro).vectorize(ri).vectorize(xi);
    });
    EXPECT_EQ(differences(outside, plain), 0) << rows;
    const auto both = sums(in, [&](Func &f, Var &x, RDom &r) {
      Stage s = split(f, x, r, 4).split(ri, rio, rii, 2);
      s.reorder(rii, xi, rio, x, ro).vectorize(rii).vectorize(xi).vectorize(rio);
    });
    EXPECT_EQ(differences(both, plain), 0) << rows;
    const auto in_threads = sums(in, [&](Func &f, Var &x, RDom &r) {
      split(f, x, r, 4).reorder(ri, xi, x, ro).vectorize(ri).vectorize(xi).parallel(ro);
    });
    EXPECT_EQ(differences(in_threads, plain), 0) << rows;
  }
}

TEST(Deriving, AtomicNeedsAnOperatorOrAPromise) {
  Var x("x");
  RDom r(0, 10, "r");
  auto make = [&](bool promise) {
    Func f("f");
    f(x) = 1;
    f(x) = 3 - f(x);
    f.update().atomic(promise);
    return f;
  };
  EXPECT_EQ(Buffer<int32_t>(make(false).realize({4}))(2), 2);
  Func g("g");
  g(x) = 1;
  g(x) = r - g(x);
  g.update().atomic().parallel(r);
  EXPECT_EQ(message_of([&] { g.realize({4}); }),
            at(__LINE__ - 2) +
                "error: cannot prove that updates of update 0 of 'g' may run atomically in any "
                "order\n  why: g at (x=0, r=1) reads g(0), which (x=0, r=0) writes (with "
                "g.extent.0=1); a op b = b - a is not associative: (1 op 0) op 0 is 1, 1 op (0 op "
                "0) is -1\n"
                "  fix: promise it by atomic(true), or keep 'r' serial");
}

TEST(Deriving, BranchesRunWhereTheirConditionsHold) {
  Var x("x");
  Param<int> n("n");
  Param<bool> twice("twice");
  Func p("p"), f("f");
  p(x) = x * n;
  f(x) = select(twice, p(x) * 2, p(x) + n);
  p.compute_at(f, x);
  f.specialize(n == 3).specialize(twice).vectorize(x, 4, TailStrategy::GuardWithIf);
  f.specialize(n == 3).unroll(x, 2, TailStrategy::GuardWithIf);
  f.specialize(n > 10);
  for (int value : {1, 3, 11}) {
    for (bool t : {false, true}) {
      n.set(value);
      twice.set(t);
      Buffer<int32_t> out = f.realize({13});
      for (int i = 0; i < 13; i++) EXPECT_EQ(out(i), t ? i * value * 2 : i * value + value);
    }
  }
}

TEST(Deriving, ABranchForSmallOutputsLiftsTheNeedOfTheSplit) {
  Var x("x");
  Func f("f");
  Param<int> width("width");
  f(x) = x;
  f.specialize(width >= 8).vectorize(x, 8);
  width.set(3);
  EXPECT_EQ(Buffer<int32_t>(f.realize({3}))(2), 2);
  width.set(8);
  EXPECT_EQ(Buffer<int32_t>(f.realize({8}))(7), 7);
}

// Whole tiles in the branch whose condition says so, tiles with another tail elsewhere.
TEST(Deriving, BranchesRoundUpWhereTheirConditionsSayWholeTiles) {
  Func f("f");
  Var x("x"), y("y"), xo("xo");
  f(x, y) = 3 * x + y;
  const Expr width = f.output_buffer().dim(0).extent();
  f.specialize(width % 16 == 0).split(x, xo, x, 16, TailStrategy::RoundUp).vectorize(x);
  f.specialize(width % 8 == 0).split(x, xo, x, 8, TailStrategy::RoundUp).vectorize(x);
  f.split(x, xo, x, 8, TailStrategy::PredicateStores).vectorize(x);
  for (const int size : {32, 24, 19, 3}) {
    const Buffer<int> out = f.realize({size, 3});
    out.for_each_element([&](int i, int j) { EXPECT_EQ(out(i, j), 3 * i + j) << size; });
  }
  // Where it says less, sizes are whole tiles.
  Func g("g");
  g(x, y) = x + y;
  g.specialize(g.output_buffer().dim(0).extent() % 4 == 0)
      .split(x, xo, x, 8, TailStrategy::RoundUp)
      .vectorize(x);
  Buffer<int> narrow(12, 3);
  EXPECT_NE(message_of([&] { g.realize(narrow); }).find("buffer 'g' is accessed at 0 to 15"),
            std::string::npos);
}

TEST(Deriving, NoBranchIsAnErrorOfTheRun) {
  Var x("x");
  Param<int> n("n");
  Func f("f");
  f(x) = x + n;
  f.specialize(n == 1);
  f.specialize_fail("n is 1");
  n.set(1);
  EXPECT_EQ(Buffer<int32_t>(f.realize({4}))(3), 4);
  n.set(2);
  EXPECT_NE(message_of([&] { f.realize({4}); }).find("no branch for these inputs: n is 1"),
            std::string::npos);
}

// What fails without a branch keeps its meaning for those that copy it.
TEST(Deriving, ACloneOfWhatFailsHasTheValues) {
  Var x("x");
  Param<int> n("n");
  Func f("f"), g("g");
  f(x) = x + n;
  g(x) = f(x) * 2;
  f.specialize(n == 1);
  f.specialize_fail("n is 1");
  f.clone_in(g).compute_root();
  n.set(2);
  EXPECT_EQ(Buffer<int32_t>(g.realize({4}))(3), 10);
}

}  // namespace
}  // namespace polyhalite::deriving_test
