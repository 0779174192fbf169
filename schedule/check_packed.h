// check_packed: whose memory may be laid out in blocks.
#pragma once

#include "schedule/loop_tree.h"

namespace polyhalite {

/// CompileError where a packed Func is an output, or something beside the pipeline's own loops
/// reads or writes its memory: an extern stage, debug_to_file.
void check_packed(const LoopTree &t);

}  // namespace polyhalite
