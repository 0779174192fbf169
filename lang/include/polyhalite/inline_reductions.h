// Reductions inside an expression: sum(f(x, r)) is a Func of its own, over the free variables of
// its argument, with one update over the argument's RDom.
#pragma once

#include <string>

#include "polyhalite/expr.h"
#include "polyhalite/func.h"
#include "polyhalite/rdom.h"
#include "polyhalite/tuple.h"

namespace polyhalite {

// The RDom is the one that occurs in e, CompileError where there is none or several; or it is
// given, and other reduction variables in e are free. The result has e's type. With a Func in place
// of a name, that Func is defined, so that it can be scheduled; CompileError where it has a
// definition.
Expr sum(Expr e, const std::string &name = "sum", Here here = Here());
Expr sum(const RDom &r, Expr e, const std::string &name = "sum", Here here = Here());
Expr sum(Expr e, const Func &f, Here here = Here());
Expr sum(const RDom &r, Expr e, const Func &f, Here here = Here());

// The same with saturating_add.
Expr saturating_sum(Expr e, const std::string &name = "saturating_sum", Here here = Here());
Expr saturating_sum(const RDom &r, Expr e, const std::string &name = "saturating_sum",
                    Here here = Here());
Expr saturating_sum(Expr e, const Func &f, Here here = Here());
Expr saturating_sum(const RDom &r, Expr e, const Func &f, Here here = Here());

Expr product(Expr e, const std::string &name = "product", Here here = Here());
Expr product(const RDom &r, Expr e, const std::string &name = "product", Here here = Here());
Expr product(Expr e, const Func &f, Here here = Here());
Expr product(const RDom &r, Expr e, const Func &f, Here here = Here());

Expr minimum(Expr e, const std::string &name = "minimum", Here here = Here());
Expr minimum(const RDom &r, Expr e, const std::string &name = "minimum", Here here = Here());
Expr minimum(Expr e, const Func &f, Here here = Here());
Expr minimum(const RDom &r, Expr e, const Func &f, Here here = Here());

Expr maximum(Expr e, const std::string &name = "maximum", Here here = Here());
Expr maximum(const RDom &r, Expr e, const std::string &name = "maximum", Here here = Here());
Expr maximum(Expr e, const Func &f, Here here = Here());
Expr maximum(const RDom &r, Expr e, const Func &f, Here here = Here());

// The coordinates of the first point of the RDom where e is smallest (largest), one Expr for each
// dimension, and e there. Where e compares with nothing, coordinates are 0 and e is its type's
// largest (smallest) value.
Tuple argmin(Expr e, const std::string &name = "argmin", Here here = Here());
Tuple argmin(const RDom &r, Expr e, const std::string &name = "argmin", Here here = Here());
Tuple argmin(Expr e, const Func &f, Here here = Here());
Tuple argmin(const RDom &r, Expr e, const Func &f, Here here = Here());
Tuple argmax(Expr e, const std::string &name = "argmax", Here here = Here());
Tuple argmax(const RDom &r, Expr e, const std::string &name = "argmax", Here here = Here());
Tuple argmax(Expr e, const Func &f, Here here = Here());
Tuple argmax(const RDom &r, Expr e, const Func &f, Here here = Here());

}  // namespace polyhalite
