#include "schedule/rfactor.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lang/ir/visit.h"
#include "lang/simplify/associative.h"
#include "lang/simplify/by_place.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"
#include "schedule/reduction_loops.h"

namespace polyhalite {

namespace {

bool mentions_any(const Expr &e, const std::set<std::string> &names) {
  const auto free = free_variables(e);
  return std::any_of(free.begin(), free.end(),
                     [&](const std::string &v) { return names.count(v) > 0; });
}

class Factoring {
 public:
  Factoring(Algorithm a, const Directive &d, const std::vector<Directive> &before)
      : a_(std::move(a)), d_(d), before_(before), what_("cannot rfactor " + stage_text()) {
    for (const ReductionVariable &r : a_.find(d.func)->stages[d.stage].rvars) {
      reductions_.insert(r.var);
    }
  }

  Factored run() {
    const int f = a_.index_of(d_.func);
    const FuncDef func = a_.funcs[f];
    const StageDef def = func.stages[d_.stage];
    std::string why;
    const auto update = prove_composable(func, d_.stage, &why);
    if (!update) refuse("it is not proven associative", why, "leave the reduction whole");

    StageDimensions dims = default_dimensions(func, d_.stage);
    for (const Directive &b : before_) dims = derive(dims, b);
    ReductionLoops loops(def, dims, d_);
    read_preserved(loops, dims);
    if (update->needs_operand && (def.predicate.defined() || has_rest(loops))) {
      refuse("its identity is no identity where a domain is empty",
             "the update takes equal values too, as with <= or >=",
             "compare with < or >, so that equal values change nothing");
    }
    AssociativeUpdate merging = *update;
    if (!update->commutative) {
      check_loops_in_order(dims, loops);
      if (const auto inside = preserved_inside(loops)) {
        const auto placed = ordered_by_place(*update, func, d_.stage);
        if (!placed) refuse_to_change_places(*inside, dims);
        merging = *placed;
      }
    }

    if (a_.index_of(d_.makes) < 0) {
      // Each partial result is made in the algorithm's order.
      AssociativeUpdate partial = *update;
      partial.identity = merging.identity;
      a_.funcs.insert(a_.funcs.begin() + f, partial_results(func, def, partial, loops));
    }
    merge(a_.funcs[a_.index_of(d_.func)], def, merging, loops);
    return {std::move(a_), carried_directives(dims, loops)};
  }

 private:
  std::string stage_text() const {
    const FuncDef &f = *a_.find(d_.func);
    return describe_stage(d_.func, f.definition_of(d_.stage));
  }

  [[noreturn]] void refuse(const std::string &what, const std::string &why,
                           const std::string &fix) const {
    user_error(what_ + ": " + what, why, fix, d_.where);
  }

  void read_preserved(const ReductionLoops &loops, const StageDimensions &dims) {
    for (size_t i = 0; i + 1 < d_.loops.size(); i += 2) {
      const auto loop = std::find_if(dims.loops.begin(), dims.loops.end(),
                                     [&](const auto &l) { return l.label == d_.loops[i]; });
      if (loop == dims.loops.end()) {
        refuse("it has no loop '" + d_.loops[i] + "'", "",
               "its loops are, outermost first: " + loop_list(dims));
      }
      if (!loops.is_reduction(loop->name)) {
        refuse("'" + d_.loops[i] + "' is no reduction loop", "",
               "preserve loops of its reduction domain");
      }
      new_var_[loop->name] = d_.loops[i + 1];
    }
  }

  // Does any loop run past the end of its domain?
  static bool has_rest(ReductionLoops &loops) {
    std::map<std::string, Expr> counters;
    for (const LoopDimension &l : loops.loops()) counters[l.name] = reduction_variable(l.label);
    loops.values(counters);
    return loops.guard().defined();
  }

  // Merging takes the partial results in the order of the preserved loops. With others outside of
  // them, operands change places: the first of those inside.
  std::optional<std::string> preserved_inside(const ReductionLoops &loops) const {
    bool inside = false;
    for (const LoopDimension &l : loops.loops()) {
      if (!new_var_.count(l.name)) inside = true;
      if (inside && new_var_.count(l.name)) return l.label;
    }
    return std::nullopt;
  }

