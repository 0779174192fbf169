#include "polyhalite/boundary_conditions.h"

#include "lang/language/names.h"

namespace polyhalite::BoundaryConditions {

namespace {

void check(const char *word, const Func &source, const Region &bounds) {
  if (static_cast<int>(bounds.size()) <= source.dimensions()) return;
  user_error(std::string(word) + " of '" + plain_name(source.name()) + "' has " +
                 std::to_string(bounds.size()) + " bounds",
             "the Func has " + std::to_string(source.dimensions()) + " dimensions",
             "give at most one bound for each dimension");
}

// The result's dimensions are called like the source's.
std::vector<Expr> dimensions_of(const Func &source) {
  const std::vector<Var> args = source.args();
  return {args.begin(), args.end()};
}

bool is_bounded(const Range &r) { return r.min.defined() && r.extent.defined(); }

// source at coordinates that `beyond(distance from min, extent)` moves into [0, extent) where they
// are outside of the bounds.
template <typename F>
Func moved_inside(const char *word, const Func &source, const Region &bounds, F &&beyond) {
  check(word, source, bounds);
  const std::vector<Expr> args = dimensions_of(source);
  std::vector<Expr> inside = args;
  for (size_t i = 0; i < bounds.size(); i++) {
    if (!is_bounded(bounds[i])) continue;
    const Expr min = bounds[i].min, extent = bounds[i].extent, x = args[i];
    const Expr moved =
        select(x < min || x >= min + extent, min + beyond(x - min, extent), likely(x));
    // The clamp changes nothing, and says to region analysis what the arithmetic hides.
    inside[i] = clamp(moved, min, min + extent - 1);
  }
  Func result(word);
  result(args) = source(inside);
  return result;
}

}  // namespace

Func repeat_edge(const Func &source, const Region &bounds) {
  check("repeat_edge", source, bounds);
  const std::vector<Expr> args = dimensions_of(source);
  std::vector<Expr> inside = args;
  for (size_t i = 0; i < bounds.size(); i++) {
    if (!is_bounded(bounds[i])) continue;
    inside[i] = clamp(likely(args[i]), bounds[i].min, bounds[i].min + bounds[i].extent - 1);
  }
  Func result("repeat_edge");
  result(args) = source(inside);
  return result;
}

Func constant_exterior(const Func &source, const Expr &value, const Region &bounds) {
  return constant_exterior(source, Tuple(value), bounds);
}

Func constant_exterior(const Func &source, const Tuple &value, const Region &bounds) {
  check("constant_exterior", source, bounds);
  const std::vector<Expr> args = dimensions_of(source);
  // The source is read inside its bounds even where the value is not used.
  std::vector<Expr> inside = args;
  Expr outside;
  for (size_t i = 0; i < bounds.size(); i++) {
    if (!is_bounded(bounds[i])) continue;
    const Expr min = bounds[i].min, max = bounds[i].min + bounds[i].extent - 1;
    const Expr beyond = args[i] < min || args[i] > max;
    outside = outside.defined() ? outside || beyond : beyond;
    inside[i] = clamp(likely(args[i]), min, max);
  }
  Func result("constant_exterior");
  const Tuple read = source(inside);
  if (read.size() != value.size()) {
    user_error("constant_exterior of '" + plain_name(source.name()) + "' is given " +
                   std::to_string(value.size()) + " values",
               "the Func has " + std::to_string(read.size()) + " at each point",
               "give a Tuple with one for each");
  }
  std::vector<Expr> values;
  for (size_t i = 0; i < read.size(); i++) {
    const Expr beyond = cast(read[i].type(), value[i]);
    values.push_back(outside.defined() ? select(outside, beyond, likely(read[i])) : read[i]);
  }
  result(args) = Tuple(values);
  return result;
}

Func repeat_image(const Func &source, const Region &bounds) {
  return moved_inside("repeat_image", source, bounds,
                      [](const Expr &d, const Expr &extent) { return d % extent; });
}

// The period is two images: behind the first, distances count from the end.
Func mirror_image(const Func &source, const Region &bounds) {
  return moved_inside("mirror_image", source, bounds, [](const Expr &d, const Expr &extent) {
    const Expr in_period = d % (2 * extent);
    return min(in_period, 2 * extent - 1 - in_period);
  });
}

// The period lacks one of each edge. Of a single point it is 0, and d % 0 is 0.
Func mirror_interior(const Func &source, const Region &bounds) {
  return moved_inside("mirror_interior", source, bounds, [](const Expr &d, const Expr &extent) {
    const Expr in_period = d % (2 * (extent - 1));
    return min(in_period, 2 * (extent - 1) - in_period);
  });
}

}  // namespace polyhalite::BoundaryConditions
