// record: appends a directive to a Func.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/function.h"

namespace polyhalite {

/// Stamps the directive with its place among all of the process.
Directive &record(FunctionContents &f, int stage, DirectiveKind kind,
                  std::vector<std::string> loops, std::vector<Expr> factors,
                  const SourceLocation &where, TailStrategy tail = TailStrategy::Auto);

}  // namespace polyhalite
