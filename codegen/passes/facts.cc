#include "codegen/passes/facts.h"

#include <algorithm>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

Expr without_likely(const Expr &e) {
  const CallNode *call = as_intrinsic(e, intrinsic::kLikely);
  return call ? without_likely(call->args[0]) : e;
}

Linear difference(const Expr &a, const Expr &b, int64_t constant) {
  Linear l = to_linear(a);
  l.add(to_linear(b), -1);
  l.constant += constant;
  return l;
}

bool is_affine_scalar(const Expr &e) { return e.type().is_affine() && e.type().is_scalar(); }

class ApplyFacts : public ExprRewriter {
 public:
  explicit ApplyFacts(const Facts &facts) : facts_(facts) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (e->op == Op::Let) return e;  // its symbol could be a name that facts are about
    const Expr r = rewrite_children(e);
    if (r->op == Op::Select) {
      if (is_true(r->args[0])) return r->args[1];
      if (is_false(r->args[0])) return r->args[2];
    }
    if (r.type() == Bool()) {
      if (const auto known = facts_.decide(r)) return *known ? make_true() : make_false();
      if (r->op == Op::And || r->op == Op::Or) return logic(r);
    }
    if ((r->op == Op::Min || r->op == Op::Max) && is_affine_scalar(r)) {
      const Expr a_first =
          make_binary(Op::Le, without_likely(r->args[0]), without_likely(r->args[1]));
      const Expr b_first =
          make_binary(Op::Ge, without_likely(r->args[0]), without_likely(r->args[1]));
      if (facts_.decide(a_first) == true) return r->args[r->op == Op::Min ? 0 : 1];
      if (facts_.decide(b_first) == true) return r->args[r->op == Op::Min ? 1 : 0];
    }
    return r;
  }

 private:
  static Expr logic(const Expr &r) {
    for (int side = 0; side < 2; side++) {
      const Expr &one = r->args[side], &other = r->args[1 - side];
      if (is_true(one)) return r->op == Op::And ? other : one;
      if (is_false(one)) return r->op == Op::And ? one : other;
    }
    return r;
  }

  const Facts &facts_;
};

}  // namespace

void Facts::open() { frames_.push_back({facts_.size(), conditions_.size(), "", std::nullopt, ""}); }

void Facts::pop() {
  const Frame &f = frames_.back();
  facts_.resize(f.facts);
  conditions_.resize(f.conditions);
  if (!f.named.empty()) values_.erase(f.named);
  if (!f.bounded.empty()) {
    if (f.hidden) {
      bounds_[f.bounded] = *f.hidden;
    } else {
      bounds_.erase(f.bounded);
    }
  }
  frames_.pop_back();
}

void Facts::learn_bounds(const std::string &name, const VariableBound &b) {
  if (!b.min && !b.max && b.divisor == 1) return;
  Frame &f = frames_.back();
  f.bounded = name;
  if (auto it = bounds_.find(name); it != bounds_.end()) f.hidden = it->second;
  bounds_[name] = b;
}

void Facts::push_condition(const Expr &condition, bool holds) {
  open();
  learn(condition, holds);
}

void Facts::learn(const Expr &condition, bool holds) {
  const Expr c = without_likely(condition);
  conditions_.emplace_back(c, holds);
  if (c->op == Op::Not) return learn(c->args[0], !holds);
  if (c->op == (holds ? Op::And : Op::Or)) {
    learn(c->args[0], holds);
    return learn(c->args[1], holds);
  }
  if (!is_comparison(c->op) || !is_affine_scalar(c->args[0])) return;
  const Expr a = without_likely(c->args[0]), b = without_likely(c->args[1]);
  Op op = c->op;
  if (!holds) {
    op = op == Op::Lt   ? Op::Ge
         : op == Op::Le ? Op::Gt
         : op == Op::Gt ? Op::Le
         : op == Op::Ge ? Op::Lt
         : op == Op::Eq ? Op::Ne
                        : Op::Eq;
  }
  if (op == Op::Lt) facts_.push_back(difference(b, a, -1));
  if (op == Op::Le || op == Op::Eq) facts_.push_back(difference(b, a, 0));
  if (op == Op::Gt) facts_.push_back(difference(a, b, -1));
  if (op == Op::Ge || op == Op::Eq) facts_.push_back(difference(a, b, 0));
}

