// evaluate: the value of an expression without free variables, computed by compiled code.
#pragma once

#include <cstddef>

#include "polyhalite/func.h"
#include "polyhalite/tuple.h"

namespace polyhalite {

namespace detail {

template <typename... Ts>
void take_values(const Realization &, size_t) {}
template <typename T, typename... Rest>
void take_values(const Realization &r, size_t i, T *first, Rest *...rest) {
  *first = Buffer<T>(r[i])();
  take_values(r, i + 1, rest...);
}

/// CompileError unless the Tuple has `count` values.
void check_value_count(const Tuple &t, size_t count, const Here &here);

}  // namespace detail

/// CompileError where T is not e's type, or e has free variables.
template <typename T>
T evaluate(const Expr &e, Here here = Here()) {
  Func f("evaluate", here);
  f(here) = e;
  return Buffer<T>(f.realize({}, Target(), here))();
}

/// One pointer for each value.
template <typename First, typename... Rest>
void evaluate(const Tuple &t, First *first, Rest *...rest) {
  const Here here;
  detail::check_value_count(t, 1 + sizeof...(rest), here);
  Func f("evaluate", here);
  f(here) = t;
  detail::take_values(f.realize(), 0, first, rest...);
}

/// The same on the host: there is no device to run on.
template <typename T>
T evaluate_may_gpu(const Expr &e, Here here = Here()) {
  return evaluate<T>(e, here);
}
template <typename First, typename... Rest>
void evaluate_may_gpu(const Tuple &t, First *first, Rest *...rest) {
  evaluate(t, first, rest...);
}

}  // namespace polyhalite
