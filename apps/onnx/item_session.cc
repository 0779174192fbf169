#include "apps/onnx/item_session.h"

#include <optional>

namespace polyhalite::onnx {

namespace {

std::vector<std::string> names_of(const Graph &g, const std::vector<ValueId> &values) {
  std::vector<std::string> names;
  for (const ValueId v : values) names.push_back(g.value(v).name);
  return names;
}

std::string part_name(const std::string &name, size_t i) {
  return name + "[" + std::to_string(i) + "]";
}

std::string kind_of(const Item &item) {
  return std::holds_alternative<Constant>(item)         ? "a tensor"
         : std::holds_alternative<std::monostate>(item) ? "nothing"
                                                        : "a sequence";
}

std::string kind_of(ItemForm form) {
  return std::string(form.optional ? "an optional " : "a ") +
         (form.sequence ? "sequence" : "tensor");
}

// The model for an input that has so many elements, or is absent.
void put_parts(Model *m, ValueId input, const std::optional<size_t> &count) {
  Graph &g = m->graph;
  const Value value = g.value(input);
  const Sequence s{count ? Form::List : Form::Absent, value.type, {}};
  std::vector<ValueId> parts, inputs;
  for (size_t i = 0; i < count.value_or(0); i++)
    parts.push_back(g.add_value(part_name(value.name, i), value.type, value.shape));
  for (const ValueId v : g.inputs) {
    if (v != input) {
      inputs.push_back(v);
    } else {
      inputs.insert(inputs.end(), parts.begin(), parts.end());
    }
  }
  g.inputs = std::move(inputs);
  g.value(input).shape.reset();
  g.nodes.insert(g.nodes.begin(), node_that_makes(s, parts, input));
}

}  // namespace

ItemSession::ItemSession(const std::string &path, CompileOptions options)
    : ItemSession(load_model(path), std::move(options)) {}

ItemSession::ItemSession(Model model, CompileOptions options)
    : model_(std::move(model)), options_(std::move(options)) {
  // Runs of all Sessions are counted together.
  if (!options_.random) options_.random = std::make_shared<RandomSource>();
}

std::vector<std::string> ItemSession::input_names() const {
  return names_of(model_.graph, model_.graph.inputs);
}

std::vector<std::string> ItemSession::output_names() const {
  return names_of(model_.graph, model_.graph.outputs);
}

const Value &ItemSession::input(const std::string &name) const {
  for (const ValueId v : model_.graph.inputs) {
    if (model_.graph.value(v).name == name) return model_.graph.value(v);
  }
  user_error("the model has no input '" + name + "'", "its inputs have other names",
             "use one of them");
}

ItemForm ItemSession::form(const std::string &name) const {
  const auto at = model_.forms.find(name);
  return at == model_.forms.end() ? ItemForm() : at->second;
}

ItemSession::Prepared ItemSession::prepare(const Items &inputs) {
  Prepared p;
  std::string key;
  std::map<ValueId, std::optional<size_t>> counts;  // of what is no plain tensor here
  for (const auto &[name, item] : inputs) {
    if (const auto *tensor = std::get_if<Constant>(&item)) p.tensors[name] = *tensor;
  }
  for (const ValueId v : model_.graph.inputs) {
    const std::string &name = model_.graph.value(v).name;
    const ItemForm wanted = form(name);
    const auto given = inputs.find(name);
    const bool left_out = given == inputs.end();
    if (left_out && !wanted.is_tensor() && !wanted.optional) {
      user_error("input '" + name + "' is missing", "it is a sequence", "give its elements");
    }
    const Item item = left_out ? Item() : given->second;
    const auto *list = std::get_if<std::vector<Constant>>(&item);
    const bool fits = std::holds_alternative<std::monostate>(item)
                          ? wanted.optional
                          : wanted.sequence == (list != nullptr);
    if (!left_out && !fits) {
      user_error("input '" + name + "' gets " + kind_of(item), "it is " + kind_of(wanted),
                 wanted.sequence ? "give a list of tensors" : "give one tensor");
    }
    if (list) {
      counts[v] = list->size();
      key += std::to_string(list->size()) + ";";
      for (size_t i = 0; i < list->size(); i++) p.tensors[part_name(name, i)] = (*list)[i];
    } else if (wanted.optional && std::holds_alternative<std::monostate>(item)) {
      counts[v] = std::nullopt;
      key += "absent;";
    } else {
      key += ";";
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Session> &session = sessions_[key];
  if (!session) {
    Model m = model_;
    m.forms.clear();
    for (const auto &[v, count] : counts) put_parts(&m, v, count);
    session = std::make_shared<Session>(std::move(m), options_);
  }
  p.session = session;
  return p;
}

Items ItemSession::items(const Program &program, const Program::Tensors &outputs) {
  Items all;
  for (const Program::Output &o : program.outputs()) {
    Item &item = all[o.name];
    if (o.form.form == Form::Tensor) {
      item = outputs.at(o.name);
    } else if (o.form.form == Form::List) {
      std::vector<Constant> list;
      for (const std::string &name : o.tensors) list.push_back(outputs.at(name));
      item = std::move(list);
    } else if (o.form.form == Form::Stack) {
      const Constant &stack = outputs.at(o.name);
      std::vector<int64_t> shape = stack.shape();
      shape.erase(shape.begin());
      std::vector<Constant> list;
      for (int64_t i = 0; i < stack.shape()[0]; i++)
        list.push_back(stack.part(0, i, 1).reshaped(shape));
      item = std::move(list);
    }
  }
  return all;
}

Items ItemSession::run(const Items &inputs) {
  const Prepared p = prepare(inputs);
  const Session::Run run = p.session->run_program(p.tensors);
  return items(*run.program, run.outputs);
}

}  // namespace polyhalite::onnx
