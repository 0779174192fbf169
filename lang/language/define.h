// Definitions: from f(args) = value to the contents of a Func, with their checks.
#pragma once

#include <memory>
#include <vector>

#include "lang/ir/algorithm.h"
#include "lang/ir/function.h"

namespace polyhalite {

/// "update 0 of 'f'" or "'f'".
std::string describe_stage(const FunctionContents &f, int stage);

/// The definition of one stage, in the names of this process; those before it stay empty.
FuncDef definition_view(const FunctionContents &f, int stage);

/// Adds the pure definition, or an update where there is one. Returns the stage's number.
int define(const std::shared_ptr<FunctionContents> &f, const std::vector<Expr> &args,
           std::vector<Expr> values, const SourceLocation &where);

/// Gives an undefined f the pure definition `values` over the pure variables among args, and fresh
/// ones for the rest.
void define_base_case(const std::shared_ptr<FunctionContents> &f, const std::vector<Expr> &args,
                      std::vector<Expr> values, const SourceLocation &where);

}  // namespace polyhalite
