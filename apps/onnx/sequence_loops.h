// Loops whose states are sequences or optional values.
#pragma once

#include "apps/onnx/sequences.h"

namespace polyhalite::onnx {

/// See expand_region(), in order of what is tried:
///
///   outs = []; for ... {outs.append(f())}     ->   one result of all turns, a stack
///   pair = [a, b]; for ... {pair = [c, d]}    ->   a state for each element
///   anything else whose turns are countable   ->   the nodes of each turn
bool expand_loop(Sequences *all, Graph *g, size_t at);

}  // namespace polyhalite::onnx
