#include "apps/onnx/join_quantized.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "apps/onnx/rearrange_constant.h"
#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

namespace {

bool is_byte(ElementType t) { return t == ElementType::UInt8 || t == ElementType::Int8; }

// A tensor in steps: (values - point) * scale. One scale and point for all, or of each index along
// an axis.
struct Steps {
  ValueId values = kNone, scale = kNone, point = kNone;
  int64_t axis = 0;
  bool is_uniform = true;
};

// An operator of com.microsoft with the attributes of n.
Node microsoft(const std::string &op, const Node &n, std::vector<ValueId> operands) {
  Node one = n;
  one.domain = kMicrosoft;
  one.op = op;
  one.version = 1;
  one.inputs = std::move(operands);
  return one;
}

class JoiningQuantized {
 public:
  explicit JoiningQuantized(Graph *g) : g_(g), uses_(g->use_counts()) {
    for (size_t i = 0; i < g->nodes.size(); i++) {
      for (ValueId v : g->nodes[i].outputs) {
        if (v != kNone) producer_[v] = i;
      }
      if (g->nodes[i].is("QuantizeLinear")) quantization_[g->nodes[i].inputs[0]] = i;
    }
  }

  void run() {
    // An operator on steps takes the place of the quantisation; nobody reads what stood in front of
    // that then.
    const size_t count = g_->nodes.size();
    std::vector<std::vector<Node>> instead(count);
    for (size_t i = 0; i < count; i++) {
      if (!g_->nodes[i].is("QuantizeLinear")) continue;
      Writer w(g_, &instead[i], g_->nodes[i].name + "/");
      if (!join(g_->nodes[i], w)) instead[i].clear();
    }
    std::vector<char> gone(count);  // quantisations of the parts of what is in steps
    for (size_t i = 0; i < count; i++) {
      if (!g_->nodes[i].is("Split")) continue;
      Writer w(g_, &instead[i], g_->nodes[i].name + "/");
      join_split(g_->nodes[i], w, &gone);
    }
    for (size_t i = 0; i < count; i++) {
      const Node &n = g_->nodes[i];
      const bool product = n.is("MatMul") || n.is("Gemm") || n.is("Conv");
      if (!product || joined_.count(n.outputs[0])) continue;
      Writer w(g_, &instead[i], n.name + "/");
      if (!as_integers(n, w)) instead[i].clear();
    }
    std::vector<Node> nodes;
    for (size_t i = 0; i < count; i++) {
      if (gone[i]) continue;
      if (instead[i].empty()) instead[i].push_back(std::move(g_->nodes[i]));
      nodes.insert(nodes.end(), instead[i].begin(), instead[i].end());
    }
    g_->nodes = std::move(nodes);
    fold_constants();
    for (Node &n : g_->nodes) shorten_points(n);
  }

 private:
  const Constant *constant(ValueId v) const {
    if (v == kNone) return nullptr;
    const auto &c = g_->value(v).constant;
    return c ? &*c : nullptr;
  }
  // What makes the value, of this operator.
  const Node *maker(ValueId v, const char *op = nullptr) const {
    const auto at = producer_.find(v);
    if (at == producer_.end()) return nullptr;
    const Node &n = g_->nodes[at->second];
    return n.domain.empty() && (!op || n.op == op) ? &n : nullptr;
  }
  bool is_used_once(ValueId v) const { return uses_[static_cast<size_t>(v)] == 1; }

