// PolyBench's linear-algebra/kernels: 2mm, 3mm, atax, bicg, doitgen, mvt.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_products.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

const Expr kAlpha(plain::kFactor), kBeta(plain::kScale);
Var x("x"), y("y"), z("z"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

void two_products(Kernel &k) {
  const Expr nj = k.size(1), nk = k.size(2);
  Func a = k.input("a", {2, 0}), b = k.input("b", {1, 2}), c = k.input("c", {3, 1}),
       d0 = k.input("d", {3, 0});
  Func tmp("tmp"), d("d");
  RDom r(0, nk, "r"), s(0, nj, "s");
  tmp(x, y) += kAlpha * a(r, y) * b(x, r);
  d(x, y) = d0(x, y) * kBeta;
  d(x, y) += tmp(s, y) * c(x, s);
  tmp.compute_root();
  if (k.scheduled("strips")) {
    // Rows of the first product beside the rows of the second that need them.
    d.split(y, yo, yi, 4, TailStrategy::GuardWithIf).vectorize(x, 4, TailStrategy::GuardWithIf);
    Func sum = d;
    d.update()
        .split(y, yo, yi, 4, TailStrategy::GuardWithIf)
        .reorder(x, s, yi, yo)
        .vectorize(x, 4, TailStrategy::GuardWithIf)
        .parallel(yo);
    tmp.compute_at(sum, yo).vectorize(x, 4, TailStrategy::GuardWithIf);
    tmp.update().reorder(x, r, y).vectorize(x, 4, TailStrategy::GuardWithIf);
  }
  k.output(d, {3, 0});
}

void three_products(Kernel &k) {
  const Expr nj = k.size(1), nk = k.size(2), nm = k.size(4);
  Func a = k.input("a", {2, 0}), b = k.input("b", {1, 2}), c = k.input("c", {4, 1}),
       d = k.input("d", {3, 4});
  Func e("e"), f("f"), g("g");
  RDom r(0, nk, "r"), s(0, nm, "s"), t(0, nj, "t");
  e(x, y) += a(r, y) * b(x, r);
  f(x, y) += c(s, y) * d(x, s);
  g(x, y) += e(t, y) * f(x, t);
  e.compute_root();
  f.compute_root();
  if (k.scheduled("vectors")) {
    e.update().reorder(x, r, y).vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y);
    f.update().reorder(x, s, y).vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y);
    g.update()
        .tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf)
        .reorder(xi, yi, t, x, y)
        .vectorize(xi, 4)
        .unroll(yi)
        .parallel(y);
  }
  k.output(g, {3, 0});
}

void atax(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func a = k.input("a", {1, 0}), x0 = k.input("x", {1});
  Func tmp("tmp"), out("y");
  RDom r(0, n, "r"), s(0, m, "s");
  tmp(x) += a(r, x) * x0(r);
  out(x) += a(x, s) * tmp(s);
  tmp.compute_root();
  if (k.scheduled("together")) {
    // A row of the array is read once: for both sums.
    RVar so("so"), si("si");
    out.update().split(s, so, si, 4).reorder(x, si, so).vectorize(x, 4, TailStrategy::GuardWithIf);
    tmp.compute_at(out, so);
  }
  k.output(out, {1});
}

void bicg(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func a = k.input("a", {0, 1}), p = k.input("p", {0}), r0 = k.input("r", {1});
  Func s("s"), q("q");
  RDom i(0, n, "i"), j(0, m, "j");
  s(x) += r0(i) * a(x, i);
  q(x) += a(j, x) * p(j);
  if (k.scheduled("vectors")) {
    RVar jo("jo"), ji("ji");
    Var u("u");
    s.update()
        .split(x, xo, xi, 8, TailStrategy::GuardWithIf)
        .reorder(xi, i, xo)
        .vectorize(xi, 4)
        .parallel(xo);
    q.update().split(j, jo, ji, 4);
    Func parts = q.update().rfactor(ji, u);
    parts.compute_at(q, x).vectorize(u);
    parts.update().reorder(u, jo).vectorize(u);
  }
  k.output(s, {0});
  k.output(q, {1});
}

void doitgen(Kernel &k) {
  const Expr np = k.size(2);
  Func a = k.input("a", {2, 1, 0}), c4 = k.input("c4", {2, 2});
  Func sum("sum");
  RDom s(0, np, "s");
  sum(x, y, z) += a(s, y, z) * c4(x, s);
  if (k.scheduled("vectors")) {
    sum.update().reorder(x, s, y, z).vectorize(x, 4, TailStrategy::GuardWithIf).parallel(z);
  }
  k.output(sum, {2, 1, 0});
}

void mvt(Kernel &k) {
  const Expr n = k.size(0);
  Func a = k.input("a", {0, 0}), x1 = k.input("x1", {0}), x2 = k.input("x2", {0}),
       y1 = k.input("y1", {0}), y2 = k.input("y2", {0});
  Func first("first"), second("second");
  RDom r(0, n, "r");
  first(x) = x1(x);
  first(x) += a(r, x) * y1(r);
  second(x) = x2(x);
  second(x) += a(x, r) * y2(r);
  if (k.scheduled("tiled")) {
    RVar ro("ro"), ri("ri");
    first.update().split(r, ro, ri, 16).reorder(ri, x, ro);
    second.update().reorder(x, r).vectorize(x, 4, TailStrategy::GuardWithIf);
  }
  k.output(first, {0});
  k.output(second, {0});
}

}  // namespace

std::vector<Program> product_programs() {
  return {
      {"2mm",
       {"strips"},
       {{5, 6, 7, 8}, {18, 11, 21, 24}},
       Start::Any,
       two_products,
       plain::two_products},
      {"3mm",
       {"vectors"},
       {{5, 6, 7, 8, 9}, {18, 11, 21, 24, 13}},
       Start::Any,
       three_products,
       plain::three_products},
      {"atax", {"together"}, {{5, 7}, {38, 42}}, Start::Any, atax, plain::atax},
      {"bicg", {"vectors"}, {{5, 7}, {38, 42}}, Start::Any, bicg, plain::bicg},
      {"doitgen", {"vectors"}, {{4, 5, 6}, {9, 7, 13}}, Start::Any, doitgen, plain::doitgen},
      {"mvt", {"tiled"}, {{5}, {41}}, Start::Any, mvt, plain::mvt},
  };
}

}  // namespace polyhalite_apps
