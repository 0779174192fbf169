// Elements of fewer than 8 bits, and floats of 8 and fewer. Values hold them in a byte each:
// integers as they are, floats as the format's codes. Only conversions look inside.
#pragma once

#include <string>

#include "apps/onnx/constant.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

/// The values of codes, in a type of the language.
ops::Tensor decoded(const ops::Tensor &codes, ElementType from, Type to);

/// The codes nearest to values, halves to even. Integers keep their lowest bits. Floats beyond the
/// largest become it where `saturate` is set, else infinity or NaN. Of float8e8m0, which has powers
/// of two only, `rounding` is "up", "down" or "nearest".
ops::Tensor encoded(const ops::Tensor &x, ElementType to, bool saturate,
                    const std::string &rounding);

/// The least and the largest value of a narrow integer.
std::pair<int, int> narrow_range(ElementType t);

}  // namespace polyhalite::onnx
