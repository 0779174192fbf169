// Schedules of depthwise convolutions.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/tile_schedule.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// All cells of a window are unrolled: of more columns LLVM keeps too much in flight at once, and
// sums leave registers.
constexpr int kMostDepthwiseColumns = 7;

class DepthwiseSchedule : TileSchedule {
 public:
  DepthwiseSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                    const Stage *border, int lanes, const Target &target)
      : TileSchedule(to, place, s, border, lanes, 1, target, kMostDepthwiseColumns) {}

  // All cells of a window are unrolled, so that columns of a tile share what they read. The
  // window's rows of some columns stay in the first cache while the tiles go down the image: of all
  // channels, in one stream, where images come from beyond the second cache, else of a few.
  //
  // Threads share columns: what goes down an image is fetched some rows ahead, for writing, too,
  // which takes the rows of a thread below from its cache, each time.
  void run() {
    constexpr int64_t kUnrolled = 32, kTogetherBytes = 256, kMostNear = 2 << 20;
    const int64_t most_near = std::min(kMostNear, 2 * second_cache(target_));
    const int64_t bytes = s_.func.types()[0].bytes();
    // Of an open number of images a few.
    const auto pixels = [](std::vector<Expr> extents) {
      if (!constant(extents.back())) extents.pop_back();
      return product_of(extents);
    };
    const int64_t images = bytes * (pixels(s_.extents) + (border_ ? pixels(border_->extents) : 0));
    const bool near = images <= most_near;
    tile_output(StripLoop::Innermost, true, near ? kTogetherBytes / (lanes_ * bytes) : 0);
    const bool copies = near && border_ && columns_collide() && !s_.when.defined();
    if (copies) {
      copy_border();
    } else if (border_) {
      cut_off_border();
    }
    in_registers(sums_.operator polyhalite::Stage());
    order_update(sums_.update(), s_.rvars, {});
    int64_t cells = 1;
    for (const RVar &r : s_.rvars) {
      cells *= constant(r.extent()).value_or(kUnrolled + 1);
      if (cells > kUnrolled) break;
      if (!is_one(r.extent())) sums_.update().unroll(r);
    }
  }

 private:
  // Do the columns that a tile sees lie in one or two sets of the first cache, which have 8 or 12
  // lines in 4 KiB each?
  bool columns_collide() const {
    constexpr int64_t kPeriod = 2048;
    const int64_t pixel = to_.extent(place_[0]) * border_->func.types()[0].bytes();
    return pixel > 0 && pixel % kPeriod == 0;
  }
};

}  // namespace

void schedule_depthwise(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                        const Stage *border, const Target &target) {
  const int lanes =
      lanes_for(constant(s.extents[0]).value_or(0), target.natural_vector_size(s.func.types()[0]));
  DepthwiseSchedule(to, place, s, border, lanes, target).run();
}

}  // namespace polyhalite::ops
