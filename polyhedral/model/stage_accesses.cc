#include "polyhedral/model/stage_accesses.h"

#include <algorithm>

#include "lang/ir/extern_stage.h"
#include "polyhedral/conditional_use.h"
#include "polyhedral/model/stage_model.h"

namespace polyhalite {

std::vector<StageAccess> stage_accesses(const LoopTree &tree, StageId s) {
  const StageDef &def = tree.definition(s);
  const std::string &own = tree.func(s).name;
  std::vector<StageAccess> found;
  if (is_extern_stage(def)) return found;
  if (tree.is_update(s)) {
    for (const CellWrite &w : cell_writes(def)) found.push_back({own, w.cell, Expr(), false});
    for (const SelfAccess &a : self_accesses(tree, s)) {
      if (!a.writes) found.push_back({own, a.cell, a.where, true});
    }
  }
  auto collect = [&](const Expr &e) {
    for_each_use(e, [&](const CallNode &call, const Expr &where) {
      if (call.kind != CallKind::Func || call.name == own) return;
      found.push_back({call.name, call.args, where, true});
    });
  };
  for (const Expr &e : def.args) collect(e);
  for (const Expr &e : def.values) collect(e);
  if (def.predicate.defined()) collect(def.predicate);
  return found;
}

bool is_held(const Survey &survey, StageId s, const StageAccess &access, size_t dimension) {
  const std::vector<HeldIndex> &held = survey.stages[s.func][s.stage].held;
  return std::any_of(held.begin(), held.end(), [&](const HeldIndex &h) {
    return h.callee == access.func && h.dimension == dimension &&
           equal(h.index, access.cell[dimension]);
  });
}

}  // namespace polyhalite
