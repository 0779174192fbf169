#include "polyhalite/error.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "lang/asking.h"
#include "polyhalite/report.h"

namespace polyhalite {

namespace {

std::atomic<CompileTimeErrorReporter *> reporter{nullptr};
thread_local int questions = 0;  // that this thread is asking
thread_local ExprSite place{nullptr, 0};
thread_local ExprSite noted{nullptr, 0};

std::string text_of(const Diagnostic &d, const char *kind) {
  std::string s;
  if (d.where.line > 0) s = std::string(d.where.file) + ":" + std::to_string(d.where.line) + ": ";
  s += kind + d.what;
  if (!d.why.empty()) s += "\n  why: " + d.why;
  if (!d.fix.empty()) s += "\n  fix: " + d.fix;
  return s;
}

std::string text_of(const std::vector<Diagnostic> &list) {
  std::string s;
  for (const Diagnostic &d : list) s += (s.empty() ? "" : "\n") + d.to_string();
  return s;
}

}  // namespace

FileName::FileName(const std::string &name) {
  static std::mutex mutex;
  static auto *names = new std::set<std::string>();  // also while the program ends
  const std::lock_guard<std::mutex> lock(mutex);
  text_ = names->insert(name).first->c_str();
}

bool FileName::operator==(const FileName &other) const {
  return text_ == other.text_ || std::strcmp(text_, other.text_) == 0;
}

std::string Diagnostic::to_string() const { return text_of(*this, "error: "); }

Error::Error(Diagnostic d) : Error(std::vector<Diagnostic>{std::move(d)}) {}

Error::Error(std::vector<Diagnostic> list)
    : std::runtime_error(text_of(list)), diagnostics_(std::move(list)) {}

Error::Error(const std::string &message)
    : std::runtime_error(message), diagnostics_{{message, "", "", {}}} {}

Asking::Asking() { questions++; }
Asking::~Asking() { questions--; }

void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *r) { reporter = r; }

namespace detail {
void note_site(const char *file, int line) noexcept {
  // What headers copy is of the program's line before.
  if (!std::strstr(file, "include/polyhalite/") && !std::strstr(file, "/include/c++/"))
    noted = ExprSite(file, line);
}
void note_site(const SourceLocation &where) {
  if (where.line == 0) {
    noted = ExprSite(nullptr, 0);
    return;
  }
  noted = ExprSite(where.file.c_str(), where.line);
}
ExprSite noted_site() { return noted; }
}  // namespace detail

ErrorPlace::ErrorPlace(ExprSite site) : is_first_(!place.file && site.file) {
  if (is_first_) place = site;
}
ErrorPlace::~ErrorPlace() {
  if (is_first_) place = ExprSite(nullptr, 0);
}

void user_error(std::string what, std::string why, std::string fix, SourceLocation where) {
  if (where.line == 0 && place.line > 0) where = {place.file, place.line};
  const CompileError error({std::move(what), std::move(why), std::move(fix), std::move(where)});
  if (CompileTimeErrorReporter *r = reporter; r && questions == 0) r->error(error.what());
  throw error;
}

void user_warning(std::string what, std::string why, std::string fix, SourceLocation where) {
  const std::string text =
      text_of({std::move(what), std::move(why), std::move(fix), std::move(where)}, "Warning: ");
  if (CompileTimeErrorReporter *r = reporter) {
    r->warning(text.c_str());
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

namespace detail {

WarningStream::~WarningStream() { user_warning(text(), "", ""); }

UserErrorStream::~UserErrorStream() noexcept(false) { user_error(text(), "", ""); }

InternalErrorStream::~InternalErrorStream() noexcept(false) {
  throw InternalError(Diagnostic{"internal: " + text(), "", "", where_});
}

}  // namespace detail

void internal_check(bool condition, const char *what, CallSite site) {
  if (condition) return;
  throw InternalError({std::string("internal: ") + what, "an invariant of Polyhalite is broken",
                       "report this as a bug of Polyhalite, with the program", site});
}

}  // namespace polyhalite