  [[noreturn]] void refuse_to_change_places(const std::string &inside,
                                            const StageDimensions &dims) const {
    refuse("'" + inside + "' is inside of a reduction loop that is not preserved",
           "the operator is associative, but not commutative: operands would change places",
           "preserve the outer loops of: " + loop_list(dims));
  }

  // The loops themselves must still be in the algorithm's order.
  void check_loops_in_order(const StageDimensions &dims, const ReductionLoops &loops) const {
    std::vector<std::string> order;
    for (const LoopDimension &l : loops.loops()) order.push_back(l.name);
    StageDimensions natural = default_dimensions(*a_.find(d_.func), d_.stage);
    for (const Directive &b : before_) {
      if (makes_loops(b.kind)) {
        natural = derive(natural, b);
      }
    }
    std::vector<std::string> wanted;
    for (const LoopDimension &l : natural.loops) {
      if (loops.is_reduction(l.name)) wanted.push_back(l.name);
    }
    if (order == wanted) return;
    refuse("its reduction loops have been reordered",
           "the operator is associative, but not commutative: operands would change places",
           "leave them in the algorithm's order");
  }

  // f_intm(args, u) = identity;  over the rest: f_intm(args, u) = op(f_intm(args, u), ...)
  FuncDef partial_results(const FuncDef &func, const StageDef &def, const AssociativeUpdate &update,
                          ReductionLoops &loops) const {
    FuncDef p;
    p.name = d_.makes;
    p.types = update.types();
    p.where = d_.where;
    p.args = func.args;
    std::vector<Expr> extra;
    std::map<std::string, Expr> counters;
    StageDef rest;
    for (const LoopDimension &l : loops.loops()) {
      const auto v = new_var_.find(l.name);
      counters[l.name] =
          v == new_var_.end() ? reduction_variable(l.label) : pure_variable(v->second);
      if (v == new_var_.end()) rest.rvars.insert(rest.rvars.begin(), loops.variable(l));
    }
    for (size_t i = 1; i < d_.loops.size(); i += 2) {
      p.args.push_back(d_.loops[i]);
      extra.push_back(pure_variable(d_.loops[i]));
    }
    StageDef first;
    for (const std::string &a : p.args) first.args.push_back(pure_variable(a));
    first.values = update.identity;
    first.where = rest.where = d_.where;

    const std::map<std::string, Expr> at = loops.values(counters);
    for (const Expr &a : def.args) rest.args.push_back(simplify(substitute(at, a)));
    rest.args.insert(rest.args.end(), extra.begin(), extra.end());
    std::vector<Expr> own, operands;
    for (size_t i = 0; i < p.types.size(); i++) {
      own.push_back(make_func_call(p.types[i], p.name, rest.args, static_cast<int>(i)));
      operands.push_back(substitute(at, update.operands[i]));
    }
    rest.values = update.combine(own, operands);
    if (def.predicate.defined()) rest.predicate = substitute(at, def.predicate);
    rest.predicate = conjunction(loops.guard(), rest.predicate);
    p.stages = {std::move(first), std::move(rest)};
    return p;
  }

