#include "codegen/passes/async_tasks.h"

#include <algorithm>

#include "schedule/inline.h"

namespace polyhalite {

namespace {

bool produces(const TaskView &view) {
  return std::any_of(view.begin(), view.end(), [](const auto &f) { return f.second; });
}

}  // namespace

int producing_func(const LoopTree &tree, const TreeNode &n) {
  if (n.kind == TreeNode::Loop) return tree.loops[n.loop].stage.func;
  if (n.kind == TreeNode::Stage) return n.stage.func;
  if (n.kind == TreeNode::Branch) {
    for (const auto *part : {&n.children, &n.otherwise}) {
      if (!part->empty()) return producing_func(tree, *part->front());
    }
  }
  return -1;
}

TaskView AsyncTasks::inside_nest(const TreeNode &n, TaskView view) const {
  view.erase(producing_func(tree_, n));
  return view;
}

bool AsyncTasks::is_for_another(const TreeNode &n, const TaskView &view) const {
  return produces(inside_nest(n, view));
}

// Calls visit on the stages inside n that the task runs, until it returns true.
template <typename Visit>
bool AsyncTasks::any_stage(const TreeNode &n, const TaskView &view, Visit visit) const {
  const auto found = view.find(producing_func(tree_, n));
  if (found != view.end() && !found->second) return false;
  if (n.kind == TreeNode::Stage) return !is_for_another(n, view) && visit(n.stage);
  const TaskView inner = inside_nest(n, view);
  for (const auto *block : {&n.children, &n.otherwise}) {
    for (const Tree &c : *block) {
      if (any_stage(*c, inner, visit)) return true;
    }
  }
  return false;
}

bool AsyncTasks::is_kept(const TreeNode &n, const TaskView &view) const {
  return any_stage(n, view, [](const StageId &) { return true; });
}

bool AsyncTasks::uses(const TreeNode &n, const TaskView &view, int func) const {
  const std::string &name = tree_.algorithm.funcs[func].name;
  return any_stage(
      n, view, [&](const StageId &s) { return called_funcs(tree_.definition(s)).count(name) > 0; });
}

std::vector<AsyncWait> AsyncTasks::find_waits(const std::vector<const TreeNode *> &items,
                                              const TaskView &view, const std::set<int> &waiting) {
  std::vector<AsyncWait> waits;
  for (int f : waiting) {
    AsyncWait w{f, items.size(), 0, false, 0};
    for (size_t i = 0; i < items.size(); i++) {
      if (!uses(*items[i], view, f)) continue;
      w.first = std::min(w.first, i);
      w.last = i;
    }
    if (w.first == items.size()) continue;
    const TreeNode::Kind kind = items[w.first]->kind;
    w.inside = w.first == w.last &&
               (kind == TreeNode::Allocate || kind == TreeNode::Hoist || kind == TreeNode::Fork);
    if (!w.inside) w.channel = channels_[f]++;
    waits.push_back(w);
  }
  return waits;
}

std::string AsyncTasks::semaphore(int func, const char *what, int channel) const {
  return tree_.algorithm.funcs[func].name + "." + what + "." + std::to_string(channel);
}

Stmt AsyncTasks::production(int func, Stmt nests, bool begins, bool ends) const {
  std::vector<Stmt> out;
  for (int c = 0; begins && is_limited(func) && c < consumers_.at(func); c++) {
    out.push_back(make_acquire(semaphore(func, "room", c)));
  }
  out.push_back(std::move(nests));
  for (int c = 0; ends && c < consumers_.at(func); c++) {
    out.push_back(make_release(semaphore(func, "ready", c)));
  }
  return make_block(std::move(out));
}

Stmt AsyncTasks::acquire(const AsyncWait &wait) const {
  return make_acquire(semaphore(wait.func, "ready", wait.channel));
}

Stmt AsyncTasks::release(const AsyncWait &wait) const {
  return is_limited(wait.func) ? make_release(semaphore(wait.func, "room", wait.channel)) : Stmt();
}

Stmt AsyncTasks::make_fork(int func, const Stmt &producer, const Stmt &consumer) const {
  std::vector<std::string> semaphores;
  std::vector<Expr> counts;
  for (int c = 0; c < consumers_.at(func); c++) {
    semaphores.push_back(semaphore(func, "ready", c));
    counts.push_back(Expr(0));
    if (!is_limited(func)) continue;
    semaphores.push_back(semaphore(func, "room", c));
    counts.push_back(survey_.funcs[func].async->ahead);
  }
  return make_fork_stmt(tree_.algorithm.funcs[func].name, std::move(semaphores), std::move(counts),
                        producer, consumer);
}

}  // namespace polyhalite
