// form_products: loops that an instruction of the processor stands for become vectors of what it
// computes: dot products,
//
//   for n in (0, 16) tensor vpdpbusd_512 {         for n in (0, 16) vector {
//     for k in (0, 4) {                              f[n0 + n] = intrinsic<int32>(sum_products,
//       f[n0 + n] = f[n0 + n] +              ->        f[n0 + n], a[ramp(k0, 1, 4)],
//         int32(a[k0 + k])*int32(b[4*n + k])           b[ramp(4*n, 1, 4)])
//     }                                            }
//   }
//
// or products of matrices, for which product_operands draws the indices:
//
//   for m in (0, 2) tensor smmla {
//     for n in (0, 2) {                              f[...] = intrinsic<int32>(sum_matrix_products,
//       for k in (0, 8) {                    ->        f[...], a[...], b[...], 2, 8)
//         f[m*s + n] = f[m*s + n] +
//           int32(a[m*d + k])*int32(b[8*n + k])
//       }
//     }
//   }
//
// A condition over k, which the last step of a reduction may have, is a mask of the factors.
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Throws CompileError where the loops' body is not what the instruction computes, or where the
/// target lacks it.
Function form_products(const Function &f, const Target &target);

}  // namespace polyhalite
