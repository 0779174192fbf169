// Splits that round up inside of the pipeline: more is computed than is used. Producers compute no
// more for it, and have the memory that is read; surveys that say otherwise are refused, by isl and
// by enumeration.
#include <gtest/gtest.h>

#include <algorithm>

#include "lang/simplify/linear.h"
#include "polyhedral/oracle/brute_force.h"
#include "polyhedral/verdict.h"

namespace polyhalite::whole_tiles_test {
namespace {

constexpr const char *kChain = R"(image in: int32, 1
a(x) = in(x) + 1
b(x) = a(x) + a(x + 1)
c(x) = b(x)
out(x) = c(x) + c(x + 2)
output out
)";

std::string surveyed(const std::string &algorithm, const std::string &schedule) {
  const LoopTree tree = build_tree(algorithm_of(algorithm), directives(schedule));
  return to_text(tree, survey(tree));
}

TEST(whole_tiles, make_storage_grow_and_nothing_be_computed_for_them) {
  EXPECT_EQ(surveyed(kChain,
                     "a.compute_root()\nb.compute_root()\nb.split(x, xo, xi, 8, RoundUp)\n"
                     "b.vectorize(xi)\nc.compute_root()\n"),
            R"(needs in [out.min.0, out.extent.0 + out.min.0 + 2]
needs out [out.min.0, out.extent.0 + out.min.0 - 1]
let b.hi.0 = out.min.0 + (out.extent.0 + 1)/8*8 + 7
let a.stored_hi.0 = max(b.hi.0 + 1, out.extent.0 + out.min.0 + 2)
allocate a [out.min.0, a.stored_hi.0]
  serial a.s0.x from out.min.0 extent out.extent.0 + 3
    'a' x=a.s0.x
  allocate b [out.min.0, b.hi.0]
    serial b.s0.xo from 0 extent (b.hi.0 - out.min.0)/8 + 1
      vector b.s0.xi from 0 extent 8
        'b' x=out.min.0 + b.s0.xi + b.s0.xo*8 uses x [.., out.extent.0 + out.min.0 + 1]
    allocate c [out.min.0, out.extent.0 + out.min.0 + 1]
      serial c.s0.x from out.min.0 extent out.extent.0 + 2
        'c' x=c.s0.x
      serial out.s0.x from out.min.0 extent out.extent.0
        'out' x=out.s0.x
)");
}

// What is computed in the tiles runs whole tiles too; what is computed outside of them does not.
TEST(whole_tiles, hold_whole_tiles_of_what_is_computed_in_them) {
  EXPECT_EQ(surveyed(kChain,
                     "a.compute_root()\nb.compute_at(c, xo)\nb.vectorize(x)\nc.compute_root()\n"
                     "c.split(x, xo, xi, 8, RoundUp)\n"),
            R"(needs in [out.min.0, a.hi.0]
needs out [out.min.0, out.extent.0 + out.min.0 - 1]
let c.hi.0 = out.min.0 + (out.extent.0 + 1)/8*8 + 7
let a.hi.0 = out.min.0 + min(out.extent.0 + 1, (c.hi.0 - out.min.0)/8*8 + 7) + 1
let a.stored_hi.0 = out.min.0 + (c.hi.0 - out.min.0)/8*8 + 8
allocate a [out.min.0, a.stored_hi.0]
  serial a.s0.x from out.min.0 extent a.hi.0 - out.min.0 + 1
    'a' x=a.s0.x
  allocate c [out.min.0, c.hi.0]
    serial c.s0.xo from 0 extent (c.hi.0 - out.min.0)/8 + 1
      let b.last_used.0 = out.min.0 + min(out.extent.0 + 1, c.s0.xo*8 + 7)
      allocate b [out.min.0 + c.s0.xo*8, out.min.0 + c.s0.xo*8 + 7]
        vector b.s0.x from out.min.0 + c.s0.xo*8 extent 8
          'b' x=b.s0.x uses x [.., b.last_used.0]
        serial c.s0.xi from 0 extent 8
          'c' x=out.min.0 + c.s0.xi + c.s0.xo*8 uses x [.., out.extent.0 + out.min.0 + 1]
    serial out.s0.x from out.min.0 extent out.extent.0
      'out' x=out.s0.x
)");
}

TEST(whole_tiles, are_proven) {
  const Judgement j = judgement(
      kChain,
      "a.compute_root()\nb.compute_root()\nb.split(x, xo, xi, 8, RoundUp)\nb.vectorize(xi)\n"
      "c.compute_root()\n");
  ASSERT_TRUE(j.legal());
  EXPECT_EQ(proof_of(j, 'b', "what is used of 'b'"),
            "isl: of whole tiles, what lies beyond it is made of cells that may be anything");
  EXPECT_EQ(proof_of(j, 'f', "addresses of 'a'"),
            "isl: storage is the hull of the computed boxes and of what whole tiles read");
  EXPECT_EQ(proof_of(j, 'f', "addresses of 'c'"), "isl: storage is the hull of the computed boxes");
}

constexpr const char *kSchedule =
    "a.compute_root()\nb.compute_root()\nb.split(x, xo, xi, 8, RoundUp)\nc.compute_root()\n";

Expr plus(const Expr &e, int k) { return make_binary(Op::Add, e, make_int(Int(32), k)); }

// The verdicts of isl and of enumeration on a survey that `spoil` has changed.
template <typename Spoil>
std::string spoiled(Spoil spoil) {
  const LoopTree tree = build_tree(algorithm_of(kChain), directives(kSchedule));
  Survey s = survey(tree);
  spoil(s);
  const Judgement j = judge(tree, s, exact_options());
  const oracle::Enumeration e = oracle::brute_force(tree, s, {{{"out", {{0, 11}}}}, {}, 0});
  return (j.legal() ? "legal" : j.refusal->diagnostic.to_string()) + "\n" +
         (e.violation ? std::string(1, e.violation->claim) + ": " + e.violation->text : "legal");
}

TEST(whole_tiles, need_the_memory_that_they_read) {
  EXPECT_EQ(spoiled([](Survey &s) { s.funcs[0].stored[0].max = s.funcs[0].needed[0].max; }),
            R"(algorithm:4: error: whole tiles of 'b' read outside of the storage of 'a'
  why: index 3 of dimension 0
f: 'b' at (x=13) reads a(14), outside of its storage)");
}

TEST(whole_tiles, give_no_values_beyond_what_is_used) {
  EXPECT_EQ(
      spoiled([](Survey &s) { s.stages[1][0].used.at("x").max = plus(s.funcs[1].used[0].max, 1); }),
      R"(algorithm:4: error: 'a' is not produced where 'b' needs it
  why: b at (x=2, xi=2, xo=0) touches a at 3 in dimension 0
b: 'b' at (x=13) reads a(14), which nothing wrote)");
  EXPECT_EQ(spoiled([](Survey &s) {
              s.funcs[1].used[0].max = plus(s.funcs[1].used[0].max, -1);
              s.stages[1][0].used.at("x").max = s.funcs[1].used[0].max;
            }),
            R"(algorithm:5: error: 'b' is not produced where 'c' needs it
  why: c at (x=1) touches b at 1 in dimension 0
c: 'c' at (x=12) reads b(12) as nothing left it, not as 'b' at (x=12) does)");
}

// Rows that iterations leave to others are used as long as they are kept.
TEST(whole_tiles, of_rows_that_are_kept_are_used) {
  const char *rows =
      "a(x, y) = x + y\nb(x, y) = a(x, y) + a(x, y + 1)\nout(x, y) = b(x, y - 1) + b(x, y + 1)\n"
      "output out\n";
  const std::string place = "b.compute_at(out, y)\nb.store_root()\na.compute_at(out, y)\n";
  EXPECT_EQ(verdict(rows, place + "b.split(y, yo, yi, 2, RoundUp)\n"), "legal");
  const LoopTree tree =
      build_tree(algorithm_of(rows), directives(place + "b.split(y, yo, yi, 2, RoundUp)\n"
                                                        "b.split(x, xo, xi, 4, RoundUp)\n"));
  const Survey s = survey(tree);
  EXPECT_TRUE(s.funcs[1].slides[1].has_value());
  EXPECT_FALSE(s.funcs[1].used[1].max.defined());
  EXPECT_TRUE(s.funcs[1].used[0].max.defined());
}

// Values that somebody is told of, and divisions that may trap, are of numbers that are known.
TEST(whole_tiles, of_stages_that_do_not_take_anything_are_used) {
  auto uses_all = [](const std::string &value) {
    const LoopTree tree = build_tree(
        algorithm_of("a(x) = x\nb(x) = " + value + "\nout(x) = b(x)\noutput out\n"),
        directives("a.compute_root()\nb.compute_root()\nb.split(x, xo, xi, 8, RoundUp)\n"));
    return !survey(tree).funcs[1].used[0].max.defined();
  };
  EXPECT_FALSE(uses_all("a(x)/3"));
  EXPECT_TRUE(uses_all("7/a(x)"));
  EXPECT_FALSE(uses_all("7/x + a(x)"));
}

TEST(blending_tiles, write_what_is_there_at_once_with_what_comes_there) {
  const char *copy = "f(x) = x\nf(x) = f(x) + 1\noutput f\n";
  const std::string split = "f.update(0).split(x, xo, xi, 4, ShiftInwardsAndBlend)\n";
  auto run = [&](const std::string &schedule) {
    const LoopTree tree = build_tree(algorithm_of(copy), directives(schedule));
    const oracle::Enumeration e =
        oracle::brute_force(tree, survey(tree), {{{"f", {{0, 10}}}}, {}, 0});
    return e.violation ? e.violation->text : "legal";
  };
  EXPECT_EQ(run(split), "legal");
  EXPECT_EQ(
      run(split + "f.update(0).parallel(xo)\n"),
      R"(update 0 of 'f' at (x=6) writes and update 0 of 'f' at (x=6) writes f(6) in two iterations of parallel loop 'f.s1.xo')");
  // A promise about the update's own accesses does not help.
  const std::string promised = split + "f.update(0).allow_race_conditions()\n";
  EXPECT_EQ(run(promised + "f.update(0).parallel(xo)\n"),
            run(split + "f.update(0).parallel(xo)\n"));
  EXPECT_EQ(run(promised + "f.update(0).parallel(xi)\n"), "legal");
}

// A condition on several reduction variables bounds each of them.
TEST(domains, are_as_small_as_their_conditions_make_them) {
  const std::string text = surveyed(R"(g(x, y) = x + y
f(x, y) = 0
over r(0, 100), q(0, 100) where 2*r + 30 < q && q >= 100 - r: f(r, q) = f(r, q) + g(r, q)
output f
)",
                                    "g.compute_root()\n");
  EXPECT_NE(text.find("allocate g [1, 34] [66, 99]"), text.npos) << text;
}

