// auto_schedule() of updates whose reduction variables say where they write: the loops that are
// found, and that they change no value.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "polyhalite/polyhalite.h"

namespace polyhalite::recurrences_test {
namespace {

const Target kTarget("x86-64-linux-avx2-fma-sse41-f16c-avx");
Var x("x"), y("y"), p("p");

// A square program: its text for estimates of `estimate`, and what it gives for 259 beside what the
// program gives without a schedule.
std::string found_text(const std::function<Func(const Expr &, const Func &)> &program, int estimate,
                       const std::string &budget = "10s") {
  constexpr int n = 259;
  Buffer<double, 2> image(n, n);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) image(i, j) = (i == j ? 2 * n : 0) + (i * 7 + j * 13) % 31 / 31.0;
  }
  std::string text;
  Buffer<double, 2> results[2];
  for (const bool automatic : {false, true}) {
    Param<int> size("size");
    size.set_estimate(estimate);
    ImageParam in(Float(64), 2, "in");
    Func out = program(size, in);
    if (automatic) {
      out.set_estimates({{0, estimate}, {0, estimate}});
      text = auto_schedule(Pipeline(out), kTarget, {{"parallelism", "2"}, {"budget", budget}})
                 .schedule_text;
    }
    size.set(n);
    in.set(image);
    results[automatic] = out.realize({n, n});
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      EXPECT_DOUBLE_EQ(results[1](i, j), results[0](i, j)) << i << ", " << j << "\n" << text;
      if (testing::Test::HasFailure()) return text;
    }
  }
  return text;
}

void expect_lines(const std::string &text, const std::vector<std::string> &lines) {
  for (const std::string &line : lines) {
    EXPECT_NE(text.find(line + "\n"), std::string::npos) << line << " is not in\n" << text;
  }
}

Func factors(const Expr &n, const Func &in) {
  Func a("a");
  RDom r(0, n, 0, 2, 0, n, 0, n, "r");
  const RVar j = r.x, phase = r.y, i = r.z, k = r.w;
  r.where(k < i && k <= j && select(phase == 0, j <= k, j > k));
  a(x, y) = in(x, y);
  a(j, i) = mux(phase, {a(j, i) / a(j, j), a(j, i) - a(k, i) * a(j, k)});
  return a;
}

TEST(Recurrences, PhasesOfAFactorizationRunInVectors) {
  expect_lines(
      found_text(factors, 300),
      {"a.update(0).split(r_x, r_x, r_xv, 4)", "a.update(0).reorder(r_xv, r_x, r_y, r_z, r_w)",
       "a.update(0).vectorize(r_xv)", "a.update(0).unroll(r_y)", "a.update(0).parallel(r_z)"});
}

TEST(Recurrences, WithoutABudgetLoopsStay) {
  const std::string text = found_text(factors, 300, "0s");
  EXPECT_EQ(text.find("a.update(0)"), std::string::npos) << text;
}

// Nothing is vectorized along the filter, nor reordered; rows do not wait for each other.
TEST(Recurrences, RowsOfAFilterRunSideBySide) {
  const std::string text = found_text(
      [](const Expr &n, const Func &in) {
        Func f("f");
        RDom r(1, n - 1, "r");
        f(x, y) = in(x, y);
        f(r, y) = Expr(0.3) * f(r, y) + Expr(0.7) * f(r - 1, y);
        return f;
      },
      500);
  expect_lines(text,
               {"f.update(0).split(y, y, yu, 8, GuardWithIf)", "f.update(0).reorder(yu, r, y)",
                "f.update(0).unroll(yu)", "f.update(0).parallel(y)"});
}

TEST(Recurrences, TrianglesOfSumsStayInRegisters) {
  const std::string text = found_text(
      [](const Expr &n, const Func &in) {
        Func c("c");
        RDom r(0, n, 0, n, 0, n, "r");
        r.where(r.x <= r.z);
        c(x, y) = Expr(0.0);
        c(r.x, r.z) += in(r.x, r.y) * in(r.z, r.y);
        return c;
      },
      300);
  expect_lines(
      text, {"c.update(0).split(r_x, r_x, r_xb, 8)", "c.update(0).split(r_xb, r_xb, r_xv, 4)",
             "c.update(0).split(r_z, r_z, r_zu, 6)",
             "c.update(0).reorder(r_xv, r_xb, r_zu, r_y, r_z, r_x)", "c.update(0).parallel(r_x)"});
  EXPECT_EQ(text.find("rfactor"), std::string::npos) << text;
}

