// Walking and rewriting expressions. Shared subtrees are visited once per walk.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lang/ir/node.h"

namespace polyhalite {

/// Calls `visit` on every distinct node below and including e, operands before users.
void for_each_node(const Expr &e, const std::function<void(const Expr &)> &visit);

/// Rewrites bottom-up through DAGs: derived classes override rewrite() and call rewrite_children()
/// where they have no wish of their own. Results are remembered per node.
class ExprRewriter {
 public:
  virtual ~ExprRewriter() = default;
  Expr operator()(const Expr &e);

 protected:
  virtual Expr rewrite(const Expr &e) { return rewrite_children(e); }
  /// e with each operand rewritten; e itself if none changed.
  Expr rewrite_children(const Expr &e);
  /// Forgets remembered results: needed where the meaning of a name changes between calls.
  void forget() {
    memo_.clear();
    keep_.clear();
  }

 private:
  std::unordered_map<const ExprNode *, Expr> memo_;
  std::vector<Expr> keep_;  // keys of memo_ stay alive
};

/// Replaces variables (of any kind) by name; Let-bound names shadow.
Expr substitute(const std::map<std::string, Expr> &values, const Expr &e);
Expr substitute(const std::string &name, const Expr &value, const Expr &e);
/// Does e call the Func of this name?
bool calls_func(const Expr &e, const std::string &name);
/// Is there a load in e, or a call of anything but intrinsics and functions of mathematics?
bool reads_memory(const Expr &e);
/// Does e use a variable of this name freely?
bool uses_variable(const Expr &e, const std::string &name);
/// The names of all free variables.
std::unordered_set<std::string> free_variables(const Expr &e);

}  // namespace polyhalite
