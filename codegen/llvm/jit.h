// Compiled code in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Machine code of one function. Calls may come from many threads.
class JitCode {
 public:
  JitCode(const Function &f, const Target &target);
  ~JitCode();
  JitCode(const JitCode &) = delete;
  JitCode &operator=(const JitCode &) = delete;

  /// Pointers to polyhalite_buffer_t and to scalar values, in the order of the function's
  /// arguments. Returns 0, or an error code with its message.
  int call(const std::vector<void *> &args, std::string *message) const;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::vector<std::shared_ptr<BufferContents>> constants_;  // used in place by the code
};

}  // namespace polyhalite
