// Quantised forms.
#include "lang/ir/node.h"
#include "lang/ops/common.h"
#include "lang/ops/convolution.h"
#include "lang/ops/product_operands.h"
#include "lang/simplify/simplify.h"
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

namespace {

// x[.., k, ..] with zeros behind its dimension d, which then is a multiple of `terms`: whole dot
// products.
Tensor with_whole_dots(const Tensor &x, int d, int terms) {
  const auto axis = static_cast<size_t>(d);
  const int size = static_cast<int>(constant(x.shape()[axis]).value_or(0));
  if (size % terms == 0) return x;
  Index shape = x.shape();
  shape[axis] = (size + terms - 1) / terms * terms;
  auto element = [x, size, axis](const Index &at) {
    Index from = at;
    from[axis] = clamp(at[axis], 0, size - 1);
    return select(at[axis] < size, x(from), cast(x.type(), Expr(0)));
  };
  return Tensor(x.type(), shape, element, x.detached_stages());
}

// Terms of a dot product of weights of 8 or 16 bits.
int terms_of_dot(const Type &weights) { return weights == Int(16) ? 2 : 4; }

// x - point in 16 bits, which hold all differences of bytes.
Tensor wide_steps(const Tensor &x, const Tensor &point) {
  std::vector<Tensor> operands{x};
  if (point.defined()) operands.push_back(point);
  return elementwise(operands, Int(16), [](const std::vector<Expr> &v) {
    const Expr step = cast<int16_t>(v[0]);
    return v.size() == 1 ? step : step - cast<int16_t>(v[1]);
  });
}

// The product of steps of 16 bits and weights that have some left to take off.
Tensor product_of_steps(const Tensor &a, const Tensor &a_point, const Tensor &b,
                        const Tensor &b_point) {
  const Tensor steps = stored(
      with_whole_dots(wide_steps(a, a_point), a.rank() - 1, terms_of_dot(b.type())), "steps");
  const Tensor product = matmul(steps, b, Int(32));
  if (!b_point.defined()) return product;
  const Tensor rows = reduce(convert(steps, Int(32)), Reduction::Sum, {steps.rank() - 1}, true);
  return subtract(product, multiply(rows, convert(b_point, Int(32))));
}

}  // namespace

