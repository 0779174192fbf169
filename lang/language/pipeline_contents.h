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
    size_t updates, directives;
  };
  struct ParamEdits {
    std::shared_ptr<Parameter> param;
    uint64_t edits;
    size_t directives;
  };
  std::vector<FuncEdits> funcs;
  std::vector<ParamEdits> params;
  std::string target;
};

struct Compilation {
  FrozenPipeline frozen;
  std::shared_ptr<CompiledPipeline> code;
  EditStamp stamp;
  Target target;
};

struct PipelineContents {
  std::vector<std::shared_ptr<FunctionContents>> outputs;
  JITHandlers handlers;
  std::map<std::string, JITExtern> externs;
  std::mutex mutex;  // guards `last`
  std::shared_ptr<const Compilation> last;
};

}  // namespace polyhalite
