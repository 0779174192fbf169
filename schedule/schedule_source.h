// The lines of a schedule's text, and which of the three forms they have.
#pragma once

#include <map>
#include <string>

namespace polyhalite {

enum class ScheduleForm { Text, Cpp, Python };

struct ScheduleSource {
  ScheduleForm form = ScheduleForm::Text;
  std::string body;                            // comment and version lines emptied
  std::map<std::string, std::string> handles;  // of Funcs: identifier -> name
};

/// Throws CompileError at NAME:LINE where the version is missing or unknown.
ScheduleSource read_schedule_lines(const std::string &text, const std::string &name);

}  // namespace polyhalite
