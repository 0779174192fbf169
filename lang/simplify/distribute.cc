#include "lang/simplify/distribute.h"

#include <algorithm>
#include <set>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

namespace {

// Divisions of min and max become those of their operands, so that what decides stands in sums.
class WithoutRests : public ExprRewriter {
 public:
  explicit WithoutRests(const VariableBounds &bounds) : bounds_(bounds) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    int64_t k;
    if (r->op != Op::Div || !r.type().is_affine() || !is_const_int(r->args[1], &k) || k <= 0) {
      return r;
    }
    return quotient(r->args[0], r->args[1]);
  }

 private:
  Expr quotient(const Expr &a, const Expr &by) {
    if (a->op == Op::Min || a->op == Op::Max) {
      return make_binary(a->op, quotient(a->args[0], by), quotient(a->args[1], by));
    }
    return simplify(make_binary(Op::Div, a, by), bounds_);
  }

  const VariableBounds &bounds_;
};

class Terms {
 public:
  Terms(const FuncDef &f, int stage, const VariableBounds &bounds)
      : f_(f), update_(f.stages[static_cast<size_t>(stage)]), bounds_(bounds) {
    for (const ReductionVariable &r : update_.rvars) variables_.insert(r.var);
  }

  std::optional<std::vector<ReductionTerm>> run(std::string *why) {
    if (find()) return std::move(terms_);
    *why = why_;
    return std::nullopt;
  }

 private:
  bool fail(const std::string &why) {
    why_ = why;
    return false;
  }

  bool find() {
    if (update_.rvars.empty()) return fail("it has no reduction variables");
    for (const Expr &a : update_.args) {
      if (varies(a)) return fail("the cell that it updates depends on its reduction variables");
      if (calls_func(a, f_.name))
        return fail("the cell that it updates depends on the Func itself");
    }
    if (update_.predicate.defined() && calls_func(update_.predicate, f_.name)) {
      return fail("its condition reads the Func itself");
    }
    for (size_t v = 0; v < update_.values.size(); v++) {
      if (!value(static_cast<int>(v))) return false;
    }
    const bool useful = terms_.size() > update_.values.size() ||
                        std::any_of(terms_.begin(), terms_.end(),
                                    [](const ReductionTerm &t) { return t.same.defined(); });
    return useful || fail(
                         "each of its values has one term, and no factor of that is the same in "
                         "all steps of the reduction");
  }

  // f(args).v op term op term...
  bool value(int v) {
    const Expr &e = update_.values[static_cast<size_t>(v)];
    const Op outer = e->op == Op::Sub ? Op::Add : e->op;
    bool known = false;
    for (const Op op : {Op::Add, Op::Min, Op::Max, Op::And, Op::Or}) known |= op == outer;
    const std::string form = "write it as f = f + ..., min, max, && or ||";
    if (!known)
      return fail("it does not join the Func's value with others by an operator; " + form);
    std::vector<std::pair<Expr, bool>> parts;  // and whether they are subtracted
    flatten(outer, e, false, parts);
    int own = 0;
    for (const auto &[part, subtracted] : parts) {
      if (is_own(part, v)) {
        own++;
        if (subtracted) return fail("it subtracts the Func's own value; " + form);
      } else if (calls_func(part, f_.name)) {
        return fail("a term depends on the Func's own values; " + form);
      }
    }
    if (own != 1) return fail("the Func's own value is not one of its terms; " + form);
    for (const auto &[part, subtracted] : parts) {
      if (!is_own(part, v)) terms_.push_back(term(v, outer, part, subtracted));
    }
    return true;
  }

  static void flatten(Op outer, const Expr &e, bool subtracted,
                      std::vector<std::pair<Expr, bool>> &parts) {
    if (e->op == outer || (outer == Op::Add && e->op == Op::Sub)) {
      flatten(outer, e->args[0], subtracted, parts);
      flatten(outer, e->args[1], subtracted != (e->op == Op::Sub), parts);
    } else {
      parts.emplace_back(e, subtracted);
    }
  }

