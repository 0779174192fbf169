// Errors and warnings of a program's own, written as streams: user_error << "no such filter".
#pragma once

#include <sstream>
#include <string>
#include <utility>

#include "polyhalite/error.h"

namespace polyhalite::detail {

/// Collects a message; what happens to it is said by the class, at the end of the full expression.
class MessageStream {
 public:
  template <typename T>
  MessageStream &operator<<(const T &value) {
    text_ << value;
    return *this;
  }

 protected:
  // Without the line break that such messages end in.
  std::string text() const {
    std::string s = text_.str();
    while (!s.empty() && s.back() == '\n') s.pop_back();
    return s;
  }

 private:
  std::ostringstream text_;
};

/// A warning.
class WarningStream : public MessageStream {
 public:
  ~WarningStream();
};

/// Throws CompileError.
class UserErrorStream : public MessageStream {
 public:
  [[noreturn]] ~UserErrorStream() noexcept(false);
};

/// Throws InternalError.
class InternalErrorStream : public MessageStream {
 public:
  explicit InternalErrorStream(SourceLocation where) : where_(std::move(where)) {}
  [[noreturn]] ~InternalErrorStream() noexcept(false);

 private:
  SourceLocation where_;
};

}  // namespace polyhalite::detail
