// Compiling and running: what Func and Pipeline share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/argument.h"
#include "polyhalite/backend.h"
#include "polyhalite/buffer.h"
#include "polyhalite/choices.h"
#include "polyhalite/jit_context.h"
#include "polyhalite/realization.h"
#include "polyhalite/target.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct PipelineContents;
class Callable;
class Module;
class Stage;

/// Shared by Func (its one pipeline) and Pipeline. Self has pipeline_contents().
///
/// realize() compiles for this machine on the first call and again after definitions, directives or
/// constraints have changed. It throws CompileError where the pipeline cannot be compiled, and
/// RuntimeError where it fails at run time: an input that is not bound or too small, for instance.
/// Calls may come from many threads, and from handlers of other calls.
template <typename Self>
class Realizable {
  template <typename C>
  using IfContext = std::enable_if_t<std::is_base_of_v<JITUserContext, C>>;

 public:
  /// Allocates outputs of these extents, with minima 0.
  Realization realize(const std::vector<int> &sizes = {}, const Target &target = Target(),
                      Here here = Here()) {
    return run_on_sizes(nullptr, sizes, target, here);
  }
  void realize(const RealizationArg &outputs, const Target &target = Target(), Here here = Here()) {
    run_on_buffers(nullptr, outputs, target, here);
  }
  // With a context for handlers; templates, so that realize({0}) names a size and no null pointer.
  template <typename C, typename = IfContext<C>>
  Realization realize(C *context, const std::vector<int> &sizes = {},
                      const Target &target = Target(), Here here = Here()) {
    return run_on_sizes(context, sizes, target, here);
  }
  template <typename C, typename = IfContext<C>>
  void realize(C *context, const RealizationArg &outputs, const Target &target = Target(),
               Here here = Here()) {
    run_on_buffers(context, outputs, target, here);
  }

  /// Binds to each ImageParam that has no Buffer a new one, not initialised, of the shape that is
  /// needed for these outputs. Outputs without memory (host null) get the shape that the pipeline
  /// would write.
  void infer_input_bounds(const std::vector<int> &sizes, const Target &target = Target(),
                          Here here = Here()) {
    infer_for_sizes(nullptr, sizes, target, here);
  }
  void infer_input_bounds(const RealizationArg &outputs, const Target &target = Target(),
                          Here here = Here()) {
    infer_for_buffers(nullptr, outputs, target, here);
  }
  template <typename C, typename = IfContext<C>>
  void infer_input_bounds(C *context, const std::vector<int> &sizes,
                          const Target &target = Target(), Here here = Here()) {
    infer_for_sizes(context, sizes, target, here);
  }
  template <typename C, typename = IfContext<C>>
  void infer_input_bounds(C *context, const RealizationArg &outputs,
                          const Target &target = Target(), Here here = Here()) {
    infer_for_buffers(context, outputs, target, here);
  }

  void compile_jit(const Target &target = get_jit_target_from_environment());
  /// Compiled for this machine as a function of these inputs and the outputs.
  Callable compile_to_callable(const std::vector<Argument> &args,
                               const Target &target = get_jit_target_from_environment());
  /// What calls of this pipeline use where their context has no handler of its own.
  JITHandlers &jit_handlers();
  /// Functions of this process under names that the pipeline calls, before those that the process
  /// exports.
  void set_jit_externs(const std::map<std::string, JITExtern> &externs);
  const std::map<std::string, JITExtern> &get_jit_externs();
  /// Compiles anew at the next use.
  void invalidate_cache();
  /// Of the last compilation in process.
  CompileTimes compile_times() const;

  /// Writes each file. `name` is the C symbol, by default the output's name.
  void compile_to(const std::map<Emit, std::string> &files, const std::vector<Argument> &args,
                  const std::string &name, const Target &target = get_target_from_environment());
  /// A stage of the compilation as text.
  std::string emit_text(Emit what, const std::vector<Argument> &args = {},
                        const Target &target = get_target_from_environment()) const;

