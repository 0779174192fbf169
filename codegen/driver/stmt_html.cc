#include "codegen/driver/stmt_html.h"

#include <sstream>

namespace polyhalite {

namespace {

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
      default:
        s += c;
    }
  }
  return s;
}

constexpr const char *kStyle =
    "body{font:14px/1.4 sans-serif;margin:1.5em}pre,summary,div.line{font-family:monospace;"
    "white-space:pre-wrap;margin:0}details>*:not(summary){margin-left:1.5em}"
    "summary{cursor:pointer}b{color:#04a}";

}  // namespace

std::string stmt_html(const std::string &title, const std::string &text) {
  std::ostringstream page;
  page << "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" << escaped(title)
       << "</title><style>" << kStyle << "</style></head><body>\n<h1>" << escaped(title)
       << "</h1>\n";
  std::istringstream lines(text);
  std::string line;
  int depth = 0;
  while (std::getline(lines, line)) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    std::string words = line.substr(first);
    // "} else {" ends one section and begins the next.
    if (words[0] == '}' && depth > 0) {
      page << "</details>\n";
      depth--;
      words = words.size() > 1 ? words.substr(words.find_first_not_of(' ', 1)) : "";
      if (words.empty()) continue;
    }
    if (words.back() != '{') {
      page << "<div class=\"line\">" << escaped(words) << "</div>\n";
      continue;
    }
    const size_t space = words.find(' ');
    page << "<details open><summary><b>" << escaped(words.substr(0, space)) << "</b>"
         << (space == std::string::npos ? "" : escaped(words.substr(space))) << "</summary>\n";
    depth++;
  }
  while (depth-- > 0) page << "</details>\n";
  page << "</body></html>\n";
  return page.str();
}

}  // namespace polyhalite
