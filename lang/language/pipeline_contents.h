// What a Pipeline handle points to: its outputs, and the last compilation in process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"
#include "lang/ir/function.h"
#include "polyhalite/backend.h"
#include "polyhalite/jit_context.h"

namespace polyhalite {

/// The state of everything that a compilation depends on: two equal stamps need no new one.
struct EditStamp {
  struct FuncEdits {
    std::shared_ptr<FunctionContents> func;
    size_t updates, directives, output_params;
  };
  struct ParamEdits {
    std::shared_ptr<ParameterContents> param;
    uint64_t edits;
    size_t directives;
  };
  std::vector<FuncEdits> funcs;
  std::vector<ParamEdits> params;
  size_t requirements = 0;
};

struct Compilation {
  FrozenPipeline frozen;
  std::shared_ptr<CompiledPipeline> code;
  EditStamp stamp;
  Target target;
  Target asked_for;  // which became `target`
  std::vector<std::shared_ptr<const Compilation>> externs;  // pipelines that the code calls
};

struct PipelineContents {
  std::vector<std::shared_ptr<FunctionContents>> outputs;
  std::vector<Expr> requirements;  // as in Algorithm
  JITHandlers handlers;
  std::map<std::string, JITExtern> externs;
  std::mutex mutex;  // guards `last`
  std::shared_ptr<const Compilation> last;
};

FrozenPipeline freeze_pipeline(
    const PipelineContents &p,
    const std::vector<std::shared_ptr<ParameterContents>> &declared_inputs = {});

}  // namespace polyhalite