  void compile_to_object(const std::string &file, const std::vector<Argument> &args,
                         const std::string &name = "",
                         const Target &target = get_target_from_environment()) {
    emit_one(Emit::object, file, args, name, target);
  }
  void compile_to_object(const std::string &file, const std::vector<Argument> &args,
                         const Target &target) {
    emit_one(Emit::object, file, args, "", target);
  }
  void compile_to_assembly(const std::string &file, const std::vector<Argument> &args,
                           const std::string &name = "",
                           const Target &target = get_target_from_environment()) {
    emit_one(Emit::assembly, file, args, name, target);
  }
  void compile_to_assembly(const std::string &file, const std::vector<Argument> &args,
                           const Target &target) {
    emit_one(Emit::assembly, file, args, "", target);
  }
  void compile_to_llvm_assembly(const std::string &file, const std::vector<Argument> &args,
                                const std::string &name = "",
                                const Target &target = get_target_from_environment()) {
    emit_one(Emit::llvm_assembly, file, args, name, target);
  }
  void compile_to_llvm_assembly(const std::string &file, const std::vector<Argument> &args,
                                const Target &target) {
    emit_one(Emit::llvm_assembly, file, args, "", target);
  }
  void compile_to_header(const std::string &file, const std::vector<Argument> &args,
                         const std::string &name = "",
                         const Target &target = get_target_from_environment()) {
    emit_one(Emit::c_header, file, args, name, target);
  }
  void compile_to_bitcode(const std::string &file, const std::vector<Argument> &args,
                          const std::string &name = "",
                          const Target &target = get_target_from_environment()) {
    emit_one(Emit::bitcode, file, args, name, target);
  }
  void compile_to_bitcode(const std::string &file, const std::vector<Argument> &args,
                          const Target &target) {
    emit_one(Emit::bitcode, file, args, "", target);
  }
  /// C++ source: for compilers of other machines. Loops are as the schedule has them, but what it
  /// says of vectors and copies is left to the compiler.
  void compile_to_c(const std::string &file, const std::vector<Argument> &args,
                    const std::string &name = "",
                    const Target &target = get_target_from_environment()) {
    emit_one(Emit::c_source, file, args, name, target);
  }
  /// The loop IR.
  void compile_to_lowered_stmt(const std::string &file, const std::vector<Argument> &args = {},
                               const Target &target = get_target_from_environment()) {
    emit_one(Emit::stmt, file, args, "", target);
  }
  void compile_to_lowered_stmt(const std::string &file, const std::vector<Argument> &args,
                               StmtOutputFormat format,
                               const Target &target = get_target_from_environment()) {
    emit_one(format == HTML ? Emit::stmt_html : Emit::stmt, file, args, "", target);
  }
  /// The loop tree.
  void compile_to_conceptual_stmt(const std::string &file, const std::vector<Argument> &args,
                                  StmtOutputFormat format = Text,
                                  const Target &target = get_target_from_environment()) {
    emit_one(format == HTML ? Emit::conceptual_stmt_html : Emit::conceptual_stmt, file, args, "",
             target);
  }
  /// A page of HTML that needs no other file: the graph of stages, what each directive did, the
  /// loops with sizes and footprints, dependences drawn on a few instances, proofs, promises and
  /// checks, and the code with links between it and the loops. Numbers are for the sizes that
  /// set_estimates() gives. Of a schedule that is refused, the page says why.
  void explain(const std::string &file, const Target &target = get_target_from_environment()) {
    emit_one(Emit::explanation, file, {}, "", target);
  }
  /// The same with the time of each stage: runs the pipeline on made-up inputs for the sizes of
  /// set_estimates(), which must be there, with the profiler.
  void explain_run(const std::string &file, const Target &target = get_target_from_environment()) {
    emit_one(Emit::timed_explanation, file, {}, "", target);
  }
  /// PREFIX.o (on Windows PREFIX.obj) and PREFIX.h.
  void compile_to_file(const std::string &prefix, const std::vector<Argument> &args,
                       const std::string &name = "",
                       const Target &target = get_target_from_environment()) {
    compile_to({{Emit::object, prefix + emit_extension(Emit::object, target)},
                {Emit::c_header, prefix + ".h"}},
               args, name, target);
  }
  /// PREFIX.a (on Windows PREFIX.lib) and PREFIX.h.
  void compile_to_static_library(const std::string &prefix, const std::vector<Argument> &args,
                                 const std::string &name = "",
                                 const Target &target = get_target_from_environment()) {
    compile_to({{Emit::static_library, prefix + emit_extension(Emit::static_library, target)},
                {Emit::c_header, prefix + ".h"}},
               args, name, target);
  }
  /// A library of the code for each target behind one function; see compile_multitarget().
  /// PREFIX.a and PREFIX.h.
  void compile_to_multitarget_static_library(const std::string &prefix,
                                             const std::vector<Argument> &args,
                                             const std::vector<Target> &targets);
  /// The same as objects: PREFIX-SUFFIX.o for each target and PREFIX.o, which chooses; PREFIX.h.
  void compile_to_multitarget_object_files(const std::string &prefix,
                                           const std::vector<Argument> &args,
                                           const std::vector<Target> &targets,
                                           const std::vector<std::string> &suffixes);
  /// Lowered for files that are written later. CompileError where the schedule is refused.
  Module compile_to_module(const std::vector<Argument> &args, const std::string &name = "",
                           const Target &target = get_target_from_environment());
  /// The inputs in order of first use.
  std::vector<Argument> infer_arguments() const;
  /// The loop tree, on stderr.
  void print_loop_nest() const;

