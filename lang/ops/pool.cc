// Pooling: a reduction over windows of the spatial dimensions.
#include <algorithm>

#include "lang/ops/common.h"
#include "polyhalite/operators.h"
#include "polyhalite/tuple.h"

namespace polyhalite::ops {

namespace {

// The pixel of x that a window's cell stands for, clamped to x, and whether it lies in x.
struct Pixel {
  Index at;
  Expr inside;  // undefined: always

  Pixel(const Tensor &x, const Window &window, const Index &point, const RDom &r)
      : at{point[0], point[1]} {
    for (size_t i = 0; i < window.kernel.size(); i++) {
      const Expr n = x.size(static_cast<int>(i) + 2);
      const Expr cell = r[static_cast<int>(window.kernel.size() - 1 - i)];
      const Expr p = point[i + 2] * window.stride[i] - window.before[i] + cell * window.dilation[i];
      const auto size = constant(n);
      const auto shape = constant(window.shape[i]);
      const int64_t end = shape ? (*shape - 1) * window.stride[i] - window.before[i] +
                                      int64_t{window.kernel[i] - 1} * window.dilation[i]
                                : 0;
      if (window.before[i] == 0 && size && shape && end < *size) {
        at.push_back(p);
        continue;
      }
      const Expr in = p >= 0 && p < n;
      inside = inside.defined() ? inside && in : in;
      // Loops are cut where windows leave x.
      at.push_back(clamp(likely(p), 0, n - 1));
    }
  }
};

RDom cells(const Window &window) {
  Region region;
  for (size_t i = window.kernel.size(); i-- > 0;) {
    region.emplace_back(Expr(0), Expr(window.kernel[i]));
  }
  return RDom(region, "w");
}

Index pooled_shape(const Tensor &x, const Window &window) {
  Index shape{x.size(0), x.size(1)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  return shape;
}

// How many cells of each window lie in x, or in x and `after` elements of padding behind it.
Expr count(const Tensor &x, const Window &window, const Index &point, bool padding,
           const std::vector<int> &after) {
  Expr product = 1;
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const int dilation = window.dilation[i];
    const Expr start = point[i + 2] * window.stride[i] - window.before[i];
    const Expr first = padding ? Expr(-window.before[i]) : Expr(0);
    const Expr end = x.size(static_cast<int>(i) + 2) + (padding ? after[i] : 0);
    const Expr low = max((first - start + (dilation - 1)) / dilation, 0);
    const Expr high = min((end - 1 - start) / dilation, window.kernel[i] - 1);
    product = product * max(high - low + 1, 0);
  }
  return product;
}

// Is all of x's images under one window?
bool covers(const Tensor &x, const Window &window) {
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const auto size = constant(x.size(static_cast<int>(i) + 2));
    if (!is_one(window.shape[i]) || window.before[i] != 0 || window.dilation[i] != 1) return false;
    if (size != window.kernel[i]) return false;
  }
  return true;
}

// The reduction of whole images, whose pixels are then one long row.
Tensor pool_images(const Tensor &x, Pooling how) {
  Expr pixels = 1;
  Index kept{x.size(0), x.size(1)};
  for (int d = 2; d < x.rank(); d++) {
    pixels = pixels * x.size(d);
    kept.emplace_back(1);
  }
  const Tensor rows = reshape(x, {x.size(0), x.size(1), pixels});
  const auto reduction = how == Pooling::Max ? Reduction::Max : Reduction::Mean;
  return reshape(reduce(rows, reduction, {2}, false), kept);
}

Stage own_stage(const Func &f, const Index &shape) {
  Stage s;
  s.kind = Stage::Window;
  s.func = f;
  s.extents = reversed(shape);
  s.dims = reversed_dims(static_cast<int>(shape.size()));
  return s;
}

}  // namespace

Tensor pool(const Tensor &x, const Window &window, Pooling how, const std::vector<int> &after,
            int p) {
  if (how != Pooling::Norm && x.type().is_float() && covers(x, window)) return pool_images(x, how);
  const Type type = computed_type(x.type());
  const Index shape = pooled_shape(x, window);
  const std::vector<Var> vars = index_vars(static_cast<int>(shape.size())), args = reversed(vars);
  const Index point = as_index(vars);
  const RDom r = cells(window);
  const Pixel pixel(x, window, point, r);
  const Expr identity = how == Pooling::Max ? type.min() : cast(type, Expr(0));
  Expr value = cast(type, x(pixel.at));
  if (how == Pooling::Norm) {
    value = p == 1 ? abs(value) : p == 2 ? value * value : pow(abs(value), cast(type, Expr(p)));
  }
  if (pixel.inside.defined()) value = select(!pixel.inside, identity, likely(value));
  Func f("pooled");
  f(args) = identity;
  if (how == Pooling::Max) {
    f(args) = max(f(args), value);
  } else {
    f(args) += value;
  }
  Stage windows = own_stage(f, shape);
  for (size_t i = 0; i < window.kernel.size(); i++) windows.rvars.push_back(r[static_cast<int>(i)]);
  const Tensor total = tensor_of(f, type, shape, windows, merged_stages({x}));
  if (how == Pooling::Max) return convert(total, x.type());
  if (how == Pooling::Norm) {
    return convert(
        elementwise(total,
                    [p](Expr v) {
                      return p == 1 ? v : p == 2 ? sqrt(v) : pow(v, cast(v.type(), Expr(1.0 / p)));
                    }),
        x.type());
  }
  const bool padding = how == Pooling::AverageWithPadding;
  const Tensor counts(type, shape, [=](const Index &index) {
    return cast(type, count(x, window, index, padding, after));
  });
  return convert(divide(total, counts), x.type());
}

Tensor max_pool_positions(const Tensor &x, const Window &window, bool column_major) {
  const Type type = computed_type(x.type());
  const Index shape = pooled_shape(x, window);
  const std::vector<Var> vars = index_vars(static_cast<int>(shape.size())), args = reversed(vars);
  const RDom r = cells(window);
  const Pixel pixel(x, window, as_index(vars), r);
  std::vector<size_t> order;
  for (size_t d = 0; d < pixel.at.size(); d++) order.push_back(d);
  if (column_major) std::reverse(order.begin() + 2, order.end());
  Expr flat = 0;
  for (size_t d : order) flat = flat * x.shape()[d] + pixel.at[d];
  const Expr v = cast(type, x(pixel.at));
  Func f("highest");
  f(args) = Tuple(Expr(0), type.min());
  Expr better = v > f(args)[1];
  if (pixel.inside.defined()) better = better && pixel.inside;
  f(args) = Tuple(select(better, flat, f(args)[0]), select(better, v, f(args)[1]));
  std::vector<Stage> stages = merged_stages({x});
  stages.push_back(own_stage(f, shape));
  return Tensor(
      Int(64), shape, [f](const Index &index) { return cast<int64_t>(f(reversed(index))[0]); },
      stages);
}

}  // namespace polyhalite::ops
