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

std::vector<int> axes_between(int first, int end) {
  std::vector<int> axes;
  for (int d = first; d < end; d++) axes.push_back(d);
  return axes;
}

// v in this shape, with dimensions of size 1 behind.
Tensor with_ones(const Tensor &v, Index shape, int count) {
  for (int d = 0; d < count; d++) shape.emplace_back(1);
  return reshape(v, shape);
}

// x[image, channel, ...], channels side by side, summed over all pixels: [image, channel, 1...].
// Rows first, so that those of one image are summed by several threads.
Tensor sum_of_pixels(const Tensor &x) {
  std::vector<int> channels_last{0};
  for (int d = 2; d < x.rank(); d++) channels_last.push_back(d);
  channels_last.push_back(1);
  Tensor sums = transpose(x, channels_last);
  if (x.rank() > 3) sums = reduce(sums, Reduction::Sum, axes_between(2, x.rank() - 1), false);
  return with_ones(reduce(sums, Reduction::Sum, {1}, false), {x.size(0), x.size(1)}, x.rank() - 2);
}

// The mean of what these sums are of over each group of channels, for each channel.
Tensor mean_of_groups(const Tensor &sums, int groups, const Expr &pixels) {
  const Type type = sums.type();
  if (groups == 0) return stored(divide(sums, Tensor(cast(type, pixels))), "mean");
  const Expr size = sums.size(1) / groups;
  const Tensor total =
      reduce(reshape(sums, {sums.size(0), groups, size}), Reduction::Sum, {2}, false);
  const Expr count = cast(type, pixels) * cast(type, size);
  const Tensor mean(
      type, sums.shape(),
      [total, size, count](const Index &at) { return total({at[0], at[1] / size}) / count; },
      total.detached_stages());
  return stored(mean, "mean");
}

// exp(x) over its sum; of a row of -inf, where that may be, 0.
Tensor shares(const Tensor &x, const std::vector<int> &axes, bool may_be_nothing) {
  const Tensor wide = convert(x, computed_type(x.type()));
  Tensor peak = reduce(wide, Reduction::Max, axes, true);
  if (may_be_nothing) peak = elementwise(peak, number_below);
  const Tensor scaled =
      held(elementwise({wide, peak}, wide.type(),
                       [](const std::vector<Expr> &v) { return exp_of_nonpositive(v[0] - v[1]); }),
           "scaled", Stage::Row);
  const Tensor total = reduce(scaled, Reduction::Sum, axes, true);
  const Tensor share = elementwise(total, [may_be_nothing](Expr v) {
    return cast(v.type(), Expr(1)) / (may_be_nothing ? above_zero(v) : v);
  });
  return convert(multiply(scaled, share), x.type());
}

}  // namespace

Tensor softmax(const Tensor &x, const std::vector<int> &axes) {
  return shares(x, axes, /*may_be_nothing=*/false);
}

Tensor softmax_or_zero(const Tensor &x, const std::vector<int> &axes) {
  return shares(x, axes, /*may_be_nothing=*/true);
}

Tensor log_softmax(const Tensor &x, const std::vector<int> &axes) {
  const Tensor wide = convert(x, computed_type(x.type()));
  const Tensor below = subtract(wide, reduce(wide, Reduction::Max, axes, true));
  const Tensor total = reduce(elementwise(below, exp_of_nonpositive), Reduction::Sum, axes, true);
  return convert(subtract(below, elementwise(total, [](Expr v) { return log(v); })), x.type());
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

Tensor normalize_channels(const Tensor &x, int groups, const Tensor &scale, const Tensor &bias,
                          float epsilon) {
  const Tensor wide = convert(x, computed_type(x.type()));
  if (channels_are_together(x)) {
    Expr pixels = 1;
    for (int d = 2; d < x.rank(); d++) pixels = pixels * x.size(d);
    const auto of_channels = [&](const Tensor &v) {
      return with_ones(convert(v, wide.type()), {v.size(0)}, x.rank() - 2);
    };
    const Tensor distance = subtract(wide, mean_of_groups(sum_of_pixels(wide), groups, pixels));
    const Tensor variance = mean_of_groups(sum_of_pixels(squared(distance)), groups, pixels);
    const Tensor factor = multiply(inverse_root(variance, epsilon), of_channels(scale));
    const Tensor scaled = multiply(distance, stored(factor, "factor"));
    return convert(add(scaled, of_channels(bias)), x.type());
  }
  // Each group is a row, which the caches hold until it is done.
  const Expr size = groups == 0 ? Expr(1) : x.size(1) / groups;
  const Expr count = groups == 0 ? x.size(1) : Expr(groups);
  Index grouped{x.size(0), count, size};
  for (int d = 2; d < x.rank(); d++) grouped.push_back(x.size(d));
  const auto of_channels = [&](const Tensor &v) {
    return with_ones(convert(v, wide.type()), {count, size}, x.rank() - 2);
  };
  const Tensor normal = normalize(reshape(wide, grouped), axes_between(2, x.rank() + 1), epsilon);
  const Tensor y = add(multiply(normal, of_channels(scale)), of_channels(bias));
  return convert(reshape(y, x.shape()), x.type());
}

Tensor rms_normalize(const Tensor &x, const std::vector<int> &axes, float epsilon) {
  const Tensor wide = convert(x, computed_type(x.type()));
  const Tensor scale = inverse_root(reduce(squared(wide), Reduction::Mean, axes, true), epsilon);
  return convert(multiply(wide, scale), x.type());
}

}  // namespace polyhalite::ops
