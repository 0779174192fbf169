#include "codegen/passes/skip_no_ops.h"

#include <algorithm>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

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

class Decided : public ExprRewriter {
 public:
  Decided(const Expr &condition, bool holds) : condition_(condition), holds_(holds) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (e->op == Op::Select && equal(e->args[0], condition_)) {
      return (*this)(e->args[holds_ ? 1 : 2]);
    }
    return rewrite_children(e);
  }

 private:
  const Expr &condition_;
  const bool holds_;
};

class SkipNoOps : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Provide && vectors_ == 0) return provide(s);
    if (s->kind == StmtKind::Atomic) return s;  // one operation
    const bool vector = s->kind == StmtKind::For && s->loop_kind == LoopKind::Vector;
    vectors_ += vector;
    const Stmt out = rewrite_children(s);
    vectors_ -= vector;
    return out;
  }

 private:
  // A store of one value: the cell's indices, then the value.
  static Stmt provide(const Stmt &s) {
    if (s->value_count != 1) return s;
    const std::vector<Expr> cell(s->args.begin(), s->args.end() - 1);
    auto is_own = [&](const Expr &e) {
      const CallNode *c = as_call(e);
      return c && c->kind == CallKind::Func && c->name == s->name && c->value_index == 0 &&
             std::equal(c->args.begin(), c->args.end(), cell.begin(), cell.end(),
                        [](const Expr &a, const Expr &b) { return equal(a, b); });
    };
    const Expr &value = s->args.back();
    bool reads_else = false;
    for_each_node(value, [&](const Expr &n) { reads_else |= is_access(n) && !is_own(n); });
    if (!reads_else) return s;
    Stmt out = s;
    for_each_node(value, [&](const Expr &n) {
      if (n->op != Op::Select || !out.same_as(s) || !compares_no_data(n->args[0])) return;
      for (const bool holds : {false, true}) {
        if (!is_own(simplify(Decided(n->args[0], holds)(value)))) continue;
        const Expr other = simplify(Decided(n->args[0], !holds)(value));
        const Expr where = holds ? simplify(make_not(n->args[0])) : n->args[0];
        std::vector<Expr> args = cell;
        args.push_back(other);
        out = make_if(where, with_parts(s, std::move(args), {}));
        return;
      }
    });
    return out;
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
