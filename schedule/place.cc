#include "schedule/place.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "schedule/inline.h"

namespace polyhalite {

namespace {

struct Item {
  Tree node;
  std::set<int> touches;        // Funcs produced or called inside
  std::vector<StageId> stages;  // whose nest it is
};

class Placer {
 public:
  explicit Placer(const LoopTree &t) : t_(t) {
    const std::vector<FuncDef> &funcs = t.algorithm.funcs;
    touched_.resize(funcs.size());
    for (size_t f = 0; f < funcs.size(); f++) {
      for (const StageDef &s : funcs[f].stages) {
        std::set<int> touches{static_cast<int>(f)};
        for (const std::string &name : called_funcs(s)) touches.insert(t.algorithm.index_of(name));
        touched_[f].push_back(std::move(touches));
      }
    }
  }

  std::vector<Tree> roots() const {
    std::vector<Item> items;
    add_productions(kRoot, items);
    std::vector<Tree> nodes;
    for (Item &i : enclosed(kRoot, std::move(items))) nodes.push_back(i.node);
    return nodes;
  }

 private:
  using Stages = std::vector<StageId>;

  // Stages that share their loop number `depth`, in the order of `stages`.
  std::vector<Stages> clusters(const Stages &stages, size_t depth) const {
    std::vector<Stages> found;
    for (const StageId &s : stages) {
      const std::vector<int> &loops = t_.nest(s).loops;
      auto same = found.end();
      if (depth < loops.size()) {
        same = std::find_if(found.begin(), found.end(), [&](const Stages &c) {
          const std::vector<int> &others = t_.nest(c[0]).loops;
          return depth < others.size() && others[depth] == loops[depth];
        });
      }
      same == found.end() ? found.push_back({s}) : same->push_back(s);
    }
    return found;
  }

  void add_productions(int level, std::vector<Item> &items) const {
    Stages stages;
    for (int f = 0; f < static_cast<int>(t_.nests.size()); f++) {
      if (t_.placements[f].compute != level) continue;
      for (int s = 0; s < static_cast<int>(t_.nests[f].size()); s++) stages.push_back({f, s});
    }
    const std::vector<Stages> groups = clusters(stages, 0);
    std::vector<Item> nests;
    for (const Stages &g : groups) nests.push_back(nest(g, 0));
    if (groups.size() == stages.size()) {  // nothing is shared: producers come first already
      for (Item &i : nests) items.push_back(std::move(i));
      return;
    }
    for (size_t i : in_order(groups, nests)) items.push_back(std::move(nests[i]));
  }

  // The groups so that all stages of a Func stand in order, and before what uses it.
  std::vector<size_t> in_order(const std::vector<Stages> &groups,
                               const std::vector<Item> &nests) const {
    auto must_follow = [&](size_t later, size_t first) {
      for (const StageId &a : groups[first]) {
        for (const StageId &b : groups[later]) {
          if (a.func == b.func && a.stage < b.stage) return true;
        }
        const bool produces_it = std::any_of(groups[later].begin(), groups[later].end(),
                                             [&](const StageId &b) { return b.func == a.func; });
        if (!produces_it && nests[later].touches.count(a.func)) return true;
      }
      return false;
    };
    std::vector<size_t> order;
    std::vector<bool> placed(groups.size(), false);
    while (order.size() < groups.size()) {
      size_t next = groups.size();
      for (size_t i = 0; i < groups.size() && next == groups.size(); i++) {
        bool ready = !placed[i];
        for (size_t j = 0; j < groups.size() && ready; j++) {
          ready = placed[j] || j == i || !must_follow(i, j);
        }
        if (ready) next = i;
      }
      if (next == groups.size()) refuse_order(groups, placed);
      placed[next] = true;
      order.push_back(next);
    }
    return order;
  }

  [[noreturn]] void refuse_order(const std::vector<Stages> &groups,
                                 const std::vector<bool> &placed) const {
    for (size_t i = 0; i < groups.size(); i++) {
      for (const StageId &follower : groups[i]) {
        const std::vector<SharedLoop> &shared = t_.nest(follower).shared;
        if (placed[i] || shared.empty()) continue;
        user_error(
            "cannot compute " + t_.describe(follower) + " with " + t_.describe(shared[0].leader),
            "the stages between them in the algorithm would have to run both before and "
            "after the loops that they share",
            "compute stages with each other that no other stage separates", shared[0].where);
      }
    }
    internal_check(false, "only shared loops break the order of productions");
    std::abort();
  }

