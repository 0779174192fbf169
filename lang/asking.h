// Asking: what is wrong with something is an answer here, not an error of the program.
#pragma once

namespace polyhalite {

/// While one lives, user_error() in this thread throws CompileError without telling the reporter
/// that the program may have set.
class Asking {
 public:
  Asking();
  ~Asking();
  Asking(const Asking &) = delete;
  Asking &operator=(const Asking &) = delete;
};

}  // namespace polyhalite
