// FuncRef: f(x, y), on either side of a definition.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"
#include "polyhalite/operators.h"
#include "polyhalite/stage.h"
#include "polyhalite/tuple.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct FunctionContents;
class FuncTupleElementRef;

/// What a Func and its calls are handles to; a Func is made of one again.
class FunctionHandle : public std::shared_ptr<FunctionContents> {
 public:
  FunctionHandle(std::shared_ptr<FunctionContents> contents)  // NOLINT
      : std::shared_ptr<FunctionContents>(std::move(contents)) {}
  const std::string &name() const;
  bool has_pure_definition() const;
  bool has_update_definition() const;
};

/// f(args): a value where it is used, a definition where it is assigned to.
///
/// `_` among the arguments stands for the dimensions that are not named: of a defined Func, all
/// others; of an undefined one, as many as the right-hand side's calls with `_` have.
class FuncRef {
 public:
  FuncRef(std::shared_ptr<FunctionContents> func, std::vector<Expr> args, SourceLocation where);
  FuncRef(const FuncRef &) = default;

  /// The pure definition if there is none yet, else an update. All values of an update are computed
  /// before the first is written.
  Stage operator=(const Expr &value);     // NOLINT
  Stage operator=(const Tuple &values);   // NOLINT
  Stage operator=(const FuncRef &other);  // NOLINT
  /// Updates, component by component. An undefined Func is defined first: as 0 for += and -=, as 1
  /// for *= and /=.
  Stage operator+=(const Expr &value);
  Stage operator+=(const Tuple &values);
  Stage operator+=(const FuncRef &other);
  Stage operator-=(const Expr &value);
  Stage operator-=(const Tuple &values);
  Stage operator-=(const FuncRef &other);
  Stage operator*=(const Expr &value);
  Stage operator*=(const Tuple &values);
  Stage operator*=(const FuncRef &other);
  Stage operator/=(const Expr &value);
  Stage operator/=(const Tuple &values);
  Stage operator/=(const FuncRef &other);

  /// CompileError for an undefined Func, and for one of several values.
  operator Expr() const;  // NOLINT
  /// Value i of a Func that is defined as a Tuple.
  FuncTupleElementRef operator[](int i) const;
  /// How many values the Func has.
  size_t size() const;
  /// The same Func at equal arguments.
  bool equivalent_to(const FuncRef &other) const;

  FunctionHandle function() const { return func_; }

 private:
  friend class FuncTupleElementRef;
  friend class Tuple;
  using Operator = Expr (*)(Expr, Expr);
  Stage define(std::vector<Expr> values);
  Stage update(const std::vector<Expr> &values, int initial, Operator combine);
  /// Value i at these arguments.
  Expr value(int i) const;
  void require_defined_func() const;

  std::shared_ptr<FunctionContents> func_;
  std::vector<Expr> args_;  // with `_` only while the Func is undefined
  SourceLocation where_;
};

/// f(args)[i]. An assignment is an update that leaves the other values as they are.
class FuncTupleElementRef {
 public:
  FuncTupleElementRef(const FuncTupleElementRef &) = default;

  Stage operator=(const Expr &value);                                                // NOLINT
  Stage operator=(const FuncRef &value) { return *this = Expr(value); }              // NOLINT
  Stage operator=(const FuncTupleElementRef &value) { return *this = Expr(value); }  // NOLINT
  Stage operator+=(const Expr &value);
  Stage operator-=(const Expr &value);
  Stage operator*=(const Expr &value);
  Stage operator/=(const Expr &value);
  operator Expr() const;  // NOLINT
  int index() const { return index_; }

 private:
  friend class FuncRef;
  FuncTupleElementRef(FuncRef ref, int index) : ref_(std::move(ref)), index_(index) {}
  FuncRef ref_;
  int index_;
};

/// In an update, several cells at once: f(scatter(a, b)) = gather(u, v) writes u to f(a), then v to
/// f(b), once all indices and values are known. Either word may stand on either side, within larger
/// expressions too; all of one update have the same number of operands. Operands meet as those of
/// an operator do.
Expr scatter(const std::vector<Expr> &operands, Here here = Here());
Expr gather(const std::vector<Expr> &operands, Here here = Here());
template <typename... Args, typename = std::enable_if_t<detail::all_exprs<Args...>>>
Expr scatter(const Expr &first, const Expr &second, Args &&...more) {
  return scatter(std::vector<Expr>{first, second, Expr(std::forward<Args>(more))...});
}
template <typename... Args, typename = std::enable_if_t<detail::all_exprs<Args...>>>
Expr gather(const Expr &first, const Expr &second, Args &&...more) {
  return gather(std::vector<Expr>{first, second, Expr(std::forward<Args>(more))...});
}

inline Expr min(const FuncRef &a, const FuncRef &b) { return min(Expr(a), Expr(b)); }
inline Expr max(const FuncRef &a, const FuncRef &b) { return max(Expr(a), Expr(b)); }
// Calls convert to Expr and to Tuple: of all their values, which of one value is an Expr again.
inline Tuple select(const Expr &condition, const FuncRef &a, const FuncRef &b) {
  return select(condition, Tuple(a), Tuple(b));
}
template <typename... Args>
Tuple select(const Expr &c0, const FuncRef &v0, const Expr &c1, const FuncRef &v1, Args &&...args) {
  return select(c0, Tuple(v0), Tuple(select(c1, v1, std::forward<Args>(args)...)));
}
inline Tuple likely(const FuncRef &f) { return likely(Tuple(f)); }
inline Tuple likely_if_innermost(const FuncRef &f) { return likely_if_innermost(Tuple(f)); }
inline Tuple strict_float(const FuncRef &f) { return strict_float(Tuple(f)); }
template <typename... Args>
Tuple memoize_tag(const FuncRef &f, Args &&...keys) {
  return memoize_tag(Tuple(f), std::forward<Args>(keys)...);
}
template <typename... Args>
Tuple print(const FuncRef &f, Args &&...more) {
  return print(Tuple(f), std::forward<Args>(more)...);
}
template <typename... Args>
Tuple print_when(const Expr &condition, const FuncRef &f, Args &&...more) {
  return print_when(condition, Tuple(f), std::forward<Args>(more)...);
}
template <typename... Args>
Tuple require(const Expr &condition, const FuncRef &f, Args &&...message) {
  return require(condition, Tuple(f), std::forward<Args>(message)...);
}
inline Expr mux(const Expr &id, std::initializer_list<FuncRef> values, ExprSite site = ExprSite()) {
  return mux(id, std::vector<Expr>(values.begin(), values.end()), site);
}
inline Expr mux(const Expr &id, std::initializer_list<Expr> values, ExprSite site = ExprSite()) {
  return mux(id, std::vector<Expr>(values), site);
}

}  // namespace polyhalite
