// PolyBench's datamining: correlation, covariance.
#include "apps/polybench/kernel.h"
#include "apps/polybench/plain_data_mining.h"
#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi");

// sum over the rows of centred(x) * centred(y) above the diagonal and on it, mirrored.
Func products(Kernel &kernel, Func centred, const Expr &m, const Expr &n) {
  Func half("half"), both("both");
  RDom r(0, n, 0, m, 0, m, "r");
  RVar k = r.x, j = r.y, i = r.z;
  r.where(i <= j);
  half(x, y) = Expr(0.0);
  half(j, i) += centred(i, k) * centred(j, k);
  both(x, y) = half(max(x, y), min(x, y));
  half.compute_root();
  if (kernel.scheduled("tiled")) {
    const Tile tile = register_tile();
    RVar io("io"), ii("ii"), jo("jo"), ji("ji");
    centred.vectorize(x, tile.lanes, TailStrategy::GuardWithIf).parallel(y);
    half.vectorize(x, tile.lanes, TailStrategy::GuardWithIf);
    half.update()
        .split(i, io, ii, tile.rows)
        .split(j, jo, ji, tile.columns())
        .reorder(ji, ii, k, io, jo)
        .vectorize(ji, tile.lanes)
        .unroll(ji)
        .unroll(ii)
        .parallel(jo);
  }
  return both;
}

Func means(const Func &data, const Expr &n) {
  Func sum("sum"), mean("mean");
  RDom r(0, n, "r");
  sum(x) += data(x, r);
  mean(x) = sum(x) / cast<double>(n);
  sum.compute_root();
  mean.compute_root();
  return mean;
}

void covariance(Kernel &kernel) {
  const Expr m = kernel.size(0), n = kernel.size(1);
  Func data = kernel.input("data", {0, 1}), mean = means(data, n), centred("centred"), out("cov");
  centred(x, y) = data(x, y) - mean(x);
  centred.compute_root();
  out(x, y) = products(kernel, centred, m, n)(x, y) / cast<double>(n - 1);
  kernel.output(out, {0, 0});
}

void correlation(Kernel &kernel) {
  const Expr m = kernel.size(0), n = kernel.size(1);
  Func data = kernel.input("data", {0, 1}), mean = means(data, n), square("square"),
       deviation("deviation"), centred("centred"), out("corr");
  RDom r(0, n, "r");
  square(x) += (data(x, r) - mean(x)) * (data(x, r) - mean(x));
  const Expr root = sqrt(square(x) / cast<double>(n));
  deviation(x) = select(root <= Expr(0.1), Expr(1.0), root);
  centred(x, y) = (data(x, y) - mean(x)) / (sqrt(cast<double>(n)) * deviation(x));
  square.compute_root();
  deviation.compute_root();
  centred.compute_root();
  out(x, y) = select(x == y, Expr(1.0), products(kernel, centred, m, n)(x, y));
  kernel.output(out, {0, 0});
}

}  // namespace

std::vector<Program> data_mining_programs() {
  return {
      {"correlation", {"tiled"}, {{5, 7}, {45, 34}}, Start::Any, correlation, plain::correlation},
      {"covariance", {"tiled"}, {{5, 7}, {45, 34}}, Start::Any, covariance, plain::covariance},
  };
}

}  // namespace polyhalite_apps
