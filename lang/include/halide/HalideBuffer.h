// Halide::Runtime::Buffer is polyhalite::runtime::Buffer. Header only.
#pragma once

// Halide's header of this name makes these known, and programs rely on it.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "HalideRuntime.h"
#include "polyhalite/runtime_buffer.h"

namespace Halide::Runtime {

using polyhalite::runtime::AllInts;
using polyhalite::runtime::AnyDims;
using polyhalite::runtime::Buffer;
using polyhalite::runtime::BufferDeviceOwnership;

}  // namespace Halide::Runtime
