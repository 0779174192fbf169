#include "polyhalite/module.h"

#include <cstring>

#include "lang/language/module_contents.h"
#include "lang/language/random.h"
#include "polyhalite/error.h"

namespace polyhalite {

Module::Module(const std::string &name, const Target &target)
    : contents_(std::make_shared<ModuleContents>(ModuleContents{name, target, {}})) {}

Module::Module(std::shared_ptr<ModuleContents> contents) : contents_(std::move(contents)) {}

const std::string &Module::name() const { return contents_->name; }
const Target &Module::target() const { return contents_->target; }

void Module::append(const Module &other, Here here) {
  if (other.target() != target()) {
    user_error("module '" + other.name() + "' is appended to '" + name() + "'",
               "it is for target '" + other.target().to_string() + "', the other for '" +
                   target().to_string() + "'",
               "compile both for one target", here.where);
  }
  const std::vector<ModulePart> added = other.contents_->parts;
  for (const ModulePart &part : added) {
    for (const ModulePart &known : contents_->parts) {
      if (known.function != part.function) continue;
      user_error("function '" + part.function + "' is in module '" + name() + "' already",
                 "the linker could not tell the two", "compile one of them under another name",
                 here.where);
    }
    contents_->parts.push_back(part);
  }
}

const ModulePart &Module::single(const char *what, const Here &here) const {
  if (contents_->parts.size() != 1) {
    user_error(std::string(what) + " of module '" + name() + "'",
               "the module has " + std::to_string(contents_->parts.size()) +
                   " functions, and such a file has one",
               "write a static library, or compile the modules one by one", here.where);
  }
  return contents_->parts[0];
}

void Module::compile(const std::map<Emit, std::string> &files, Here here) const {
  for (const auto &[what, path] : files) {
    if (what == Emit::static_library && contents_->parts.size() > 1) {
      std::vector<std::shared_ptr<CompiledForFiles>> codes;
      for (const ModulePart &part : contents_->parts) codes.push_back(part.code);
      backend().emit_library(codes, path);
    } else {
      single(emit_name(what), here).code->write(what, path);
    }
  }
}

Buffer<uint8_t> Module::compile_to_buffer(Here here) const {
  const std::string &bytes = single("the object", here).code->bytes(Emit::object);
  Buffer<uint8_t> buffer(std::vector<int>{static_cast<int>(bytes.size())}, name());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

Module link_modules(const std::string &name, const std::vector<Module> &modules, Here here) {
  if (modules.empty()) {
    user_error("module '" + name + "' is linked of none", "its target is not known",
               "give at least one module", here.where);
  }
  Module linked(name, modules[0].target());
  for (const Module &m : modules) linked.append(m, here);
  return linked;
}

void compile_standalone_runtime(const std::string &object_file, const Target &target) {
  backend().emit_runtime(target, Emit::object, object_file);
}

std::map<Emit, std::string> compile_standalone_runtime(const std::map<Emit, std::string> &files,
                                                       const Target &target) {
  std::map<Emit, std::string> written;
  for (Emit what : {Emit::object, Emit::static_library}) {
    const auto file = files.find(what);
    if (file == files.end()) continue;
    backend().emit_runtime(target, what, file->second);
    written.insert(*file);
  }
  return written;
}

void compile_multitarget(const std::string &name, const std::map<Emit, std::string> &files,
                         const std::vector<Target> &targets,
                         const std::vector<std::string> &suffixes, const ModuleFactory &factory,
                         std::nullptr_t) {
  if (targets.empty() || (!suffixes.empty() && suffixes.size() != targets.size())) {
    user_error("'" + name + "' is compiled for " + std::to_string(targets.size()) +
                   " targets with " + std::to_string(suffixes.size()) + " suffixes",
               "each target needs one, and there must be a target",
               "give as many suffixes as targets, or none");
  }
  std::vector<Backend::Variant> variants;
  for (size_t i = 0; i < targets.size(); i++) {
    const SameRandomCalls same;
    const Module m = factory(name, targets[i]);
    if (m.contents()->parts.size() != 1) {
      user_error("'" + name + "' for target '" + targets[i].to_string() + "'",
                 "its module has " + std::to_string(m.contents()->parts.size()) + " functions",
                 "return a module of one function, as compile_to_module() makes");
    }
    variants.push_back({m.contents()->parts[0].pipeline, targets[i],
                        suffixes.empty() ? targets[i].to_string() : suffixes[i]});
  }
  if (variants.size() == 1) {
    backend().emit(*variants[0].pipeline, name, targets[0], files);
  } else {
    backend().emit_multitarget(variants, name, files);
  }
}

}  // namespace polyhalite
