// Quantised operators.
#include <optional>

#include "apps/onnx/operators.h"
#include "apps/onnx/operators/narrow.h"
#include "apps/onnx/operators/window.h"
#include "lang/ir/node.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;

bool is_single(const Expr &size) {
  int64_t n = 0;
  return is_const_int(size, &n) && n == 1;
}

// Scales and zero points meet the operand: one, one for each place along the axis, or one for each
// block of places.
Tensor spread(Lowering &l, const Tensor &v, const Tensor &x) {
  if (v.rank() == 0 || (v.rank() == 1 && is_single(v.size(0)))) return ops::reshape(v, {});
  const int axis = l.axis(l.node().integer("axis", 1), x.rank());
  if (v.rank() == 1) {
    ops::Index shape{v.size(0)};
    for (int d = axis + 1; d < x.rank(); d++) shape.emplace_back(1);
    return ops::reshape(v, shape);
  }
  const int block = static_cast<int>(l.node().integer("block_size", 0));
  if (block <= 0) return v;
  const size_t a = static_cast<size_t>(axis);
  return Tensor(v.type(), x.shape(), [=](const ops::Index &at) {
    ops::Index from = at;
    from[a] = at[a] / block;
    return v(from);
  });
}

Tensor zero(Type t) { return Tensor(cast(t, Expr(0))); }

// Several scales in a list are one for each place along the axis.
void require_scales(const Inference &i) {
  if (i.shape(1).size() != 1 || i.shape(1)[0].is(1)) return;
  const auto axis = static_cast<size_t>(i.axis(i.node().integer("axis", 1), i.rank(0)));
  i.require_equal(i.shape(0)[axis], i.shape(1)[0], "places along the axis and scales");
}

void infer_quantize(Inference &i) {
  require_scales(i);
  ElementType type = ElementType::UInt8;
  if (i.has(2)) {
    type = i.type(2);
  } else if (i.node().integer("output_dtype", 0) != 0) {
    type = static_cast<ElementType>(i.node().integer("output_dtype", 0));
  }
  const auto t = language_type(type);
  if (!t || !t->is_int_or_uint() || t->bits() > 16 || type == ElementType::Float8E8M0)
    i.fail("the result has elements of " + element_name(type), "they are not supported");
  i.result(0, type, i.shape(0));
}
// round(x / scale) + zero point in a narrow type; of floats the sum, rounded once.
Tensor narrow_quantized(Lowering &l, ElementType element) {
  const Tensor x = l.in(0);
  const bool integer = is_narrow_integer(element);
  const bool has_point = l.has(2);
  const Tensor point =
      has_point ? decoded(spread(l, l.in(2), x), element, Float(32)) : zero(Float(32));
  const auto range = integer ? narrow_range(element) : std::pair<int, int>();
  const Tensor steps = ops::elementwise(
      {x, spread(l, l.in(1), x), point}, Float(32), [=](const std::vector<Expr> &v) {
        const Expr quotient = cast<float>(v[0]) / cast<float>(v[1]);
        if (!integer) return has_point ? quotient + v[2] : quotient;  // -0 stays
        return clamp(round(quotient) + v[2], static_cast<float>(range.first),
                     static_cast<float>(range.second));
      });
  return encoded(steps, element, l.node().integer("saturate", 1) != 0, "up");
}

std::vector<Tensor> lower_quantize(Lowering &l) {
  const Type type = l.result_type(0);
  const ElementType element = l.result_element(0);
  if (is_narrow(element)) return {narrow_quantized(l, element)};
  return {ops::quantize(l.in(0), spread(l, l.in(1), l.in(0)),
                        l.has(2) ? spread(l, l.in(2), l.in(0)) : zero(type), type)};
}

void infer_dequantize(Inference &i) {
  require_scales(i);
  if (!language_type(i.type(0)))
    i.fail("elements of " + element_name(i.type(0)), "they are not supported");
  const int64_t wanted = i.node().integer("output_dtype", 0);
  i.result(0, wanted ? static_cast<ElementType>(wanted) : i.type(1), i.shape(0));
}
std::vector<Tensor> lower_dequantize(Lowering &l) {
  auto values = [&](size_t i) {
    const ElementType element = l.element(i);
    const bool codes = is_narrow(element) && !is_narrow_integer(element);
    return codes ? decoded(l.in(i), element, Float(32)) : l.in(i);
  };
  const Tensor x = values(0);
  return {ops::dequantize(x, spread(l, l.in(1), x),
                          l.has(2) ? spread(l, values(2), x) : zero(x.type()), l.result_type(0))};
}

