#include "codegen/llvm/jit_handlers.h"

#include <cxxabi.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_runtime.h"

namespace polyhalite {

// Where a thread notes the call that it runs, and others what happened to it. A slot lives as long
// as the process, so that any thread may look at any time; its thread writes without a lock.
class CallSlot {
 public:
  void begin(const JITUserContext *context) {
    if (told_.load(std::memory_order_relaxed)) forget();
    context_.store(context, std::memory_order_release);
  }
  void end() { context_.store(nullptr, std::memory_order_release); }
  bool has(const void *context) const {
    return context && context_.load(std::memory_order_acquire) == context;
  }

  void keep(const void *of, const char *message) {
    tell(of, [&] {
      if (message_.empty()) message_ = message;
    });
  }
  void keep(const void *of, const std::exception_ptr &thrown) {
    tell(of, [&] {
      if (!thrown_) thrown_ = thrown;
    });
  }

  std::string message() {
    if (!told_.load(std::memory_order_relaxed)) return "";
    std::lock_guard<std::mutex> hold(lock_);
    return has(of_) ? message_ : "";
  }
  std::exception_ptr take_thrown() {
    if (!told_.load(std::memory_order_relaxed)) return nullptr;
    std::lock_guard<std::mutex> hold(lock_);
    return has(of_) ? std::exchange(thrown_, nullptr) : nullptr;
  }

 private:
  template <typename F>
  void tell(const void *of, const F &note) {
    std::lock_guard<std::mutex> hold(lock_);
    if (!has(of)) return;
    // What a call that has ended left is nobody's.
    if (of_ != of) clear();
    of_ = of;
    note();
    told_.store(true, std::memory_order_relaxed);
  }
  void forget() {
    std::lock_guard<std::mutex> hold(lock_);
    clear();
    told_.store(false, std::memory_order_relaxed);
  }
  void clear() {
    of_ = nullptr;
    message_.clear();
    thrown_ = nullptr;
  }

  std::atomic<const void *> context_{nullptr};
  // What was told while the call ran that began last is seen by it: the thread that told is one of
  // the call's, or of one that overlaps.
  std::atomic<bool> told_{false};
  std::mutex lock_;
  const void *of_ = nullptr;  // the context of what is kept
  std::string message_;
  std::exception_ptr thrown_;

 public:
  CallSlot *next = nullptr;  // of those that the thread does not use
};

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

// This thread's slots that no call of its uses. Every call looks: one pointer of the memory that a
// program sets aside for this is quicker to find than what is made on demand.
__attribute__((tls_model("initial-exec"))) thread_local CallSlot *spare_slots = nullptr;

struct GiveBackSpareSlots {
  ~GiveBackSpareSlots() { call_slots().give_back(std::exchange(spare_slots, nullptr)); }
};

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

CallSlot &enter_call() {
  CallSlot *s = spare_slots;
  if (!s) return *another_slot();
  spare_slots = s->next;
  return *s;
}

void leave_call(CallSlot &s) {
  s.next = spare_slots;
  spare_slots = &s;
}

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

int handled_do_par_for(JITUserContext *context, polyhalite_task_t task, int min, int extent,
                       uint8_t *closure) {
  // A JITUserContext * is passed as a void * is.
  const auto jit_task = reinterpret_cast<JitTask>(reinterpret_cast<void *>(task));
  if (const auto handler = context->handlers.custom_do_par_for) {
    return guarded(context, int{polyhalite_error_code_generic_error},
                   [&] { return handler(context, jit_task, min, extent, closure); });
  }
  if (!context->handlers.custom_do_task) {
    return polyhalite_do_par_for(context, task, min, extent, closure);
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
      {"polyhalite_do_par_for", address_of(handled_do_par_for)},
      {"polyhalite_keep_exception", address_of(keep_exception)},
  };
  return *symbols;
}

RunningCall::RunningCall(JITUserContext *context) : slot_(enter_call()) { slot_.begin(context); }

RunningCall::~RunningCall() {
  slot_.end();
  leave_call(slot_);
}

std::string RunningCall::message() { return slot_.message(); }

void RunningCall::rethrow() {
  if (const std::exception_ptr thrown = slot_.take_thrown()) std::rethrow_exception(thrown);
}

}  // namespace polyhalite
