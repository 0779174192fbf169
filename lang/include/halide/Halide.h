// Halide's names over Polyhalite, so that programs which use Halide's public interface compile.
#pragma once

#include "HalideBuffer.h"
#include "HalideExtern.h"
#include "HalideRuntime.h"
#include "polyhalite/generator.h"
#include "polyhalite/polyhalite.h"

namespace Halide {
using namespace polyhalite;

namespace Internal {
// Programs of Halide see an error where a buffer reaches 2 GiB, unless the target has large_buffers.
inline const bool buffers_are_limited = (polyhalite::set_default_buffer_limit(INT32_MAX), true);
}  // namespace Internal

}  // namespace Halide

#define HALIDE_REGISTER_GENERATOR(...) POLYHALITE_REGISTER_GENERATOR(__VA_ARGS__)
#define HALIDE_REGISTER_GENERATOR_ALIAS(...) POLYHALITE_REGISTER_GENERATOR_ALIAS(__VA_ARGS__)