  // None of the stages needs what another one computes, itself or through productions inside.
  void check_independent(const Stages &stages, const std::vector<Item> &items) const {
    for (const StageId &s : stages) {
      for (const StageId &other : stages) {
        if (s == other) continue;
        const StageId &follower = t_.nest(s).shared.empty() ? other : s;
        if (s.func == other.func) {
          user_error("cannot compute " + t_.describe(follower) + " with " +
                         t_.describe(t_.nest(follower).shared[0].leader) + ": " +
                         t_.describe(s.stage < other.stage ? s : other) + " shares the loop too",
                     "stages of one Func run one after the other",
                     "let one stage of '" + t_.func(s).name + "' share the loop",
                     t_.nest(follower).shared[0].where);
        }
        for (const Item &i : items) {
          const bool own = std::any_of(i.stages.begin(), i.stages.end(),
                                       [&](const StageId &of) { return of.func == s.func; });
          if (own || !i.touches.count(s.func)) continue;
          user_error("cannot compute " + t_.describe(follower) + " with " +
                         t_.describe(t_.nest(follower).shared[0].leader) +
                         ": one needs what the other computes",
                     "iterations of the loops that they share would read values that later ones "
                     "compute",
                     "use compute_at, or drop compute_with", t_.nest(follower).shared[0].where);
        }
      }
    }
  }

  // The nests of stages that share the loops before number `depth`, from there inwards.
  Item nest(const Stages &stages, size_t depth) const {
    const StageId s = stages[0];
    const std::vector<int> &loops = t_.nest(s).loops;
    if (depth == loops.size()) return {make_stage(s), touched_[s.func][s.stage], {s}};
    int loop = loops[depth];
    std::vector<Item> items;
    add_productions(loop, items);
    for (const Stages &c : clusters(stages, depth + 1)) items.push_back(nest(c, depth + 1));
    if (stages.size() > 1) check_independent(stages, items);
    std::vector<Tree> children;
    std::set<int> touches;
    for (Item &i : enclosed(loop, std::move(items))) {
      children.push_back(i.node);
      touches.insert(i.touches.begin(), i.touches.end());
    }
    return {make_loop(loop, std::move(children)), std::move(touches), stages};
  }

  // Wraps runs of items in the allocations of the Funcs stored at `level`, and these in the memory
  // of those hoisted there.
  std::vector<Item> enclosed(int level, std::vector<Item> items) const {
    std::vector<Item> stored = wrapped(level, std::move(items), make_allocate,
                                       [](const FuncPlacement &p) { return p.store; });
    return wrapped(level, std::move(stored), make_hoist,
                   [](const FuncPlacement &p) { return p.hoist.value_or(kRoot - 1); });
  }

  template <typename LevelOf>
  std::vector<Item> wrapped(int level, std::vector<Item> items,
                            Tree (*make)(int, std::vector<Tree>), LevelOf level_of) const {
    std::vector<Span> spans;
    for (int f = 0; f < static_cast<int>(t_.placements.size()); f++) {
      if (level_of(t_.placements[f]) != level ||
          t_.algorithm.is_output(t_.algorithm.funcs[f].name)) {
        continue;
      }
      Span span{f, items.size(), 0};
      for (size_t i = 0; i < items.size(); i++) {
        if (!items[i].touches.count(f)) continue;
        span.first = std::min(span.first, i);
        span.last = i;
      }
      if (span.first < items.size()) spans.push_back(span);
    }
    return wrap(items, 0, items.size(), spans, make);
  }

  struct Span {
    int func;
    size_t first, last;
  };

