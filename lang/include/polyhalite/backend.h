// What the language offers but cannot do itself. codegen/driver defines it; nothing else does.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct FrozenPipeline;
struct JITExtern;
struct JITUserContext;

/// What a compilation can write. The text forms are also those of --emit.
enum class Emit {
  object, static_library, c_header, assembly, llvm_assembly, stmt, schedule, algorithm, tree,
};
/// "object", "static_library"... as in a generator's -e; empty for none.
const char *emit_name(Emit e);
/// ".o", ".a", ".h", ".s", ".ll", ".stmt", ".schedule", ".algorithm", ".tree".
const char *emit_extension(Emit e);

struct CompileTimes {  // seconds
  double schedule = 0, survey = 0, judge = 0, lower = 0, llvm = 0;
  double total() const { return schedule + survey + judge + lower + llvm; }
};

/// A pipeline compiled in process. Calls may come from many threads.
class CompiledPipeline {
 public:
  virtual ~CompiledPipeline() = default;
  /// Inputs in the frozen order, then outputs: pointers to polyhalite_buffer_t or to scalar values.
  /// `context` has the handlers, null for none of its own. Returns 0, or an error code with the
  /// message in `message`, which stays empty where a handler took it. Throws what a handler threw.
  virtual int call(const std::vector<void *> &args, std::string *message,
                   JITUserContext *context = nullptr) const = 0;
  virtual const CompileTimes &times() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// Both throw CompileError. `externs`: functions of this process, by the names of calls.
  virtual std::shared_ptr<CompiledPipeline> jit(
      const FrozenPipeline &pipeline, const Target &target,
      const std::map<std::string, JITExtern> &externs = {}) = 0;
  /// Writes each requested file. `function_name` is the C symbol.
  virtual void emit(const FrozenPipeline &pipeline, const std::string &function_name,
                    const Target &target, const std::map<Emit, std::string> &files,
                    CompileTimes *times = nullptr) = 0;
  /// The text of a stage (stmt, schedule, algorithm, tree, assembly, llvm_assembly).
  virtual std::string emit_text(const FrozenPipeline &pipeline, const std::string &function_name,
                                const Target &target, Emit what) = 0;
  /// The runtime as a static library or object for `target`.
  virtual void emit_runtime(const Target &target, Emit what, const std::string &file) = 0;
};

Backend &backend();

}  // namespace polyhalite
