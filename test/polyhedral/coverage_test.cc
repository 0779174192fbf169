// (a), (b) and (f): what the region engine says holds exactly, and a survey that lies is refused.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::coverage_test {
namespace {

constexpr const char *kBlur = R"(image in: uint16, 2
bx(x, y) = (in(x, y) + in(x + 1, y) + in(x + 2, y))/3u16
by(x, y) = (bx(x, y) + bx(x, y + 1) + bx(x, y + 2))/3u16
output by
)";

constexpr const char *kPyramid = R"(image in: int32, 1
low(x) = in(2*x) + in(2*x + 1)
up(x) = low(x/2) + low((x + 1)/2)
out(x) = up(x) + up(min(x + 3, 40)) + up(max(x - 2, 0))
output out
)";

constexpr const char *kHistogram = R"(image in: uint8, 2
hist(b) = 0
over x1(0, 64), y1(0, 32): hist(int32(in(x1, y1))) = hist(int32(in(x1, y1))) + 1
cdf(b) = hist(0)
over r(1, 255): cdf(r) = cdf(r - 1) + hist(r)
out(x, y) = cdf(int32(in(x, y)))
output out
)";

// An update on a diagonal, whose point is one for every consumer.
constexpr const char *kDiagonal = R"(image in: int32, 1
f(x, y) = in(x) + y
over r(0, 1): f(r, r) = f(r, r) + in(r)
g(x, y) = 0
over q(0, 1), s(0, 8): g(q, 4) = g(q, 4) + f(q, s) + f(q, 3)
output g
)";

// An update whose second value stays what it is in a cell that nobody needs.
constexpr const char *kHalfOfPair = R"(f(x, y) = {x, y}
over r(1, 3): f(x, y) = {f(x, y).0 + r, f(x, y).1}
f(3, 0) = {f(4, 1).0, f(3, 0).1}
g(x, y) = f(x, y).0 + f(x, y).1
output g
)";

// Sizes that are products of what only the run knows.
constexpr const char *kCount = R"(param n: int32
f(x, y) = x + y + n
g(x, y) = f(x + 1, y)
output g
)";

constexpr const char *kRows = R"(image in: float32, 1
g(p) = in(p)*2.0f
f(x, y) = g(y*7 + x) + 1.0f
output f
)";
constexpr const char *kTilesOfPixels =
    "f.bound(x, 0, 7)\nf.bound(y, 0, 7)\nf.fuse(x, y, p)\nf.split(p, po, pi, 5, ShiftInwards)\n"
    "g.compute_at(f, po)";

struct Case {
  const char *algorithm, *schedule;
};

// GoogleTest names the case so.
void PrintTo(const Case &c, std::ostream *out) { *out << testing::PrintToString(c.schedule); }

class covered : public testing::TestWithParam<Case> {};

TEST_P(covered, exactly) {
  EXPECT_EQ(verdict(GetParam().algorithm, GetParam().schedule), "legal") << GetParam().schedule;
}

INSTANTIATE_TEST_SUITE_P(
    schedules, covered,
    testing::Values(
        Case{kBlur, ""}, Case{kBlur, "bx.compute_root()"}, Case{kBlur, "bx.compute_at(by, y)"},
        Case{kBlur, "bx.compute_at(by, x)"},
        Case{kBlur, "by.split(y, yo, yi, 8)\nbx.compute_at(by, yo)"},
        Case{kBlur, "by.split(y, yo, yi, 8, GuardWithIf)\nbx.compute_at(by, yo)"},
        Case{kBlur, "by.split(y, yo, yi, 8, RoundUp)\nbx.compute_at(by, yo)"},
        Case{kBlur, "by.split(y, yo, yi, 8)\nby.split(yi, ym, yn, 3)\nbx.compute_at(by, ym)"},
        Case{kBlur, "by.split(y, yo, yi, 8)\nby.split(yo, yp, yq, 4)\nbx.compute_at(by, yq)"},
        Case{kBlur, "by.fuse(x, y, t)\nbx.compute_at(by, t)"},
        Case{kBlur, "by.fuse(x, y, t)\nby.split(t, to, ti, 4)\nbx.compute_root()"},
        Case{kBlur, "bx.compute_root()\nbx.split(x, xo, xi, 8, RoundUp)\nbx.vectorize(xi)"},
        Case{kBlur, "bx.compute_at(by, y)\nbx.split(x, xo, xi, 8)\nbx.vectorize(xi)"},
        Case{kBlur, "bx.compute_at(by, y)\nbx.store_root()"},
        Case{kBlur,
             "by.split(x, xo, xi, 8)\nby.split(y, yo, yi, 8)\nby.reorder(xi, yi, xo, yo)\n"
             "bx.store_at(by, yo)\nbx.compute_at(by, yi)"},
        Case{kBlur,
             "by.fuse(x, y, t)\nby.split(t, to, ti, 4, GuardWithIf)\nbx.compute_at(by, ti)\n"
             "bx.store_root()"},
        Case{kRows, kTilesOfPixels}, Case{kRows, "f.fuse(x, y, p)\ng.compute_at(f, p)"},
        Case{kPyramid, ""}, Case{kPyramid, "low.compute_root()\nup.compute_root()"},
        Case{kPyramid, "low.compute_root()\nup.compute_at(out, x)"},
        Case{kPyramid, "out.split(x, xo, xi, 8)\nlow.compute_at(out, xo)\nup.compute_at(out, xo)"},
        Case{kDiagonal, "f.compute_root()"}, Case{kDiagonal, "f.compute_at(g.update(0), q)"},
        Case{kDiagonal, "f.compute_at(g.update(0), s)\nf.update(0).parallel(r)"},
        Case{kHistogram, "cdf.compute_root()\nhist.compute_root()"},
        Case{kHistogram,
             "cdf.compute_root()\nhist.compute_root()\n"
             "hist.update(0).split(x1, xo, xi, 10)\nhist.update(0).reorder(y1, xi, xo)"},
        Case{kHalfOfPair, "f.compute_root()"}, Case{kCount, "g.align_extent(y, n)"},
        Case{kCount, "g.align_extent(y, n)\ng.split(y, yo, yi, 6)\ng.split(yo, yp, yq, 5)"},
        Case{kCount, "g.split(y, yo, yi, n)\nf.compute_at(g, x)\nf.split(x, xo, xi, n, RoundUp)"}));

