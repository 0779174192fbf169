// What the C function of an extern stage is called with: to be asked, and to compute.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/extern_stage.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

/// The min or max of dimension d that the stage's function asks of its C argument `operand` when
/// its outputs have the box (min, extent, min...): an Int(32) call in loop IR.
Expr extern_bounds(const FuncDef &stage, const Algorithm &algorithm, size_t operand, int d,
                   bool is_max, const std::vector<Expr> &box);

/// The whole of an image, as a C argument.
Expr view_of_image(const CallNode &image);

/// Does a C function get boxes of a Func: to compute them, to read them or to write them to a file?
bool meets_c_function(const LoopTree &tree, const std::string &func);

}  // namespace polyhalite
