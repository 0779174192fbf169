#include "schedule/check_kernels.h"

#include <algorithm>
#include <utility>

#include "lang/ir/expr_text.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

constexpr int kMostDimensions = 3;
constexpr int64_t kMostRing = 8;  // of groups of copies on their way

class KernelCheck {
 public:
  explicit KernelCheck(const LoopTree &tree) : tree_(tree) {}

  void run() { block(tree_.roots); }

 private:
  void block(const std::vector<Tree> &nodes) {
    for (const Tree &n : nodes) node(*n);
  }

  void node(const TreeNode &n) {
    switch (n.kind) {
      case TreeNode::Loop:
        return loop(n);
      case TreeNode::Stage:
        if (kernel_) stage(n.stage);
        return;
      case TreeNode::Allocate:
        if (kernel_) storage(n.stage.func);
        break;
      case TreeNode::Hoist:
        if (!kernel_) break;
        if (tree_.placements[n.stage.func].async) {
          ring(n);
          break;
        }
        refuse_func("hoist the storage of", n.stage.func, "in a kernel memory has no other place",
                    "drop hoist_storage, or hoist it outside of " + loop_text(*kernel_),
                    tree_.placements[n.stage.func].hoist_where);
      case TreeNode::Fork:
        if (!kernel_ || tree_.placements[n.stage.func].ring.defined()) break;
        refuse_func("run asynchronously", n.stage.func,
                    "the threads of a kernel run no tasks, and there is no room for copies ahead",
                    "give it a hoist_storage() and ring_buffer(), or drop async",
                    tree_.placements[n.stage.func].async_where);
      case TreeNode::Branch:
        break;
    }
    block(n.children);
    block(n.otherwise);
  }

  [[noreturn]] void refuse_func(const std::string &verb, int func, const std::string &why,
                                const std::string &fix, SourceLocation where) const {
    user_error("cannot " + verb + " '" + tree_.algorithm.funcs[func].name + "' in a kernel", why,
               fix, std::move(where));
  }

  // Copies of a later iteration of one serial loop are on their way while an earlier one is used.
  void ring(const TreeNode &hoist) const {
    const int func = hoist.stage.func;
    const FuncPlacement &p = tree_.placements[func];
    auto refuse = [&](const std::string &why, const std::string &fix) {
      refuse_func("run asynchronously", func, why, fix, p.async_where);
    };
    int64_t stages = 0;
    if (!p.ring.defined()) {
      refuse("the threads of a kernel run no tasks, and there is no room for copies ahead",
             "give it a ring_buffer(), or drop async");
    }
    if (!is_const_int(p.ring, &stages) || stages < 2 || stages > kMostRing) {
      refuse("its ring has " + to_text(p.ring) + " places",
             "give ring_buffer() a number from 2 to " + std::to_string(kMostRing));
    }
    if (tree_.algorithm.funcs[func].types.size() > 1) {
      refuse("it has several values", "stage each of them in a Func of its own");
    }
    const MemoryType memory = tree_.storage[func].memory;
    if (memory != MemoryType::Auto && memory != MemoryType::GPUShared) {
      refuse("its ring is no memory that the threads of a block share",
             "store_in(MemoryType::GPUShared)");
    }
    if (p.store != p.compute) {
      refuse("it is not stored where it is computed", "drop store_at");
    }
    std::vector<int> loops;
    find_loops(hoist, p.compute, loops);
    const bool one = loops.size() == 1 && tree_.loops[loops[0]].kind == LoopKind::Serial;
    if (phase_ || !one) {
      refuse(
          "between where its storage is hoisted to and where it is computed stands more than "
          "one serial loop",
          "hoist_storage() to the loop over blocks, or the serial one, that is next around the "
          "loop that it is computed at");
    }
  }

  // The loops from n to loop `to`, which is the last.
  bool find_loops(const TreeNode &n, int to, std::vector<int> &loops) const {
    if (n.kind == TreeNode::Loop) {
      loops.push_back(n.loop);
      if (n.loop == to) return true;
    }
    for (const auto *block : {&n.children, &n.otherwise}) {
      for (const Tree &c : *block) {
        if (find_loops(*c, to, loops)) return true;
      }
    }
    if (n.kind == TreeNode::Loop) loops.pop_back();
    return false;
  }

  void storage(int func) const {
    if (!tree_.storage[func].packed.empty()) {
      refuse_func("pack", func, "memory of a kernel is not laid out in blocks",
                  "drop pack, or compute it outside of " + loop_text(*kernel_),
                  tree_.storage[func].pack_where);
    }
    if (!tree_.storage[func].memoized) return;
    refuse_func("memoize", func, "what is kept is kept by the host",
                "drop memoize, or compute it outside of " + loop_text(*kernel_),
                tree_.storage[func].memoize_where);
  }

