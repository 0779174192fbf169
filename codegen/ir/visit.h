// Walking and rewriting statements. Statements are trees: nothing is remembered between visits.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "codegen/ir/stmt.h"

namespace polyhalite {

/// Calls `visit` on s and every statement below it, outer ones first.
void for_each_stmt(const Stmt &s, const std::function<void(const Stmt &)> &visit);

/// Calls `visit` on every operand of s and of the statements below it, in the order of the text.
void for_each_operand(const Stmt &s, const std::function<void(const Expr &)> &visit);

/// Rewrites a statement: derived classes override what they change and call rewrite_children() for
/// the rest.
class StmtRewriter {
 public:
  virtual ~StmtRewriter() = default;
  Stmt operator()(const Stmt &s) { return s.defined() ? rewrite(s) : s; }

 protected:
  virtual Stmt rewrite(const Stmt &s) { return rewrite_children(s); }
  virtual Expr rewrite_expr(const Expr &e) { return e; }
  /// s with each operand, then each body, rewritten; s itself if none changed.
  Stmt rewrite_children(const Stmt &s);
};

/// Replaces free variables by name. Loop IR never shadows, so that no binder needs care.
Stmt substitute(const std::map<std::string, Expr> &values, const Stmt &s);
Stmt substitute(const std::string &name, const Expr &value, const Stmt &s);

/// Does s use a variable of this name?
bool uses_variable(const Stmt &s, const std::string &name);
/// The names of all variables that s uses, those that it binds itself included.
std::set<std::string> used_variables(const Stmt &s);
/// The names of the buffers, or of Funcs for all of theirs, that s reads or writes.
std::set<std::string> accessed_buffers(const Stmt &s);

/// The Func "f" of the buffers "f", "f.0", "f.1"...
std::string func_of_buffer(const std::string &buffer);

/// True of an empty block.
bool is_no_op(const Stmt &s);
/// How many statements and expression nodes s holds: what it costs to copy it.
size_t size_of(const Stmt &s);

}  // namespace polyhalite
