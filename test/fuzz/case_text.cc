#include "test/fuzz/case_text.h"

#include <sstream>

#include "lang/ir/text.h"
#include "polyhalite/error.h"
#include "schedule/schedule_text.h"

namespace polyhalite::test {

std::string to_text(const Case &c) {
  std::ostringstream os;
  os << to_text(c.pipeline.frozen.algorithm) << to_text(c.pipeline.frozen.directives);
  for (const OutputBox &box : c.pipeline.boxes) {
    os << "box";
    for (size_t d = 0; d < box.min.size(); d++) {
      os << " (" << box.min[d] << ", " << box.extent[d] << ")";
    }
    os << "\n";
  }
  os << "seed " << c.seed << "\n";
  if (!c.verdict.empty()) os << "verdict " << c.verdict << "\n";
  return os.str();
}

Case parse_case(const std::string &text, const std::string &name) {
  Case c;
  std::string algorithm, schedule, line;
  std::string *part = &algorithm;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word.empty() || word[0] == '#') continue;
    if (word == "schedule") part = &schedule;
    if (word == "seed") {
      words >> c.seed;
    } else if (word == "verdict") {
      words >> c.verdict;
    } else if (word == "box") {
      OutputBox box;
      char bracket, comma;
      for (int min, extent; words >> bracket >> min >> comma >> extent >> bracket;) {
        box.min.push_back(min);
        box.extent.push_back(extent);
      }
      c.pipeline.boxes.push_back(std::move(box));
    } else {
      *part += line + "\n";
    }
  }
  c.pipeline.frozen.algorithm = parse_algorithm(algorithm, name);
  c.pipeline.frozen.directives = parse_schedule(schedule, name);
  const Algorithm &a = c.pipeline.frozen.algorithm;
  bool fits = c.pipeline.boxes.size() == a.outputs.size();
  for (size_t o = 0; fits && o < a.outputs.size(); o++) {
    fits = c.pipeline.boxes[o].min.size() == a.find(a.outputs[o])->args.size();
  }
  if (!fits) user_error(name + ": the boxes are not those of the outputs", "", "", {});
  return c;
}

}  // namespace polyhalite::test
