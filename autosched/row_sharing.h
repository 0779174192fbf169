// What the rows of an unrolled block have in common: each element that several of them read, and
// each value of an inlined Func, is there once.
//
//   in(x, y - 1) + in(x, y + 1)      4 rows read 6 rows of in: 1.5 a row, where one alone reads 2
#pragma once

#include <array>
#include <vector>

#include "autosched/model.h"

namespace polyhalite::autosched {

class RowSharing {
 public:
  /// Distinct accesses of one callee, all of a point, each as dear as `weight`. Rows are
  /// variable 1.
  void add(const std::vector<const Access *> &accesses, double weight);
  /// Summed weights for each row where `rows` of them run at once; for one row, those added.
  /// `kept`: is what later rows use again still there?
  double per_row(int rows, bool kept = true) const;
  /// How many wait at once to be used again by later rows.
  double waiting(int rows) const;
  /// How many of a row's are there already.
  double used_again(int rows) const;

 private:
  static constexpr int kMostRows = 16;
  double fixed_ = 0;   // the same for all rows
  double chains_ = 0;  // of those that a step of rows apart are the same: one for each row
  // [n] beyond that, followed in its chain by one n rows away: as many as there are rows, at most n
  std::array<double, kMostRows + 1> gaps_{}, gap_counts_{};  // weighted, and not
};

}  // namespace polyhalite::autosched
