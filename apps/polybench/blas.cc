// PolyBench's linear-algebra/blas: gemm, gemver, gesummv, symm, syr2k, syrk, trmm.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_blas.h"
#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

const Expr kAlpha(plain::kAlpha), kBeta(plain::kBeta);
Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

void gemm(Kernel &k) {
  const Expr ni = k.size(0), nj = k.size(1), nk = k.size(2);
  Func c0 = k.input("c", {1, 0}), a = k.input("a", {2, 0}), b = k.input("b", {1, 2});
  Func scaled("scaled"), c("c");
  RDom r(0, nk, "r");
  scaled(x, y) = kAlpha * b(x, y);
  c(x, y) = c0(x, y) * kBeta;
  c(x, y) += a(r, y) * scaled(x, r);
  c.bound(x, 0, nj).bound(y, 0, ni);
  if (k.scheduled("tiled")) tile_product(c, r, scaled);
  k.output(c, {1, 0});
}

void gemver(Kernel &k) {
  const Expr n = k.size(0);
  Func a0 = k.input("a", {0, 0}), u1 = k.input("u1", {0}), v1 = k.input("v1", {0}),
       u2 = k.input("u2", {0}), v2 = k.input("v2", {0}), y0 = k.input("y", {0}),
       z0 = k.input("z", {0});
  Func a("a"), xs("x"), w("w");
  RDom r(0, n, "r");
  a(x, y) = a0(x, y) + u1(y) * v1(x) + u2(y) * v2(x);
  xs(x) = z0(x);
  xs(x) += kBeta * a(x, r) * y0(r);
  w(x) += kAlpha * a(r, x) * xs(r);
  a.compute_root();
  xs.compute_root();
  if (k.scheduled("rows")) {
    const int lanes = register_tile().lanes;
    a.vectorize(x, lanes, TailStrategy::GuardWithIf).parallel(y);
    xs.update().reorder(x, r).vectorize(x, lanes, TailStrategy::GuardWithIf);
    sum_along_rows(w, r);
  }
  k.output(a, {0, 0});
  k.output(xs, {0});
  k.output(w, {0});
}

void gesummv(Kernel &k) {
  const Expr n = k.size(0);
  Func a = k.input("a", {0, 0}), b = k.input("b", {0, 0}), x0 = k.input("x", {0});
  Func both("both"), out("y");
  RDom r(0, n, "r");
  both(x) = Tuple(Expr(0.0), Expr(0.0));
  both(x) = Tuple(both(x)[0] + a(r, x) * x0(r), both(x)[1] + b(r, x) * x0(r));
  out(x) = kAlpha * both(x)[0] + kBeta * both(x)[1];
  if (k.scheduled("factored")) {
    RVar ro("ro"), ri("ri");
    Var u("u");
    both.compute_at(out, xo);
    out.split(x, xo, xi, 8, TailStrategy::GuardWithIf).parallel(xo);
    both.update().split(r, ro, ri, 4);
    Func parts = both.update().rfactor(ri, u);
    parts.compute_at(both, x).vectorize(u);
    parts.update().reorder(u, ro).vectorize(u);
  }
  k.output(out, {0});
}

// The array is symmetric: what is above its diagonal stands below.
void symm(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func c0 = k.input("c", {1, 0}), a = k.input("a", {0, 0}), b = k.input("b", {1, 0});
  Func whole("whole"), scaled("scaled"), c("c");
  RDom r(0, m, "r");
  whole(x, y) = a(min(x, y), max(x, y));
  scaled(x, y) = kAlpha * b(x, y);
  c(x, y) = c0(x, y) * kBeta;
  c(x, y) += whole(r, y) * scaled(x, r);
  c.bound(x, 0, n).bound(y, 0, m);
  if (k.scheduled("tiled")) {
    whole.compute_root().parallel(y);
    tile_product(c, r, scaled);
  }
  k.output(c, {1, 0});
}

// A triangle of sums, in tiles.
void tile_triangle(Func sum, const RVar &column, const RVar &k, const RVar &row) {
  const Tile tile = register_tile();
  RVar xo("xo"), xi("xi"), yo("yo"), yi("yi");
  sum.vectorize(x, tile.lanes, TailStrategy::GuardWithIf);
  sum.update()
      .split(column, xo, xi, tile.columns())
      .split(row, yo, yi, tile.rows)
      .reorder(xi, yi, k, yo, xo)
      .vectorize(xi, tile.lanes)
      .unroll(xi)
      .unroll(yi)
      .parallel(xo);
}

