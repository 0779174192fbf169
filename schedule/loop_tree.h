// LoopTree: where each stage's loops stand, as an immutable value. Loops are integers; names print.
//
//   tree  ::= block                       at the root
//   block ::= node*
//   node  ::= loop ID { block }           drives one stage's dimension (several with compute_with)
//           | stage FUNC.S                leaf: one instance of a definition
//           | allocate FUNC { block }     storage lives for the block
//           | hoist FUNC [ring N] { block } the memory of FUNC's storage, which lives inside
//           | branch CONDITION { block } else { block }     (specialize)
//           | fork FUNC { block }         productions of FUNC inside run in a task beside the rest
//
// A Func's production (its stages' loop nests, in order) stands in the block of its compute level,
// before the consumer's nest in that block. Its allocation encloses production and uses in the
// block of its store level. Outputs have no allocation. Where the storage is hoisted, its memory is
// taken once in the block of the hoist level; what it holds still ends with the allocation. A ring
// of N is N such memories that storages take one after the other.
// A fork stands around all that the storage encloses, or all that a ring does. Both tasks run the
// loops between it and the productions; codegen's lowering makes two copies of them, and waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "polyhalite/choices.h"
#include "polyhalite/tail_strategy.h"

namespace polyhalite {

enum class LoopKind : uint8_t { Serial, Parallel, Vector, Unrolled, GpuBlock, GpuThread, GpuLane };
/// "serial", "parallel", "vector", "unrolled", "gpu_block", "gpu_thread", "gpu_lane".
const char *loop_kind_name(LoopKind kind);
/// Loops of kernels: over blocks, threads or lanes.
bool is_gpu_loop(LoopKind kind);
/// Loops over threads or lanes.
bool is_thread_loop(LoopKind kind);
/// May iterations of the loop run at the same time?
bool runs_at_once(LoopKind kind);
/// All that a loop tree may have, which Auto is not; and their names, "RoundUp, GuardWithIf...".
const std::vector<TailStrategy> &tail_strategies();
std::string tail_strategy_names();

struct StageId {
  int func = -1;  // index in LoopTree::algorithm.funcs
  int stage = 0;
  bool operator==(const StageId &o) const { return func == o.func && stage == o.stage; }
  bool operator<(const StageId &o) const {
    return func != o.func ? func < o.func : stage < o.stage;
  }
};

/// How dimensions of a stage come out of others, in the order in which directives made them.
///
/// Dimension names are unambiguous within the stage. An algorithm variable's dimension has the
/// variable's name; a derived one has the name that its directive gave, with ".1", ".2"... where
/// that name is taken: split(x, x, xi, 8) derives x -> "x.1", "xi". A rename changes a loop's label
/// only.
struct Derivation {
  enum Kind : uint8_t { Split, Fuse, Skew, Reverse, Shift } kind;
  // Split: a -> outer b, inner c.  Fuse: outer a, inner b -> c.
  // Skew: c = a + factor*b, and b stays.  Reverse: c = -a.  Shift: c = a + factor.
  std::string a, b, c;
  Expr factor;                             // Split; of Skew and Shift a constant
  TailStrategy tail = TailStrategy::Auto;  // Split; resolved: never Auto after the freeze
  SourceLocation where = {};               // of the directive
};

/// What a skew, reverse or shift puts in the place of a:  c = sign*a + skew*b + offset.
struct LinearStep {
  int64_t sign = 1, skew = 0, offset = 0;
};
bool is_linear(const Derivation &d);
/// Of a derivation that is linear.
LinearStep linear_step(const Derivation &d);

/// A loop of a stage's nest.
struct LoopInfo {
  int id = -1;
  StageId stage;      // whose nest it belongs to
  std::string dim;    // the dimension, as derivations and surveys name it: "yo", "x.1"
  std::string label;  // what the user calls the loop, for messages: "yo", "x"
  std::string name;   // unique in the pipeline, for printing and IR: FUNC.sSTAGE.LABEL
  LoopKind kind = LoopKind::Serial;
  Partition partition = Partition::Auto;
  bool is_reduction = false;  // comes from reduction variables (wholly or, fused, partly)
  std::vector<StageId> also;  // the stages that share it
  SourceLocation where;       // of the directive that made or marked it, else the definition
};

/// A loop of another stage that drives a dimension of this one (compute_with).
struct SharedLoop {
  StageId leader;   // the stage that the directive names; it has the loop at the same depth
  std::string dim;  // this stage's dimension
  bool is_reduction = false;
  LoopAlignStrategy align = LoopAlignStrategy::NoAlign;  // to the leader's range
  SourceLocation where;                                  // of the directive
};

struct StageNest {
  std::vector<Derivation> derivations;
  std::vector<int> loops;                 // ids, outermost first
  std::vector<SharedLoop> shared;         // the first of `loops`, where other stages lead them
  bool atomic = false;                    // updates of a cell are made one by one
  bool any_order = false;                 // a promise: their order does not matter
  bool allow_races = false;               // a promise: iterations that touch one cell do no harm
  bool stream_stores = false;             // its stores go past the caches
  int tensor = -1;                        // which of the tree's TensorLoops it has; -1: none
  std::vector<std::string> stream_loads;  // so do its reads of these Funcs and images; sorted
};

struct TreeNode;
using Tree = std::shared_ptr<const TreeNode>;

struct TreeNode {
  enum Kind : uint8_t { Loop, Stage, Allocate, Hoist, Branch, Fork } kind;
  int loop = -1;                // Loop
  StageId stage;                // Stage; Allocate, Hoist, Fork: stage.func
  Expr condition;               // Branch
  std::vector<Tree> children;   // Loop, Allocate, Hoist, Fork; Branch: the then part
  std::vector<Tree> otherwise;  // Branch: else part
  uint64_t hash = 0;            // of the whole subtree, set at construction
};

Tree make_loop(int loop, std::vector<Tree> children);
Tree make_stage(StageId stage);
Tree make_allocate(int func, std::vector<Tree> children);
Tree make_hoist(int func, std::vector<Tree> children);
Tree make_fork(int func, std::vector<Tree> children);
Tree make_branch(Expr condition, std::vector<Tree> children, std::vector<Tree> otherwise);

/// Where a func is computed or stored: a loop's id, or kRoot.
inline constexpr int kRoot = -1;

struct FuncPlacement {
  int compute = kRoot;
  int store = kRoot;
  std::optional<int> hoist;  // where the storage's memory is taken, if not with the storage
  Expr ring;                 // how many storages the hoisted memory has; null: one
  bool async = false;        // productions run in a task of their own
  SourceLocation compute_where, store_where, hoist_where, async_where;

