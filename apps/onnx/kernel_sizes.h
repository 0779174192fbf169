// Open sizes of a kernel's graph, called by the places where they stand in it, so that kernels of
// other sizes have one text.
#pragma once

#include <map>
#include <string>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// Replaces the symbols of the graph's shapes and known sizes by s0, s1... in the order in which
/// values mention them. A size whose symbols stand in no other size is one symbol as a whole, times
/// what divides it. The result is what each new symbol stands for.
///
///   %y: float32[64*N*M, 8] = Relu(%x: float32[64*N*M, 8])   ->
///   %y: float32[64*s0, 8] = Relu(%x: float32[64*s0, 8])     s0 = N*M
std::map<std::string, Dim> name_sizes(Graph *g);

}  // namespace polyhalite::onnx
