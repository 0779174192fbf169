// Casts by short names: u8(e), i16_sat(e)...
#pragma once

#include <utility>

#include "polyhalite/integer_functions.h"
#include "polyhalite/operators.h"

namespace polyhalite::ConciseCasts {

#define POLYHALITE_CAST(name, type) \
  inline Expr name(Expr e, ExprSite site = ExprSite()) { return cast(type, std::move(e), site); }
POLYHALITE_CAST(f64, Float(64))
POLYHALITE_CAST(f32, Float(32))
POLYHALITE_CAST(f16, Float(16))
POLYHALITE_CAST(bf16, BFloat(16))
POLYHALITE_CAST(i64, Int(64))
POLYHALITE_CAST(i32, Int(32))
POLYHALITE_CAST(i16, Int(16))
POLYHALITE_CAST(i8, Int(8))
POLYHALITE_CAST(u64, UInt(64))
POLYHALITE_CAST(u32, UInt(32))
POLYHALITE_CAST(u16, UInt(16))
POLYHALITE_CAST(u8, UInt(8))
#undef POLYHALITE_CAST

#define POLYHALITE_SATURATING_CAST(name, type) \
  inline Expr name(Expr e) { return saturating_cast(type, std::move(e)); }
POLYHALITE_SATURATING_CAST(i64_sat, Int(64))
POLYHALITE_SATURATING_CAST(i32_sat, Int(32))
POLYHALITE_SATURATING_CAST(i16_sat, Int(16))
POLYHALITE_SATURATING_CAST(i8_sat, Int(8))
POLYHALITE_SATURATING_CAST(u64_sat, UInt(64))
POLYHALITE_SATURATING_CAST(u32_sat, UInt(32))
POLYHALITE_SATURATING_CAST(u16_sat, UInt(16))
POLYHALITE_SATURATING_CAST(u8_sat, UInt(8))
#undef POLYHALITE_SATURATING_CAST

}  // namespace polyhalite::ConciseCasts
