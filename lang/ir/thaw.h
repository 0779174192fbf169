// The opposite of the freeze: a frozen pipeline becomes Funcs again, under names that are new in
// this process, with their directives.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"

namespace polyhalite {

struct ThawedPipeline {
  std::vector<std::shared_ptr<FunctionContents>> outputs;
  std::vector<Expr> requirements;
};

/// `inputs` gives parameters by name; others are made. Freezing the outputs and requirements gives
/// the same algorithm and directives. CompileError where a given one does not fit.
ThawedPipeline thaw(const FrozenPipeline &pipeline,
                    const std::map<std::string, std::shared_ptr<ParameterContents>> &inputs);

}  // namespace polyhalite
