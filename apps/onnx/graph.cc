#include "apps/onnx/graph.h"

#include <set>

#include "apps/onnx/infer.h"

namespace polyhalite::onnx {

namespace {

template <typename T>
T attribute_or(const Node &n, const std::string &name, T otherwise, const char *kind) {
  const auto at = n.attributes.find(name);
  if (at == n.attributes.end()) return otherwise;
  if (const T *v = std::get_if<T>(&at->second)) return *v;
  user_error(n.describe() + ": attribute '" + name + "' is no " + kind,
             "the operator takes " + std::string(kind), "write the attribute with its type");
}

struct PrintAttribute {
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(v));
    return text;
  }
  std::string operator()(const std::string &v) const { return "\"" + v + "\""; }
  template <typename T>
  std::string operator()(const std::vector<T> &v) const {
    std::string s;
    for (const T &e : v) s += (s.empty() ? "" : ", ") + (*this)(e);
    return "[" + s + "]";
  }
  std::string operator()(const Constant &c) const {
    std::string s;
    for (int64_t d : c.shape()) s += (s.empty() ? "" : ", ") + std::to_string(d);
    return "constant " + element_name(c.type()) + "[" + s + "]";
  }
  std::string operator()(const std::shared_ptr<const Graph> &g) const {
    return "region " + g->name;
  }
};

std::string attribute_text(const Attribute &a) { return std::visit(PrintAttribute{}, a); }

std::string value_text(const Value &v) {
  if (!v.shape) return element_name(v.type) + "[?]";
  return element_name(v.type) + to_string(*v.shape);
}

}  // namespace

int64_t Node::integer(const std::string &attribute, int64_t otherwise) const {
  return attribute_or<int64_t>(*this, attribute, otherwise, "integer");
}
float Node::real(const std::string &attribute, float otherwise) const {
  return attribute_or<float>(*this, attribute, otherwise, "float");
}
std::string Node::text(const std::string &attribute, const std::string &otherwise) const {
  return attribute_or<std::string>(*this, attribute, otherwise, "string");
}
std::vector<int64_t> Node::integers(const std::string &attribute) const {
  return attribute_or<std::vector<int64_t>>(*this, attribute, {}, "list of integers");
}

std::vector<int64_t> Node::integers(const std::string &attribute, size_t count,
                                    int64_t otherwise) const {
  const std::vector<int64_t> list = integers(attribute);
  return list.empty() ? std::vector<int64_t>(count, otherwise) : list;
}

size_t Node::own_operands() const {
  return static_cast<size_t>(integer("operands", static_cast<int64_t>(inputs.size())));
}

std::string Node::describe() const {
  return "node '" + name + "' (" + (domain.empty() ? "" : domain + ".") + op +
         (version > 0 ? ", version " + std::to_string(version) : "") + ")";
}

