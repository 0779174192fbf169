// Run: iterations that run at once. Two of them clash in a cell, lanes of atomic updates take turns
// in another order than that of the loops, and productions are counted.
#include <algorithm>

#include "polyhedral/model/stage_model.h"
#include "polyhedral/oracle/run.h"

namespace polyhalite::oracle {

void Run::touch(Storage &storage, const Coordinates &at, int value_index, bool writes,
                const Point *again) {
  const Coordinates place = storage.place(at, value_index);
  for (size_t k = storage.depth; k < concurrent_.size(); k++) {
    const LoopInfo &l = tree_.loops[concurrent_[k]->loop()];
    // An iteration that writes again what it has written itself writes that instance's value.
    const bool is_again = again && concurrent_[k]->has_written(storage.home(), place, *again);
    const Point &p = is_again ? *again : *now_;
    // A pure definition's own loops meet a point twice only where a tile was shifted inwards.
    // Instances that write the value of their cell, whichever they are, write it at once.
    // The program takes the blame, but not for what tiles write back; or the machine makes the
    // updates one by one, in any order.
    const StageNest &nest = tree_.nest(l.stage);
    const CompiledStage &stage = stages_[l.stage.func][l.stage.stage];
    const bool own = l.stage.func == p.stage.func && l.stage.func == storage.func;
    const bool promised = own && nest.allow_races;
    if ((promised && (stage.blends.empty() || !writes)) || (own && stage.any_order)) continue;
    const std::vector<int> &its_loops = tree_.nest(branch_).loops;
    const bool runs_p = std::find(its_loops.begin(), its_loops.end(), l.id) != its_loops.end();
    auto forgive = [&](const Point &other) {
      if (promised && is_instance(p) && is_instance(other)) return true;
      if (!runs_p) return false;
      if (!tree_.is_update(p.stage)) return other == p;
      return other.stage == p.stage && writes_one_value(tree_, branch_);
    };
    const bool in_turn = own && nest.atomic && l.is_reduction && l.kind == LoopKind::Vector;
    auto clash =
        in_turn ? concurrent_[k]->take_turn(storage.home(), place, p, writes, turn_of(l), forgive)
                : concurrent_[k]->touch(storage.home(), place, p, writes, forgive);
    if (!clash) continue;
    const std::string &name = tree_.algorithm.funcs[storage.func].name;
    const std::string iterations =
        in_turn ? ", which comes first where lanes of " : " in two iterations of ";
    fail(l.stage.func == storage.func ? 'e' : 'd', name, at,
         describe(clash->other) + (clash->other_writes ? " writes and " : " reads and ") +
             describe(p) + (writes ? " writes " : " reads ") + cell_text(name, at) + iterations +
             loop_kind_name(l.kind) + " loop '" + l.name + "'" + (in_turn ? " take turns" : ""),
         clash->other);
  }
}

Coordinates Run::turn_of(const LoopInfo &loop) const {
  Coordinates inside, lanes;
  int64_t own = 0;
  bool is_inside = false;
  for (const RunningLoop &r : running_) {
    if (r.loop == loop.id) {
      own = r.iteration;
      is_inside = true;
    } else if (is_inside) {
      (tree_.loops[r.loop].kind == LoopKind::Vector ? lanes : inside).push_back(r.iteration);
    }
  }
  inside.insert(inside.end(), lanes.begin(), lanes.end());
  inside.push_back(own);
  return inside;
}

void Run::check_pairing(int func, const Coordinates &at) {
  const auto fork = forks_.find(func);
  if (fork == forks_.end()) return;
  for (size_t k = fork->second; k < running_.size(); k++) {
    const LoopInfo &l = tree_.loops[running_[k].loop];
    if (!runs_at_once(l.kind) || running_[k].extent <= 1) continue;
    int around = tree_.placements[func].compute;
    while (around != kRoot && around != l.id) around = parent_[around];
    if (around != l.id) continue;
    const std::string &name = tree_.algorithm.funcs[func].name;
    fail('d', name, at,
         describe(*now_) + " reads " + cell_text(name, at) + ", which another iteration of " +
             loop_kind_name(l.kind) + " loop '" + l.name + "' may have waited for");
  }
}

}  // namespace polyhalite::oracle
