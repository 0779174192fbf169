#include "codegen/driver/html.h"

namespace polyhalite {

std::string escaped(const std::string &text) {
  std::string s;
  for (char c : text) {
    switch (c) {
      case '<':
        s += "&lt;";
        break;
      case '>':
        s += "&gt;";
        break;
      case '&':
        s += "&amp;";
        break;
      case '"':
        s += "&quot;";
        break;
      default:
        s += c;
    }
  }
  return s;
}

}  // namespace polyhalite
