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

struct ParameterContents;

/// One line of a schedule's text form each; `loops` and `factors` hold what the comment names.
/// Convenience forms expand when they are called: tile = split, split, reorder;
/// vectorize(x, 8) = split + vectorize of the inner part (likewise parallel and unroll).
enum class DirectiveKind : uint8_t {
  Split,              // loops {old, outer, inner}, factors {factor}, tail
  Fuse,               // loops {inner, outer, fused}
  Reorder,            // loops, innermost first
  Rename,             // loops {old, new}
  Skew,               // loops {old, by, new}, factors {factor}
  Reverse,            // loops {loop}
  Shift,              // loops {loop}, factors {offset}
  Parallel,           // loops {loop}
  Vectorize,          // loops {loop}: the whole loop, of constant extent
  Unroll,             // loops {loop}: the whole loop, of constant extent
  Serial,             // loops {loop}
  ComputeRoot,        //
  ComputeInline,      //
  ComputeAt,          // target_func, target_stage, loops {loop of the target}
  StoreRoot,          //
  StoreAt,            // target_func, target_stage, loops {loop of the target}
  HoistStorage,       // target_func, target_stage, loops {loop of the target}
  HoistStorageRoot,   //
  RingBuffer,         // factors {extent}
  Async,              //
  Memoize,            // factors {} or {eviction key}
  ComputeWith,        // target_func, target_stage, loops {loop of the target, loops of its own...},
                      // aligns: one for each of its own
  Bound,              // loops {var}, factors {min, extent}
  BoundExtent,        // loops {var}, factors {extent}
  AlignBounds,        // loops {var}, factors {modulus, remainder}
  AlignExtent,        // loops {var}, factors {modulus}
  ReorderStorage,     // loops: variables, innermost in memory first
  AlignStorage,       // loops {var}, factors {alignment}
  Pack,               // loops {var}, factors {size of a block}
  FoldStorage,        // loops {var}, factors {extent}, option "" or "backward"
  BoundStorage,       // loops {var}, factors {extent}
  StoreIn,            // option: a MemoryType
  Partition,          // loops {loop}, option: a Partition
  Prefetch,           // target_func: what is prefetched, a Func or an image; loops {at, from},
                      // factors {offset}, option: a PrefetchBoundStrategy
  TraceLoads,         //
  TraceStores,        //
  TraceRealizations,  //
  TracePipeline,      // of the pipeline that the Func is an output of
  TraceTag,           // factors {text}
  DebugToFile,        // factors {the file's name}
  NoProfiling,        //

  GpuBlocks,        // loops, innermost first; device
  GpuThreads,       // loops, innermost first; device
  GpuLanes,         // loops {loop}; device
  GpuSingleThread,  // the stage is one thread of a kernel; device
  Hexagon,          // loops {loop}, or none: the whole stage
  SmeStreaming,     // loops {loop}, or none: the whole stage
  CopyToDevice,     // device
  CopyToHost,       //
  // These derive a new algorithm (schedule/derive_algorithm.h).
  In,               // consumers (none: all), makes: they read a copy of the Func's values
  CloneIn,          // consumers, makes: they read a Func that computes the same
  Rfactor,          // loops {reduction loop, new var, ...}, makes: partial results
  Fission,          // loops {loop around, new loop} or {new loop}: a Tuple's values apart
  Scan,             // loops {loop over blocks, new var}, makes: totals of the blocks of a scan
  Specialize,       // factors {condition}: a branch of the stage, with a schedule of its own
  SpecializeFail,   // factors {message}: where no branch's condition holds, the pipeline fails
  EagerInline,      // funcs: their definitions take the place of the stage's calls of them
  ChangeType,       // type, factors {unproven values too}, makes: the same values in that type
  InPlace,          // funcs {a Func that it reads}: it has the memory of that one
  HoistInvariants,  // makes, makes_more: sums of the update's terms without what is the same in all
  // What a stage may do although order or independence is not proven.
  Atomic,               // factors {override the associativity test}
  AllowRaceConditions,  //
  // How the stage's accesses go through the caches.
  StreamLoads,   // funcs: whose values it reads once (none: of all others); Funcs and images
  StreamStores,  //
  // What runs on a device, of what the stage is.
  Tensorize,  // loops {m, n} or {m, n, k}, option: an instruction that a warp runs for them
};

/// "split", "compute_at"...: the word in all text forms.
const char *directive_name(DirectiveKind kind);
const std::vector<DirectiveKind> &all_directive_kinds();
/// Whether the directive makes, orders or marks loops of its stage.
bool concerns_loops(DirectiveKind kind);
/// Whether the directive puts new loops in the place of some.
bool makes_loops(DirectiveKind kind);
/// Whether the directive has a device as its last argument.
bool names_device(DirectiveKind kind);
/// Whether the directive moves work or values to another device than the processor.
bool concerns_device(DirectiveKind kind);

/// Does the directive make Funcs of another one?
bool makes_func(DirectiveKind kind);

/// Does it name a loop of another stage: target_func, target_stage, loops[0]?
bool names_level(DirectiveKind kind);

/// The loop name that stands for the place outside of all loops of a stage: Var::outermost().
inline constexpr const char *kOutermost = "__outermost";

struct LoopLevelContents;

struct Directive {
  DirectiveKind kind;
  std::string func;  // whose schedule; process-unique before the freeze, pipeline-unique after
  int stage = 0;     // 0: pure definition, k: update k-1. Func-wide directives have 0.
  std::vector<std::string> loops;
  std::vector<Expr> factors;
  TailStrategy tail = TailStrategy::Auto;
  std::vector<LoopAlignStrategy> aligns;
  std::string option;       // the word of an enumeration, see DirectiveKind
  std::string target_func;  // where names_level(), and of Prefetch
  int target_stage = 0;
  DeviceAPI device = DeviceAPI::Default_GPU;  // of directives that name one
  // ComputeAt and StoreAt before the freeze, which fills in the place.
  std::shared_ptr<LoopLevelContents> level;
  std::shared_ptr<ParameterContents> target_image;  // Prefetch of an image, before the freeze
  std::vector<std::string> consumers;               // In, CloneIn
  std::string makes;                                // of those that derive a Func: its name
  std::vector<std::string> makes_more;              // HoistInvariants: the Funcs of further terms
  std::vector<std::string> funcs;                   // EagerInline, StreamLoads, InPlace
  std::vector<std::shared_ptr<ParameterContents>> images;  // StreamLoads, before the freeze
  Type type;                                               // ChangeType
  // Conditions of the specializations around the loops that it speaks of, outermost first.
  std::vector<Expr> branch;
  SourceLocation where;
  uint64_t order = 0;  // position among all directives of the process: later calls are greater
};

}  // namespace polyhalite
