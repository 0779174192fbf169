#include "polyhedral/model/translate.h"

#include <utility>

#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhedral/constant_bounds.h"
#include "polyhedral/interval.h"

namespace polyhalite {

namespace {

// Beyond this many options a condition is left out rather than multiplied out.
constexpr size_t kMaxOptions = 16;

bool is_call_for_data(const Expr &e) {
  const CallNode *c = as_call(e);
  return e->op == Op::Load || (c && c->kind != CallKind::Intrinsic);
}

// A value that comes from data: any value of its interval can occur. A clamp of such a value to
// constants is one too, of the smaller interval.
bool is_data(const Expr &e) {
  if (is_call_for_data(e)) return true;
  if (e->op == Op::Cast && !e->args[0].type().is_affine()) return true;
  if (e->op == Op::Min || e->op == Op::Max) {
    return (is_data(e->args[0]) && is_const(e->args[1])) ||
           (is_data(e->args[1]) && is_const(e->args[0]));
  }
  return false;
}

bool contains_data(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) { found = found || is_call_for_data(n); });
  return found;
}

// Params have names of their own: `param x` is no loop x.
bool names_an_input(const VariableNode &v) {
  return v.kind == VariableKind::Param || v.kind == VariableKind::BufferField;
}

Choice product(const Choice &a, const Choice &b) {
  Choice result;
  for (const Conjunction &x : a) {
    for (const Conjunction &y : b) result.push_back(Conjunction(x).append(y));
  }
  return result;
}

}  // namespace

void Translator::mark_inexact(const std::string &what) {
  if (!inexact_) inexact_ = what;
}

AffineRow Translator::row(const Expr &e) {
  const Linear l = to_linear(strip_hints(e));
  AffineRow result(l.constant);
  for (const auto &[term, c] : l.terms) result.add(atom(term), c);
  return result;
}

bool Translator::is_shared(const Expr &e) const {
  bool shared = true;
  for_each_node(e, [&](const Expr &n) {
    if (const VariableNode *v = as_variable(n); v && !names_an_input(*v)) {
      auto definition = defined_.find(v->name);
      if (bound_.count(v->name)) shared = false;
      if (definition != defined_.end() && !is_shared(definition->second)) shared = false;
    }
    if (const CallNode *c = as_call(n); c && shared_.changing.count(c->name)) shared = false;
  });
  return shared;
}

AffineRow Translator::atom(const Expr &e) {
  if (const VariableNode *v = as_variable(e); v && !names_an_input(*v)) {
    if (auto it = bound_.find(v->name); it != bound_.end()) return it->second;
  }
  if (contains_data(e)) data_dependent_ = true;
  const bool shared = is_shared(e);
  auto &rows = shared ? shared_.rows : own_;
  if (auto it = rows.find(e); it != rows.end()) return it->second;
  AffineRow r = translate_atom(e, shared ? ModelVariable::Parameter : ModelVariable::Existential);
  rows[e] = r;
  return r;
}

AffineRow Translator::translate_atom(const Expr &e, ModelVariable::Role role) {
  if (const VariableNode *v = as_variable(e)) {
    if (names_an_input(*v)) return problem_.fresh(role, v->name);
    if (auto it = defined_.find(v->name); it != defined_.end()) return row(it->second);
    return problem_.fresh(role, "");
  }
  int64_t k = 0;
  switch (is_data(e) ? Op::Call : e->op) {
    case Op::Cast:
      // A narrowing from 64 bits keeps the value: overflow of affine types is undefined.
      return row(e->args[0]);
    case Op::Div:
    case Op::Mod:
      if (!is_const_int(e->args[1], &k)) break;
      if (k == 0) return AffineRow(0);
      if (e->op == Op::Div) return divide(e->args[0], k);
      return row(e->args[0]) - k * divide(e->args[0], k);
    case Op::Min:
    case Op::Max:
      return smaller_or_larger(e);
    case Op::Select:
      return select(e);
    default:
      break;
  }
  // What only shared values determine is one unknown number for both instances: nothing is lost
  // that a comparison of the two could need.
  if (role != ModelVariable::Parameter && !contains_data(e)) mark_inexact(to_text(e));
  return free_variable(e, role);
}

AffineRow Translator::free_variable(const Expr &e, ModelVariable::Role role) {
  const AffineRow v = problem_.fresh(role, "");
  const ConstantInterval i = constant_interval(e);
  if (i.min) problem_.require_nonnegative(v - AffineRow(*i.min));
  if (i.max) problem_.require_nonnegative(AffineRow(*i.max) - v);
  return v;
}