  // over the preserved: f(args) = op(f(args), f_intm(args, ...))
  void merge(FuncDef &func, const StageDef &def, const AssociativeUpdate &update,
             const ReductionLoops &loops) const {
    StageDef &s = func.stages[d_.stage];
    std::set<std::string> inner;  // what an index must not depend on to stay as it is
    for (const ReductionVariable &r : def.rvars) inner.insert(r.var);
    std::vector<Expr> args;
    for (size_t i = 0; i < def.args.size(); i++) {
      const bool stays = !mentions_any(def.args[i], inner) && !reads_data(def.args[i]);
      args.push_back(stays ? def.args[i] : pure_variable(func.args[i]));
    }
    s.args = args;
    s.rvars.clear();
    std::map<std::string, std::string> label_of;  // new Var -> loop
    for (const LoopDimension &l : loops.loops()) {
      const auto v = new_var_.find(l.name);
      if (v == new_var_.end()) continue;
      s.rvars.insert(s.rvars.begin(), loops.variable(l));
      label_of[v->second] = l.label;
    }
    std::vector<Expr> at = args, own, parts;
    for (size_t i = 1; i < d_.loops.size(); i += 2)
      at.push_back(reduction_variable(label_of.at(d_.loops[i])));
    for (size_t i = 0; i < func.types.size(); i++) {
      own.push_back(make_func_call(func.types[i], func.name, args, static_cast<int>(i)));
    }
    const std::vector<Type> types = update.types();
    for (size_t i = 0; i < types.size(); i++) {
      parts.push_back(make_func_call(types[i], d_.makes, at, static_cast<int>(i)));
    }
    s.values = update.apply(own, parts);
    s.predicate = Expr();
  }

  static bool reads_data(const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      found |= c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
    });
    return found;
  }

  // Splits, fuses and renames of pure loops go to both; then each gets the order and the kinds that
  // the loops have now.
  std::vector<Directive> carried_directives(const StageDimensions &dims,
                                            const ReductionLoops &loops) const {
    std::vector<Directive> list;
    auto add = [&](const std::string &func, int stage, Directive b) {
      b.func = func;
      b.stage = stage;
      list.push_back(std::move(b));
    };
    std::set<std::string> labels = reductions_;  // of reduction loops, at any time
    for (const Directive &b : before_) {
      if (!makes_loops(b.kind)) {
        if (b.kind == DirectiveKind::Atomic || b.kind == DirectiveKind::AllowRaceConditions) {
          add(d_.func, d_.stage, b);
          add(d_.makes, 1, b);
        }
        continue;
      }
      if (labels.count(b.loops[0])) {
        labels.insert(b.loops.begin() + 1, b.loops.end());
        continue;
      }
      add(d_.func, d_.stage, b);
      add(d_.makes, 1, b);
    }
    Directive order = d_, partial_order = d_;
    for (Directive *o : {&order, &partial_order}) {
      o->kind = DirectiveKind::Reorder;
      o->loops.clear();
      o->makes.clear();
    }
    std::vector<Directive> kinds;
    for (auto l = dims.loops.rbegin(); l != dims.loops.rend(); ++l) {
      const auto v = new_var_.find(l->name);
      const bool is_pure = !loops.is_reduction(l->name);
      const std::string in_partial = v == new_var_.end() ? l->label : v->second;
      partial_order.loops.push_back(in_partial);
      if (is_pure || v != new_var_.end()) order.loops.push_back(l->label);
      if (l->kind == LoopKind::Serial) continue;
      Directive mark = order;
      mark.kind = l->kind == LoopKind::Parallel ? DirectiveKind::Parallel
                  : l->kind == LoopKind::Vector ? DirectiveKind::Vectorize
                                                : DirectiveKind::Unroll;
      mark.where = l->where;
      mark.loops = {in_partial};
      mark.func = d_.makes;
      mark.stage = 1;
      kinds.push_back(mark);
      if (!is_pure) continue;
      mark.loops = {l->label};
      mark.func = d_.func;
      mark.stage = d_.stage;
      kinds.push_back(mark);
    }
    if (order.loops.size() > 1) add(d_.func, d_.stage, order);
    if (partial_order.loops.size() > 1) add(d_.makes, 1, partial_order);
    list.insert(list.end(), kinds.begin(), kinds.end());
    return list;
  }

  Algorithm a_;
  const Directive &d_;
  const std::vector<Directive> &before_;
  const std::string what_;
  std::map<std::string, std::string> new_var_;  // preserved dimension -> Var
  std::set<std::string> reductions_;            // the definition's variables
};

}  // namespace

Factored rfactor(Algorithm a, const Directive &d, const std::vector<Directive> &before) {
  return Factoring(std::move(a), d, before).run();
}

}  // namespace polyhalite
