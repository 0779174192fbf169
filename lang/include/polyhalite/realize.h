// Compiling and running: what Func and Pipeline share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/backend.h"
#include "polyhalite/buffer.h"
#include "polyhalite/target.h"
#include "polyhalite/var.h"

namespace polyhalite {

class ImageParam;
template <typename T>
class Param;
struct Parameter;
struct PipelineContents;

/// An input of a compiled function. Lists of them fix the order of the C function's arguments.
class Argument {
 public:
  Argument(const ImageParam &p);  // NOLINT
  template <typename T>
  Argument(const Param<T> &p) : param_(p.parameter()) {}  // NOLINT
  explicit Argument(std::shared_ptr<Parameter> p) : param_(std::move(p)) {}
  const std::shared_ptr<Parameter> &parameter() const { return param_; }

 private:
  std::shared_ptr<Parameter> param_;
};

/// The outputs of a run.
class Realization {
 public:
  Realization() = default;
  explicit Realization(std::vector<Buffer<>> buffers) : buffers_(std::move(buffers)) {}
  template <typename T, int D, typename... More>
  explicit Realization(Buffer<T, D> &first, More &...more) : buffers_{first, more...} {}

  size_t size() const { return buffers_.size(); }
  /// CompileError for an index that it has not.
  Buffer<> &operator[](size_t i) { return buffers_[checked(i)]; }
  const Buffer<> &operator[](size_t i) const { return buffers_[checked(i)]; }
  /// Of a single output.
  template <typename T, int D>
  operator Buffer<T, D>() const {  // NOLINT
    return Buffer<T, D>(single());
  }

 private:
  const Buffer<> &single() const;
  size_t checked(size_t i) const;
  std::vector<Buffer<>> buffers_;
};

/// What realize() writes to.
class RealizationArg {
 public:
  template <typename T, int D>
  RealizationArg(const Buffer<T, D> &b) : buffers_{raw(b.contents().get())} {}  // NOLINT
  template <typename T, int D, int S>
  RealizationArg(runtime::Buffer<T, D, S> &b) : buffers_{b.raw_buffer()} {}  // NOLINT
  // A template, so that realize({0}) names a size and no null pointer.
  template <typename B, typename = std::enable_if_t<std::is_same_v<B, polyhalite_buffer_t>>>
  RealizationArg(B *b) : buffers_{b} {}   // NOLINT
  RealizationArg(const Realization &r) {  // NOLINT
    for (size_t i = 0; i < r.size(); i++) buffers_.push_back(raw(r[i].contents().get()));
  }
  RealizationArg(const std::vector<Buffer<>> &list) {  // NOLINT
    for (const Buffer<> &b : list) buffers_.push_back(raw(b.contents().get()));
  }
  const std::vector<polyhalite_buffer_t *> &buffers() const { return buffers_; }

 private:
  static polyhalite_buffer_t *raw(BufferContents *b) { return b ? &b->raw() : nullptr; }
  std::vector<polyhalite_buffer_t *> buffers_;
};

/// Shared by Func (its one pipeline) and Pipeline. Self has pipeline_contents().
///
/// realize() compiles for this machine on the first call and again after definitions, directives or
/// constraints have changed. It throws CompileError where the pipeline cannot be compiled, and
/// RuntimeError where it fails at run time: an input that is not bound or too small, for instance.
template <typename Self>
class Realizable {
 public:
  /// Allocates outputs of these extents, with minima 0.
  Realization realize(const std::vector<int> &sizes = {}, const Target &target = Target(),
                      Here here = Here());
  void realize(const RealizationArg &outputs, const Target &target = Target(), Here here = Here());
  void compile_jit(const Target &target = get_jit_target_from_environment());
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
  /// The loop IR.
  void compile_to_lowered_stmt(const std::string &file, const std::vector<Argument> &args = {},
                               const Target &target = get_target_from_environment()) {
    emit_one(Emit::stmt, file, args, "", target);
  }
  /// PREFIX.o and PREFIX.h.
  void compile_to_file(const std::string &prefix, const std::vector<Argument> &args,
                       const std::string &name = "",
                       const Target &target = get_target_from_environment()) {
    compile_to({{Emit::object, prefix + ".o"}, {Emit::c_header, prefix + ".h"}}, args, name,
               target);
  }
  /// PREFIX.a and PREFIX.h.
  void compile_to_static_library(const std::string &prefix, const std::vector<Argument> &args,
                                 const std::string &name = "",
                                 const Target &target = get_target_from_environment()) {
    compile_to({{Emit::static_library, prefix + ".a"}, {Emit::c_header, prefix + ".h"}}, args, name,
               target);
  }
  /// The inputs in order of first use.
  std::vector<Argument> infer_arguments() const;
  /// The loop tree, on stderr.
  void print_loop_nest() const;

 protected:
  ~Realizable() = default;

 private:
  PipelineContents &contents() const;
  void emit_one(Emit what, const std::string &file, const std::vector<Argument> &args,
                const std::string &name, const Target &target) {
    compile_to({{what, file}}, args, name, target);
  }
};

}  // namespace polyhalite
