// From a file to a graph: names become values, functions their bodies, versions those that the
// file's opset means.
#include "apps/onnx/model.h"

#include <algorithm>
#include <set>

#include "apps/onnx/attribute_names.h"
#include "apps/onnx/attribute_texts.h"
#include "apps/onnx/mapped_file.h"
#include "apps/onnx/node_order.h"
#include "apps/onnx/operator_table.h"
#include "apps/onnx/operators.h"
#include "apps/onnx/proto.h"
#include "apps/onnx/read_constant.h"
#include "apps/onnx/regions.h"

namespace polyhalite::onnx {

namespace {

constexpr int kMostFunctionDepth = 50;
constexpr int kMostRegionDepth = 30;
// Shapes of a body are inferred anew for each turn of the inference around it.
constexpr int kMostBodyDepth = 8;

class Importer {
 public:
  Importer(const ModelProto &model, std::shared_ptr<const void> owner, const std::string &folder)
      : model_(model), owner_(std::move(owner)), files_(folder) {
    for (const FunctionProto &f : model.functions)
      functions_[key(f.domain, f.name, f.overload)] = &f;
  }

  Graph run() {
    Graph g = import(*model_.graph, nullptr);
    report();
    return g;
  }
  /// Of inputs and outputs that are no plain tensors.
  const std::map<std::string, ItemForm> &forms() const { return forms_; }

 private:
  // Where names of a graph, a region or a function's body are looked up.
  struct Scope {
    Graph *graph;
    Scope *outer = nullptr;  // of a region
    bool has_turns = false;  // of the body of a Loop or a Scan
    std::map<std::string, ValueId> names;
    const std::map<std::string, int64_t> *opsets;
    // Of a function's body.
    const std::map<std::string, AttributeProto> *attributes = nullptr;
    std::string prefix;
  };

  static std::string key(const std::string &domain, const std::string &name,
                         const std::string &overload) {
    return domain + "." + name + ":" + overload;
  }

  void problem(std::string what, std::string why, std::string fix) {
    problems_.push_back({std::move(what), std::move(why), std::move(fix), {}});
  }

  template <typename F>
  bool attempt(F &&f) {
    try {
      f();
      return true;
    } catch (const CompileError &e) {
      problems_.insert(problems_.end(), e.diagnostics().begin(), e.diagnostics().end());
      return false;
    }
  }

  void report() {
    for (const auto &[what, nodes] : unsupported_) {
      std::string list;
      for (size_t i = 0; i < nodes.size() && i < 5; i++) list += (i ? ", '" : "'") + nodes[i] + "'";
      if (nodes.size() > 5) list += " and " + std::to_string(nodes.size() - 5) + " more";
      problem(what + ", " + (nodes.size() == 1 ? "node " : "nodes ") + list, unsupported_why_[what],
              "replace the operator, or export with others");
    }
    if (!problems_.empty()) throw CompileError(problems_);
  }

  void unsupported(const std::string &what, const std::string &why, const std::string &node) {
    unsupported_[what].push_back(node);
    unsupported_why_[what] = why;
  }

  static int depth_of(const Scope *s) { return s->outer ? 1 + depth_of(s->outer) : 0; }
  static int bodies_around(const Scope *s) {
    return (s->has_turns ? 1 : 0) + (s->outer ? bodies_around(s->outer) : 0);
  }

  // Of the scope or those around it; the value of an outer graph is captured.
  std::optional<ValueId> find(Scope *s, const std::string &name) {
    if (const auto at = s->names.find(name); at != s->names.end()) return at->second;
    if (!s->outer) return std::nullopt;
    const auto outer = find(s->outer, name);
    if (!outer) return std::nullopt;
    const Value &from = s->outer->graph->value(*outer);
    ValueId inner;
    if (from.constant) {
      inner = s->graph->add_constant(name, *from.constant);
    } else {
      inner = s->graph->add_value(name, from.type, from.shape);
      s->graph->captures.emplace_back(*outer, inner);
    }
    s->names[name] = inner;
    return inner;
  }

