// Tuple: several values that are computed together.
#pragma once

#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/effects.h"
#include "polyhalite/expr.h"
#include "polyhalite/operators.h"
#include "polyhalite/var.h"

namespace polyhalite {

class FuncRef;

/// At least one Expr, of any types. A Func that is defined as a Tuple has one value, and one
/// buffer, for each.
class Tuple {
 public:
  explicit Tuple(Expr e) : exprs_{std::move(e)} {}
  template <typename... Args, typename = std::enable_if_t<detail::all_exprs<Args...>>>
  Tuple(const Expr &a, const Expr &b, Args &&...more)  // NOLINT: f(x) = {a, b}
      : exprs_{a, b, Expr(std::forward<Args>(more))...} {}
  /// CompileError for an empty list.
  explicit Tuple(const std::vector<Expr> &list);
  /// All values of a Func at a point.
  Tuple(const FuncRef &f);  // NOLINT

  size_t size() const { return exprs_.size(); }
  /// CompileError for an index that it has not.
  Expr &operator[](size_t i) { return exprs_[checked(i)]; }
  Expr operator[](size_t i) const { return exprs_[checked(i)]; }
  const std::vector<Expr> &as_vector() const { return exprs_; }
  auto begin() { return exprs_.begin(); }
  auto end() { return exprs_.end(); }
  auto begin() const { return exprs_.begin(); }
  auto end() const { return exprs_.end(); }
  /// The only value; CompileError where there are several.
  operator Expr() const;  // NOLINT

 private:
  size_t checked(size_t i) const;
  std::vector<Expr> exprs_;
};

/// Component by component; CompileError where the sizes differ.
Tuple select(const Expr &condition, const Tuple &true_value, const Tuple &false_value);
Tuple select(const Tuple &condition, const Tuple &true_value, const Tuple &false_value);
/// select(c0, v0, c1, v1, ..., otherwise)
template <typename... Args>
Tuple select(const Expr &c0, const Tuple &v0, const Expr &c1, const Tuple &v1, Args &&...args) {
  return select(c0, v0, select(c1, v1, std::forward<Args>(args)...));
}
template <typename... Args>
Tuple select(const Tuple &c0, const Tuple &v0, const Tuple &c1, const Tuple &v1, Args &&...args) {
  return select(c0, v0, select(c1, v1, std::forward<Args>(args)...));
}

/// values[id]; the last one where id is out of range.
Expr mux(const Expr &id, const Tuple &values);
Tuple mux(const Expr &id, const std::vector<Tuple> &values);
inline Tuple mux(const Expr &id, std::initializer_list<Tuple> values) {
  return mux(id, std::vector<Tuple>(values));
}

// What has no arithmetic of its own, of each value.
Tuple likely(const Tuple &t);
Tuple likely_if_innermost(const Tuple &t);
Tuple strict_float(const Tuple &t);
Tuple memoize_tag(const Tuple &t, const std::vector<Expr> &keys);
template <typename... Args, typename = std::enable_if_t<(std::is_convertible_v<Args, Expr> && ...)>>
Tuple memoize_tag(const Tuple &t, Args &&...keys) {
  return memoize_tag(t, std::vector<Expr>{Expr(std::forward<Args>(keys))...});
}
/// All values, and what follows them, are one line.
Tuple print_when(const Expr &condition, const Tuple &t, const std::vector<Expr> &more);
template <typename... Args, typename = std::enable_if_t<(detail::is_printed<Args> && ...)>>
Tuple print_when(const Expr &condition, const Tuple &t, Args &&...more) {
  return print_when(condition, t, std::vector<Expr>{detail::printed(std::forward<Args>(more))...});
}
template <typename... Args>
Tuple print(const Tuple &t, Args &&...more) {
  return print_when(Expr(true), t, std::forward<Args>(more)...);
}
Tuple require(const Expr &condition, const Tuple &t, const std::vector<Expr> &message);
template <typename... Args, typename = std::enable_if_t<(detail::is_printed<Args> && ...)>>
Tuple require(const Expr &condition, const Tuple &t, Args &&...message) {
  return require(condition, t, std::vector<Expr>{detail::printed(std::forward<Args>(message))...});
}

}  // namespace polyhalite