void Facts::push_range(const Expr &counter, const Expr &min, const Expr &extent) {
  open();
  const Expr end = make_binary(Op::Add, min, extent);
  ConstantBounds b;
  b.min = constant_bounds(min, bounds_).min;
  b.max = constant_bounds(simplify(end, bounds_), bounds_).max;
  if (b.max) b.max = *b.max - 1;
  learn_bounds(as_variable(counter)->name, b);
  facts_.push_back(difference(counter, min, 0));
  facts_.push_back(difference(end, counter, -1));
  // What is asked may have what a symbol stands for, rather than the symbol.
  const Expr spelled = substitute(values_, end);
  if (!spelled.same_as(end)) facts_.push_back(difference(spelled, counter, -1));
}

void Facts::push_value(const Expr &symbol, const Expr &value) {
  open();
  if (!is_affine_scalar(value)) return;
  const std::string &name = as_variable(symbol)->name;
  if (!reads_memory(value) && values_.emplace(name, value).second) frames_.back().named = name;
  learn_bounds(name, {constant_bounds(value, bounds_), constant_divisor(value, bounds_)});
  if (value->op == Op::Min || value->op == Op::Max) {
    for (const Expr &side : value->args) {
      const Expr s = without_likely(side);
      facts_.push_back(value->op == Op::Min ? difference(s, symbol, 0) : difference(symbol, s, 0));
    }
  }
}

bool Facts::holds(const Linear &goal) const {
  if (goal.is_constant()) return goal.constant >= 0;
  auto at_least_zero = [&](const Linear &l) {
    if (l.is_constant()) return l.constant >= 0;
    const auto min = constant_bounds(l, bounds_).min;
    return min && *min >= 0;
  };
  if (at_least_zero(goal)) return true;
  for (const Linear &fact : facts_) {
    if (fact.type != goal.type) continue;
    // How often the fact goes into the goal: by the first term that both have.
    int64_t times = 0;
    for (const auto &[atom, coefficient] : goal.terms) {
      const auto it = fact.terms.find(atom);
      if (it == fact.terms.end() || (it->second > 0) != (coefficient > 0)) continue;
      times = std::max<int64_t>(coefficient / it->second, 1);
      break;
    }
    if (times == 0) continue;
    Linear rest = goal;
    rest.add(fact, -times);
    if (at_least_zero(rest)) return true;
  }
  return false;
}

std::optional<bool> Facts::decide(const Expr &condition) const {
  for (const auto &[known, holds] : conditions_) {
    if (equal(known, condition)) return holds;
  }
  if (!is_comparison(condition->op) || !is_affine_scalar(condition->args[0])) return std::nullopt;
  const Expr &a = condition->args[0], &b = condition->args[1];
  const Linear le = difference(b, a, 0), ge = difference(a, b, 0);
  const Linear lt = difference(b, a, -1), gt = difference(a, b, -1);
  auto choose = [&](const Linear &yes, const Linear &no) -> std::optional<bool> {
    if (holds(yes)) return true;
    if (holds(no)) return false;
    return std::nullopt;
  };
  switch (condition->op) {
    case Op::Lt:
      return choose(lt, ge);
    case Op::Le:
      return choose(le, gt);
    case Op::Gt:
      return choose(gt, le);
    case Op::Ge:
      return choose(ge, lt);
    case Op::Eq:
    case Op::Ne: {
      const bool is_eq = condition->op == Op::Eq;
      if (holds(lt) || holds(gt)) return !is_eq;
      if (holds(le) && holds(ge)) return is_eq;
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

Expr Facts::apply(const Expr &e) const {
  if (facts_.empty() && conditions_.empty()) return e;
  return ApplyFacts(*this)(e);
}

}  // namespace polyhalite
