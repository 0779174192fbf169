#include "schedule/specialize.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "lang/simplify/comparison.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

// Expressions whose values a condition fixes.
using Facts = std::map<Expr, Expr, ExprLess>;

// Sums of multiples of a quotient that a condition says are 0:
//   (n/8)*8 == n, n%8 == 0   ->   8*(n/8) - n
struct Whole {
  Expr quotient;
  int64_t times;
  Linear zero;
};

void learn_whole(const Expr &a, const Expr &b, std::vector<Whole> &wholes) {
  if (!a.type().is_affine()) return;
  int64_t k, rest;
  Linear zero = to_linear(a);
  if (a->op == Op::Mod && is_const_int(a->args[1], &k) && k > 0 && is_const_int(b, &rest)) {
    zero = to_linear(
        simplify(make_binary(Op::Mul, make_binary(Op::Div, a->args[0], a->args[1]), a->args[1])));
    zero.add(to_linear(a->args[0]), -1).constant += rest;
  } else {
    zero.add(to_linear(b), -1);
  }
  for (const auto &[atom, c] : zero.terms) {
    if (atom->op == Op::Div) return wholes.push_back({atom, c, zero});
  }
}

void learn_wholes(const Expr &condition, std::vector<Whole> &wholes) {
  if (condition->op == Op::And) {
    for (const Expr &part : condition->args) learn_wholes(part, wholes);
  }
  if (condition->op == Op::Eq) learn_whole(condition->args[0], condition->args[1], wholes);
}

Expr without_wholes(const Expr &e, const Expr &condition) {
  std::vector<Whole> wholes;
  learn_wholes(condition, wholes);
  if (wholes.empty()) return e;
  Linear sum = to_linear(e);
  bool changed = false;
  for (const Whole &w : wholes) {
    // n%8   ->   n - 8*(n/8)
    const Expr &n = w.quotient->args[0], &k = w.quotient->args[1];
    if (const auto rest = sum.terms.find(make_binary(Op::Mod, n, k)); rest != sum.terms.end()) {
      const int64_t times = rest->second;
      sum.terms.erase(rest);
      sum.add(to_linear(n), times).add(to_linear(make_binary(Op::Mul, w.quotient, k)), -times);
    }
    const auto term = sum.terms.find(w.quotient);
    if (term == sum.terms.end() || term->second % w.times != 0) continue;
    sum.add(w.zero, -(term->second / w.times));
    changed = true;
  }
  return changed ? to_expr(sum) : e;
}

void learn_comparison(Op op, const Expr &a, const Expr &b, Facts &facts) {
  auto say = [&](Op o, bool value) {
    const Expr v = value ? make_true(a.type().lanes()) : make_false(a.type().lanes());
    facts[make_binary(o, a, b)] = v;
    facts[make_binary(mirrored(o), b, a)] = v;
  };
  say(op, true);
  // Not (a < b) is a >= b only where neither is NaN.
  if (const auto no = negated(op); no && (!a.type().is_float() || op == Op::Eq || op == Op::Ne)) {
    say(*no, false);
  }
  if (op == Op::Lt || op == Op::Gt) {
    say(op == Op::Lt ? Op::Le : Op::Ge, true);
    say(Op::Ne, true);
    say(Op::Eq, false);
  }
  if (op != Op::Eq || a.type().is_float()) return;
  if (is_const(b) && !is_const(a)) facts[a] = b;
  if (is_const(a) && !is_const(b)) facts[b] = a;
}

void learn(const Expr &condition, bool holds, Facts &facts) {
  facts[condition] = holds ? make_true() : make_false();
  switch (condition->op) {
    case Op::Not:
      learn(condition->args[0], !holds, facts);
      return;
    case Op::And:
    case Op::Or:
      // A conjunction that holds, or a disjunction that does not, says something of both parts.
      if ((condition->op == Op::And) != holds) return;
      for (const Expr &part : condition->args) learn(part, holds, facts);
      return;
    case Op::Call:
      if (as_call(condition)->kind == CallKind::Intrinsic && condition->args.size() == 1) {
        learn(condition->args[0], holds, facts);  // likely(c)
      }
      return;
    default:
      break;
  }
  if (!is_comparison(condition->op)) return;
  const Expr &a = condition->args[0], &b = condition->args[1];
  if (holds) return learn_comparison(condition->op, a, b, facts);
  const auto no = negated(condition->op);
  if (no && !a.type().is_float()) learn_comparison(*no, a, b, facts);
}

class Apply : public ExprRewriter {
 public:
  explicit Apply(const Facts &facts) : facts_(facts) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const auto it = facts_.find(e);
    if (it != facts_.end()) return it->second;
    // A side of a select that is never taken must not be rewritten into something undefined.
    const Expr r = rewrite_children(e);
    const auto again = facts_.find(r);
    return again == facts_.end() ? r : again->second;
  }

 private:
  const Facts &facts_;
};

}  // namespace

Expr simplify_under(const Expr &e, const std::vector<Known> &known) {
  Facts facts;
  for (const Known &k : known) learn(k.condition, k.holds, facts);
  Apply apply(facts);
  const Expr r = apply(e);
  Expr simple = r.same_as(e) ? e : simplify(r);
  for (const Known &k : known) {
    if (k.holds && e.type().is_affine()) simple = without_wholes(simple, k.condition);
  }
  return simple;
}

int find_branch(const FuncDef &func, int stage, const Expr &condition) {
  for (const int b : func.branches_of(stage)) {
    if (equal(func.stages[b].when, condition)) return b;
  }
  return -1;
}

int add_branch(FuncDef &func, int stage, const Expr &condition, const SourceLocation &where) {
  StageDef branch = func.stages[stage];
  branch.instead_of = stage;
  branch.when = condition;
  branch.where = where;
  branch.fail.clear();
  func.stages.push_back(std::move(branch));
  return static_cast<int>(func.stages.size()) - 1;
}

void simplify_branches(FuncDef &func) {
  for (size_t i = 0; i < func.stages.size(); i++) {
    const int stage = static_cast<int>(i);
    StageDef &s = func.stages[i];
    // Together: what one says of a part would hide another one, which is known as a whole.
    //   not (m && n), m   ->   select(m && n, a, b) is b
    std::vector<Known> known;
    for (const int branch : func.branches_of(stage)) {
      known.push_back({func.stages[branch].when, false});
    }
    for (int at = stage; func.stages[at].instead_of >= 0; at = func.stages[at].instead_of) {
      known.push_back({func.stages[at].when, true});
      for (const int other : func.branches_of(func.stages[at].instead_of)) {
        if (other == at) break;
        known.push_back({func.stages[other].when, false});
      }
    }
    if (known.empty()) continue;
    // The left side stays as it is written: reads of the same cell are recognised by it.
    const std::vector<Expr> args = s.args;
    rewrite_stage(s, [&](const Expr &e) { return simplify_under(e, known); });
    s.args = args;
  }
}

}  // namespace polyhalite
