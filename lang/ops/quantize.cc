// Quantised forms.
#include "lang/ir/node.h"
#include "lang/ops/common.h"
#include "lang/ops/product_operands.h"
#include "polyhalite/error.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

// Limits are exact, so that it is the same to round what is limited, and rounding may be that of a
// conversion.
Expr point::saturated(const Expr &steps, const Expr &zero_point, Type type) {
  const Expr zero = cast<float>(zero_point);
  const Expr whole =
      round(clamp(steps, cast<float>(type.min()) - zero, cast<float>(type.max()) - zero));
  return cast(type, cast<int32_t>(whole) + cast<int32_t>(zero_point));
}

Tensor quantize(const Tensor &x, const Tensor &scale, const Tensor &zero_point, Type type) {
  return elementwise({x, scale, zero_point}, type, [type](const std::vector<Expr> &v) {
    return point::saturated(cast<float>(v[0]) / cast<float>(v[1]), v[2], type);
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
                        const Tensor &b_point, const Tensor &column_sums) {
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
  const Tensor columns = column_sums.defined() ? column_sums : has_a ? sums(b, b.rank() - 2) : none;
  const Expr depth = a.size(-1);
  return elementwise({product, p, q, rows, columns}, Int(32),
                     [depth, has_a, has_b](const std::vector<Expr> &v) {
                       Expr sum = v[0];
                       if (has_b) sum -= v[2] * v[3];
                       if (has_a) sum -= v[1] * (has_b ? v[4] - depth * v[2] : v[4]);
                       return sum;
                     });
}

namespace {

constexpr int kDot = 4;  // terms of a dot product

int whole_dots(int64_t channels) { return static_cast<int>((channels + kDot - 1) / kDot * kDot); }

// x[image, channel, ...], or kernels, with zeros behind the channels, which then are whole dot
// products.
Tensor with_whole_dots(const Tensor &x) {
  const int channels = static_cast<int>(*constant(x.size(1)));
  if (channels % kDot == 0) return x;
  Index shape = x.shape();
  shape[1] = whole_dots(channels);
  auto element = [x, channels](const Index &at) {
    Index from = at;
    from[1] = clamp(at[1], 0, channels - 1);
    return select(at[1] < channels, x(from), cast(x.type(), Expr(0)));
  };
  return Tensor(x.type(), shape, element, x.detached_stages());
}

// w[result, channel, cell...] as packed_kernels() wants it.
Tensor dot_kernels(const Tensor &given, int groups) {
  const Tensor w = with_whole_dots(given);
  const int results = static_cast<int>(*constant(w.size(0))) / groups;
  const int blocks = static_cast<int>(*constant(w.size(1))) / kDot;
  Index shape{groups};
  for (int d = 2; d < w.rank(); d++) shape.push_back(w.size(d));
  for (const int n : {blocks, results, kDot}) shape.emplace_back(n);
  auto kernel = [w, results](const Index &at) {
    const size_t block = at.size() - 3;
    Index from{at[0] * results + at[block + 1], at[block] * kDot + at[block + 2]};
    from.insert(from.end(), at.begin() + 1, at.begin() + static_cast<ptrdiff_t>(block));
    return w(from);
  };
  return packed_kernels(stored(Tensor(w.type(), shape, kernel, w.detached_stages()), "kernels"));
}

bool is_laid_out(const Tensor &w) {
  const std::vector<Var> vars = index_vars(w.rank());
  return lies_in_dots(w(as_index(vars)), vars[1].name(), kDot);
}

Tensor sums_of_kernels(const Tensor &w) {
  std::vector<int> cells;
  for (int d = 1; d < w.rank(); d++) cells.push_back(d);
  return reduce(convert(w, Int(32)), Reduction::Sum, cells, false);
}

}  // namespace

Tensor packed_kernels(const Tensor &packed) {
  constexpr int kLeastRank = 5;  // with one dimension of cells
  const auto blocks = constant(packed.rank() < kLeastRank ? Expr() : packed.size(-3));
  const auto results = constant(packed.rank() < kLeastRank ? Expr() : packed.size(-2));
  if (!blocks || !results || constant(packed.size(0)).value_or(0) < 1 ||
      constant(packed.size(-1)) != kDot) {
    user_error("packed kernels have rank " + std::to_string(packed.rank()) + " or an open size",
               "they are packed[group, cell.., channel / 4, result, channel % 4], of known sizes",
               "lay them out so");
  }
  const int width = static_cast<int>(*results);
  Index shape{static_cast<int>(*constant(packed.size(0))) * width,
              static_cast<int>(*blocks) * kDot};
  for (int d = 1; d < packed.rank() - 3; d++) shape.push_back(packed.size(d));
  auto kernel = [packed, width](const Index &at) {
    Index from{at[0] / width};
    from.insert(from.end(), at.begin() + 2, at.end());
    from.insert(from.end(), {at[1] / kDot, at[0] % width, at[1] % kDot});
    return packed(from);
  };
  return Tensor(packed.type(), shape, kernel, packed.detached_stages());
}

namespace {

// Do x's channels lie side by side in what it reads?
bool channels_are_innermost(const Tensor &x) {
  const std::vector<Var> vars = index_vars(x.rank());
  const Expr value = x(as_index(vars));
  const CallNode *call = as_call(value);
  if (!call || (call->kind != CallKind::Func && call->kind != CallKind::Image)) return false;
  const VariableNode *first = call->args.empty() ? nullptr : as_variable(call->args[0]);
  return first && first->name == vars[1].name();
}

// sum (x - p) w  =  sum x w - p * sum w, with p around x
Tensor direct(const Tensor &x, const Tensor &x_point, const Tensor &w, const Window &window,
              int groups, const Tensor &kernel_sums) {
  const bool depthwise = is_one(w.size(1)) && constant(w.size(0)) == groups;
  const bool few = groups == 1 && *constant(x.size(1)) <= kDot;
  Tensor image = channels_together(x);
  if (!depthwise) image = with_whole_dots(image);
  image = bordered(image, window, x_point);
  // A few channels are planes with a border, until then.
  if (few) image = with_channels_innermost(image);
  Window inside = window;
  std::fill(inside.before.begin(), inside.before.end(), 0);
  const Tensor kernels = depthwise || is_laid_out(w) ? w : dot_kernels(w, groups);
  const Tensor sum = convolution(image, kernels, inside, groups, Int(32));
  if (!x_point.defined()) return sum;
  const Tensor sums = kernel_sums.defined() ? kernel_sums : sums_of_kernels(w);
  Tensor of_kernels = elementwise({sums, convert(x_point, Int(32))}, Int(32),
                                  [](const std::vector<Expr> &v) { return v[0] * v[1]; });
  if (!kernel_sums.defined()) of_kernels = stored(of_kernels, "kernel_sums");
  Index by_channel{w.size(0)};
  for (int d = 2; d < w.rank(); d++) by_channel.emplace_back(1);
  return subtract(sum, reshape(of_kernels, by_channel));
}

// Does each window see one pixel, each pixel in one window?
bool is_single_cell(const Tensor &x, const Window &window) {
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const bool same = constant(window.shape[i]) == constant(x.shape()[i + 2]);
    if (window.kernel[i] != 1 || window.stride[i] != 1 || window.before[i] != 0 || !same)
      return false;
  }
  return true;
}

// Each result is a row of the image's values that its window sees, times the kernels: sums of such
// rows are what a zero point of the kernels wants.
Tensor by_rows(const Tensor &x, const Tensor &x_point, const Tensor &w, const Tensor &w_point,
               const Window &window, const Tensor &kernel_sums) {
  const size_t spatial = window.kernel.size();
  std::vector<int> channels_last{0}, cells_first, results_second{0, static_cast<int>(spatial) + 1};
  for (size_t i = 0; i < spatial; i++) {
    channels_last.push_back(static_cast<int>(i) + 2);
    cells_first.push_back(static_cast<int>(i) + 2);
    results_second.push_back(static_cast<int>(i) + 1);
  }
  channels_last.push_back(1);
  cells_first.insert(cells_first.end(), {1, 0});
  int pixels = 1, terms = static_cast<int>(*constant(x.size(1)));
  for (size_t i = 0; i < spatial; i++) {
    pixels *= static_cast<int>(*constant(window.shape[i]));
    terms *= window.kernel[i];
  }
  const bool is_matrix = w.rank() == 2;
  const Expr results = w.size(is_matrix ? 1 : 0);
  const Tensor kernels = is_matrix ? w : reshape(transpose(w, cells_first), {terms, results});
  const Tensor sums = kernel_sums.defined() ? unsqueeze(kernel_sums, {0}) : Tensor();
  if (is_single_cell(x, window) && channels_are_innermost(x)) {
    const Tensor rows = transpose(x, channels_last);
    return transpose(quantized_matmul(rows, x_point, kernels, w_point, sums), results_second);
  }
  Index seen{x.size(0)};  // image, place, cell, channel
  seen.insert(seen.end(), window.shape.begin(), window.shape.end());
  seen.insert(seen.end(), window.kernel.begin(), window.kernel.end());
  seen.push_back(x.size(1));
  auto value = [x, x_point, window, spatial](const Index &at) {
    Index from{at[0], at.back()};
    Expr inside;
    for (size_t i = 0; i < spatial; i++) {
      const Expr n = x.shape()[i + 2];
      const Expr p = at[1 + i] * window.stride[i] + at[1 + spatial + i] * window.dilation[i] -
                     window.before[i];
      const int reach = (window.kernel[i] - 1) * window.dilation[i] - window.before[i];
      const int64_t last = (*constant(window.shape[i]) - 1) * window.stride[i] + reach;
      if (window.before[i] == 0 && last < *constant(n)) {
        from.push_back(p);
        continue;
      }
      const Expr in = p >= 0 && p < n;
      inside = inside.defined() ? inside && in : in;
      from.push_back(clamp(p, 0, n - 1));
    }
    if (!inside.defined()) return x(from);
    const Expr padding = x_point.defined() ? x_point(Index{}) : cast(x.type(), Expr(0));
    return select(likely(inside), x(from), padding);
  };
  std::vector<Tensor> parts{x};
  if (x_point.defined()) parts.push_back(x_point);
  const Tensor all(x.type(), seen, value, merged_stages(parts));
  const Tensor rows = reshape(stored(all, "rows"), {x.size(0), pixels, terms});
  Index shape{x.size(0)};
  shape.insert(shape.end(), window.shape.begin(), window.shape.end());
  shape.push_back(results);
  return transpose(reshape(quantized_matmul(rows, x_point, kernels, w_point, sums), shape),
                   results_second);
}

}  // namespace

Tensor quantized_convolution(const Tensor &x, const Tensor &x_point, const Tensor &w,
                             const Tensor &w_point, const Window &window, int groups,
                             const Tensor &kernel_sums) {
  constexpr int kManyChannels = 16;
  const bool many = *constant(x.size(1)) >= kManyChannels, is_kernels = w.rank() == x.rank();
  const bool depthwise = is_kernels && is_one(w.size(1)) && constant(w.size(0)) == groups;
  const bool dots = is_kernels && (groups == 1 || *constant(w.size(1)) % kDot == 0);
  if (groups != 1 && (w_point.defined() || !(depthwise || dots))) {
    user_error("a convolution of bytes has " + std::to_string(groups) + " groups of kernels" +
                   (w_point.defined() ? " with a zero point" : ""),
               "groups have kernels without one, of one channel and one result or of a multiple of "
               "4 channels",
               "take the zero points off, and convolve numbers of 16 bits or floats");
  }
  const bool rows =
      w_point.defined() || !is_kernels || (groups == 1 && many && is_single_cell(x, window));
  if (!rows) return direct(x, x_point, w, window, groups, kernel_sums);
  const bool turns = many && !channels_are_innermost(x);
  return by_rows(turns ? with_channels_innermost(x) : x, x_point, w, w_point, window, kernel_sums);
}

}  // namespace polyhalite::ops