  // What the type's elements are tensors of; null where they are none. `form` is what is around.
  static const TypeProto *tensor_inside(const TypeProto &type, ItemForm *form) {
    const TypeProto *t = &type;
    if (t->kind == TypeProto::Optional && t->inside) {
      form->optional = true;
      t = t->inside.get();
    }
    if (t->kind == TypeProto::Sequence && t->inside) {
      form->sequence = true;
      t = t->inside.get();
    }
    return t->kind == TypeProto::Tensor ? t : nullptr;
  }

  Shape input_shape(const ValueInfoProto &v, const std::vector<DimProto> &dims) {
    Shape shape;
    for (size_t d = 0; d < dims.size(); d++) {
      const DimProto &dim = dims[d];
      // Exporters write -1, "?" or "None" for each size that is open.
      const bool open =
          dim.value ? *dim.value == -1
                    : dim.param.find_first_not_of('?') == std::string::npos || dim.param == "None";
      if (open) {
        shape.push_back(Dim::symbol(v.name + "." + std::to_string(d)));
      } else if (dim.value) {
        if (*dim.value < 0 || *dim.value > INT32_MAX) {
          problem("input '" + v.name + "' has the size " + std::to_string(*dim.value),
                  "sizes are from 0 to 2^31 - 1, or -1 where they are open",
                  "export the model again");
        }
        shape.emplace_back(*dim.value);
      } else {
        shape.push_back(Dim::symbol(dim.param));
      }
    }
    return shape;
  }

  // What a region says of its result: of use where nothing follows from its nodes.
  void declare(const ValueInfoProto &v, Value *value) {
    if (v.type.kind != TypeProto::Tensor || !v.type.shape || value->shape) return;
    const auto type = static_cast<ElementType>(v.type.element);
    if (!language_type(type)) return;
    value->type = type;
    value->shape = Shape();
    for (size_t d = 0; d < v.type.shape->size(); d++) {
      const DimProto &dim = (*v.type.shape)[d];
      const bool known = dim.value && *dim.value >= 0 && *dim.value <= INT32_MAX;
      value->shape->push_back(known ? Dim(*dim.value)
                                    : Dim::symbol(value->name + ".declared" + std::to_string(d)));
    }
  }

