// What schedules of convolutions share: a register tile of the output and the loops around it.
#pragma once

#include <optional>
#include <vector>

#include "lang/ops/loops.h"

namespace polyhalite::ops {

/// The terms of a sum.
int64_t steps_of(const Stage &s);

/// Loops around a tile, the innermost first, and their extents; 0: known at run time only.
struct OuterLoops {
  std::vector<Var> vars;
  std::vector<int64_t> counts;

  void add(const Var &v, int64_t count) {
    vars.push_back(v);
    counts.push_back(count);
  }
  void add(const OuterLoops &more) {
    for (size_t i = 0; i < more.vars.size(); i++) add(more.vars[i], more.counts[i]);
  }
};

/// A tile of `to`, a strip of channels by some columns, whose sums stay in registers.
class TileSchedule {
 public:
  TileSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
               const Stage *border, int lanes, int vectors, const Target &target,
               int most_columns = kMostColumns);

 protected:
  // Strips stand around the loops over rows, or inside of them; there around the tiles of a row, or
  // inside, too.
  enum class StripLoop { Outermost, InRow, Innermost };

  // for strips { for rows { for columns/tile { tile } } }
  //
  // `columns_outside`: of all but images; tiles go down the rows. `together`: only so many strips
  // stand inside, 0: all.
  void tile_output(StripLoop where, bool columns_outside = false, int64_t together = 0);

  // What a group's tiles see on their way down is copied, with zeros around it, to a ring of rows.
  void copy_border();

  // Tiles inside of the image read it without conditions: of all cells at once they take registers
  // from the sums. Short loops are left whole where nobody asks.
  void cut_off_border();

  void in_registers(const polyhalite::Stage &stage) const { in_registers(stage, args_); }
  void in_registers(polyhalite::Stage stage, const std::vector<Var> &args) const;

  void order_update(polyhalite::Stage update, const std::vector<RVar> &reduced,
                    const std::vector<Var> &further, bool of_products = true) const;

  bool is_one_row() const;

  static constexpr int kTogether = 4;  // steps in one iteration

  const Loops &to_;
  const std::vector<size_t> &place_;
  const Stage &s_;
  const Stage *border_;
  const Target &target_;
  Func out_;
  polyhalite::Stage loops_;  // of the output
  Func sums_;
  const std::vector<Var> args_;
  const int lanes_, width_;
  const int64_t columns_;        // 0 where they are known at run time only
  const int64_t least_columns_;  // 0 where nothing is known
  const int tile_;
  int64_t steps_ = 1;  // of the innermost loop over products
  LoopLevel level_;    // where a tile is computed

 private:
  // Rows in tasks, each of which has a ring of the border's rows.
  void add_rows(size_t i, OuterLoops *outer);

  // Down which tiles go.
  void add_rows_of_tasks(size_t i, OuterLoops *outer, OuterLoops *tasks);

  // Once, for all branches of the output.
  void place_border(Func border);

  // The image is the sums' last argument but for the strip or group.
  bool is_image(const Var &v) const;

  void make_parallel(const OuterLoops &outer);

  Var strip_{"strips"}, groups_{"strip_groups"}, column_tiles_{"columns"};
  int64_t strips_ = 1;
  std::optional<Var> row_, task_;
  std::optional<Var> down_, around_;  // rows that tiles go down, and the loop around it
  int64_t down_count_ = 0;
};

}  // namespace polyhalite::ops
