// Sequences and optional values that regions take and give.
#pragma once

#include "apps/onnx/sequence_node.h"

namespace polyhalite::onnx {

/// Whether node `at`, an If, a Loop or a Scan, takes or gives sequences: what stands in its place
/// then takes and gives their tensors.
///
///   %s = If(%c) {[%a, %b] or [%d, %e]}   ->   %s.0, %s.1 = If(%c) {%a, %b or %d, %e}
///
/// A Loop whose turns append a tensor of one shape to a sequence collects it. Other Loops that
/// change sequences are written out, turn by turn; so that many turns are known.
bool expand_region(Sequences *all, Graph *g, size_t at);

/// The nodes for each element; a Scan for elements of one shape, whose number is open.
void map_sequences(SequenceNode &n);

}  // namespace polyhalite::onnx
