#include "schedule/hoisted_memory.h"

#include <algorithm>

namespace polyhalite {

namespace {

bool allocates(const std::vector<Tree> &nodes, int func) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Tree &n) {
    return (n->kind == TreeNode::Allocate && n->stage.func == func) ||
           allocates(n->children, func) || allocates(n->otherwise, func);
  });
}

// Are a and b allocated in different cases of one branch?
bool exclude_each_other(const std::vector<Tree> &nodes, int a, int b) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Tree &n) {
    if (n->kind == TreeNode::Branch) {
      const bool a_first = allocates(n->children, a), b_first = allocates(n->children, b);
      const bool a_else = allocates(n->otherwise, a), b_else = allocates(n->otherwise, b);
      if ((a_first && b_else && !a_else && !b_first) || (b_first && a_else && !b_else && !a_first))
        return true;
    }
    return exclude_each_other(n->children, a, b) || exclude_each_other(n->otherwise, a, b);
  });
}

// The Funcs that are hoisted around func's own memory, in the same block, outermost first.
bool find_around(const std::vector<Tree> &nodes, int func, std::vector<int> &around) {
  for (const Tree &n : nodes) {
    std::vector<int> here;
    if (n->kind == TreeNode::Hoist) {
      if (n->stage.func == func) return true;
      here = around;
      here.push_back(n->stage.func);
    }
    if (find_around(n->children, func, here) || find_around(n->otherwise, func, here)) {
      around = here;
      return true;
    }
  }
  return false;
}

}  // namespace

int memory_owner(const LoopTree &tree, int func) {
  auto may_share = [&](int f) {
    const FuncPlacement &p = tree.placements[static_cast<size_t>(f)];
    return p.hoist && !p.ring.defined() && !p.async;
  };
  auto origin = [&](int f) {
    return tree.origin_of(tree.algorithm.funcs[static_cast<size_t>(f)].name);
  };
  if (!may_share(func)) return func;
  std::vector<int> around;
  if (!find_around(tree.roots, func, around)) return func;
  around.push_back(func);
  // Those that share memory, each with all others of its group, the owner first.
  std::vector<std::vector<int>> groups;
  for (const int f : around) {
    if (!may_share(f) || origin(f) != origin(func)) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto &members) {
      return std::all_of(members.begin(), members.end(),
                         [&](int member) { return exclude_each_other(tree.roots, member, f); });
    });
    const bool alone = group == groups.end();
    if (f == func) return alone ? func : group->front();
    if (alone) {
      groups.push_back({f});
    } else {
      group->push_back(f);
    }
  }
  return func;
}

}  // namespace polyhalite