  // The scale and point of a node that (de)quantises; nothing where they are not known, or of
  // blocks.
  std::optional<Steps> steps_of_node(const Node &n, ValueId values) const {
    const Constant *scale = constant(n.inputs[1]);
    const Constant *point = n.has_input(2) ? constant(n.inputs[2]) : nullptr;
    if (!scale || scale->type() != ElementType::Float32 || n.integer("block_size", 0) != 0)
      return std::nullopt;
    if (n.has_input(2) && !point) return std::nullopt;
    Steps s;
    s.values = values;
    s.scale = n.inputs[1];
    s.point = n.has_input(2) ? n.inputs[2] : kNone;
    s.axis = n.integer("axis", 1);
    s.is_uniform = scale->elements() == 1;
    if (scale->elements() < 1 || (!s.is_uniform && scale->shape().size() != 1)) return std::nullopt;
    const int64_t points = point ? point->elements() : 1;
    if (points != 1 && points != scale->elements()) return std::nullopt;
    return s;
  }
  // Of what is a dequantised tensor of bytes.
  std::optional<Steps> dequantized(ValueId v) const {
    const Node *n = v == kNone ? nullptr : maker(v, "DequantizeLinear");
    if (!n || !n->has_input(2)) return std::nullopt;
    const auto s = steps_of_node(*n, n->inputs[0]);
    return s && is_byte(constant(s->point)->type()) ? s : std::nullopt;
  }
  // The axis along which c has a scale for each index; nothing where it has not as many.
  std::optional<int64_t> axis_of(const Constant &c, const Steps &s) const {
    const auto rank = static_cast<int64_t>(c.shape().size());
    const int64_t axis = s.axis < 0 ? s.axis + rank : s.axis;
    if (axis < 0 || axis >= rank) return std::nullopt;
    const bool fits = c.shape()[static_cast<size_t>(axis)] == constant(s.scale)->elements();
    return fits ? std::optional<int64_t>(axis) : std::nullopt;
  }
  // A dequantised constant, as kernels are, with one scale or one of each index along an axis.
  std::optional<Steps> known_bytes(ValueId v, int64_t axis) const {
    const auto s = dequantized(v);
    const Constant *c = s ? constant(s->values) : nullptr;
    if (!c || c->is_splat()) return std::nullopt;
    return s->is_uniform || axis_of(*c, *s) == axis ? s : std::nullopt;
  }
  // A bias whose steps are those of the sums: scale of x times scale of w. kNone: there is none;
  // nothing: it is of another kind.
  std::optional<ValueId> bias_in_steps(const Node &n, const Steps &x, const Steps &w) const {
    if (!n.has_input(2)) return kNone;
    const Node *made = maker(n.inputs[2], "DequantizeLinear");
    const auto s = made ? steps_of_node(*made, made->inputs[0]) : std::nullopt;
    const Constant *values = s ? constant(s->values) : nullptr;
    if (!values || values->type() != ElementType::Int32 || values->shape().size() != 1)
      return std::nullopt;
    if (const Constant *point = constant(s->point)) {
      for (int64_t i = 0; i < point->elements(); i++) {
        if (point->integer_at(i) != 0) return std::nullopt;
      }
    }
    const Constant &scale = *constant(s->scale), &ws = *constant(w.scale);
    const int64_t count = std::max(scale.elements(), ws.elements());
    if (std::min(scale.elements(), ws.elements()) != 1 && scale.elements() != ws.elements())
      return std::nullopt;
    for (int64_t i = 0; i < count; i++) {
      const double wanted = constant(x.scale)->number(0) * ws.number(ws.elements() == 1 ? 0 : i);
      const double own = scale.number(scale.elements() == 1 ? 0 : i);
      constexpr double kRounding = 1e-6;
      if (std::abs(own - wanted) > kRounding * wanted) return std::nullopt;
    }
    return s->values;
  }

  // What a value is in these steps.
  int64_t quantized(double value, const Steps &y) const {
    const ElementType type = constant(y.point)->type();
    const double least = type == ElementType::Int8 ? -128 : 0;
    const auto scale = static_cast<float>(constant(y.scale)->number(0));
    const double steps = std::nearbyint(static_cast<float>(value) / scale) +
                         static_cast<double>(constant(y.point)->integer_at(0));
    return static_cast<int64_t>(std::clamp(steps, least, least + 255));
  }

  // Bounds between which a Relu or a Clip with known bounds keeps its operand.
  std::optional<std::pair<double, double>> bounds_of(const Node &n) const {
    constexpr double kMost = std::numeric_limits<double>::infinity();
    if (n.is("Relu")) return std::make_pair(0.0, kMost);
    if (!n.is("Clip")) return std::nullopt;
    std::pair<double, double> bounds{-kMost, kMost};
    for (size_t i = 1; i < n.inputs.size(); i++) {
      if (!n.has_input(i)) continue;
      const Constant *c = constant(n.inputs[i]);
      if (!c || c->elements() != 1) return std::nullopt;
      (i == 1 ? bounds.first : bounds.second) = c->number(0);
    }
    return bounds;
  }

