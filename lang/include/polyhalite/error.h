// What went wrong, why, and how to mend it: the diagnostics that users see.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace polyhalite {

/// The name of a source file, which stays until the program ends: places are copied with each call,
/// and each statement keeps its own.
class FileName {
 public:
  constexpr FileName() = default;
  /// A literal, as __FILE__ is.
  constexpr FileName(const char *literal) : text_(literal) {}  // NOLINT
  /// Kept, once for each name.
  FileName(const std::string &name);  // NOLINT

  const char *c_str() const { return text_; }
  operator std::string() const { return text_; }  // NOLINT
  bool operator==(const FileName &other) const;

 private:
  const char *text_ = "";
};

/// A place in the user's source. A line of 0 means that the place is not known.
struct SourceLocation {
  FileName file;
  int line = 0;
};

/// Where the caller's caller stands; meant as a defaulted argument.
struct CallSite {
  const char *file = __builtin_FILE();
  int line = __builtin_LINE();
  constexpr CallSite(const char *f = __builtin_FILE(), int l = __builtin_LINE())
      : file(f), line(l) {}
  operator SourceLocation() const { return {file, line}; }
};

// The library's own expressions have no place of the user's.
#ifdef POLYHALITE_LIBRARY
#define POLYHALITE_EXPR_FILE nullptr
#define POLYHALITE_EXPR_LINE 0
#else
#define POLYHALITE_EXPR_FILE __builtin_FILE()
#define POLYHALITE_EXPR_LINE __builtin_LINE()
#endif

/// Where the user makes an expression; meant as a defaulted argument. Nothing converts to it: by a
/// file's name alone, {e, 0} could be one Expr with a null name as well as a Tuple.
struct ExprSite {
  const char *file;
  int line;
  constexpr explicit ExprSite(const char *f = POLYHALITE_EXPR_FILE, int l = POLYHALITE_EXPR_LINE)
      : file(f), line(l) {}
  /// Errors there name no place.
  static constexpr ExprSite unknown() { return ExprSite("", 0); }
};

namespace detail {
/// Where a program last copied or moved an Expr on this thread.
void note_site(const char *file, int line) noexcept;
void note_site(const SourceLocation &where);
ExprSite noted_site();
}  // namespace detail

/// Until it goes, this thread's errors that name no place name `site`. Of several the first counts:
/// what it calls is not the user's.
class ErrorPlace {
 public:
  explicit ErrorPlace(ExprSite site);
  explicit ErrorPlace(const SourceLocation &where)
      : ErrorPlace(ExprSite(where.line > 0 ? where.file.c_str() : nullptr, where.line)) {}
  ~ErrorPlace();
  ErrorPlace(const ErrorPlace &) = delete;
  ErrorPlace &operator=(const ErrorPlace &) = delete;

 private:
  bool is_first_;
};

/// One problem: `what` names it with its numbers, `why` explains, `fix` says what would be right.
struct Diagnostic {
  std::string what;
  std::string why;
  std::string fix;
  SourceLocation where;

  /// "blur.cpp:41: error: WHAT\n  why: WHY\n  fix: FIX"; absent parts leave no line.
  std::string to_string() const;
};

/// Every exception of the library derives from Error; what() is the diagnostic's text, or the
/// message of a program that throws one itself.
class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic d);
  /// Several problems that do not depend on each other: at least one.
  explicit Error(std::vector<Diagnostic> list);
  explicit Error(const std::string &message);
  /// The first of them.
  const Diagnostic &diagnostic() const { return diagnostics_[0]; }
  const std::vector<Diagnostic> &diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A mistake in an algorithm or a schedule.
class CompileError : public Error {
 public:
  using Error::Error;
};

/// Gathers the errors of independent parts, so that a user sees them together.
class ErrorList {
 public:
  /// Runs f; keeps what it throws. Returns whether f ended without an error.
  template <typename F>
  bool attempt(F &&f) {
    try {
      f();
      return true;
    } catch (const CompileError &e) {
      for (const Diagnostic &d : e.diagnostics()) add(d);
      return false;
    }
  }
  /// Throws one CompileError with all errors; nothing where there are none.
  void raise() const {
    if (!list_.empty()) throw CompileError(list_);
  }

 private:
  // What is wrong in several copies of a Func is told once.
  void add(const Diagnostic &d) {
    for (const Diagnostic &old : list_) {
      if (old.to_string() == d.to_string()) return;
    }
    list_.push_back(d);
  }
  std::vector<Diagnostic> list_;
};

/// A failure while a compiled pipeline runs: a buffer that does not fit, a failed check.
class RuntimeError : public Error {
 public:
  using Error::Error;
};

/// A broken invariant of this library. Users never cause it.
class InternalError : public Error {
 public:
  using Error::Error;
};

/// Throws CompileError.
[[noreturn]] void user_error(std::string what, std::string why, std::string fix,
                             SourceLocation where = {});

/// Whether errors are thrown: they always are.
constexpr bool exceptions_enabled() { return true; }

/// Takes the place of exceptions and of stderr for what is found before a pipeline runs.
class CompileTimeErrorReporter {
 public:
  virtual ~CompileTimeErrorReporter() = default;
  virtual void warning(const char *message) = 0;
  /// Must not return.
  [[noreturn]] virtual void error(const char *message) = 0;
};
/// Null brings exceptions back. The reporter must live until it is replaced.
void set_custom_compile_time_error_reporter(CompileTimeErrorReporter *reporter);

/// "Warning: WHAT..." in the form of a diagnostic, on stderr or to the reporter.
void user_warning(std::string what, std::string why, std::string fix, SourceLocation where = {});

/// Throws InternalError unless `condition` holds.
void internal_check(bool condition, const char *what, CallSite site = {});

}  // namespace polyhalite