  /// The level of what both tasks of an async Func share.
  int fork_level() const { return hoist && ring.defined() ? *hoist : store; }
};

/// bound(x, min, extent), bound_extent (no min): a promise checked at entry. align_bounds,
/// align_extent (no remainder): the region grows.
struct BoundDirective {
  int func = -1;
  int dimension = -1;
  Expr min, extent;
  Expr modulus, remainder;
  SourceLocation where;
};

struct StorageDimension {
  int64_t align = 1;      // the extent in memory is a multiple of it
  int64_t block = 1;      // cells of a block of a packed dimension
  int64_t fold = 0;       // the ring's size, 0: none is asked for
  bool backward = false;  // the ring's window moves down
  Expr bound;             // the extent in memory, or null
  SourceLocation fold_where, bound_where;

  /// What the extent in memory is rounded up to.
  int64_t multiple() const { return std::lcm(align, block); }
};

/// How a Func is stored: reorder_storage, align_storage, pack, fold_storage, bound_storage,
/// store_in, memoize.
struct FuncStorage {
  std::vector<int> order;   // dimensions, innermost in memory first; empty: 0, 1, 2...
  std::vector<int> packed;  // dimensions in blocks; places in these lie innermost, in this order
  std::vector<StorageDimension> dims;
  MemoryType memory = MemoryType::Auto;
  bool memoized = false;  // productions are kept beyond the run
  Expr eviction;          // the key by which they are dropped; null: none
  SourceLocation memory_where, memoize_where, pack_where;
};

/// At the top of loop `at`'s body, what iteration `from` + offset of the body reads of `target` is
/// asked for.
struct PrefetchDirective {
  std::string target;      // a Func or an image
  int at = -1, from = -1;  // loops
  Expr offset;
  PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf;
  SourceLocation where;
};

/// Of loops that one instruction of a warp stands for.
struct TensorLoops {
  std::string instruction;
  std::vector<std::string> loops;  // labels, m first: the innermost loops of the stage
  SourceLocation where;
};

struct LoopTree {
  Algorithm algorithm;                        // after inlining: every func is materialised
  std::vector<LoopInfo> loops;                // [id]
  std::vector<std::vector<StageNest>> nests;  // [func][stage]
  std::vector<FuncPlacement> placements;      // [func]
  std::vector<FuncStorage> storage;           // [func]
  std::vector<BoundDirective> bounds;
  std::vector<PrefetchDirective> prefetches;
  std::vector<Tree> roots;
  std::vector<Directive> directives;  // the whole list that gave this tree
  /// Copies that the tree has of a Func -> the Func as directives name it.
  std::map<std::string, std::string> origins;
  uint64_t hash = 0;
  std::vector<TensorLoops> tensors;

  /// Null where no instruction stands for loops of the stage.
  const TensorLoops *tensor(StageId s) const {
    const int at = nest(s).tensor;
    return at < 0 ? nullptr : &tensors[static_cast<size_t>(at)];
  }
  const StageNest &nest(StageId s) const { return nests[s.func][s.stage]; }
  const StageDef &definition(StageId s) const { return algorithm.funcs[s.func].stages[s.stage]; }
  const FuncDef &func(StageId s) const { return algorithm.funcs[s.func]; }
  /// The dimension of stage s that its loop number i drives, and whether reductions made it.
  const std::string &dim(StageId s, size_t i) const {
    const StageNest &n = nest(s);
    return i < n.shared.size() ? n.shared[i].dim : loops[n.loops[i]].dim;
  }
  bool is_reduction(StageId s, size_t i) const {
    const StageNest &n = nest(s);
    return i < n.shared.size() ? n.shared[i].is_reduction : loops[n.loops[i]].is_reduction;
  }
  /// Is it an update, or a branch of one?
  bool is_update(StageId s) const { return func(s).is_update(s.stage); }
  const std::string &origin_of(const std::string &func) const {
    const auto it = origins.find(func);
    return it == origins.end() ? func : it->second;
  }
  /// "'blur_y'" or "update 0 of 'acc'", quoted for messages.
  std::string describe(StageId s) const;
};

/// The same for a stage that is in no tree yet.
std::string describe_stage(const std::string &func, int stage);

/// Of all that makes the tree: the algorithm, loops, derivations, bounds and nodes.
uint64_t tree_hash(const LoopTree &t);

/// Golden text: the tree indented, one node a line, kinds and tails shown. parse_tree.h reads it.
std::string to_text(const LoopTree &t);

}  // namespace polyhalite
