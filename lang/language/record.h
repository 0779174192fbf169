// record: appends a directive to a Func.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/function.h"
#include "polyhalite/stage.h"

namespace polyhalite {

/// A directive with its place among all of the process.
Directive stamped(std::string func, int stage, DirectiveKind kind, std::vector<std::string> loops,
                  std::vector<Expr> factors, const SourceLocation &where,
                  TailStrategy tail = TailStrategy::Auto);

/// Stamps the directive with its place among all of the process.
Directive &record(FunctionContents &f, int stage, DirectiveKind kind,
                  std::vector<std::string> loops, std::vector<Expr> factors,
                  const SourceLocation &where, TailStrategy tail = TailStrategy::Auto);

/// The same for a stage, or a branch of it.
Directive &record(const Stage &s, DirectiveKind kind, std::vector<std::string> loops,
                  std::vector<Expr> factors, const SourceLocation &where,
                  TailStrategy tail = TailStrategy::Auto);

}  // namespace polyhalite