// Judges a survey after `spoil` has changed it.
template <typename Spoil>
std::string spoiled(const std::string &schedule, Spoil spoil) {
  const LoopTree tree = build_tree(algorithm_of(kBlur), directives(schedule));
  Survey s = survey(tree);
  spoil(s);
  const Judgement j = judge(tree, s, exact_options());
  return j.legal() ? "legal" : j.refusal->diagnostic.to_string();
}

Expr plus(const Expr &e, int k) { return make_binary(Op::Add, e, make_int(Int(32), k)); }

TEST(coverage, box_that_lacks_a_row_is_refused) {
  EXPECT_EQ(
      spoiled("bx.compute_at(by, y)",
              [](Survey &s) { s.funcs[0].computed[1].max = plus(s.funcs[0].computed[1].max, -1); }),
      R"(algorithm:4: error: 'bx' is not produced where 'by' needs it
  why: by at (x=0, y=0) touches bx at 2 in dimension 1 (with by.extent.1=1, by.extent.0=1))");
}

TEST(splits, loop_that_ends_early_is_refused) {
  EXPECT_EQ(spoiled("by.split(y, yo, yi, 8, GuardWithIf)\nbx.compute_root()",
                    [](Survey &s) { s.loops[2].extent = plus(s.loops[2].extent, -1); }),
            R"(algorithm:4: error: the loops of 'by' do not visit its points
  why: (x=0, y=0) is not visited (with by.extent.0=1, by.extent.1=1))");
}

TEST(splits, tail_without_its_guard_is_refused) {
  EXPECT_EQ(spoiled("by.split(y, yo, yi, 8, GuardWithIf)\nbx.compute_root()",
                    [](Survey &s) { s.stages[1][0].guards.clear(); }),
            R"(algorithm:4: error: the loops of 'by' do not visit its points
  why: (x=0, y=1) is outside (with by.extent.0=1, by.extent.1=1))");
}

TEST(addresses, storage_that_lacks_a_row_is_refused) {
  EXPECT_EQ(
      spoiled("bx.compute_at(by, y)\nbx.store_root()",
              [](Survey &s) { s.funcs[0].stored[1].max = plus(s.funcs[0].stored[1].max, -1); }),
      R"(test:2: error: the storage of 'bx' does not hold what is computed
  why: index 2 of dimension 1 is outside (with by.extent.1=1))");
}

TEST(certificates, name_their_rules) {
  JudgeOptions structural;
  const Judgement j = judgement(
      kBlur, "by.split(y, yo, yi, 8)\nby.parallel(yo)\nbx.compute_at(by, yo)", structural);
  std::string text;
  for (const Certificate &c : j.certificates) {
    text += std::string("(") + c.claim + ") " + c.about + ": " +
            (c.proof == Proof::Isl ? "isl" : "structural") + ", " + c.rule + "\n";
  }
  EXPECT_EQ(
      text,
      R"((a) split of 'y' of 'by': structural, the last tile is shifted and computes equal values
(b) coverage of 'bx': structural, the box is the hull of all reads and of the updates' accesses
(b) coverage of 'by': structural, the caller's buffer is the box; what is touched beyond it is checked at entry
(c) order within 'bx': structural, a pure definition has no order
(c) order within 'by': structural, a pure definition has no order
(c) order of 'bx' before its consumers: structural, a production stands before its uses in one block, and writes all that they read
(d) storage of 'bx': structural, each production has storage of its own
(e) parallel loop 'yo' of 'by': structural, a pure definition reads nothing of its own
(f) addresses of 'bx': structural, storage is the hull of the computed boxes
(f) addresses of 'by': structural, the caller's buffer is checked at entry
)");
}

}  // namespace
}  // namespace polyhalite::coverage_test
