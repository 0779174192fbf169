// From a frozen pipeline to flat loop IR: the whole compiler in front of LLVM, stage by stage.
#pragma once

#include <string>
#include <vector>

#include "codegen/ir/stmt.h"
#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

struct LoweredPipeline {
  LoopTree tree;
  Function function;                      // flat, after all passes
  CompileTimes times;                     // all but LLVM's
  std::vector<std::string> proven_again;  // under Verification::Full, a line for each Func
  // What the schedule or the target says and nobody has proven.
  std::vector<std::string> promises;
};

/// Throws CompileError where the schedule is refused. `scalar`: see PassOptions.
LoweredPipeline lower_pipeline(const FrozenPipeline &pipeline, const std::string &name,
                               const Target &target, bool scalar = false);

/// Seconds since it was made.
class Stopwatch {
 public:
  Stopwatch();
  double seconds() const;

 private:
  int64_t start_;
};

}  // namespace polyhalite
