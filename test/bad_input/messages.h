// What the tests of bad input share.
#pragma once

#include <cstring>
#include <exception>
#include <string>

#include "polyhalite/error.h"

namespace polyhalite {

/// The text of the error that f throws, or the texts of several, each on lines of its own. A place
/// in the calling file is written relative to the call: "@: error: ...", "@+2: error: ..." for a
/// fault two lines further down.
template <typename F>
std::string text_of(F &&f, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  try {
    f();
  } catch (const InternalError &e) {
    return std::string("an internal error: ") + e.what();
  } catch (const Error &e) {
    std::string text;
    for (Diagnostic d : e.diagnostics()) {
      if (!text.empty()) text += "\n";
      if (d.where.line != 0 && d.where.file == file) {
        const int offset = d.where.line - line;
        text += offset == 0 ? "@: " : "@+" + std::to_string(offset) + ": ";
        d.where = {};
      }
      text += d.to_string();
    }
    return text;
  } catch (const std::exception &e) {
    return std::string("another exception: ") + e.what();
  }
  return "no error";
}

}  // namespace polyhalite
