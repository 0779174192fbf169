#include "apps/onnx/kernel.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "apps/onnx/infer.h"
#include "apps/onnx/operators.h"
#include "lang/interpret/interpret.h"
#include "polyhalite/operators.h"
#include "polyhalite/param.h"

namespace polyhalite::onnx {

namespace {

// What kernels depend on of an operand: its elements where they are written into the kernel.
std::string elements_text(const Value &v) {
  std::string text;
  if (v.contents) {
    for (const Dim &d : *v.contents) text += d.to_string() + ";";
  } else if (v.constant) {
    const int64_t count = v.constant->is_splat() ? 1 : v.constant->elements();
    for (int64_t i = 0; i < count; i++) {
      const uint8_t *p = v.constant->at(i);
      for (int b = 0; b < v.constant->element_bytes(); b++) text += std::to_string(p[b]) + ",";
      text += ";";
    }
  }
  return text;
}

struct AttributeKey {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const {
    uint32_t bits = 0;
    std::memcpy(&bits, &v, 4);
    return "f" + std::to_string(bits);
  }
  std::string operator()(const std::string &v) const { return v; }
  template <typename T>
  std::string operator()(const std::vector<T> &v) const {
    std::string s;
    for (const T &e : v) s += (*this)(e) + ",";
    return s;
  }
  std::string operator()(const Constant &c) const {
    Value v;
    v.constant = c;
    return element_name(c.type()) + elements_text(v);
  }
  std::string operator()(const std::shared_ptr<const Graph> &) const { return "region"; }
};

std::string attributes_text(const Node &n) {
  std::string text;
  for (const auto &[key, a] : n.attributes) text += key + "=" + std::visit(AttributeKey{}, a) + " ";
  return text;
}

Layout layout_of(const std::map<ValueId, Layout> &layouts, ValueId v) {
  const auto at = layouts.find(v);
  return at == layouts.end() ? Layout() : at->second;
}

// Of all shapes and sizes that the group's kernel mentions.
std::set<std::string> symbols_of(const Graph &g, const Group &group) {
  std::set<std::string> names;
  auto add = [&](ValueId v) {
    if (v == kNone) return;
    if (g.value(v).shape) {
      for (const Dim &d : *g.value(v).shape) d.add_symbols(&names);
    }
    if (g.value(v).contents) {
      for (const Dim &d : *g.value(v).contents) d.add_symbols(&names);
    }
  };
  for (size_t i : group.nodes) {
    for (ValueId v : g.nodes[i].inputs) add(v);
    for (ValueId v : g.nodes[i].outputs) add(v);
  }
  return names;
}

Expr literal(const Constant &c) {
  const Type t = *language_type(c.type());
  if (t == Float(64)) return Expr(c.number(0));
  if (t.is_float()) return cast(t, Expr(static_cast<float>(c.number(0))));
  return cast(t, Expr(c.integer_at(0)));
}

// Reads elements that are written into the kernel.
ops::Tensor constant_tensor(const Constant &c) {
  ops::Index shape;
  for (int64_t d : c.shape()) shape.emplace_back(static_cast<int32_t>(d));
  const Type type = *language_type(c.type());
  if (c.elements() == 1 || c.is_splat()) {
    const Expr value = literal(c);
    return ops::Tensor(type, shape, [value](const ops::Index &) { return value; });
  }
  std::vector<int> extents;
  for (size_t d = c.shape().size(); d-- > 0;) extents.push_back(static_cast<int>(c.shape()[d]));
  return ops::Tensor(type, shape, [c, type, extents](const ops::Index &at) {
    Buffer<> b(type, extents);
    const std::vector<uint8_t> bytes = c.packed();
    if (!bytes.empty()) std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t *>(b.data()));
    return b(std::vector<Expr>(at.rbegin(), at.rend()));
  });
}

// The pipeline of a group, before and after it is frozen.
class Builder {
 public:
  Builder(const Graph &g, const std::map<ValueId, Layout> &layouts, const Target &target)
      : g_(g), layouts_(layouts), target_(target) {}

