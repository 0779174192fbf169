// The region engine: symbolic intervals, no isl. For every loop its bounds, for every Func the box
// that is computed at its compute level and stored at its store level, for every input the box that
// is read. isl judges exactly these boxes; lowering emits exactly these loops.
//
// Everything is an Int(32) expression over loop counters (VariableKind::Loop), parameters, buffer
// fields and symbols (VariableKind::Symbol). A symbol is a scalar with a name, bound once at the
// top of a loop's body (or at the root): a split's base, a region's bound that is not affine.
//
//   for blur_y.s0.yo in [0, (blur_y.extent.1 + 31)/32)
//     let blur_y.s0.yo.base = min(yo*32 + blur_y.min.1, blur_y.min.1 + blur_y.extent.1 - 32)
//     compute blur_x over y in [base - 1, base + 32], x in ...
//     for blur_y.s0.yi in [0, 32)            y = base + yi
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/loop_tree.h"

namespace polyhalite {

/// Inclusive on both ends.
struct IndexRange {
  Expr min, max;
};
using Box = std::vector<IndexRange>;

struct Symbol {
  std::string name;
  Expr value;  // over loops and symbols outside of, or earlier in, its loop
  Expr lower,
      upper;  // bounds in terms outside its loop, where tighter than those of `value`; or null
};

struct LoopBounds {
  Expr min, extent;             // over what is outside the loop
  std::vector<Symbol> symbols;  // bound at the top of the body, in this order
  bool stays_serial = false;    // was to be unrolled, has no constant extent, and may fail to be
};

/// A condition under which a stage's instance exists: the guard of GuardWithIf, an RDom predicate.
struct Guard {
  /// What runs where the condition does not hold. For the algorithm no instance is there.
  enum Rest : uint8_t {
    Nothing,
    Loads,   // PredicateStores, RoundUpAndBlend: evaluates, and stores nothing
    Stores,  // PredicateLoads: reads nothing, and stores any value
    Blends,  // ShiftInwardsAndBlend: evaluates, and stores the value that is there
  };
  Expr condition;  // over loops and symbols
  SourceLocation where;
  Rest rest = Nothing;
};

/// An index of an access whose bounds rest on values: lowering holds it inside the box that the
/// Func or image has there, so that no NaN and no cell that nobody wrote leads outside of memory.
struct HeldIndex {
  std::string callee;
  size_t dimension;
  Expr index;  // as the definition has it
  /// Where the box is sure to have room for them: what is added to the part that rests on values,
  /// and between what that lies. Else `steps` is null.
  Expr steps, rest, least, most;
};

struct StageSurvey {
  /// Every dimension's value (algorithm variables and those made by splits and fuses) over loops
  /// and symbols. Affine for algorithm variables.
  std::map<std::string, Expr> dims;
  /// The interval that each algorithm variable runs over at the compute level.
  std::map<std::string, IndexRange> ranges;
  /// Of ranges that grew to whole tiles, but whose rest the stage leaves alone: the last point.
  std::map<std::string, Expr> last;
  /// Of ranges that whole tiles made grow: the part whose values somebody uses. Instances beyond it
  /// read what may be anything, and store what nobody uses. Null ends: those of the range.
  std::map<std::string, IndexRange> used;
  std::vector<Guard> guards;
  std::vector<HeldIndex> held;
  /// Of an extern stage: what one call of its C function computes, over the stage's loops.
  Box box;
};

/// The memory of a storage that is hoisted.
struct HoistedStorage {
  std::vector<Expr> extents;  // at the hoist level; at least those of every storage inside
  Expr slot;                  // of the ring, at the store level; 0 without ring
  int owner = -1;             // whose memory it is: the Func's own, or that of another copy of it
};

/// A window that moves one way with a serial loop: what the iteration before needed is kept.
struct Slide {
  int loop = kRoot;
  bool down = false;
  Expr first;  // the first index that is new (the last one of a window that moves down), where
               // tiles make more be computed; else null
};

/// How far the productions of an async Func may run ahead.
struct AsyncSurvey {
  Expr ahead;  // production i + ahead waits until production i has been consumed; null: no limit
};

struct FuncSurvey {
  Box needed;              // what consumers read at the compute level, over what is known there
  Box computed;            // of that, what an iteration computes: all, unless a window slides
  std::vector<Expr> last;  // per dimension, where a tail leaves the rest of grown boxes alone: the
                           // last index that is needed; else null
  // Per dimension, where whole tiles, its own or those of what reads it, make more be computed:
  // what somebody uses. Beyond it values are arbitrary. Null ends: those of `needed`.
  std::vector<IndexRange> used;
  bool read_beyond = false;  // instances whose values nobody uses read cells that nobody computed
  std::vector<std::optional<Slide>> slides;  // per dimension: what the iterations before computed
                                             // is left out
  std::vector<bool> partial;  // per dimension: what is read and never used is left out
  Box stored;  // at the store level; extents are constants where the engine finds one
  /// Constant upper bounds of `stored`'s extents, where known.
  std::vector<std::optional<int64_t>> stored_extent;
  /// Per dimension, 0 or the ring's size: cell i lies at i modulo it. At least as many cells as a
  /// sliding window holds at once.
  std::vector<int64_t> fold;
  std::optional<HoistedStorage> hoisted;
  std::optional<AsyncSurvey> async;
};

/// A condition on parameters that a proof rests on and that the entry checks: "extent at least the
/// factor of a split that shifts inwards".
struct Assumption {
  Expr condition;
  std::string func;
  int dimension = -1;
  std::string text;  // what must hold, for the error message
  Expr actual,
      wanted;  // both numbers, for the message: "extent is ACTUAL, must be at least WANTED"
  SourceLocation where;
  int code = 0;  // what the pipeline returns where it does not hold: a polyhalite_error_code_t
  /// Of bound() and bound_extent(): what the message says in place of the numbers.
  struct Bounds {
    std::string variable;
    IndexRange given, required;
  };
  std::optional<Bounds> bounds;
};

/// What a prefetch asks for, over what the body of its loop sees, and what there is of it.
struct PrefetchSurvey {
  Box wanted, held;
};

struct Survey {
  std::vector<Symbol> root_symbols;              // bound at the root, before all else
  std::vector<LoopBounds> loops;                 // [loop id]
  std::vector<std::vector<StageSurvey>> stages;  // [func][stage]
  std::vector<FuncSurvey> funcs;                 // [func]; outputs too
  std::vector<PrefetchSurvey> prefetches;        // [number of the tree's prefetch]
  // Image name -> box read, over root symbols. Outputs are named as Funcs; of several values, the
  // buffers have the shape of the first one's.
  std::map<std::string, Box> inputs;
  std::vector<Assumption> assumptions;
  std::vector<Diagnostic> warnings;  // of what a schedule may not have meant
};

/// Throws CompileError: unbounded accesses of inputs or producers, vector and unrolled loops
/// without constant extent, sizes that no bound limits.
Survey survey(const LoopTree &tree);

/// Golden text.
std::string to_text(const LoopTree &tree, const Survey &s);

}  // namespace polyhalite
