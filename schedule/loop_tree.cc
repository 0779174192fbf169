#include "schedule/loop_tree.h"

#include <functional>

#include "lang/ir/expr_text.h"

namespace polyhalite {

namespace {

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

Tree finish(TreeNode n) {
  uint64_t h = mix(n.kind, static_cast<uint64_t>(n.loop));
  h = mix(h, static_cast<uint64_t>(n.stage.func));
  h = mix(h, static_cast<uint64_t>(n.stage.stage));
  if (n.condition.defined()) h = mix(h, structural_hash(n.condition));
  for (const Tree &c : n.children) h = mix(h, c->hash);
  for (const Tree &c : n.otherwise) h = mix(h, ~c->hash);
  n.hash = h;
  return std::make_shared<const TreeNode>(std::move(n));
}

}  // namespace

const char *loop_kind_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::Serial:
      return "serial";
    case LoopKind::Parallel:
      return "parallel";
    case LoopKind::Vector:
      return "vector";
    case LoopKind::Unrolled:
      return "unrolled";
    case LoopKind::GpuBlock:
      return "gpu_block";
    case LoopKind::GpuThread:
      return "gpu_thread";
    case LoopKind::GpuLane:
      return "gpu_lane";
  }
  return "";
}

bool is_gpu_loop(LoopKind kind) { return kind == LoopKind::GpuBlock || is_thread_loop(kind); }

bool is_thread_loop(LoopKind kind) {
  return kind == LoopKind::GpuThread || kind == LoopKind::GpuLane;
}

bool runs_at_once(LoopKind kind) {
  return kind == LoopKind::Parallel || kind == LoopKind::Vector || is_gpu_loop(kind);
}

bool is_linear(const Derivation &d) {
  return d.kind == Derivation::Skew || d.kind == Derivation::Reverse || d.kind == Derivation::Shift;
}

LinearStep linear_step(const Derivation &d) {
  LinearStep step;
  if (d.kind == Derivation::Skew) is_const_int(d.factor, &step.skew);
  if (d.kind == Derivation::Shift) is_const_int(d.factor, &step.offset);
  if (d.kind == Derivation::Reverse) step.sign = -1;
  return step;
}

const std::vector<TailStrategy> &tail_strategies() {
  static const std::vector<TailStrategy> kAll = {TailStrategy::RoundUp,
                                                 TailStrategy::GuardWithIf,
                                                 TailStrategy::Predicate,
                                                 TailStrategy::PredicateLoads,
                                                 TailStrategy::PredicateStores,
                                                 TailStrategy::ShiftInwards,
                                                 TailStrategy::ShiftInwardsAndBlend,
                                                 TailStrategy::RoundUpAndBlend};
  return kAll;
}

std::string tail_strategy_names() {
  std::string names;
  for (TailStrategy t : tail_strategies()) {
    names += (names.empty() ? "" : ", ") + std::string(tail_strategy_name(t));
  }
  return names;
}

Tree make_loop(int loop, std::vector<Tree> children) {
  TreeNode n;
  n.kind = TreeNode::Loop;
  n.loop = loop;
  n.children = std::move(children);
  return finish(std::move(n));
}

Tree make_stage(StageId stage) {
  TreeNode n;
  n.kind = TreeNode::Stage;
  n.stage = stage;
  return finish(std::move(n));
}

Tree make_allocate(int func, std::vector<Tree> children) {
  TreeNode n;
  n.kind = TreeNode::Allocate;
  n.stage.func = func;
  n.children = std::move(children);
  return finish(std::move(n));
}

Tree make_hoist(int func, std::vector<Tree> children) {
  TreeNode n;
  n.kind = TreeNode::Hoist;
  n.stage.func = func;
  n.children = std::move(children);
  return finish(std::move(n));
}

Tree make_fork(int func, std::vector<Tree> children) {
  TreeNode n;
  n.kind = TreeNode::Fork;
  n.stage.func = func;
  n.children = std::move(children);
  return finish(std::move(n));
}

Tree make_branch(Expr condition, std::vector<Tree> children, std::vector<Tree> otherwise) {
  TreeNode n;
  n.kind = TreeNode::Branch;
  n.condition = std::move(condition);
  n.children = std::move(children);
  n.otherwise = std::move(otherwise);
  return finish(std::move(n));
}

std::string describe_stage(const std::string &func, int stage) {
  std::string quoted = "'" + func + "'";
  return stage == 0 ? quoted : "update " + std::to_string(stage - 1) + " of " + quoted;
}

