// LoopTree: where each stage's loops stand, as an immutable value. Loops are integers; names print.
//
//   tree  ::= block                       at the root
//   block ::= node*
//   node  ::= loop ID { block }           drives one stage's dimension (several with compute_with)
//           | stage FUNC.S                leaf: one instance of a definition
//           | allocate FUNC { block }     storage lives for the block
//           | branch CONDITION { block } else { block }     (specialize)
//           | fork { block } { block }                       (async)
//
// A Func's production (its stages' loop nests, in order) stands in the block of its compute level,
// before the consumer's nest in that block. Its allocation encloses production and uses in the
// block of its store level. Outputs have no allocation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "polyhalite/tail_strategy.h"

namespace polyhalite {

enum class LoopKind : uint8_t { Serial, Parallel, Vector, Unrolled, GpuBlock, GpuThread, GpuLane };
/// "serial", "parallel", "vector", "unrolled", "gpu_block", "gpu_thread", "gpu_lane".
const char *loop_kind_name(LoopKind kind);
/// "GuardWithIf"...
const char *tail_strategy_name(TailStrategy tail);

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
  enum Kind : uint8_t { Split, Fuse } kind;
  std::string a, b, c;  // Split: a -> outer b, inner c.  Fuse: outer a, inner b -> c.
  Expr factor;          // Split
  TailStrategy tail = TailStrategy::Auto;  // Split; resolved: never Auto after the freeze
  SourceLocation where;                    // of the directive
};

/// A loop of a stage's nest.
struct LoopInfo {
  int id = -1;
  StageId stage;      // whose nest it belongs to
  std::string dim;    // the dimension, as derivations and surveys name it: "yo", "x.1"
  std::string label;  // what the user calls the loop, for messages: "yo", "x"
  std::string name;   // unique in the pipeline, for printing and IR: FUNC.sSTAGE.LABEL
  LoopKind kind = LoopKind::Serial;
  bool is_reduction = false;  // comes from reduction variables (wholly or, fused, partly)
  SourceLocation where;       // of the directive that made or marked it, else the definition
};

struct StageNest {
  std::vector<Derivation> derivations;
  std::vector<int> loops;  // ids, outermost first
};

struct TreeNode;
using Tree = std::shared_ptr<const TreeNode>;

struct TreeNode {
  enum Kind : uint8_t { Loop, Stage, Allocate, Branch, Fork } kind;
  int loop = -1;                // Loop
  StageId stage;                // Stage; Allocate: stage.func
  Expr condition;               // Branch
  std::vector<Tree> children;   // Loop, Allocate; Branch: the then part
  std::vector<Tree> otherwise;  // Branch: else part; Fork: second part
  uint64_t hash = 0;            // of the whole subtree, set at construction
};

Tree make_loop(int loop, std::vector<Tree> children);
Tree make_stage(StageId stage);
Tree make_allocate(int func, std::vector<Tree> children);

/// Where a func is computed or stored: a loop's id, or kRoot.
inline constexpr int kRoot = -1;

struct FuncPlacement {
  int compute = kRoot;
  int store = kRoot;
  SourceLocation compute_where, store_where;
};

struct BoundDirective {  // bound(x, min, extent): a promise checked at entry
  int func;
  int dimension;
  Expr min, extent;
  SourceLocation where;
};

struct LoopTree {
  Algorithm algorithm;                        // after inlining: every func is materialised
  std::vector<LoopInfo> loops;                // [id]
  std::vector<std::vector<StageNest>> nests;  // [func][stage]
  std::vector<FuncPlacement> placements;      // [func]
  std::vector<BoundDirective> bounds;
  std::vector<Tree> roots;
  std::vector<Directive> directives;  // the whole list that gave this tree
  uint64_t hash = 0;

  const StageNest &nest(StageId s) const { return nests[s.func][s.stage]; }
  const StageDef &definition(StageId s) const { return algorithm.funcs[s.func].stages[s.stage]; }
  const FuncDef &func(StageId s) const { return algorithm.funcs[s.func]; }
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
