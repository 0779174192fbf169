#include "polyhalite/error.h"

namespace polyhalite {

std::string Diagnostic::to_string() const {
  std::string s;
  if (where.line > 0) s = where.file + ":" + std::to_string(where.line) + ": ";
  s += "error: " + what;
  if (!why.empty()) s += "\n  why: " + why;
  if (!fix.empty()) s += "\n  fix: " + fix;
  return s;
}

Error::Error(Diagnostic d) : std::runtime_error(d.to_string()), diagnostic_(std::move(d)) {}

void user_error(std::string what, std::string why, std::string fix, SourceLocation where) {
  throw CompileError({std::move(what), std::move(why), std::move(fix), std::move(where)});
}

void internal_check(bool condition, const char *what, CallSite site) {
  if (condition) return;
  throw InternalError({std::string("internal: ") + what, "an invariant of Polyhalite is broken",
                       "report this as a bug of Polyhalite, with the program", site});
}

}  // namespace polyhalite
