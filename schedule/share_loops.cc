#include "schedule/share_loops.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "polyhalite/error.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

std::string labels(const LoopTree &t, StageId s) {
  std::string text;
  for (int l : t.nest(s).loops) text += (text.empty() ? "" : ", ") + t.loops[l].label;
  return text.empty() ? "none" : text;
}

class Sharer {
 public:
  Sharer(LoopTree &t, const std::vector<Directive> &directives) : t_(t) {
    for (const Directive &d : directives) {
      if (d.kind == DirectiveKind::ComputeWith) last_[{d.func, d.stage}] = &d;
    }
  }

  void run() {
    for (const auto &[stage, d] : last_) follow(*d);
  }

 private:
  std::optional<StageId> find(const std::string &func, int stage) const {
    const int f = t_.algorithm.index_of(func);
    if (f < 0 || stage >= static_cast<int>(t_.nests[f].size())) return std::nullopt;
    return StageId{f, std::max(stage, 0)};
  }

  void follow(const Directive &d) {
    const std::string what = "cannot compute " + describe_stage(d.func, d.stage) + " with " +
                             describe_stage(d.target_func, std::max(d.target_stage, 0));
    const auto own = find(d.func, d.stage), leader = find(d.target_func, d.target_stage);
    for (const auto &[stage, name] : {std::pair{own, d.func}, std::pair{leader, d.target_func}}) {
      if (stage) continue;
      user_error(what + ": '" + name + "' is computed inline or has no such update",
                 "only what has loops of its own can share them",
                 "give '" + name + "' a compute level", d.where);
    }
    if (own->func == leader->func) {
      user_error(what + ": both are stages of one Func", "its stages run one after the other",
                 "name a stage of another Func", d.where);
    }
    if (done_.count(*own)) return;
    if (!open_.insert(*own).second) {
      user_error(what + ": it is computed with itself, through others", "",
                 "let one of these stages lead", d.where);
    }
    // The leader may share loops itself.
    auto leading = last_.find({d.target_func, leader->stage});
    if (leading != last_.end()) follow(*leading->second);
    share(d, what, *own, *leader);
    done_.insert(*own);
  }

  void share(const Directive &d, const std::string &what, StageId own, StageId leader) {
    if (d.loops[0] == kOutermost) return;  // no loop is shared
    const std::vector<int> &loops = t_.nest(leader).loops;
    size_t depth = 0;
    while (depth < loops.size() && t_.loops[loops[depth]].label != d.loops[0]) depth++;
    if (depth == loops.size()) {
      user_error(what + " at loop '" + d.loops[0] + "': the latter has no such loop", "",
                 "its loops are, outermost first: " + labels(t_, leader), d.where);
    }
    StageNest &nest = t_.nests[own.func][own.stage];
    std::vector<SharedLoop> shared;
    for (size_t i = 0; i <= depth; i++) {
      const LoopInfo &led = t_.loops[loops[i]];
      if (i >= nest.loops.size() || t_.loops[nest.loops[i]].label != led.label) {
        user_error(
            what + " at loop '" + d.loops[0] + "': their loops differ",
            "outermost first, the one has " + labels(t_, own) + ", the other " + labels(t_, leader),
            "give both the same loops down to '" + d.loops[0] + "'", d.where);
      }
      const LoopInfo &loop = t_.loops[nest.loops[i]];
      if (loop.kind != led.kind) {
        user_error(what + " at loop '" + d.loops[0] + "': '" + led.label + "' is " +
                       loop_kind_name(loop.kind) + " in the one and " + loop_kind_name(led.kind) +
                       " in the other",
                   "one loop has one kind", "mark '" + led.label + "' alike in both", d.where);
      }
      SharedLoop s{leader, t_.dim(own, i), t_.is_reduction(own, i), LoopAlignStrategy::NoAlign,
                   d.where};
      for (size_t a = 0; a < d.aligns.size(); a++) {
        if (d.loops[a + 1] == led.label && d.aligns[a] != LoopAlignStrategy::Auto) {
          s.align = d.aligns[a];
        }
      }
      shared.push_back(std::move(s));
    }
    for (size_t a = 0; a < d.aligns.size(); a++) {
      const bool known = std::any_of(shared.begin(), shared.end(), [&](const SharedLoop &s) {
        return t_.loops[loops[&s - shared.data()]].label == d.loops[a + 1];
      });
      if (known) continue;
      user_error(what + ": '" + d.loops[a + 1] +
                     "', which is to be aligned, is no loop that they "
                     "share",
                 "", "name one of the loops down to '" + d.loops[0] + "'", d.where);
    }
    nest.shared = std::move(shared);
    std::copy(loops.begin(), loops.begin() + depth + 1, nest.loops.begin());
  }

  LoopTree &t_;
  std::map<std::pair<std::string, int>, const Directive *> last_;  // by func and stage
  std::set<StageId> open_, done_;
};

template <typename Visit>
void for_each_stage(const LoopTree &t, Visit visit) {
  for (int f = 0; f < static_cast<int>(t.nests.size()); f++) {
    for (int s = 0; s < static_cast<int>(t.nests[f].size()); s++) visit(StageId{f, s});
  }
}

}  // namespace

LoopTree with_leaders_loops(LoopTree t) {
  std::map<int, int> renumbered;
  std::vector<LoopInfo> loops;
  for_each_stage(t, [&](StageId s) {
    for (int l : t.nest(s).loops) {
      if (!renumbered.emplace(l, static_cast<int>(loops.size())).second) continue;
      loops.push_back(t.loops[l]);
      loops.back().id = renumbered.at(l);
      loops.back().also.clear();
    }
  });
  t.loops = std::move(loops);
  for_each_stage(t, [&](StageId s) {
    StageNest &nest = t.nests[s.func][s.stage];
    for (int &l : nest.loops) l = renumbered.at(l);
    for (size_t i = 0; i < nest.shared.size(); i++) t.loops[nest.loops[i]].also.push_back(s);
  });
  return t;
}

LoopTree share_loops(LoopTree tree, const std::vector<Directive> &directives) {
  Sharer(tree, directives).run();
  return with_leaders_loops(std::move(tree));
}

void check_shared(const LoopTree &t) {
  for_each_stage(t, [&](StageId s) {
    if (t.nest(s).shared.empty()) return;
    const SharedLoop &shared = t.nest(s).shared[0];
    const std::string what =
        "cannot compute " + t.describe(s) + " with " + t.describe(shared.leader);
    if (t.placements[s.func].compute != t.placements[shared.leader.func].compute) {
      user_error(what + ": they are computed at different levels", "",
                 "give both one compute level", shared.where);
    }
    for (int f : {s.func, shared.leader.func}) {
      if (!t.placements[f].async) continue;
      user_error(what + ": '" + t.algorithm.funcs[f].name + "' is async",
                 "its productions run in a task of their own, the other's do not",
                 "drop async or compute_with", shared.where);
    }
  });
}

}  // namespace polyhalite
