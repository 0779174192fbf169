// Skewed, reversed and shifted loops: which are legal, what refusals say, and the bounds of their
// nests.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite::skew_test {
namespace {

// In place, every neighbour: those before it are new, those after it old.
constexpr const char *kSeidel = R"(image in: float32, 2
f(x, y) = in(x, y)
over j(1, 98), i(1, 98), t(0, 20): f(j, i) = (f(j - 1, i - 1) + f(j, i - 1) + f(j + 1, i - 1) + f(j - 1, i) + f(j, i) + f(j + 1, i) + f(j - 1, i + 1) + f(j, i + 1) + f(j + 1, i + 1))/9.0f
output f
)";

// Out of one of two planes into the other.
constexpr const char *kJacobi = R"(image in: float32, 2
u(x, y, p) = in(x, y)
over j(1, 98), i(1, 98), t(0, 40): u(j, i, (t + 1)%2) = (u(j, i, t%2) + u(j - 1, i, t%2) + u(j + 1, i, t%2) + u(j, i - 1, t%2) + u(j, i + 1, t%2))*0.2f
output u
)";

constexpr const char *kFloyd = R"(image in: float32, 2
d(x, y) = in(x, y)
over j(0, 32), i(0, 32), k(0, 32): d(j, i) = min(d(j, i), d(k, i) + d(j, k))
output d
)";

// The bounds of a nest, as the survey has them.
std::string loops(const std::string &algorithm, const std::string &schedule) {
  const LoopTree tree = build_tree(algorithm_of(algorithm), directives(schedule));
  const std::string text = to_text(tree, survey(tree));
  return text.substr(text.rfind('\n', text.find(".s1.")) + 1);  // the update's
}

TEST(skew, interchange_is_legal_once_the_dependence_is_skewed_away) {
  EXPECT_EQ(verdict(kSkewed,
                    "acc.update(0).skew(x1, y1, x1, 1)\n"
                    "acc.update(0).reorder(y1, x1)\n"),
            "legal");
}

TEST(skew, too_small_a_factor_is_refused) {
  EXPECT_EQ(verdict(kSkewed,
                    "acc.update(0).skew(x1, y1, x1, -1)\n"
                    "acc.update(0).reorder(y1, x1)\n"),
            R"(test:2: error: cannot reorder 'y1' inside 'x1' on update 0 of 'acc'
  why: acc at (y1=2, x1=0) reads what (y1=1, x1=1) writes; with x1 outside, (1,1) would run after (2,0)
  fix: keep y1 outside x1, or skew x1 by 2*y1 first)");
}

TEST(skew, of_an_order_that_stays_is_legal) {
  for (int factor : {-3, -1, 2, 7}) {
    EXPECT_EQ(verdict(kSkewed, "acc.update(0).skew(x1, y1, x1, " + std::to_string(factor) + ")\n"),
              "legal");
  }
}

TEST(skew, tiles_of_gauss_seidel_in_time_and_space) {
  EXPECT_EQ(verdict(kSeidel,
                    "f.update(0).split(t, to, ti, 4)\n"
                    "f.update(0).split(i, io, ii, 16)\n"
                    "f.update(0).reorder(j, ii, ti, io, to)\n"),
            R"(test:3: error: cannot reorder 'ti' inside 'io' on update 0 of 'f'
  why: f at (t=1, i=16, j=2) reads what (t=0, i=17, j=1) writes; with io outside, (0,17,1) would run after (1,16,2)
  fix: keep ti outside io, or skew io by ti first)");
  EXPECT_EQ(verdict(kSeidel,
                    "f.update(0).skew(i, t, i, 1)\n"
                    "f.update(0).split(t, to, ti, 4)\n"
                    "f.update(0).split(i, io, ii, 16)\n"
                    "f.update(0).reorder(j, ii, ti, io, to)\n"),
            "legal");
}

TEST(skew, wavefronts_of_tiles_run_at_once) {
  const std::string tiles =
      "f.update(0).skew(i, t, i, 1)\n"
      "f.update(0).split(t, to, ti, 4)\n"
      "f.update(0).split(i, io, ii, 16)\n"
      "f.update(0).reorder(j, ii, ti, io, to)\n";
  EXPECT_EQ(verdict(kSeidel, tiles + "f.update(0).parallel(io)\n"),
            R"(test:5: error: cannot run loop 'io' of update 0 of 'f' in parallel
  why: f at (t=3, i=14, j=2) reads f(1, 13), which (t=0, i=13, j=1) writes
  fix: keep 'io' serial)");
  EXPECT_EQ(verdict(kSeidel, tiles + "f.update(0).skew(io, to, wave, 1)\n"
                                     "f.update(0).reorder(j, ii, ti, to, wave)\n"
                                     "f.update(0).parallel(to)\n"),
            "legal");
}

