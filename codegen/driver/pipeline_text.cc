#include "codegen/driver/pipeline_text.h"

#include <algorithm>
#include <cstdint>

#include "lang/ir/text.h"
#include "polyhalite/error.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

namespace {

constexpr const char *kFirst = "pipeline 1\n", *kSchedule = "\nschedule 1\n", *kLast = "end\n";

// Keeps the lines' numbers: what stands before becomes empty lines.
std::string behind(const std::string &before, const std::string &part) {
  return std::string(static_cast<size_t>(std::count(before.begin(), before.end(), '\n')), '\n') +
         part;
}

}  // namespace

std::string pipeline_text(const FrozenPipeline &pipeline) {
  return kFirst + to_text(pipeline.algorithm, INT64_MAX) + to_text(pipeline.directives) + kLast;
}

FrozenPipeline parse_pipeline_text(const std::string &text, const std::string &name) {
  const std::string first = kFirst, last = kLast;
  if (text.rfind("pipeline ", 0) != 0) {
    user_error("this is no text of a pipeline", "it does not begin with 'pipeline 1'",
               "give what serialize_pipeline wrote", {name, 1});
  }
  if (text.rfind(first, 0) != 0) {
    user_error("a pipeline of another version", "this library reads version 1",
               "write it again with this version", {name, 1});
  }
  const size_t schedule = text.find(kSchedule);
  const bool complete =
      text.size() >= last.size() && text.compare(text.size() - last.size(), last.size(), last) == 0;
  if (schedule == std::string::npos || !complete) {
    user_error("the text of a pipeline is cut off", "its last line is not 'end'",
               "write it again, and check that there is room for all of it",
               {name, static_cast<int>(std::count(text.begin(), text.end(), '\n'))});
  }
  const std::string algorithm = text.substr(first.size(), schedule + 1 - first.size());
  const std::string head = text.substr(0, schedule + 1);
  FrozenPipeline p;
  p.algorithm = parse_algorithm(behind(first, algorithm), name);
  p.directives = parse_schedule(
      behind(head, text.substr(schedule + 1, text.size() - schedule - 1 - last.size())), name);
  return p;
}

}  // namespace polyhalite
