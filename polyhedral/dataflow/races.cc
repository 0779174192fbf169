#include "polyhedral/dataflow/races.h"

#include <algorithm>

#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

// An access of one of the Func's memories, among iterations that run at once.
struct Touch {
  int statement, memory;
  Map cell;
  bool writes, is_exact, is_atomic, takes_any_order;
};

bool runs_at_once(const Around *loop) {
  return loop->loop_kind == LoopKind::Parallel || loop->loop_kind == LoopKind::Vector ||
         loop->loop_kind == LoopKind::GpuBlock;
}

std::vector<Touch> touches_of(Relations &relations, int func) {
  const std::string &name = relations.algorithm().funcs[func].name;
  std::vector<Touch> touches;
  for (int j = 0; j < relations.count(); j++) {
    const Statement &s = relations.statement(j);
    const std::vector<const Around *> loops = loops_of(s);
    if (std::none_of(loops.begin(), loops.end(), runs_at_once)) continue;
    if (s.stage.func == func && !s.races_are_promised) {
      const Map cell = relations.cell_written(j);
      bool exact = true;
      const Set writes = relations.running(j, exact);
      touches.push_back(
          {j, s.memory, within(cell, writes), true, exact, s.is_atomic, s.takes_any_order});
      if (!s.where.empty()) {
        // What is written back may be what this iteration has written before.
        const Set back = minus(relations.instances_of(j).domain, writes);
        touches.push_back(
            {j, s.memory, within(cell, back), true, false, s.is_atomic, s.takes_any_order});
      }
    }
    for (const Read &r : s.reads) {
      if (r.callee != name || r.memory < 0) continue;
      if (r.is_own && s.races_are_promised) continue;
      bool exact = true;
      const Set domain = relations.holding(j, r.where, exact);
      const Map cell = within(relations.cell_read(j, r), domain);
      touches.push_back({j, r.memory, cell, false, exact, s.is_atomic && r.is_own,
                         s.takes_any_order && r.is_own});
    }
  }
  return touches;
}

void check_race(const Relations &relations, const Touch &x, const Touch &y, const UnionMap &alike) {
  const std::vector<const Around *> first = loops_of(relations.statement(x.statement));
  const std::vector<const Around *> second = loops_of(relations.statement(y.statement));
  const bool take_turns = x.is_atomic && y.is_atomic;
  for (size_t l = 0; l < first.size() && l < second.size(); l++) {
    if (first[l]->position != second[l]->position) return;
    if (!runs_at_once(first[l])) continue;
    // Lanes in the loop's own order, which is part of the proof; others as it happens.
    if (take_turns && first[l]->loop_kind == LoopKind::Vector) continue;
    isl_map *pairs = isl_map_apply_range(x.cell.copy(), isl_map_reverse(y.cell.copy()));
    const int n = static_cast<int>(l);
    for (int outer = 0; outer < n; outer++) {
      pairs = isl_map_equate(pairs, isl_dim_in, outer, isl_dim_out, outer);
    }
    isl_map *less = isl_map_order_lt(isl_map_copy(pairs), isl_dim_in, n, isl_dim_out, n);
    isl_map *more = isl_map_order_gt(pairs, isl_dim_in, n, isl_dim_out, n);
    UnionMap at_once(isl_union_map_from_map(isl_map_union(less, more)));
    if (is_empty(at_once)) continue;
    if (x.writes && y.writes) at_once = without(at_once, alike);
    if (is_empty(at_once)) continue;
    relations.refuse(std::string("iterations of the ") + loop_kind_name(first[l]->loop_kind) +
                         " loop '" + first[l]->counter + "' meet in a cell, ",
                     at_once, x.is_exact && y.is_exact);
  }
}

}  // namespace

void check_races(Relations &relations, int func, const UnionMap &identities) {
  const std::vector<Touch> touches = touches_of(relations, func);
  const UnionMap alike = then(identities, reversed(identities));
  for (size_t a = 0; a < touches.size(); a++) {
    for (size_t b = a; b < touches.size(); b++) {
      const Touch &x = touches[a], &y = touches[b];
      if (!x.writes && !y.writes) continue;
      if (x.takes_any_order && y.takes_any_order) continue;
      if (x.memory == y.memory) check_race(relations, x, y, alike);
    }
  }
}

}  // namespace polyhalite::dataflow
