#include "codegen/llvm/jit_handlers.h"

#include <cxxabi.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "codegen/llvm/running_call.h"
#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_runtime.h"

namespace polyhalite {

namespace {

bool take_message(void *user_context, const char *message);
bool take_text(void *user_context, const char *text);

// All slots of the process: those of threads that have ended go to the next thread.
class CallSlots {
 public:
  CallSlot *take() {
    std::lock_guard<std::mutex> hold(lock_);
    if (CallSlot *s = free_) {
      free_ = s->next;
      return s;
    }
    all_.push_back(new CallSlot);
    return all_.back();
  }
  void give_back(CallSlot *first) {
    std::lock_guard<std::mutex> hold(lock_);
    while (CallSlot *s = first) {
      first = s->next;
      s->next = free_;
      free_ = s;
    }
  }
  /// Does a call with this context run? Contexts of this library are told from programs' own so.
  bool knows(const void *context) {
    std::lock_guard<std::mutex> hold(lock_);
    return std::any_of(all_.begin(), all_.end(),
                       [&](const CallSlot *s) { return s->has(context); });
  }
  /// To each call with this context.
  template <typename T>
  void tell(const void *context, const T &what) {
    std::lock_guard<std::mutex> hold(lock_);
    for (CallSlot *s : all_) s->keep(context, what);
  }

 private:
  std::mutex lock_;
  std::vector<CallSlot *> all_;
  CallSlot *free_ = nullptr;
};

// Never destroyed: pool threads may still run when the program ends.
CallSlots &call_slots() {
  static CallSlots *slots = new CallSlots;
  return *slots;
}

struct GiveBackSpareSlots {
  ~GiveBackSpareSlots() { call_slots().give_back(std::exchange(spare_slots, nullptr)); }
};

// Calls a handler; an exception waits for the end of the call and `failed` is the result.
template <typename F, typename R>
R guarded(JITUserContext *context, R failed, F &&f) {
  try {
    return f();
  } catch (...) {
    call_slots().tell(context, std::current_exception());
    return failed;
  }
}

bool take_message(void *user_context, const char *message) {
  if (!call_slots().knows(user_context)) return false;
  auto *context = static_cast<JITUserContext *>(user_context);
  if (const auto handler = context->handlers.custom_error) {
    guarded(context, 0, [&] {
      handler(context, message);
      return 0;
    });
  } else {
    call_slots().tell(context, message);
  }
  return true;
}

bool take_text(void *user_context, const char *text) {
  if (!call_slots().knows(user_context)) return false;
  auto *context = static_cast<JITUserContext *>(user_context);
  const auto handler = context->handlers.custom_print;
  if (!handler) return false;
  guarded(context, 0, [&] {
    handler(context, text);
    return 0;
  });
  return true;
}

void *handled_malloc(JITUserContext *context, size_t bytes) {
  const auto handler = context->handlers.custom_malloc;
  if (!handler) return polyhalite_malloc(context, bytes);
  return guarded(context, static_cast<void *>(nullptr), [&] { return handler(context, bytes); });
}

void handled_free(JITUserContext *context, void *pointer) {
  const auto handler = context->handlers.custom_free;
  if (!handler) return polyhalite_free(context, pointer);
  guarded(context, 0, [&] {
    handler(context, pointer);
    return 0;
  });
}

void handled_print(JITUserContext *context, const char *text) {
  const auto handler = context->handlers.custom_print;
  if (!handler) return polyhalite_print(context, text);
  guarded(context, 0, [&] {
    handler(context, text);
    return 0;
  });
}

int32_t handled_trace(JITUserContext *context, const polyhalite_trace_event_t *event) {
  const auto handler = context->handlers.custom_trace;
  if (!handler) return polyhalite_trace(context, event);
  return guarded(context, int32_t{0}, [&] { return handler(context, event); });
}

using JitTask = int (*)(JITUserContext *, int, uint8_t *);

// A task that runs through the handler custom_do_task.
struct HandledTask {
  JitTask task;
  uint8_t *closure;
};

int run_handled_task(void *user_context, int index, uint8_t *closure) {
  auto *context = static_cast<JITUserContext *>(user_context);
  const auto *t = reinterpret_cast<const HandledTask *>(closure);
  return guarded(context, int{polyhalite_error_code_generic_error}, [&] {
    return context->handlers.custom_do_task(context, t->task, index, t->closure);
  });
}

// Handlers see each index.
int handled_do_par_for_ranges(JITUserContext *context, polyhalite_range_t range, int min,
                              int extent, uint8_t *range_closure) {
  if (!context->handlers.custom_do_par_for && !context->handlers.custom_do_task) {
    return polyhalite_do_par_for_ranges(context, range, min, extent, range_closure);
  }
  // A JITUserContext * is passed as a void * is.
  const auto jit_task =
      reinterpret_cast<JitTask>(reinterpret_cast<void *>(runtime::run_one_of_ranges));
  runtime::Ranges ranges = {range, range_closure};
  auto *closure = reinterpret_cast<uint8_t *>(&ranges);
  if (const auto handler = context->handlers.custom_do_par_for) {
    return guarded(context, int{polyhalite_error_code_generic_error},
                   [&] { return handler(context, jit_task, min, extent, closure); });
  }
  HandledTask handled = {jit_task, closure};
  return polyhalite_do_par_for(context, run_handled_task, min, extent,
                               reinterpret_cast<uint8_t *>(&handled));
}

// What a C function of the program has thrown.
int keep_exception(void *user_context, void *thrown) {
  abi::__cxa_begin_catch(thrown);
  call_slots().tell(user_context, std::current_exception());
  abi::__cxa_end_catch();
  return polyhalite_error_code_generic_error;
}

template <typename F>
void *address_of(F *f) {
  return reinterpret_cast<void *>(f);
}

}  // namespace

const std::vector<RuntimeSymbol> &handled_runtime() {
  static const std::vector<RuntimeSymbol> *symbols = new std::vector<RuntimeSymbol>{
      {"polyhalite_malloc", address_of(handled_malloc)},
      {"polyhalite_free", address_of(handled_free)},
      {"polyhalite_print", address_of(handled_print)},
      {"polyhalite_trace", address_of(handled_trace)},
      {"polyhalite_do_par_for_ranges", address_of(handled_do_par_for_ranges)},
      {"polyhalite_keep_exception", address_of(keep_exception)},
  };
  return *symbols;
}

constinit thread_local CallSlot *spare_slots = nullptr;

CallSlot *another_slot() {
  static std::once_flag once;
  std::call_once(once, [] {
    runtime::set_error_sink(take_message);
    runtime::set_print_sink(take_text);
  });
  thread_local GiveBackSpareSlots at_its_end;
  static_cast<void>(at_its_end);
  return call_slots().take();
}

}  // namespace polyhalite
