// What a Module handle points to.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/ir/freeze.h"
#include "polyhalite/backend.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// One function of a module.
struct ModulePart {
  std::shared_ptr<const FrozenPipeline> pipeline;
  std::string function;  // the C symbol
  std::shared_ptr<CompiledForFiles> code;
};

struct ModuleContents {
  std::string name;
  Target target;
  std::vector<ModulePart> parts;
};

}  // namespace polyhalite