  Kernel build(const Group &group) {
    Kernel k;
    for (const std::string &s : symbols_of(g_, group)) {
      k.symbols.push_back(s);
      Param<int32_t> p("size" + std::to_string(k.symbols.size()));
      symbols_.emplace(s, Expr(p));
      arguments_.push_back(p.parameter().contents());
      arguments_.back()->keeps_coordinates = true;  // sizes, or elements that are clamped to them
    }
    for (size_t i = 0; i < group.inputs.size(); i++) add_input(group.inputs[i], i);
    std::map<ValueId, int> uses;
    for (size_t i : group.nodes) {
      for (ValueId v : g_.nodes[i].inputs) uses[v]++;
    }
    results_are_rows_ = lies_in_rows(group);
    for (size_t i : group.nodes) lower(g_.nodes[i], uses);
    std::vector<ops::Tensor> results;
    std::vector<std::string> names;
    std::vector<std::vector<int>> orders;
    for (size_t i = 0; i < group.outputs.size(); i++) {
      results.push_back(tensors_.at(group.outputs[i]));
      names.push_back("result" + std::to_string(i));
      orders.push_back(layout_of(layouts_, group.outputs[i]));
    }
    const std::vector<Func> funcs =
        ops::materialize(results, names, orders, target_, [&](const Func &f, size_t i) {
          OutputImageParam image = f.output_buffer();
          promise(image, *g_.value(group.outputs[i]).shape, orders[i]);
        });
    std::vector<std::shared_ptr<FunctionContents>> contents;
    for (const Func &f : funcs) contents.push_back(f.function());
    k.pipeline = std::make_shared<const FrozenPipeline>(freeze(contents, arguments_));
    return k;
  }

 private:
  // Dimensions of a buffer are dense and start at 0: what is known of them helps the code. None is
  // empty, so that an operand without elements can be one whose elements are never chosen.
  template <typename Image>
  void promise(Image &image, const Shape &shape, const Layout &layout) {
    Dim stride = 1;
    for (size_t k = 0; k < shape.size(); k++) {
      const size_t d = layout.empty() ? shape.size() - 1 - k : static_cast<size_t>(layout[k]);
      auto dim = image.dim(static_cast<int>(k));
      const Dim size = Dim::maximum(shape[d], 1);
      dim.set_bounds(0, size.to_expr(symbols_));
      const auto step = stride.constant();
      if (step && *step <= INT32_MAX) dim.set_stride(static_cast<int32_t>(*step));
      stride = stride * size;
    }
  }

  // Are all results row-major, and made of the first node's point by point?
  bool lies_in_rows(const Group &group) const {
    const auto is_row_major = [&](ValueId v) { return layout_of(layouts_, v).empty(); };
    const auto is_pointwise = [&](size_t i) {
      return operator_of(g_.nodes[i].domain, g_.nodes[i].op)->form == Operator::Pointwise;
    };
    return std::all_of(group.outputs.begin(), group.outputs.end(), is_row_major) &&
           std::all_of(group.nodes.begin() + 1, group.nodes.end(), is_pointwise);
  }

  void add_input(ValueId v, size_t position) {
    const Value &value = g_.value(v);
    const Shape &shape = *value.shape;
    ImageParam image(*language_type(value.type), static_cast<int>(shape.size()),
                     "operand" + std::to_string(position));
    const Layout layout = layout_of(layouts_, v);
    promise(image, shape, layout);
    arguments_.push_back(image.parameter().contents());
    ops::Index sizes;
    for (const Dim &d : shape) sizes.push_back(d.to_expr(symbols_));
    tensors_[v] = ops::Tensor(image, sizes, layout);
  }