uint64_t tree_hash(const LoopTree &t) {
  uint64_t h = 0;
  auto add = [&](uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull + (h >> 29); };
  auto add_text = [&](const std::string &s) { add(std::hash<std::string>()(s)); };
  auto add_expr = [&](const Expr &e) { add(e.defined() ? structural_hash(e) : 0); };
  // Not by its text: in text, what expressions share is written out each time.
  for (const AlgorithmInput &i : t.algorithm.inputs) {
    add_text(i.param->name + ": " + i.param->type.to_string());
    add(static_cast<uint64_t>(i.param->is_buffer ? i.param->dimensions : -1));
    add_expr(i.param->min_value);
    add_expr(i.param->max_value);
    for (const ParameterContents::DimConstraint &d : i.param->dims) {
      for (const Expr &e : {d.min, d.extent, d.stride}) add_expr(e);
    }
  }
  for (const std::string &output : t.algorithm.outputs) add_text(output);
  for (const FuncDef &f : t.algorithm.funcs) {
    add_text(f.name);
    for (const std::string &a : f.args) add_text(a);
    for (const StageDef &s : f.stages) {
      add(s.args.size());
      for (const Expr &e : s.args) add_expr(e);
      for (const Expr &e : s.values) add_expr(e);
      for (const ReductionVariable &r : s.rvars) {
        add_text(r.var);
        add_expr(r.min);
        add_expr(r.extent);
      }
      add_expr(s.predicate);
    }
  }
  for (const LoopInfo &l : t.loops) {
    add(std::hash<std::string>()(l.name));
    add(std::hash<std::string>()(l.dim));
    add(static_cast<uint64_t>(l.kind));
    add(static_cast<uint64_t>(l.partition));
  }
  for (const auto &stages : t.nests) {
    for (const StageNest &n : stages) {
      add(n.stream_stores);
      for (const std::string &l : n.stream_loads) add(std::hash<std::string>()(l));
      for (const SharedLoop &s : n.shared) {
        add(std::hash<std::string>()(s.dim));
        add(static_cast<uint64_t>(s.leader.func) * 4096 + s.leader.stage * 8 +
            static_cast<uint64_t>(s.align));
      }
      for (const Derivation &d : n.derivations) {
        add(std::hash<std::string>()(d.a + "," + d.b + "," + d.c));
        add(static_cast<uint64_t>(d.kind) * 16 + static_cast<uint64_t>(d.tail));
        if (d.factor.defined()) add(structural_hash(d.factor));
      }
    }
  }
  for (const BoundDirective &b : t.bounds) {
    add(static_cast<uint64_t>(b.func) * 64 + b.dimension);
    for (const Expr &e : {b.min, b.extent, b.modulus, b.remainder}) {
      add(e.defined() ? structural_hash(e) : 0);
    }
  }
  for (const FuncStorage &s : t.storage) {
    for (int d : s.order) add(static_cast<uint64_t>(d) + 1);
    for (int d : s.packed) add(static_cast<uint64_t>(d) + 1);
    for (const StorageDimension &d : s.dims) {
      add(static_cast<uint64_t>(d.block));
      add(static_cast<uint64_t>(d.align) * 2 + d.backward);
      add(static_cast<uint64_t>(d.fold));
      add(d.bound.defined() ? structural_hash(d.bound) : 0);
    }
    add(static_cast<uint64_t>(s.memory));
    if (s.memoized) add(s.eviction.defined() ? structural_hash(s.eviction) : 1);
  }
  for (const PrefetchDirective &p : t.prefetches) {
    add(std::hash<std::string>()(p.target));
    add(static_cast<uint64_t>(p.at) * 64 + static_cast<uint64_t>(p.from));
    add(structural_hash(p.offset));
    add(static_cast<uint64_t>(p.strategy));
  }
  for (const TensorLoops &tensor : t.tensors) {
    add(std::hash<std::string>()(tensor.instruction));
    for (const std::string &l : tensor.loops) add(std::hash<std::string>()(l));
  }
  for (const FuncPlacement &p : t.placements) {
    if (p.ring.defined()) add(structural_hash(p.ring));
  }
  for (const Tree &r : t.roots) add(r->hash);
  return h;
}

std::string LoopTree::describe(StageId s) const {
  const int known = func(s).definition_of(s.stage);
  const std::string &called = func(s).stages[known].called;
  const std::string text = called.empty() ? describe_stage(func(s).name, known) : called;
  const Expr when = definition(s).when;
  return when.defined() ? text + " specialized for " + to_text(when) : text;
}

}  // namespace polyhalite
