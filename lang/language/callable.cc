#include "polyhalite/callable.h"

#include "lang/language/inputs.h"
#include "lang/language/names.h"
#include "lang/language/run_pipeline.h"
#include "lang/language/warnings.h"

namespace polyhalite {

struct CallableContents {
  std::shared_ptr<CompiledPipeline> code;
  std::vector<std::shared_ptr<const Compilation>> externs;  // pipelines that the code calls
  JITHandlers handlers;
  std::vector<Argument> arguments;
};

namespace {

std::string described(const Type &t, bool is_buffer, int dimensions) {
  if (!is_buffer) return "a scalar of type '" + t.to_string() + "' and dimension 0";
  return "a buffer of type '" + (t.is_handle() ? std::string("any") : t.to_string()) +
         "' and dimension " + std::to_string(dimensions);
}

// What is wrong with the argument, or "".
std::string problem_of(const Argument &wanted, const detail::CallArgument &given) {
  if (given.is_buffer != wanted.is_buffer()) {
    return "got " + described(given.type, given.is_buffer, given.dimensions);
  }
  if (!given.is_buffer) {
    return given.type == wanted.type ? "" : "got " + described(given.type, false, 0);
  }
  const bool right_type = given.type.is_handle() || given.type == wanted.type;
  const bool right_count = given.dimensions < 0 || given.dimensions == wanted.dimensions;
  if (!right_type || !right_count) return "got " + described(given.type, true, given.dimensions);
  return "";
}

}  // namespace

Callable make_callable(PipelineContents &p, const std::vector<Argument> &args, Target target) {
  target.set_feature(Target::JIT);
  const auto declared = declared_inputs(p, args);
  const FrozenPipeline frozen = freeze_pipeline(p, declared);
  check_arguments(frozen, declared);
  auto contents = std::make_shared<CallableContents>();
  warn_of_schedules(frozen);
  contents->code = backend().jit(frozen, target, linked_externs(p, target, &contents->externs));
  contents->handlers = p.handlers;
  for (const auto &input : declared) {
    contents->arguments.emplace_back(input);
    contents->arguments.back().name = plain_name(input->name);
  }
  for (const auto &f : p.outputs) {
    for (size_t i = 0; i < f->types.size(); i++) {
      contents->arguments.emplace_back(
          plain_name(f->name) + (f->types.size() > 1 ? "." + std::to_string(i) : ""),
          Argument::OutputBuffer, f->types[i], static_cast<int>(f->pure_args.size()));
    }
  }
  return Callable(std::move(contents));
}

const std::vector<Argument> &Callable::arguments() const {
  if (!contents_) {
    user_error("an undefined Callable is asked for its arguments", "it has no code",
               "make it with compile_to_callable()");
  }
  return contents_->arguments;
}

int Callable::check(const std::vector<detail::CallArgument> &args, bool values,
                    JITUserContext *context) const {
  if (!contents_) {
    user_error("an undefined Callable is called", "it has no code",
               "make it with compile_to_callable()");
  }
  const std::vector<Argument> &wanted = contents_->arguments;
  auto fail = [&](int code, std::string what, std::string why, std::string fix) {
    report_failure({std::move(what), std::move(why), std::move(fix), {}}, context,
                   contents_->handlers);
    return code;
  };
  if (args.size() != wanted.size()) {
    return fail(polyhalite_error_code_internal_error,
                "a Callable got " + std::to_string(args.size()) + " arguments",
                "it takes " + std::to_string(wanted.size()) + ", inputs and outputs",
                "give one argument for each");
  }
  for (size_t i = 0; i < args.size(); i++) {
    const Argument &w = wanted[i];
    const std::string problem = problem_of(w, args[i]);
    if (!problem.empty()) {
      return fail(polyhalite_error_code_bad_type,
                  "Argument " + std::to_string(i + 1) + " of " + std::to_string(args.size()) +
                      " ('" + w.name + "') was expected to be " +
                      described(w.type, w.is_buffer(), w.dimensions),
                  problem, "give such an argument");
    }
    if (values && args[i].is_buffer && !args[i].buffer) {
      return fail(polyhalite_error_code_buffer_argument_is_null,
                  "Buffer argument " + w.name + " is nullptr", "there are no elements to use",
                  "give a Buffer that is defined");
    }
  }
  return 0;
}

int Callable::call(JITUserContext *context, const std::vector<detail::CallArgument> &args) const {
  if (const int code = check(args, true, context)) return code;
  std::vector<void *> addresses;
  for (const detail::CallArgument &a : args) {
    addresses.push_back(a.is_buffer ? static_cast<void *>(a.buffer)
                                    : const_cast<void *>(static_cast<const void *>(&a.bits)));
  }
  ContextOfCall in_use(context, contents_->handlers);
  std::string message;
  const int code = contents_->code->call(addresses, &message, in_use.get());
  if (code == 0 || in_use.get()->handlers.custom_error) return code;
  if (message.empty()) message = "the pipeline returned " + std::to_string(code);
  throw RuntimeError({message, "", "", {}});
}

}  // namespace polyhalite
