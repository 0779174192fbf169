#include "schedule/place.h"

#include <algorithm>
#include <set>

#include "schedule/inline.h"

namespace polyhalite {

namespace {

struct Item {
  Tree node;
  std::set<int> touches;  // Funcs produced or called inside
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
  void add_productions(int level, std::vector<Item> &items) const {
    for (int f = 0; f < static_cast<int>(t_.nests.size()); f++) {
      if (t_.placements[f].compute != level) continue;
      for (int s = 0; s < static_cast<int>(t_.nests[f].size()); s++)
        items.push_back(nest({f, s}, 0));
    }
  }

  // The stage's nest from its loop number `depth` inwards.
  Item nest(StageId s, size_t depth) const {
    const std::vector<int> &loops = t_.nest(s).loops;
    if (depth == loops.size()) return {make_stage(s), touched_[s.func][s.stage]};
    int loop = loops[depth];
    std::vector<Item> items;
    add_productions(loop, items);
    items.push_back(nest(s, depth + 1));
    std::vector<Tree> children;
    std::set<int> touches;
    for (Item &i : enclosed(loop, std::move(items))) {
      children.push_back(i.node);
      touches.insert(i.touches.begin(), i.touches.end());
    }
    return {make_loop(loop, std::move(children)), std::move(touches)};
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
