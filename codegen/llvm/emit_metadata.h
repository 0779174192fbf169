// The function that returns a compiled pipeline's metadata.
#pragma once

#include "codegen/llvm/filter.h"
#include "codegen/llvm/module_state.h"

namespace polyhalite {

/// Adds `const polyhalite_filter_metadata_t *NAME_metadata(void)` to the module.
void emit_metadata(ModuleState &state, const Filter &filter);

}  // namespace polyhalite
