// PolyBench's linear-algebra/solvers: cholesky, durbin, gramschmidt, lu, ludcmp, trisolv.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_solvers.h"
#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

Var x("x"), y("y"), p("p");

// Tiles of a factorization's steps k, rows and columns: those that have no phase but the last stay
// in registers.
void tile_steps(Stage update, const RVar &column, const RVar &row, const RVar &phase,
                const RVar &k) {
  constexpr int kSteps = 8;
  const Tile tile = register_tile();
  RVar ko("ko"), ki("ki"), ro("ro"), ri("ri"), co("co"), ci("ci");
  update.split(k, ko, ki, kSteps)
      .split(row, ro, ri, kSteps)
      .split(column, co, ci, tile.columns())
      .reorder(ci, ri, phase, ki, co, ro, ko)
      .unroll(phase)
      .unroll(ri)
      .vectorize(ci, tile.lanes)
      .unroll(ci);
}

// In rows of the transposed array, so that a step's cells lie side by side. Phases: the diagonal's
// root, its column by it, and what follows without their product.
void cholesky(Kernel &kernel) {
  const Expr n = kernel.size(0);
  Func a0 = kernel.input("a", {0, 0}), a("a"), out("out");
  RDom r(0, n, 0, n, 0, 3, 0, n, "r");
  RVar i = r.x, j = r.y, phase = r.z, k = r.w;
  r.where(k <= j && j <= i);
  r.where(select(phase<2, j <= k, j> k) && select(phase == 0, i <= k, i > k));
  a(x, y) = a0(y, x);
  a(i, j) = mux(phase, {sqrt(a(i, j)), a(i, j) / a(k, k), a(i, j) - a(i, k) * a(j, k)});
  out(x, y) = select(x <= y, a(y, x), a0(x, y));
  a.compute_root().bound(x, 0, n).bound(y, 0, n);
  out.bound(x, 0, n).bound(y, 0, n);
  if (kernel.scheduled("rows")) a.update().unroll(phase).vectorize(i, register_tile().lanes);
  if (kernel.scheduled("tiled")) tile_steps(a.update(), i, j, phase, k);
  kernel.output(out, {0, 0});
}

// As durbin, with partial sums that vectors run along; further phases add them up.
void durbin_in_vectors(Kernel &kernel) {
  constexpr int kParts = 8;
  const Expr n = kernel.size(0);
  Func r0 = kernel.input("r", {0});
  // Planes: coefficients, new ones, partial sums, scalars.
  enum { kCoefficients, kNew, kSums, kScalars };
  Func s("s"), out("y");
  const Expr blocks = (n + kParts - 1) / kParts + 1;
  RDom r(0, kParts, 0, blocks, 0, 9, 1, n - 1, "r");
  RVar part = r.x, block = r.y, phase = r.z, k = r.w;
  const Expr i = block * kParts + part;
  r.where(i <= mux(phase, {kParts - 1, k - 1, 3, 1, 0, 0, 0, k - 1, k}));
  s(x, p) = select(p == kScalars, select(x == 1, Expr(1.0), -r0(0)), -r0(0));
  const Expr alpha = s(0, kScalars), beta = s(1, kScalars), sum = s(0, kSums);
  const Expr mirrored = max(likely(k - 1 - i), 0);
  auto added = [&](int by) { return s(i, kSums) + s(i + by, kSums); };
  s(mux(phase, {i, part, i, i, i, 1, 0, i, i}),
    mux(phase, {kSums, kSums, kSums, kSums, kSums, kScalars, kScalars, kNew, kCoefficients})) =
      mux(phase, {Expr(0.0), s(part, kSums) + r0(mirrored) * s(i, kCoefficients), added(4),
                  added(2), added(1), (Expr(1.0) - alpha * alpha) * beta, -(r0(k) + sum) / beta,
                  s(i, kCoefficients) + alpha * s(mirrored, kCoefficients),
                  select(i == k, alpha, s(i, kNew))});
  out(x) = s(x, kCoefficients);
  s.compute_root().bound(x, 0, blocks * kParts).bound(p, 0, 4);
  s.update().unroll(phase).vectorize(part);
  kernel.output(out, {0});
}

// The steps that PolyBench takes for each k are phases of one update: the scalars beta and alpha, a
// sum between them, the new coefficients beside the old ones, and in their place.
void durbin(Kernel &kernel) {
  if (kernel.scheduled("vectors")) return durbin_in_vectors(kernel);
  const Expr n = kernel.size(0);
  Func r0 = kernel.input("r", {0});
  // Planes: coefficients, new ones, scalars.
  enum { kCoefficients, kNew, kScalars };
  Func s("s"), out("y");
  RDom r(0, n, 0, 5, 1, n - 1, "r");
  RVar i = r.x, phase = r.y, k = r.z;
  r.where(i <= mux(phase, {0, k - 1, 0, k - 1, k}));
  s(x, p) = select(p == kScalars, select(x == 1, Expr(1.0), -r0(0)), -r0(0));
  const Expr alpha = s(0, kScalars), beta = s(1, kScalars), sum = s(2, kScalars);
  s(mux(phase, {1, 2, 0, i, i}), mux(phase, {kScalars, kScalars, kScalars, kNew, kCoefficients})) =
      mux(phase,
          {(Expr(1.0) - alpha * alpha) * beta,
           select(i == 0, Expr(0.0), sum) + r0(max(k - 1 - i, 0)) * s(i, kCoefficients),
           -(r0(k) + sum) / beta, s(i, kCoefficients) + alpha * s(max(k - 1 - i, 0), kCoefficients),
           select(i == k, alpha, s(i, kNew))});
  out(x) = s(x, kCoefficients);
  s.compute_root();
  s.bound(p, 0, 3);
  if (kernel.scheduled("phases")) s.update().unroll(phase);
  kernel.output(out, {0});
}

