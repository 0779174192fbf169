#include "lang/language/run_pipeline.h"

#include "lang/language/names.h"
#include "lang/language/warnings.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

namespace {

EditStamp stamp_of(const FrozenPipeline &frozen) {
  EditStamp stamp;
  auto add_param = [&](const std::shared_ptr<ParameterContents> &p) {
    stamp.params.push_back({p, p->edits, p->directives.size()});
  };
  for (const auto *funcs : {&frozen.functions, &frozen.made}) {
    for (const auto &f : *funcs) {
      stamp.funcs.push_back({f, f->updates.size(), f->directives.size(), f->output_params.size()});
      for (const auto &p : f->output_params) add_param(p);
    }
  }
  for (const auto &p : frozen.bindings) add_param(p);
  return stamp;
}

bool is_current(const EditStamp &stamp) {
  for (const EditStamp::FuncEdits &f : stamp.funcs) {
    if (f.func->updates.size() != f.updates || f.func->directives.size() != f.directives ||
        f.func->output_params.size() != f.output_params) {
      return false;
    }
  }
  for (const EditStamp::ParamEdits &p : stamp.params) {
    if (p.param->edits != p.edits || p.param->directives.size() != p.directives) return false;
  }
  return true;
}

}  // namespace

FrozenPipeline freeze_pipeline(
    const PipelineContents &p,
    const std::vector<std::shared_ptr<ParameterContents>> &declared_inputs) {
  return freeze(p.outputs, declared_inputs, p.requirements);
}

std::map<std::string, JITExtern> linked_externs(
    const PipelineContents &p, const Target &target,
    std::vector<std::shared_ptr<const Compilation>> *compiled) {
  std::map<std::string, JITExtern> externs;
  for (const auto &[name, e] : p.externs) {
    if (!e.pipeline_contents()) {
      externs.emplace(name, e);
      continue;
    }
    PipelineContents &called = *e.pipeline_contents();
    auto c = compile_in_process(called, target);
    std::vector<Type> args = {Handle()};
    for (const auto &input : c->frozen.bindings) {
      args.push_back(input->is_buffer ? Handle() : input->type);
    }
    args.resize(args.size() + output_types(called).size(), Handle());
    externs.emplace(name,
                    ExternCFunction(c->code->address(), ExternSignature(Int(32), false, args)));
    compiled->push_back(std::move(c));
  }
  return externs;
}

std::shared_ptr<const Compilation> compile_in_process(PipelineContents &p,
                                                      const Target &asked_for) {
  static const Target none;
  std::lock_guard<std::mutex> lock(p.mutex);
  const bool is_same = p.last && (asked_for == p.last->asked_for || asked_for == none ||
                                  asked_for == p.last->target);
  if (is_same && p.last->stamp.requirements == p.requirements.size() && is_current(p.last->stamp))
    return p.last;
  Target target = asked_for != none ? asked_for
                  : p.last          ? p.last->target
                                    : get_jit_target_from_environment();
  target.set_feature(Target::JIT);
  auto c = std::make_shared<Compilation>();
  c->frozen = freeze_pipeline(p);
  c->stamp = stamp_of(c->frozen);
  c->target = target;
  c->asked_for = asked_for;
  warn_of_schedules(c->frozen);
  c->stamp.requirements = p.requirements.size();
  c->code = backend().jit(c->frozen, target, linked_externs(p, target, &c->externs));
  p.last = c;
  return c;
}

void ContextOfCall::fill(const JITHandlers &pipeline) {
  JITHandlers &h = users_->handlers;
  const auto take = [](auto &mine, const auto &its) {
    if (!mine) mine = its;
  };
  take(h.custom_print, pipeline.custom_print);
  take(h.custom_trace, pipeline.custom_trace);
  take(h.custom_malloc, pipeline.custom_malloc);
  take(h.custom_free, pipeline.custom_free);
  take(h.custom_do_task, pipeline.custom_do_task);
  take(h.custom_do_par_for, pipeline.custom_do_par_for);
  take(h.custom_error, pipeline.custom_error);
}

bool call_pipeline(const CompiledPipeline &code, void **slots, JITUserContext *context,
                   const JITHandlers &handlers, const Here &here) {
  ContextOfCall in_use(context, handlers);
  std::string message;
  const int result = code.call(slots, &message, in_use.get());
  if (result == 0) return true;
  if (in_use.get()->handlers.custom_error) return false;
  if (message.empty()) message = "the pipeline returned " + std::to_string(result);
  throw RuntimeError({message, "", "", here.where});
}

void report_failures(std::vector<Diagnostic> problems, JITUserContext *context,
                     const JITHandlers &handlers) {
  ContextOfCall in_use(context, handlers);
  const auto handler = in_use.get()->handlers.custom_error;
  const RuntimeError failure(std::move(problems));
  if (!handler) throw failure;
  handler(in_use.get(), failure.what());
}

void report_failure(Diagnostic problem, JITUserContext *context, const JITHandlers &handlers) {
  report_failures(std::vector<Diagnostic>{std::move(problem)}, context, handlers);
}

std::vector<Type> output_types(const PipelineContents &p) {
  std::vector<Type> types;
  for (const auto &f : p.outputs) types.insert(types.end(), f->types.begin(), f->types.end());
  return types;
}

void check_outputs(const PipelineContents &p, const std::vector<polyhalite_buffer_t *> &buffers,
                   const char *method, const Here &here) {
  size_t wanted = 0;
  for (const auto &f : p.outputs) wanted += f->types.size();
  if (buffers.size() != wanted) {
    throw RuntimeError(
        {std::string(method) + "() got " + std::to_string(buffers.size()) + " output buffers",
         "the pipeline has " + std::to_string(wanted) + " outputs", "give one buffer for each",
         here.where});
  }
  for (const polyhalite_buffer_t *b : buffers) {
    if (b) continue;
    throw RuntimeError({std::string(method) + "() got an undefined output buffer",
                        "there is nowhere to write to", "construct the Buffer with its sizes",
                        here.where});
  }
}

}  // namespace polyhalite
