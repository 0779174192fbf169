// copy_body: what a loop does in one iteration, and in each of a few.
#pragma once

#include <string>

#include "codegen/ir/stmt.h"
#include "lang/ir/visit.h"

namespace polyhalite {

/// `body` where the counter is `at`. Of a select that the counter decides, what is chosen alone, so
/// that the copies of a mux of n values hold n values together, not n each.
Stmt copy_body(const std::string &counter, const Expr &at, const Stmt &body);
/// The body of a loop of so many iterations, once for each.
Stmt copy_body_of_each(const Stmt &loop, int64_t iterations);

/// Where the condition of a select becomes known, the select becomes what is chosen.
class DecideSelects : public ExprRewriter {
 protected:
  Expr rewrite_select(const Expr &e);
};

}  // namespace polyhalite
