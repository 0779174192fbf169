// The names of intrinsic calls (CallKind::Intrinsic): one list, so that a misspelling fails to
// compile.
#pragma once

namespace polyhalite::intrinsic {

// likely(x) = x: a hint that the branch or clamp around it takes this value in the steady state.
// Loop partitioning cuts loops by it.
inline constexpr const char *kLikely = "likely";
inline constexpr const char *kAbs = "abs";              // result unsigned for Int, as in Halide
inline constexpr const char *kAbsd = "absd";            // |a - b|, result unsigned for Int
inline constexpr const char *kShiftLeft = "shift_left";
inline constexpr const char *kShiftRight = "shift_right";  // arithmetic for Int
inline constexpr const char *kBitwiseAnd = "bitwise_and";
inline constexpr const char *kBitwiseOr = "bitwise_or";
inline constexpr const char *kBitwiseXor = "bitwise_xor";
inline constexpr const char *kBitwiseNot = "bitwise_not";
inline constexpr const char *kStrictFloat = "strict_float";  // no contraction or reassociation inside
inline constexpr const char *kFma = "fma";

inline constexpr const char *kUserContext = "user_context";  // Handle: the context of the call

// Extern stages (extern_stage.h): the arguments of their C functions, and calls of those.
inline constexpr const char *kExternStage = "extern_stage";
inline constexpr const char *kExternBuffer = "extern_buffer";
inline constexpr const char *kExternIndex = "extern_index";
inline constexpr const char *kExternBounds = "extern_bounds";
inline constexpr const char *kBufferView = "buffer_view";
inline constexpr const char *kBufferQuery = "buffer_query";

// Loop IR: limited_product(limit, a, b...) is a * b * ... of numbers that are not negative where that
// is at most limit, else the largest Int(64): sizes of allocations, which then fail.
inline constexpr const char *kLimitedProduct = "limited_product";

// Loop IR: facts of a buffer argument, named by one string operand; usable before its fields are.
inline constexpr const char *kBufferIsNull = "buffer_is_null";          // Bool: the pointer itself
inline constexpr const char *kBufferHostIsNull = "buffer_host_is_null"; // Bool
inline constexpr const char *kBufferDimIsNull = "buffer_dim_is_null";   // Bool
inline constexpr const char *kBufferType = "buffer_type";               // UInt(32): code|bits<<8|lanes<<16
inline constexpr const char *kBufferDimensions = "buffer_dimensions";   // Int(32)
inline constexpr const char *kBufferPointer = "buffer_pointer";         // Handle: the pointer itself
inline constexpr const char *kBufferHost = "buffer_host";               // UInt(64): address of elements

}  // namespace polyhalite::intrinsic

namespace polyhalite::math {

// Pure C math functions (CallKind::Math), for float32 and float64; but round takes halves to the
// even neighbour.
inline constexpr const char *kNames[] = {"sqrt",  "exp",   "log",  "sin",  "cos",   "tan",
                                         "asin",  "acos",  "atan", "atan2", "sinh", "cosh",
                                         "tanh",  "asinh", "acosh", "atanh", "pow", "floor",
                                         "ceil",  "round", "trunc"};

}  // namespace polyhalite::math
