// backend(): the compiler behind the language, for this process and for files.
#include <cctype>

#include "codegen/driver/compile.h"
#include "codegen/driver/embedded_runtime.h"
#include "codegen/driver/output_file.h"
#include "codegen/ir/text.h"
#include "codegen/llvm/c_header.h"
#include "codegen/llvm/jit.h"
#include "codegen/llvm/object.h"
#include "lang/ir/intrinsics.h"
#include "lang/target_words.h"
#include "polyhalite/backend.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

namespace {

class PipelineInProcess : public CompiledPipeline {
 public:
  PipelineInProcess(const Function &f, const Target &target,
                    const std::map<std::string, JITExtern> &externs, CompileTimes times)
      : times_(times) {
    const Stopwatch llvm;
    code_ = std::make_unique<JitCode>(f, target, externs);
    times_.llvm = llvm.seconds();
  }
  int call(const std::vector<void *> &args, std::string *message,
           JITUserContext *context) const override {
    return code_->call(args, message, context);
  }
  const CompileTimes &times() const override { return times_; }

 private:
  CompileTimes times_;
  std::unique_ptr<JitCode> code_;
};

// Code for other machines, or for instructions that this one lacks, cannot run here.
void check_runs_here(const Target &target) {
  const Target host = get_host_target();
  bool runs = target.arch == host.arch && target.bits == host.bits && target.os == host.os;
  for (int f = 0; f < Target::FeatureEnd; f++) {
    const auto feature = static_cast<Target::Feature>(f);
    if (!architecture_of(feature)) continue;
    if (target.has_feature(feature) && !host.has_feature(feature)) runs = false;
  }
  if (runs) return;
  user_error("code for target '" + target.to_string() + "' cannot run on this machine",
             "this machine is '" + host.to_string() + "'",
             "use the target 'host', or compile to a file");
}

// Names that a header could not declare, or under which compiled code would call itself.
bool is_taken(const std::string &name) {
  bool taken = is_c_keyword(name) || name == "main" || name.starts_with("polyhalite_");
  for (const char *word : {"memcpy", "memset", "memmove", "malloc", "free", "printf", "abort"}) {
    taken = taken || name == word;
  }
  for (const std::string word : math::kNames) {
    taken = taken || name == word || name == word + "f";
  }
  return taken;
}

void check_symbol(const std::string &name) {
  bool good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  if (good && is_taken(name)) {
    user_error("'" + name + "' cannot name a compiled function",
               "C, C++, the C library or the runtime of Polyhalite has that name already",
               "give the function another name");
  }
  if (good) return;
  user_error("'" + name + "' cannot name a compiled function",
             "a C symbol has letters, digits and underscores, and does not begin with a digit",
             "give the function another name");
}

// "object" -> "the object", for messages about files.
std::string described(Emit e) {
  switch (e) {
    case Emit::object:
      return "the object";
    case Emit::static_library:
      return "the static library";
    case Emit::c_header:
      return "the C header";
    case Emit::assembly:
      return "the assembly";
    case Emit::llvm_assembly:
      return "the LLVM assembly";
    case Emit::stmt:
      return "the loop IR";
    case Emit::schedule:
      return "the schedule";
    case Emit::algorithm:
      return "the algorithm";
    case Emit::tree:
      return "the loop tree";
  }
  return "the output";
}

// One pipeline for files; each stage is computed when the first output asks for it.
class Outputs {
 public:
  Outputs(const FrozenPipeline &pipeline, const std::string &name, const Target &target)
      : pipeline_(pipeline), name_(name), target_(target.without_feature(Target::JIT)) {}

  std::string make(Emit what) {
    switch (what) {
      case Emit::algorithm:
        return to_text(pipeline_.algorithm);
      case Emit::schedule:
        return to_text(pipeline_.directives);
      case Emit::tree:
        return to_text(build_tree(pipeline_.algorithm, pipeline_.directives));
      case Emit::stmt:
        return to_text(lowered().function);
      case Emit::c_header:
        return c_header(lowered().function, target_);
      case Emit::assembly:
        return code(CodeForm::Assembly);
      case Emit::llvm_assembly:
        return code(CodeForm::LlvmAssembly);
      case Emit::object:
        return object();
      case Emit::static_library:
        return make_archive({{name_ + ".o", object()}});
    }
    internal_check(false, "an output of no kind");
    return {};
  }

  CompileTimes times() const {
    CompileTimes t = lowered_ ? lowered_->times : CompileTimes();
    t.llvm = llvm_seconds_;
    return t;
  }

 private:
  const LoweredPipeline &lowered() {
    if (!lowered_) {
      check_symbol(name_);
      lowered_ = std::make_unique<LoweredPipeline>(lower_pipeline(pipeline_, name_, target_));
    }
    return *lowered_;
  }

  std::string code(CodeForm form) {
    const Function &f = lowered().function;
    const Stopwatch llvm;
    std::string bytes = compile(f, target_, form);
    llvm_seconds_ += llvm.seconds();
    return bytes;
  }

  const std::string &object() {
    if (object_.empty()) object_ = code(CodeForm::Object);
    return object_;
  }

  const FrozenPipeline &pipeline_;
  const std::string &name_;
  const Target target_;
  std::unique_ptr<LoweredPipeline> lowered_;
  std::string object_;
  double llvm_seconds_ = 0;
};

class LlvmBackend : public Backend {
 public:
  std::shared_ptr<CompiledPipeline> jit(const FrozenPipeline &pipeline, const Target &target,
                                        const std::map<std::string, JITExtern> &externs) override {
    check_runs_here(target);
    const LoweredPipeline lowered =
        lower_pipeline(pipeline, symbol_of(pipeline), target.with_feature(Target::JIT));
    return std::make_shared<PipelineInProcess>(lowered.function, target, externs, lowered.times);
  }

  void emit(const FrozenPipeline &pipeline, const std::string &function_name, const Target &target,
            const std::map<Emit, std::string> &files, CompileTimes *times) override {
    Outputs outputs(pipeline, function_name, target);
    for (const auto &[what, path] : files) write_file(path, outputs.make(what), described(what));
    if (times) *times = outputs.times();
  }

  std::string emit_text(const FrozenPipeline &pipeline, const std::string &function_name,
                        const Target &target, Emit what) override {
    return Outputs(pipeline, function_name, target).make(what);
  }

  void emit_runtime(const Target &target, Emit what, const std::string &file) override {
    const std::string object = runtime_object(target);
    if (what == Emit::object) return write_file(file, object, "the runtime's object");
    if (what == Emit::static_library) {
      return write_file(file, make_archive({{"polyhalite_runtime.o", object}}),
                        "the runtime's static library");
    }
    user_error(std::string("the runtime cannot be written as ") + emit_name(what),
               "it is compiled code", "use object or static_library");
  }

 private:
  // In process, messages name the pipeline by its first output.
  static std::string symbol_of(const FrozenPipeline &pipeline) {
    return pipeline.algorithm.outputs.empty() ? "pipeline" : pipeline.algorithm.outputs[0];
  }
};

}  // namespace

Backend &backend() {
  static LlvmBackend instance;
  return instance;
}

}  // namespace polyhalite