void syr2k(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func c0 = k.input("c", {1, 1}), a = k.input("a", {0, 1}), b = k.input("b", {0, 1});
  Func at("at"), bt("bt"), c("c");
  RDom r(0, n, 0, m, 0, n, "r");
  r.where(r.x <= r.z);
  at(x, y) = kAlpha * a(y, x);
  bt(x, y) = kAlpha * b(y, x);
  c(x, y) = c0(x, y) * select(x <= y, kBeta, Expr(1.0));
  c(r.x, r.z) += at(r.x, r.y) * b(r.y, r.z) + bt(r.x, r.y) * a(r.y, r.z);
  c.bound(x, 0, n).bound(y, 0, n);
  if (k.scheduled("tiled")) {
    at.compute_root().vectorize(x, 8, TailStrategy::GuardWithIf).parallel(y);
    bt.compute_root().vectorize(x, 8, TailStrategy::GuardWithIf).parallel(y);
    tile_triangle(c, r.x, r.y, r.z);
  }
  k.output(c, {1, 1});
}

void syrk(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func c0 = k.input("c", {1, 1}), a = k.input("a", {0, 1});
  Func at("at"), c("c");
  RDom r(0, n, 0, m, 0, n, "r");
  r.where(r.x <= r.z);
  at(x, y) = kAlpha * a(y, x);
  c(x, y) = c0(x, y) * select(x <= y, kBeta, Expr(1.0));
  c(r.x, r.z) += at(r.x, r.y) * a(r.y, r.z);
  c.bound(x, 0, n).bound(y, 0, n);
  if (k.scheduled("tiled")) {
    at.compute_root().vectorize(x, 8, TailStrategy::GuardWithIf).parallel(y);
    tile_triangle(c, r.x, r.y, r.z);
  }
  k.output(c, {1, 1});
}

void trmm(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func a = k.input("a", {0, 0}), b0 = k.input("b", {1, 0});
  Func scaled("scaled"), b("b");
  RDom r(0, m, 0, m, "r");
  r.where(r.x > r.y);
  // Rows are made of rows that follow, as they were.
  scaled(x, y) = kAlpha * b0(x, y);
  b(x, y) = kAlpha * b0(x, y);
  b(x, r.y) += a(r.y, r.x) * scaled(x, r.x);
  b.bound(x, 0, n).bound(y, 0, m);
  if (k.scheduled("tiled")) {
    const Tile tile = register_tile();
    RVar yo("yo"), yi("yi");
    b.vectorize(x, tile.lanes, TailStrategy::GuardWithIf);
    b.update()
        .split(x, xo, xi, tile.columns(), TailStrategy::GuardWithIf)
        .split(r.y, yo, yi, tile.rows)
        .reorder(xi, yi, r.x, yo, xo)
        .vectorize(xi, tile.lanes)
        .unroll(xi)
        .unroll(yi)
        .parallel(xo);
    scaled.compute_at(b, xo).vectorize(x, tile.lanes, TailStrategy::GuardWithIf);
  }
  k.output(b, {1, 0});
}

}  // namespace

std::vector<Program> blas_programs() {
  return {
      {"gemm", {"tiled"}, {{5, 7, 9}, {36, 53, 20}}, Start::Any, gemm, plain::gemm},
      {"gemver", {"rows"}, {{5}, {37}}, Start::Any, gemver, plain::gemver},
      {"gesummv", {"factored"}, {{5}, {37}}, Start::Any, gesummv, plain::gesummv},
      {"symm", {"tiled"}, {{5, 7}, {45, 53}}, Start::Any, symm, plain::symm},
      {"syr2k", {"tiled"}, {{5, 7}, {38, 53}}, Start::Any, syr2k, plain::syr2k},
      {"syrk", {"tiled"}, {{5, 7}, {38, 53}}, Start::Any, syrk, plain::syrk},
      {"trmm", {"tiled"}, {{5, 7}, {38, 53}}, Start::Any, trmm, plain::trmm},
  };
}

}  // namespace polyhalite_apps
