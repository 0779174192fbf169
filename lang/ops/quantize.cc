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

}  // namespace polyhalite::ops
