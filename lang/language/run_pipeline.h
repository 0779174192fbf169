// Running pipelines in process: the compilation that is kept, and calls of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/language/pipeline_contents.h"
#include "polyhalite/argument.h"
#include "polyhalite/var.h"

namespace polyhalite {

class Callable;

/// The last compilation if nothing that it depends on has changed, else a new one. Target() stands
/// for the target of the last one, or this machine.
std::shared_ptr<const Compilation> compile_in_process(PipelineContents &p, const Target &asked_for);

/// The pipeline's externs as C functions: those that are pipelines are compiled, and must live as
/// long as what calls them.
std::map<std::string, JITExtern> linked_externs(
    const PipelineContents &p, const Target &target,
    std::vector<std::shared_ptr<const Compilation>> *compiled);

/// The context of one call: the user's, with the pipeline's handlers where it has none of its own,
/// until the call ends; or one with the pipeline's handlers.
class ContextOfCall {
 public:
  ContextOfCall(JITUserContext *users, const JITHandlers &pipeline)
      : users_(users), kept_{users ? users->handlers : pipeline} {
    if (users) fill(pipeline);
  }
  ~ContextOfCall() {
    if (users_) users_->handlers = kept_.handlers;
  }
  ContextOfCall(const ContextOfCall &) = delete;
  ContextOfCall &operator=(const ContextOfCall &) = delete;
  JITUserContext *get() { return users_ ? users_ : &kept_; }

 private:
  void fill(const JITHandlers &pipeline);

  JITUserContext *users_;
  JITUserContext kept_;  // what the user's context had before, or the context itself
};

/// Calls the compiled code: slots[0] is for the call's own use, the arguments stand behind. False
/// where it failed and a handler has taken the message; else failures are RuntimeErrors at `here`.
bool call_pipeline(const CompiledPipeline &code, void **slots, JITUserContext *context,
                   const JITHandlers &handlers, const Here &here);

/// A failure before the call: to the handler custom_error where there is one, else RuntimeError.
void report_failure(Diagnostic problem, JITUserContext *context, const JITHandlers &handlers);
/// Several that do not depend on each other, at least one: as one failure.
void report_failures(std::vector<Diagnostic> problems, JITUserContext *context,
                     const JITHandlers &handlers);

/// The types of the outputs' values, in order.
std::vector<Type> output_types(const PipelineContents &p);

/// A function of these inputs and the outputs.
Callable make_callable(PipelineContents &p, const std::vector<Argument> &args, Target target);

/// RuntimeError unless there is one non-null buffer for each value of the outputs.
void check_outputs(const PipelineContents &p, const std::vector<polyhalite_buffer_t *> &buffers,
                   const char *method, const Here &here);

}  // namespace polyhalite
