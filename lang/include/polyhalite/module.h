// Module: pipelines compiled for files, under the names of their C functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "polyhalite/backend.h"
#include "polyhalite/buffer.h"
#include "polyhalite/target.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct ModuleContents;
struct ModulePart;

/// What compile_to_module() gives: the pipeline is lowered, machine code is made when a file asks
/// for it. Copies share what append() adds.
class Module {
 public:
  /// Without functions; see append().
  explicit Module(const std::string &name, const Target &target);

  const std::string &name() const;
  const Target &target() const;
  /// The functions of another module for the same target. CompileError for another one, or where
  /// two functions have one name.
  void append(const Module &other, Here here = Here());

  /// Writes each file. A module of several functions has files of every kind but static libraries
  /// for its first function only: CompileError.
  void compile(const std::map<Emit, std::string> &files, Here here = Here()) const;
  /// The object, as its bytes. CompileError where the module has not one function.
  Buffer<uint8_t> compile_to_buffer(Here here = Here()) const;

  const std::shared_ptr<ModuleContents> &contents() const { return contents_; }
  explicit Module(std::shared_ptr<ModuleContents> contents);

 private:
  const ModulePart &single(const char *what, const Here &here) const;
  std::shared_ptr<ModuleContents> contents_;
};

/// All functions of the modules, which are for one target.
Module link_modules(const std::string &name, const std::vector<Module> &modules,
                    Here here = Here());

/// The runtime as an object, for pipelines compiled with the feature no_runtime.
void compile_standalone_runtime(const std::string &object_file, const Target &target);
/// The same as an object, a static library, or both; returns what was written.
std::map<Emit, std::string> compile_standalone_runtime(const std::map<Emit, std::string> &files,
                                                       const Target &target);

using ModuleFactory = std::function<Module(const std::string &name, const Target &target)>;

/// One function for several targets: calls of it run the code for the first target that the
/// machine can run; the last target is for all others. Files that exist once for each target are
/// named by the target's suffix, as in NAME-SUFFIX.o. `suffixes` may be empty: then the targets'
/// texts.
void compile_multitarget(const std::string &name, const std::map<Emit, std::string> &files,
                         const std::vector<Target> &targets,
                         const std::vector<std::string> &suffixes, const ModuleFactory &factory,
                         std::nullptr_t no_logger = nullptr);

}  // namespace polyhalite