  Graph import(const GraphProto &proto, Scope *outer, bool has_turns = false) {
    Graph g;
    g.name = proto.name.empty() ? "graph" : proto.name;
    Scope scope;
    scope.graph = &g;
    scope.outer = outer;
    scope.has_turns = has_turns;
    scope.opsets = outer ? outer->opsets : &model_.opsets;
    scope.attributes = outer ? outer->attributes : nullptr;
    if (proto.sparse_initializers) {
      problem("graph '" + g.name + "' has sparse initializers", "they are not supported",
              "store them as dense tensors");
    }
    auto define = [&](const std::string &name, ValueId v) {
      if (name.empty()) {
        problem("graph '" + g.name + "' has a value without a name", "nothing could read it",
                "export the model again");
      } else if (!scope.names.emplace(name, v).second) {
        problem("'" + name + "' is defined twice", "every value has one definition",
                "export the model again");
      }
    };
    for (const TensorProto &t : proto.initializers) {
      attempt([&] { define(t.name, g.add_constant(t.name, read_constant(t, &files_, owner_))); });
    }
    std::set<std::string> initialized;
    for (const TensorProto &t : proto.initializers) initialized.insert(t.name);
    for (const ValueInfoProto &v : proto.inputs) {
      if (initialized.count(v.name)) continue;  // older files list weights among the inputs
      ItemForm form;
      const TypeProto *tensor = tensor_inside(v.type, &form);
      if (outer && (v.type.kind == TypeProto::None || !form.is_tensor())) {
        // What a region gets decides.
        const ValueId id = g.add_value(v.name);
        g.inputs.push_back(id);
        define(v.name, id);
        continue;
      }
      if (!tensor) {
        if (v.type.kind == TypeProto::None) {
          problem("input '" + v.name + "' has no type", "its elements could be anything",
                  "export the model again");
        } else {
          problem("input '" + v.name + "' is no tensor, and no sequence of tensors",
                  "maps, sparse tensors and sequences of others are not supported", "pass tensors");
        }
        continue;
      }
      if (!form.is_tensor()) forms_[v.name] = form;
      const auto type = static_cast<ElementType>(tensor->element);
      if (!language_type(type)) {
        problem("input '" + v.name + "' has elements of " + element_name(type),
                "they are not supported", "use numbers of 8 to 64 bits, or bool");
      }
      const ValueId id = g.add_value(v.name, type);
      if (tensor->shape) g.value(id).shape = input_shape(v, *tensor->shape);
      g.inputs.push_back(id);
      define(v.name, id);
    }
    add_nodes(proto.nodes, &scope);
    for (const ValueInfoProto &v : proto.outputs) {
      const auto id = find(&scope, v.name);
      if (id) {
        g.outputs.push_back(*id);
        ItemForm form;
        if (outer) declare(v, &g.value(*id));
        if (!outer && tensor_inside(v.type, &form) && !form.is_tensor()) forms_[v.name] = form;
      } else if (problems_.empty() && unsupported_.empty()) {
        problem("output '" + v.name + "' is defined nowhere",
                "no node, input or weight has the name", "export the model again");
      }
    }
    return g;
  }

  static std::string label(const NodeProto &n, size_t position) {
    if (!n.name.empty()) return n.name;
    return n.op_type + "#" + std::to_string(position);
  }

  void add_nodes(const std::vector<NodeProto> &nodes, Scope *s) {
    const auto report_cycle = [&](size_t i, const std::string &value) {
      problem("node '" + label(nodes[i], i) + "' depends on itself",
              "value '" + value + "' is made from itself", "export the model again");
    };
    for (size_t i : reading_order(nodes, report_cycle)) {
      attempt([&] { add_node(nodes[i], s->prefix + label(nodes[i], i), s); });
    }
  }

  std::optional<Attribute> attribute(const AttributeProto &given, const std::string &node,
                                     Scope *s) {
    const AttributeProto *a = &given;
    if (!a->reference.empty()) {
      if (!s->attributes) {
        user_error(
            "node '" + node + "': attribute '" + a->name + "' refers to '" + a->reference + "'",
            "only nodes of functions have such attributes", "export the model again");
      }
      const auto at = s->attributes->find(a->reference);
      if (at == s->attributes->end()) return std::nullopt;  // left out by the caller
      a = &at->second;
    }
    auto one = [&](size_t count) {
      if (count == 1) return;
      user_error("node '" + node + "': attribute '" + given.name + "' has " +
                     std::to_string(count) + " values",
                 "its type says one", "export the model again");
    };
    switch (a->type) {
      case 1:
        return a->f;
      case 2:
        return a->i;
      case 3:
        return a->s;
      case 4:
        one(a->t.size());
        return read_constant(a->t[0], &files_, owner_);
      case 5: {
        one(a->g.size());
        const bool has_turns = given.name == "body";
        const bool too_many_bodies = has_turns && bodies_around(s) >= kMostBodyDepth;
        if (too_many_bodies || depth_of(s) >= kMostRegionDepth) {
          user_error("node '" + node + "' has " +
                         (too_many_bodies ? "loops inside loops" : "graphs inside graphs") +
                         ", more than " +
                         std::to_string(too_many_bodies ? kMostBodyDepth : kMostRegionDepth) +
                         " deep",
                     "deeper ones are not supported", "put inner graphs into functions");
        }
        return std::make_shared<const Graph>(import(a->g[0], s, has_turns));
      }
      case 6:
        return a->floats;
      case 7:
        return a->ints;
      case 8:
        return a->strings;
      case 13:
        return std::nullopt;  // the type of what is absent
      default:
        user_error("node '" + node + "': attribute '" + given.name + "' has type " +
                       std::to_string(a->type),
                   "such attributes are not supported", "use numbers, strings, tensors or graphs");
    }
  }

