// PolyBench's medley: deriche, floyd-warshall, nussinov.
#include <cmath>

#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_medley.h"
#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

// A recursive filter there and back along the first dimension, of `n`: what both give, added up.
Func there_and_back(Kernel &kernel, const std::string &name, const Func &in, const Expr &n,
                    const Expr &there0, const Expr &there1, const Expr &back1, const Expr &back2) {
  const Expr b1(plain::Deriche().b1), b2(plain::Deriche().b2);
  Func there(name + "_there"), back(name + "_back"), both(name);
  RDom r(0, n, "r");
  auto of = [](const Func &f, const Expr &at) {
    return select(at >= 0, f(max(at, 0), y), Expr(0.0));
  };
  there(x, y) = Expr(0.0);
  there(r, y) =
      there0 * in(r, y) + there1 * of(in, r - 1) + b1 * of(there, r - 1) + b2 * of(there, r - 2);
  // Position n - 1 - r.
  const Expr at = n - 1 - r;
  auto behind = [&](const Func &f, int by) {
    return select(at + by < n, f(min(at + by, n - 1), y), Expr(0.0));
  };
  back(x, y) = Expr(0.0);
  back(at, y) =
      back1 * behind(in, 1) + back2 * behind(in, 2) + b1 * behind(back, 1) + b2 * behind(back, 2);
  both(x, y) = there(x, y) + back(x, y);
  if (kernel.scheduled("vectors")) {
    // Lines are columns of the next filter: vectors of them run along together.
    both.compute_root()
        .split(y, yo, yi, 8, TailStrategy::GuardWithIf)
        .reorder(x, yi, yo)
        .parallel(yo);
    for (Func f : {there, back}) {
      f.compute_at(both, yo).reorder_storage(y, x);
      f.update().reorder(y, r).vectorize(y, 4, TailStrategy::GuardWithIf);
    }
  } else if (kernel.scheduled("none")) {
    both.compute_root();
    there.compute_root();
    back.compute_root();
  }
  return both;
}

void deriche(Kernel &kernel) {
  const Expr w = kernel.size(0), h = kernel.size(1);
  Func in = kernel.input("img", {1, 0}), turned("turned"), out("out");
  const plain::Deriche c;
  Func lines =
      there_and_back(kernel, "lines", in, h, Expr(c.a1), Expr(c.a2), Expr(c.a3), Expr(c.a4));
  turned(x, y) = lines(y, x);
  Func columns =
      there_and_back(kernel, "columns", turned, w, Expr(c.a5), Expr(c.a6), Expr(c.a7), Expr(c.a8));
  out(x, y) = columns(y, x);
  kernel.output(out, {1, 0});
}

void floyd_warshall(Kernel &kernel) {
  const Expr n = kernel.size(0);
  Func path0 = kernel.input("path", {0, 0}), path("out");
  RDom r(0, n, 0, n, 0, n, "r");
  RVar j = r.x, i = r.y, k = r.z;
  // No path becomes shorter by a detour to its own end.
  if (!kernel.scheduled("none")) r.where(i != k && j != k);
  path(x, y) = path0(x, y);
  path(j, i) = min(path(j, i), path(k, i) + path(j, k));
  if (kernel.scheduled("parallel")) path.update().vectorize(j, register_tile().lanes).parallel(i);
  kernel.output(path, {0, 0});
}

void nussinov(Kernel &kernel) {
  const Expr n = kernel.size(0);
  Func seq = kernel.input("seq", {0}), table("table"), out("out");
  auto base = [&](const Expr &at) { return cast<int>(seq(at) * Expr(4.0)); };
  RDom r(0, n, 0, n, 0, n, "r");
  RVar k = r.x, j = r.y;
  const Expr i = n - 1 - r.z;
  r.where(i <= k && k < j);
  const Expr pair = select(i < j - 1 && base(i) + base(j) == 3, 1, 0);
  table(x, y) = 0;
  // Ends that pair, or two parts: of one base, or none, where an end is left out.
  table(j, i) = max(table(j, i), select(k == i, table(j - 1, min(i + 1, n - 1)) + pair, 0),
                    table(k, i) + table(j, min(k + 1, n - 1)));
  out(x, y) = cast<double>(table(x, y));
  table.compute_root();
  if (kernel.scheduled("diagonals")) {
    // Intervals of one length need shorter ones only.
    RVar d("d");
    table.update().skew(j, r.z, d, 1).reorder(k, r.z, d).parallel(r.z);
  }
  if (kernel.scheduled("rows")) {
    RVar jo("jo"), ji("ji");
    const int lanes = 2 * register_tile().lanes;
    table.update()
        .split(j, jo, ji, 4 * lanes)
        .reorder(ji, k, jo, r.z)
        .vectorize(ji, lanes)
        .unroll(ji);
  }
  kernel.output(out, {0, 0});
}

}  // namespace

std::vector<Program> medley_programs() {
  return {
      {"deriche", {"vectors"}, {{5, 7}, {38, 21}}, Start::Any, deriche, plain::deriche},
      {"floyd-warshall",
       {"parallel"},
       {{5}, {23}},
       Start::Any,
       floyd_warshall,
       plain::floyd_warshall},
      {"nussinov", {"diagonals", "rows"}, {{5}, {150}}, Start::Any, nussinov, plain::nussinov},
  };
}

}  // namespace polyhalite_apps
