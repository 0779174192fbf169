#include "autosched/row_sharing.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "autosched/hash.h"

namespace polyhalite::autosched {

namespace {

// Where an access lies among those that differ from it in rows only.
struct Place {
  uint64_t chain = 0;
  int64_t row = 0;
  bool operator<(const Place &o) const { return std::tie(chain, row) < std::tie(o.chain, o.row); }
};

enum class Motion { Fixed, Rows, Other };

Motion motion_of(const Access &a, Place *place) {
  Motion motion = Motion::Fixed;
  for (size_t d = 0; d < a.index.size(); d++) {
    const IndexModel &i = a.index[d];
    const double slope = i.slope.size() > 1 ? i.slope[1] : 0;
    place->chain = mix(place->chain, i.shape);
    for (const double s : i.slope) {
      place->chain = mix(place->chain, static_cast<uint64_t>(std::llround(s * 4096)));
    }
    const bool found = (i.found_by & bit_of(1)) != 0;
    if (slope == 0 && !found) {
      place->chain = mix(place->chain, static_cast<uint64_t>(i.offset));
      continue;
    }
    const auto step = static_cast<int64_t>(std::abs(slope));
    if (motion != Motion::Fixed || step == 0 || static_cast<double>(step) != std::abs(slope) ||
        i.shape != 0 || found) {
      motion = Motion::Other;
      continue;
    }
    motion = Motion::Rows;
    const int64_t phase = (i.offset % step + step) % step;
    place->chain = mix(place->chain, static_cast<uint64_t>(phase) + 1);
    place->row = (i.offset - phase) / step;
  }
  return motion;
}

}  // namespace

void RowSharing::add(const std::vector<const Access *> &accesses, double weight) {
  std::vector<Place> moving;
  for (const Access *a : accesses) {
    Place place;
    const Motion motion = motion_of(*a, &place);
    if (motion == Motion::Fixed) fixed_ += weight;
    if (motion == Motion::Other) chains_ += weight;
    if (motion == Motion::Rows) moving.push_back(place);
  }
  std::sort(moving.begin(), moving.end());
  for (size_t i = 0; i < moving.size(); i++) {
    const bool last = i + 1 == moving.size() || moving[i + 1].chain != moving[i].chain;
    if (last) {
      chains_ += weight;
    } else {
      const int64_t gap = moving[i + 1].row - moving[i].row;
      const auto at = static_cast<size_t>(std::min<int64_t>(gap, kMostRows));
      gaps_[at] += weight;
      gap_counts_[at]++;
    }
  }
}

double RowSharing::per_row(int rows, bool kept) const {
  double sum = fixed_ + chains_ * rows;
  for (int gap = 1; gap <= kMostRows; gap++) {
    sum += gaps_[static_cast<size_t>(gap)] * (kept ? std::min(gap, rows) : rows);
  }
  return sum / rows;
}

double RowSharing::waiting(int rows) const {
  double count = 0;
  for (int gap = 1; gap < std::min(rows, kMostRows); gap++) {
    count += gap * gap_counts_[static_cast<size_t>(gap)];
  }
  return count;
}

double RowSharing::used_again(int rows) const {
  double count = 0;
  for (int gap = 1; gap < std::min(rows, kMostRows); gap++) {
    count += gap_counts_[static_cast<size_t>(gap)];
  }
  return count;
}

}  // namespace polyhalite::autosched
