// PolyBench's linear-algebra/kernels: 2mm, 3mm, atax, bicg, doitgen, mvt.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_products.h"
#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

const Expr kAlpha(plain::kFactor), kBeta(plain::kScale);
Var x("x"), y("y"), z("z"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

void two_products(Kernel &k) {
  const Expr ni = k.size(0), nj = k.size(1), nk = k.size(2), nl = k.size(3);
  Func a = k.input("a", {2, 0}), b = k.input("b", {1, 2}), c = k.input("c", {3, 1}),
       d0 = k.input("d", {3, 0});
  Func scaled("scaled"), tmp("tmp"), d("d");
  RDom r(0, nk, "r"), s(0, nj, "s");
  scaled(x, y) = kAlpha * b(x, y);
  tmp(x, y) += a(r, y) * scaled(x, r);
  d(x, y) = d0(x, y) * kBeta;
  d(x, y) += tmp(s, y) * c(x, s);
  tmp.compute_root();
  d.bound(x, 0, nl).bound(y, 0, ni);
  if (k.scheduled("tiled")) {
    tile_product(tmp, r, scaled);
    tile_product(d, s, c);
  }
  k.output(d, {3, 0});
}

void three_products(Kernel &k) {
  const Expr ni = k.size(0), nj = k.size(1), nk = k.size(2), nl = k.size(3), nm = k.size(4);
  Func a = k.input("a", {2, 0}), b = k.input("b", {1, 2}), c = k.input("c", {4, 1}),
       d = k.input("d", {3, 4});
  Func e("e"), f("f"), g("g");
  RDom r(0, nk, "r"), s(0, nm, "s"), t(0, nj, "t");
  e(x, y) += a(r, y) * b(x, r);
  f(x, y) += c(s, y) * d(x, s);
  g(x, y) += e(t, y) * f(x, t);
  e.compute_root();
  f.compute_root();
  g.bound(x, 0, nl).bound(y, 0, ni);
  if (k.scheduled("tiled")) {
    tile_product(e, r, b);
    tile_product(f, s, d);
    tile_product(g, t, f);
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
  if (k.scheduled("vectors")) {
    sum_along_rows(tmp, r);
    out.update().reorder(x, s).vectorize(x, register_tile().lanes, TailStrategy::GuardWithIf);
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
    s.update().reorder(x, i).vectorize(x, register_tile().lanes, TailStrategy::GuardWithIf);
    sum_along_rows(q, j);
  }
  k.output(s, {0});
  k.output(q, {1});
}

void doitgen(Kernel &k) {
  const Expr nr = k.size(0), nq = k.size(1), np = k.size(2);
  Func a = k.input("a", {2, 1, 0}), c4 = k.input("c4", {2, 2});
  Func sum("sum");
  RDom s(0, np, "s");
  sum(x, y, z) += a(s, y, z) * c4(x, s);
  sum.bound(x, 0, np).bound(y, 0, nq).bound(z, 0, nr);
  if (k.scheduled("tiled")) {
    const Tile tile = register_tile();
    const TailStrategy guard = TailStrategy::GuardWithIf;
    sum.vectorize(x, tile.lanes, guard).parallel(z);
    sum.update()
        .tile(x, y, xi, yi, tile.columns(), tile.rows, guard)
        .reorder(xi, yi, s, y, x, z)
        .vectorize(xi, tile.lanes)
        .unroll(xi)
        .unroll(yi)
        .parallel(z);
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
  if (k.scheduled("vectors")) {
    sum_along_rows(first, r);
    second.update().reorder(x, r).vectorize(x, register_tile().lanes, TailStrategy::GuardWithIf);
  }
  k.output(first, {0});
  k.output(second, {0});
}

}  // namespace

std::vector<Program> product_programs() {
  return {
      {"2mm",
       {"tiled"},
       {{5, 6, 7, 8}, {38, 53, 21, 44}},
       Start::Any,
       two_products,
       plain::two_products},
      {"3mm",
       {"tiled"},
       {{5, 6, 7, 8, 9}, {38, 53, 21, 44, 13}},
       Start::Any,
       three_products,
       plain::three_products},
      {"atax", {"vectors"}, {{5, 7}, {38, 42}}, Start::Any, atax, plain::atax},
      {"bicg", {"vectors"}, {{5, 7}, {38, 42}}, Start::Any, bicg, plain::bicg},
      {"doitgen", {"tiled"}, {{4, 5, 6}, {9, 23, 37}}, Start::Any, doitgen, plain::doitgen},
      {"mvt", {"vectors"}, {{5}, {41}}, Start::Any, mvt, plain::mvt},
  };
}

}  // namespace polyhalite_apps
