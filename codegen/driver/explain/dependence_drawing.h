// dependence_drawing: who needs whom, drawn on a few instances.
#pragma once

#include <string>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// As HTML with SVGs. For each update that touches cells of its Func which other instances write:
/// instances as points, arrows for flow, anti and output dependences. For each Func that reads
/// another one: the cells that one instance of it reads.
std::string draw_dependences(const Algorithm &algorithm);

}  // namespace polyhalite
