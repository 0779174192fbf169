// Directives: the words of a schedule, as plain data. What they mean is said in schedule/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/loop_align_strategy.h"
#include "polyhalite/tail_strategy.h"

namespace polyhalite {

/// One line of a schedule's text form each; `loops` and `factors` hold what the comment names.
/// Convenience forms expand when they are called: tile = split, split, reorder;
/// vectorize(x, 8) = split + vectorize of the inner part (likewise parallel and unroll).
enum class DirectiveKind : uint8_t {
  Split,             // loops {old, outer, inner}, factors {factor}, tail
  Fuse,              // loops {inner, outer, fused}
  Reorder,           // loops, innermost first
  Rename,            // loops {old, new}
  Parallel,          // loops {loop}
  Vectorize,         // loops {loop}: the whole loop, of constant extent
  Unroll,            // loops {loop}: the whole loop, of constant extent
  Serial,            // loops {loop}
  ComputeRoot,       //
  ComputeInline,     //
  ComputeAt,         // target_func, target_stage, loops {loop of the target}
  StoreRoot,         //
  StoreAt,           // target_func, target_stage, loops {loop of the target}
  HoistStorage,      // target_func, target_stage, loops {loop of the target}
  HoistStorageRoot,  //
  RingBuffer,        // factors {extent}
  Async,             //
  ComputeWith,       // target_func, target_stage, loops {loop of the target, loops of its own...},
                     // aligns: one for each of its own
  Bound,             // loops {var}, factors {min, extent}
};

/// "split", "compute_at"...: the word in all text forms.
const char *directive_name(DirectiveKind kind);
/// Does it name a loop of another stage: target_func, target_stage, loops[0]?
bool names_level(DirectiveKind kind);

/// The loop name that stands for the place outside of all loops of a stage: Var::outermost().
inline constexpr const char *kOutermost = "__outermost";

struct Directive {
  DirectiveKind kind;
  std::string func;  // whose schedule; process-unique before the freeze, pipeline-unique after
  int stage = 0;     // 0: pure definition, k: update k-1. Func-wide directives have 0.
  std::vector<std::string> loops;
  std::vector<Expr> factors;
  TailStrategy tail = TailStrategy::Auto;
  std::vector<LoopAlignStrategy> aligns;
  std::string target_func;  // where names_level()
  int target_stage = 0;
  SourceLocation where;
  uint64_t order = 0;  // position among all directives of the process: later calls are greater
};

}  // namespace polyhalite
