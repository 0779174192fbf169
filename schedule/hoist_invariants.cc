#include "schedule/hoist_invariants.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lang/ir/visit.h"
#include "lang/simplify/distribute.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

class Hoisting {
 public:
  Hoisting(Algorithm a, const Directive &d, const std::vector<Directive> &before)
      : a_(std::move(a)), d_(d), before_(before) {}

  Hoisted run() {
    const int index = a_.index_of(d_.func);
    const FuncDef func = a_.funcs[index];
    const StageDef def = func.stages[d_.stage];
    what_ = "cannot hoist invariants of " + describe_stage(d_.func, func.definition_of(d_.stage));
    std::string why;
    const auto terms =
        reduction_terms(func, d_.stage, constant_ranges(func, d_.stage, before_), &why);
    if (!terms) refuse(why, "leave the reduction as it is");
    std::vector<std::string> names = {d_.makes};
    names.insert(names.end(), d_.makes_more.begin(), d_.makes_more.end());
    if (names.size() != terms->size()) {
      refuse("it makes " + std::to_string(terms->size()) + " Funcs, one for each term, and " +
                 std::to_string(names.size()) + " are named",
             "name one for each term");
    }
    Hoisted result;
    merge(a_.funcs[index].stages[d_.stage], func, def, *terms, names);
    int at = index;
    for (size_t i = 0; i < names.size(); i++) {
      if (a_.index_of(names[i]) < 0) {
        a_.funcs.insert(a_.funcs.begin() + at++, partial(func, def, (*terms)[i], names[i]));
      }
    }
    result.algorithm = std::move(a_);
    result.directives = carried(def, names);
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string &why, const std::string &fix) const {
    user_error(what_, why, fix, d_.where);
  }

  // f_intm(args) = identity;  over r: f_intm(args) = f_intm(args) op varying
  FuncDef partial(const FuncDef &func, const StageDef &def, const ReductionTerm &term,
                  const std::string &name) const {
    FuncDef p;
    p.name = name;
    p.args = func.args;
    p.where = d_.where;
    const Type t = func.types[static_cast<size_t>(term.value)];
    p.types = {t};
    StageDef first;
    for (const std::string &a : p.args) {
      first.args.push_back(make_variable(Int(32), VariableKind::Pure, a));
    }
    first.values = {identity_of(term.outer, t)};
    StageDef sum = def;
    sum.instead_of = -1;
    sum.when = Expr();
    sum.values = {make_binary(term.outer, make_func_call(t, name, def.args), term.varying)};
    first.where = sum.where = d_.where;
    p.stages = {std::move(first), std::move(sum)};
    return p;
  }

  // f(args) = f(args) op same * f_intm(args) op ...
  void merge(StageDef &s, const FuncDef &func, const StageDef &def,
             const std::vector<ReductionTerm> &terms, const std::vector<std::string> &names) const {
    for (size_t v = 0; v < s.values.size(); v++) {
      s.values[v] = make_func_call(func.types[v], func.name, def.args, static_cast<int>(v));
    }
    for (size_t i = 0; i < terms.size(); i++) {
      const ReductionTerm &t = terms[i];
      Expr &value = s.values[static_cast<size_t>(t.value)];
      Expr part = make_func_call(value.type(), names[i], def.args);
      if (t.same.defined()) part = make_binary(t.inner, t.same, part);
      value = make_binary(t.subtracted ? Op::Sub : t.outer, value, part);
    }
    std::set<std::string> variables;
    s.predicate = Expr();
    for (const ReductionVariable &r : def.rvars) {
      variables.insert(r.var);
      int64_t n;
      if (is_const_int(r.extent, &n) && n > 0) continue;
      add_condition(s, make_binary(Op::Gt, r.extent, make_zero(r.extent.type())), variables);
    }
    add_condition(s, def.predicate, variables);
    s.rvars.clear();
  }

  // The parts of a conjunction that are over no reduction variable.
  static void add_condition(StageDef &s, const Expr &e, const std::set<std::string> &variables) {
    if (!e.defined()) return;
    if (e->op == Op::And) {
      for (const Expr &part : e->args) add_condition(s, part, variables);
      return;
    }
    for (const std::string &v : free_variables(e)) {
      if (variables.count(v)) return;
    }
    s.predicate = s.predicate.defined() ? make_binary(Op::And, s.predicate, e) : e;
  }

  // The new updates have all loops, what is left of the stage those over pure variables.
  std::vector<Directive> carried(const StageDef &def, const std::vector<std::string> &names) const {
    std::vector<Directive> list;
    std::set<std::string> reduced;  // labels of loops over reduction variables, at any time
    for (const ReductionVariable &r : def.rvars) reduced.insert(r.var);
    for (const Directive &b : before_) {
      if (b.func != d_.func || b.stage != d_.stage || !is_of_stage(b.kind)) continue;
      for (const std::string &name : names) {
        Directive copy = b;
        copy.func = name;
        copy.stage = 1;
        list.push_back(std::move(copy));
      }
      Directive left = b;
      if (makes_loops(b.kind)) {
        const bool of_two = b.kind == DirectiveKind::Fuse || b.kind == DirectiveKind::Skew;
        const size_t from = of_two ? 2 : 1;
        size_t of = 0;
        for (size_t i = 0; i < from; i++) of += reduced.count(b.loops[i]);
        if (of > 0)
          reduced.insert(b.loops.begin() + static_cast<std::ptrdiff_t>(from), b.loops.end());
        if (of > 0 && of < from) {
          refuse("'" + b.loops[0] + "' and '" + b.loops[1] +
                     (b.kind == DirectiveKind::Fuse ? "' are fused, over"
                                                    : "' are one skewed by the other,") +
                     " a pure and a reduction variable",
                 std::string("call hoist_invariants before the ") + directive_name(b.kind));
        }
        if (of > 0) continue;
      } else if (!left.loops.empty()) {
        left.loops.erase(std::remove_if(left.loops.begin(), left.loops.end(),
                                        [&](const std::string &l) { return reduced.count(l) > 0; }),
                         left.loops.end());
        const bool all = left.loops.size() == b.loops.size();
        const bool fewer = b.kind == DirectiveKind::Reorder && left.loops.size() > 1;
        if (!all && !fewer) continue;
      }
      list.push_back(std::move(left));
    }
    return list;
  }

  Algorithm a_;
  const Directive &d_;
  const std::vector<Directive> &before_;
  std::string what_;
};

}  // namespace

Hoisted hoist_invariants(Algorithm a, const Directive &d, const std::vector<Directive> &before) {
  return Hoisting(std::move(a), d, before).run();
}

}  // namespace polyhalite
