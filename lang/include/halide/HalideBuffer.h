// Halide::Runtime::Buffer over polyhalite::runtime::Buffer. Header only.
#pragma once

#include "HalideRuntime.h"
#include "polyhalite/runtime_buffer.h"

namespace Halide::Runtime {

template <typename T = void, int D = polyhalite::runtime::AnyDims>
using Buffer = polyhalite::runtime::Buffer<T, D>;
inline constexpr int AnyDims = polyhalite::runtime::AnyDims;

}  // namespace Halide::Runtime
