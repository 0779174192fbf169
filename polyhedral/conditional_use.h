// conditional_use: under which condition the value of an access is used.
//
//   select(x < 100, f(x), g(x)) + h(x)   ->   f where x < 100, g where x >= 100, h always
#pragma once

#include <functional>

#include "lang/ir/node.h"

namespace polyhalite {

/// Visits all calls of Funcs and images inside e, each with the selects around it, as far as these
/// compare what is no data; a null condition: always. What stands inside of indices and conditions
/// is always used: where its value is arbitrary, it would lead anywhere. A call may be visited more
/// than once.
void for_each_use(const Expr &e,
                  const std::function<void(const CallNode &, const Expr &where)> &visit);

}  // namespace polyhalite
