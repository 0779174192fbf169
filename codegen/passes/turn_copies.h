// turn_copies: copies run along the dense dimension of both sides, where a vector runs across it.
//
//   for x in (0, 8) vector {                   for x in (0, 8) unrolled {
//     for i in (0, 16) unrolled {        ->      for i in (0, 16) vector {
//       f[x*16 + i] = g[x*16 + i]                  f[x*16 + i] = g[x*16 + i]
//
// A row of f would be scattered, element by element.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Swaps the kinds of a vector loop and an unrolled one, in either order, with nothing but a copy
/// inside: its cells are distinct, so that iterations may run in any order. Comes before
/// vectorize_loops.
Function turn_copies(const Function &f);

}  // namespace polyhalite
