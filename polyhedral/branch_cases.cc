#include "polyhedral/branch_cases.h"

#include <algorithm>

#include "lang/simplify/simplify.h"
#include "schedule/specialize.h"

namespace polyhalite {

std::vector<BranchCase> branch_cases(const FuncDef &def) {
  std::vector<BranchCase> cases;
  std::vector<int> always, all;
  for (int s = 0; s < static_cast<int>(def.stages.size()); s++) {
    all.push_back(s);
    const Expr where = runs_where(def, s);
    if (!where.defined()) {
      always.push_back(s);
      continue;
    }
    auto same = std::find_if(cases.begin(), cases.end(),
                             [&](const BranchCase &c) { return equal(c.where, where); });
    if (same == cases.end()) same = cases.insert(same, BranchCase{where, {}});
    same->stages.push_back(s);
  }
  for (const BranchCase &a : cases) {
    for (const BranchCase &b : cases) {
      if (&a != &b && !is_false(simplify_under(a.where, b.where))) return {{Expr(), all}};
    }
  }
  if (cases.empty()) return {{Expr(), all}};
  for (BranchCase &c : cases) c.stages.insert(c.stages.end(), always.begin(), always.end());
  return cases;
}

}  // namespace polyhalite
