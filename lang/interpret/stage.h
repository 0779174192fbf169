// Runs one definition over a box.
#pragma once

#include <vector>

#include "lang/interpret/region.h"
#include "lang/ir/algorithm.h"

namespace polyhalite::interpreter {

/// The pure variables that a stage has loops for: its Func's variables that it uses.
std::vector<std::string> pure_variables(const FuncDef &f, int stage);

/// Computes stage `stage` of f into `values` (one grid per value, all over `box`). `bindings` gives
/// parameters and grids; `reduction` the spans of the reduction variables. Updates drop what they
/// write outside the box. Throws RuntimeError where a value that is written does not exist.
void run_stage(const FuncDef &f, int stage, const Box &box, const Box &reduction,
               const Bindings &bindings, const std::vector<Grid> &values);

}  // namespace polyhalite::interpreter
