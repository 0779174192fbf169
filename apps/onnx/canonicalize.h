// Every version of an operator becomes the newest form: attributes that later became inputs are
// constants, older names and defaults the present ones.
#pragma once

#include <string>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

///   %y = Slice.1(%x) {starts = [1], ends = [3]}   ->   %y = Slice.1(%x, %starts, %ends)
Graph canonicalize(Graph g);

/// Whether nodes of this main-domain operator are gone after canonicalize(), or never were nodes.
bool is_rewritten(const std::string &op);

}  // namespace polyhalite::onnx
