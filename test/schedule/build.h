// Trees from texts: build("bx(x) = ...", "bx.compute_root()").
#pragma once

#include <string>

#include "lang/ir/text.h"
#include "polyhalite/error.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

/// Both without their version lines; line 1 of the schedule is then its first directive.
inline LoopTree build(const std::string &algorithm, const std::string &directives = "") {
  Algorithm a = parse_algorithm("algorithm 1\n" + algorithm, "a.txt");
  std::vector<Directive> list = parse_schedule("schedule 1\n" + directives, "s.txt");
  for (Directive &d : list) d.where.line--;
  return build_tree(a, list);
}

/// The tree's text without its version line, or the diagnostic.
inline std::string tree(const std::string &algorithm, const std::string &directives = "") {
  try {
    std::string text = to_text(build(algorithm, directives));
    return text.substr(text.find('\n') + 1);
  } catch (const CompileError &e) {
    return e.what() + std::string("\n");
  }
}

}  // namespace polyhalite
