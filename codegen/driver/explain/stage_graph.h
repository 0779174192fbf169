// stage_graph: an algorithm as boxes and arrows.
#pragma once

#include <string>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// An SVG: a box for each input and Func, in columns from inputs to outputs, and an arrow from each
/// to what reads it. Colours are variables of CSS, --ph-ink and its like, with values for white
/// paper where nobody sets them.
std::string graph_svg(const Algorithm &algorithm);

}  // namespace polyhalite