TEST(skew, steps_of_gauss_seidel_run_at_once_behind_each_other) {
  const std::string behind =
      "f.update(0).split(t, to, ti, 4)\n"
      "f.update(0).skew(i, ti, i, 1)\n"
      "f.update(0).skew(j, i, j, 1)\n";
  EXPECT_EQ(verdict(kSeidel, behind + "f.update(0).skew(j, ti, j, 2)\n"
                                      "f.update(0).reorder(ti, j, i, to)\n"
                                      "f.update(0).vectorize(ti)\n"),
            "legal");
  EXPECT_EQ(verdict(kSeidel, behind + "f.update(0).skew(j, ti, j, 1)\n"
                                      "f.update(0).reorder(ti, j, i, to)\n"
                                      "f.update(0).vectorize(ti)\n"),
            R"(test:6: error: cannot vectorize loop 'ti' of update 0 of 'f'
  why: f at (t=1, i=1, j=1) reads f(2, 2), which (t=0, i=2, j=2) writes
  fix: keep 'ti' serial)");
}

TEST(skew, two_planes_tile_in_time) {
  const std::string tiles =
      "u.update(0).skew(i, t, i, 1)\n"
      "u.update(0).split(t, to, ti, 8)\n"
      "u.update(0).split(i, io, ii, 16)\n"
      "u.update(0).reorder(j, ii, ti, io, to)\n"
      "u.update(0).split(j, j, jv, 8)\nu.update(0).vectorize(jv)\n";
  EXPECT_EQ(verdict(kJacobi, tiles), "legal");
  EXPECT_EQ(verdict(kJacobi, tiles + "u.update(0).skew(io, to, wave, 1)\n"
                                     "u.update(0).reorder(to, wave)\n"
                                     "u.update(0).parallel(to)\n"),
            "legal");
}

TEST(skew, loops_over_space_of_two_planes_run_at_once_as_they_are) {
  EXPECT_EQ(
      verdict(
          kJacobi,
          "u.update(0).parallel(i)\nu.update(0).split(j, j, jv, 8)\nu.update(0).vectorize(jv)\n"),
      "legal");
}

TEST(skew, shortest_paths_run_at_once_over_space) {
  EXPECT_EQ(verdict(kFloyd, "d.update(0).parallel(i)\n"),
            R"(test:1: error: cannot run loop 'i' of update 0 of 'd' in parallel
  why: d at (k=0, i=1, j=0) reads d(0, 0), which (k=0, i=0, j=0) writes
  fix: keep 'i' serial)");
}

// Without the row and the column that a step reads, which it would not change.
TEST(skew, shortest_paths_beside_the_step_run_at_once) {
  const std::string beside = R"(image in: float32, 2
d(x, y) = in(x, y)
over j(0, 32), i(0, 32), k(0, 32) where i != k && j != k: d(j, i) = min(d(j, i), d(k, i) + d(j, k))
output d
)";
  EXPECT_EQ(verdict(beside,
                    "d.update(0).parallel(i)\n"
                    "d.update(0).split(j, j, jv, 8)\n"
                    "d.update(0).vectorize(jv)\n"),
            "legal");
  EXPECT_EQ(verdict(beside, "d.update(0).parallel(k)\n"),
            R"(test:1: error: cannot run loop 'k' of update 0 of 'd' in parallel
  why: d at (k=2, i=0, j=0) reads d(0, 0), which (k=1, i=0, j=0) writes
  fix: keep 'k' serial)");
}

TEST(skew, rows_of_an_elimination_run_at_once) {
  const std::string lu = R"(image in: float32, 2
a(x, y) = in(x, y)
over j(0, 32), i(0, 32), k(0, 32) where i > k && j >= k: a(j, i) = select(j == k, a(j, i)/a(k, k), a(j, i) - a(k, i)*a(j, k))
output a
)";
  EXPECT_EQ(verdict(lu, "a.update(0).parallel(i)\n"), "legal");
  EXPECT_EQ(verdict(lu, "a.update(0).reorder(i, j, k)\na.update(0).parallel(j)\n"),
            R"(test:2: error: cannot run loop 'j' of update 0 of 'a' in parallel
  why: a at (k=0, i=1, j=1) reads a(0, 1), which (k=0, i=1, j=0) writes
  fix: keep 'j' serial)");
}

TEST(skew, reverse_breaks_the_order_of_what_depends) {
  EXPECT_EQ(verdict(kSkewed, "acc.update(0).reverse(x1)\n"), "legal");
  EXPECT_EQ(verdict(kSkewed, "acc.update(0).reverse(y1)\n"),
            R"(test:1: error: cannot reverse 'y1' on update 0 of 'acc'
  why: acc at (y1=2, x1=0) reads what (y1=1, x1=1) writes; with y1 backwards, (1,1) would run after (2,0)
  fix: leave y1 as it is)");
}

