// What the language offers but cannot do itself. codegen/driver defines it; nothing else does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/jit_context.h"
#include "polyhalite/target.h"

namespace polyhalite {

struct AutoschedulerParams;
struct AutoSchedulerResults;
struct FrozenPipeline;
struct JITUserContext;

/// What a compilation can write. The text forms are also those of --emit.
enum class Emit {
  object,
  static_library,
  c_header,
  assembly,
  bitcode,
  llvm_assembly,
  stmt,
  stmt_html,
  conceptual_stmt,
  schedule,
  algorithm,
  tree,
  function_info_header,
  registration,
  python_extension,
  compiler_log,
  hlpipe,
  conceptual_stmt_html,
  c_source,
  ptx,
  explanation,
  timed_explanation,
  // What Halide's compiler writes and this one does not.
  cpp_stub,
  featurization,
  pytorch_wrapper,
  device_code,
};
using OutputFileType = Emit;
/// Those that a compilation writes, in the order of the enumeration.
const std::vector<Emit> &all_emits();
/// Their names, as in a generator's -e, with "cpp_stub", which generators write.
std::string emit_names();
/// The one of this name; CompileError where there is none, or where no compilation writes it.
Emit emit_from_name(const std::string &name);
/// "object", "static_library"... as in a generator's -e.
const char *emit_name(Emit e);
/// ".o", ".a" (on Windows ".obj", ".lib"), ".h", ".s", ".bc", ".ll", ".stmt", ".stmt.html",
/// ".conceptual.stmt", ".schedule", ".algorithm", ".tree", ".function_info.h",
/// ".registration.cpp", ".py.cpp", ".halide_compiler_log", ".hlpipe", ".conceptual.stmt.html",
/// ".halide_generated.cpp", ".ptx", ".explain.html".
const char *emit_extension(Emit e, const Target &target);
/// Whether a compilation for several targets writes one file for each, NAME-SUFFIX.EXTENSION.
bool is_per_target(Emit e);

struct CompileTimes {  // seconds
  double schedule = 0, survey = 0, judge = 0, lower = 0, llvm = 0;
  double verify = 0;  // of the second proof, where it is asked for
  double total() const { return schedule + survey + judge + lower + llvm + verify; }
};

/// A pipeline compiled in process. Calls may come from many threads.
class CompiledPipeline {
 public:
  virtual ~CompiledPipeline() = default;
  /// Inputs in the frozen order, then outputs: pointers to polyhalite_buffer_t or to scalar values.
  /// `context` has the handlers, null for none of its own. Returns 0, or an error code with the
  /// message in `message`, which stays empty where a handler took it. Throws what a handler threw.
  int call(const std::vector<void *> &args, std::string *message,
           JITUserContext *context = nullptr) const {
    std::vector<void *> slots(1);
    slots.insert(slots.end(), args.begin(), args.end());
    JITUserContext own;
    return call(slots.data(), message, context ? context : &own);
  }
  /// The same without an allocation: slots[0] is for the call's own use, the arguments stand
  /// behind. The context is not null.
  virtual int call(void **slots, std::string *message, JITUserContext *context) const = 0;
  virtual const CompileTimes &times() const = 0;
  /// The C function int f(void *context, arguments): scalars by value, buffers by pointer.
  virtual void *address() const = 0;
};

/// A pipeline compiled for files; what a file needs is computed when the first asks for it.
class CompiledForFiles {
 public:
  virtual ~CompiledForFiles() = default;
  virtual const std::string &function_name() const = 0;
  virtual const Target &target() const = 0;
  /// CompileError where the pipeline has no such file.
  virtual const std::string &bytes(Emit what) = 0;
  virtual void write(Emit what, const std::string &path) = 0;
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
  /// The same in two steps. CompileError where the schedule is refused.
  virtual std::shared_ptr<CompiledForFiles> prepare(std::shared_ptr<const FrozenPipeline> pipeline,
                                                    const std::string &function_name,
                                                    const Target &target) = 0;
  /// A static library of several pipelines for one target, at least one.
  virtual void emit_library(const std::vector<std::shared_ptr<CompiledForFiles>> &parts,
                            const std::string &file) = 0;
  /// One pipeline compiled for several targets behind one function, which calls the first that the
  /// machine can run; the last is for all others. Files as emit() names them.
  struct Variant {
    std::shared_ptr<const FrozenPipeline> pipeline;
    Target target;
    std::string suffix;  // of the function's and the files' names
  };
  virtual void emit_multitarget(const std::vector<Variant> &variants,
                                const std::string &function_name,
                                const std::map<Emit, std::string> &files,
                                CompileTimes *times = nullptr) = 0;
  /// The text of a stage (stmt, schedule, algorithm, tree, assembly, llvm_assembly).
  virtual std::string emit_text(const FrozenPipeline &pipeline, const std::string &function_name,
                                const Target &target, Emit what) = 0;
  /// The algorithm that the directives derive, with the other directives.
  virtual FrozenPipeline derive(const FrozenPipeline &pipeline) = 0;
  /// The pipeline with a complete schedule: the directives that autosched/ chose stand behind those
  /// that it had. Fills in the texts of `results`. CompileError, see auto_schedule().
  virtual FrozenPipeline auto_schedule(const FrozenPipeline &pipeline, const Target &target,
                                       const AutoschedulerParams &params,
                                       AutoSchedulerResults *results) = 0;
  /// What Emit::hlpipe writes, read back; CompileError at NAME:LINE.
  virtual FrozenPipeline parse_pipeline(const std::string &text, const std::string &name) = 0;
  /// The runtime as a static library or object for `target`, or the header beside it. Where
  /// programs name its functions as Halide's, without HalideRuntime.h, they find them.
  virtual void emit_runtime(const Target &target, Emit what, const std::string &file) = 0;
  /// Makes a call of the runtime for a buffer; RuntimeError with what it reports where it fails.
  virtual void device_call(const std::function<int(void *user_context)> &call) = 0;
  /// The runtime's functions for a device; null where it has none.
  virtual const polyhalite_device_interface_t *device_interface(DeviceAPI api) = 0;
  /// 10 times the compute capability of the device that would be used; -1 where there is none.
  virtual int device_capability(DeviceAPI api) = 0;
  /// See Realizable. `where` is the place of the directives; legal_alternatives names the stage as
  /// the pipeline does.
  virtual std::optional<Diagnostic> why_not(const FrozenPipeline &pipeline,
                                            const std::string &directives, const Target &target,
                                            const SourceLocation &where) = 0;
  virtual std::vector<std::string> legal_alternatives(const FrozenPipeline &pipeline,
                                                      const std::string &func, int stage,
                                                      const Target &target) = 0;
};

Backend &backend();

}  // namespace polyhalite