  ReductionTerm term(int v, Op outer, const Expr &e, bool subtracted) const {
    ReductionTerm t;
    t.value = v;
    t.outer = outer;
    t.subtracted = subtracted;
    t.inner = outer == Op::Add   ? Op::Mul
              : outer == Op::And ? Op::Or
              : outer == Op::Or  ? Op::And
                                 : Op::Add;
    std::vector<Expr> same, varying;
    if (distributes(outer, e.type())) {
      std::vector<std::pair<Expr, bool>> factors;
      split(t.inner, e, factors);
      for (const auto &[factor, negative] : factors) {
        const Expr plain = without_rests(factor, bounds_);
        const bool stays = !varies(plain) && !has_effect(plain) && !negative;
        if (stays) {
          same.push_back(plain);
        } else {
          varying.push_back(negative ? make_binary(Op::Sub, make_zero(e.type()), factor) : factor);
        }
      }
    }
    if (same.empty()) {
      t.varying = e;
      return t;
    }
    t.same = joined(t.inner, same);
    t.varying = varying.empty() ? neutral(t.inner, e.type()) : joined(t.inner, varying);
    return t;
  }

  // a*b*c into its factors; under min and max a + b - c into its operands.
  static void split(Op inner, const Expr &e, std::vector<std::pair<Expr, bool>> &factors) {
    flatten(inner, e, false, factors);
  }

  // Does the inner operator distribute over the outer one? Integers that wrap have no order that
  // sums keep. Where a condition decides which steps there are, there may be none, and the identity
  // of min or max is no value to add to.
  bool distributes(Op outer, Type t) const {
    if (outer != Op::Min && outer != Op::Max) return true;
    return (t.is_affine() || t.is_float()) && !has_varying_condition();
  }

  bool has_varying_condition() const {
    return update_.predicate.defined() && varies(update_.predicate);
  }

  static Expr joined(Op op, const std::vector<Expr> &parts) {
    Expr e = parts[0];
    for (size_t i = 1; i < parts.size(); i++) e = make_binary(op, e, parts[i]);
    return e;
  }

  static Expr neutral(Op inner, Type t) {
    if (inner == Op::Mul) return make_one(t);
    return identity_of(inner, t);
  }

  bool varies(const Expr &e) const {
    const auto free = free_variables(e);
    return std::any_of(free.begin(), free.end(),
                       [&](const std::string &v) { return variables_.count(v) > 0; });
  }

  // What prints or fails does so in each step.
  static bool has_effect(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      found |= c && acts(*c);
    });
    return found;
  }

  bool is_own(const Expr &e, int v) const {
    const CallNode *c = as_call(e);
    return c && c->kind == CallKind::Func && c->name == f_.name && c->value_index == v &&
           std::equal(c->args.begin(), c->args.end(), update_.args.begin(), update_.args.end(),
                      [](const Expr &a, const Expr &b) { return equal(a, b); });
  }

  const FuncDef &f_;
  const StageDef &update_;
  const VariableBounds &bounds_;
  std::set<std::string> variables_;
  std::vector<ReductionTerm> terms_;
  std::string why_;
};

}  // namespace

std::optional<std::vector<ReductionTerm>> reduction_terms(const FuncDef &f, int stage,
                                                          const VariableBounds &bounds,
                                                          std::string *why) {
  return Terms(f, stage, bounds).run(why);
}

VariableBounds constant_ranges(const FuncDef &f, int stage,
                               const std::vector<Directive> &directives) {
  VariableBounds bounds;
  auto learn = [&](const std::string &var, const Expr &min, const Expr &extent) {
    int64_t low, n;
    if (!is_const_int(min, &low) || !is_const_int(extent, &n) || n < 1) return;
    bounds[var] = {low, low + n - 1};
  };
  for (const ReductionVariable &r : f.stages[static_cast<size_t>(stage)].rvars) {
    learn(r.var, r.min, r.extent);
  }
  for (const Directive &b : directives) {
    if (b.func == f.name && b.kind == DirectiveKind::Bound) {
      learn(b.loops[0], b.factors[0], b.factors[1]);
    }
  }
  return bounds;
}

Expr identity_of(Op outer, Type t) {
  switch (outer) {
    case Op::Min:
      return t.max();
    case Op::Max:
      return t.min();
    case Op::And:
      return make_true();
    case Op::Or:
      return make_false();
    default:
      return make_zero(t);
  }
}

Expr without_rests(const Expr &e, const VariableBounds &bounds) { return WithoutRests(bounds)(e); }

}  // namespace polyhalite