// Each update runs over what later ones read of it.
TEST(updates, run_over_the_part_that_is_needed) {
  const char *wedge = R"(g(x, y) = 0
g(x, x) = x
g(y, y) = g(y - 1, y) + g(y + 1, y)
g(x, x + 1) = g(x, x)
out(x) = g(x, x) + g(x, x + 1)
output out
)";
  EXPECT_EQ(verdict(wedge, "g.compute_root()\n"), "legal");
  EXPECT_EQ(surveyed(wedge, "g.compute_root()\n"),
            R"(needs out [out.min.0, out.extent.0 + out.min.0 - 1]
allocate g [out.min.0 - 1, out.extent.0 + out.min.0 + 1] [out.min.0 - 1, out.extent.0 + out.min.0 + 1]
  serial g.s0.y from out.min.0 - 1 extent out.extent.0 + 3
    serial g.s0.x from out.min.0 - 1 extent out.extent.0 + 3
      'g' x=g.s0.x y=g.s0.y
  serial g.s1.x from out.min.0 - 1 extent out.extent.0 + 3
    update 0 of 'g' x=g.s1.x
  serial g.s2.y from out.min.0 extent out.extent.0 + 1
    update 1 of 'g' y=g.s2.y
  serial g.s3.x from out.min.0 extent out.extent.0
    update 2 of 'g' x=g.s3.x
  serial out.s0.x from out.min.0 extent out.extent.0
    'out' x=out.s0.x
)");
  const LoopTree tree = build_tree(algorithm_of(wedge), directives("g.compute_root()\n"));
  const oracle::Enumeration e =
      oracle::brute_force(tree, survey(tree), {{{"out", {{0, 5}}}}, {}, 0});
  EXPECT_FALSE(e.violation) << e.violation->text;
}

// So do those of a window that cannot slide.
TEST(updates, run_over_the_window_that_is_needed) {
  const char *window = R"(f(x, y) = x
f(x, x) = f(x, x) + f(x, 0) + f(x, 1)
f(x, y) = f(x, y) + 1
g(x, y) = f(x, y) + f(x, y - 1)
output g
)";
  const std::string schedule = "f.compute_at(g, y)\nf.store_root()\n";
  EXPECT_EQ(verdict(window, schedule), "legal");
  const LoopTree tree = build_tree(algorithm_of(window), directives(schedule));
  const Survey s = survey(tree);
  EXPECT_FALSE(s.funcs[0].slides[1].has_value());
  const IndexRange &rows = s.stages[0][2].ranges.at("y");
  EXPECT_EQ(constant_difference(rows.max, rows.min), 1);
  const oracle::Enumeration e = oracle::brute_force(tree, s, {{{"g", {{0, 3}, {0, 12}}}}, {}, 0});
  EXPECT_FALSE(e.violation) << e.violation->text;
}

}  // namespace
}  // namespace polyhalite::whole_tiles_test
