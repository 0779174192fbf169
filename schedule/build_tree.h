// build_tree: directives -> loop tree. Structural errors (unknown loop, factor not positive, level
// outside the consumers) are diagnostics here; legality is polyhedral/'s to judge.
#pragma once

#include "schedule/loop_tree.h"

namespace polyhalite {

/// Inlines Funcs without a compute level (pure, not an output), gives every stage its dimensions,
/// places productions and allocations. Throws CompileError with the directive's line. Who builds
/// many trees may limit what inlining makes of them: `work` is counted down (schedule/inline.h).
LoopTree build_tree(const Algorithm &algorithm, const std::vector<Directive> &directives,
                    int64_t *work = nullptr);

}  // namespace polyhalite
