// What code in this process calls instead of the runtime: the handlers of its context, else the
// runtime.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "polyhalite/jit_context.h"

namespace polyhalite {

struct RuntimeSymbol {
  const char *name;
  void *address;
};

/// polyhalite_malloc, _free, _print, _trace and _do_par_for for contexts that are JITUserContexts,
/// and polyhalite_keep_exception, which takes what a function of the program throws.
const std::vector<RuntimeSymbol> &handled_runtime();

class CallSlot;

/// Stands while a call with this context runs: keeps its first message and its first exception.
/// Calls with one context may overlap; then each keeps what any of them reports. In the thread that
/// made it; takes no lock unless something was reported.
class RunningCall {
 public:
  explicit RunningCall(JITUserContext *context);
  ~RunningCall();
  RunningCall(const RunningCall &) = delete;
  RunningCall &operator=(const RunningCall &) = delete;

  /// Empty where the context's handler took it.
  std::string message();
  /// Throws the exception of a handler, if there was one: none may cross compiled code.
  void rethrow();

 private:
  CallSlot &slot_;
};

}  // namespace polyhalite
