// resolve_random: random numbers as arithmetic on the variables of the definition that uses them.
//   random(7u32, seed)  ->  mix(mix(mix(mix(7, seed), definition), x), y)
#pragma once

#include <string>
#include <vector>

#include "polyhalite/expr.h"

namespace polyhalite {

/// `definition` names the definition, `variables` are its loops' variables.
Expr resolve_random(const Expr &e, const std::string &definition,
                    const std::vector<Expr> &variables);

}  // namespace polyhalite
