// Operators along axes, as reductions are: dimensions that lie side by side are one for their
// kernel.
#pragma once

#include "apps/onnx/kernel_graph.h"

namespace polyhalite::onnx {

/// Where the kernel is a reduction, softmax or another operator along axes of a row-major operand,
/// and what follows it point by point, its dimensions become as few as that takes:
///
///   %y: [1, 64] = ReduceMean(%x: [1, 64, 56, 56], [2, 3])
///   ->   %y: [64, 1] = ReduceMean(%x: [64, 3136], [1])
void merge_rows(KernelGraph *k);

}  // namespace polyhalite::onnx
