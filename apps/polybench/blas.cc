// PolyBench's linear-algebra/blas: gemm, gemver, gesummv, symm, syr2k, syrk, trmm.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_blas.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

const Expr kAlpha(plain::kAlpha), kBeta(plain::kBeta);
Var x("x"), y("y"), xo("xo"), yo("yo"), xi("xi"), yi("yi");

void gemm(Kernel &k) {
  const Expr ni = k.size(0), nj = k.size(1), nk = k.size(2);
  Func c0 = k.input("c", {1, 0}), a = k.input("a", {2, 0}), b = k.input("b", {1, 2});
  Func c("c");
  RDom r(0, nk, "r");
  c(x, y) = c0(x, y) * kBeta;
  c(x, y) += kAlpha * a(r, y) * b(x, r);
  if (k.scheduled("tiled")) {
    RVar ro("ro"), ri("ri");
    c.update()
        .split(r, ro, ri, 16)
        .tile(x, y, xi, yi, 8, 4, TailStrategy::GuardWithIf)
        .reorder(xi, yi, ri, x, y, ro)
        .vectorize(xi, 4)
        .unroll(yi)
        .parallel(y);
  }
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
    a.vectorize(x, 4).parallel(y);
    xs.update().reorder(x, r).vectorize(x, 4, TailStrategy::GuardWithIf);
    w.update()
        .split(x, xo, xi, 4, TailStrategy::GuardWithIf)
        .reorder(xi, r, xo)
        .unroll(xi)
        .parallel(xo);
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

void symm(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func c0 = k.input("c", {1, 0}), a = k.input("a", {0, 0}), b = k.input("b", {1, 0});
  Func c("c");
  RDom below(0, m, "below"), above(0, m, "above");
  below.where(below < y);
  above.where(above > y);
  c(x, y) = c0(x, y) * kBeta + kAlpha * b(x, y) * a(y, y);
  c(x, y) += kAlpha * b(x, below) * a(below, y);
  c(x, y) += kAlpha * b(x, above) * a(y, above);
  if (k.scheduled("columns")) {
    c.update(0).reorder(x, below, y).vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y);
    c.update(1).reorder(x, above, y).vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y);
  }
  k.output(c, {1, 0});
}

void syr2k(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func c0 = k.input("c", {1, 1}), a = k.input("a", {0, 1}), b = k.input("b", {0, 1});
  Func c("c");
  RDom r(0, m, 0, n, 0, n, "r");
  r.where(r.y <= r.z);
  c(x, y) = c0(x, y) * select(x <= y, kBeta, Expr(1.0));
  c(r.y, r.z) += a(r.x, r.y) * kAlpha * b(r.x, r.z) + b(r.x, r.y) * kAlpha * a(r.x, r.z);
  if (k.scheduled("rows")) {
    // Cells of their own for each r.y and r.z: what runs at once carries nothing.
    c.update().reorder(r.x, r.y, r.z).parallel(r.z);
  }
  if (k.scheduled("vectors")) c.update().reorder(r.y, r.x, r.z).vectorize(r.y, 4).parallel(r.z);
  k.output(c, {1, 1});
}

void syrk(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func c0 = k.input("c", {1, 1}), a = k.input("a", {0, 1});
  Func c("c");
  RDom r(0, n, 0, m, 0, n, "r");
  r.where(r.x <= r.z);
  c(x, y) = c0(x, y) * select(x <= y, kBeta, Expr(1.0));
  c(r.x, r.z) += kAlpha * a(r.y, r.z) * a(r.y, r.x);
  if (k.scheduled("tiled")) {
    RVar xo("xo"), xi("xi"), zo("zo"), zi("zi");
    c.update()
        .split(r.x, xo, xi, 8)
        .split(r.z, zo, zi, 8)
        .reorder(xi, r.y, zi, xo, zo)
        .vectorize(xi, 4)
        .parallel(zo);
  }
  k.output(c, {1, 1});
}

void trmm(Kernel &k) {
  const Expr m = k.size(0), n = k.size(1);
  Func a = k.input("a", {0, 0}), b0 = k.input("b", {1, 0});
  Func b("b");
  RDom r(0, m, 0, n, 0, m, "r");
  r.where(r.x > r.z);
  b(x, y) = b0(x, y);
  b(r.y, r.z) += a(r.z, r.x) * b(r.y, r.x);
  b(x, y) *= kAlpha;
  if (k.scheduled("columns")) {
    RVar o("o"), i("i");
    // A column needs nothing of another.
    b.update(0).split(r.y, o, i, 8).reorder(i, r.x, r.z, o).vectorize(i, 4).parallel(o);
    b.update(1).vectorize(x, 4, TailStrategy::GuardWithIf).parallel(y);
  }
  k.output(b, {1, 0});
}

}  // namespace

std::vector<Program> blas_programs() {
  return {
      {"gemm", {"tiled"}, {{5, 7, 9}, {16, 33, 20}}, Start::Any, gemm, plain::gemm},
      {"gemver", {"rows"}, {{5}, {37}}, Start::Any, gemver, plain::gemver},
      {"gesummv", {"factored"}, {{5}, {37}}, Start::Any, gesummv, plain::gesummv},
      {"symm", {"columns"}, {{5, 7}, {21, 18}}, Start::Any, symm, plain::symm},
      {"syr2k", {"rows", "vectors"}, {{5, 7}, {18, 21}}, Start::Any, syr2k, plain::syr2k},
      {"syrk", {"tiled"}, {{5, 7}, {18, 21}}, Start::Any, syrk, plain::syrk},
      {"trmm", {"columns"}, {{5, 7}, {18, 21}}, Start::Any, trmm, plain::trmm},
  };
}

}  // namespace polyhalite_apps
