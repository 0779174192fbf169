// conflict: two instances of one stage that touch the same cell of its Func, one of them writing,
// and that stand in a given relation. Both belong to one production: outer loops are equal.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "polyhedral/judge_context.h"
#include "polyhedral/model/stage_model.h"

namespace polyhalite {

struct Conflict {
  enum Kind : uint8_t {
    Flow,
    Anti,
    Output
  } kind;  // read after write, write after read, two writes
  Instance first, second;
  std::vector<int64_t> first_time, second_time;  // [coordinate of the nest, outermost first]
  std::vector<int64_t> cell;
  std::vector<std::pair<std::string, int64_t>> parameters;
  bool depends_on_data = false;        // the cell comes from data: the conflict can happen
  std::optional<std::string> inexact;  // a term that no row expresses: the conflict may be none
};

struct ConflictAnswer {
  std::optional<Conflict> conflict;
  std::optional<std::string> unknown;  // isl gave no answer, and why
};

/// `relate` adds to the problem how the first instance stands to the second.
using Relate =
    std::function<void(Problem &, const StageInstance &first, const StageInstance &second)>;

/// Looks at flow, then anti, then output dependences. A conflict that is exact is preferred.
ConflictAnswer find_conflict(JudgeContext &c, StageId stage, const Relate &relate);
/// Looks at flow alone.
ConflictAnswer find_flow(JudgeContext &c, StageId stage, const Relate &relate);

/// "acc(3, 5)"
std::string cell_text(const std::string &func, const std::vector<int64_t> &cell);

}  // namespace polyhalite
