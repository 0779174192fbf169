// What the tests of bad input share.
#pragma once

#include <cstring>
#include <exception>
#include <string>

#include "polyhalite/error.h"

namespace polyhalite {

/// The text of the error that f throws. A place in the calling file is written relative to the
/// call: "@: error: ...", "@+2: error: ..." for a fault two lines further down.
template <typename F>
std::string text_of(F &&f, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  try {
    f();
  } catch (const InternalError &e) {
    return std::string("an internal error: ") + e.what();
  } catch (const Error &e) {
    Diagnostic d = e.diagnostic();
    if (d.where.line == 0 || d.where.file != file) return e.what();
    const int offset = d.where.line - line;
    d.where = {};
    return (offset == 0 ? "@: " : "@+" + std::to_string(offset) + ": ") + d.to_string();
  } catch (const std::exception &e) {
    return std::string("another exception: ") + e.what();
  }
  return "no error";
}

}  // namespace polyhalite
