#include "codegen/passes/elimination.h"

#include <utility>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// Conditions that fall apart into more inequalities than this are left alone.
constexpr size_t kMaxInequalities = 16;

class StripLikely : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *call = as_intrinsic(r, intrinsic::kLikely);
    return call ? call->args[0] : r;
  }
};

Linear replaced(Linear l, const Expr &atom, int64_t coefficient, const Expr &value) {
  l.terms.erase(atom);
  return l.add(to_linear(value), coefficient);
}

// floor((l + add) / by)
Linear divided(Linear l, int64_t by, int64_t add) {
  l.constant += add;
  if (by == 1) return l;
  const Expr quotient = make_binary(Op::Div, to_expr(l), Expr(static_cast<int32_t>(by)));
  return to_linear(simplify(quotient));
}

}  // namespace

Expr strip_likely(const Expr &e) { return StripLikely()(e); }

Linear linear_difference(const Expr &a, const Expr &b, int64_t constant) {
  Linear l = to_linear(a);
  l.add(to_linear(b), -1);
  l.constant += constant;
  return l;
}

bool add_inequalities(const Expr &comparison, bool wanted, std::vector<Linear> *out) {
  if (!is_comparison(comparison->op) || comparison->args[0].type() != Int(32)) return false;
  const Expr a = strip_likely(comparison->args[0]), b = strip_likely(comparison->args[1]);
  const Op op = comparison->op;
  if (op == Op::Eq || op == Op::Ne) {
    if ((op == Op::Eq) != wanted) return false;
    out->push_back(linear_difference(a, b));
    out->push_back(linear_difference(b, a));
    return true;
  }
  const bool less = (op == Op::Lt || op == Op::Le) == wanted;
  const bool strict = (op == Op::Lt || op == Op::Gt) == wanted;
  out->push_back(less ? linear_difference(b, a, strict ? -1 : 0)
                      : linear_difference(a, b, strict ? -1 : 0));
  return true;
}

std::set<std::string> dependences(const std::vector<Linear> &forms,
                                  const std::vector<Binder> &binders) {
  std::set<std::string> names;
  for (const Linear &l : forms) {
    for (const auto &[atom, coefficient] : l.terms) {
      for (const std::string &n : free_variables(atom)) names.insert(n);
    }
  }
  for (auto b = binders.rbegin(); b != binders.rend(); ++b) {
    if (!names.count(b->name)) continue;
    for (const Expr &e : {b->value, b->min, b->extent}) {
      if (!e.defined()) continue;
      for (const std::string &n : free_variables(e)) names.insert(n);
    }
  }
  return names;
}

Linear bound_of(const Linear &l, const Expr &counter) {
  // c*x + rest >= 0: x >= ceil(-rest / c), or x < floor(rest / -c) + 1.
  const int64_t c = l.terms.at(counter);
  Linear rest = l;
  rest.terms.erase(counter);
  return c > 0 ? divided(rest.scale(-1), c, c - 1) : divided(rest, -c, -c);
}

Elimination::Elimination(const std::string &counter, const std::vector<Binder> &binders)
    : counter_(counter), binders_(binders) {
  for (const Binder &b : binders) inner_.insert(b.name);
}

bool Elimination::reduce(Linear l, std::vector<Linear> *out) {
  if (++steps_ > 64 || out->size() >= kMaxInequalities) return false;
  for (const auto &[atom, coefficient] : l.terms) {
    if (!as_variable(atom) && is_local(atom)) return reduce_compound(l, atom, coefficient, out);
  }
  for (auto b = binders_.rbegin(); b != binders_.rend(); ++b) {
    for (const auto &[atom, coefficient] : l.terms) {
      const VariableNode *v = as_variable(atom);
      if (!v || v->name != b->name) continue;
      if (b->value.defined()) {
        return b->value.type() == Int(32) &&
               reduce(replaced(l, atom, coefficient, strip_likely(b->value)), out);
      }
      exact_ = false;
      Expr extreme = b->min;
      if (coefficient < 0) {
        extreme = make_binary(Op::Sub, make_binary(Op::Add, b->min, b->extent), Expr(1));
      }
      return reduce(replaced(l, atom, coefficient, strip_likely(extreme)), out);
    }
  }
  out->push_back(std::move(l));
  return true;
}

bool Elimination::is_local(const Expr &e) const {
  for (const std::string &name : free_variables(e)) {
    if (name == counter_ || inner_.count(name)) return true;
  }
  // What is read inside the loop may not be there yet, or not be readable, in front of it.
  bool reads = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *call = as_call(n);
    reads |= n->op == Op::Load ||
             (call && call->kind != CallKind::Intrinsic && call->kind != CallKind::Math);
  });
  return reads;
}

bool Elimination::reduce_compound(const Linear &l, const Expr &atom, int64_t coefficient,
                                  std::vector<Linear> *out) {
  if (atom->op != Op::Min && atom->op != Op::Max) return false;
  const Linear a = replaced(l, atom, coefficient, atom->args[0]);
  const Linear b = replaced(l, atom, coefficient, atom->args[1]);
  // The atom equals one of its sides, and is below (min) or above (max) both.
  const bool both = (atom->op == Op::Min) == (coefficient > 0);
  if (both) return reduce(a, out) && reduce(b, out);
  exact_ = false;
  const bool a_first = is_local(atom->args[0]);
  const size_t before = out->size();
  if (reduce(a_first ? a : b, out)) return true;
  out->resize(before);
  return reduce(a_first ? b : a, out);
}

}  // namespace polyhalite
