#include "polyhalite/callable.h"

#include <atomic>

#include "lang/language/inputs.h"
#include "lang/language/names.h"
#include "lang/language/run_pipeline.h"
#include "lang/language/warnings.h"

namespace polyhalite {

// What a call's argument has to be, side by side for all of them.
struct WantedArgument {
  bool is_buffer;
  int dimensions;
  Type type;
};

struct CallableContents {
  std::shared_ptr<CompiledPipeline> code;
  std::vector<std::shared_ptr<const Compilation>> externs;  // pipelines that the code calls
  JITHandlers handlers;
  std::vector<Argument> arguments;
  std::vector<WantedArgument> wanted;  // of the arguments
  // The types of the last call that fit; null before there was one.
  mutable std::atomic<const detail::CallArgument *> fitting{nullptr};
};

namespace {

std::string described(const Type &t, bool is_buffer, int dimensions) {
  if (!is_buffer) return "a scalar of type '" + t.to_string() + "' and dimension 0";
  return "a buffer of type '" + (t.is_handle() ? std::string("any") : t.to_string()) +
         "' and dimension " + std::to_string(dimensions);
}

bool fits(const WantedArgument &wanted, const detail::CallArgument &given) {
  if (given.is_buffer != wanted.is_buffer) return false;
  if (!given.is_buffer) return given.type == wanted.type;
  return (given.type == wanted.type || given.type.is_handle()) &&
         (given.dimensions == wanted.dimensions || given.dimensions < 0);
}

// 0, or the code of a failure that a handler took.
int check_types_of(const CallableContents *c, const detail::CallArgument *args, size_t count,
                   JITUserContext *context) {
  if (!c) {
    user_error("an undefined Callable is called", "it has no code",
               "make it with compile_to_callable()");
  }
  if (count != c->arguments.size()) {
    report_failure({"a Callable got " + std::to_string(count) + " arguments",
                    "it takes " + std::to_string(c->arguments.size()) + ", inputs and outputs",
                    "give one argument for each",
                    {}},
                   context, c->handlers);
    return polyhalite_error_code_internal_error;
  }
  for (size_t i = 0; i < count; i++) {
    if (fits(c->wanted[i], args[i])) continue;
    const Argument &w = c->arguments[i];
    report_failure(
        {"Argument " + std::to_string(i + 1) + " of " + std::to_string(count) + " ('" + w.name +
             "') was expected to be " + described(w.type, w.is_buffer(), w.dimensions),
         "got " + described(args[i].type, args[i].is_buffer, args[i].dimensions),
         "give such an argument",
         {}},
        context, c->handlers);
    return polyhalite_error_code_bad_type;
  }
  return 0;
}

// The same of an argument that is null.
int refuse_null(const CallableContents &c, size_t i, JITUserContext *context) {
  report_failure({"Buffer argument " + c.arguments[i].name + " is nullptr",
                  "there are no elements to use",
                  "give a Buffer that is defined",
                  {}},
                 context, c.handlers);
  return polyhalite_error_code_buffer_argument_is_null;
}

// slots[1 + i] is argument i's. In line, as is what it calls but for the code's own entry: a small
// pipeline takes as long.
[[gnu::always_inline]] inline int run(const CallableContents &c, JITUserContext *context,
                                      void **slots) {
  for (size_t i = 0; i < c.wanted.size(); i++) {
    if (!slots[1 + i]) return refuse_null(c, i, context);
  }
  ContextOfCall in_use(context, c.handlers);
  std::string message;
  const int code = c.code->call(slots, &message, in_use.get());
  if (code == 0 || in_use.get()->handlers.custom_error) return code;
  if (message.empty()) message = "the pipeline returned " + std::to_string(code);
  throw RuntimeError({message, "", "", {}});
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
  for (const Argument &a : contents->arguments) {
    contents->wanted.push_back({a.is_buffer(), a.dimensions, a.type});
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

void Callable::check_types(const std::vector<detail::CallArgument> &args) const {
  check_types_of(contents_.get(), args.data(), args.size(), nullptr);
}

int Callable::call(JITUserContext *context, const detail::CallArgument *described, void **slots,
                   size_t count) const {
  // A small pipeline takes as long as a look at each argument's type.
  const CallableContents *c = contents_.get();
  if (!c || c->fitting.load(std::memory_order_relaxed) != described) {
    if (const int code = check_types_of(c, described, count, context)) return code;
    c->fitting.store(described, std::memory_order_relaxed);
  }
  return run(*c, context, slots);
}

int Callable::call(JITUserContext *context, const std::vector<detail::CallArgument> &args) const {
  const CallableContents *c = contents_.get();
  if (const int code = check_types_of(c, args.data(), args.size(), context)) return code;
  std::vector<void *> slots(1);
  for (const detail::CallArgument &a : args) {
    slots.push_back(a.is_buffer ? static_cast<void *>(a.buffer)
                                : const_cast<void *>(static_cast<const void *>(&a.bits)));
  }
  return run(*c, context, slots.data());
}

}  // namespace polyhalite
