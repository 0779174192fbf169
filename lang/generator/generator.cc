#include "polyhalite/generator.h"

#include <map>

#include "lang/ir/function.h"

namespace polyhalite {

namespace {

// Members register with the generator whose constructor runs in this thread.
thread_local GeneratorBase *under_construction = nullptr;

[[noreturn]] void outside_generator(const std::string &what) {
  user_error(what + " outside a generator", "it belongs to the generator whose member it is",
             "declare it as a member of a class that derives from Generator");
}

std::string join(const std::vector<std::string> &names) {
  std::string s;
  for (const std::string &n : names) s += (s.empty() ? "" : ", ") + n;
  return s.empty() ? "none" : s;
}

std::map<std::string, GeneratorFactory> &registry() {
  static std::map<std::string, GeneratorFactory> map;
  return map;
}

}  // namespace

GeneratorParamBase::GeneratorParamBase(const std::string &name) : name_(name) {
  if (!under_construction) outside_generator("GeneratorParam '" + name + "'");
  under_construction->params_.push_back(this);
}

namespace detail {

void register_input(std::shared_ptr<Parameter> param) {
  if (!under_construction) outside_generator("Input '" + param->name + "'");
  under_construction->inputs_.push_back(std::move(param));
}

void register_output(Func *output, const std::string &name, Type type, int dimensions) {
  if (!under_construction) outside_generator("Output '" + name + "'");
  under_construction->outputs_.push_back({output, name, type, dimensions});
}

void require_shape(const char *kind, const std::string &name, Type type, int dimensions) {
  if (type.is_handle()) {
    user_error(std::string(kind) + " '" + name + "' has no element type",
               "neither its Buffer nor its constructor gives one",
               "declare it as Buffer<uint8_t, 2>, for instance");
  }
  if (dimensions < 0) {
    user_error(std::string(kind) + " '" + name + "' has no number of dimensions",
               "neither its Buffer nor its constructor gives one",
               "declare it as Buffer<uint8_t, 2>, for instance");
  }
}

}  // namespace detail

GeneratorBase *GeneratorBase::begin_construction() {
  GeneratorBase *enclosing = under_construction;
  under_construction = this;
  return enclosing;
}

GeneratorBase::~GeneratorBase() {
  // Still here only where a derived constructor threw.
  if (under_construction == this) under_construction = enclosing_;
}

void GeneratorBase::set_param(const std::string &name, const std::string &value) {
  std::vector<std::string> known;
  for (GeneratorParamBase *p : params_) {
    if (p->name() == name) {
      p->set_from_string(value);
      return;
    }
    known.push_back(p->name());
  }
  user_error("generator '" + name_ + "' has no parameter '" + name + "'",
             "its parameters are: " + join(known), "set one of them, as in NAME=VALUE");
}

std::vector<const GeneratorParamBase *> GeneratorBase::params() const {
  return {params_.begin(), params_.end()};
}

void GeneratorBase::check_output(const DeclaredOutput &o) const {
  const std::string who = "output '" + o.name + "' of generator '" + name_ + "'";
  const Func &f = *o.func;
  if (!f.defined()) {
    user_error(who + " is undefined", "generate() gives it no value", "define it in generate()");
  }
  if (!o.type.is_handle() && f.type() != o.type) {
    user_error(who + " has type " + f.type().to_string(), "it is declared as " + o.type.to_string(),
               "cast its value to " + o.type.to_string() + ", or declare it otherwise");
  }
  if (o.dimensions >= 0 && f.dimensions() != o.dimensions) {
    user_error(who + " has " + std::to_string(f.dimensions()) + " dimensions",
               "it is declared with " + std::to_string(o.dimensions),
               "define it with that many arguments, or declare it otherwise");
  }
}

Pipeline GeneratorBase::build_pipeline() {
  if (get_target() == Target()) target.set(get_target_from_environment());
  if (outputs_.empty()) {
    user_error("generator '" + name_ + "' has no outputs", "there is nothing to compute",
               "declare an Output member");
  }
  call_generate();
  call_schedule();
  std::vector<Func> outputs;
  for (const DeclaredOutput &o : outputs_) {
    check_output(o);
    outputs.push_back(*o.func);
  }
  return Pipeline(outputs);
}

std::vector<Argument> GeneratorBase::arguments() const {
  std::vector<Argument> args;
  for (const auto &p : inputs_) args.emplace_back(p);
  return args;
}

void GeneratorRegistry::add(const std::string &name, GeneratorFactory make) {
  if (!registry().emplace(name, std::move(make)).second) {
    user_error("two generators are named '" + name + "'",
               "a program's generators go by their names",
               "register one of them under another name");
  }
}

std::vector<std::string> GeneratorRegistry::names() {
  std::vector<std::string> list;
  for (const auto &[name, make] : registry()) list.push_back(name);
  return list;
}

std::unique_ptr<GeneratorBase> GeneratorRegistry::make(const std::string &name) {
  const auto it = registry().find(name);
  if (it == registry().end()) {
    user_error("there is no generator '" + name + "'", "this program has: " + join(names()),
               "name one of them with -g");
  }
  auto generator = it->second();
  generator->name_ = name;
  under_construction = generator->enclosing_;
  return generator;
}

}  // namespace polyhalite
