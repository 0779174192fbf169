// union_maps: what the proof does with relations, as functions of values.
#pragma once

#include <string>

#include "polyhedral/dataflow/isl_values.h"

namespace polyhalite::dataflow {

/// m with another name of what it starts from.
inline Map renamed(Map m, const std::string &tuple) {
  return Map(isl_map_set_tuple_name(m.release(), isl_dim_in, tuple.c_str()));
}
inline Set renamed(Set s, const std::string &tuple) {
  return Set(isl_set_set_tuple_name(s.release(), tuple.c_str()));
}
/// m with another name of what it leads to.
inline Map renamed_to(Map m, const std::string &tuple) {
  return Map(isl_map_set_tuple_name(m.release(), isl_dim_out, tuple.c_str()));
}
inline Map within(Map m, const Set &domain) {
  return Map(isl_map_intersect_domain(m.release(), domain.copy()));
}
inline Set meet(Set a, Set b) { return Set(isl_set_intersect(a.release(), b.release())); }
inline Set minus(const Set &a, const Set &b) { return Set(isl_set_subtract(a.copy(), b.copy())); }
inline Set domain_of(const Map &m) { return Set(isl_map_domain(m.copy())); }
inline Set range_of(const Map &m) { return Set(isl_map_range(m.copy())); }

inline UnionMap none(isl_ctx *ctx) { return UnionMap(isl_union_map_empty_ctx(ctx)); }
inline UnionMap alone(const Map &m) { return UnionMap(isl_union_map_from_map(m.copy())); }
inline UnionMap both(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_union(a.copy(), b.copy()));
}
inline UnionMap common(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_intersect(a.copy(), b.copy()));
}
inline UnionMap without(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_subtract(a.copy(), b.copy()));
}
inline void add(UnionMap &all, Map m) {
  all = UnionMap(isl_union_map_union(all.release(), isl_union_map_from_map(m.release())));
}
inline UnionMap then(const UnionMap &a, const UnionMap &b) {
  return UnionMap(isl_union_map_apply_range(a.copy(), b.copy()));
}
inline UnionMap reversed(const UnionMap &a) { return UnionMap(isl_union_map_reverse(a.copy())); }

/// isl's dataflow analysis: which write does each read find?
struct Flow {
  UnionMap source;   // sink -> source
  UnionMap missing;  // sink -> cell that nobody wrote
};
/// Sinks and sources to cells, and all of them to times.
inline Flow flow(const UnionMap &sinks, const UnionMap &sources, const UnionMap &times) {
  isl_union_access_info *info = isl_union_access_info_from_sink(sinks.copy());
  info = isl_union_access_info_set_must_source(info, sources.copy());
  info = isl_union_access_info_set_schedule_map(info, times.copy());
  isl_union_flow *f = isl_union_access_info_compute_flow(info);
  Flow result{UnionMap(isl_union_map_reverse(isl_union_flow_get_must_dependence(f))),
              UnionMap(isl_union_flow_get_must_no_source(f))};
  isl_union_flow_free(f);
  return result;
}

}  // namespace polyhalite::dataflow
