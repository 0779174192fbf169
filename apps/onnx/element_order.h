// Elements in their order: what sorting and selecting between kernels share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "apps/onnx/constant.h"

namespace polyhalite::onnx {

/// Numbers that stand as the elements do, -0 as 0; what is no number is the largest. `falling`: as
/// the elements do from the largest on.
std::vector<int64_t> order_keys(const Constant &c, bool falling = false);
/// The same for elements that fit into numbers of 32 bits; see fits_short_keys().
std::vector<int32_t> short_order_keys(const Constant &c, bool falling = false);
bool fits_short_keys(ElementType t);
/// Of one float.
int32_t order_key(float v, bool falling);

/// Positions of the first k of these keys in rising order, equal ones as they stand; k is at most
/// their number.
std::vector<int64_t> first_in_order(const int32_t *keys, int64_t count, int64_t k);
std::vector<int64_t> first_in_order(const int64_t *keys, int64_t count, int64_t k);

}  // namespace polyhalite::onnx