  ValueId byte_constant(ElementType type, int64_t value) {
    const auto byte = static_cast<uint8_t>(value);
    return g_->add_constant("bound", Constant::splat(type, {}, &byte));
  }

  // Zero points of each channel that all are 0 are one: what is known of it makes sums of the other
  // operand needless.
  void shorten_points(Node &n) {
    const bool linear = n.is("QLinearConv") || n.is("QLinearMatMul");
    if (!linear && !n.is("ConvInteger") && !n.is("MatMulInteger")) return;
    for (const size_t i : {size_t{2}, linear ? size_t{5} : size_t{3}}) {
      const Constant *point = n.has_input(i) ? constant(n.inputs[i]) : nullptr;
      if (!point || point->elements() < 2) continue;
      bool zero = true;
      for (int64_t k = 0; k < point->elements(); k++) zero = zero && point->integer_at(k) == 0;
      if (zero) n.inputs[i] = byte_constant(point->type(), 0);
    }
  }

  // Dequantised constants that are still read: weights of operators that have no form on steps.
  void fold_constants() {
    const std::vector<int> uses = g_->use_counts();
    std::vector<Node> kept;
    for (Node &n : g_->nodes) {
      const bool dequantizes = n.is("DequantizeLinear");
      if (dequantizes && uses[static_cast<size_t>(n.outputs[0])] == 0) continue;
      const auto s = dequantizes ? steps_of_node(n, n.inputs[0]) : std::nullopt;
      const Constant *c = s ? constant(s->values) : nullptr;
      const bool integers = c && language_type(c->type()) &&
                            language_type(c->type())->is_int_or_uint() &&
                            (!is_narrow(c->type()) || is_narrow_integer(c->type()));
      const bool floats = s && constant(s->scale)->type() == ElementType::Float32 &&
                          n.integer("output_dtype", 0) == 0;
      if (integers && floats && (s->is_uniform || axis_of(*c, *s))) {
        Value &value = g_->value(n.outputs[0]);
        value.constant = numbers_of(*c, *s);
        value.type = ElementType::Float32;
        value.shape = Shape(c->shape().begin(), c->shape().end());
        continue;
      }
      kept.push_back(std::move(n));
    }
    g_->nodes = std::move(kept);
  }

  Constant numbers_of(const Constant &c, const Steps &s) const {
    const Constant &scale = *constant(s.scale), *point = constant(s.point);
    int64_t behind = 1;  // elements from one index along the axis to the next
    for (auto d = static_cast<size_t>(axis_of(c, s).value_or(0)) + 1; d < c.shape().size(); d++)
      behind *= c.shape()[d];
    std::vector<float> numbers(static_cast<size_t>(c.elements()));
    for (int64_t i = 0; i < c.elements(); i++) {
      const int64_t k = s.is_uniform ? 0 : i / behind % scale.elements();
      const int64_t zero = point ? point->integer_at(point->elements() == 1 ? 0 : k) : 0;
      numbers[static_cast<size_t>(i)] =
          static_cast<float>(c.integer_at(i) - zero) * static_cast<float>(scale.number(k));
    }
    return Constant::reals(c.shape(), numbers);
  }

  // A quantisation and what it is of.
  bool join(const Node &n, Writer &w) {
    const auto y = steps_of_node(n, n.outputs[0]);
    if (!y || !y->is_uniform || y->point == kNone || !is_byte(constant(y->point)->type()))
      return false;
    ValueId v = n.inputs[0];
    const Node *made = maker(v);
    if (!made || !is_used_once(v)) return false;
    // Rounding is monotonous: bounds are the same in steps.
    const auto bounds = bounds_of(*made);
    if (bounds) {
      v = made->inputs[0];
      made = maker(v);
      if (!made || !is_used_once(v)) return false;
    }
    const bool done = join_product(*made, *y, w) ||
                      (!bounds && (join_pool(*made, *y, w) || join_concat(*made, *y, w) ||
                                   join_movement(*made, *y, w)));
    if (!done) return false;
    if (bounds) {
      const ElementType type = constant(y->point)->type();
      const int64_t least = type == ElementType::Int8 ? -128 : 0;
      const int64_t low = quantized(bounds->first, *y), high = quantized(bounds->second, *y);
      if (low > least || high < least + 255) {
        const ValueId from = w.last().outputs[0];
        w.op("Clip", {from, byte_constant(type, low), byte_constant(type, high)});
      }
    }
    w.last().outputs = {n.outputs[0]};
    return true;
  }

