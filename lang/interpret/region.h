// Boxes of points, and the intervals that index expressions take over them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/interpret/program.h"

namespace polyhalite::interpreter {

/// Inclusive; empty where max < min.
struct Span {
  int64_t min = 0, max = -1;
  bool empty() const { return max < min; }
  int64_t extent() const { return empty() ? 0 : max - min + 1; }
  bool contains(const Span &o) const { return o.empty() || (min <= o.min && o.max <= max); }
};
Span hull(const Span &a, const Span &b);

using Box = std::vector<Span>;
Box hull(const Box &a, const Box &b);
bool contains(const Box &a, const Box &b);
/// A box without dimensions has one point.
int64_t count_points(const Box &b);
bool is_empty(const Box &b);

/// The points of a product of spans in rows of up to kLanes, first variable fastest.
class PointLoop {
 public:
  PointLoop(std::vector<std::string> names, Box spans);
  /// Fills the rows of the variables that `program` has; returns the number of lanes, 0 at the end.
  int next(Program &program);
  /// Coordinates of a lane of the last row.
  std::vector<int64_t> point(int lane) const;
  const std::vector<std::string> &names() const { return names_; }

 private:
  std::vector<std::string> names_;
  Box spans_;
  int64_t count_, next_ = 0, first_ = 0;
};

/// What an index expression is evaluated over.
struct IndexDomain {
  std::map<std::string, Span> variables;
  Expr predicate;  // null if none: points where it is false do not count
};

/// The interval of an Int(32) expression over the domain, lanes without value left out. `bindings`
/// gives parameters and grids; its variables are those of the domain.
Span span_of(const Expr &index, const IndexDomain &domain, const Bindings &bindings);

}  // namespace polyhalite::interpreter