// sum (a - p)(b - q)  =  sum ab - q * sum a - p * sum b + depth * p * q
Tensor quantized_matmul(const Tensor &a, const Tensor &a_point, const Tensor &b,
                        const Tensor &b_point, const Tensor &column_sums) {
  if (b.type() == Int(16)) return product_of_steps(a, a_point, b, b_point);
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

// w[result, channel, cell...] as packed_kernels() wants it.
Tensor dot_kernels(const Tensor &given, int groups) {
  const int terms = terms_of_dot(given.type());
  const Tensor w = with_whole_dots(given, 1, terms);
  const int results = static_cast<int>(*constant(w.size(0))) / groups;
  const int blocks = static_cast<int>(*constant(w.size(1))) / terms;
  Index shape{groups};
  for (int d = 2; d < w.rank(); d++) shape.push_back(w.size(d));
  for (const int n : {blocks, results, terms}) shape.emplace_back(n);
  auto kernel = [w, results, terms](const Index &at) {
    const size_t block = at.size() - 3;
    Index from{at[0] * results + at[block + 1], at[block] * terms + at[block + 2]};
    from.insert(from.end(), at.begin() + 1, at.begin() + static_cast<ptrdiff_t>(block));
    return w(from);
  };
  return packed_kernels(stored(Tensor(w.type(), shape, kernel, w.detached_stages()), "kernels"));
}

bool is_laid_out(const Tensor &w) {
  const std::vector<Var> vars = index_vars(w.rank());
  return lies_in_dots(w(as_index(vars)), vars[1].name(), terms_of_dot(w.type()));
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
  const int terms = terms_of_dot(packed.type());
  if (!blocks || !results || constant(packed.size(0)).value_or(0) < 1 ||
      constant(packed.size(-1)) != terms) {
    const std::string n = std::to_string(terms);
    user_error("packed kernels have rank " + std::to_string(packed.rank()) + " or an open size",
               "they are packed[group, cell.., channel / " + n + ", result, channel % " + n +
                   "], of known sizes",
               "lay them out so");
  }
  const int width = static_cast<int>(*results);
  Index shape{static_cast<int>(*constant(packed.size(0))) * width,
              static_cast<int>(*blocks) * terms};
  for (int d = 1; d < packed.rank() - 3; d++) shape.push_back(packed.size(d));
  auto kernel = [packed, width, terms](const Index &at) {
    Index from{at[0] / width};
    from.insert(from.end(), at.begin() + 2, at.end());
    from.insert(from.end(), {at[1] / terms, at[0] % width, at[1] % terms});
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

// [group or result, ...] to meet results of images.
Tensor by_channel(const Tensor &v, int rank) {
  if (v.rank() == 0) return v;
  Index shape{v.size(0)};
  for (int d = 2; d < rank; d++) shape.emplace_back(1);
  return reshape(v, shape);
}

// What each window of a group of the first `channels` channels sees, summed: [image, result, ...].
Tensor sums_of_windows(const Tensor &image, int channels, const Window &window, int groups,
                       int results) {
  const int of_group = channels / groups;
  Index shape{image.size(0), groups, of_group}, sums{image.size(0), results};
  for (int d = 2; d < image.rank(); d++) shape.push_back(image.size(d));
  sums.insert(sums.end(), window.shape.begin(), window.shape.end());
  const Tensor numbers(
      Int(32), shape,
      [image, of_group](const Index &at) {
        Index from{at[0], at[1] * of_group + at[2]};
        from.insert(from.end(), at.begin() + 3, at.end());
        return cast<int32_t>(image(from));
      },
      image.detached_stages());
  const Tensor pixels = stored(reduce(numbers, Reduction::Sum, {2}, false), "pixel_sums");
  Index places{image.size(0), groups};
  places.insert(places.end(), window.shape.begin(), window.shape.end());
  const Tensor windows =
      stored(Tensor(
                 Int(32), places,
                 [pixels, window](const Index &at) {
                   Expr sum;
                   for_each_cell(window, [&](const std::vector<int> &cell) {
                     Index from{at[0], at[1]};
                     for (size_t i = 0; i < cell.size(); i++)
                       from.push_back(at[2 + i] * window.stride[i] + cell[i] * window.dilation[i]);
                     sum = sum.defined() ? sum + pixels(from) : pixels(from);
                   });
                   return sum;
                 },
                 pixels.detached_stages()),
             "window_sums");
  const int each = results / groups;
  return Tensor(
      Int(32), sums,
      [windows, each](const Index &at) {
        Index from = at;
        from[1] = at[1] / each;
        return windows(from);
      },
      windows.detached_stages());
}

// x in a Func whose channels lie side by side.
Tensor in_memory(const Tensor &x) {
  return channels_are_innermost(x) ? x : with_channels_innermost(x);
}

// What a convolution of bytes reads: with its border and whole dot products of channels, of wide
// weights as steps from the zero point.
Tensor image_of_dots(const Tensor &x, const Tensor &x_point, const Tensor &w, const Window &window,
                     int groups, bool depthwise) {
  const int terms = terms_of_dot(w.type()), channels = static_cast<int>(*constant(x.size(1)));
  const bool wide = w.type() == Int(16), few = groups == 1 && channels <= terms_of_dot(Int(8));
  Tensor image = channels_together(wide ? wide_steps(x, x_point) : x);
  if (!depthwise) image = with_whole_dots(image, 1, terms);
  image = bordered(image, window, wide ? Tensor() : x_point);
  // A few channels are planes with a border, until then.
  if (few) return with_channels_innermost(image);
  return wide ? in_memory(image) : image;
}

// sum (x - p)(w - q)  =  sum x w - q * sum x - p * (sum w - terms * q), with p around x
Tensor direct(const Tensor &x, const Tensor &x_point, const Tensor &w, const Tensor &w_point,
              const Window &window, int groups, const Tensor &kernel_sums) {
  const int channels = static_cast<int>(*constant(x.size(1)));
  const int results = static_cast<int>(*constant(w.size(0)));
  const bool depthwise = is_one(w.size(1)) && results == groups;
  const Tensor image = image_of_dots(x, x_point, w, window, groups, depthwise);
  Window inside = window;
  std::fill(inside.before.begin(), inside.before.end(), 0);
  const Tensor kernels = depthwise || is_laid_out(w) ? w : dot_kernels(w, groups);
  Tensor sum = convolution_inside(image, kernels, inside, groups, Int(32));
  const int rank = x.rank();
  Tensor q;
  if (w_point.defined()) {
    q = by_channel(convert(w_point, Int(32)), rank);
    sum = subtract(sum, multiply(sums_of_windows(image, channels, inside, groups, results), q));
  }
  if (!x_point.defined() || w.type() == Int(16)) return sum;
  int terms = channels / groups;
  for (const int cells : window.kernel) terms *= cells;
  const bool known = kernel_sums.defined();
  const Tensor of_kernels = by_channel(known ? kernel_sums : sums_of_kernels(w), rank);
  const Tensor p = convert(x_point, Int(32));
  const std::vector<Tensor> parts =
      q.defined() ? std::vector<Tensor>{of_kernels, p, q} : std::vector<Tensor>{of_kernels, p};
  const Tensor beside = elementwise(parts, Int(32), [terms](const std::vector<Expr> &v) {
    return v[1] * (v.size() > 2 ? v[0] - terms * v[2] : v[0]);
  });
  return subtract(sum, known ? beside : stored(beside, "kernel_sums"));
}

// Does each window see one pixel, each pixel in one window?
bool is_single_cell(const Tensor &x, const Window &window) {
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const bool same = is_zero(simplify(window.shape[i] - x.shape()[i + 2]));
    if (window.kernel[i] != 1 || window.stride[i] != 1 || window.before[i] != 0 || !same)
      return false;
  }
  return true;
}

// Does each pixel of x lie in one window at most, and each window inside of x?
bool sees_patches(const Tensor &x, const Window &window) {
  for (size_t i = 0; i < window.kernel.size(); i++) {
    const auto steps = constant(window.shape[i]), size = constant(x.shape()[i + 2]);
    if (window.stride[i] != window.kernel[i] || window.dilation[i] != 1 || window.before[i] != 0 ||
        !steps || !size || *steps * window.kernel[i] > *size)
      return false;
  }
  return true;
}

// What each window sees as one pixel of an image [image, (channel, cell...), window...].
Tensor pixels_of_patches(const Tensor &x, const Window &window) {
  const size_t spatial = window.kernel.size();
  int depth = static_cast<int>(*constant(x.size(1)));
  Index shape{x.size(0)};
  for (const Expr &windows : window.shape) shape.push_back(windows);
  for (const int cells : window.kernel) depth *= cells;
  shape.emplace_back(depth);
  auto element = [x, window, spatial](const Index &at) {
    Index from(spatial + 2);
    from[0] = at[0];
    Expr rest = at.back();
    for (size_t i = spatial; i-- > 0;) {
      from[i + 2] = at[i + 1] * window.stride[i] + rest % window.kernel[i];
      rest = rest / window.kernel[i];
    }
    from[1] = rest;
    return x(from);
  };
  const Tensor patches = stored(Tensor(x.type(), shape, element, x.detached_stages()), "patches");
  std::vector<int> depth_second{0, static_cast<int>(spatial) + 1};
  for (size_t i = 1; i <= spatial; i++) depth_second.push_back(static_cast<int>(i));
  return transpose(patches, depth_second);
}

// The matrix [channel, result] as kernels of one cell.
Tensor kernels_of(const Tensor &matrix, size_t spatial) {
  Index shape{matrix.size(1), matrix.size(0)};
  shape.insert(shape.end(), spatial, Expr(1));
  return Tensor(
      matrix.type(), shape, [matrix](const Index &at) { return matrix({at[1], at[0]}); },
      matrix.detached_stages());
}

// Pixels are rows of a matrix.
Tensor as_product(const Tensor &x, const Tensor &x_point, const Tensor &w, const Tensor &w_point,
                  const Tensor &kernel_sums) {
  std::vector<int> channels_last{0}, channel_second{0, x.rank() - 1};
  for (int d = 2; d < x.rank(); d++) {
    channels_last.push_back(d);
    channel_second.push_back(d - 1);
  }
  channels_last.push_back(1);
  const Tensor matrix =
      w.rank() == 2 ? w : transpose(reshape(w, {w.size(0), w.size(1)}), std::vector<int>{1, 0});
  const Tensor rows = transpose(in_memory(x), channels_last);
  const Tensor sums = kernel_sums.defined() ? unsqueeze(kernel_sums, {0}) : Tensor();
  return transpose(quantized_matmul(rows, x_point, matrix, w_point, sums), channel_second);
}

}  // namespace

Tensor quantized_convolution(const Tensor &x, const Tensor &x_point, const Tensor &w,
                             const Tensor &w_point, const Window &window, int groups,
                             const Tensor &kernel_sums) {
  constexpr int kManyChannels = 16;
  const bool many = *constant(x.size(1)) >= kManyChannels, is_matrix = w.rank() == 2;
  const bool depthwise = !is_matrix && is_one(w.size(1)) && constant(w.size(0)) == groups;
  const bool single = groups == 1 && is_single_cell(x, window);
  const bool wide = w.type() == Int(16);
  if (is_matrix && !single) {
    if (groups != 1 || !sees_patches(x, window)) {
      user_error("a convolution whose windows overlap, or of groups, has a matrix of kernels",
                 "only what each window sees for itself is a row of a matrix",
                 "give the kernels as w[result, channel, ...]");
    }
    const std::vector<int> ones(window.kernel.size(), 1);
    const Tensor pixels = pixels_of_patches(wide ? wide_steps(x, x_point) : x, window);
    return quantized_convolution(
        pixels, wide ? Tensor() : x_point, w, w_point,
        {ones, ones, ones, std::vector<int>(window.kernel.size(), 0), window.shape}, 1,
        kernel_sums);
  }
  if (groups != 1 && !depthwise && *constant(w.size(1)) % terms_of_dot(w.type()) != 0) {
    user_error("a convolution of bytes has " + std::to_string(groups) + " groups of " +
                   std::to_string(*constant(w.size(1))) + " channels",
               "groups have one channel and one result, or a multiple of 4 channels",
               "take the zero points off, and convolve numbers of 16 bits or floats");
  }
  if (!wide && (is_matrix || (single && many)))
    return as_product(x, x_point, w, w_point, kernel_sums);
  const Tensor kernels = is_matrix ? kernels_of(w, window.kernel.size()) : w;
  return direct(x, x_point, kernels, w_point, window, groups, kernel_sums);
}

Tensor quantized_winograd(const Tensor &x, const Tensor &x_point, const Tensor &packed, int results,
                          const Window &window, const std::vector<int> &tile) {
  const int terms = terms_of_dot(packed.type());
  const auto blocks = constant(packed.rank() == 6 ? packed.size(3) : Expr());
  if (packed.type() != Int(16) || !blocks || constant(packed.size(-1)) != terms ||
      !constant(x.size(1))) {
    user_error("Winograd's kernels of bytes are " + packed.type().to_string() + " of rank " +
                   std::to_string(packed.rank()),
               "they are Int(16) packed[strip, i, j, channel / 2, result, channel % 2], of known "
               "sizes",
               "lay them out so");
  }
  Index shape(packed.shape().begin(), packed.shape().end() - 1);
  shape[3] = static_cast<int>(*blocks) * terms;
  const Tensor kernels(
      packed.type(), shape,
      [packed, terms](const Index &at) {
        return packed({at[0], at[1], at[2], at[3] / terms, at[4], at[3] % terms});
      },
      packed.detached_stages());
  const Tensor steps = with_whole_dots(channels_together(wide_steps(x, x_point)), 1, terms);
  return winograd(steps, kernels, results, window, tile);
}

}  // namespace polyhalite::ops