TEST(skew, shift_keeps_the_order) {
  EXPECT_EQ(verdict(kSeidel, "f.update(0).shift(i, 5)\nf.update(0).split(i, io, ii, 8)\n"),
            "legal");
}

TEST(skew, bounds_follow_the_points) {
  EXPECT_EQ(loops(kSkewed, "acc.update(0).skew(x1, y1, x1, 2)\n"),
            R"(serial acc.s1.y1 from 1 extent 20
  serial acc.s1.x1 from acc.s1.y1*2 extent 30
    update 0 of 'acc' x1=acc.s1.x1 - acc.s1.y1*2 y1=acc.s1.y1
)");
  EXPECT_EQ(loops(kSkewed,
                  "acc.update(0).skew(x1, y1, x1, 2)\n"
                  "acc.update(0).reorder(y1, x1)\n"),
            R"(serial acc.s1.x1 from 2 extent 68
  serial acc.s1.y1 from max(1, acc.s1.x1/2 - 14) extent min(20, acc.s1.x1/2) - max(1, acc.s1.x1/2 - 14) + 1
    update 0 of 'acc' x1=acc.s1.x1 - acc.s1.y1*2 y1=acc.s1.y1
)");
  EXPECT_EQ(loops(kSeidel,
                  "f.update(0).skew(i, t, i, 1)\n"
                  "f.update(0).split(t, to, ti, 4)\n"
                  "f.update(0).split(i, io, ii, 16)\n"
                  "f.update(0).reorder(j, ii, ti, io, to)\n"),
            R"(serial f.s1.to from 0 extent 5
  serial f.s1.io from max(0, f.s1.to/4) extent min(7, (f.s1.to + 1)/4 + 6) - max(0, f.s1.to/4) + 1
    serial f.s1.ti from max(0, f.s1.io*16 - f.s1.to*4 - 97) extent min(3, f.s1.io*16 - f.s1.to*4 + 15) - max(0, f.s1.io*16 - f.s1.to*4 - 97) + 1
      serial f.s1.ii from max(0, f.s1.ti + f.s1.to*4 - f.s1.io*16) extent min(15, f.s1.ti + f.s1.to*4 - f.s1.io*16 + 97) - max(0, f.s1.ti + f.s1.to*4 - f.s1.io*16) + 1
        serial f.s1.j from 1 extent 98
          update 0 of 'f' j=f.s1.j i=f.s1.ii + f.s1.io*16 - f.s1.ti - f.s1.to*4 + 1 t=f.s1.ti + f.s1.to*4
)");
}

TEST(skew, vectors_keep_conditions) {
  EXPECT_EQ(loops(kJacobi,
                  "u.update(0).skew(j, t, j, 1)\nu.update(0).split(j, j, jv, "
                  "8)\nu.update(0).vectorize(jv)\n"),
            R"(serial u.s1.t from 0 extent 40
  serial u.s1.i from 1 extent 98
    serial u.s1.j from max(0, u.s1.t/8) extent (u.s1.t + 1)/8 - max(0, u.s1.t/8) + 13
      vector u.s1.jv from 0 extent 8
        update 0 of 'u' j=u.s1.j*8 + u.s1.jv - u.s1.t + 1 i=u.s1.i t=u.s1.t if u.s1.j*8 + u.s1.jv - u.s1.t + 1 >= 1 && u.s1.j*8 + u.s1.jv - u.s1.t + 1 <= 98
)");
}

TEST(skew, triangles_are_bounds_of_skewed_nests) {
  EXPECT_EQ(loops(R"(image in: int32, 2
acc(x, y) = in(x, y)
over x1(0, 30), y1(0, 30) where x1 < y1: acc(x1, y1) = acc(x1, y1)*2 + in(x1, y1)
output acc
)",
                  "acc.update(0).skew(x1, y1, x1, 1)\n"),
            R"(serial acc.s1.y1 from 1 extent 29
  serial acc.s1.x1 from acc.s1.y1 extent acc.s1.y1
    update 0 of 'acc' x1=acc.s1.x1 - acc.s1.y1 y1=acc.s1.y1
)");
}

TEST(skew, of_a_pure_definition) {
  EXPECT_EQ(verdict(R"(param n: int32
f(x, y) = x*y + n
output f
)",
                    "f.skew(x, y, d, 1)\nf.reorder(y, d)\nf.parallel(y)\n"),
            "legal");
}

TEST(skew, producers_are_computed_for_skewed_tiles) {
  EXPECT_EQ(verdict(R"(image in: int32, 2
g(x, y) = in(x, y)*2
f(x, y) = g(x, y) + g(x + 1, y)
output f
)",
                    "f.skew(x, y, d, 1)\nf.split(d, do, di, 8)\nf.reorder(di, y, do)\n"
                    "g.compute_at(f, do)\n"),
            "legal");
}

}  // namespace
}  // namespace polyhalite::skew_test
