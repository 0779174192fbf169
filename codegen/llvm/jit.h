// Compiled code in this process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "codegen/llvm/running_call.h"
#include "lang/abi/polyhalite_profiler.h"
#include "polyhalite/jit_context.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Machine code of one function. Calls may come from many threads.
class JitCode {
 public:
  /// `externs`: functions of this process by the names of calls, before those that it exports.
  JitCode(const Function &f, const Target &target,
          const std::map<std::string, JITExtern> &externs = {});
  ~JitCode();
  JitCode(const JitCode &) = delete;
  JitCode &operator=(const JitCode &) = delete;

  /// Pointers to polyhalite_buffer_t and to scalar values, in the order of the function's
  /// arguments. Returns 0, or an error code with its message, which is empty where the context's
  /// handler took it. Throws what a handler threw.
  /// A profile is printed; with `use`, it has a list of pipelines' instead.
  using UseProfile = std::function<void(const polyhalite_profiler_pipeline_stats *)>;
  int call(const std::vector<void *> &args, std::string *message, JITUserContext *context = nullptr,
           const UseProfile &use = {}) const;
  /// The same without an allocation: slots[0] is for the call's own use, the arguments stand
  /// behind, the context is not null. In line, since small pipelines take as long as a few calls.
  int call(void **slots, std::string *message, JITUserContext *context) const {
    if (is_profiled_) return call_profiled(slots, message, context, {});
    void *user_context = context;
    slots[0] = &user_context;
    RunningCall call(context);
    const int code = entry_(slots);
    return end(call, code, message);
  }
  /// The C function int f(void *context, arguments).
  void *address() const;

 private:
  int call_profiled(void **slots, std::string *message, JITUserContext *context,
                    const UseProfile &use) const;
  static int end(RunningCall &call, int code, std::string *message) {
    call.rethrow();
    if (code != 0 && message) *message = call.message();
    return code;
  }

  struct Session;
  std::unique_ptr<Session> session_;
  int (*entry_)(void **slots) = nullptr;
  std::vector<std::shared_ptr<BufferContents>> constants_;  // used in place by the code
  bool is_profiled_ = false;                                // reports after each call
};

}  // namespace polyhalite
