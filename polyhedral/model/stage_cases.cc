#include "polyhedral/model/stage_cases.h"

#include <functional>
#include <map>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// A variable with more values is one that is computed with.
constexpr int64_t kMaxValues = 8;
constexpr size_t kMaxCases = 16;

void for_each_part(StageDef &def, const std::function<void(Expr &)> &visit) {
  for (Expr &e : def.args) visit(e);
  for (Expr &e : def.values) visit(e);
  if (def.predicate.defined()) visit(def.predicate);
}

// What is computed, with selects that are decided gone and accesses simple. No other algebra: code
// does without it, and a value that is computed anew, as f + 0 is, is none that stays what it is.
class Decided : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    if (e->op == Op::Select) {
      const Expr condition = simplify(e->args[0]);
      if (is_true(condition)) return (*this)(e->args[1]);
      if (is_false(condition)) return (*this)(e->args[2]);
    }
    const CallNode *c = as_call(e);
    return c && c->kind == CallKind::Func ? simplify(e) : rewrite_children(e);
  }
};

// Is the variable compared with what is constant?
bool decides(const StageDef &def, const std::string &variable) {
  bool found = false;
  StageDef copy = def;
  for_each_part(copy, [&](Expr &part) {
    for_each_node(part, [&](const Expr &n) {
      if (!is_comparison(n->op)) return;
      for (const int side : {0, 1}) {
        const VariableNode *v = as_variable(n->args[side]);
        found = found || (v && v->kind == VariableKind::Reduction && v->name == variable &&
                          is_const(n->args[1 - side]));
      }
    });
  });
  return found;
}

}  // namespace

Expr StageCase::part(const Expr &e) const {
  Expr r = e;
  for (const auto &[name, value] : fixed) r = substitute(name, make_int(Int(32), value), r);
  return fixed.empty() ? r : simplify(r);
}

Expr StageCase::value(const Expr &e) const {
  Expr r = e;
  for (const auto &[name, value] : fixed) r = substitute(name, make_int(Int(32), value), r);
  return fixed.empty() ? r : Decided()(r);
}

std::vector<StageCase> stage_cases(const StageDef &def) {
  std::vector<StageCase> cases = {{{}, def, def}};
  for (const ReductionVariable &r : def.rvars) {
    int64_t min, extent;
    if (!is_const_int(r.min, &min) || !is_const_int(r.extent, &extent)) continue;
    const bool few = extent >= 2 && extent <= kMaxValues &&
                     cases.size() * static_cast<size_t>(extent) <= kMaxCases;
    if (!few || !decides(def, r.var)) continue;
    std::vector<StageCase> more;
    for (const StageCase &c : cases) {
      for (int64_t value = min; value < min + extent; value++) {
        StageCase one = c;
        one.fixed.push_back({r.var, value});
        for (Expr &e : one.def.values) e = one.value(e);
        for (Expr &e : one.def.args) e = one.part(e);
        if (one.def.predicate.defined()) one.def.predicate = one.part(one.def.predicate);
        more.push_back(std::move(one));
      }
    }
    cases = std::move(more);
  }
  return cases;
}

}  // namespace polyhalite
