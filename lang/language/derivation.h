// derivation: what a Func's definitions are after the directives that derive others from them.
#pragma once

#include <memory>
#include <string>

#include "lang/ir/freeze.h"

namespace polyhalite {

/// A Func as its directives have made it so far.
struct DerivedSoFar {
  FrozenPipeline pipeline;  // of this Func, or of the one that a directive made it of
  std::string func;         // its name in there
  const FuncDef &definition() const { return *pipeline.algorithm.find(func); }
};

/// Throws the CompileErrors of deriving directives.
DerivedSoFar derive_so_far(const std::shared_ptr<FunctionContents> &f);

/// One stage's definition as it is now: f's own where no directive has changed it. The FuncDef has
/// that stage at least.
FuncDef current_definition(const std::shared_ptr<FunctionContents> &f, int stage);

}  // namespace polyhalite