  void stage(const StageId &s) const {
    const StageDef &def = tree_.definition(s);
    auto refuse = [&](const std::string &why) {
      user_error("cannot run " + tree_.describe(s) + " in a kernel", why,
                 "compute it outside of " + loop_text(*kernel_) + ", on the host", def.where);
    };
    if (is_extern_stage(def)) refuse("its C function runs on the host");
    auto look = [&](const Expr &e) {
      if (!e.defined()) return;
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (n.type().is_handle()) refuse("handles mean nothing on a device");
        if (c && (acts(*c) || is_extern(*c))) {
          refuse("it calls '" + c->name + "', which runs on the host only");
        }
      });
    };
    for (const auto *exprs : {&def.args, &def.values}) {
      for (const Expr &e : *exprs) look(e);
    }
    look(def.predicate);
  }

  std::string loop_text(const LoopInfo &l) const {
    return "loop '" + l.label + "' of " + tree_.describe(l.stage);
  }

  [[noreturn]] void refuse(const LoopInfo &l, const std::string &why,
                           const std::string &fix) const {
    const std::string over = l.kind == LoopKind::GpuBlock    ? "over blocks"
                             : l.kind == LoopKind::GpuThread ? "over threads"
                             : l.kind == LoopKind::GpuLane   ? "over lanes"
                                                             : "in parallel";
    user_error("cannot run " + loop_text(l) + " " + over, why, fix, l.where);
  }

  static const Tree *only_child(const TreeNode &n) {
    return n.children.size() == 1 ? &n.children[0] : nullptr;
  }

  /// The nest of such loops that n begins; what stands inside the innermost is its last node's.
  std::vector<const TreeNode *> nest_of(const TreeNode &n, bool (*belongs)(LoopKind)) const {
    std::vector<const TreeNode *> nest = {&n};
    for (const Tree *next = only_child(n);
         next && (*next)->kind == TreeNode::Loop && belongs(tree_.loops[(*next)->loop].kind);
         next = only_child(*nest.back())) {
      nest.push_back(next->get());
    }
    if (nest.size() > kMostDimensions) {
      refuse(tree_.loops[nest[kMostDimensions]->loop],
             "blocks and threads have at most three dimensions", "fuse loops, or keep some serial");
    }
    return nest;
  }

  void loop(const TreeNode &n) {
    const LoopInfo &l = tree_.loops[n.loop];
    if (l.kind == LoopKind::GpuBlock) return blocks(n);
    if (is_thread_loop(l.kind)) return threads(n);
    if (l.kind == LoopKind::Parallel && kernel_) {
      refuse(l, "it stands in a kernel, in " + loop_text(*kernel_),
             "use gpu_threads, or keep it serial");
    }
    const LoopInfo *at_once = at_once_;
    if (l.kind == LoopKind::Parallel || l.kind == LoopKind::Vector) at_once_ = &l;
    block(n.children);
    at_once_ = at_once;
  }

  void blocks(const TreeNode &n) {
    const LoopInfo &l = tree_.loops[n.loop];
    if (kernel_ && kernel_->stage == l.stage) {
      refuse(l, "it does not stand directly inside " + loop_text(*innermost_block_),
             "reorder the loops over blocks next to each other, outermost");
    }
    if (kernel_) {
      refuse(l, tree_.describe(l.stage) + " is computed in a kernel, in " + loop_text(*kernel_),
             "compute it outside of that loop, or give its loops to threads of that kernel");
    }
    if (at_once_) {
      refuse(l,
             "kernels are launched one after the other, and iterations of " + loop_text(*at_once_) +
                 " run at once",
             "keep '" + at_once_->label + "' serial");
    }
    const auto nest = nest_of(n, [](LoopKind k) { return k == LoopKind::GpuBlock; });
    kernel_ = &l;
    innermost_block_ = &tree_.loops[nest.back()->loop];
    block(nest.back()->children);
    kernel_ = innermost_block_ = nullptr;
  }

  void threads(const TreeNode &n) {
    const LoopInfo &l = tree_.loops[n.loop];
    if (!kernel_) {
      refuse(l, "no loop over blocks is around it", "mark a loop around it with gpu_blocks");
    }
    if (at_once_) {
      refuse(l, loop_text(*at_once_) + " around it is a vector", "keep that loop serial");
    }
    if (phase_ && phase_->stage == l.stage) {
      refuse(l, "it does not stand directly inside " + loop_text(*phase_),
             "reorder the loops over threads next to each other, and compute at the innermost "
             "of them what is computed between them");
    }
    if (phase_) {
      refuse(l, tree_.describe(l.stage) + " is computed by one thread, in " + loop_text(*phase_),
             "compute it at a loop over blocks, or keep its loops serial");
    }
    const auto nest = nest_of(n, is_thread_loop);
    for (size_t i = 0; i + 1 < nest.size(); i++) {
      const LoopInfo &lanes = tree_.loops[nest[i]->loop];
      if (lanes.kind != LoopKind::GpuLane) continue;
      refuse(lanes, "lanes are the innermost threads",
             "reorder '" + lanes.label + "' inside the other loops over threads");
    }
    phase_ = &tree_.loops[nest.back()->loop];
    block(nest.back()->children);
    phase_ = nullptr;
  }

  const LoopTree &tree_;
  const LoopInfo *kernel_ = nullptr, *innermost_block_ = nullptr, *phase_ = nullptr;
  const LoopInfo *at_once_ = nullptr;  // a parallel or vector loop around
};

}  // namespace

void check_kernels(const LoopTree &tree) { KernelCheck(tree).run(); }

}  // namespace polyhalite
