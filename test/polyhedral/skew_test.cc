// Skewed, reversed and shifted loops: which are legal, what refusals say, and the bounds of their
// nests.
#include <gtest/gtest.h>

#include "polyhedral/verdict.h"

namespace polyhalite {
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

// Reads the upper right neighbour: rows must run in order.
constexpr const char *kUpperRight = R"(image in: int32, 2
acc(x, y) = in(x, y)
over x1(0, 30), y1(1, 20): acc(x1, y1) = acc(x1 + 1, y1 - 1)*2
output acc
)";

constexpr const char *kFloyd = R"(image in: float32, 2
d(x, y) = in(x, y)
over j(0, 32), i(0, 32), k(0, 32): d(j, i) = min(d(j, i), d(k, i) + d(j, k))
output d
)";

// The bounds of a nest, as the survey has them.
std::string loops(const std::string &algorithm, const std::string &schedule) {
  const LoopTree tree = build_tree(algorithm_of(algorithm), directives(schedule));
  std::string text = to_text(tree, survey(tree));
  return text;
}

TEST(skew, interchange_is_legal_once_the_dependence_is_skewed_away) {
  EXPECT_EQ(verdict(kUpperRight,
                    "acc.update(0).skew(x1, y1, x1, 1)\n"
                    "acc.update(0).reorder(y1, x1)\n"),
            "legal");
}

TEST(skew, too_small_a_factor_is_refused) {
  EXPECT_EQ(verdict(kUpperRight,
                    "acc.update(0).skew(x1, y1, x1, -1)\n"
                    "acc.update(0).reorder(y1, x1)\n"),
            "");
}

TEST(skew, of_an_order_that_stays_is_legal) {
  for (int factor : {-3, -1, 2, 7}) {
    EXPECT_EQ(
        verdict(kUpperRight, "acc.update(0).skew(x1, y1, x1, " + std::to_string(factor) + ")\n"),
        "legal");
  }
}

TEST(skew, tiles_of_gauss_seidel_in_time_and_space) {
  EXPECT_EQ(verdict(kSeidel,
                    "f.update(0).split(t, to, ti, 4)\n"
                    "f.update(0).split(i, io, ii, 16)\n"
                    "f.update(0).reorder(j, ii, ti, io, to)\n"),
            "");
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
  EXPECT_EQ(verdict(kSeidel, tiles + "f.update(0).parallel(io)\n"), "");
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
            "");
}

TEST(skew, two_planes_tile_in_time) {
  const std::string tiles =
      "u.update(0).skew(i, t, i, 1)\n"
      "u.update(0).split(t, to, ti, 8)\n"
      "u.update(0).split(i, io, ii, 16)\n"
      "u.update(0).reorder(j, ii, ti, io, to)\n"
      "u.update(0).vectorize(j, 8)\n";
  EXPECT_EQ(verdict(kJacobi, tiles), "legal");
  EXPECT_EQ(verdict(kJacobi, tiles + "u.update(0).skew(io, to, wave, 1)\n"
                                     "u.update(0).reorder(to, wave)\n"
                                     "u.update(0).parallel(to)\n"),
            "legal");
}

TEST(skew, loops_over_space_of_two_planes_run_at_once_as_they_are) {
  EXPECT_EQ(verdict(kJacobi, "u.update(0).parallel(i)\nu.update(0).vectorize(j, 8)\n"), "legal");
}

TEST(skew, shortest_paths_run_at_once_over_space) {
  EXPECT_EQ(verdict(kFloyd, "d.update(0).parallel(i)\n"), "");
}

TEST(skew, reverse_breaks_the_order_of_what_depends) {
  EXPECT_EQ(verdict(kUpperRight, "acc.update(0).reverse(x1)\n"), "legal");
  EXPECT_EQ(verdict(kUpperRight, "acc.update(0).reverse(y1)\n"), "");
}

TEST(skew, shift_keeps_the_order) {
  EXPECT_EQ(verdict(kSeidel, "f.update(0).shift(i, 5)\nf.update(0).split(i, io, ii, 8)\n"),
            "legal");
}

TEST(skew, bounds_follow_the_points) {
  EXPECT_EQ(loops(kUpperRight, "acc.update(0).skew(x1, y1, x1, 2)\n"), "");
  EXPECT_EQ(loops(kUpperRight,
                  "acc.update(0).skew(x1, y1, x1, 2)\n"
                  "acc.update(0).reorder(y1, x1)\n"),
            "");
  EXPECT_EQ(loops(kSeidel,
                  "f.update(0).skew(i, t, i, 1)\n"
                  "f.update(0).split(t, to, ti, 4)\n"
                  "f.update(0).split(i, io, ii, 16)\n"
                  "f.update(0).reorder(j, ii, ti, io, to)\n"),
            "");
}

TEST(skew, vectors_keep_conditions) {
  EXPECT_EQ(loops(kJacobi, "u.update(0).skew(j, t, j, 1)\nu.update(0).vectorize(j, 8)\n"), "");
}

TEST(skew, triangles_are_bounds_of_skewed_nests) {
  EXPECT_EQ(loops(R"(image in: int32, 2
acc(x, y) = in(x, y)
over x1(0, 30), y1(0, 30) where x1 < y1: acc(x1, y1) = acc(x1, y1)*2 + in(x1, y1)
output acc
)",
                  "acc.update(0).skew(x1, y1, x1, 1)\n"),
            "");
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
}  // namespace polyhalite
