#include "polyhedral/dataflow/covered.h"

#include <algorithm>

#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

using Loops = std::vector<const Around *>;

bool same(const std::vector<Expr> &a, const std::vector<Expr> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr &x, const Expr &y) { return equal(x, y); });
}

// A cell in an iteration of the first `count` loops.
std::vector<Expr> in_loops(const Loops &loops, size_t count, const std::vector<Expr> &cell) {
  std::vector<Expr> all;
  for (size_t l = 0; l < count; l++) all.push_back(counter_variable(loops[l]->counter));
  all.insert(all.end(), cell.begin(), cell.end());
  return all;
}

// Is the cell that is read the one that the definition wants, by its form or by isl?
bool reads_wanted(Relations &relations, const Sink &sink) {
  const Read *r = relations.read_of(sink);
  if (!r || same(r->cell, r->wanted)) return true;
  const Map cell = relations.instances_of(sink.statement).frame->values(r->cell, "V");
  const Map read = within(renamed(cell, sink.tuple), domain_of(sink.cell));
  return isl_map_is_subset(read.get(), sink.wanted.get()) == isl_bool_true;
}

// The cells that are read, each in its iteration of the loops in common.
Set cells_read(Relations &relations, const Sink &sink, const Loops &loops, size_t common) {
  const Read *r = relations.read_of(sink);
  if (!r) return renamed(range_of(sink.wanted), "C");
  const Map cell =
      relations.instances_of(sink.statement).frame->values(in_loops(loops, common, r->cell), "C");
  return range_of(within(renamed(cell, sink.tuple), domain_of(sink.cell)));
}

bool is_covered(Relations &relations, const std::vector<int> &writers, const Sink &sink) {
  const bool ends = sink.statement < 0;
  const Loops around = ends ? Loops() : loops_of(relations.statement(sink.statement));
  size_t common = around.size();
  for (int j : writers) {
    const Loops loops = loops_of(relations.statement(j));
    size_t n = 0;
    while (n < common && n < loops.size() && loops[n]->position == around[n]->position) n++;
    common = n;
  }
  const int own = common < around.size() ? around[common]->position
                  : ends                 ? kEnd
                                         : relations.statement(sink.statement).position;
  Set written;
  for (int j : writers) {
    const Statement &s = relations.statement(j);
    if (s.memory != sink.memory) continue;
    const Loops loops = loops_of(s);
    const int at = common < loops.size() ? loops[common]->position : s.position;
    if (at >= own) return false;
    const Map cell = relations.instances_of(j).frame->values(in_loops(loops, common, s.cell), "C");
    bool exact = true;
    const Set its = range_of(within(cell, relations.running(j, exact)));
    written = written.defined() ? Set(isl_set_union(written.release(), its.copy())) : its;
  }
  if (!written.defined()) return false;
  const Set read = cells_read(relations, sink, around, common);
  return isl_set_is_subset(read.get(), written.get()) == isl_bool_true;
}

}  // namespace

bool is_covered(Relations &relations, int func, const std::vector<Sink> &sinks) {
  if (relations.algorithm().funcs[func].num_definitions() > 1) return false;
  const std::vector<int> writers = relations.writers_of(func);
  return std::all_of(writers.begin(), writers.end(),
                     [&](int j) {
                       const Statement &s = relations.statement(j);
                       return same(s.cell, s.point);
                     }) &&
         std::all_of(sinks.begin(), sinks.end(), [&](const Sink &sink) {
           return reads_wanted(relations, sink) && is_covered(relations, writers, sink);
         });
}

}  // namespace polyhalite::dataflow
