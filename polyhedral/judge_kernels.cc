// (g) kernels. The threads of a block are counted here. What their phases do to each other's memory
// is asked of loop IR, where barriers stand (codegen/passes/prove_barriers.h). Blocks share no
// barrier: of what is stored outside of a kernel and produced in it, claim (d) has shown that each
// block writes cells of its own, and each block reads what its own production wrote.
#include <algorithm>
#include <array>

#include "polyhedral/judge_context.h"

namespace polyhalite {

namespace {

constexpr int64_t kMostThreads = 1024;

struct Threads {
  std::array<int64_t, 3> extents = {1, 1, 1};  // the largest of each dimension, innermost first
  std::array<int, 3> loops = {-1, -1, -1};     // whose they are
};

// The nests of loops over threads below `nodes`.
void find_threads(const JudgeContext &c, const std::vector<Tree> &nodes, Threads &found) {
  for (const Tree &n : nodes) {
    std::vector<int> nest;  // outermost first
    const TreeNode *at = n.get();
    while (at->kind == TreeNode::Loop && is_thread_loop(c.tree.loops[at->loop].kind)) {
      nest.push_back(at->loop);
      if (at->children.size() != 1) break;
      at = at->children[0].get();
    }
    if (nest.empty()) {
      find_threads(c, n->children, found);
      find_threads(c, n->otherwise, found);
      continue;
    }
    std::reverse(nest.begin(), nest.end());
    for (size_t d = 0; d < nest.size() && d < found.extents.size(); d++) {
      int64_t extent = 1;
      is_const_int(c.survey.loops[nest[d]].extent, &extent);
      if (extent <= found.extents[d]) continue;
      found.extents[d] = extent;
      found.loops[d] = nest[d];
    }
  }
}

void judge_kernel(JudgeContext &c, const TreeNode &n) {
  const LoopInfo &outermost = c.tree.loops[n.loop];
  const std::string about = "kernel of " + c.tree.describe(outermost.stage);
  Threads threads;
  find_threads(c, n.children, threads);
  int64_t count = 1;
  std::string sizes;
  const LoopInfo *widest = nullptr;
  for (size_t d = 0; d < threads.extents.size(); d++) {
    count *= threads.extents[d];
    sizes += (d ? " x " : "") + std::to_string(threads.extents[d]);
    if (threads.loops[d] >= 0) widest = &c.tree.loops[threads.loops[d]];
  }
  if (count > kMostThreads && widest) {
    // The first thread that a block cannot have.
    Instance beyond{widest->stage, {}};
    int64_t number = kMostThreads;
    for (size_t d = 0; d < threads.extents.size(); d++) {
      const int64_t at = number % threads.extents[d];
      number /= threads.extents[d];
      if (threads.loops[d] >= 0) beyond.at.push_back({c.tree.loops[threads.loops[d]].label, at});
    }
    const std::string beyond_text = instance_text(beyond);
    c.refuse({'g',
              Proof::Structural,
              {"cannot run loop '" + widest->label + "' of " + c.tree.describe(widest->stage) +
                   " over threads: a block would have " + std::to_string(count) + " threads",
               "its phases have " + sizes + " threads at most, and a block has at most " +
                   std::to_string(kMostThreads) + ", which end before " + beyond_text,
               "split the loop, and keep a part of it serial", widest->where},
              {std::move(beyond)},
              {}});
    return;
  }
  c.certify('g', about, Proof::Structural,
            "blocks write cells of their own; barriers are proven where they stand");
}

void judge_below(JudgeContext &c, const std::vector<Tree> &nodes) {
  for (const Tree &n : nodes) {
    if (c.refused()) return;
    if (n->kind == TreeNode::Loop && c.tree.loops[n->loop].kind == LoopKind::GpuBlock) {
      judge_kernel(c, *n);
      continue;
    }
    judge_below(c, n->children);
    judge_below(c, n->otherwise);
  }
}

}  // namespace

void judge_kernels(JudgeContext &c) { judge_below(c, c.tree.roots); }

}  // namespace polyhalite
