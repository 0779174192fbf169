// Directives: the words of a schedule, as plain data. What they mean is said in schedule/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "polyhalite/choices.h"
#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/tail_strategy.h"

namespace polyhalite {

/// One line of a schedule's text form each; `loops` and `factors` hold what the comment names.
/// Convenience forms expand when they are called: tile = split, split, reorder;
/// vectorize(x, 8) = split + vectorize of the inner part (likewise parallel and unroll).
enum class DirectiveKind : uint8_t {
  Split,          // loops {old, outer, inner}, factors {factor}, tail
  Fuse,           // loops {inner, outer, fused}
  Reorder,        // loops, innermost first
  Rename,         // loops {old, new}
  Parallel,       // loops {loop}
  Vectorize,      // loops {loop}: the whole loop, of constant extent
  Unroll,         // loops {loop}: the whole loop, of constant extent
  Serial,         // loops {loop}
  ComputeRoot,    //
  ComputeInline,  //
  ComputeAt,      // target_func, target_stage, loops {loop of the target}
  StoreRoot,      //
  StoreAt,        // target_func, target_stage, loops {loop of the target}
  Bound,          // loops {var}, factors {min, extent}
  TraceLoads,         //
  TraceStores,        //
  TraceRealizations,  //
  TracePipeline,      // of the pipeline that the Func is an output of
  TraceTag,           // factors {text}

  GpuBlocks,        // loops, innermost first; device
  GpuThreads,       // loops, innermost first; device
  GpuLanes,         // loops {loop}; device
  GpuSingleThread,  // the stage is one thread of a kernel; device
  Hexagon,          // loops {loop}, or none: the whole stage
  CopyToDevice,     // device
  CopyToHost,       //
};

/// "split", "compute_at"...: the word in all text forms.
const char *directive_name(DirectiveKind kind);
/// Whether the directive makes, orders or marks loops of its stage.
bool concerns_loops(DirectiveKind kind);
/// Whether the directive has a device as its last argument.
bool names_device(DirectiveKind kind);
/// Whether the directive moves work or values to another device than the processor.
bool concerns_device(DirectiveKind kind);

struct LoopLevelContents;

struct Directive {
  DirectiveKind kind;
  std::string func;   // whose schedule; process-unique before the freeze, pipeline-unique after
  int stage = 0;      // 0: pure definition, k: update k-1. Func-wide directives have 0.
  std::vector<std::string> loops;
  std::vector<Expr> factors;
  TailStrategy tail = TailStrategy::Auto;
  std::string target_func;  // ComputeAt, StoreAt
  int target_stage = 0;
  DeviceAPI device = DeviceAPI::Default_GPU;  // of directives that name one
  // ComputeAt and StoreAt before the freeze, which fills in the place.
  std::shared_ptr<LoopLevelContents> level;
  SourceLocation where;
  uint64_t order = 0;  // position among all directives of the process: later calls are greater
};

}  // namespace polyhalite
