// The names of intrinsic calls (CallKind::Intrinsic): one list, so that a misspelling fails to
// compile.
#pragma once

namespace polyhalite::intrinsic {

// likely(x) = x: a hint that the branch or clamp around it takes this value in the steady state.
// Loop partitioning cuts loops by it.
inline constexpr const char *kLikely = "likely";
// The same, but only for cuts of innermost loops.
inline constexpr const char *kLikelyIfInnermost = "likely_if_innermost";
inline constexpr const char *kAbs = "abs";    // result unsigned for Int, as in Halide
inline constexpr const char *kAbsd = "absd";  // |a - b|, result unsigned for Int
inline constexpr const char *kShiftLeft = "shift_left";
inline constexpr const char *kShiftRight = "shift_right";  // arithmetic for Int
inline constexpr const char *kBitwiseAnd = "bitwise_and";
inline constexpr const char *kBitwiseOr = "bitwise_or";
inline constexpr const char *kBitwiseXor = "bitwise_xor";
inline constexpr const char *kBitwiseNot = "bitwise_not";
inline constexpr const char *kStrictFloat =
    "strict_float";  // no contraction or reassociation inside
inline constexpr const char *kFma = "fma";
// Of the operand's type; of 0 the counts of zeros are the width.
inline constexpr const char *kPopcount = "popcount";
inline constexpr const char *kCountLeadingZeros = "count_leading_zeros";
inline constexpr const char *kCountTrailingZeros = "count_trailing_zeros";

// Integer functions that expand_intrinsic.h defines by other operators.
inline constexpr const char *kSaturatingAdd = "saturating_add";
inline constexpr const char *kSaturatingSub = "saturating_sub";
inline constexpr const char *kHalvingAdd = "halving_add";
inline constexpr const char *kHalvingSub = "halving_sub";
inline constexpr const char *kRoundingHalvingAdd = "rounding_halving_add";
inline constexpr const char *kRoundingShiftLeft = "rounding_shift_left";
inline constexpr const char *kRoundingShiftRight = "rounding_shift_right";
inline constexpr const char *kMulShiftRight = "mul_shift_right";
inline constexpr const char *kRoundingMulShiftRight = "rounding_mul_shift_right";
inline constexpr const char *kDivRoundToZero = "div_round_to_zero";
inline constexpr const char *kModRoundToZero = "mod_round_to_zero";

// Values with something beside them.
// promise_clamped(x, min, max) = x, which the user says lies in [min, max].
inline constexpr const char *kPromiseClamped = "promise_clamped";
// memoize_tag(x, keys...) = x: a memoized Func depends on x by the keys only.
inline constexpr const char *kMemoizeTag = "memoize_tag";
// print(condition, x, items...) = x; prints the items where the condition holds.
inline constexpr const char *kPrint = "print";
// require(condition, x, items...) = x; the pipeline fails where the condition does not hold.
inline constexpr const char *kRequire = "require";
// trace(func, event, parent, value_index, tag, numbers...) reports an event and is its number; the
// numbers are its coordinates, or stand behind the text of a tag.
// trace_access(x, condition, func, event, parent, value_index, coordinates...) = x, reported where
// the condition holds.
inline constexpr const char *kTrace = "trace";
inline constexpr const char *kTraceAccess = "trace_access";
// undef() has no value: a definition does not write where its value needs one.
inline constexpr const char *kUndef = "undef";
// Before definitions: random(seed, ...), replaced by arithmetic on variables.
inline constexpr const char *kRandom = "random";
// scatter_gather(a, b, ...) as a whole index or a whole value of an update: the update writes
// several cells, see cell_writes().
inline constexpr const char *kScatterGather = "scatter_gather";

// Multi-dimensional loop IR: guarded(c, f(i)) is f(i) where c holds, else any value, and then f is
// not read. flatten_storage leaves none.
inline constexpr const char *kGuarded = "guarded";
// Loop IR: prefetch(f(i), n) asks for the line that holds f(i), in the n-th cache (1 or 2) and those
// behind it; it reads nothing. Bool.
inline constexpr const char *kPrefetch = "prefetch";
// Loop IR: stream(f(i)) = f(i), read without keeping it in the caches.
inline constexpr const char *kStream = "stream";
// Loop IR: stream_fence() comes before what lets other threads read what this one has streamed.
// Bool.
inline constexpr const char *kStreamFence = "stream_fence";

inline constexpr const char *kUserContext = "user_context";  // Handle: the context of the call

// Extern stages (extern_stage.h): the arguments of their functions, and calls of those. A function
// is C's or C++'s by its name (cxx_symbol.h) or else by the target; that of kExternCStage is C's.
inline constexpr const char *kExternStage = "extern_stage";
inline constexpr const char *kExternCStage = "extern_c_stage";
// debug_to_file("name", view of f) writes f to a file.
inline constexpr const char *kDebugToFile = "debug_to_file";
inline constexpr const char *kExternBuffer = "extern_buffer";
inline constexpr const char *kExternIndex = "extern_index";
inline constexpr const char *kExternBounds = "extern_bounds";
inline constexpr const char *kBufferView = "buffer_view";
inline constexpr const char *kBufferQuery = "buffer_query";
// Loop IR: views that a memory sanitizer in the extern stage's function is told of: one whose
// elements this code wrote, and one whose elements that function has to write (hook_sanitizer).
inline constexpr const char *kWrittenBuffer = "written_buffer";
inline constexpr const char *kCheckedBuffer = "checked_buffer";

// Loop IR: sum_products(c, a, b), where a and b have r times as many lanes as c and perhaps
// narrower types: lane l is c[l] + a[l*r]*b[l*r] + ... + a[l*r + r-1]*b[l*r + r-1], products in c's
// type; floats are added in any order. The dot products of machines.
inline constexpr const char *kSumProducts = "sum_products";
// Loop IR: sum_matrix_products(c, a, b, m, g), a product of matrices: c has m rows of n lanes, a
// has m rows of k, and b has its k terms for each of n columns, g of a column side by side, as
// b[k/g][n][g]. Lane i*n + j is c[i, j] + a[i, 0]*b[0, j] + a[i, 1]*b[1, j] + ..., products in c's
// type; floats are added in any order. The matrix instructions of processors.
inline constexpr const char *kSumMatrixProducts = "sum_matrix_products";

// Loop IR: limited_product(limit, a, b...) is a * b * ... of numbers that are not negative where
// that is at most limit, else the largest Int(64): sizes of allocations, which then fail.
inline constexpr const char *kLimitedProduct = "limited_product";

// Loop IR: facts of a buffer argument, named by one string operand; usable before its fields are.
inline constexpr const char *kBufferIsNull = "buffer_is_null";           // Bool: the pointer itself
inline constexpr const char *kBufferHostIsNull = "buffer_host_is_null";  // Bool
inline constexpr const char *kBufferDimIsNull = "buffer_dim_is_null";    // Bool
inline constexpr const char *kBufferIsQuery = "buffer_is_query";         // Bool: no memory anywhere
inline constexpr const char *kBufferDeviceDirty = "buffer_device_dirty";  // Bool
inline constexpr const char *kBufferType = "buffer_type";  // UInt(32): code|bits<<8|lanes<<16
inline constexpr const char *kBufferDimensions = "buffer_dimensions";  // Int(32)
inline constexpr const char *kBufferPointer = "buffer_pointer";        // Handle: the pointer itself
inline constexpr const char *kBufferHost = "buffer_host";  // UInt(64): address of elements

}  // namespace polyhalite::intrinsic

namespace polyhalite::math {

// Pure C math functions (CallKind::Math), for float32 and float64; but round takes halves to the
// even neighbour.
inline constexpr const char *kNames[] = {
    "sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "pow", "floor", "ceil", "round", "trunc", "erf",
    // Less exact: an error of some 2^-14 of the result is allowed, for sines 2^-17 absolute.
    "fast_exp", "fast_log", "fast_pow", "fast_sin", "fast_cos", "fast_inverse",
    "fast_inverse_sqrt"};

}  // namespace polyhalite::math
