// polynomial: sums of products with integer coefficients, for proving that two expressions are
// equal as such. Equal polynomials are equal in every ring, so also where integers wrap.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

/// Monomials (names of variables, sorted, once per power) with their coefficients, none 0.
using SumOfProducts = std::map<std::vector<std::string>, int64_t>;

/// Of an expression of +, -, *, variables and whole constants; nullopt for others and where a
/// coefficient or the number of terms grows out of hand.
std::optional<SumOfProducts> to_sum_of_products(const Expr &e);

}  // namespace polyhalite
