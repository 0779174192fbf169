// backend(): the compiler behind the language, for this process and for files.
#include <cctype>

#include "codegen/driver/compile.h"
#include "codegen/driver/describe_filter.h"
#include "codegen/driver/embedded_runtime.h"
#include "codegen/driver/generated_sources.h"
#include "lang/output_file.h"
#include "codegen/driver/outputs.h"
#include "codegen/driver/pipeline_text.h"
#include "codegen/llvm/c_header.h"
#include "codegen/llvm/emit_dispatch.h"
#include "codegen/llvm/jit.h"
#include "lang/target_words.h"
#include "polyhedral/judge.h"
#include "polyhalite/backend.h"
#include "schedule/derive_algorithm.h"

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
  void *address() const override { return code_->address(); }

 private:
  CompileTimes times_;
  std::unique_ptr<JitCode> code_;
};

class PipelineForFiles : public CompiledForFiles {
 public:
  PipelineForFiles(std::shared_ptr<const FrozenPipeline> pipeline, const std::string &name,
                   const Target &target)
      : pipeline_(std::move(pipeline)),
        name_(name),
        target_(target),
        outputs_(*pipeline_, name_, target) {
    outputs_.lowered();
  }
  const std::string &function_name() const override { return name_; }
  const Target &target() const override { return target_; }
  const std::string &bytes(Emit what) override { return outputs_.make(what); }
  void write(Emit what, const std::string &path) override {
    write_file(path, outputs_.make(what), described(what));
  }

 private:
  const std::shared_ptr<const FrozenPipeline> pipeline_;
  const std::string name_;
  const Target target_;
  Outputs outputs_;
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

// "folder/base.o" for "SUFFIX" -> "folder/base-SUFFIX.o".
std::string with_suffix(const std::string &path, Emit what, const std::string &suffix) {
  const std::string extension = emit_extension(what);
  const bool ends = path.size() > extension.size() && path.ends_with(extension);
  const std::string base = ends ? path.substr(0, path.size() - extension.size()) : path;
  return base + "-" + suffix + (ends ? extension : "");
}

class LlvmBackend : public Backend {
 public:
  FrozenPipeline derive(const FrozenPipeline &pipeline) override {
    DerivedAlgorithm derived = derive_algorithm(pipeline.algorithm, pipeline.directives);
    FrozenPipeline out = pipeline;
    out.algorithm = std::move(derived.algorithm);
    out.directives = std::move(derived.directives);
    return out;
  }

  void judge_loops(const FrozenPipeline &pipeline) override {
    const auto refusal = refusal_of_loops(pipeline.algorithm, pipeline.directives);
    if (refusal && refusal->proof != Proof::Undecided) throw CompileError(refusal->diagnostic);
  }

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

  std::shared_ptr<CompiledForFiles> prepare(std::shared_ptr<const FrozenPipeline> pipeline,
                                            const std::string &function_name,
                                            const Target &target) override {
    return std::make_shared<PipelineForFiles>(std::move(pipeline), function_name, target);
  }

  void emit_library(const std::vector<std::shared_ptr<CompiledForFiles>> &parts,
                    const std::string &file) override {
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto &p : parts) {
      members.emplace_back(p->function_name() + ".o", p->bytes(Emit::object));
    }
    if (brings_runtime(parts[0]->target())) {
      members.emplace_back("polyhalite_runtime.o", runtime_object(parts[0]->target()));
    }
    write_file(file, make_archive(members), described(Emit::static_library));
  }

  void emit_multitarget(const std::vector<Variant> &variants, const std::string &function_name,
                        const std::map<Emit, std::string> &files, CompileTimes *times) override {
    internal_check(!variants.empty(), "a compilation for no target");
    std::vector<std::string> names;
    for (const Variant &v : variants) {
      names.push_back(function_name + "_" + identifier(v.suffix));
    }
    std::vector<std::unique_ptr<Outputs>> outputs;
    std::vector<DispatchChoice> choices;
    for (size_t i = 0; i < variants.size(); i++) {
      const Variant &v = variants[i];
      outputs.push_back(std::make_unique<Outputs>(*v.pipeline, names[i], v.target));
      choices.push_back({outputs[i]->filter().symbol(), v.target});
    }
    // What callers see is the compilation that runs everywhere.
    const Filter filter =
        describe_filter(*variants.back().pipeline, function_name, variants.back().target);
    check_same_arguments(filter, outputs);
    for (const auto &[what, path] : files) {
      if (is_per_target(what)) {
        for (size_t i = 0; i < variants.size(); i++) {
          write_file(with_suffix(path, what, variants[i].suffix), outputs[i]->make(what),
                     described(what));
        }
        if (what == Emit::object) {
          write_file(path, compile_dispatch(filter, choices, CodeForm::Object), described(what));
        }
        continue;
      }
      write_file(path, shared(what, filter, choices, outputs), described(what));
    }
    if (times) {
      for (const auto &o : outputs) {
        const CompileTimes t = o->times();
        times->schedule += t.schedule;
        times->survey += t.survey;
        times->judge += t.judge;
        times->lower += t.lower;
        times->llvm += t.llvm;
      }
    }
  }

  FrozenPipeline parse_pipeline(const std::string &text, const std::string &name) override {
    return parse_pipeline_text(text, name);
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
  static std::string identifier(const std::string &suffix) {
    std::string text;
    for (char c : suffix) text += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return text;
  }

  // The dispatching function hands its arguments on as they are.
  static void check_same_arguments(const Filter &filter,
                                   const std::vector<std::unique_ptr<Outputs>> &outputs) {
    for (const auto &o : outputs) {
      const Filter &other = o->filter();
      bool same = other.arguments.size() == filter.arguments.size();
      for (size_t i = 0; same && i < filter.arguments.size(); i++) {
        const FilterArgument &a = filter.arguments[i], &b = other.arguments[i];
        same = a.name == b.name && a.kind == b.kind && a.type == b.type &&
               a.dimensions == b.dimensions;
      }
      if (same) continue;
      user_error("'" + filter.name + "' has other arguments for target '" +
                     other.target.to_string() + "' than for '" + filter.target.to_string() + "'",
                 "one function stands for both",
                 "let generate() declare the same inputs and outputs for every target");
    }
  }

  // A file of which a compilation for several targets has only one.
  static std::string shared(Emit what, const Filter &filter,
                            const std::vector<DispatchChoice> &choices,
                            const std::vector<std::unique_ptr<Outputs>> &outputs) {
    switch (what) {
      case Emit::c_header:
        for (const auto &o : outputs) o->make(Emit::c_header);  // refused schedules have none
        return c_header(filter);
      case Emit::function_info_header:
        return function_info_header(filter);
      case Emit::registration:
        return registration_source(filter);
      case Emit::python_extension:
        return python_extension_source(filter);
      default:
        break;
    }
    internal_check(what == Emit::static_library, "one file for several targets");
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto &o : outputs) {
      members.emplace_back(o->filter().name + ".o", o->make(Emit::object));
    }
    members.emplace_back(filter.name + ".o", compile_dispatch(filter, choices, CodeForm::Object));
    if (!filter.target.has_feature(Target::NoRuntime) && has_runtime_object(filter.target)) {
      members.emplace_back("polyhalite_runtime.o", runtime_object(filter.target));
    }
    return make_archive(members);
  }

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
