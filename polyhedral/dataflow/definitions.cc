#include "polyhedral/dataflow/definitions.h"

#include <algorithm>
#include <map>

#include "lang/ir/visit.h"
#include "lang/simplify/associative.h"
#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

std::string identity_tuple(int stage) { return "Q" + std::to_string(stage); }

std::vector<Expr> pure_variables(const FuncDef &f, const StageDef &def) {
  std::vector<Expr> variables;
  for (int d = 0; d < f.dimensions(); d++) {
    const VariableNode *v = as_variable(def.args[d]);
    if (!v || v->kind != VariableKind::Pure || v->name != f.args[d]) continue;
    variables.push_back(def.args[d]);
  }
  return variables;
}

// The values that tell apart instances that write other values.
std::vector<Expr> telling(const FuncDef &f, const StageDef &def, bool is_reduction,
                          std::vector<Expr> variables) {
  if (is_reduction) return def.args;
  for (const Expr &v : def.values) {
    if (calls_func(v, f.name)) return variables;
  }
  std::erase_if(variables, [&](const Expr &v) {
    const std::string &name = as_variable(v)->name;
    return std::none_of(def.values.begin(), def.values.end(),
                        [&](const Expr &e) { return uses_variable(e, name); });
  });
  return variables;
}

}  // namespace

Definitions::Definitions(Relations &relations, int func)
    : relations_(relations), func_(func), def_(relations.algorithm().funcs[func]) {
  for (int s = 0; s < def_.num_definitions(); s++) {
    const size_t n = def_.stages[s].rvars.size() + static_cast<size_t>(def_.dimensions());
    longest_ = std::max(longest_, n);
  }
  for (int s = 0; s < def_.num_definitions(); s++) definitions_.push_back(definition(s));
}

Definition Definitions::definition(int stage) const {
  const StageDef &def = def_.stages[stage];
  std::vector<Expr> variables = pure_variables(def_, def);
  Definition d;
  d.pure = variables.size();
  std::vector<Expr> conditions;
  for (const ReductionVariable &r : def.rvars) {
    variables.push_back(make_variable(Int(32), VariableKind::Reduction, r.var));
    add_range(conditions, variables.back(), r.min, make_binary(Op::Add, r.min, r.extent));
  }
  if (def.predicate.defined()) conditions.push_back(def.predicate);
  std::vector<std::string> names;
  for (const Expr &v : variables) names.push_back(as_variable(v)->name);
  Affine frame = relations_.frame(point_tuple(stage), names);
  bool exact = true;
  const Set domain = frame.all_hold(conditions, exact);
  if (!exact) {
    undecided("the domain of its definition " + std::to_string(stage) + " is not affine");
  }
  d.domain = relations_.under_facts(domain);
  const Map cell = frame.values(def.args, "V");
  if (!cell.defined()) {
    undecided("definition " + std::to_string(stage) + " writes where data say");
  }
  d.cell = within(cell, d.domain);
  d.time = frame.values(time_of(stage, d.pure, variables, true), "T");
  const auto update = stage > 0 ? prove_associative(def_, stage) : std::nullopt;
  d.is_in_place = !def.in_place.empty();
  d.is_reduction = update && update->commutative && !d.is_in_place;
  d.identity = frame.values(telling(def_, def, d.is_reduction, variables), identity_tuple(stage));
  return d;
}

std::vector<Expr> Definitions::time_of(int stage, size_t pure, const std::vector<Expr> &variables,
                                       bool writes) const {
  // Pure variables outside, the last outermost; of reduction variables, too.
  std::vector<Expr> time = {Expr(stage)};
  for (size_t i = pure; i-- > 0;) time.push_back(variables[i]);
  for (size_t i = variables.size(); i-- > pure;) time.push_back(variables[i]);
  time.resize(1 + longest_, Expr(0));
  time.push_back(Expr(writes ? 1 : 0));
  return time;
}

UnionMap Definitions::actual_identities() const {
  UnionMap all = none(relations_.ctx());
  for (int j : relations_.writers_of(func_)) {
    bool exact = true;
    const Set domain = relations_.running(j, exact);
    if (!exact) undecided("whether its definition runs depends on data");
    const Map point = within(relations_.point(j), domain);
    const Definition &d = definitions_[relations_.statement(j).stage.stage];
    const Map outside(isl_map_subtract_range(point.copy(), d.domain.copy()));
    if (!is_empty(outside)) {
      relations_.refuse("a statement runs outside of its reduction domain, ", alone(outside));
    }
    add(all, Map(isl_map_apply_range(point.copy(), d.identity.copy())));
  }
  return all;
}

// The definition in front of which the sink reads: its own, where that is a reduction or in place;
// else -1.
int Definitions::reads_before(const Sink &sink) const {
  if (!sink.is_own) return -1;
  const int stage = relations_.statement(sink.statement).stage.stage;
  return definitions_[stage].reads_before() ? stage : -1;
}

UnionMap Definitions::expected_sources(const std::vector<Sink> &sinks) const {
  isl_ctx *ctx = relations_.ctx();
  std::map<int, std::vector<const Sink *>> groups;  // by the definition that they read in front of
  for (const Sink &s : sinks) groups[reads_before(s)].push_back(&s);
  UnionMap all = none(ctx);
  for (const auto &[before, group] : groups) {
    UnionMap cells = none(ctx), sources = none(ctx), times = none(ctx);
    const int stages = before >= 0 ? before : count();
    for (int s = 0; s < stages; s++) {
      add(sources, definitions_[s].cell);
      add(times, definitions_[s].time);
    }
    for (const Sink *s : group) {
      add(cells, s->wanted);
      add(times, expected_time(*s, before));
    }
    all = both(all, flow(cells, sources, times).source);
  }
  return all;
}

UnionMap Definitions::expected_identities(const std::vector<Sink> &sinks,
                                          const UnionMap &sources) const {
  UnionMap identities = none(relations_.ctx());
  for (const Definition &d : definitions_) add(identities, d.identity);
  UnionMap all = then(sources, identities);
  for (const Sink &s : sinks) {
    const int before = reads_before(s);
    if (before < 0 || !definitions_[before].is_reduction) continue;
    add(all, renamed_to(s.wanted, identity_tuple(before)));
  }
  return all;
}

Map Definitions::expected_time(const Sink &sink, int before) const {
  if (sink.is_own && before < 0) {
    const Statement &s = relations_.statement(sink.statement);
    const int stage = s.stage.stage;
    const Map time = relations_.affine_or_stop(
        sink.statement, time_of(stage, definitions_[stage].pure, s.point, false), "T",
        "an index of it");
    return renamed(time, sink.tuple);
  }
  // In front of that definition, or behind all.
  const int stage = before >= 0 ? before : count();
  const Set domain(isl_set_universe(isl_space_domain(isl_map_get_space(sink.wanted.get()))));
  isl_map *m = isl_map_from_domain(domain.copy());
  for (size_t i = 0; i < longest_ + 2; i++) {
    isl_val *v = isl_val_int_from_si(relations_.ctx(), i == 0 ? stage : 0);
    m = isl_map_flat_range_product(m,
                                   isl_map_from_pw_aff(isl_pw_aff_val_on_domain(domain.copy(), v)));
  }
  return renamed_to(Map(m), "T");
}

}  // namespace polyhalite::dataflow
