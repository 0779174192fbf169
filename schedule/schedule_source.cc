#include "schedule/schedule_source.h"

#include <cctype>
#include <sstream>

#include "lang/ir/lexer.h"

namespace polyhalite {

namespace {

std::string trimmed(const std::string &s) {
  size_t b = 0, e = s.size();
  while (b < e && std::isspace(static_cast<unsigned char>(s[b]))) b++;
  while (e > b && std::isspace(static_cast<unsigned char>(s[e - 1]))) e--;
  return s.substr(b, e - b);
}

bool take(std::string &s, const std::string &prefix) {
  if (s.compare(0, prefix.size(), prefix) != 0) return false;
  s = trimmed(s.substr(prefix.size()));
  return true;
}

// "// schedule 1", "# schedule 1" or "schedule 1", after blank lines.
ScheduleForm read_version(std::string line, const SourceLocation &where) {
  ScheduleForm form = ScheduleForm::Text;
  if (take(line, "//")) {
    form = ScheduleForm::Cpp;
  } else if (take(line, "#")) {
    form = ScheduleForm::Python;
  }
  if (!take(line, "schedule")) {
    throw CompileError({"expected 'schedule 1', found '" + line + "'", "",
                        "begin the text with the version of its format: schedule 1", where});
  }
  if (line != "1") {
    throw CompileError({"unknown version '" + line + "' of the schedule format", "",
                        "this library reads version 1", where});
  }
  return form;
}

}  // namespace

ScheduleSource read_schedule_lines(const std::string &text, const std::string &name) {
  ScheduleSource source;
  std::istringstream lines(text);
  std::string line;
  bool begun = false;
  for (int number = 1; std::getline(lines, line); number++) {
    std::string rest = trimmed(line);
    if (!begun) {
      if (!rest.empty()) {
        source.form = read_version(rest, {name, number});
        begun = true;
      }
      line.clear();
    } else if (take(rest, source.form == ScheduleForm::Python ? "#" : "//")) {
      if (take(rest, "handle ")) {
        TokenStream tokens(rest, name);
        std::string handle = tokens.expect_name("a handle");
        if (tokens.peek().kind == Token::String) source.handles[handle] = tokens.next().text;
      }
      line.clear();
    }
    source.body += line + "\n";
  }
  if (!begun) read_version("", {name, 1});
  return source;
}

}  // namespace polyhalite