void infer_dynamic_quantize(Inference &i) {
  i.result(0, ElementType::UInt8, i.shape(0));
  i.result(1, ElementType::Float32, {});
  i.result(2, ElementType::UInt8, {});
}
std::vector<Tensor> lower_dynamic_quantize(Lowering &l) {
  const Tensor x = l.in(0);
  std::vector<int> axes;
  for (int d = 0; d < x.rank(); d++) axes.push_back(d);
  const Tensor high = ops::elementwise(ops::reduce(x, ops::Reduction::Max, axes, false),
                                       [](Expr v) { return max(v, 0.0f); });
  const Tensor low = ops::elementwise(ops::reduce(x, ops::Reduction::Min, axes, false),
                                      [](Expr v) { return min(v, 0.0f); });
  // Of zeros alone any scale is right but 0.
  const Tensor scale = ops::elementwise({high, low}, Float(32), [](const std::vector<Expr> &v) {
    return select(v[0] == v[1], 1.0f, (v[0] - v[1]) / 255.0f);
  });
  const Tensor point = ops::elementwise({low, scale}, UInt(8), [](const std::vector<Expr> &v) {
    return cast<uint8_t>(clamp(round(-v[0] / v[1]), 0.0f, 255.0f));
  });
  return {ops::quantize(x, scale, point, UInt(8)), scale, point};
}

// Integers with their zero point taken off.
Tensor centred(const Tensor &x, const Tensor &point) {
  if (!point.defined()) return ops::convert(x, Int(32));
  return ops::elementwise({x, point}, Int(32), [](const std::vector<Expr> &v) {
    return cast<int32_t>(v[0]) - cast<int32_t>(v[1]);
  });
}

// A zero point of the left matrix is one, or one for each row.
Tensor by_row(const Tensor &point) {
  if (!point.defined() || point.rank() == 0) return point;
  if (point.rank() == 1) {
    return is_single(point.size(0)) ? ops::reshape(point, {})
                                    : ops::reshape(point, {point.size(0), Expr(1)});
  }
  return point;
}
Tensor by_column(const Tensor &point) {
  if (!point.defined() || point.rank() != 1 || !is_single(point.size(0))) return point;
  return ops::reshape(point, {});
}
Tensor by_channel(const Tensor &v, int rank) {
  if (!v.defined() || v.rank() == 0 || is_single(v.size(0))) {
    return v.defined() ? ops::reshape(v, {}) : v;
  }
  ops::Index shape{v.size(0)};
  for (int d = 2; d < rank; d++) shape.emplace_back(1);
  return ops::reshape(v, shape);
}

// A zero point that is 0 is none.
Tensor point_of(const Lowering &l, size_t i) {
  return l.has(i) && !l.is_literal_zero(i) ? l.in(i) : Tensor();
}

// Behind the format's operands, see sum_weights().
Tensor column_sums(const Lowering &l, size_t i) {
  return l.has(i) ? ops::unsqueeze(l.in(i), {0}) : Tensor();
}

// Perhaps packed, see pack_bytes().
bool is_packed(const Lowering &l) { return l.node().has("packed_columns"); }
Tensor right_operand(const Lowering &l, size_t i) {
  return is_packed(l) ? ops::packed_matrix(l.in(i)) : l.in(i);
}

// Vectors are a row and a column, as in MatMul.
Tensor integer_product(const Lowering &l, const Tensor &a_point, size_t right,
                       const Tensor &b_point, const Tensor &sums) {
  Tensor a = l.in(0), b = right_operand(l, right);
  if (a.rank() == 1) a = ops::unsqueeze(a, {0});
  if (b.rank() == 1) b = ops::unsqueeze(b, {1});
  return ops::quantized_matmul(a, by_row(a_point), b, by_column(b_point), sums);
}
// The dimension of a row or column that was a vector is none of the result's.
Tensor in_result_shape(const Lowering &l, const Tensor &product) {
  const std::vector<Expr> sizes = l.result_sizes(0);
  return static_cast<int>(sizes.size()) == product.rank() ? product : ops::reshape(product, sizes);
}

void infer_matmul_integer(Inference &i) { infer_product(i, 1, ElementType::Int32); }
std::vector<Tensor> lower_matmul_integer(Lowering &l) {
  return {
      in_result_shape(l, integer_product(l, point_of(l, 2), 1, point_of(l, 3), column_sums(l, 4)))};
}

