#include "polyhedral/dataflow/flow_proof.h"

#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

// The instances of one reduction, I1 those of statement 1, as they are when they read their cell.
struct Reduction {
  int stage;
  UnionMap others;     // to cells: what statements of other definitions write
  UnionMap points;     // I -> the definition's instance
  UnionMap times;      // I -> the time at which it writes
  UnionMap all_times;  // of all sinks and statements, and of I when it reads
  UnionMap begun;      // I -> the other definition's write that it begins with
};

Reduction reduction_of(Relations &relations, int func, int stage, const UnionMap &times) {
  isl_ctx *ctx = relations.ctx();
  Reduction r{stage, none(ctx), none(ctx), none(ctx), times, {}};
  UnionMap cells = none(ctx);
  for (int j : relations.writers_of(func)) {
    const Map cell = relations.written(j);
    if (relations.statement(j).stage.stage != stage) {
      add(r.others, cell);
      continue;
    }
    const std::string tuple = "I" + std::to_string(j);
    add(cells, renamed(cell, tuple));
    add(r.all_times, renamed(relations.time_of(j, false), tuple));
    add(r.times, renamed(relations.time_of(j, true), tuple));
    bool exact = true;
    add(r.points, renamed(within(relations.point(j), relations.running(j, exact)), tuple));
  }
  r.begun = flow(cells, r.others, r.all_times).source;
  return r;
}

// Refuses a sink that `wrong` has, if somebody uses what it makes of what it reads: it reads a cell
// `what`.
void fail(Relations &relations, Uses &uses, const std::vector<Sink> &sinks, const UnionMap &wrong,
          const std::string &what) {
  const Sink *chosen = nullptr;
  UnionMap where;
  bool decides = false;
  for (const Sink &s : sinks) {
    const UnionMap here(isl_union_map_intersect_domain(
        wrong.copy(), isl_union_set_from_set(domain_of(s.wanted).release())));
    if (is_empty(here)) continue;
    Use use = Use::Some;
    if (s.statement >= 0) {
      const Set instances(isl_set_from_union_set(isl_union_map_domain(here.copy())));
      use = uses.of(s.statement, renamed(instances, statement_tuple(s.statement)));
    }
    if (use == Use::None) continue;
    const bool decides_here = s.is_exact && use == Use::Some;
    // A sink that decides goes before others.
    if (chosen && (decides || !decides_here)) continue;
    chosen = &s;
    where = here;
    decides = decides_here;
  }
  if (!chosen) return;
  std::string who = "the caller";
  if (chosen->statement >= 0) {
    const int reader = relations.statement(chosen->statement).stage.func;
    who = "a statement of '" + relations.algorithm().funcs[reader].name + "'";
  }
  relations.refuse(who + " reads a cell " + what + ": ", where, decides);
}

// No instance is taken in twice with one beginning.
void check_once(const Relations &relations, const Reduction &r) {
  const UnionMap twice =
      common(then(r.points, reversed(r.points)), then(r.begun, reversed(r.begun)));
  const UnionMap self(isl_union_set_identity(isl_union_map_domain(r.points.copy())));
  const UnionMap again = without(twice, self);
  if (is_empty(again)) return;
  relations.refuse(
      "an instance of its reduction " + std::to_string(r.stage) + " is taken in twice, ", again);
}

// The instances of a reduction that are to be in what the sink reads. `sources`: the instance that
// each sink is to find.
UnionMap needed_by(const Relations &relations, const Definitions &definitions, int stage,
                   const Sink &sink, const UnionMap &sources) {
  Map instances(
      isl_map_apply_range(sink.wanted.copy(), isl_map_reverse(definitions[stage].cell.copy())));
  const int reader = sink.is_own ? relations.statement(sink.statement).stage.stage : -1;
  if (reader >= 0 && !definitions[reader].is_reduction) {
    const UnionSet points(isl_union_set_from_set(
        isl_set_universe(isl_set_get_space(definitions[stage].domain.get()))));
    const UnionMap found(isl_union_map_intersect_range(sources.copy(), points.copy()));
    return UnionMap(isl_union_map_intersect_domain(isl_union_map_from_map(instances.release()),
                                                   isl_union_map_domain(found.copy())));
  }
  // Later definitions may replace the cell.
  for (int later = stage + 1; later < definitions.count(); later++) {
    const Map replaced(
        isl_map_intersect_range(sink.wanted.copy(), range_of(definitions[later].cell).release()));
    instances = Map(isl_map_subtract_domain(instances.release(), domain_of(replaced).release()));
  }
  return alone(instances);
}

// What reads the reduction's cells finds all of its instances there.
void check_complete(Relations &relations, Uses &uses, const Definitions &definitions,
                    const Reduction &r, const std::vector<Sink> &sinks, const UnionMap &sources) {
  isl_ctx *ctx = relations.ctx();
  UnionMap cells = none(ctx), times = none(ctx), needed = none(ctx);
  for (const Sink &s : sinks) {
    if (s.is_own && relations.statement(s.statement).stage.stage <= r.stage) continue;
    add(cells, s.cell);
    add(times, s.time);
    needed = both(needed, needed_by(relations, definitions, r.stage, s, sources));
  }
  const UnionMap reads_of = flow(cells, r.others, r.all_times).source;  // sink -> beginning
  const UnionMap before(isl_union_map_lex_gt_union_map(times.copy(), r.times.copy()));
  const UnionMap taken = common(then(reads_of, reversed(r.begun)), before);
  const UnionMap missing = without(needed, then(taken, r.points));
  if (!is_empty(missing)) {
    fail(relations, uses, sinks, missing, "in which an instance of a reduction is missing");
  }
}

}  // namespace

void prove_by_flow(Relations &relations, Uses &uses, const Definitions &definitions,
                   const std::vector<Sink> &sinks, const UnionMap &identities) {
  isl_ctx *ctx = relations.ctx();
  UnionMap writes = none(ctx), cells = none(ctx), times = none(ctx);
  for (int j : relations.writers_of(definitions.func())) {
    add(writes, relations.written(j));
    add(times, relations.time_of(j, true));
  }
  for (const Sink &s : sinks) {
    add(cells, s.cell);
    add(times, s.time);
  }
  const Flow actual = flow(cells, writes, times);
  if (!is_empty(actual.missing)) {
    fail(relations, uses, sinks, actual.missing, "which nothing wrote");
  }
  const UnionMap expected = definitions.expected_sources(sinks);
  const UnionMap wrong =
      without(then(actual.source, identities), definitions.expected_identities(sinks, expected));
  if (!is_empty(wrong)) {
    fail(relations, uses, sinks, wrong, "and finds what another instance left there");
  }
  for (int s = 1; s < definitions.count(); s++) {
    if (!definitions[s].is_reduction) continue;
    const Reduction r = reduction_of(relations, definitions.func(), s, times);
    check_once(relations, r);
    check_complete(relations, uses, definitions, r, sinks, expected);
  }
}

}  // namespace polyhalite::dataflow
