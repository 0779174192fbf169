// infer_input_bounds: asks the compiled pipeline which shapes its inputs need.
#pragma once

#include <vector>

#include "lang/language/pipeline_contents.h"
#include "polyhalite/var.h"

namespace polyhalite {

/// Binds a new Buffer to each ImageParam without one.
void infer_input_bounds_of(PipelineContents &p, const std::vector<polyhalite_buffer_t *> &outputs,
                           JITUserContext *context, const Target &target, const Here &here);

}  // namespace polyhalite
