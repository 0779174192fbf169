// Operators of networks: products, convolutions, pooling, normalisation, losses.
#include <algorithm>

#include "apps/onnx/operators.h"
#include "apps/onnx/operators/window.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;

Expr zero_of(Type t) { return cast(t, Expr(0)); }

// Values of one dimension, meeting dimension 1 of a tensor of this rank.
Tensor along_channels(const Tensor &v, int rank) {
  ops::Index shape{v.size(0)};
  for (int d = 2; d < rank; d++) shape.emplace_back(1);
  return ops::reshape(v, shape);
}

void infer_matmul(Inference &i) { infer_product(i, 1, i.type(0)); }
std::vector<Tensor> lower_matmul(Lowering &l) {
  const int strips_of = static_cast<int>(l.node().integer("strips_of", 0));
  const Tensor a = l.in(0);
  if (strips_of == 0) return {ops::matmul(a, l.in(1))};
  if (a.rank() <= 3) return {ops::matmul(a, l.in(1), strips_of)};
  // Dimensions that the kernel could not merge.
  const Expr matrices = l.size(elements(Shape(l.shape(0).begin(), l.shape(0).end() - 2)));
  const Tensor rows = ops::reshape(a, {matrices, a.size(-2), a.size(-1)});
  return {ops::reshape(ops::matmul(rows, l.in(1), strips_of), l.result_sizes(0))};
}

