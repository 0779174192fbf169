#include "codegen/driver/stmt_html.h"

#include <sstream>

#include "codegen/driver/html.h"

namespace polyhalite {

namespace {

constexpr const char *kLoopStyle =
    "body{font:14px/1.4 sans-serif;margin:1.5em}pre,summary,div.line{font-family:monospace;"
    "white-space:pre-wrap;margin:0}details>*:not(summary){margin-left:1.5em}"
    "summary{cursor:pointer}b{color:#04a}";

}  // namespace

std::string stmt_sections(const std::string &text, const LoopHeading &loop_heading) {
  std::ostringstream page;
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
    const std::string word = words.substr(0, space);
    page << "<details open><summary>";
    if (word == "for" && loop_heading) {
      page << loop_heading(words.substr(space + 1, words.find(' ', space + 1) - space - 1));
    }
    page << "<b>" << escaped(word) << "</b>"
         << (space == std::string::npos ? "" : escaped(words.substr(space))) << "</summary>\n";
    depth++;
  }
  while (depth-- > 0) page << "</details>\n";
  return page.str();
}

std::string stmt_html(const std::string &title, const std::string &text) {
  return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + escaped(title) +
         "</title><style>" + kLoopStyle + "</style></head><body>\n<h1>" + escaped(title) +
         "</h1>\n" + stmt_sections(text) + "</body></html>\n";
}

}  // namespace polyhalite
