// Quantised forms.
#include "lang/ops/common.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

Tensor quantize(const Tensor &x, const Tensor &scale, const Tensor &zero_point, Type type) {
  return elementwise({x, scale, zero_point}, type, [type](const std::vector<Expr> &v) {
    const Expr steps = round(cast<float>(v[0]) / cast<float>(v[1])) + cast<float>(v[2]);
    return cast(type, clamp(steps, cast<float>(type.min()), cast<float>(type.max())));
  });
}

Tensor dequantize(const Tensor &x, const Tensor &scale, const Tensor &zero_point, Type type) {
  return elementwise({x, scale, zero_point}, type, [type](const std::vector<Expr> &v) {
    const Expr steps = v[0].type().is_float() ? v[0] - cast(v[0].type(), v[2])
                                              : cast<int32_t>(v[0]) - cast<int32_t>(v[2]);
    return cast(computed_type(type), steps) * cast(computed_type(type), v[1]);
  });
}

// sum (a - p)(b - q)  =  sum ab - q * sum a - p * sum b + depth * p * q
Tensor quantized_matmul(const Tensor &a, const Tensor &a_point, const Tensor &b,
                        const Tensor &b_point) {
  const Tensor product = matmul(a, b, Int(32));
  const Tensor none(Expr(0));
  const bool has_a = a_point.defined(), has_b = b_point.defined();
  if (!has_a && !has_b) return product;
  const Tensor p = has_a ? convert(a_point, Int(32)) : none;
  const Tensor q = has_b ? convert(b_point, Int(32)) : none;
  auto sums = [](const Tensor &t, int axis) {
    return reduce(convert(t, Int(32)), Reduction::Sum, {axis}, true);
  };
  const Tensor rows = has_b ? sums(a, a.rank() - 1) : none;
  const Tensor columns = has_a ? sums(b, b.rank() - 2) : none;
  const Expr depth = a.size(-1);
  return elementwise({product, p, q, rows, columns}, Int(32),
                     [depth, has_a, has_b](const std::vector<Expr> &v) {
                       Expr sum = v[0];
                       if (has_b) sum -= v[2] * v[3];
                       if (has_a) sum -= v[1] * (has_b ? v[4] - depth * v[2] : v[4]);
                       return sum;
                     });
}

}  // namespace polyhalite::ops
