// written_values: which values of a Tuple an instance writes, and where. Values that stay what they
// are in their own cell are left alone: nothing is read or written for them.
//
//   f(i) = {select(p == 0, a, f(i).0), select(p == 0, f(i).1, b)}   ->   a where p == 0,
//                                                                        b where p != 0
//
// Only conditions on variables and Params count: where data decide, all values are written.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct WrittenValue {
  Expr value;  // where it is written
  Expr where;  // Bool; null: always, a constant false: never
};

/// Of one of the cells that a stage of the Func writes. A single value is always written, and so
/// are those of instances that write several cells.
std::vector<WrittenValue> written_values(const std::string &func, const StageDef &stage,
                                         const CellWrite &write);

}  // namespace polyhalite
