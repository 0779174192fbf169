#include "polyhedral/model/survey_scope.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "polyhedral/interval.h"

namespace polyhalite {

namespace {

// A product or a division of what is no constant: no row says its value.
bool is_nonlinear(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *call = as_call(n);
    if (call && is_extern(*call)) found = true;  // what a C function asks for
    if (n->op == Op::Div || n->op == Op::Mod) found = found || !is_const(n->args[1]);
    if (n->op == Op::Mul) found = found || (!is_const(n->args[0]) && !is_const(n->args[1]));
  });
  return found;
}

// max(max(a, b), c)  ->  a, b, c
std::vector<Expr> operands_of(Op op, const Expr &e) {
  if (e->op != op) return {e};
  std::vector<Expr> all = operands_of(op, e->args[0]);
  for (const Expr &more : operands_of(op, e->args[1])) all.push_back(more);
  return all;
}

Expr loop_variable(const LoopInfo &loop) {
  return make_variable(Int(32), VariableKind::Loop, loop.name);
}

}  // namespace

SurveyScope::SurveyScope(Problem &problem, SharedAtoms &shared, const LoopTree &tree,
                         const Survey &survey, SharedSymbols symbols)
    : problem_(problem),
      tree_(tree),
      survey_(survey),
      translator_(problem, shared),
      symbols_(symbols) {
  define_shared_symbols(survey.root_symbols);
  for (const Assumption &a : survey.assumptions) translator_.assume(a.condition);
  assume_outputs();
}

// Is a part of it a minimum, a maximum or a select? A question has as many cases as all of them
// together.
bool SurveyScope::has_cases(const Expr &e) const {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    found = found || n->op == Op::Min || n->op == Op::Max || n->op == Op::Select;
    const VariableNode *v = as_variable(n);
    if (found || !v || v->kind != VariableKind::Symbol) return;
    for (const Symbol &s : survey_.root_symbols) {
      if (s.name == v->name) found = is_nonlinear(s.value) || has_cases(s.value);
    }
  });
  return found;
}

// What lies beyond the caller's box only, as whole tiles do: of it the extent is a multiple then.
void SurveyScope::assume_outputs() {
  for (const std::string &name : tree_.algorithm.outputs) {
    const auto touched = survey_.inputs.find(name);
    if (touched == survey_.inputs.end()) continue;
    const std::string buffer = tree_.algorithm.find(name)->buffer_name(0);
    for (size_t d = 0; d < touched->second.size(); d++) {
      const auto field = [&](const char *which) {
        return make_variable(Int(32), VariableKind::BufferField,
                             buffer + which + std::to_string(d));
      };
      const Expr min = field(".min.");
      const Expr last = sum(make_binary(Op::Add, min, field(".extent.")), -1);
      const auto inside = [&](Op joins, const Expr &end, const Expr &limit, bool below) {
        if (constant_difference(end, limit) == 0) return;
        for (const Expr &e : operands_of(joins, end)) {
          if (is_nonlinear(e) || has_cases(e)) continue;
          const AffineRow touches = translator_.row(e), has = translator_.row(limit);
          problem_.require_less_equal(below ? has : touches, below ? touches : has);
        }
      };
      inside(Op::Min, touched->second[d].min, min, true);
      inside(Op::Max, touched->second[d].max, last, false);
    }
  }
}

void SurveyScope::define_symbols(const std::vector<Symbol> &symbols) {
  for (const Symbol &s : symbols) {
    if (!is_nonlinear(s.value)) {
      translator_.define(s.name, s.value);
      continue;
    }
    // A fuse's coordinate over symbolic extents: its interval is what is known.
    has_intervals_ = true;
    const AffineRow v = problem_.fresh(ModelVariable::Existential, "");
    translator_.bind(s.name, v);
    if (s.lower.defined()) problem_.require_less_equal(translator_.row(s.lower), v);
    if (s.upper.defined()) problem_.require_less_equal(v, translator_.row(s.upper));
  }
}

void SurveyScope::define_shared_symbols(const std::vector<Symbol> &symbols) {
  if (symbols_ == Defined) define_symbols(symbols);
  if (symbols_ == Free) {
    for (const Symbol &s : symbols) free_.insert(s.name);
  }
}

