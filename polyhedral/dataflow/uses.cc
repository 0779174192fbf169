#include "polyhedral/dataflow/uses.h"

#include "polyhedral/dataflow/stop.h"
#include "polyhedral/dataflow/union_maps.h"

namespace polyhalite::dataflow {

namespace {

// What of a union has this name; undefined where nothing has.
Set part_of(const UnionSet &all, const std::string &tuple) {
  struct Search {
    const std::string &tuple;
    Set found;
  } search{tuple, {}};
  isl_union_set_foreach_set(
      all.get(),
      [](isl_set *s, void *user) {
        Set taken(s);
        auto &wanted = *static_cast<Search *>(user);
        const char *name = isl_set_get_tuple_name(taken.get());
        if (name && wanted.tuple == name) wanted.found = taken;
        return isl_stat_ok;
      },
      &search);
  return search.found;
}

}  // namespace

// Each read of a Func, by its statement's instance, to the instance that it finds.
const UnionMap &Uses::found_by_readers(int func) {
  const auto known = found_.find(func);
  if (known != found_.end()) return known->second;
  isl_ctx *ctx = relations_.ctx();
  UnionMap cells = none(ctx), writes = none(ctx), times = none(ctx), readers = none(ctx);
  for (const Sink &s : relations_.sinks_of(func)) {
    add(cells, s.cell);
    add(times, s.time);
    const Map self(isl_set_identity(domain_of(s.cell).release()));
    add(readers, renamed(self, s.statement < 0 ? s.tuple : statement_tuple(s.statement)));
  }
  for (int j : relations_.writers_of(func)) {
    add(writes, relations_.written(j));
    add(times, relations_.time_of(j, true));
  }
  return found_[func] = then(readers, flow(cells, writes, times).source);
}

Use Uses::of(int statement, const Set &instances) {
  const int func = relations_.statement(statement).stage.func;
  const UnionMap found(isl_union_map_intersect_range(found_by_readers(func).copy(),
                                                     isl_union_set_from_set(instances.copy())));
  if (is_empty(found)) return relations_.program().is_complete ? Use::None : Use::Unknown;
  const UnionSet readers(isl_union_map_domain(found.copy()));
  if (part_of(readers, kCaller).defined()) return Use::Some;
  Use use = Use::None;
  for (int reader = 0; reader < relations_.count(); reader++) {
    const Set here = part_of(readers, statement_tuple(reader));
    if (!here.defined()) continue;
    // An update's reads of the Func itself are not followed.
    const bool own = relations_.statement(reader).stage.func == func;
    const Use next = own ? Use::Unknown : of(reader, here);
    if (next == Use::Some) return next;
    if (next == Use::Unknown) use = next;
  }
  return use;
}

}  // namespace polyhalite::dataflow
