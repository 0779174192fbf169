// Elements of small tensors of integers that follow from shapes, through arithmetic and choices.
#pragma once

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

/// Of a pointwise operator whose operands have at most one dimension: the elements of its result,
/// where they follow from sizes.
void follow_sizes(Inference &i);

}  // namespace polyhalite::onnx
