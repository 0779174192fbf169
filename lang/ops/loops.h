// What the library's schedules share: a Func's dimensions, sizes of vectors and tails.
#pragma once

#include <utility>
#include <vector>

#include "polyhalite/ops.h"

namespace polyhalite::ops {

/// Fewer operations than this are not worth a second thread.
constexpr int64_t kWorthThreads = 1 << 15;

/// A Func's dimensions as a schedule sees them, innermost first.
struct Loops {
  Func func;
  std::vector<Var> vars;
  std::vector<Expr> extents;

  explicit Loops(const Func &f, std::vector<Expr> sizes)
      : func(f), vars(f.args()), extents(std::move(sizes)) {}
  /// 0 where it is known at run time only.
  int64_t extent(size_t i) const;
};

/// Unknown sizes count as 256.
int64_t product_of(const std::vector<Expr> &extents);
TailStrategy tail_for(int64_t extent, int64_t factor);
/// Vectors of at most `lanes` that an extent can fill; 1: none. An extent that is not known (0) may
/// be anything.
int lanes_for(int64_t extent, int lanes);

/// A Product whose sums stay in registers for a tile of `to`, whose dimensions `place` are those of
/// the sums' arguments, through the whole reduction; its operands, which the vectors run along.
///
///   for columns/tile { pack operand { for others { for rows/tile { sums; to } } } }
void schedule_product(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                      const std::vector<Func> &operands, const Target &target);

/// Schedules what a Func holds, every point on its own, with or without threads.
void schedule_points(const Loops &l, int64_t operations, bool threads, const Target &target);

/// A Product in strips, whose sums stay in registers for a tile of `to`: all results of a strip,
/// some columns. `place` as above, without the strip; `border` is what it reads, or null.
///
///   for strips { for rows { for columns/tile { sums; to } } }
void schedule_strips(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                     const Stage *border, const Target &target);

/// A Depthwise product, whose sums stay in registers for a tile of `to`: a vector of channels, some
/// columns.
///
///   for rows { row of border; for channels/lanes { for columns/tile { sums; to } } }
void schedule_depthwise(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                        const Stage *border, const Target &target);

}  // namespace polyhalite::ops