  bool join_product(const Node &n, const Steps &y, Writer &w) {
    const bool convolution = n.is("Conv");
    if (!convolution && !n.is("MatMul")) return false;
    const auto a = dequantized(n.inputs[0]);
    const auto b = convolution                       ? known_bytes(n.inputs[1], 0)
                   : constant_rank(n.inputs[1]) == 2 ? known_bytes(n.inputs[1], 1)
                                                     : dequantized(n.inputs[1]);
    if (!a || !b || !a->is_uniform) return false;
    if (!convolution) {
      if (!b->is_uniform && constant_rank(n.inputs[1]) != 2) return false;
      w.op("QLinearMatMul",
           {a->values, a->scale, a->point, b->values, b->scale, b->point, y.scale, y.point});
      joined_.insert(n.outputs[0]);
      return true;
    }
    const auto bias = bias_in_steps(n, *a, *b);
    if (!bias) return false;
    std::vector<ValueId> operands{a->values, a->scale, a->point, b->values,
                                  b->scale,  b->point, y.scale,  y.point};
    if (*bias != kNone) operands.push_back(*bias);
    w.op("QLinearConv", operands, n.attributes);
    joined_.insert(n.outputs[0]);
    return true;
  }
  // Of what is dequantised; -1: it is no constant.
  int constant_rank(ValueId v) const {
    const auto s = dequantized(v);
    const Constant *c = s ? constant(s->values) : nullptr;
    return c ? static_cast<int>(c->shape().size()) : -1;
  }

  bool join_pool(const Node &n, const Steps &y, Writer &w) {
    if (!n.is("AveragePool") && !n.is("GlobalAveragePool")) return false;
    const auto x = dequantized(n.inputs[0]);
    if (!x || !x->is_uniform) return false;
    w.add(microsoft("QLinear" + n.op, n, {x->values, x->scale, x->point, y.scale, y.point}));
    return true;
  }

  bool are_equal(const Steps &a, const Steps &b) const {
    return a.is_uniform && b.is_uniform && constant(a.point)->type() == constant(b.point)->type() &&
           constant(a.scale)->number(0) == constant(b.scale)->number(0) &&
           constant(a.point)->integer_at(0) == constant(b.point)->integer_at(0);
  }

  bool join_concat(const Node &n, const Steps &y, Writer &w) {
    if (!n.is("Concat")) return false;
    std::vector<ValueId> parts, operands{y.scale, y.point};
    bool equal = true;
    for (ValueId v : n.inputs) {
      const auto x = dequantized(v);
      if (!x || !x->is_uniform) return false;
      equal = equal && are_equal(*x, y);
      parts.push_back(x->values);
      operands.insert(operands.end(), {x->values, x->scale, x->point});
    }
    if (equal) {
      w.op("Concat", parts, n.attributes);
      return true;
    }
    w.add(microsoft("QLinearConcat", n, operands));
    return true;
  }

  // Elements that are moved, or of which some are chosen.
  bool join_movement(const Node &n, const Steps &y, Writer &w) {
    static const std::set<std::string> kMoves = {
        "MaxPool",       "Reshape", "Transpose", "Squeeze",      "Unsqueeze",    "Flatten", "Slice",
        "GlobalMaxPool", "Gather",  "Expand",    "DepthToSpace", "SpaceToDepth", "Tile"};
    const bool resizes = n.is("Resize") && n.text("mode", "nearest") == "nearest" &&
                         n.text("coordinate_transformation_mode", "") != "tf_crop_and_resize";
    if ((!kMoves.count(n.op) && !resizes) || n.outputs.size() != 1) return false;
    const auto x = dequantized(n.inputs[0]);
    if (!x || !are_equal(*x, y)) return false;
    std::vector<ValueId> operands = n.inputs;
    operands[0] = x->values;
    w.op(n.op, operands, n.attributes);
    return true;
  }

