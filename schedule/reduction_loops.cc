#include "schedule/reduction_loops.h"

#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

Expr operator_plus(const Expr &a, const Expr &b) { return make_binary(Op::Add, a, b); }

}  // namespace

Expr conjunction(const Expr &a, const Expr &b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return make_binary(Op::And, a, b);
}

ReductionLoops::ReductionLoops(const StageDef &def, const StageDimensions &dims, const Directive &d)
    : def_(def), dims_(dims) {
  for (const ReductionVariable &r : def.rvars) {
    extent_[r.var] = r.extent;
    reduction_.insert(r.var);
  }
  for (const Derivation &v : dims.derivations) extend(v, d);
  for (const LoopDimension &l : dims.loops) {
    if (reduction_.count(l.name)) loops_.push_back(l);
  }
}

ReductionVariable ReductionLoops::variable(const LoopDimension &l) const {
  for (const ReductionVariable &r : def_.rvars) {
    if (r.var == l.name) return {l.label, r.min, r.extent};
  }
  return {l.label, Expr(0), simplify(extent_.at(l.name))};
}

std::map<std::string, Expr> ReductionLoops::values(const std::map<std::string, Expr> &counters) {
  at_ = counters;
  for (auto v = dims_.derivations.rbegin(); v != dims_.derivations.rend(); ++v) undo(*v);
  std::map<std::string, Expr> result;
  for (const ReductionVariable &r : def_.rvars) {
    const bool is_loop = counters.count(r.var) > 0;
    result[r.var] = is_loop ? at_.at(r.var) : simplify(operator_plus(r.min, at_.at(r.var)));
  }
  return result;
}
void ReductionLoops::extend(const Derivation &v, const Directive &d) {
  if (!reduction_.count(v.a) && !(v.kind != Derivation::Split && reduction_.count(v.b))) return;
  if (is_linear(v)) {
    user_error("cannot rfactor " + describe_stage(dims_.func, dims_.stage) + ": '" + v.a +
                   "' is skewed, reversed or shifted",
               "partial results are taken over loops of the reduction as they were",
               "call rfactor before", d.where);
  }
  if (v.kind == Derivation::Split) {
    extent_[v.c] = v.factor;
    extent_[v.b] = make_binary(
        Op::Div, operator_plus(extent_.at(v.a), make_binary(Op::Sub, v.factor, Expr(1))), v.factor);
    reduction_.insert({v.b, v.c});
    return;
  }
  if (!reduction_.count(v.a) || !reduction_.count(v.b)) {
    user_error("cannot rfactor " + describe_stage(dims_.func, dims_.stage) + ": '" + v.a +
                   "' and '" + v.b + "' are fused",
               "the fused loop runs over a pure and a reduction variable",
               "call rfactor before the fuse", d.where);
  }
  extent_[v.c] = make_binary(Op::Mul, extent_.at(v.a), extent_.at(v.b));
  reduction_.insert(v.c);
}

// The counter, from 0, of the dimension that v takes apart or joins.
void ReductionLoops::undo(const Derivation &v) {
  if (!reduction_.count(v.c)) return;  // nor is one that is linear
  if (v.kind == Derivation::Fuse) {
    const Expr c = at_.at(v.c), n = extent_.at(v.b);
    at_[v.a] = make_binary(Op::Div, c, n);
    at_[v.b] = make_binary(Op::Mod, c, n);
    return;
  }
  const Expr value = operator_plus(make_binary(Op::Mul, at_.at(v.b), v.factor), at_.at(v.c));
  at_[v.a] = value;
  const Expr extent = extent_.at(v.a);
  int64_t n, factor;
  if (is_const_int(simplify(extent), &n) && is_const_int(v.factor, &factor) && n % factor == 0) {
    return;
  }
  // Beyond the end nothing runs, and what would be read there counts for no region.
  guard_ = conjunction(guard_, make_binary(Op::Lt, value, extent));
  at_[v.a] = make_binary(Op::Min, value, make_binary(Op::Sub, extent, Expr(1)));
}

}  // namespace polyhalite