// sum * (a's scale * b's scale / result's scale), with the result's zero point.
Tensor requantized(const Tensor &sum, const Tensor &a, const Tensor &b, const Tensor &y,
                   const Tensor &point, Type type) {
  const Tensor scale = ops::stored(ops::elementwise({a, b, y}, Float(32),
                                                    [](const std::vector<Expr> &v) {
                                                      return cast<float>(v[0]) * cast<float>(v[1]) /
                                                             cast<float>(v[2]);
                                                    }),
                                   "scale");
  return ops::elementwise({sum, scale, point}, type, [type](const std::vector<Expr> &v) {
    return ops::point::saturated(cast<float>(v[0]) * v[1], v[2], type);
  });
}

void infer_qlinear_matmul(Inference &i) { infer_product(i, 3, i.type(7)); }
std::vector<Tensor> lower_qlinear_matmul(Lowering &l) {
  const Tensor product = integer_product(l, point_of(l, 2), 3, point_of(l, 5), column_sums(l, 8));
  return {in_result_shape(l, requantized(product, by_row(l.in(1)), by_column(l.in(4)),
                                         by_row(l.in(6)), by_row(l.in(7)), l.result_type(0)))};
}

void infer_conv_like(Inference &i, size_t weights, ElementType type) {
  const Shape &x = i.shape(0), &w = i.shape(weights);
  if (x.size() < 3 || w.size() != x.size())
    i.fail("image and kernels have ranks " + std::to_string(x.size()) + " and " +
               std::to_string(w.size()),
           "they are equal and at least 3");
  i.require_equal(x[1], w[1] * Dim(i.node().integer("group", 1)), "channels of image and kernels");
  const WindowShape window = window_of(i, x, kernel_of(i, w));
  Shape shape{x[0], w[0]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  i.result(0, type, shape);
}
void infer_conv_integer(Inference &i) { infer_conv_like(i, 1, ElementType::Int32); }
Tensor kernel_point(const Tensor &v, int rank) {
  if (!v.defined() || v.rank() == 0 || is_single(v.size(0))) {
    return v.defined() ? ops::reshape(v, {}) : v;
  }
  ops::Index shape{v.size(0)};
  for (int d = 1; d < rank; d++) shape.emplace_back(1);
  return ops::reshape(v, shape);
}
// The elements of a shape from dimension `first` on; nothing where a size is open.
std::optional<int64_t> known_elements(const Shape &shape, size_t first) {
  int64_t n = 1;
  for (size_t d = first; d < shape.size(); d++) {
    const auto size = shape[d].constant();
    if (!size) return std::nullopt;
    n *= *size;
  }
  return n;
}

// Kernels that are held with the results side by side.
Tensor results_innermost(const Tensor &w) {
  std::vector<int> last, first{w.rank() - 1};
  for (int d = 1; d < w.rank(); d++) {
    last.push_back(d);
    first.push_back(d - 1);
  }
  last.push_back(0);
  return ops::transpose(ops::stored(ops::transpose(w, last), "kernels"), first);
}

// Does the processor have dot products of the channels of a group? Those of one group get zeros
// behind them.
bool has_dots(const Lowering &l, size_t x, size_t w, int groups) {
  constexpr int kDot = 4;
  const Shape &shape = l.shape(w);
  if (!known_elements(shape, 0) || !l.shape(x)[1].constant()) return false;
  const int results = static_cast<int>(*shape[0].constant()) / groups;
  return (groups == 1 || *shape[1].constant() % kDot == 0) && results >= kDot &&
         ops::dot_strips(l.in(x).type(), l.in(w).type(), kDot, l.target());
}

// Of bytes and known channels, as products of bytes; else of the differences from the zero points.
Tensor convolution_of_steps(Lowering &l, size_t x, size_t x_point, size_t w, size_t w_point,
                            size_t w_sums) {
  const int groups = static_cast<int>(l.node().integer("group", 1));
  const ops::Window window = window_of(l, l.shape(x), kernel_of(l, l.shape(w))).lowered(l);
  const Tensor x_zero = point_of(l, x_point), w_zero = point_of(l, w_point);
  const Tensor from = x_zero.defined() ? ops::reshape(x_zero, {}) : Tensor();
  const std::vector<int64_t> tile = l.node().integers("winograd_tile");
  if (!tile.empty()) {
    return ops::quantized_winograd(l.in(x), from, l.in(w),
                                   static_cast<int>(l.node().integer("strips_of", 0)), window,
                                   std::vector<int>(tile.begin(), tile.end()));
  }
  const Tensor sums = l.has(w_sums) ? l.in(w_sums) : Tensor();
  const auto of_bytes = [&](const Tensor &kernels, const Tensor &kernels_zero) {
    return ops::quantized_convolution(l.in(x), from, kernels, by_column(kernels_zero), window,
                                      groups, sums);
  };
  if (l.node().has("packed_kernels")) return of_bytes(ops::packed_kernels(l.in(w)), w_zero);
  if (is_packed(l)) return of_bytes(right_operand(l, w), w_zero);
  const bool bytes = l.in(x).type().bits() == 8 && l.in(w).type().bits() == 8;
  const auto terms = known_elements(l.shape(w), 1);
  const bool depthwise = groups > 1 && l.shape(w)[0].is(groups);
  const bool single = depthwise && l.shape(w)[1].is(1);
  if (bytes && ((single && !w_zero.defined()) || has_dots(l, x, w, groups)))
    return of_bytes(l.in(w), w_zero);
  // Floats hold sums of a few products of bytes exactly, and need no neighbours to multiply: few
  // channels have none.
  constexpr int64_t kExact = 1 << 24, kMostOfProduct = 255 * 255, kManyChannels = 16;
  const bool few = groups > 1 || l.shape(x)[1].constant().value_or(kManyChannels) < kManyChannels;
  // A depthwise one turns bytes, where channels lie apart: the floats are four times as large.
  const Tensor pixels = centred(depthwise ? ops::channels_together(l.in(x)) : l.in(x), from);
  const Tensor kernels = centred(l.in(w), kernel_point(w_zero, l.rank(w)));
  if (bytes && few && terms && *terms < kExact / kMostOfProduct) {
    const Tensor x_numbers = ops::convert(pixels, Float(32));
    const Tensor numbers = ops::convert(kernels, Float(32));
    const auto results = l.shape(w)[0].constant();
    if (groups == 1 && results) {
      const int count = static_cast<int>(*results);
      const int width = ops::strip_width(count, Float(32), l.target());
      const Tensor strips = ops::stored(ops::kernel_strips(numbers, width), "strips");
      return ops::convert(ops::convolution(x_numbers, strips, count, window), Int(32));
    }
    return ops::convert(ops::convolution(x_numbers, results_innermost(numbers), window, groups),
                        Int(32));
  }
  if (bytes && groups == 1 && terms && l.shape(x)[1].constant()) return of_bytes(l.in(w), w_zero);
  return ops::convolution(pixels, kernels, window, groups, Int(32));
}
std::vector<Tensor> lower_conv_integer(Lowering &l) {
  return {convolution_of_steps(l, 0, 2, 1, 3, 4)};
}

void infer_qlinear_conv(Inference &i) { infer_conv_like(i, 3, i.type(7)); }
std::vector<Tensor> lower_qlinear_conv(Lowering &l) {
  const int rank = l.rank(0);
  Tensor sum = convolution_of_steps(l, 0, 2, 3, 5, 9);
  if (l.has(8)) sum = ops::add(sum, by_channel(l.in(8), rank));
  return {requantized(sum, ops::reshape(l.in(1), {}), by_channel(l.in(4), rank),
                      ops::reshape(l.in(6), {}), ops::reshape(l.in(7), {}), l.result_type(0))};
}

// Operators of com.microsoft that quantised models use: float arithmetic between a dequantisation
// and a quantisation.
Tensor real(const Tensor &x, const Tensor &scale, const Tensor &point) {
  return ops::dequantize(x, ops::reshape(scale, {}),
                         point.defined() ? ops::reshape(point, {}) : zero(x.type()), Float(32));
}
Tensor steps(const Tensor &x, const Tensor &scale, const Tensor &point, Type type) {
  return ops::quantize(x, ops::reshape(scale, {}),
                       point.defined() ? ops::reshape(point, {}) : zero(type), type);
}
Tensor optional(Lowering &l, size_t i) { return l.has(i) ? l.in(i) : Tensor(); }

void infer_qlinear_add(Inference &i) {
  i.result(0, i.type(0), broadcast(i, {i.shape(0), i.shape(3)}));
}
std::vector<Tensor> lower_qlinear_add(Lowering &l) {
  const Tensor a = real(l.in(0), l.in(1), optional(l, 2)),
               b = real(l.in(3), l.in(4), optional(l, 5));
  return {steps(ops::add(a, b), l.in(6), optional(l, 7), l.result_type(0))};
}
std::vector<Tensor> lower_qlinear_mul(Lowering &l) {
  const Tensor a = real(l.in(0), l.in(1), optional(l, 2)),
               b = real(l.in(3), l.in(4), optional(l, 5));
  return {steps(ops::multiply(a, b), l.in(6), optional(l, 7), l.result_type(0))};
}

// Operands are the result's scale and zero point, then each part's values, scale and zero point.
void infer_qlinear_concat(Inference &i) {
  if (i.inputs() < 5 || (i.inputs() - 2) % 3 != 0)
    i.fail("it has " + std::to_string(i.inputs()) + " operands",
           "they are two, and three for each part");
  Shape shape = i.shape(2);
  const auto a = static_cast<size_t>(i.axis(i.node().integer("axis", 0), i.rank(2)));
  for (size_t k = 5; k < i.inputs(); k += 3) {
    i.require_rank(k, i.rank(2), i.rank(2));
    for (size_t d = 0; d < shape.size(); d++) {
      if (d == a) {
        shape[d] = shape[d] + i.shape(k)[d];
      } else {
        i.require_equal(shape[d], i.shape(k)[d], "sizes of dimension " + std::to_string(d));
      }
    }
  }
  i.result(0, i.type(1), shape);
}
std::vector<Tensor> lower_qlinear_concat(Lowering &l) {
  std::vector<Tensor> parts;
  for (size_t k = 2; k + 2 < l.inputs(); k += 3)
    parts.push_back(real(l.in(k), l.in(k + 1), l.in(k + 2)));
  const Tensor y = ops::concat(parts, l.axis(l.node().integer("axis", 0), l.rank(2)));
  return {steps(y, l.in(0), l.in(1), l.result_type(0))};
}

// Operands 1, 2 and 4, 5 are scales and zero points of the matrices; 6 is a bias in the product's
// steps; without 7 and 8, the result's, it is a float.
void infer_qgemm(Inference &i) {
  i.require_rank(0, 2, 2);
  i.require_rank(3, 2, 2);
  const bool ta = i.node().integer("transA", 0) != 0, tb = i.node().integer("transB", 0) != 0;
  const Shape &a = i.shape(0), &b = i.shape(3);
  i.require_equal(a[ta ? 0 : 1], b[tb ? 1 : 0], "columns and rows");
  const Shape shape{a[ta ? 1 : 0], b[tb ? 0 : 1]};
  if (i.has(6)) broadcast(i, {shape, i.shape(6)});
  i.result(0, i.has(7) ? (i.has(8) ? i.type(8) : i.type(0)) : ElementType::Float32, shape);
}
std::vector<Tensor> lower_qgemm(Lowering &l) {
  const bool ta = l.node().integer("transA", 0) != 0, tb = l.node().integer("transB", 0) != 0;
  const float alpha = l.node().real("alpha", 1);
  auto turned = [](const Tensor &t, bool yes) { return yes ? ops::transpose(t, {1, 0}) : t; };
  // One scale and zero point of b, or one for each column.
  auto point = [&](size_t i) {
    return l.has(i) ? ops::reshape(l.in(i), l.rank(i) == 1 ? l.in(i).shape() : ops::Index{})
                    : zero(l.in(i - 2).type());
  };
  Tensor sum = ops::matmul(centred(turned(l.in(0), ta), point(2)),
                           centred(turned(l.in(3), tb), point(5)), Int(32));
  if (l.has(6)) sum = ops::add(sum, l.in(6));
  const Tensor scale = ops::elementwise({l.in(1), l.in(4)}, Float(32),
                                        [alpha](const auto &v) { return v[0] * v[1] * alpha; });
  if (!l.has(7)) return {ops::multiply(ops::convert(sum, Float(32)), scale)};
  const Tensor one(Expr(1.0f));
  return {requantized(sum, scale, one, ops::reshape(l.in(7), {}),
                      l.has(8) ? ops::reshape(l.in(8), {}) : zero(l.result_type(0)),
                      l.result_type(0))};
}

void infer_qlinear_same(Inference &i) { i.result(0, i.type(0), i.shape(0)); }
std::vector<Tensor> lower_qlinear_function(Lowering &l) {
  const Tensor x = real(l.in(0), l.in(1), optional(l, 2));
  const float alpha = l.node().real("alpha", 0.01f);
  const bool sigmoid = l.node().op == "QLinearSigmoid";
  const Tensor y = ops::elementwise(x, [=](const Expr &v) {
    return sigmoid ? ops::point::sigmoid(v) : select(v < 0.0f, v * alpha, v);
  });
  return {steps(y, l.in(3), optional(l, 4), l.result_type(0))};
}

void infer_qlinear_global_pool(Inference &i) {
  i.require_rank(0, 3, INT32_MAX);
  Shape shape = i.shape(0);
  const bool last = i.node().integer("channels_last", 0) != 0;
  for (size_t d = last ? 1 : 2; d < shape.size() - (last ? 1 : 0); d++) shape[d] = 1;
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_qlinear_global_pool(Lowering &l) {
  const bool last = l.node().integer("channels_last", 0) != 0;
  std::vector<int> axes;
  for (int d = last ? 1 : 2; d < l.rank(0) - (last ? 1 : 0); d++) axes.push_back(d);
  const Tensor x = real(l.in(0), l.in(1), optional(l, 2));
  return {steps(ops::reduce(x, ops::Reduction::Mean, axes, true), l.in(3), optional(l, 4),
                l.result_type(0))};
}

void infer_qlinear_pool(Inference &i) {
  const std::vector<int64_t> kernel = i.node().integers("kernel_shape");
  const WindowShape window = window_of(i, i.shape(0), kernel);
  Shape shape{i.shape(0)[0], i.shape(0)[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  if (i.node().integer("channels_last", 0)) i.fail("channels_last is set", "it is not supported");
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_qlinear_pool(Lowering &l) {
  const WindowShape window = window_of(l, l.shape(0), l.node().integers("kernel_shape"));
  const Tensor x = real(l.in(0), l.in(1), optional(l, 2));
  const bool padding = l.node().integer("count_include_pad", 0) != 0;
  // onnxruntime's counts all cells of a window then, those beyond the padding, too.
  const ops::Window lowered = window.lowered(l);
  std::vector<int> after;
  for (size_t i = 0; i < lowered.kernel.size(); i++)
    after.push_back(static_cast<int>(window.after[i]) + lowered.kernel[i] * lowered.dilation[i]);
  const Tensor y = ops::pool(
      x, lowered, padding ? ops::Pooling::AverageWithPadding : ops::Pooling::Average, after);
  return {steps(y, l.in(3), optional(l, 4), l.result_type(0))};
}
std::vector<Tensor> lower_qlinear_softmax(Lowering &l) {
  const Tensor x = real(l.in(0), l.in(1), optional(l, 2));
  const int axis = l.axis(l.node().integer("axis", -1), l.rank(0));
  std::vector<int> axes{axis};
  if (l.node().integer("opset", 13) < 13) {
    for (int d = axis + 1; d < l.rank(0); d++) axes.push_back(d);
  }
  return {steps(ops::softmax(x, axes), l.in(3), optional(l, 4), l.result_type(0))};
}

}  // namespace

std::vector<Operator> quantized_operators() {
  const auto other = Operator::Other;
  return {
      {"", "QuantizeLinear", Operator::Pointwise, infer_quantize, lower_quantize},
      {"", "DequantizeLinear", Operator::Pointwise, infer_dequantize, lower_dequantize},
      {"", "DynamicQuantizeLinear", other, infer_dynamic_quantize, lower_dynamic_quantize},
      {"", "MatMulInteger", other, infer_matmul_integer, lower_matmul_integer},
      {"", "QLinearMatMul", other, infer_qlinear_matmul, lower_qlinear_matmul},
      {"", "ConvInteger", other, infer_conv_integer, lower_conv_integer},
      {"", "QLinearConv", other, infer_qlinear_conv, lower_qlinear_conv},
      {"com.microsoft", "QGemm", other, infer_qgemm, lower_qgemm},
      {"com.microsoft", "QLinearAdd", other, infer_qlinear_add, lower_qlinear_add},
      {"com.microsoft", "QLinearAveragePool", other, infer_qlinear_pool, lower_qlinear_pool},
      {"com.microsoft", "QLinearConcat", other, infer_qlinear_concat, lower_qlinear_concat},
      {"com.microsoft", "QLinearGlobalAveragePool", other, infer_qlinear_global_pool,
       lower_qlinear_global_pool},
      {"com.microsoft", "QLinearLeakyRelu", other, infer_qlinear_same, lower_qlinear_function},
      {"com.microsoft", "QLinearMul", other, infer_qlinear_add, lower_qlinear_mul},
      {"com.microsoft", "QLinearSigmoid", other, infer_qlinear_same, lower_qlinear_function},
      {"com.microsoft", "QLinearSoftmax", other, infer_qlinear_same, lower_qlinear_softmax},
  };
}

}  // namespace polyhalite::onnx
