#include "codegen/passes/inside_clamps.h"

#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

class RewriteLoads : public ExprRewriter {
 public:
  explicit RewriteLoads(const std::function<Expr(const Expr &)> &rewrite) : rewrite_(rewrite) {}

 protected:
  Expr rewrite(const Expr &e) override {
    return e->op == Op::Load ? rewrite_(e) : rewrite_children(e);
  }

 private:
  const std::function<Expr(const Expr &)> &rewrite_;
};

Expr plain_difference(const Expr &a, const Expr &b) { return make_binary(Op::Sub, a, b); }

}  // namespace

bool is_not_negative(const Expr &e, const std::set<std::string> &variables) {
  const auto is = [&](size_t i) { return is_not_negative(e->args[i], variables); };
  int64_t number = 0;
  if (is_const_int(e, &number)) return number >= 0;
  switch (e->op) {
    case Op::Variable:
      return variables.count(as_variable(e)->name) > 0;
    case Op::Add:
    case Op::Mul:
    case Op::Min:
      return is(0) && is(1);
    case Op::Max:
      return is(0) || is(1);
    case Op::Div:
    case Op::Mod:
      return is_const_int(e->args[1], &number) && number > 0 && is(0);
    case Op::Select:
      return is(1) && is(2);
    default:
      return false;
  }
}

InsideClamps::InsideClamps(const Expr &condition, const std::set<std::string> &counters)
    : counters_(counters) {
  learn(condition);
}

void InsideClamps::learn(const Expr &c) {
  if (c->op == Op::And) {
    for (const Expr &part : c->args) learn(part);
    return;
  }
  const bool compares = c->op == Op::Lt || c->op == Op::Le || c->op == Op::Gt || c->op == Op::Ge;
  if (!compares || c->args[0].type() != Int(32)) return;
  const bool less = c->op == Op::Lt || c->op == Op::Le;
  const Expr low = c->args[less ? 0 : 1], high = c->args[less ? 1 : 0];
  const int apart = c->op == Op::Lt || c->op == Op::Gt ? 1 : 0;
  not_negative_.push_back(plain_difference(plain_difference(high, low), make_int(Int(32), apart)));
}

bool InsideClamps::is_least(const Expr &a, const Expr &b) const {
  for (const Expr &known : not_negative_) {
    int64_t more = 0;
    if (is_const_int(simplify(plain_difference(plain_difference(b, a), known)), &more) && more >= 0)
      return true;
  }
  int64_t least = 0;
  return is_const_int(a, &least) && least <= 0 && is_not_negative(b, counters_);
}

Expr InsideClamps::rewrite(const Expr &e) {
  const Expr r = rewrite_children(e);
  const bool min = r->op == Op::Min;
  if ((!min && r->op != Op::Max) || r.type() != Int(32)) return r;
  for (int side : {0, 1}) {
    const Expr &one = r->args[side], &other = r->args[1 - side];
    if (min ? is_least(one, other) : is_least(other, one)) return one;
  }
  return r;
}

Expr rewrite_loads(const Expr &e, const std::function<Expr(const Expr &)> &rewrite) {
  return RewriteLoads(rewrite)(e);
}

}  // namespace polyhalite
