// form_collectives: what each lane computes of a matrix product becomes one instruction of the
// warp.
//
//   for e in (0, 4) unrolled tensor mma {        allocate e.d: float32(0, 4) thread
//     let m = ..., let n = ...                   allocate e.a: float16(0, 8) thread
//     for k in (0, 16) {                         allocate e.b: float16(0, 4) thread
//       f(..) = f(..) +               ->         for e in (0, 4) unrolled { e.d(e) = f(..) }
//         float32(a(k, m))*float32(b(n, k))      for e in (0, 8) unrolled { e.a(e) = a(..) }
//                                                for e in (0, 4) unrolled { e.b(e) = b(..) }
//                                                collective mma (e.d[0], e.a[0], e.b[0])
//                                                for e in (0, 4) unrolled { f(..) = e.d(e) }
//
// Factors that lie in memory of the block are loaded by instructions where matrix_loads.h can.
#pragma once

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Throws CompileError where the loops' body is not what the instruction computes.
Function form_collectives(const Function &f);

}  // namespace polyhalite
