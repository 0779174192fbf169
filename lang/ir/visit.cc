#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

void walk(const Expr &e, std::unordered_set<const ExprNode *> &seen,
          const std::function<void(const Expr &)> &visit) {
  if (!e.defined() || !seen.insert(e.get()).second) return;
  for (const Expr &a : e->args) walk(a, seen, visit);
  visit(e);
}

class Substitution : public ExprRewriter {
 public:
  explicit Substitution(const std::map<std::string, Expr> &values) : values_(values) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (const VariableNode *v = as_variable(e)) {
      auto it = values_.find(v->name);
      return it == values_.end() ? e : it->second;
    }
    if (const LetNode *let = as_let(e); let && values_.count(let->name)) {
      std::map<std::string, Expr> inner = values_;
      inner.erase(let->name);
      return with_args(e, {(*this)(let->args[0]), Substitution(inner)(let->args[1])});
    }
    return rewrite_children(e);
  }

 private:
  const std::map<std::string, Expr> &values_;
};

void collect_free(const Expr &e, std::unordered_set<std::string> &bound,
                  std::unordered_set<const ExprNode *> &seen,
                  std::unordered_set<std::string> &found) {
  if (!e.defined()) return;
  // A shared subtree has the same free variables everywhere unless a Let above it binds some.
  if (bound.empty() && !seen.insert(e.get()).second) return;
  if (const VariableNode *v = as_variable(e)) {
    if (!bound.count(v->name)) found.insert(v->name);
    return;
  }
  if (const LetNode *let = as_let(e)) {
    collect_free(let->args[0], bound, seen, found);
    const bool fresh = bound.insert(let->name).second;
    collect_free(let->args[1], bound, seen, found);
    if (fresh) bound.erase(let->name);
    return;
  }
  for (const Expr &a : e->args) collect_free(a, bound, seen, found);
}

}  // namespace

void for_each_node(const Expr &e, const std::function<void(const Expr &)> &visit) {
  std::unordered_set<const ExprNode *> seen;
  walk(e, seen, visit);
}

Expr ExprRewriter::operator()(const Expr &e) {
  if (!e.defined()) return e;
  auto it = memo_.find(e.get());
  if (it != memo_.end()) return it->second;
  Expr r = rewrite(e);
  memo_[e.get()] = r;
  keep_.push_back(e);
  return r;
}

Expr ExprRewriter::rewrite_children(const Expr &e) {
  std::vector<Expr> args;
  args.reserve(e->args.size());
  bool changed = false;
  for (const Expr &a : e->args) {
    args.push_back((*this)(a));
    changed |= !args.back().same_as(a);
  }
  return changed ? with_args(e, std::move(args)) : e;
}

Expr substitute(const std::map<std::string, Expr> &values, const Expr &e) {
  if (values.empty()) return e;
  return Substitution(values)(e);
}

Expr substitute(const std::string &name, const Expr &value, const Expr &e) {
  return substitute(std::map<std::string, Expr>{{name, value}}, e);
}

bool reads_memory(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *call = as_call(n);
    found |= n->op == Op::Load ||
             (call && call->kind != CallKind::Intrinsic && call->kind != CallKind::Math);
  });
  return found;
}

bool calls_func(const Expr &e, const std::string &name) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    found = found || (c && c->kind == CallKind::Func && c->name == name);
  });
  return found;
}

bool uses_variable(const Expr &e, const std::string &name) {
  return free_variables(e).count(name) > 0;
}

std::unordered_set<std::string> free_variables(const Expr &e) {
  std::unordered_set<std::string> bound, found;
  std::unordered_set<const ExprNode *> seen;
  collect_free(e, bound, seen, found);
  return found;
}

}  // namespace polyhalite
