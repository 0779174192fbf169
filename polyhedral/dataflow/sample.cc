#include "polyhedral/dataflow/sample.h"

#include <isl/point.h>

namespace polyhalite::dataflow {

namespace {

isl_stat keep_first(isl_map *m, void *user) {
  Map &first = *static_cast<Map *>(user);
  const Map taken(m);
  if (!first.defined()) first = taken;
  return isl_stat_ok;
}

std::string numbers(isl_point *p, int from, int to) {
  std::string text = "(";
  for (int i = from; i < to; i++) {
    isl_val *v = isl_point_get_coordinate_val(p, isl_dim_set, i);
    text += (i > from ? ", " : "") + std::to_string(isl_val_get_num_si(v));
    isl_val_free(v);
  }
  return text + ")";
}

}  // namespace

Sample sample_of(const UnionMap &relation) {
  Sample sample;
  Map first;
  isl_union_map_foreach_map(relation.get(), keep_first, &first);
  if (!first.defined()) return sample;
  const int in = static_cast<int>(isl_map_dim(first.get(), isl_dim_in));
  const int out = static_cast<int>(isl_map_dim(first.get(), isl_dim_out));
  const int parameters = static_cast<int>(isl_map_dim(first.get(), isl_dim_param));
  // Parameters become coordinates, the first ones.
  isl_set *all = isl_set_flatten(isl_map_wrap(first.copy()));
  all = isl_set_move_dims(all, isl_dim_set, 0, isl_dim_param, 0, static_cast<unsigned>(parameters));
  Set small(isl_set_copy(all));
  constexpr int kSmall = 100;
  for (int i = 0; i < parameters; i++) {
    const auto at = static_cast<unsigned>(i);
    small = Set(isl_set_upper_bound_si(small.release(), isl_dim_set, at, kSmall));
    small = Set(isl_set_lower_bound_si(small.release(), isl_dim_set, at, -kSmall));
  }
  if (isl_set_is_empty(small.get()) == isl_bool_false) {
    isl_set_free(all);
    all = small.release();
  }
  isl_point *point = isl_set_sample_point(all);
  if (point && isl_point_is_void(point) == isl_bool_false) {
    for (int i = 0; i < parameters; i++) {
      const std::string name = isl_map_get_dim_name(first.get(), isl_dim_param, i);
      isl_val *v = isl_point_get_coordinate_val(point, isl_dim_set, i);
      sample.parameters[name] = isl_val_get_num_si(v);
      isl_val_free(v);
    }
    for (const auto &[name, value] : sample.parameters) {
      sample.text += (sample.text.empty() ? "with " : ", ") + name + " = " + std::to_string(value);
    }
    sample.text += (parameters ? ": " : "") + numbers(point, parameters, parameters + in) +
                   " and " + numbers(point, parameters + in, parameters + in + out);
  }
  isl_point_free(point);
  return sample;
}

}  // namespace polyhalite::dataflow
