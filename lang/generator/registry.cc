// The generators of this program, by name.
#include <map>

#include "polyhalite/callable.h"
#include "polyhalite/generator.h"

namespace polyhalite {

namespace {

struct Registered {
  GeneratorFactory make;
  std::string stub;
  std::string original;       // of an alias
  GeneratorParamsMap values;  // of an alias
};

std::map<std::string, Registered> &registry() {
  static std::map<std::string, Registered> map;
  return map;
}

void insert(const std::string &name, Registered entry) {
  if (registry().emplace(name, std::move(entry)).second) return;
  user_error("two generators are named '" + name + "'", "a program's generators go by their names",
             "register one of them under another name");
}

const Registered &find(const std::string &name) {
  const auto at = registry().find(name);
  if (at != registry().end()) return at->second;
  std::string known;
  for (const auto &[n, entry] : registry()) known += (known.empty() ? "" : ", ") + n;
  user_error("there is no generator '" + name + "'",
             "this program has: " + (known.empty() ? "none" : known), "name one of them with -g");
}

}  // namespace

void GeneratorRegistry::add(const std::string &name, GeneratorFactory make,
                            const std::string &stub) {
  insert(name, {std::move(make), stub.empty() ? name : stub, "", {}});
}

void GeneratorRegistry::add_alias(const std::string &name, const std::string &original,
                                  const GeneratorParamsMap &values) {
  if (name == original) {
    user_error("generator '" + name + "' is an alias of itself", "nothing says what it computes",
               "name the generator that it stands for");
  }
  insert(name, {nullptr, name, original, values});
}

void GeneratorRegistry::remove(const std::string &name) { registry().erase(name); }

std::vector<std::string> GeneratorRegistry::names() {
  std::vector<std::string> list;
  for (const auto &[name, entry] : registry()) list.push_back(name);
  return list;
}

std::unique_ptr<GeneratorBase> GeneratorRegistry::make(const std::string &name,
                                                       const GeneratorContext &context) {
  const Registered &entry = find(name);
  if (!entry.make) {
    // Names are registered in any order, so that an alias is followed when it is used.
    auto generator = make(entry.original, context);
    generator->name_ = name;
    generator->stub_name_ = entry.stub;
    generator->set_generatorparam_values(entry.values);
    return generator;
  }
  auto generator = make_from(name, entry.make, context);
  generator->stub_name_ = entry.stub;
  return generator;
}

std::unique_ptr<GeneratorBase> GeneratorRegistry::make_from(const std::string &name,
                                                            const GeneratorFactory &factory,
                                                            const GeneratorContext &context) {
  auto generator = factory();
  generator->end_construction();
  generator->name_ = name;
  generator->init_from_context(context);
  return generator;
}

Callable create_callable_from_generator(const GeneratorContext &context, const std::string &name,
                                        const GeneratorParamsMap &params) {
  auto generator = GeneratorRegistry::make(name, context);
  generator->set_generatorparam_values(params);
  Pipeline pipeline = generator->build_pipeline();
  return pipeline.compile_to_callable(generator->arguments(), generator->get_target());
}

Callable create_callable_from_generator(const Target &target, const std::string &name,
                                        const GeneratorParamsMap &params) {
  return create_callable_from_generator(GeneratorContext(target), name, params);
}

}  // namespace polyhalite
