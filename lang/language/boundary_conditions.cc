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
  const Expr read = source(inside);
  result(args) = outside.defined() ? select(outside, cast(read.type(), value), likely(read)) : read;
  return result;
}

}  // namespace polyhalite::BoundaryConditions
