#include "polyhedral/dataflow/tasks.h"

#include <algorithm>

#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

// How many of the loops that two statements have in common the tasks run in step.
size_t common_loops(const Statement &a, const Statement &b, const Task &task) {
  const std::vector<const Around *> x = loops_of(a), y = loops_of(b);
  size_t n = 0;
  while (n < x.size() && n < y.size() && x[n]->position == y[n]->position) n++;
  return n < task.outer ? 0 : std::min(n - task.outer, task.in_step);
}

// A write of an iteration that is behind the one that reads, by less than the limit where there is
// one.
void check_pair(Relations &relations, Uses &uses, const Task &task, int writer, int reader,
                const Read &read) {
  const Statement &w = relations.statement(writer), &r = relations.statement(reader);
  const size_t common = common_loops(w, r, task);
  if (common == 0 || task.ahead == 1) return;
  // How many iterations of several loops are between two is not affine.
  bool exact = !task.ahead || task.in_step == 1;
  const Set runs = relations.running(writer, exact);
  // What is written back may be what has come there since.
  if (!w.where.empty()) exact = false;
  const Map written = within(relations.cell_written(writer), relations.instances_of(writer).domain);
  const Map reads =
      within(relations.cell_read(reader, read), relations.using_read(reader, read, exact));
  isl_map *pairs = isl_map_apply_range(written.copy(), isl_map_reverse(reads.copy()));
  for (size_t l = 0; l < task.outer; l++) {
    const int at = static_cast<int>(l);
    pairs = isl_map_equate(pairs, isl_dim_in, at, isl_dim_out, at);
  }
  UnionMap early = none(relations.ctx());
  for (size_t l = 0; l < common; l++) {
    const int at = static_cast<int>(task.outer + l);
    isl_map *here = isl_map_order_gt(isl_map_copy(pairs), isl_dim_in, at, isl_dim_out, at);
    if (task.ahead && task.in_step == 1) {
      // writer - reader <= ahead - 1
      isl_constraint *near =
          isl_constraint_alloc_inequality(isl_local_space_from_space(isl_map_get_space(here)));
      near = isl_constraint_set_coefficient_si(near, isl_dim_in, at, -1);
      near = isl_constraint_set_coefficient_si(near, isl_dim_out, at, 1);
      near = isl_constraint_set_constant_val(near,
                                             isl_val_int_from_si(relations.ctx(), *task.ahead - 1));
      here = isl_map_add_constraint(here, near);
    }
    add(early, Map(here));
    pairs = isl_map_equate(pairs, isl_dim_in, at, isl_dim_out, at);
  }
  isl_map_free(pairs);
  if (is_empty(early)) return;
  // What nobody uses may be made of anything.
  const Use use = uses.of(
      reader, Set(isl_set_from_union_set(isl_union_map_range(isl_union_map_copy(early.get())))));
  if (use == Use::None) return;
  exact = exact && use == Use::Some;
  relations.refuse("a production that runs ahead writes a cell that is still to be read, ", early,
                   exact);
}

}  // namespace

void check_tasks(Relations &relations, Uses &uses, int func) {
  const std::string &name = relations.algorithm().funcs[func].name;
  for (const Task &task : relations.program().tasks) {
    if (relations.program().memories[task.memory].func != name) continue;
    for (int writer = task.first; writer < task.middle; writer++) {
      if (relations.statement(writer).memory != task.memory) continue;
      for (int reader = task.middle; reader < task.end; reader++) {
        for (const Read &read : relations.statement(reader).reads) {
          if (read.memory == task.memory) check_pair(relations, uses, task, writer, reader, read);
        }
      }
    }
  }
}

}  // namespace polyhalite::dataflow