void SurveyScope::assume_branch(StageId stage) {
  if (!branches_.insert({stage.func, stage.stage}).second) return;
  if (const Expr e = runs_where(tree_.func(stage), stage.stage); e.defined()) translator_.assume(e);
}

void SurveyScope::bound_counter(int loop) {
  assume_branch(tree_.loops[loop].stage);
  const LoopBounds &b = survey_.loops[loop];
  const AffineRow counter = translator_.row(loop_variable(tree_.loops[loop]));
  // max(a, b) <= counter: both are, and no question arises which of them is the larger one.
  for (const Expr &e : operands_of(Op::Max, b.min)) {
    problem_.require_less_equal(translator_.row(e), counter);
  }
  for (const Expr &e : operands_of(Op::Min, sum(sum(b.min, b.extent), -1))) {
    problem_.require_less_equal(counter, translator_.row(e));
  }
}

void SurveyScope::enter_shared_loop(int loop) {
  bound_counter(loop);
  define_shared_symbols(survey_.loops[loop].symbols);
}

AffineRow SurveyScope::enter_loop(int loop) {
  const LoopInfo &info = tree_.loops[loop];
  translator_.bind(info.name, problem_.fresh(ModelVariable::Coordinate, info.label));
  bound_counter(loop);
  define_symbols(survey_.loops[loop].symbols);
  return translator_.row(loop_variable(info));
}

// fuse(y, x, t): y and x, as t counts them. False where a guard lets t count beyond them.
bool SurveyScope::add_parts(const StageId &s, const std::string &dim,
                            std::vector<AffineRow> &rows) {
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind != Derivation::Fuse || d.c != dim) continue;
    return add_parts(s, d.a, rows) && add_parts(s, d.b, rows);
  }
  const Expr &value = survey_.stages[s.func][s.stage].dims.at(dim);
  const VariableNode *symbol = as_variable(value);
  if (is_const_int(value)) {
    rows.push_back(translator_.row(value));
    return true;
  }
  if (!symbol || symbol->kind != VariableKind::Symbol) return false;
  for (const LoopBounds &b : survey_.loops) {
    for (const Symbol &known : b.symbols) {
      if (known.name != symbol->name) continue;
      for (const auto &[term, c] : to_linear(known.value).terms) {
        if (term->op == Op::Min || term->op == Op::Max) return false;
      }
    }
  }
  rows.push_back(translator_.row(value));
  return true;
}

std::vector<AffineRow> SurveyScope::order(int loop) {
  const LoopInfo &info = tree_.loops[loop];
  std::vector<AffineRow> parts;
  const bool fused = std::any_of(
      tree_.nest(info.stage).derivations.begin(), tree_.nest(info.stage).derivations.end(),
      [&](const Derivation &d) { return d.kind == Derivation::Fuse && d.c == info.dim; });
  if (fused && add_parts(info.stage, info.dim, parts)) return parts;
  return {translator_.row(loop_variable(info))};
}

void SurveyScope::enter_stage(StageId stage, What what) {
  const StageSurvey &s = survey_.stages[stage.func][stage.stage];
  for (const auto &[name, value] : s.dims) translator_.define(name, value);
  for (const Guard &g : s.guards) {
    const bool reads_anyway = g.rest == Guard::Loads || g.rest == Guard::Blends;
    if (what == Reads && reads_anyway) continue;
    const bool writes_anyway = g.rest == Guard::Stores || g.rest == Guard::Blends;
    if (what == Writes && writes_anyway) continue;
    translator_.assume(g.condition);
  }
  assume_branch(stage);
}

void SurveyScope::enter_used(StageId stage) {
  for (const auto &[name, range] : survey_.stages[stage.func][stage.stage].used) {
    const AffineRow at = translator_.row(make_variable(Int(32), VariableKind::Pure, name));
    if (range.min.defined()) problem_.require_less_equal(translator_.row(range.min), at);
    if (range.max.defined()) problem_.require_less_equal(at, translator_.row(range.max));
  }
}

void SurveyScope::require_inside(const std::vector<AffineRow> &cell, const Box &box) {
  for (size_t d = 0; d < cell.size(); d++) {
    problem_.require_less_equal(translator_.row(box[d].min), cell[d]);
    problem_.require_less_equal(cell[d], translator_.row(box[d].max));
  }
}

}  // namespace polyhalite
