// matrix_loads: a fragment of what lies in memory of the block is loaded by one instruction of the
// warp, each lane of which gives the address of a row of 8 elements.
//
//   for e in (0, 8) unrolled {
//     f.a(e) = a(lane%4*2 + e%2 + e/4*8,   ->   collective ldmatrix_x4 (f.a[0],
//                lane/4 + e/2%2*8)                a[lane/16*8 + lane%16*40])
//   }
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/ir/instructions.h"
#include "codegen/ir/stmt.h"

namespace polyhalite {

/// A factor of a matrix product, as it is read at (row, column) of an operand.
struct FactorInMemory {
  Expr value;               // over `row` and `column`, and what is bound around
  std::string row, column;  // variables
  Expr first_row, first_column;
};

/// Loads `to`, which holds the operand, by an instruction of the table. Undefined where the factor
/// is no plain read of a Func in `memory` (allocations of the block, by name), or its rows of 8 are
/// not dense, at multiples of 16 bytes, whatever is bound around by `lets`, outermost first.
Stmt load_fragment(const InstructionOperand &operand, const std::string &to,
                   const FactorInMemory &factor, const Expr &lane,
                   const std::map<std::string, Stmt> &memory, const Lets &lets);

}  // namespace polyhalite