  /// Asks what is wrong with more directives, without giving them: what compiling would say if they
  /// stood behind the schedule so far, with the instances that they would break; null where they
  /// are legal. One directive a line, as Emit::schedule prints them, with the names of this
  /// pipeline's Funcs and loops; the sizes of split loops may stand in the call: vectorize(x, 8).
  ///
  ///   if (auto why = p.why_not("f.update(0).parallel(r)")) std::puts(why->to_string().c_str());
  ///
  /// Nothing is changed: neither the schedule, nor what may still be defined or set(). A text that
  /// is broken, and names that are not there, are answered by a diagnostic as well.
  std::optional<Diagnostic> why_not(const std::string &directives,
                                    const Target &target = get_target_from_environment(),
                                    Here here = Here()) const;
  /// What the schedule may say next about a stage of this pipeline: kinds, order, tiles and other
  /// coordinates of its loops, and where its Func may be computed and stored. Each entry is a text
  /// for why_not(), which has nothing against it, and changes the loops; of what could be said (any
  /// factor, any number of steps) it is a choice. CompileError where the schedule so far is illegal
  /// or the stage is none of the pipeline's.
  std::vector<std::string> legal_alternatives(const Stage &stage,
                                              const Target &target = get_target_from_environment(),
                                              Here here = Here()) const;

 protected:
  ~Realizable() = default;

 private:
  PipelineContents &contents() const;
  Realization run_on_sizes(JITUserContext *context, const std::vector<int> &sizes,
                           const Target &target, const Here &here);
  void run_on_buffers(JITUserContext *context, const RealizationArg &outputs, const Target &target,
                      const Here &here);
  void infer_for_sizes(JITUserContext *context, const std::vector<int> &sizes, const Target &target,
                       const Here &here);
  void infer_for_buffers(JITUserContext *context, const RealizationArg &outputs,
                         const Target &target, const Here &here);
  void emit_one(Emit what, const std::string &file, const std::vector<Argument> &args,
                const std::string &name, const Target &target) {
    compile_to({{what, file}}, args, name, target);
  }
};

}  // namespace polyhalite
