// What tests of messages share.
#pragma once

#include <string>

#include "polyhalite/error.h"

namespace polyhalite {

/// The text of the error that f throws.
template <typename F>
std::string message_of(F &&f) {
  try {
    f();
  } catch (const Error &e) {
    return e.what();
  }
  return "no error";
}

/// "FILE:LINE: " of the calling file.
inline std::string at(int line, const char *file = __builtin_FILE()) {
  return std::string(file) + ":" + std::to_string(line) + ": ";
}

}  // namespace polyhalite
