// Scan as it was in version 8: of a batch of sequences, each scanned on its own.
#pragma once

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// The batch becomes a Scan, too:
///
///   %s, %y = Scan.8(, %s0, %x) {body}
///     ->  %s, %y = Scan(%s0, %x) {body = graph(%a, %b) -> Scan(%a, %b) {body}}
///
/// CompileError where sequences have lengths of their own. Before close_regions().
Graph expand_batched_scans(Graph g);

}  // namespace polyhalite::onnx
