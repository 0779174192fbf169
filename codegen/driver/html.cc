#include "codegen/driver/html.h"

#include <cmath>
#include <cstdio>

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

std::string bytes_text(double bytes) {
  const char *unit = "B";
  for (const char *larger : {"KiB", "MiB", "GiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = larger;
  }
  char text[32];
  std::snprintf(text, sizeof text, bytes < 10 && bytes != std::floor(bytes) ? "%.1f %s" : "%.0f %s",
                bytes, unit);
  return text;
}

}  // namespace polyhalite
