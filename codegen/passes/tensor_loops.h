// tensor_loops: the loops that a matrix instruction stands for, spread over the lanes of a warp.
//
//   for m in (8, 16) tensor mma {            for e in (0, 4) unrolled tensor mma {   elements of d
//     for n in (0, 8) {                        let m.first = 8, let m = m.first + lane/4 + e/2*8
//       for k in (0, 16) {             ->      let n.first = 0, let n = n.first + lane%4*2 + e%2
//         f(n, m) = f(n, m) + ...              for k in (0, 16) {
//                                                f(n, m) = f(n, m) + ...
#pragma once

#include "codegen/ir/instructions.h"
#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Where element `element` of lane `lane` stands in the matrix.
Expr fragment_row(const Fragment &f, const Expr &lane, const Expr &element);
Expr fragment_column(const Fragment &f, const Expr &lane, const Expr &element);

/// The name of the first index of a loop that was spread.
std::string first_of(const std::string &loop);

/// `loop` begins the nest: m and n, and k where the instruction multiplies. Each lane computes the
/// elements that it has of the result.
Stmt spread_over_lanes(const Stmt &loop, const Expr &lane);

}  // namespace polyhalite
