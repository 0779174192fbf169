// Compiled code in this process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
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
  /// behind.
  int call(void **slots, std::string *message, JITUserContext *context,
           const UseProfile &use = {}) const;
  /// The C function int f(void *context, arguments).
  void *address() const;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::vector<std::shared_ptr<BufferContents>> constants_;  // used in place by the code
  bool is_profiled_ = false;                                // reports after each call
};

}  // namespace polyhalite
