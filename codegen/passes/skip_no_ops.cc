#include "codegen/passes/skip_no_ops.h"

#include <algorithm>
#include <map>
#include <string>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "lang/simplify/under_condition.h"

namespace polyhalite {

namespace {

bool is_access(const Expr &e) {
  const CallNode *c = as_call(e);
  return c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
}

// Is it made of comparisons of Int(32)s that no memory decides?
bool compares_no_data(const Expr &e) {
  if (e->op == Op::And || e->op == Op::Or || e->op == Op::Not) {
    return std::all_of(e->args.begin(), e->args.end(), compares_no_data);
  }
  if (!is_comparison(e->op) || e->args[0].type() != Int(32)) return false;
  bool plain = true;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    plain = plain && n->op != Op::Load && !is_access(n) && !(c && c->kind == CallKind::Extern);
  });
  return plain;
}

// A store, and the condition under which it changes its cell.
struct GuardedStore {
  Expr where;  // null: always
  Stmt store;
};

// `values` are those of names around the store.
GuardedStore guarded(const Stmt &s, const std::map<std::string, Expr> &values) {
  if (s->value_count != 1) return {};
  const std::vector<Expr> cell(s->args.begin(), s->args.end() - 1);
  auto is_own = [&](const Expr &e) {
    const CallNode *c = as_call(e);
    return c && c->kind == CallKind::Func && c->name == s->name && c->value_index == 0 &&
           std::equal(c->args.begin(), c->args.end(), cell.begin(), cell.end(),
                      [](const Expr &a, const Expr &b) { return equal(a, b); });
  };
  const Expr &value = s->args.back();
  GuardedStore out;
  bool reads_own = false, reads_else = false;
  for_each_node(value, [&](const Expr &n) { reads_own = reads_own || is_own(n); });
  if (!reads_own) return out;
  for_each_node(substitute(values, value),
                [&](const Expr &n) { reads_else |= is_access(n) && !is_own(n); });
  if (!reads_else) return out;
  for_each_node(value, [&](const Expr &n) {
    if (n->op != Op::Select || out.where.defined() || !compares_no_data(n->args[0])) return;
    for (const bool holds : {false, true}) {
      if (!is_own(simplify(under_condition(value, n->args[0], holds)))) continue;
      std::vector<Expr> args = cell;
      args.push_back(simplify(under_condition(value, n->args[0], !holds)));
      out = {holds ? simplify(make_not(n->args[0])) : n->args[0],
             with_parts(s, std::move(args), {})};
      return;
    }
  });
  return out;
}

class SkipNoOps : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Atomic) return s;  // one operation
    if (vectors_ == 0 && (s->kind == StmtKind::Provide || s->kind == StmtKind::Let)) {
      const Stmt store = store_in(s);
      if (store.defined()) return store;
    }
    const bool vector = s->kind == StmtKind::For && s->loop_kind == LoopKind::Vector;
    vectors_ += vector;
    const Stmt out = rewrite_children(s);
    vectors_ -= vector;
    return out;
  }

 private:
  // A store and names for what it reads: if condition { let r = ...; f(x) = ... r ... }
  static Stmt store_in(const Stmt &s) {
    std::map<std::string, Expr> values;
    std::vector<Stmt> lets;
    Stmt inner = s;
    for (; inner->kind == StmtKind::Let; inner = inner->body[0]) {
      lets.push_back(inner);
      values[inner->name] = substitute(values, inner->args[0]);
    }
    if (inner->kind != StmtKind::Provide) return Stmt();
    const GuardedStore g = guarded(inner, values);
    if (!g.where.defined()) return Stmt();
    for (const Stmt &let : lets) {
      if (uses_variable(g.where, let->name)) return Stmt();
    }
    Stmt out = g.store;
    for (size_t i = lets.size(); i-- > 0;) out = with_parts(lets[i], lets[i]->args, {out});
    return make_if(g.where, out);
  }

  int vectors_ = 0;
};

}  // namespace

Function skip_no_ops(const Function &f) {
  Function out = f;
  out.body = SkipNoOps()(f.body);
  return out;
}

}  // namespace polyhalite
