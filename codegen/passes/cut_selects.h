// cut_selects: loops are cut where a costly select begins to choose the other side.
//
//   for k in (0, n) {                              let k.cut = max(min(j, n), 0)
//     f(j) = select(k < j, f(j) - f(k)*a(k),  ->   for k in (0, k.cut) { f(j) = f(j) - f(k)*a(k) }
//                   f(j)/a(j))                     for k in (k.cut, n - k.cut) { f(j) = f(j)/a(j) }
//   }
//
// So are loops whose vectors run but for one lane, k != j say: before that vector and behind it
// nothing is masked. And loops around phases, a block of writes to one Func, where the guards of some let nothing
// through any more. Where loops inside, of vectors say, have both cases in one iteration, that part
// of the loop keeps the condition.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Of serial loops that partition_loops could cut, the innermost ones that a comparison depends on.
/// A select is costly if it chooses between divisions, calls of mathematical functions, or reads of
/// the Func that the statement writes: those that are not chosen keep cells from registers. What
/// likely() marks is partition_loops' to cut. The order of iterations stays.
Function cut_selects(const Function &f);

}  // namespace polyhalite