  // Each part is used once, by a quantisation.
  void join_split(const Node &n, Writer &w, std::vector<char> *gone) {
    const auto x = dequantized(n.inputs[0]);
    if (!x) return;
    std::vector<size_t> places;
    for (ValueId v : n.outputs) {
      const auto at = v == kNone ? quantization_.end() : quantization_.find(v);
      if (at == quantization_.end() || !is_used_once(v)) return;
      const auto y = steps_of_node(g_->nodes[at->second], v);
      if (!y || y->point == kNone || !are_equal(*x, *y)) return;
      places.push_back(at->second);
    }
    Node one = n;
    one.inputs[0] = x->values;
    for (size_t k = 0; k < places.size(); k++) {
      one.outputs[k] = g_->nodes[places[k]].outputs[0];
      (*gone)[places[k]] = 1;
    }
    w.add(one);
  }

  // A product of bytes whose result is a float: sums of integers, and the scale of their steps.
  bool as_integers(const Node &n, Writer &w) {
    const bool convolution = n.is("Conv"), gemm = n.is("Gemm");
    if (gemm && (n.real("alpha", 1) != 1 || n.real("beta", 1) != 1 || n.integer("transA", 0) != 0))
      return false;
    const bool turned = gemm && n.integer("transB", 0) != 0;
    const auto a = dequantized(n.inputs[0]);
    const auto b = known_bytes(n.inputs[1], convolution || turned ? 0 : 1);
    if (!a || !b || !a->is_uniform) return false;
    const Constant &kernels = *constant(b->values);
    const size_t rank = kernels.shape().size();
    if (convolution ? rank < 3 : rank != 2) return false;
    ValueId right = b->values;
    if (turned) right = g_->add_constant("turned", move_axis(kernels, 0, 1));
    const auto bias = bias_in_steps(n, *a, *b);
    if (n.has_input(2) && !bias && !constant(n.inputs[2])) return false;
    // One of each result, along the dimension of channels or columns.
    const auto along_results = [&](int64_t count) {
      std::vector<int64_t> shape{count};
      if (convolution) shape.resize(rank - 1, 1);
      return shape;
    };
    ValueId sums = convolution
                       ? w.op("ConvInteger", {a->values, right, a->point, b->point}, n.attributes)
                       : w.op("MatMulInteger", {a->values, right, a->point, b->point});
    if (bias && *bias != kNone) {
      const Constant &c = *constant(*bias);
      sums = w.op("Add", {sums, g_->add_constant("bias", c.reshaped(along_results(c.elements())))});
    }
    const Constant &scale = *constant(b->scale);
    std::vector<float> scales;
    for (int64_t i = 0; i < scale.elements(); i++) {
      scales.push_back(static_cast<float>(constant(a->scale)->number(0)) *
                       static_cast<float>(scale.number(i)));
    }
    const ValueId factor = g_->add_constant(
        "scale", Constant::reals(scale.elements() == 1 ? std::vector<int64_t>()
                                                       : along_results(scale.elements()),
                                 scales));
    const ValueId real = w.op("Cast", {sums}, {{"to", static_cast<int64_t>(ElementType::Float32)}});
    w.op("Mul", {real, factor});
    if (n.has_input(2) && !bias) {
      const Constant &c = *constant(n.inputs[2]);
      const ValueId product = w.last().outputs[0];
      const bool vector = c.shape().size() == 1;
      w.op("Add",
           {product, vector ? g_->add_constant("bias", c.reshaped(along_results(c.elements())))
                            : n.inputs[2]});
    }
    w.last().outputs = {n.outputs[0]};
    return true;
  }

  Graph *g_;
  const std::vector<int> uses_;
  std::map<ValueId, size_t> producer_, quantization_;  // the nodes that make and quantise a value
  std::set<ValueId> joined_;  // what products make that a quantisation takes in
};

}  // namespace

Graph join_quantized(Graph g) {
  JoiningQuantized(&g).run();
  return g;
}

}  // namespace polyhalite::onnx