  void lower(const Node &n, const std::map<ValueId, int> &uses) {
    std::vector<ops::Tensor> inputs(n.inputs.size());
    for (size_t i = 0; i < n.inputs.size(); i++) {
      const ValueId v = n.inputs[i];
      if (v == kNone) continue;
      const auto at = tensors_.find(v);
      if (at != tensors_.end()) {
        inputs[i] = at->second;
      } else if (g_.value(v).constant) {
        inputs[i] = constant_tensor(*g_.value(v).constant);
      } else {
        // Its elements are known sizes, or only its shape matters.
        ops::Index sizes;
        for (const Dim &d : *g_.value(v).shape) sizes.push_back(d.to_expr(symbols_));
        inputs[i] =
            ops::Tensor(*language_type(g_.value(v).type), sizes, [&n](const ops::Index &) -> Expr {
              user_error(n.describe() + " reads an operand that is known as sizes only",
                         "the operator takes it when the kernel is made", "report the model");
            });
      }
    }
    const auto is_shared = [&](ValueId v) {
      const auto count = uses.find(v);
      return count != uses.end() && count->second > 1;
    };
    // What follows from one byte is seen to do so where the byte is what its readers share.
    const bool widens = n.is("DequantizeLinear");
    if (widens && is_shared(n.outputs[0]) && made_.count(n.inputs[0]))
      inputs[0] = tensors_[n.inputs[0]] = shared(inputs[0]);
    Lowering l(g_, n, std::move(inputs), symbols_, target_, results_are_rows_);
    std::vector<ops::Tensor> results = operator_of(n.domain, n.op)->lower(l);
    for (size_t k = 0; k < n.outputs.size(); k++) {
      const ValueId v = n.outputs[k];
      if (v == kNone) continue;
      if (k >= results.size() || !results[k].defined()) {
        l.fail("output " + std::to_string(k) + " is used", "it is not supported");
      }
      tensors_[v] = is_shared(v) && !widens ? shared(results[k]) : results[k];
      made_.insert(v);
    }
  }

  // A value that several nodes of the kernel read is a Func, so that its expression stands once.
  static ops::Tensor shared(const ops::Tensor &t) {
    Func f("value");
    std::vector<Var> vars;
    for (int d = 0; d < t.rank(); d++) vars.emplace_back("i" + std::to_string(d));
    f(std::vector<Var>(vars.rbegin(), vars.rend())) = t(ops::Index(vars.begin(), vars.end()));
    return ops::Tensor(
        t.type(), t.shape(),
        [f](const ops::Index &at) -> Expr { return f(std::vector<Expr>(at.rbegin(), at.rend())); },
        t.stages());
  }

  const Graph &g_;
  const std::map<ValueId, Layout> &layouts_;
  const Target &target_;
  bool results_are_rows_ = false;
  std::map<std::string, Expr> symbols_;
  std::map<ValueId, ops::Tensor> tensors_;
  std::set<ValueId> made_;  // by the kernel's nodes
  std::vector<std::shared_ptr<ParameterContents>> arguments_;
};

}  // namespace

bool is_literal(const Value &v) {
  return v.constant && (v.constant->elements() == 1 || v.constant->is_splat());
}

std::string kernel_signature(const Graph &g, const Group &group,
                             const std::map<ValueId, Layout> &layouts) {
  std::map<ValueId, size_t> numbers;
  std::string text;
  auto describe = [&](ValueId v) {
    if (v == kNone) return std::string("-");
    const auto [at, fresh] = numbers.emplace(v, numbers.size());
    std::string one = "%" + std::to_string(at->second);
    if (!fresh) return one;
    const Value &value = g.value(v);
    one += ":" + element_name(value.type) + (value.shape ? to_string(*value.shape) : "");
    for (int d : layout_of(layouts, v)) one += "." + std::to_string(d);
    const bool external = std::count(group.inputs.begin(), group.inputs.end(), v) != 0;
    if (value.contents || (!external && value.constant)) one += "=" + elements_text(value);
    return one;
  };
  for (ValueId v : group.inputs) text += describe(v) + " ";
  for (size_t i : group.nodes) {
    const Node &n = g.nodes[i];
    text += "| " + n.domain + n.op + "." + std::to_string(n.version) + "(";
    for (ValueId v : n.inputs) text += describe(v) + " ";
    text += ") " + attributes_text(n) + "->";
    for (ValueId v : n.outputs) text += " " + describe(v);
  }
  text += "=>";
  for (ValueId v : group.outputs) text += " " + describe(v);
  return text;
}

