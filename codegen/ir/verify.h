// Every invariant of loop IR, stated in prose in verify.cc and checked there.
#pragma once

#include <optional>

#include "codegen/ir/stmt.h"
#include "polyhalite/error.h"

namespace polyhalite {

enum class IrLevel : uint8_t {
  Lowered,           // as lowered: loops of kernels stand outside of kernels
  MultiDimensional,  // they stand in kernels
  Flat,              // after flatten_storage
  Emittable,         // flat, and no vector or unrolled loop is left
};

/// What is wrong with f at this level, or nothing.
std::optional<Diagnostic> verify(const Function &f, IrLevel level);

}  // namespace polyhalite
