#include "polyhalite/pipeline.h"

#include <iostream>

#include "lang/language/fixed_value.h"
#include "lang/language/infer_bounds.h"
#include "lang/language/inputs.h"
#include "lang/language/module_contents.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/language/run_pipeline.h"
#include "lang/language/warnings.h"
#include "polyhalite/buffer_contents.h"
#include "polyhalite/callable.h"
#include "polyhalite/effects.h"
#include "polyhalite/module.h"
#include "polyhalite/param.h"

namespace polyhalite {

Pipeline::Pipeline(const Func &output) : contents_(output.pipeline_contents()) {}

Pipeline::Pipeline(const std::vector<Func> &outputs)
    : contents_(std::make_shared<PipelineContents>()) {
  if (outputs.empty()) {
    user_error("a Pipeline without outputs", "there is nothing to compute",
               "give at least one Func");
  }
  for (const Func &f : outputs) contents_->outputs.push_back(f.function());
}

void Pipeline::trace_pipeline(Here here) {
  if (!defined()) user_error("trace_pipeline() of an undefined Pipeline", "", "give it outputs");
  record(*contents_->outputs[0], 0, DirectiveKind::TracePipeline, {}, {}, here.where);
}

FuncVec Pipeline::outputs() const {
  FuncVec funcs;
  for (const auto &f : contents_->outputs) funcs.emplace_back(f);
  return funcs;
}

Func Pipeline::get_func(size_t index) const {
  const std::vector<std::shared_ptr<FunctionContents>> funcs =
      freeze_pipeline(*contents_).functions;
  if (index >= funcs.size()) {
    user_error("Func " + std::to_string(index) + " of a Pipeline",
               "it has " + std::to_string(funcs.size()) + " Funcs, producers before consumers",
               "count from 0");
  }
  return Func(funcs[index]);
}

void Pipeline::add_requirement(const Expr &condition, const std::vector<Expr> &message, Here here) {
  if (!contents_) {
    user_error("a requirement of an undefined Pipeline", "it has no outputs",
               "construct it from its output Funcs", here.where);
  }
  std::vector<Expr> values = {Expr(0)};
  values.insert(values.end(), message.begin(), message.end());
  const Expr requirement = require(condition, values);
  detail::require_fixed(requirement, "a requirement", here.where);
  contents_->requirements.push_back(requirement);
}

namespace {

void run(PipelineContents &p, const Compilation &c,
         const std::vector<polyhalite_buffer_t *> &outputs, JITUserContext *context,
         const Here &here) {
  BoundInputs inputs;
  if (auto problems = inputs.bind(c.frozen, here); !problems.empty()) {
    return report_failures(std::move(problems), context, p.handlers);
  }
  for (polyhalite_buffer_t *b : outputs) {
    if (b->is_bounds_query()) {
      return report_failure({"realize() got an output buffer without memory",
                             "its host pointer is null", "allocate it before the call", here.where},
                            context, p.handlers);
    }
    inputs.add_output(b);
  }
  call_pipeline(*c.code, inputs.slots(), context, p.handlers, here);
}

// Is `callee` the pipeline, or one of its externs, or one of theirs?
bool calls_pipeline(const PipelineContents &p, const PipelineContents *callee) {
  if (&p == callee) return true;
  for (const auto &[name, e] : p.externs) {
    if (e.pipeline_contents() && calls_pipeline(*e.pipeline_contents(), callee)) return true;
  }
  return false;
}

// f(), whose errors are at the caller's place.
template <typename F>
auto placed(const Here &here, F &&f) {
  auto at_caller = [&](Diagnostic d) {
    d.where = here.where;
    return d;
  };
  try {
    return f();
  } catch (const CompileError &e) {
    throw CompileError(at_caller(e.diagnostic()));
  } catch (const RuntimeError &e) {
    throw RuntimeError(at_caller(e.diagnostic()));
  }
}

// Outputs of these sizes, or of larger ones where the schedule writes beyond them. `failed`: the
// pipeline could not be asked, and a handler knows.
std::vector<Buffer<>> allocated_outputs(PipelineContents &p, const Compilation &c,
                                        const std::vector<int> &sizes, JITUserContext *context,
                                        const Here &here, bool *failed) {
  const std::vector<Type> types = output_types(p);
  std::vector<Buffer<>> outputs;
  outputs.reserve(types.size());
  if (sizes.empty() || c.target.has_feature(Target::NoBoundsQuery)) {
    for (Type t : types) outputs.push_back(placed(here, [&] { return Buffer<>(t, sizes); }));
    return outputs;
  }
  std::vector<runtime::Buffer<>> shapes;
  shapes.reserve(types.size());
  for (Type t : types) {
    shapes.emplace_back(t, nullptr,
                        placed(here, [&] { return detail::checked_dimensions(sizes); }));
  }
  BoundInputs inputs;
  if (inputs.bind(c.frozen, here).empty()) {
    for (runtime::Buffer<> &b : shapes) inputs.add_output(b.raw_buffer());
    *failed = !call_pipeline(*c.code, inputs.slots(), context, p.handlers, here);
  }
  for (const runtime::Buffer<> &b : shapes) {
    std::vector<int> mins, extents;
    for (int d = 0; d < b.dimensions(); d++) {
      // A promise of bound() may leave less than is asked for: the run says so.
      const int size = sizes[static_cast<size_t>(d)];
      mins.push_back(std::min(b.min(d), 0));
      extents.push_back(std::max(b.min(d) + b.extent(d), size) - mins.back());
    }
    outputs.push_back(placed(here, [&] { return Buffer<>(b.type(), extents); }));
    outputs.back().set_min(mins);
  }
  return outputs;
}

void check_sizes(const PipelineContents &p, const std::vector<int> &sizes, const char *method,
                 const Here &here) {
  for (const auto &f : p.outputs) {
    if (sizes.size() == f->pure_args.size()) continue;
    user_error(std::string(method) + "() of '" + plain_name(f->name) + "' got " +
                   std::to_string(sizes.size()) + " sizes",
               "it has " + std::to_string(f->pure_args.size()) + " dimensions",
               "give one extent for each dimension", here.where);
  }
}

// All targets of one function are of one system.
std::string extension_for(Emit what, const std::vector<Target> &targets) {
  return emit_extension(what, targets.empty() ? Target() : targets[0]);
}

}  // namespace

template <typename Self>
PipelineContents &Realizable<Self>::contents() const {
  const auto &p = static_cast<const Self &>(*this).pipeline_contents();
  if (!p) {
    user_error("an undefined Pipeline is compiled", "it has no outputs",
               "construct it from its output Funcs");
  }
  return *p;
}

template <typename Self>
Realization Realizable<Self>::run_on_sizes(JITUserContext *context, const std::vector<int> &sizes,
                                           const Target &target, const Here &here) {
  PipelineContents &p = contents();
  auto c = compile_in_process(p, target);
  check_sizes(p, sizes, "realize", here);
  bool failed = false;
  std::vector<Buffer<>> buffers = allocated_outputs(p, *c, sizes, context, here, &failed);
  std::vector<polyhalite_buffer_t *> raw;
  for (Buffer<> &b : buffers) raw.push_back(b.raw_buffer());
  if (!failed) run(p, *c, raw, context, here);
  for (Buffer<> &b : buffers) {
    placed(here, [&] { return b.copy_to_host(); });
    for (size_t d = 0; d < sizes.size(); d++) b.crop(static_cast<int>(d), 0, sizes[d]);
  }
  return Realization(std::move(buffers));
}

template <typename Self>
void Realizable<Self>::run_on_buffers(JITUserContext *context, const RealizationArg &outputs,
                                      const Target &target, const Here &here) {
  PipelineContents &p = contents();
  auto c = compile_in_process(p, target);
  check_outputs(p, outputs.buffers(), "realize", here);
  run(p, *c, outputs.buffers(), context, here);
}

template <typename Self>
void Realizable<Self>::infer_for_sizes(JITUserContext *context, const std::vector<int> &sizes,
                                       const Target &target, const Here &here) {
  PipelineContents &p = contents();
  check_sizes(p, sizes, "infer_input_bounds", here);
  std::vector<runtime::Buffer<>> outputs;
  std::vector<polyhalite_buffer_t *> raw;
  for (Type t : output_types(p)) {
    outputs.emplace_back(t, nullptr, detail::checked_dimensions(sizes));
  }
  for (runtime::Buffer<> &b : outputs) raw.push_back(b.raw_buffer());
  infer_input_bounds_of(p, raw, context, target, here);
}

template <typename Self>
void Realizable<Self>::infer_for_buffers(JITUserContext *context, const RealizationArg &outputs,
                                         const Target &target, const Here &here) {
  PipelineContents &p = contents();
  check_outputs(p, outputs.buffers(), "infer_input_bounds", here);
  infer_input_bounds_of(p, outputs.buffers(), context, target, here);
}

template <typename Self>
void Realizable<Self>::compile_jit(const Target &target) {
  compile_in_process(contents(), target);
}

template <typename Self>
JITHandlers &Realizable<Self>::jit_handlers() {
  return contents().handlers;
}

template <typename Self>
void Realizable<Self>::set_jit_externs(const std::map<std::string, JITExtern> &externs) {
  for (const auto &[name, e] : externs) {
    if (!e.pipeline_contents() || !calls_pipeline(*e.pipeline_contents(), &contents())) continue;
    user_error("extern '" + name + "' is a pipeline that calls this one",
               "the two would call each other without end", "give another pipeline");
  }
  contents().externs = externs;
  invalidate_cache();
}

template <typename Self>
const std::map<std::string, JITExtern> &Realizable<Self>::get_jit_externs() {
  return contents().externs;
}

template <typename Self>
void Realizable<Self>::invalidate_cache() {
  PipelineContents &p = contents();
  std::lock_guard<std::mutex> lock(p.mutex);
  p.last = nullptr;
}

template <typename Self>
CompileTimes Realizable<Self>::compile_times() const {
  PipelineContents &p = contents();
  std::lock_guard<std::mutex> lock(p.mutex);
  return p.last ? p.last->code->times() : CompileTimes();
}

template <typename Self>
void Realizable<Self>::compile_to(const std::map<Emit, std::string> &files,
                                  const std::vector<Argument> &args, const std::string &name,
                                  const Target &target) {
  PipelineContents &p = contents();
  const std::string symbol = name.empty() ? plain_name(p.outputs[0]->name) : name;
  const auto declared = declared_inputs(p, args);
  const FrozenPipeline frozen = freeze_pipeline(p, declared);
  // Texts that nobody calls need no arguments.
  const size_t texts = files.count(Emit::stmt) + files.count(Emit::explanation) +
                       files.count(Emit::timed_explanation);
  if (files.size() != texts) check_arguments(frozen, declared);
  warn_of_schedules(frozen);
  backend().emit(frozen, symbol, target, files);
}

template <typename Self>
std::string Realizable<Self>::emit_text(Emit what, const std::vector<Argument> &args,
                                        const Target &target) const {
  PipelineContents &p = contents();
  return backend().emit_text(freeze_pipeline(p, declared_inputs(p, args)),
                             plain_name(p.outputs[0]->name), target, what);
}

template <typename Self>
Module Realizable<Self>::compile_to_module(const std::vector<Argument> &args,
                                           const std::string &name, const Target &target) {
  PipelineContents &p = contents();
  const auto declared = declared_inputs(p, args);
  auto frozen = std::make_shared<FrozenPipeline>(freeze_pipeline(p, declared));
  check_arguments(*frozen, declared);
  warn_of_schedules(*frozen);
  const std::string symbol = name.empty() ? plain_name(p.outputs[0]->name) : name;
  return Module(std::make_shared<ModuleContents>(ModuleContents{
      symbol, target, {{frozen, symbol, backend().prepare(frozen, symbol, target)}}}));
}

template <typename Self>
void Realizable<Self>::compile_to_multitarget_static_library(const std::string &prefix,
                                                             const std::vector<Argument> &args,
                                                             const std::vector<Target> &targets) {
  compile_multitarget(
      plain_name(contents().outputs[0]->name),
      {{Emit::static_library, prefix + extension_for(Emit::static_library, targets)},
       {Emit::c_header, prefix + ".h"}},
      targets, {},
      [&](const std::string &name, const Target &t) { return compile_to_module(args, name, t); });
}

template <typename Self>
void Realizable<Self>::compile_to_multitarget_object_files(
    const std::string &prefix, const std::vector<Argument> &args,
    const std::vector<Target> &targets, const std::vector<std::string> &suffixes) {
  compile_multitarget(plain_name(contents().outputs[0]->name),
                      {{Emit::object, prefix + extension_for(Emit::object, targets)},
                       {Emit::c_header, prefix + ".h"}},
                      targets, suffixes, [&](const std::string &name, const Target &t) {
                        return compile_to_module(args, name, t);
                      });
}

template <typename Self>
std::vector<Argument> Realizable<Self>::infer_arguments() const {
  std::vector<Argument> args;
  for (const auto &p : freeze_pipeline(contents()).bindings) args.emplace_back(p);
  return args;
}

template <typename Self>
void Realizable<Self>::print_loop_nest() const {
  std::cerr << emit_text(Emit::conceptual_stmt);
}

template <typename Self>
Callable Realizable<Self>::compile_to_callable(const std::vector<Argument> &args,
                                               const Target &target) {
  return make_callable(contents(), args, target);
}

template class Realizable<Func>;
template class Realizable<Pipeline>;

}  // namespace polyhalite
