// copy_body: what a loop does in one iteration.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// `body` where the counter is `at`. Of a select that the counter decides, what is chosen alone, so
/// that the copies of a mux of n values hold n values together, not n each.
Stmt copy_body(const std::string &counter, const Expr &at, const Stmt &body);

}  // namespace polyhalite