AffineRow Translator::divide(const Expr &e, int64_t divisor) {
  // e = divisor * q + rest, 0 <= rest < |divisor|
  const AffineRow numerator = row(e);
  const AffineRow q = problem_.fresh(ModelVariable::Existential, "");
  const AffineRow rest = numerator - divisor * q;
  const int64_t magnitude = divisor < 0 ? -divisor : divisor;
  problem_.require_nonnegative(rest);
  problem_.require_nonnegative(AffineRow(magnitude - 1) - rest);
  return q;
}

AffineRow Translator::smaller_or_larger(const Expr &e) {
  const AffineRow a = row(e->args[0]), b = row(e->args[1]);
  const AffineRow m = problem_.fresh(ModelVariable::Existential, "");
  for (const AffineRow &x : {a, b}) {
    problem_.require_nonnegative(e->op == Op::Min ? x - m : m - x);
  }
  Conjunction is_a, is_b;
  is_a.zero.push_back(m - a);
  is_b.zero.push_back(m - b);
  problem_.choices.push_back({is_a, is_b});
  return m;
}

AffineRow Translator::select(const Expr &e) {
  const AffineRow a = row(e->args[1]), b = row(e->args[2]);
  const AffineRow v = problem_.fresh(ModelVariable::Existential, "");
  Conjunction is_a, is_b;
  is_a.zero.push_back(v - a);
  is_b.zero.push_back(v - b);
  const auto when = cases(e->args[0], true), unless = cases(e->args[0], false);
  if (!when || !unless || when->size() + unless->size() > kMaxOptions) {
    data_dependent_ = true;
    problem_.choices.push_back({is_a, is_b});
    return v;
  }
  Choice all = product(*when, {is_a});
  for (const Conjunction &c : product(*unless, {is_b})) all.push_back(c);
  problem_.choices.push_back(all);
  return v;
}

std::optional<Choice> Translator::compare(const Expr &c, bool holds) {
  if (!c->args[0].type().is_affine() || !c->args[0].type().is_scalar()) return std::nullopt;
  const AffineRow a = row(c->args[0]), b = row(c->args[1]);
  const AffineRow one(1);
  Conjunction less, less_equal, greater, greater_equal, same;
  less.nonnegative.push_back(b - a - one);
  less_equal.nonnegative.push_back(b - a);
  greater.nonnegative.push_back(a - b - one);
  greater_equal.nonnegative.push_back(a - b);
  same.zero.push_back(a - b);
  switch (c->op) {
    case Op::Lt:
      return Choice{holds ? less : greater_equal};
    case Op::Le:
      return Choice{holds ? less_equal : greater};
    case Op::Gt:
      return Choice{holds ? greater : less_equal};
    case Op::Ge:
      return Choice{holds ? greater_equal : less};
    case Op::Eq:
      return holds ? Choice{same} : Choice{less, greater};
    case Op::Ne:
      return holds ? Choice{less, greater} : Choice{same};
    default:
      return std::nullopt;
  }
}

std::optional<Choice> Translator::cases(const Expr &c, bool holds) {
  if (is_true(c)) return holds ? Choice{Conjunction()} : Choice{};
  if (is_false(c)) return holds ? Choice{} : Choice{Conjunction()};
  if (const Expr value = wrapped_value(c); value.defined()) return cases(value, holds);
  if (c->op == Op::Not) return cases(c->args[0], !holds);
  if (c->op == Op::Select) {
    const Expr first = make_binary(Op::And, c->args[0], c->args[1]),
               second = make_binary(Op::And, make_not(c->args[0]), c->args[2]);
    return cases(make_binary(Op::Or, first, second), holds);
  }
  if (is_comparison(c->op)) return compare(c, holds);
  if (c->op != Op::And && c->op != Op::Or) return std::nullopt;
  const auto a = cases(c->args[0], holds), b = cases(c->args[1], holds);
  if (!a || !b) return std::nullopt;
  if ((c->op == Op::And) == holds) {
    if (a->size() * b->size() > kMaxOptions) return std::nullopt;
    return product(*a, *b);
  }
  Choice either = *a;
  either.insert(either.end(), b->begin(), b->end());
  return either;
}

void Translator::assume(const Expr &condition) {
  if (!condition.defined()) return;
  if (condition->op == Op::And) {
    assume(condition->args[0]);
    assume(condition->args[1]);
    return;
  }
  const auto options = cases(condition, true);
  if (!options || options->size() > kMaxOptions) {
    if (!contains_data(condition)) mark_inexact(to_text(condition));
    return;
  }
  if (options->size() == 1) {
    problem_.known.append(options->front());
  } else {
    problem_.choices.push_back(*options);
  }
}

}  // namespace polyhalite
