#include "polyhedral/oracle/brute_force.h"

#include "lang/ir/visit.h"
#include "polyhedral/oracle/run.h"

namespace polyhalite::oracle {

namespace {

bool loads(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    found |= c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
  });
  return found;
}

bool depends_on_data(const StageDef &s) {
  if (s.predicate.defined() && loads(s.predicate)) return true;
  bool found = false;
  auto look = [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return;
      for (const Expr &a : c->args) found |= loads(a);
    });
  };
  for (const Expr &e : s.args) found |= loads(e);
  for (const Expr &e : s.values) look(e);
  return found;
}

}  // namespace

Enumeration enumerate(const LoopTree &tree, const Survey &survey, const Experiment &experiment,
                      const Limits &limits) {
  return Run(tree, survey, experiment, limits).all();
}

Experiment with_room(const LoopTree &tree, const Survey &survey, Experiment experiment) {
  // What is needed may grow with the buffer; rounding up settles in two or three rounds.
  constexpr int kRounds = 8;
  for (int i = 0; i < kRounds; i++) {
    const Experiment before = experiment;
    if (!Run(tree, survey, before, {}).enlarge(experiment)) break;
  }
  return experiment;
}

Enumeration brute_force(const LoopTree &tree, const Survey &survey, Experiment experiment,
                        int tries, const Limits &limits) {
  bool data = false;
  for (const FuncDef &f : tree.algorithm.funcs) {
    for (const StageDef &s : f.stages) data |= depends_on_data(s);
  }
  Enumeration e;
  for (int i = 0; i < (data ? tries : 1); i++, experiment.seed++) {
    e = enumerate(tree, survey, experiment, limits);
    if (!e.legal()) break;
  }
  return e;
}

}  // namespace polyhalite::oracle