Kernel make_kernel(const Graph &g, const Group &group, const std::map<ValueId, Layout> &layouts,
                   const Target &target) {
  try {
    return Builder(g, layouts, target).build(group);
  } catch (const NeedsValue &needs) {
    user_error("kernel of " + g.nodes[group.nodes.back()].describe() + ": the elements of '" +
                   g.value(needs.value).name + "' are not known",
               "they decide which algorithm runs", "give them as constants");
  } catch (const CompileError &e) {
    // Errors of the language name no node.
    const std::string &what = e.diagnostic().what;
    if (what.rfind("node ", 0) == 0) throw;
    user_error(g.nodes[group.nodes.back()].describe() + ": " + what, e.diagnostic().why,
               e.diagnostic().fix);
  }
}

BufferView::BufferView(Type type, const std::vector<int64_t> &shape, const Layout &layout,
                       const uint8_t *data) {
  int64_t stride = 1;
  bool empty = false;
  for (size_t k = 0; k < shape.size(); k++) {
    const size_t d = layout.empty() ? shape.size() - 1 - k : static_cast<size_t>(layout[k]);
    const int64_t n = std::max<int64_t>(shape[d], 1);
    empty = empty || n != shape[d];
    dims_.emplace_back(0, static_cast<int32_t>(n), static_cast<int32_t>(stride));
    stride *= n;
  }
  if (empty) {
    nothing_ = std::make_shared<std::vector<uint8_t>>(static_cast<size_t>(stride * type.bytes()));
    data = nothing_->data();
  }
  raw_.host = const_cast<uint8_t *>(data);
  raw_.type = type;
  raw_.dimensions = static_cast<int32_t>(dims_.size());
  raw_.dim = dims_.data();
}

std::vector<Constant> evaluate(const Graph &g, const Node &node) {
  // The node alone, in a graph of its own.
  Group group;
  group.nodes = {static_cast<size_t>(&node - g.nodes.data())};
  for (size_t i = 0; i < node.inputs.size(); i++) {
    const ValueId v = node.inputs[i];
    if (v == kNone || is_literal(g.value(v)) || !reads_elements(g, node, i)) continue;
    if (std::count(group.inputs.begin(), group.inputs.end(), v) == 0) group.inputs.push_back(v);
  }
  for (ValueId v : node.outputs) {
    if (v != kNone) group.outputs.push_back(v);
  }
  std::vector<Constant> results(node.outputs.size());
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<BufferView> views;
  std::vector<std::vector<uint8_t>> operands;
  const Kernel k = make_kernel(g, group, {}, get_host_target());
  std::map<std::string, const polyhalite_buffer_t *> images;
  for (ValueId v : group.inputs) {
    // A buffer without memory would have no image.
    operands.push_back(g.value(v).constant->packed());
    operands.back().resize(std::max<size_t>(operands.back().size(), 1));
  }
  bool empty = false;
  views.reserve(group.inputs.size() + group.outputs.size());
  for (size_t i = 0; i < group.inputs.size(); i++) {
    const Constant &c = *g.value(group.inputs[i]).constant;
    views.emplace_back(*language_type(c.type()), c.shape(), Layout(), operands[i].data());
    images[k.pipeline->algorithm.inputs[i].param->name] = views.back().raw();
  }
  std::vector<polyhalite_buffer_t *> outputs;
  for (ValueId v : group.outputs) {
    const std::vector<int64_t> shape = *constant_shape(*g.value(v).shape);
    const Type type = *language_type(g.value(v).type);
    int64_t n = type.bytes();
    for (int64_t d : shape) n *= d;
    empty = empty || n == 0;
    bytes.emplace_back(static_cast<size_t>(std::max<int64_t>(n, 1)));
    views.emplace_back(type, shape, Layout(), bytes.back().data());
    outputs.push_back(views.back().raw());
  }
  if (!empty) interpret(k.pipeline->algorithm, images, {}, outputs);
  size_t at = 0;
  for (size_t i = 0; i < node.outputs.size(); i++) {
    if (node.outputs[i] == kNone) continue;
    const Value &value = g.value(node.outputs[i]);
    results[i] =
        Constant::of_bytes(value.type, *constant_shape(*value.shape), std::move(bytes[at++]));
  }
  return results;
}

}  // namespace polyhalite::onnx
