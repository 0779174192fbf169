// Reductions inside an expression: sum(f(x, r)) is a Func of its own, over the free variables of
// its argument, with one update over the argument's RDom.
#pragma once

#include <string>

#include "polyhalite/expr.h"
#include "polyhalite/func.h"
#include "polyhalite/rdom.h"

namespace polyhalite {

/// The RDom is the one that occurs in e; CompileError where there is none or several. The result
/// has e's type.
Expr sum(Expr e, const std::string &name = "sum", Here here = Here());
Expr product(Expr e, const std::string &name = "product", Here here = Here());
Expr minimum(Expr e, const std::string &name = "minimum", Here here = Here());
Expr maximum(Expr e, const std::string &name = "maximum", Here here = Here());
/// Over this domain; other reduction variables in e are free.
Expr sum(const RDom &r, Expr e, const std::string &name = "sum", Here here = Here());
Expr product(const RDom &r, Expr e, const std::string &name = "product", Here here = Here());
Expr minimum(const RDom &r, Expr e, const std::string &name = "minimum", Here here = Here());
Expr maximum(const RDom &r, Expr e, const std::string &name = "maximum", Here here = Here());

}  // namespace polyhalite
