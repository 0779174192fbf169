// Values with something beside them: what they print, require, promise, or leave open; and random
// numbers.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/expr.h"
#include "polyhalite/operators.h"

namespace polyhalite {

namespace detail {

inline Expr printed(const char *text) { return Expr(std::string(text)); }
inline Expr printed(std::string text) { return Expr(std::move(text)); }
inline Expr printed(Expr e) { return e; }
template <typename T>
inline constexpr bool is_printed =
    std::is_convertible_v<T, Expr> || std::is_convertible_v<T, std::string>;

}  // namespace detail

/// values[0], and wherever it is computed the values are printed: texts as they are, integers as
/// %d, float32 as %f, float64 as %e, one space between, one line each time. At most 8191
/// characters. Vectors print lane after lane.
Expr print(const std::vector<Expr> &values);
template <typename... Args>
Expr print(Expr value, Args &&...more) {
  return print(std::vector<Expr>{std::move(value), detail::printed(std::forward<Args>(more))...});
}
/// The same where the condition holds.
Expr print_when(Expr condition, const std::vector<Expr> &values);
template <typename... Args, typename = std::enable_if_t<(detail::is_printed<Args> && ...)>>
Expr print_when(Expr condition, Expr value, Args &&...more) {
  return print_when(
      std::move(condition),
      std::vector<Expr>{std::move(value), detail::printed(std::forward<Args>(more))...});
}

/// values[0]; where the condition does not hold, the pipeline ends with an error that has the
/// other values as its text.
Expr require(Expr condition, const std::vector<Expr> &values);
template <typename... Args, typename = std::enable_if_t<(detail::is_printed<Args> && ...)>>
Expr require(Expr condition, Expr value, Args &&...message) {
  return require(
      std::move(condition),
      std::vector<Expr>{std::move(value), detail::printed(std::forward<Args>(message))...});
}

/// No value of type t: a definition writes nothing where its value would be made from one, and the
/// output keeps what it had. Elsewhere a Func has arbitrary values there.
Expr undef(Type t);
template <typename T>
Expr undef() {
  return undef(type_of<T>());
}

/// result, which a memoized Func takes to be a function of the keys alone.
Expr memoize_tag(Expr result, const std::vector<Expr> &keys);
template <typename... Args, typename = std::enable_if_t<(std::is_convertible_v<Args, Expr> && ...)>>
Expr memoize_tag(Expr result, Args &&...keys) {
  return memoize_tag(std::move(result), std::vector<Expr>{Expr(std::forward<Args>(keys))...});
}

/// value, which is promised to lie in [min, max]: regions are sized by the promise. Only code for a
/// target with the feature check_unsafe_promises checks it, and fails where it is broken.
Expr unsafe_promise_clamped(const Expr &value, const Expr &min, const Expr &max);

/// Random numbers: of the pure and reduction variables of the definition that uses them, the
/// definition itself, the seed and the call that made them. Equal in every run, whatever the
/// schedule; two uses of one Expr are equal. The float is in [0, 1).
Expr random_float(Expr seed = Expr());
Expr random_uint(Expr seed = Expr());
Expr random_int(Expr seed = Expr());

}  // namespace polyhalite
