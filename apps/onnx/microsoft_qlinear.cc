// Operators of com.microsoft from bytes to bytes, as models that onnxruntime has quantised have
// them: dequantisations, an operator, and a quantisation, which join_quantized puts together.
#include "apps/onnx/expansion_call.h"

namespace polyhalite::onnx {

namespace {

ValueId zero_point(Call &c, size_t i, size_t like) {
  return c.has(i) ? c.in(i) : c.w.op("CastLike", {c.w.integer(0), c.in(like)});
}

// Operand i, whose scale and zero point stand behind it.
ValueId numbers(Call &c, size_t i) {
  return c.w.op("DequantizeLinear", {c.in(i), c.in(i + 1), zero_point(c, i + 2, i)});
}

// Result 0 is y in steps; operand `scale` is their size, and the zero point stands behind it.
void define_steps(Call &c, ValueId y, size_t scale) {
  c.define(0, c.w.op("QuantizeLinear", {y, c.in(scale), zero_point(c, scale + 1, 0)}));
}

void expand_add(Call &c) { define_steps(c, c.w.op("Add", {numbers(c, 0), numbers(c, 3)}), 6); }
void expand_mul(Call &c) { define_steps(c, c.w.op("Mul", {numbers(c, 0), numbers(c, 3)}), 6); }
void expand_sigmoid(Call &c) { define_steps(c, c.w.op("Sigmoid", {numbers(c, 0)}), 3); }
void expand_leaky_relu(Call &c) {
  define_steps(c, c.w.op("LeakyRelu", {numbers(c, 0)}, {{"alpha", c.node.real("alpha", 0.01f)}}),
               3);
}
void expand_where(Call &c) {
  define_steps(c, c.w.op("Where", {c.in(0), numbers(c, 1), numbers(c, 4)}), 7);
}

void expand_softmax(Call &c) {
  Attributes attributes = {{"axis", c.node.integer("axis", -1)}};
  // Dimensions from the axis on were one.
  if (c.node.integer("opset", 13) < 13) attributes["trailing"] = int64_t{1};
  define_steps(c, c.w.op("Softmax", {numbers(c, 0)}, attributes), 3);
}

void expand_concat(Call &c) {
  if (c.node.inputs.size() % 3 != 2)
    c.fail("it has " + std::to_string(c.node.inputs.size()) + " operands",
           "they are a scale and a zero point, and three for each part");
  std::vector<ValueId> parts;
  for (size_t i = 2; i < c.node.inputs.size(); i += 3) parts.push_back(numbers(c, i));
  const ValueId all = c.w.op("Concat", parts, {{"axis", c.node.integer("axis", 0)}});
  c.define(0, c.w.op("QuantizeLinear", {all, c.in(0), c.in(1)}));
}

// What `f` writes for an image whose channels are behind the batch, where x may have them last.
template <typename F>
ValueId with_channels_first(Call &c, ValueId x, bool channels_last, const F &f) {
  if (!channels_last) return f(x);
  const auto &shape = c.w.graph().value(c.in(0)).shape;
  const auto rank = shape ? static_cast<int64_t>(shape->size()) : int64_t{4};
  std::vector<int64_t> to{0, rank - 1}, back{0};
  for (int64_t d = 1; d + 1 < rank; d++) to.push_back(d);
  for (int64_t d = 2; d < rank; d++) back.push_back(d);
  back.push_back(1);
  const ValueId y = f(c.w.op("Transpose", {x}, {{"perm", to}}));
  return c.w.op("Transpose", {y}, {{"perm", back}});
}

Attributes without(Attributes attributes, const char *name) {
  attributes.erase(name);
  return attributes;
}

void expand_average_pool(Call &c) {
  const bool last = c.node.integer("channels_last", 0) != 0;
  const Attributes attributes = without(c.node.attributes, "channels_last");
  define_steps(
      c,
      with_channels_first(c, numbers(c, 0), last,
                          [&](ValueId x) { return c.w.op("AveragePool", {x}, attributes); }),
      3);
}

void expand_global_average_pool(Call &c) {
  const bool last = c.node.integer("channels_last", 0) != 0;
  define_steps(c,
               with_channels_first(c, numbers(c, 0), last,
                                   [&](ValueId x) { return c.w.op("GlobalAveragePool", {x}); }),
               3);
}

void expand_max_pool(Call &c) {
  c.define(0, with_channels_first(c, c.in(0), true, [&](ValueId x) {
             return c.w.op("MaxPool", {x}, c.node.attributes);
           }));
}

void expand_quantized_conv(Call &c) {
  const bool last = c.node.integer("channels_last", 0) != 0;
  const Attributes attributes = without(c.node.attributes, "channels_last");
  c.define(0, with_channels_first(c, c.in(0), last, [&](ValueId x) {
             std::vector<ValueId> operands = c.node.inputs;
             operands[0] = x;
             return c.w.op("QLinearConv", operands, attributes);
           }));
}

// alpha * (A x B) + C: C in steps of all three factors. Without a scale of results they are
// numbers.
void expand_quantized_gemm(Call &c) {
  auto turned = [&](size_t i, const char *flag) {
    if (c.node.integer(flag, 0) == 0) return c.in(i);
    return c.w.op("Transpose", {c.in(i)}, {{"perm", std::vector<int64_t>{1, 0}}});
  };
  ValueId y = c.w.op("MatMulInteger", {turned(0, "transA"), turned(3, "transB"), c.in(2), c.in(5)});
  if (c.has(6)) y = c.w.op("Add", {y, c.in(6)});
  y = c.w.op("Cast", {y}, {{"to", static_cast<int64_t>(ElementType::Float32)}});
  ValueId scale = c.w.op("Mul", {c.in(1), c.in(4)});
  if (const float alpha = c.node.real("alpha", 1); alpha != 1)
    scale = c.w.op("Mul", {scale, c.w.number(alpha, scale)});
  y = c.w.op("Mul", {y, scale});
  if (c.has(7)) {
    define_steps(c, y, 7);
  } else {
    c.define(0, y);
  }
}

}  // namespace

std::vector<Expansion> qlinear_expansions() {
  constexpr size_t kAny = 1 << 16;
  const std::vector<std::string> window = {"auto_pad",     "ceil_mode", "dilations",
                                           "kernel_shape", "pads",      "strides"};
  return {
      {kMicrosoft, "NhwcMaxPool", 1, 1, 1, window, expand_max_pool},
      {kMicrosoft, "QGemm", 6, 9, 1, {"alpha", "transA", "transB"}, expand_quantized_gemm},
      {kMicrosoft, "QLinearAdd", 7, 8, 1, {}, expand_add},
      {kMicrosoft,
       "QLinearAveragePool",
       4,
       5,
       1,
       {"auto_pad", "ceil_mode", "channels_last", "count_include_pad", "kernel_shape", "pads",
        "strides"},
       expand_average_pool},
      {kMicrosoft, "QLinearConcat", 5, kAny, 1, {"axis"}, expand_concat},
      {kMicrosoft,
       "QLinearConv",
       8,
       9,
       1,
       {"auto_pad", "channels_last", "dilations", "group", "kernel_shape", "pads", "strides"},
       expand_quantized_conv},
      {kMicrosoft,
       "QLinearGlobalAveragePool",
       5,
       5,
       1,
       {"channels_last"},
       expand_global_average_pool},
      {kMicrosoft, "QLinearLeakyRelu", 4, 5, 1, {"alpha"}, expand_leaky_relu},
      {kMicrosoft, "QLinearMul", 7, 8, 1, {}, expand_mul},
      {kMicrosoft, "QLinearSigmoid", 4, 5, 1, {}, expand_sigmoid},
      {kMicrosoft, "QLinearSoftmax", 5, 5, 1, {"axis", "opset"}, expand_softmax},
      {kMicrosoft, "QLinearWhere", 9, 9, 1, {}, expand_where},
  };
}

}  // namespace polyhalite::onnx
