// Halide's names over Polyhalite, so that programs which use Halide's public interface compile.
#pragma once

// Programs rely on what the header of the language brings with it.
#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <istream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "HalideBuffer.h"
#include "HalideExtern.h"
#include "HalideRuntime.h"
#include "polyhalite/generator.h"
#include "polyhalite/polyhalite.h"
#include "polyhalite/report.h"

namespace polyhalite {
// Halide's names, which programs have found by the argument's namespace.
bool is_zero(const Expr &e);
bool is_one(const Expr &e);
inline bool is_const_zero(const Expr &e) { return is_zero(e); }
inline bool is_const_one(const Expr &e) { return is_one(e); }
}  // namespace polyhalite

namespace Halide {
using namespace polyhalite;
using ScheduleHandle = Stage;

namespace Internal {
using Function = polyhalite::FunctionHandle;
using polyhalite::is_const_one;
using polyhalite::is_const_zero;

// Programs of Halide see an error where a buffer reaches 2 GiB, unless the target has
// large_buffers.
inline const bool buffers_are_limited = (polyhalite::set_default_buffer_limit(INT32_MAX), true);

// A call of the program's own function in an expression, by the types of its arguments.
struct Call {
  enum CallType { Extern, PureExtern, ExternCPlusPlus };
  static Expr make(const Type &result, const std::string &name, const std::vector<Expr> &args,
                   CallType kind) {
    std::vector<Type> types;
    for (const Expr &e : args) types.push_back(e.type());
    const bool global = kind == ExternCPlusPlus && name.find("::") == std::string::npos;
    return kind == PureExtern
               ? polyhalite::pure_extern_call(result, name, args, types)
               : polyhalite::extern_call(result, (global ? "::" : "") + name, args, types);
  }
};

// What a main() of generators calls.
inline int generate_filter_main(int argc, char **argv) {
  return polyhalite::generate_main(argc, argv, std::cout, std::cerr);
}

// What pipelines in this process share.
struct JITSharedRuntime {
  static void memoization_cache_set_size(int64_t bytes) {
    polyhalite_memoization_cache_set_size(bytes);
  }
  static void memoization_cache_evict(uint64_t eviction_key) {
    polyhalite_memoization_cache_evict(nullptr, eviction_key);
  }
  static void release_all() { polyhalite_memoization_cache_cleanup(); }
  static int get_num_threads() { return polyhalite_get_num_threads(); }
  static int set_num_threads(int n) { return polyhalite_set_num_threads(n); }
};
}  // namespace Internal

}  // namespace Halide

// Messages of a program's own; the last two tell of its own mistakes.
#define _halide_user_assert(condition) user_assert(condition)
#define _halide_internal_assert(condition) internal_assert(condition)
#define user_warning ::polyhalite::detail::WarningStream()
#define user_error ::polyhalite::detail::UserErrorStream()
#define user_assert(condition) \
  if (condition) {             \
  } else                       \
    user_error
#define internal_error \
  ::polyhalite::detail::InternalErrorStream(::polyhalite::SourceLocation{__FILE__, __LINE__})
#define internal_assert(condition) \
  if (condition) {                 \
  } else                           \
    internal_error

#define HALIDE_REGISTER_GENERATOR(...) POLYHALITE_REGISTER_GENERATOR(__VA_ARGS__)
#define HALIDE_REGISTER_GENERATOR_ALIAS(...) POLYHALITE_REGISTER_GENERATOR_ALIAS(__VA_ARGS__)

// Before generators with inputs that are pointers to T.
#define HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(T) POLYHALITE_DECLARE_POINTEE(Simple, T)
#define HALIDE_DECLARE_EXTERN_STRUCT_TYPE(T) POLYHALITE_DECLARE_POINTEE(Struct, T)
#define HALIDE_DECLARE_EXTERN_CLASS_TYPE(T) POLYHALITE_DECLARE_POINTEE(Class, T)
#define HALIDE_DECLARE_EXTERN_UNION_TYPE(T) POLYHALITE_DECLARE_POINTEE(Union, T)
