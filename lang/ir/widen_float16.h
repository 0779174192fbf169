// widen_float16: arithmetic on 16-bit floats by way of float32.
//   a + b  ->  float16(float32(a) + float32(b))
// One rounding to float16 or bfloat16 after + - * / and sqrt in float32 gives the correctly rounded
// result, since float32 has more than twice the digits. Casts between float32 and 16-bit floats are
// all that is left to be known of them.
#pragma once

#include "lang/ir/node.h"

namespace polyhalite {

inline bool is_float16(Type t) { return t.is_float() && t.bits() == 16; }

/// The node e over the same operands; undefined where e does not compute with 16-bit floats.
Expr widen_float16(const Expr &e);

}  // namespace polyhalite
