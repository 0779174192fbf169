// Algorithm text and schedule text in, verdict out.
#pragma once

#include <string>

#include "lang/ir/text.h"
#include "polyhedral/judge.h"
#include "schedule/build_tree.h"
#include "schedule/schedule_text.h"

namespace polyhalite {

/// Reads the upper right neighbour: rows must run in order.
inline constexpr const char *kSkewed = R"(image in: int32, 2
acc(x, y) = in(x, y)
over x1(0, 30), y1(1, 20): acc(x1, y1) = acc(x1 + 1, y1 - 1)*2
output acc
)";

/// Every judgement of the tests asks isl also what is structural.
inline JudgeOptions exact_options() {
  JudgeOptions o;
  o.exact = true;
  return o;
}

inline std::vector<Directive> directives(const std::string &schedule) {
  std::vector<Directive> list = parse_schedule("schedule 1\n" + schedule, "test");
  for (Directive &d : list) d.where.line--;  // line 1 is the first directive
  return list;
}

inline Algorithm algorithm_of(const std::string &text) {
  return parse_algorithm("algorithm 1\n" + text, "algorithm");
}

inline Judged judged(const std::string &algorithm, const std::string &schedule,
                     const JudgeOptions &options = exact_options()) {
  return build_and_judge(algorithm_of(algorithm), directives(schedule), options);
}

/// "legal", or the diagnostic's text; line numbers are those of the schedule's text.
inline std::string verdict(const std::string &algorithm, const std::string &schedule,
                           const JudgeOptions &options = exact_options()) {
  try {
    judged(algorithm, schedule, options);
    return "legal";
  } catch (const CompileError &e) {
    return e.what();
  }
}

/// Judges the whole list without looking for the directive to blame.
inline Judgement judgement(const std::string &algorithm, const std::string &schedule,
                           const JudgeOptions &options = exact_options()) {
  const LoopTree tree = build_tree(algorithm_of(algorithm), directives(schedule));
  return judge(tree, survey(tree), options);
}

/// How a claim about something was proven: "isl: RULE", "structural: RULE"; empty if it was not.
inline std::string proof_of(const Judgement &j, char claim, const std::string &about) {
  for (const Certificate &c : j.certificates) {
    if (c.claim != claim || c.about != about) continue;
    return std::string(c.proof == Proof::Isl ? "isl: " : "structural: ") + c.rule;
  }
  return "";
}

}  // namespace polyhalite
