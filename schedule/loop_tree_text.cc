#include <sstream>

#include "lang/ir/expr_text.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

namespace {

// for blur_y.s0.yo parallel
//   blur_y.s0: y -> yo, yi by 32 ShiftInwards; c, x -> t
void print(std::ostream &os, const LoopTree &t, const Tree &node, int depth) {
  os << std::string(2 * depth, ' ');

  switch (node->kind) {
    case TreeNode::Loop: {
      const LoopInfo &l = t.loops[node->loop];
      os << "for " << quote_name(l.name) << " " << loop_kind_name(l.kind);
      if (l.is_reduction) os << " reduction";
      if (l.partition != Partition::Auto) os << " partition " << partition_name(l.partition);
      if (l.dim != l.label) os << " of " << quote_name(l.dim);
      os << "\n";
      break;
    }
    case TreeNode::Stage: {
      os << quote_name(t.func(node->stage).name + ".s" + std::to_string(node->stage.stage));
      const StageNest &nest = t.nest(node->stage);
      if (nest.atomic) os << (nest.any_order ? " atomic any_order" : " atomic");
      if (nest.allow_races) os << " allow_races";
      if (nest.stream_stores) os << " stream_stores";
      for (size_t i = 0; i < nest.stream_loads.size(); i++) {
        os << (i ? ", " : " stream_loads ") << quote_name(nest.stream_loads[i]);
      }
      if (const TensorLoops *tensor = t.tensor(node->stage)) {
        os << " tensorize " << quote_string(tensor->instruction) << " over ";
        for (size_t i = 0; i < tensor->loops.size(); i++) {
          os << (i ? ", " : "") << quote_name(tensor->loops[i]);
        }
      }
      // f.s1 with g.s0 over y AlignStart, x NoAlign
      const std::vector<SharedLoop> &shared = nest.shared;
      for (size_t i = 0; i < shared.size(); i++) {
        const StageId leader = shared[i].leader;
        if (i == 0) {
          os << " with " << quote_name(t.func(leader).name + ".s" + std::to_string(leader.stage))
             << " over ";
        }
        os << (i ? ", " : "") << quote_name(shared[i].dim) << " "
           << align_strategy_name(shared[i].align);
      }
      const char *separator = ": ";
      for (const Derivation &d : t.nest(node->stage).derivations) {
        os << separator;
        separator = "; ";
        if (d.kind == Derivation::Fuse) {
          os << quote_name(d.a) << ", " << quote_name(d.b) << " -> " << quote_name(d.c);
        } else if (is_linear(d)) {
          os << quote_name(d.a) << " -> " << quote_name(d.c);
          if (d.kind == Derivation::Skew) {
            os << " skew " << to_text(d.factor) << " of " << quote_name(d.b);
          } else if (d.kind == Derivation::Shift) {
            os << " shift " << to_text(d.factor);
          } else {
            os << " reverse";
          }
        } else {
          os << quote_name(d.a) << " -> " << quote_name(d.b) << ", " << quote_name(d.c) << " by "
             << to_text(d.factor) << " " << tail_strategy_name(d.tail);
        }
      }
      os << "\n";
      break;
    }
    case TreeNode::Allocate:
      os << "allocate " << quote_name(t.func(node->stage).name) << "\n";
      break;
    case TreeNode::Hoist: {
      const Expr &ring = t.placements[node->stage.func].ring;
      os << "hoist " << quote_name(t.func(node->stage).name);
      if (ring.defined()) os << " ring " << to_text(ring);
      os << "\n";
      break;
    }
    case TreeNode::Branch:
      os << "if " << to_text(node->condition) << "\n";
      break;
    case TreeNode::Fork:
      os << "fork " << quote_name(t.func(node->stage).name) << "\n";
      break;
  }
  for (const Tree &c : node->children) print(os, t, c, depth + 1);
  if (node->kind != TreeNode::Branch) return;
  os << std::string(2 * depth, ' ') << "else\n";
  for (const Tree &c : node->otherwise) print(os, t, c, depth + 1);
}

// store f in Stack
// store f order 1 0
// store f pack 0 by 16, 1 by 4
// store f memoized evict 7
// store f.y align 8 fold 4 bound n
void print_storage(std::ostream &os, const FuncDef &f, const FuncStorage &s) {
  if (s.memory != MemoryType::Auto) {
    os << "store " << quote_name(f.name) << " in " << memory_type_name(s.memory) << "\n";
  }
  if (!s.order.empty()) {
    os << "store " << quote_name(f.name) << " order";
    for (int d : s.order) os << " " << d;
    os << "\n";
  }
  for (size_t i = 0; i < s.packed.size(); i++) {
    if (i == 0) os << "store " << quote_name(f.name) << " pack";
    os << (i ? ", " : " ") << s.packed[i] << " by " << s.dims[s.packed[i]].block;
    if (i + 1 == s.packed.size()) os << "\n";
  }
  if (s.memoized) {
    os << "store " << quote_name(f.name) << " memoized";
    if (s.eviction.defined()) os << " evict " << to_text(s.eviction);
    os << "\n";
  }
  for (size_t d = 0; d < s.dims.size(); d++) {
    const StorageDimension &dim = s.dims[d];
    if (dim.align == 1 && dim.fold == 0 && !dim.bound.defined()) continue;
    os << "store " << quote_name(f.name + "." + f.args[d]);
    if (dim.align != 1) os << " align " << dim.align;
    if (dim.fold != 0) os << " fold " << dim.fold << (dim.backward ? " backward" : "");
    if (dim.bound.defined()) os << " bound " << to_text(dim.bound);
    os << "\n";
  }
}

}  // namespace

std::string to_text(const LoopTree &t) {
  std::ostringstream os;
  os << "tree 1\n";
  for (const BoundDirective &b : t.bounds) {
    const FuncDef &f = t.algorithm.funcs[b.func];
    os << "bound " << quote_name(f.name + "." + f.args[b.dimension]);
    if (b.min.defined()) os << " from " << to_text(b.min);
    if (b.extent.defined()) os << " extent " << to_text(b.extent);
    if (b.modulus.defined()) os << " multiple " << to_text(b.modulus);
    if (b.remainder.defined()) os << " of " << to_text(b.remainder);
    os << "\n";
  }
  for (size_t f = 0; f < t.storage.size(); f++)
    print_storage(os, t.algorithm.funcs[f], t.storage[f]);
  for (const PrefetchDirective &p : t.prefetches) {
    os << "prefetch " << quote_name(p.target) << " at " << quote_name(t.loops[p.at].name)
       << " from " << quote_name(t.loops[p.from].name) << " by " << to_text(p.offset) << " "
       << prefetch_bound_name(p.strategy) << "\n";
  }
  for (const Tree &r : t.roots) print(os, t, r, 0);
  return os.str();
}

}  // namespace polyhalite
