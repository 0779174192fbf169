// Softmax and normalisations: statistics along axes, then a pass over the values.
#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

Tensor squared(const Tensor &x) {
  return elementwise(x, [](Expr v) { return v * v; });
}

// 1 / sqrt(x + epsilon)
Tensor inverse_root(const Tensor &x, float epsilon) {
  return elementwise(x, [epsilon](Expr v) {
    return cast(v.type(), Expr(1)) / sqrt(v + cast(v.type(), Expr(epsilon)));
  });
}

}  // namespace

Tensor softmax(const Tensor &x, const std::vector<int> &axes) {
  const Tensor wide = convert(x, computed_type(x.type()));
  const Tensor peak = reduce(wide, Reduction::Max, axes, true);
  const Tensor scaled =
      held(elementwise({wide, peak}, wide.type(),
                       [](const std::vector<Expr> &v) { return exp(v[0] - v[1]); }),
           "scaled", Stage::Row);
  const Tensor total = reduce(scaled, Reduction::Sum, axes, true);
  const Tensor share = elementwise(total, [](Expr v) { return cast(v.type(), Expr(1)) / v; });
  return convert(multiply(scaled, share), x.type());
}

Tensor log_softmax(const Tensor &x, const std::vector<int> &axes) {
  const Tensor wide = convert(x, computed_type(x.type()));
  return convert(subtract(wide, reduce(wide, Reduction::LogSumExp, axes, true)), x.type());
}

Tensor normalize(const Tensor &x, const std::vector<int> &axes, float epsilon, Tensor *mean,
                 Tensor *inverse) {
  const Tensor wide = convert(x, computed_type(x.type()));
  const Tensor centre = reduce(wide, Reduction::Mean, axes, true);
  const Tensor distance = subtract(wide, centre);
  const Tensor scale =
      inverse_root(reduce(squared(distance), Reduction::Mean, axes, true), epsilon);
  if (mean) *mean = centre;
  if (inverse) *inverse = scale;
  return convert(multiply(distance, scale), x.type());
}

Tensor rms_normalize(const Tensor &x, const std::vector<int> &axes, float epsilon) {
  const Tensor wide = convert(x, computed_type(x.type()));
  const Tensor scale = inverse_root(reduce(squared(wide), Reduction::Mean, axes, true), epsilon);
  return convert(multiply(wide, scale), x.type());
}

}  // namespace polyhalite::ops
