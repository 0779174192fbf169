// backend(): the compiler behind the language, for this process and for files.
#include <cctype>
#include <thread>

#include "autosched/autosched.h"
#include "codegen/driver/compile.h"
#include "codegen/driver/describe_filter.h"
#include "codegen/driver/embedded_runtime.h"
#include "codegen/driver/generated_sources.h"
#include "codegen/driver/measure_schedule.h"
#include "codegen/driver/outputs.h"
#include "codegen/driver/pipeline_text.h"
#include "codegen/driver/questions.h"
#include "codegen/driver/runs_here.h"
#include "codegen/llvm/c_header.h"
#include "codegen/llvm/emit_dispatch.h"
#include "codegen/llvm/jit.h"
#include "codegen/llvm/running_call.h"
#include "lang/abi/polyhalite_cuda.h"
#include "lang/output_file.h"
#include "polyhalite/autoscheduler.h"
#include "polyhalite/backend.h"
#include "schedule/derive_algorithm.h"
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
  using CompiledPipeline::call;
  int call(void **slots, std::string *message, JITUserContext *context) const override {
    return code_->call(slots, message, context);
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

// "folder/base.o" for "SUFFIX" -> "folder/base-SUFFIX.o".
std::string with_suffix(const std::string &path, Emit what, const std::string &suffix,
                        const Target &target) {
  const std::string extension = emit_extension(what, target);
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

  FrozenPipeline auto_schedule(const FrozenPipeline &pipeline, const Target &target,
                               const AutoschedulerParams &params,
                               AutoSchedulerResults *results) override {
    const autosched::Options options =
        autosched::parse_options(params.extra, params.name != "polyhalite");
    if (options.measure > 0) check_runs_here(target);
    const int threads = options.parallelism > 0
                            ? options.parallelism
                            : static_cast<int>(std::thread::hardware_concurrency());
    const auto measure = [&](const autosched::Trial &t) {
      return measure_schedule(t, target, threads, options.measure_limit);
    };
    const autosched::Schedule s = autosched::schedule(pipeline, target, options, measure);
    results->schedule_text = to_text(s.directives);
    results->schedule_source = to_cpp(s.directives);
    results->schedule_python = to_python(s.directives);
    results->report = s.report;
    if (!options.report.empty()) write_file(options.report, s.report, "the report");
    FrozenPipeline out = pipeline;
    out.directives.insert(out.directives.end(), s.directives.begin(), s.directives.end());
    return out;
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
      members.emplace_back(p->function_name(), p->bytes(Emit::object));
    }
    const Target &target = parts[0]->target();
    if (brings_runtime(target)) members.emplace_back("polyhalite_runtime", runtime_object(target));
    write_file(file, make_archive(members, target.os), described(Emit::static_library));
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
          write_file(with_suffix(path, what, variants[i].suffix, variants[i].target),
                     outputs[i]->make(what), described(what));
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

  std::optional<Diagnostic> why_not(const FrozenPipeline &pipeline, const std::string &directives,
                                    const Target &target, const SourceLocation &where) override {
    return polyhalite::why_not(pipeline, directives, target, where);
  }

  std::vector<std::string> legal_alternatives(const FrozenPipeline &pipeline,
                                              const std::string &func, int stage,
                                              const Target &target) override {
    return polyhalite::legal_alternatives(pipeline, func, stage, target);
  }

  void device_call(const std::function<int(void *user_context)> &call) override {
    JITUserContext context;
    RunningCall running(&context);
    const int code = call(&context);
    running.rethrow();
    if (code == 0) return;
    throw RuntimeError({running.message(), "", "", {}});
  }

  const polyhalite_device_interface_t *device_interface(DeviceAPI api) override {
    return api == DeviceAPI::CUDA ? polyhalite_cuda_device_interface() : nullptr;
  }

  int device_capability(DeviceAPI api) override {
    const polyhalite_device_interface_t *device = device_interface(api);
    if (!device) return -1;
    // What is not there is no error of the one who asks.
    JITUserContext context;
    RunningCall asking(&context);
    int major = 0, minor = 0;
    return device->compute_capability(&context, &major, &minor) == 0 ? 10 * major + minor : -1;
  }

  void emit_runtime(const Target &target, Emit what, const std::string &file) override {
    switch (what) {
      case Emit::object:
        return write_file(file, standalone_runtime(target), "the runtime's object");
      case Emit::static_library:
        return write_file(
            file, make_archive({{"polyhalite_runtime", standalone_runtime(target)}}, target.os),
            "the runtime's static library");
      case Emit::c_header:
        return write_file(file, runtime_header(target), "the runtime's header");
      default:
        break;
    }
    user_error(std::string("the runtime cannot be written as ") + emit_name(what),
               "it is machine code and the header that declares it",
               "use object, static_library or c_header");
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
      members.emplace_back(o->filter().name, o->make(Emit::object));
    }
    members.emplace_back(filter.name, compile_dispatch(filter, choices, CodeForm::Object));
    if (brings_runtime(filter.target)) {
      members.emplace_back("polyhalite_runtime", runtime_object(filter.target));
    }
    return make_archive(members, filter.target.os);
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