  // Items [begin, end) with the spans that start there. The span that starts first, and of those
  // the longest, goes around the others; it grows to hold those that start within it.
  std::vector<Item> wrap(const std::vector<Item> &items, size_t begin, size_t end,
                         std::vector<Span> spans, Tree (*make)(int, std::vector<Tree>)) const {
    if (spans.empty()) return {items.begin() + begin, items.begin() + end};
    auto outer = std::min_element(spans.begin(), spans.end(), [](const Span &a, const Span &b) {
      return a.first != b.first ? a.first < b.first : a.last > b.last;
    });
    Span around = *outer;
    spans.erase(outer);
    std::vector<Span> within, after;
    for (bool grown = true; grown;) {
      grown = false;
      within.clear();
      after.clear();
      for (const Span &s : spans) {
        (s.first <= around.last ? within : after).push_back(s);
        if (s.first <= around.last && s.last > around.last) {
          around.last = s.last;
          grown = true;
        }
      }
    }
    std::vector<Item> result(items.begin() + begin, items.begin() + around.first);
    Item allocation;
    std::vector<Tree> children;
    for (Item &i : wrap(items, around.first, around.last + 1, within, make)) {
      children.push_back(i.node);
      allocation.touches.insert(i.touches.begin(), i.touches.end());
    }
    const FuncPlacement &p = t_.placements[around.func];
    const bool forks = p.async && (make == make_hoist) == p.ring.defined();
    if (forks) children = {make_fork(around.func, std::move(children))};
    allocation.node = make(around.func, std::move(children));
    result.push_back(std::move(allocation));
    for (Item &i : wrap(items, around.last + 1, end, after, make)) result.push_back(std::move(i));
    return result;
  }

  const LoopTree &t_;
  std::vector<std::vector<std::set<int>>> touched_;  // [func][stage]
};

void collect_stages(const Tree &n, std::set<StageId> &out) {
  if (n->kind == TreeNode::Stage) out.insert(n->stage);
  for (const auto *block : {&n->children, &n->otherwise}) {
    for (const Tree &c : *block) collect_stages(c, out);
  }
}

// The nests that compute a Func, and all inside of them.
void collect_production(const LoopTree &t, const Tree &n, int func, std::set<StageId> &out) {
  const bool begins = (n->kind == TreeNode::Stage && n->stage.func == func) ||
                      (n->kind == TreeNode::Loop && t.loops[n->loop].stage.func == func);
  for (const auto *block : {&n->children, &n->otherwise}) {
    for (const Tree &c : *block) {
      begins ? collect_stages(c, out) : collect_production(t, c, func, out);
    }
  }
  if (begins && n->kind == TreeNode::Stage) out.insert(n->stage);
}

void check_fork(const LoopTree &t, const Tree &fork, const std::set<int> &outer_forks) {
  const int func = fork->stage.func;
  std::set<StageId> production, all;
  for (const Tree &c : fork->children) {
    collect_production(t, c, func, production);
    collect_stages(c, all);
  }
  std::set<int> computed_beside;
  for (const StageId &s : all) {
    if (!production.count(s)) computed_beside.insert(s.func);
  }
  for (const StageId &s : production) {
    for (const std::string &name : called_funcs(t.definition(s))) {
      const int g = t.algorithm.index_of(name);
      if (!computed_beside.count(g) || outer_forks.count(g)) continue;
      const std::string &f = t.algorithm.funcs[func].name;
      user_error("cannot run '" + f + "' asynchronously: it uses '" + name +
                     "', which is computed in the task beside it",
                 "'" + name + "' is computed between where '" + f + "' is stored and where '" + f +
                     "' is computed",
                 "compute '" + name + "' inside '" + f + "' or outside of its storage, or make '" +
                     name + "' async too and store it outside of '" + f + "'",
                 t.placements[func].async_where);
    }
  }
}

void check_forks(const LoopTree &t, const std::vector<Tree> &nodes, std::set<int> outer_forks) {
  for (const Tree &n : nodes) {
    std::set<int> inside = outer_forks;
    if (n->kind == TreeNode::Fork) {
      check_fork(t, n, outer_forks);
      inside.insert(n->stage.func);
    }
    check_forks(t, n->children, inside);
    check_forks(t, n->otherwise, inside);
  }
}

}  // namespace

void check_forks(const LoopTree &tree) { check_forks(tree, tree.roots, {}); }

LoopTree place(LoopTree tree) {
  tree.roots = Placer(tree).roots();
  return tree;
}

}  // namespace polyhalite
