// A frozen pipeline as its callers see it.
#pragma once

#include <string>

#include "codegen/llvm/filter.h"
#include "lang/ir/freeze.h"

namespace polyhalite {

/// `function_name` may have namespaces, as in "a::b::f". CompileError for names that C cannot have.
Filter describe_filter(const FrozenPipeline &pipeline, const std::string &function_name,
                       const Target &target);

}  // namespace polyhalite
