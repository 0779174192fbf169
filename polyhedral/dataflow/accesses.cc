#include "polyhedral/dataflow/accesses.h"

#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

void check_address(Relations &relations, int statement, int memory, const std::vector<Expr> &cell,
                   const Set &domain, bool exact, const std::string &verb) {
  const Memory &m = relations.program().memories[memory];
  Affine &frame = *relations.instances_of(statement).frame;
  for (size_t d = 0; d < m.min.size(); d++) {
    const Set inside = frame.holds(make_binary(Op::And, make_binary(Op::Ge, cell[d], m.min[d]),
                                               make_binary(Op::Lt, cell[d], m.end[d])));
    if (!inside.defined()) undecided("the size of its memory is not affine");
    const Map outside = within(relations.affine_or_stop(statement, cell, "V", "an index of it"),
                               minus(domain, inside));
    if (is_empty(outside)) continue;
    relations.refuse("a statement " + verb + " outside of its memory, ", alone(outside), exact);
  }
}

}  // namespace

void check_images(Relations &relations, int func) {
  for (int j : relations.writers_of(func)) {
    for (const Read &r : relations.statement(j).reads) {
      if (r.memory >= 0) continue;
      bool exact = true;
      const Set domain = relations.using_read(j, r, exact);
      const char *what = "an index with which an image is read";
      const Map cell = relations.affine_or_stop(j, r.cell, "V", what);
      const Map wanted = relations.affine_or_stop(j, r.wanted, "V", what);
      const Map other(isl_map_subtract(within(cell, domain).release(), wanted.copy()));
      if (is_empty(other)) continue;
      relations.refuse("a statement reads another element of '" + r.callee + "', ", alone(other),
                       exact);
    }
  }
}

void check_addresses(Relations &relations, int func) {
  const std::string &name = relations.algorithm().funcs[func].name;
  for (int j = 0; j < relations.count(); j++) {
    const Statement &s = relations.statement(j);
    const Instances &i = relations.instances_of(j);
    if (s.stage.func == func) {
      check_address(relations, j, s.memory, s.cell, i.domain, i.is_exact, "writes");
    }
    for (const Read &r : s.reads) {
      if (r.callee != name || r.memory < 0) continue;
      bool exact = true;
      const Set domain = relations.holding(j, r.touched, exact);
      check_address(relations, j, r.memory, r.cell, domain, exact, "reads");
    }
  }
}

}  // namespace polyhalite::dataflow