  void add_node(const NodeProto &proto, const std::string &name, Scope *s) {
    if (const auto f = functions_.find(key(proto.domain, proto.op_type, proto.overload));
        f != functions_.end()) {
      inline_function(*f->second, proto, name, s);
      return;
    }
    Graph &g = *s->graph;
    Node n;
    n.name = name;
    n.domain = proto.domain;
    n.op = proto.op_type;
    const auto opset = s->opsets->find(proto.domain);
    if (opset == s->opsets->end()) {
      user_error(
          "node '" + name + "' (" + proto.op_type + ") has the domain '" + proto.domain + "'",
          "the model imports no version of it", "export the model again");
    }
    n.version = checked_version(proto, name, opset->second);
    for (const std::string &input : proto.inputs) {
      if (input.empty()) {
        n.inputs.push_back(kNone);
        continue;
      }
      const auto v = find(s, input);
      if (!v) {
        // What an operator without support would define is missing for a known reason.
        if (n.version < 0 || !unsupported_.empty() || !problems_.empty()) {
          n.version = -1;
          continue;
        }
        user_error(n.describe() + " reads '" + input + "'", "no node, input or weight has the name",
                   "export the model again");
      }
      n.inputs.push_back(*v);
    }
    if (n.version < 0) return;
    while (!n.inputs.empty() && n.inputs.back() == kNone) n.inputs.pop_back();
    for (const AttributeProto &a : proto.attributes) {
      if (is_own_attribute(a.name)) continue;
      if (n.domain.empty()) check_name(n, a.name);
      if (auto value = attribute(a, name, s)) n.attributes.emplace(a.name, std::move(*value));
      if (n.domain.empty() && n.has(a.name)) check_text(n, a.name);
    }
    for (const std::string &output : proto.outputs) {
      if (output.empty()) {
        n.outputs.push_back(kNone);
        continue;
      }
      const ValueId v = g.add_value(s->prefix + output);
      if (!s->names.emplace(output, v).second) {
        user_error(n.describe() + " defines '" + output + "'", "the name is taken",
                   "export the model again");
      }
      n.outputs.push_back(v);
    }
    if (n.is("Constant")) {
      fold_constant(n, &g);
      return;
    }
    g.nodes.push_back(std::move(n));
  }

