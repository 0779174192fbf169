// Var and RVar: names of dimensions and of loops.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "polyhalite/error.h"
#include "polyhalite/expr.h"

namespace polyhalite {

struct ReductionDomain;

/// The caller's place, as a defaulted argument that no user value converts to.
struct Here {
  SourceLocation where;
  explicit Here(const char *file = __builtin_FILE(), int line = __builtin_LINE())
      : where{file, line} {}
  explicit Here(SourceLocation place) : where(std::move(place)) {}
};

/// One argument of a call, with the call's line.
struct Index {
  Expr value;
  SourceLocation where;
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T, Expr>>>
  Index(T &&v, const char *file = __builtin_FILE(), int line = __builtin_LINE())  // NOLINT
      : value(std::forward<T>(v)), where{file, line} {}
};

/// A free variable of a definition, and the name of its loop. Two Vars of the same name are the
/// same. Characters other than letters, digits and '_' become '_'.
class Var {
 public:
  /// A name that no other Var has.
  Var();
  Var(const std::string &name);  // NOLINT: f(x, "y") is not meant, but Var x = "x" is
  /// Var x = "x". A template, since 0 would convert to a pointer: {0, 0} are no Vars.
  template <typename T, typename = std::enable_if_t<std::is_same_v<std::decay_t<T>, const char *> ||
                                                    std::is_same_v<std::decay_t<T>, char *>>>
  Var(const T &name) : Var(std::string(name)) {}  // NOLINT

  const std::string &name() const { return name_; }
  bool same_as(const Var &o) const { return name_ == o.name_; }
  operator Expr() const;  // NOLINT

  /// The Var of an existing loop or argument, whatever its name.
  static Var of_loop(std::string name);
  /// The place outside of all loops of a stage, for compute_at and its like.
  static Var outermost();
  /// The variable that stands for dimension n of a Func whose arguments are not named: "_0".
  static Var implicit(int n);
  /// "_0", "_1"...
  static bool is_implicit(const std::string &name);
  bool is_implicit() const { return is_implicit(name_); }
  /// n of implicit(n), or -1.
  static int implicit_index(const std::string &name);
  int implicit_index() const { return implicit_index(name_); }
  /// "_": see FuncRef.
  static bool is_placeholder(const std::string &name) { return name == "_"; }
  bool is_placeholder() const { return is_placeholder(name_); }

 private:
  std::string name_;
};

extern const Var _, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9;

/// A variable of a reduction domain, or the name of a loop that splitting one makes.
class RVar {
 public:
  RVar();
  explicit RVar(const std::string &name);
  explicit RVar(const char *name) : RVar(std::string(name)) {}
  RVar(std::shared_ptr<const ReductionDomain> domain, int index);

  const std::string &name() const { return name_; }
  /// Of a variable of a domain; CompileError for the name of a loop.
  Expr min() const;
  Expr extent() const;
  operator Expr() const;  // NOLINT

 private:
  std::string name_;
  std::shared_ptr<const ReductionDomain> domain_;
  int index_ = -1;
};

class RDom;

/// A loop's name in a schedule, with the line of the directive.
struct VarOrRVar {
  std::string name;
  bool is_rvar;
  SourceLocation where;

  VarOrRVar(const Var &v, const char *file = __builtin_FILE(),  // NOLINT
            int line = __builtin_LINE())
      : name(v.name()), is_rvar(false), where{file, line} {}
  VarOrRVar(const RVar &r, const char *file = __builtin_FILE(),  // NOLINT
            int line = __builtin_LINE())
      : name(r.name()), is_rvar(true), where{file, line} {}
  VarOrRVar(const std::string &loop, bool is_reduction, const char *file = __builtin_FILE(),
            int line = __builtin_LINE())
      : name(loop), is_rvar(is_reduction), where{file, line} {}
  VarOrRVar(const RDom &r, const char *file = __builtin_FILE(),  // NOLINT
            int line = __builtin_LINE());
};

}  // namespace polyhalite
