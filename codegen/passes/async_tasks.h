// Which task of a fork runs which part of the tree, and where tasks wait for each other.
//
// The children of a fork are lowered twice: for the task that produces the Func, and for the one
// that consumes it. Each consumer of the Func has a channel: a semaphore "ready" and, where the
// producer may only run so far ahead, a semaphore "room".
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Which task a subtree is lowered for: of each fork around, by its Func, the one that produces the
/// Func (true) or the one that consumes it.
using TaskView = std::map<int, bool>;

/// Where a task waits for an async Func, and tells that it is done: around the items [first, last]
/// of a block, or inside the only one.
struct AsyncWait {
  int func;
  size_t first, last;
  bool inside;
  int channel;
};

/// The Func whose nest this is, or -1.
int producing_func(const LoopTree &tree, const TreeNode &n);

class AsyncTasks {
 public:
  AsyncTasks(const LoopTree &tree, const Survey &survey) : tree_(tree), survey_(survey) {}

  /// Has the task anything to do in n?
  bool is_kept(const TreeNode &n, const TaskView &view) const;
  /// What the nest of a Func is lowered for, by a task that is to produce it.
  TaskView inside_nest(const TreeNode &n, TaskView view) const;
  /// Does the task only work for a production that is not n's?
  bool is_for_another(const TreeNode &n, const TaskView &view) const;

  /// `waiting`: Funcs whose productions stand in a block around, and that this block waits for.
  std::vector<AsyncWait> find_waits(const std::vector<const TreeNode *> &items,
                                    const TaskView &view, const std::set<int> &waiting);

  /// wait for room; the production; tell every consumer. Of a part of a production: the first where
  /// it begins, the last where it ends there.
  Stmt production(int func, Stmt nests, bool begins, bool ends) const;
  Stmt acquire(const AsyncWait &wait) const;
  /// Undefined where the producer never waits for room.
  Stmt release(const AsyncWait &wait) const;

  /// fork f { ... }  ->  fork (semaphores) { f's productions } and { the rest }
  /// `block` lowers the fork's children for a view. A task of an outer fork that has no part in one
  /// of the two runs the other alone.
  template <typename Block>
  Stmt fork(int func, TaskView view, Block block) {
    view[func] = false;
    channels_[func] = 0;
    const Stmt consumer = block(view);
    consumers_[func] = channels_[func];
    view[func] = true;
    const Stmt producer = block(view);
    if (!consumer.defined() || !producer.defined()) return consumer.defined() ? consumer : producer;
    return make_fork(func, producer, consumer);
  }

 private:
  template <typename Visit>
  bool any_stage(const TreeNode &n, const TaskView &view, Visit visit) const;
  bool uses(const TreeNode &n, const TaskView &view, int func) const;
  std::string semaphore(int func, const char *what, int channel) const;
  bool is_limited(int func) const { return survey_.funcs[func].async->ahead.defined(); }
  Stmt make_fork(int func, const Stmt &producer, const Stmt &consumer) const;

  const LoopTree &tree_;
  const Survey &survey_;
  std::map<int, int> channels_;   // [func] consumers' waits so far
  std::map<int, int> consumers_;  // [func] all of them
};

}  // namespace polyhalite