void infer_gemm(Inference &i) {
  if (i.rank(0) != 2 || i.rank(1) != 2) i.fail("an operand is no matrix", "both have rank 2");
  const bool ta = i.node().integer("transA", 0) != 0, tb = i.node().integer("transB", 0) != 0;
  const Shape &a = i.shape(0), &b = i.shape(1);
  i.require_equal(a[ta ? 0 : 1], b[tb ? 1 : 0], "columns and rows");
  const Shape shape{a[ta ? 1 : 0], b[tb ? 0 : 1]};
  if (i.has(2)) broadcast(i, {shape, i.shape(2)});
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_gemm(Lowering &l) {
  const Node &n = l.node();
  const Tensor a = n.integer("transA", 0) ? ops::transpose(l.in(0), {1, 0}) : l.in(0);
  const int strips_of = static_cast<int>(n.integer("strips_of", 0));
  const float alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  auto scaled = [](const Tensor &t, float by) {
    if (by == 1) return t;
    return ops::elementwise(t, [by](Expr v) { return v * cast(v.type(), Expr(by)); });
  };
  const Tensor sums = strips_of != 0 ? ops::matmul(a, l.in(1), strips_of)
                      : n.integer("transB", 0) != 0
                          ? ops::matmul(a, ops::transpose(l.in(1), {1, 0}))
                          : ops::matmul(a, l.in(1));
  const Tensor product = scaled(sums, alpha);
  if (!l.has(2) || beta == 0) return {product};
  return {ops::add(product, scaled(l.in(2), beta))};
}

void infer_conv(Inference &i) {
  const Shape &x = i.shape(0), &w = i.shape(1);
  if (x.size() < 3 || w.size() != x.size())
    i.fail("ranks are " + std::to_string(x.size()) + " and " + std::to_string(w.size()),
           "images and kernels have equal ranks of at least 3");
  const int64_t groups = i.node().integer("group", 1);
  if (groups < 1) i.fail("group is " + std::to_string(groups), "there is at least one group");
  i.require_equal(x[1], w[1] * Dim(groups), "channels of image and kernels");
  const WindowShape window = window_of(i, x, kernel_of(i, w));
  Shape shape{x[0], w[0]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  i.result(0, i.node().is("ConvInteger") ? ElementType::Int32 : i.type(0), shape);
}
// With kernels that are computed, or come with the images. To lay them out in strips is worth it
// for at least as many pixels as there are results: it is a strip's width of each element.
Tensor convolved_with_new_kernels(const Lowering &l, const ops::Window &window, int groups) {
  const Tensor x = l.in(0), w = l.in(1);
  const Type type = x.type();
  const auto results = l.shape(1)[0].constant();
  const int count = static_cast<int>(results.value_or(0));
  const auto as_they_are = [&] { return ops::convolution(x, w, window, groups); };
  if (!(type == Float(32) || type == Float(64))) return as_they_are();
  if (results && ops::few_results(count, window)) return as_they_are();
  const Shape &shape = l.result_shape(0);
  const auto pixels = elements(Shape(shape.begin() + 2, shape.end())).constant();
  if (groups == 1 && (!results || (pixels && *pixels < *results)))
    return ops::convolution_by_product(x, w, window);
  if (!results) return as_they_are();
  const int width = ops::strip_width(count / groups, type, l.target());
  if (groups > 1 && count / groups % width != 0) return as_they_are();
  const Tensor strips = ops::stored(ops::kernel_strips(w, width), "strips");
  return ops::convolution(x, strips, count, window, Type(), groups);
}

std::vector<Tensor> lower_conv(Lowering &l) {
  const Node &n = l.node();
  const WindowShape window = window_of(l, l.shape(0), kernel_of(l, l.shape(1)));
  const int strips_of = static_cast<int>(n.integer("strips_of", 0));
  const std::vector<int64_t> tile = n.integers("winograd_tile");
  const auto groups = static_cast<int>(n.integer("group", 1));
  const ops::Window lowered = window.lowered(l);
  const bool depthwise = groups > 1 && l.shape(1)[0].is(groups) && l.shape(1)[1].is(1);
  const auto convolved = [&] {
    if (!tile.empty()) {
      return ops::winograd(l.in(0), l.in(1), strips_of, lowered,
                           std::vector<int>(tile.begin(), tile.end()));
    }
    if (strips_of != 0) {
      if (groups == 1 && l.results_are_rows() && ops::gains_by_product(l.in(0), strips_of, lowered))
        return ops::convolution_by_product(l.in(0), l.in(1), strips_of, lowered);
      return ops::convolution(l.in(0), l.in(1), strips_of, lowered, Type(), groups);
    }
    if (depthwise && l.results_are_rows() && ops::gains_along_rows(l.in(0), lowered))
      return ops::depthwise_along_rows(l.in(0), l.in(1), lowered);
    return convolved_with_new_kernels(l, lowered, groups);
  };
  const Tensor y = convolved();
  if (!l.has(2)) return {y};
  return {ops::add(y, along_channels(l.in(2), y.rank()))};
}

// Sizes and padding of a transposed convolution.
template <typename Context>
WindowShape transposed_window(const Context &c, const Shape &x,
                              const std::vector<int64_t> &kernel) {
  const Node &n = c.node();
  const size_t spatial = x.size() - 2;
  WindowShape w;
  w.kernel = kernel;
  w.stride = list_or(c, "strides", spatial, 1);
  w.dilation = list_or(c, "dilations", spatial, 1);
  const std::vector<int64_t> extra = list_or(c, "output_padding", spatial, 0);
  const std::vector<int64_t> wanted = n.integers("output_shape");
  const std::string mode = n.text("auto_pad", "NOTSET");
  std::vector<int64_t> pads = list_or(c, "pads", 2 * spatial, 0);
  for (size_t d = 0; d < spatial; d++) {
    const Dim whole =
        (x[d + 2] - 1) * Dim(w.stride[d]) + Dim(extra[d] + (w.kernel[d] - 1) * w.dilation[d] + 1);
    Dim out = whole - Dim(pads[d] + pads[d + spatial]);
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    if (!wanted.empty() || same) {
      out = wanted.empty() ? x[d + 2] * Dim(w.stride[d]) : Dim(wanted[wanted.size() - spatial + d]);
      const int64_t t = std::max<int64_t>(c.number(whole - out), 0);
      pads[d] = mode == "SAME_UPPER" ? t / 2 : t - t / 2;
    }
    w.before.push_back(pads[d]);
    w.after.push_back(0);
    w.out.push_back(out);
  }
  return w;
}
void infer_conv_transpose(Inference &i) {
  const Shape &x = i.shape(0), &w = i.shape(1);
  if (x.size() < 3 || w.size() != x.size())
    i.fail("ranks are " + std::to_string(x.size()) + " and " + std::to_string(w.size()),
           "images and kernels have equal ranks of at least 3");
  i.require_equal(x[1], w[0], "channels of image and kernels");
  const WindowShape window = transposed_window(i, x, kernel_of(i, w));
  Shape shape{x[0], w[1] * Dim(i.node().integer("group", 1))};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_conv_transpose(Lowering &l) {
  const ops::Window window = transposed_window(l, l.shape(0), kernel_of(l, l.shape(1))).lowered(l);
  const int strips_of = static_cast<int>(l.node().integer("strips_of", 0));
  const Tensor y =
      strips_of != 0 ? ops::transposed_convolution(l.in(0), l.in(1), strips_of, window)
                     : ops::transposed_convolution(l.in(0), l.in(1), window,
                                                   static_cast<int>(l.node().integer("group", 1)));
  if (!l.has(2)) return {y};
  return {ops::add(y, along_channels(l.in(2), y.rank()))};
}

template <typename Context>
WindowShape pool_window(const Context &c, const Shape &x) {
  const std::vector<int64_t> kernel = c.node().integers("kernel_shape");
  if (x.size() < 3 || kernel.size() != x.size() - 2)
    c.fail("kernel_shape has " + std::to_string(kernel.size()) + " sizes",
           "each spatial dimension has one");
  return window_of(c, x, kernel);
}
void infer_pool(Inference &i) {
  const WindowShape window = pool_window(i, i.shape(0));
  Shape shape{i.shape(0)[0], i.shape(0)[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  i.result(0, i.type(0), shape);
  i.result(1, ElementType::Int64, shape);
}
std::vector<Tensor> lower_pool(Lowering &l) {
  const Node &n = l.node();
  const WindowShape window = pool_window(l, l.shape(0));
  const ops::Window w = window.lowered(l);
  if (n.is("MaxPool")) {
    std::vector<Tensor> results{ops::pool(l.in(0), w, ops::Pooling::Max)};
    if (l.wants(1))
      results.push_back(ops::max_pool_positions(l.in(0), w, n.integer("storage_order", 0) != 0));
    return results;
  }
  if (n.is("LpPool")) {
    return {ops::pool(l.in(0), w, ops::Pooling::Norm, {}, static_cast<int>(n.integer("p", 2)))};
  }
  const bool padding = n.integer("count_include_pad", 0) != 0;
  return {ops::pool(l.in(0), w, padding ? ops::Pooling::AverageWithPadding : ops::Pooling::Average,
                    std::vector<int>(window.after.begin(), window.after.end()))};
}

void infer_global_pool(Inference &i) {
  Shape shape = i.shape(0);
  if (shape.size() < 2)
    i.fail("the operand has rank " + std::to_string(shape.size()), "images have at least 2");
  for (size_t d = 2; d < shape.size(); d++) shape[d] = 1;
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_global_pool(Lowering &l) {
  std::vector<int> axes;
  for (int d = 2; d < l.rank(0); d++) axes.push_back(d);
  const Node &n = l.node();
  const auto reduced = [&](const Tensor &x, ops::Reduction how) {
    return ops::reduce(x, how, axes, true);
  };
  if (!n.is("GlobalLpPool")) {
    const bool largest = n.is("GlobalMaxPool");
    return {reduced(l.in(0), largest ? ops::Reduction::Max : ops::Reduction::Mean)};
  }
  const int64_t p = n.integer("p", 2);
  if (p < 1) l.fail("p is " + std::to_string(p), "it is at least 1");
  if (p <= 2) return {reduced(l.in(0), p == 1 ? ops::Reduction::L1 : ops::Reduction::L2)};
  const auto power = [](double exponent) {
    return [exponent](const Expr &v) { return pow(abs(v), cast(v.type(), Expr(exponent))); };
  };
  const auto exponent = static_cast<double>(p);
  const Tensor sum = reduced(ops::elementwise(l.in(0), power(exponent)), ops::Reduction::Sum);
  return {ops::elementwise(sum, power(1 / exponent))};
}

void infer_batch_norm(Inference &i) {
  i.require_rank(0, 2, INT32_MAX);
  for (size_t k = 1; k < 5; k++) i.require_rank(k, 1, 1);
  i.result(0, i.type(0), i.shape(0));
  for (size_t k = 1; k < i.outputs(); k++) i.result(k, i.type(k < 3 ? 3 : 0), i.shape(3));
}
std::vector<Tensor> lower_batch_norm(Lowering &l) {
  const Tensor x = l.in(0);
  const float epsilon = l.node().real("epsilon", 1e-5f);
  Tensor mean = l.in(3), variance = l.in(4);
  std::vector<Tensor> running;
  if (l.node().integer("training_mode", 0) != 0) {
    std::vector<int> axes{0};
    for (int d = 2; d < x.rank(); d++) axes.push_back(d);
    const Tensor batch_mean = ops::reduce(x, ops::Reduction::Mean, axes, false);
    const Tensor distance = ops::subtract(x, along_channels(batch_mean, x.rank()));
    const Tensor batch_variance =
        ops::reduce(ops::elementwise(distance, [](Expr v) { return v * v; }), ops::Reduction::Mean,
                    axes, false);
    const float momentum = l.node().real("momentum", 0.9f);
    auto blend = [momentum](const Tensor &old, const Tensor &fresh) {
      return ops::elementwise({old, fresh}, old.type(), [momentum](const std::vector<Expr> &v) {
        return v[0] * cast(v[0].type(), Expr(momentum)) +
               cast(v[0].type(), v[1]) *
                   cast(v[0].type(), Expr(1.0 - static_cast<double>(momentum)));
      });
    };
    running = {blend(mean, batch_mean), blend(variance, batch_variance)};
    mean = batch_mean;
    variance = batch_variance;
  }
  const int rank = x.rank();
  const Tensor y = ops::elementwise(
      {x, along_channels(l.in(1), rank), along_channels(l.in(2), rank), along_channels(mean, rank),
       along_channels(variance, rank)},
      x.type(), [epsilon](const std::vector<Expr> &v) {
        const Expr scale = cast(v[0].type(), v[1]) /
                           sqrt(cast(v[0].type(), v[4]) + cast(v[0].type(), Expr(epsilon)));
        return (v[0] - cast(v[0].type(), v[3])) * scale + cast(v[0].type(), v[2]);
      });
  std::vector<Tensor> results{y};
  results.insert(results.end(), running.begin(), running.end());
  return results;
}

std::vector<int> axes_from(int first, int rank) {
  std::vector<int> axes;
  for (int d = first; d < rank; d++) axes.push_back(d);
  return axes;
}

void infer_layer_norm(Inference &i) {
  const int rank = i.rank(0);
  const int axis = i.axis(i.node().integer("axis", -1), rank);
  Shape rows = i.shape(0);
  for (int d = axis; d < rank; d++) rows[static_cast<size_t>(d)] = 1;
  i.result(0, i.type(0), i.shape(0));
  for (size_t k = 1; k < i.outputs(); k++) i.result(k, ElementType::Float32, rows);
}
std::vector<Tensor> lower_layer_norm(Lowering &l) {
  const int rank = l.rank(0);
  const auto axes = axes_from(l.axis(l.node().integer("axis", -1), rank), rank);
  const float epsilon = l.node().real("epsilon", 1e-5f);
  const Tensor wide = ops::convert(l.in(0), l.in(0).type() == Float(64) ? Float(64) : Float(32));
  Tensor mean, inverse, y;
  if (l.node().is("RMSNormalization")) {
    y = ops::rms_normalize(wide, axes, epsilon);
  } else {
    y = ops::normalize(wide, axes, epsilon, &mean, &inverse);
  }
  auto affine = [](const Tensor &t, const Tensor &v, bool scale) {
    return ops::elementwise({t, v}, t.type(), [scale](const std::vector<Expr> &e) {
      const Expr by = cast(e[0].type(), e[1]);
      return scale ? e[0] * by : e[0] + by;
    });
  };
  y = affine(y, l.in(1), true);
  if (l.has(2)) y = affine(y, l.in(2), false);
  std::vector<Tensor> results{ops::convert(y, l.result_type(0))};
  if (l.wants(1)) results.push_back(ops::convert(mean, Float(32)));
  if (l.wants(2)) {
    results.resize(2);
    results.push_back(ops::convert(inverse, Float(32)));
  }
  return results;
}

// What channels, or groups of them, have a scale and a bias.
void infer_channel_norm(Inference &i) {
  i.require_rank(0, 2, INT32_MAX);
  for (size_t k = 1; k < 3; k++) i.require_rank(k, 1, 1);
  const Node &n = i.node();
  const Dim channels = i.shape(0)[1];
  Dim values = channels;
  if (n.is("GroupNormalization")) {
    const int64_t groups = n.integer("num_groups", 1);
    const auto known = channels.constant();
    if (groups < 1) i.fail("num_groups is " + std::to_string(groups), "it is positive");
    if (known && *known % groups != 0)
      i.fail("num_groups is " + std::to_string(groups),
             "it divides the " + std::to_string(*known) + " channels");
    // Before version 21 groups had values, since then channels have.
    if (n.version < 21) values = groups;
  }
  for (size_t k = 1; k < 3; k++)
    i.require_equal(values, i.shape(k)[0], "channels and their values");
  i.result(0, i.type(0), i.shape(0));
}

void infer_lrn(Inference &i) {
  i.require_rank(0, 2, INT32_MAX);
  const int64_t size = i.node().integer("size", 1);
  if (size < 1 || size > 4096) i.fail("size is " + std::to_string(size), "it is from 1 to 4096");
  i.result(0, i.type(0), i.shape(0));
}

// Values of groups of channels, or of channels, for each of x's channels.
Tensor of_channels(const Tensor &v, const Tensor &x, bool of_groups) {
  if (!of_groups) return v;
  const Expr size = x.size(1) / v.size(0);
  return Tensor(
      v.type(), {x.size(1)}, [v, size](const ops::Index &at) { return v({at[0] / size}); },
      v.detached_stages());
}

std::vector<Tensor> lower_channel_norm(Lowering &l) {
  const Node &n = l.node();
  const bool grouped = n.is("GroupNormalization"), of_groups = grouped && n.version < 21;
  const Tensor given = l.in(0);
  // Of rank 2 each element is a channel's only pixel.
  ops::Index sizes = given.shape();
  if (given.rank() == 2) sizes.emplace_back(1);
  const Tensor x = given.rank() == 2 ? ops::reshape(given, sizes) : given;
  const Tensor y =
      ops::normalize_channels(x, grouped ? static_cast<int>(n.integer("num_groups", 1)) : 0,
                              of_channels(l.in(1), x, of_groups),
                              of_channels(l.in(2), x, of_groups), n.real("epsilon", 1e-5f));
  return {given.rank() == 2 ? ops::reshape(y, given.shape()) : y};
}

std::vector<Tensor> lower_lrn(Lowering &l) {
  const Tensor x = l.in(0);
  const Node &n = l.node();
  const int size = static_cast<int>(n.integer("size", 1));
  const float alpha = n.real("alpha", 1e-4f), beta = n.real("beta", 0.75f),
              bias = n.real("bias", 1);
  return {Tensor(
      x.type(), x.shape(),
      [=](const ops::Index &at) {
        Expr sum = zero_of(x.type());
        const Expr channels = x.size(1);
        for (int k = -((size - 1) / 2); k <= size - 1 - (size - 1) / 2; k++) {
          ops::Index from = at;
          const Expr c = at[1] + k;
          from[1] = clamp(c, 0, channels - 1);
          const Expr v = x(from);
          sum = sum + select(c >= 0 && c < channels, v * v, zero_of(x.type()));
        }
        const Expr base = cast(x.type(), Expr(bias)) +
                          cast(x.type(), Expr(alpha / static_cast<float>(size))) * sum;
        return x(at) / pow(base, cast(x.type(), Expr(beta)));
      },
      x.detached_stages())};
}

// The loss of one point: -x[image, class, ...] * weight[class], 0 for the class that is ignored.
std::vector<Tensor> likelihood_loss(Lowering &l, const Tensor &x) {
  const Tensor target = l.in(1);
  const Tensor weight = l.has(2) ? l.in(2) : Tensor();
  const bool ignores = l.node().has("ignore_index");
  const int ignored = static_cast<int>(l.node().integer("ignore_index", -1));
  const Expr classes = x.size(1);
  auto weighed = [=](const ops::Index &at) {
    const Expr t = cast<int32_t>(target(at));
    Expr w = cast(x.type(), Expr(1));
    if (weight.defined()) w = weight({clamp(t, 0, classes - 1)});
    return ignores ? select(t == ignored, zero_of(x.type()), w) : w;
  };
  const Tensor weights(x.type(), target.shape(), weighed);
  const Tensor losses(
      x.type(), target.shape(),
      [=](const ops::Index &at) {
        ops::Index from = at;
        from.insert(from.begin() + 1, clamp(cast<int32_t>(target(at)), 0, classes - 1));
        return -x(from) * weighed(at);
      },
      x.detached_stages());
  const std::string reduction = l.node().text("reduction", "mean");
  if (reduction == "none") return {losses};
  const auto axes = axes_from(0, target.rank());
  const Tensor sum = ops::reduce(losses, ops::Reduction::Sum, axes, false);
  if (reduction == "sum") return {sum};
  return {ops::divide(sum, ops::reduce(weights, ops::Reduction::Sum, axes, false))};
}
void infer_loss(Inference &i) {
  const bool all = i.node().text("reduction", "mean") == "none";
  if (i.rank(0) < 2 || i.rank(1) != i.rank(0) - 1)
    i.fail("scores have rank " + std::to_string(i.rank(0)) + " and targets " +
               std::to_string(i.rank(1)),
           "targets have no dimension of classes");
  i.result(0, i.type(0), all ? i.shape(1) : Shape());
  i.result(1, i.type(0), i.shape(0));
}
std::vector<Tensor> lower_nll(Lowering &l) { return likelihood_loss(l, l.in(0)); }
std::vector<Tensor> lower_cross_entropy(Lowering &l) {
  const Tensor x = ops::log_softmax(l.in(0), {1});
  std::vector<Tensor> results = likelihood_loss(l, x);
  if (l.wants(1)) results.push_back(x);
  return results;
}

}  // namespace

std::vector<Operator> network_operators() {
  const auto other = Operator::Other;
  return {
      {"", "MatMul", other, infer_matmul, lower_matmul},
      {"", "Gemm", other, infer_gemm, lower_gemm},
      {"", "Conv", other, infer_conv, lower_conv},
      {"", "ConvTranspose", other, infer_conv_transpose, lower_conv_transpose},
      {"", "MaxPool", other, infer_pool, lower_pool},
      {"", "AveragePool", other, infer_pool, lower_pool},
      {"", "LpPool", other, infer_pool, lower_pool},
      {"", "GlobalAveragePool", other, infer_global_pool, lower_global_pool},
      {"", "GlobalMaxPool", other, infer_global_pool, lower_global_pool},
      {"", "GlobalLpPool", other, infer_global_pool, lower_global_pool},
      {"", "BatchNormalization", other, infer_batch_norm, lower_batch_norm},
      {"", "LayerNormalization", other, infer_layer_norm, lower_layer_norm},
      {"", "RMSNormalization", other, infer_layer_norm, lower_layer_norm},
      {"", "InstanceNormalization", other, infer_channel_norm, lower_channel_norm},
      {"", "GroupNormalization", other, infer_channel_norm, lower_channel_norm},
      {"", "LRN", other, infer_lrn, lower_lrn},
      {"", "NegativeLogLikelihoodLoss", other, infer_loss, lower_nll},
      {"", "SoftmaxCrossEntropyLoss", other, infer_loss, lower_cross_entropy},
  };
}

}  // namespace polyhalite::onnx