Func relaxed(const Expr &n, const Func &in) {
  Func u("u");
  RDom r(1, n - 2, 1, n - 2, 0, n, "r");
  u(x, y) = in(x, y);
  u(r.x, r.y) =
      (u(r.x - 1, r.y) + u(r.x, r.y - 1) + u(r.x, r.y) + u(r.x + 1, r.y) + u(r.x, r.y + 1)) /
      Expr(5.0);
  return u;
}

// Each of the rows is a point behind the one above it.
TEST(Recurrences, RowsThatNeedEachOtherAreSkewed) {
  const std::string text = found_text(relaxed, 2000);
  expect_lines(text, {"u.update(0).split(r_y, r_y, r_yu, 8)", "u.update(0).skew(r_x, r_yu, r_x, 1)",
                      "u.update(0).unroll(r_yu)"});
  EXPECT_NE(text.find("u.update(0).parallel("), std::string::npos) << text;
}

Func jacobi(const Expr &n, const Func &in) {
  Func u("u"), out("out");
  RDom r(1, n - 2, 1, n - 2, 0, n, "r");
  const Expr from = r.z % 2;
  u(x, y, p) = in(x, y);
  u(r.x, r.y, 1 - from) = Expr(0.25) * (u(r.x - 1, r.y, from) + u(r.x + 1, r.y, from) +
                                        u(r.x, r.y - 1, from) + u(r.x, r.y + 1, from));
  out(x, y) = u(x, y, 0);
  u.compute_root().bound(p, 0, 2);
  return out;
}

TEST(Recurrences, LargeGridsRunInTilesOfTime) {
  expect_lines(found_text(jacobi, 1000),
               {"u.update(0).skew(r_y, r_z, r_y, 1)", "u.update(0).split(r_z, r_z, r_zi, 16)",
                "u.update(0).split(r_y, r_y, r_yi, 8)", "u.update(0).skew(r_y, r_z, r_y, 1)",
                "u.update(0).parallel(r_z)"});
}

TEST(Recurrences, GridsThatStayInTheCacheDoNot) {
  const std::string text = found_text(jacobi, 150);
  EXPECT_EQ(text.find("skew"), std::string::npos) << text;
  expect_lines(text, {"u.update(0).vectorize(r_xv)"});
}

// A detour over a path's own end may be shorter than the path, were lengths negative.
TEST(Recurrences, WhatIsNotLegalIsLeft) {
  const std::string text = found_text(
      [](const Expr &n, const Func &in) {
        Func path("path");
        RDom r(0, n, 0, n, 0, n, "r");
        path(x, y) = in(x, y);
        path(r.x, r.y) = min(path(r.x, r.y), path(r.z, r.y) + path(r.x, r.z));
        return path;
      },
      300);
  EXPECT_EQ(text.find("path.update(0).vectorize"), std::string::npos) << text;
  EXPECT_EQ(text.find("path.update(0).parallel"), std::string::npos) << text;
}

TEST(Recurrences, UsersLoopsStay) {
  const std::string text = found_text(
      [](const Expr &n, const Func &in) {
        Func a = factors(n, in);
        a.update().unroll(a.rvars()[1]);
        return a;
      },
      300);
  EXPECT_EQ(text.find("a.update(0)"), std::string::npos) << text;
}

TEST(Recurrences, TheReportNamesThem) {
  ImageParam in(Float(64), 2, "in");
  Func a = factors(300, in);
  a.set_estimates({{0, 300}, {0, 300}});
  const AutoSchedulerResults found = auto_schedule(Pipeline(a), kTarget, {{"parallelism", "2"}});
  EXPECT_NE(found.report.find("a: root, phases unrolled, vectors of 4 along r_x, r_z parallel"),
            std::string::npos)
      << found.report;
}

}  // namespace
}  // namespace polyhalite::recurrences_test
