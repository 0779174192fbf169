// split_undef: what a definition with undef() writes, and where.
//   select(c, a, undef)  ->  a where c          f(x) + undef  ->  nowhere
#pragma once

#include "lang/ir/node.h"

namespace polyhalite {

struct PartlyDefined {
  Expr value;      // without undef
  Expr condition;  // Bool: where there is a value; undefined if everywhere
};
PartlyDefined split_undef(const Expr &e);

}  // namespace polyhalite
