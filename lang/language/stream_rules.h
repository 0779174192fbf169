// stream_rules: which stages may write past the caches.
#pragma once

#include <optional>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// A streamed store is not read again, nor written again, by other instances of its stage: an
/// update may read the cell that it writes, and no other; each of its reduction variables names the
/// cell, f(r + 1, y) = f(r + 1, y) + e. nullopt where that holds; `what` and `where` are the
/// caller's.
std::optional<Diagnostic> why_not_streamed(const FuncDef &f, int stage);

}  // namespace polyhalite