// Column by column: its norm, the column of q, what of it is in the columns behind, and without it.
void gramschmidt(Kernel &kernel) {
  const Expr m = kernel.size(0), n = kernel.size(1);
  Func a0 = kernel.input("a", {1, 0});
  enum { kRest, kQ, kR };
  Func s("s"), q("q"), left("r");
  RDom d(0, m, 0, n, 0, 5, 0, n, "d");
  RVar i = d.x, j = d.y, phase = d.z, k = d.w;
  d.where(select(phase < 3, j == k, j > k) && (phase != 1 || i == 0));
  s(x, y, p) = select(p == kRest && y < m, a0(x, min(y, m - 1)), Expr(0.0));
  s(j, mux(phase, {k, k, i, k, i}), mux(phase, {kR, kR, kQ, kR, kRest})) =
      mux(phase, {s(j, k, kR) + s(k, i, kRest) * s(k, i, kRest), sqrt(s(k, k, kR)),
                  s(k, i, kRest) / s(k, k, kR), s(j, k, kR) + s(k, i, kQ) * s(j, i, kRest),
                  s(j, i, kRest) - s(k, i, kQ) * s(j, k, kR)});
  q(x, y) = s(x, y, kQ);
  left(x, y) = s(x, y, kR);
  s.compute_root();
  if (kernel.scheduled("phases")) s.update().unroll(phase);
  if (kernel.scheduled("columns")) {
    s.update().reorder(j, i, phase, k).unroll(phase).vectorize(j, register_tile().lanes);
  }
  kernel.output(q, {1, 0});
  kernel.output(left, {1, 1});
}

// a(j, i) of the factors, in the place of the array. Phases: the column by the diagonal, and what
// follows without the product of it and the row.
Func factors(Kernel &kernel, const Func &a0, const Expr &n) {
  Func a("factors");
  RDom r(0, n, 0, 2, 0, n, 0, n, "r");
  RVar j = r.x, phase = r.y, i = r.z, k = r.w;
  r.where(k < i && k <= j && select(phase == 0, j <= k, j > k));
  a(x, y) = a0(x, y);
  a(j, i) = mux(phase, {a(j, i) / a(j, j), a(j, i) - a(k, i) * a(j, k)});
  a.bound(x, 0, n).bound(y, 0, n);
  if (kernel.scheduled("right looking")) {
    a.update().unroll(phase).vectorize(j, register_tile().lanes).parallel(i);
  }
  if (kernel.scheduled("tiled")) tile_steps(a.update(), j, i, phase, k);
  return a;
}

void lu(Kernel &kernel) {
  Func a = factors(kernel, kernel.input("a", {0, 0}), kernel.size(0));
  kernel.output(a, {0, 0});
}

void ludcmp(Kernel &kernel) {
  const Expr n = kernel.size(0);
  Func a0 = kernel.input("a", {0, 0}), b = kernel.input("b", {0});
  Func a = factors(kernel, a0, n), forward("forward"), back("x");
  a.compute_root();
  RDom r(0, n, 0, n, "r"), s(0, n, 0, n, "s");
  r.where(r.x < r.y);
  forward(x) = b(x);
  forward(r.y) -= a(r.x, r.y) * forward(r.x);
  const Expr i = n - 1 - s.y, j = n - 1 - s.x;
  s.where(s.x <= s.y);
  back(x) = forward(x);
  back(i) = select(j == i, back(i) / a(i, i), back(i) - a(j, i) * back(j));
  forward.compute_root();
  kernel.output(back, {0});
}

void trisolv(Kernel &kernel) {
  const Expr n = kernel.size(0);
  Func l = kernel.input("l", {0, 0}), b = kernel.input("b", {0});
  Func out("x");
  RDom r(0, n, 0, n, "r");
  RVar j = r.x, i = r.y;
  r.where(j <= i);
  out(x) = b(x);
  out(i) = select(j == i, out(i) / l(i, i), out(i) - l(j, i) * out(j));
  if (kernel.scheduled("columns")) out.update().reorder(i, j);
  kernel.output(out, {0});
}

}  // namespace

std::vector<Program> solver_programs() {
  return {
      {"cholesky", {"rows", "tiled"}, {{7}, {53}}, Start::Symmetric, cholesky, plain::cholesky},
      {"durbin", {"phases", "vectors"}, {{7}, {29}}, Start::Small, durbin, plain::durbin},
      {"gramschmidt",
       {"phases", "columns"},
       {{7, 5}, {29, 18}},
       Start::Dominant,
       gramschmidt,
       plain::gramschmidt},
      {"lu", {"right looking", "tiled"}, {{7}, {53}}, Start::Dominant, lu, plain::lu},
      {"ludcmp", {"right looking", "tiled"}, {{7}, {53}}, Start::Dominant, ludcmp, plain::ludcmp},
      {"trisolv", {"columns"}, {{7}, {29}}, Start::Dominant, trisolv, plain::trisolv},
  };
}

}  // namespace polyhalite_apps
