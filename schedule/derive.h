// derive: a stage's loop dimensions, from its definition and its split, fuse, reorder, rename and
// kind directives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"

namespace polyhalite {

/// Of a split: extents that are rounded up to a multiple of it still fit int32.
inline constexpr int64_t kMaxFactor = int64_t{1} << 30;

/// Of a skew or a shift: sums of counters fit int32.
inline constexpr int64_t kMaxSkew = int64_t{1} << 20;

struct LoopDimension {
  std::string name;   // unambiguous, see Derivation
  std::string label;  // the user's; unique among the stage's current dimensions
  LoopKind kind = LoopKind::Serial;
  Partition partition = Partition::Auto;
  bool is_reduction = false;
  bool is_variable = false;       // of the algorithm
  bool is_fused = false;          // made by a fuse, or split from such a one
  bool is_inside = false;         // the inner loop of a split, or made of such a one; or skewed,
                                  // reversed or shifted: whole tiles of it enlarge nothing
  bool is_extern = false;         // the C function of an extern stage runs it: no loop of the tree
  bool is_predicated = false;     // the inner loop of a split that predicates loads or stores
  std::optional<int64_t> extent;  // where it is the same for every run; of pure variables never
  std::optional<int64_t> bound;   // of these, and of what they are fused to: as bound() gives it
  SourceLocation where;
};

struct StageDimensions {
  std::string func;
  int stage = 0;
  bool in_place = false;
  std::vector<LoopDimension> loops;  // outermost first
  std::vector<Derivation> derivations;
};

/// The loops that a stage has by default. Of a pure definition: its arguments, the first innermost.
/// Of an update: its reduction variables, the first innermost; outside them the pure variables that
/// its left side has, the first argument innermost. Of an extern stage: its arguments too; its C
/// function runs them, until a directive makes loops of them.
StageDimensions default_dimensions(const FuncDef &func, int stage);

/// `dims` after one directive of this stage. Throws CompileError.
StageDimensions derive(const StageDimensions &dims, const Directive &directive);

/// The problem of a finished list of loops, if it has one: a parallel loop inside a vector loop, a
/// loop inside one that a C function runs.
std::optional<Diagnostic> why_broken(const StageDimensions &dims);

/// Does it speak of one stage, so that a branch of the stage starts with it?
bool is_of_stage(DirectiveKind kind);

/// "parallelize", "compute"...: what a directive does, for messages.
const char *directive_verb(DirectiveKind kind);

/// "yo, yi, x": outermost first; "none".
std::string loop_list(const StageDimensions &dims);

}  // namespace polyhalite