ValueId Graph::add_value(const std::string &wanted, ElementType type, std::optional<Shape> shape) {
  std::string unique = wanted;
  for (int &n = names_[wanted]; n++ > 0 && !names_.emplace(unique, 1).second;) {
    unique = wanted + "$" + std::to_string(n);
  }
  Value v;
  v.name = unique;
  v.type = type;
  v.shape = std::move(shape);
  values.push_back(std::move(v));
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::add_constant(const std::string &wanted, const Constant &c) {
  const ValueId id = add_value(wanted, c.type(), Shape(c.shape().begin(), c.shape().end()));
  value(id).constant = c;
  return id;
}

ValueId Graph::insert(size_t at, const std::string &op, std::vector<ValueId> operands,
                      std::map<std::string, Attribute> attributes, const std::string &wanted) {
  Node n;
  n.op = op;
  n.name = wanted.empty() ? op : wanted;
  n.inputs = std::move(operands);
  n.attributes = std::move(attributes);
  const ValueId out = add_value(n.name);
  n.outputs = {out};
  nodes.insert(nodes.begin() + static_cast<ptrdiff_t>(at), std::move(n));
  return out;
}

void Graph::substitute(const std::map<std::string, Dim> &sizes) {
  if (sizes.empty()) return;
  for (Value &v : values) {
    if (v.shape) {
      for (Dim &d : *v.shape) d = d.substitute(sizes);
    }
    if (v.contents) {
      for (Dim &d : *v.contents) d = d.substitute(sizes);
    }
  }
}

std::vector<int> Graph::use_counts() const {
  std::vector<int> counts(values.size());
  for (const Node &n : nodes) {
    for (ValueId v : n.inputs) {
      if (v != kNone) counts[static_cast<size_t>(v)]++;
    }
    for (const auto &[name, a] : n.attributes) {
      if (const auto *g = std::get_if<std::shared_ptr<const Graph>>(&a)) {
        for (const auto &[outer, inner] : (*g)->captures) counts[static_cast<size_t>(outer)]++;
      }
    }
  }
  for (ValueId v : outputs) counts[static_cast<size_t>(v)]++;
  return counts;
}

void Graph::replace_uses(ValueId old, ValueId with) {
  for (Node &n : nodes) {
    for (ValueId &v : n.inputs) {
      if (v == old) v = with;
    }
  }
  for (ValueId &v : outputs) {
    if (v == old) v = with;
  }
}

std::string to_text(const Graph &g) {
  auto name = [&](ValueId v) { return v == kNone ? std::string("-") : "%" + g.value(v).name; };
  std::string text = "graph " + g.name + "(";
  for (size_t i = 0; i < g.inputs.size(); i++) {
    text += (i ? ", " : "") + name(g.inputs[i]) + ": " + value_text(g.value(g.inputs[i]));
  }
  text += ") -> (";
  for (size_t i = 0; i < g.outputs.size(); i++) text += (i ? ", " : "") + name(g.outputs[i]);
  text += ")\n";
  const std::vector<int> uses = g.use_counts();
  for (size_t v = 0; v < g.values.size(); v++) {
    if (!g.values[v].constant || uses[v] == 0) continue;
    text +=
        "  " + name(static_cast<ValueId>(v)) + " = " + attribute_text(*g.values[v].constant) + "\n";
  }
  for (const Node &n : g.nodes) {
    text += "  ";
    for (size_t i = 0; i < n.outputs.size(); i++) {
      if (i) text += ", ";
      text += name(n.outputs[i]);
      if (n.outputs[i] != kNone) text += ": " + value_text(g.value(n.outputs[i]));
    }
    text += " = " + (n.domain.empty() ? "" : n.domain + ".") + n.op +
            (n.version > 0 ? "." + std::to_string(n.version) : "") + "(";
    for (size_t i = 0; i < n.inputs.size(); i++) text += (i ? ", " : "") + name(n.inputs[i]);
    text += ")";
    std::string attributes;
    for (const auto &[key, a] : n.attributes) {
      attributes += (attributes.empty() ? "" : ", ") + key + " = " + attribute_text(a);
    }
    if (!attributes.empty()) text += " {" + attributes + "}";
    text += "\n";
  }
  return text;
}

std::optional<Diagnostic> why_invalid(const Graph &g) {
  const int count = static_cast<int>(g.values.size());
  enum Origin { Nowhere, Known };
  std::vector<Origin> origin(g.values.size(), Nowhere);
  std::set<std::string> names;
  auto problem = [&](const std::string &what, const std::string &why) {
    return Diagnostic{"graph '" + g.name + "': " + what, why, "", {}};
  };
  for (size_t v = 0; v < g.values.size(); v++) {
    const Value &value = g.values[v];
    if (!names.insert(value.name).second) {
      return problem("two values are called '" + value.name + "'", "names are unique");
    }
    if (!value.constant) continue;
    origin[v] = Known;
    if (value.shape && constant_shape(*value.shape) != value.constant->shape()) {
      return problem("constant '" + value.name + "' has the shape " + to_string(*value.shape),
                     "its elements have another one");
    }
  }
  for (const auto &[outer, inner] : g.captures) {
    if (inner >= 0 && inner < count) origin[static_cast<size_t>(inner)] = Known;
  }
  auto define = [&](ValueId v, const std::string &who) -> std::optional<Diagnostic> {
    if (v < 0 || v >= count)
      return problem(who + " defines value " + std::to_string(v), "there is none");
    if (origin[static_cast<size_t>(v)] == Known) {
      return problem(who + " defines '" + g.value(v).name + "'", "it has a definition already");
    }
    origin[static_cast<size_t>(v)] = Known;
    return std::nullopt;
  };
  for (ValueId v : g.inputs) {
    if (auto why = define(v, "the list of inputs")) return why;
  }
  for (const Node &n : g.nodes) {
    for (size_t i = 0; i < n.inputs.size(); i++) {
      const ValueId v = n.inputs[i];
      if (v == kNone) continue;
      if (v < 0 || v >= count)
        return problem(n.describe() + " reads value " + std::to_string(v), "there is none");
      if (origin[static_cast<size_t>(v)] != Known && !g.value(v).contents &&
          reads_elements(g, n, i)) {
        return problem(n.describe() + " reads '" + g.value(v).name + "'",
                       "it is defined behind the node, or nowhere");
      }
    }
    for (ValueId v : n.outputs) {
      if (v == kNone) continue;
      if (auto why = define(v, n.describe())) return why;
    }
  }
  for (ValueId v : g.outputs) {
    if (v < 0 || v >= count || origin[static_cast<size_t>(v)] != Known) {
      return problem("an output has no definition",
                     "every output is an input, a constant or a node's");
    }
  }
  return std::nullopt;
}

}  // namespace polyhalite::onnx