  // The operator's version; -1 where it is not supported.
  int checked_version(const NodeProto &proto, const std::string &name, int64_t opset) {
    if (!proto.domain.empty()) {
      if (is_supported(proto.domain, proto.op_type)) return 1;
      unsupported("operator " + proto.domain + "." + proto.op_type + " is not supported",
                  "the domain is none of the standard's, or has no such operator here", name);
      return -1;
    }
    const OperatorFacts *facts = find_operator(proto.op_type);
    // Operators that onnxruntime adds to the main domain have no versions.
    if (!facts && is_supported("", proto.op_type)) return 1;
    if (!facts) {
      unsupported("operator " + proto.op_type + " is unknown",
                  "ai.onnx has no operator of this name", name);
      return -1;
    }
    int version = facts->version_in(opset);
    // onnxruntime writes it into models of earlier opsets.
    if (version == 0 && proto.op_type == "LayerNormalization") version = facts->versions[0];
    const std::string versioned = proto.op_type + "-" + std::to_string(version);
    if (version == 0 || opset > kNewestOpset) {
      unsupported("operator " + proto.op_type + " in opset " + std::to_string(opset),
                  version == 0 ? "it came with opset " + std::to_string(facts->versions[0])
                               : "opsets to " + std::to_string(kNewestOpset) + " are known",
                  name);
      return -1;
    }
    if (!is_supported("", proto.op_type)) {
      unsupported("operator " + versioned + " is not supported", "nothing here computes it", name);
      return -1;
    }
    const int inputs = static_cast<int>(proto.inputs.size());
    const int outputs = static_cast<int>(proto.outputs.size());
    if (inputs < facts->fewest_inputs || (facts->most_inputs >= 0 && inputs > facts->most_inputs) ||
        (facts->most_outputs >= 0 && outputs > facts->most_outputs) || outputs == 0) {
      user_error(
          "node '" + name + "' (" + versioned + ") has " + std::to_string(inputs) + " inputs and " +
              std::to_string(outputs) + " outputs",
          "the operator takes " + std::to_string(facts->fewest_inputs) + " to " +
              (facts->most_inputs < 0 ? "any number of" : std::to_string(facts->most_inputs)) +
              " inputs, and has 1 to " +
              (facts->most_outputs < 0 ? "any number of" : std::to_string(facts->most_outputs)) +
              " outputs",
          "export the model again");
    }
    // Loop says what its first two are without them, as the first Scan does of its first.
    const bool has_gaps = proto.op_type == "Loop" || (proto.op_type == "Scan" && version == 8);
    for (int k = 0; k < facts->fewest_inputs && !has_gaps; k++) {
      if (!proto.inputs[static_cast<size_t>(k)].empty()) continue;
      user_error(
          "node '" + name + "' (" + versioned + ") leaves operand " + std::to_string(k) + " out",
          "the operator needs its first " + std::to_string(facts->fewest_inputs),
          "export the model again");
    }
    return version;
  }

  static void check_name(const Node &n, const std::string &attribute) {
    const std::string why = why_unknown(n.op, n.version, attribute);
    if (why.empty()) return;
    user_error(n.describe() + ": it has no attribute '" + attribute + "'", why,
               "mend the model, or export it again");
  }

  static void check_text(const Node &n, const std::string &attribute) {
    const std::vector<std::string> allowed = allowed_texts(n.op, attribute);
    if (allowed.empty()) return;
    const std::string given = n.text(attribute, "");
    if (std::count(allowed.begin(), allowed.end(), given) != 0) return;
    std::string list;
    for (const std::string &text : allowed) list += (list.empty() ? "'" : ", '") + text + "'";
    user_error(n.describe() + ": its attribute '" + attribute + "' is '" + given + "'",
               "the format has " + list, "mend the model, or export it again");
  }

  static void fold_constant(const Node &n, Graph *g) {
    std::optional<Constant> c;
    for (const auto &[key, a] : n.attributes) {
      if (key == "value") {
        if (const auto *t = std::get_if<Constant>(&a)) c = *t;
      } else if (key == "value_int") {
        c = Constant::integer(n.integer(key, 0));
      } else if (key == "value_ints") {
        c = Constant::integers(n.integers(key));
      } else if (key == "value_float") {
        c = Constant::real(n.real(key, 0));
      } else if (key == "value_floats") {
        if (const auto *list = std::get_if<std::vector<float>>(&a)) {
          std::vector<uint8_t> bytes(list->size() * 4);
          if (!bytes.empty())
            std::copy_n(reinterpret_cast<const uint8_t *>(list->data()), bytes.size(),
                        bytes.data());
          c = Constant::of_bytes(ElementType::Float32, {static_cast<int64_t>(list->size())}, bytes);
        }
      }
    }
    if (!c || n.outputs.empty()) {
      user_error(n.describe() + " has no value of numbers", "strings are not supported",
                 "use a tensor of numbers");
    }
    Value &v = g->value(n.outputs[0]);
    v.type = c->type();
    v.shape = Shape(c->shape().begin(), c->shape().end());
    v.constant = c;
  }

  void inline_function(const FunctionProto &f, const NodeProto &call, const std::string &name,
                       Scope *s) {
    if (std::find(path_.begin(), path_.end(), &f) != path_.end()) {
      user_error("function '" + f.domain + "." + f.name + "' calls itself, node '" + name + "'",
                 "its body would have no end", "export the model again");
    }
    if (path_.size() >= kMostFunctionDepth) {
      user_error("node '" + name + "' calls functions more than " +
                     std::to_string(kMostFunctionDepth) + " deep",
                 "bodies are put in the place of calls", "export the model again");
    }
    path_.push_back(&f);
    std::map<std::string, AttributeProto> attributes;
    for (const AttributeProto &a : f.attribute_defaults) attributes[a.name] = a;
    for (const AttributeProto &a : call.attributes) {
      const AttributeProto *given = &a;
      if (!a.reference.empty() && s->attributes) {
        const auto at = s->attributes->find(a.reference);
        if (at == s->attributes->end()) continue;
        given = &at->second;
      }
      attributes[a.name] = *given;
    }
    Scope body;
    body.graph = s->graph;
    body.opsets = f.opsets.empty() ? s->opsets : &f.opsets;
    body.attributes = &attributes;
    body.prefix = name + "/";
    for (size_t i = 0; i < f.inputs.size() && i < call.inputs.size(); i++) {
      if (call.inputs[i].empty()) continue;
      const auto v = find(s, call.inputs[i]);
      if (!v) {
        path_.pop_back();
        user_error("node '" + name + "' reads '" + call.inputs[i] + "'",
                   "no node, input or weight has the name", "export the model again");
      }
      body.names[f.inputs[i]] = *v;
    }
    add_nodes(f.nodes, &body);
    path_.pop_back();
    for (size_t i = 0; i < f.outputs.size() && i < call.outputs.size(); i++) {
      if (call.outputs[i].empty()) continue;
      const auto v = find(&body, f.outputs[i]);
      if (!v) {
        if (!unsupported_.empty() || !problems_.empty()) continue;
        user_error("function '" + f.name + "' does not define its output '" + f.outputs[i] + "'",
                   "no node of its body has the name", "export the model again");
      }
      if (!s->names.emplace(call.outputs[i], *v).second) {
        user_error("node '" + name + "' defines '" + call.outputs[i] + "'", "the name is taken",
                   "export the model again");
      }
    }
  }

  const ModelProto &model_;
  std::shared_ptr<const void> owner_;
  ExternalFiles files_;
  std::map<std::string, const FunctionProto *> functions_;
  std::vector<const FunctionProto *> path_;
  std::vector<Diagnostic> problems_;
  std::map<std::string, std::vector<std::string>> unsupported_;  // to the names of nodes
  std::map<std::string, std::string> unsupported_why_;
  std::map<std::string, ItemForm> forms_;
};

}  // namespace

Model load_model(const uint8_t *bytes, size_t size, const std::string &name,
                 const std::string &folder, std::shared_ptr<const void> owner) {
  const ModelProto proto = read_model(name, bytes, size);
  Model m;
  m.path = name;
  m.ir_version = proto.ir_version;
  const auto opset = proto.opsets.find("");
  m.opset = opset == proto.opsets.end() ? 0 : opset->second;
  m.producer = proto.producer;
  Importer importer(proto, std::move(owner), folder);
  m.graph = importer.run();
  m.forms = importer.forms();
  for (const std::string &u : proto.unknown) m.notes.push_back("unknown part of the file: " + u);
  if (proto.training) m.notes.push_back("training information is not used");
  if (auto why = why_invalid(m.graph)) throw CompileError(*why);
  return m;
}

Model load_model(const std::string &path) {
  const auto file = MappedFile::open(path);
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return load_model(file->data(), file->size(), path, folder, file);
}

Constant load_tensor(const std::string &path) {
  const auto file = MappedFile::open(path);
  return read_constant(read_tensor(path, file->data(), file->size()), nullptr, file);
}

}  // namespace polyhalite::onnx
