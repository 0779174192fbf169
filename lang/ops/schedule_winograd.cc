// The schedule of Winograd's form of convolutions: blocks of rows of tiles, whose transformed tiles
// and products stay in the second cache.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/dots.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

// Rows of tiles in a block: at most so many, of as equal sizes as can be, for two threads if
// `shared`.
int64_t rows_of_block(int64_t rows, int64_t most, bool shared) {
  most = std::clamp<int64_t>(most, 1, rows);
  const int64_t threads = shared && rows > 1 ? 2 : 1, least = std::max(tiles(rows, most), threads);
  int64_t best = most, least_cost = 0;
  for (int64_t blocks = least; blocks <= 2 * least; blocks++) {
    const int64_t size = tiles(rows, blocks);
    const int64_t cost = size * tiles(tiles(rows, size), threads);
    if (least_cost != 0 && cost >= least_cost) continue;
    best = size;
    least_cost = cost;
  }
  return best;
}

TailStrategy exact_tail(int64_t extent, int64_t factor) {
  return extent != 0 && extent % factor == 0 ? TailStrategy::Auto : TailStrategy::GuardWithIf;
}

class WinogradSchedule {
 public:
  WinogradSchedule(const Loops &to, const Stage &s, const Target &target)
      : to_(to),
        s_(s),
        target_(target),
        out_(to.func),
        tiles_(s.parts[0]),
        sums_(s.parts[1]),
        products_(s.parts[2]),
        bytes_(sums_.types()[0].bytes()),
        bytes_of_factors_(tiles_.types()[0].bytes()),
        channels_(constant(s.rvars[0].extent()).value_or(0)),
        width_(s.groups),
        lanes_(target.natural_vector_size(sums_.types()[0])) {
    while (width_ % lanes_ != 0) lanes_ /= 2;
    is_open_ = to.extent(1) == 0 || to.extent(2) == 0;
    across_ = tiles(is_open_ ? usual_size() : to.extent(1), s.tile[1]);
    down_ = tiles(is_open_ ? usual_size() : to.extent(2), s.tile[0]);
    // Of open columns few are computed beyond the last one; where no tile has two there are more.
    const int of_open = s.tile[1] == 1 ? 7 : 4;
    at_once_ = is_open_ ? of_open : register_tile_columns(width_ / lanes_, across_, target);
    // What a row of tiles takes of transformed tiles, and of a strip's products. Where tiles have
    // one row, they share the rows of the image.
    const int64_t transformed = (s.tile[1] == 1 ? across_ * s.stride[1] : across_ * s.places[1]) *
                                s.places[0] * (s.tile[0] == 1 ? s.stride[0] : 1) * channels_ *
                                bytes_of_factors_;
    const int64_t products = across_ * s.places[0] * s.places[1] * width_ * bytes_;
    int64_t kernels = s.places[0] * s.places[1] * channels_ * width_ * bytes_of_factors_;
    for (size_t i = 1; i < s.rvars.size(); i++)
      kernels *= constant(s.rvars[i].extent()).value_or(1);
    per_columns_ = kernels <= kNearKernels && products > kNearProducts && across_ > at_once_;
    // As many rows as the second cache holds beside the kernels that go through it, but enough
    // blocks for threads where strips are few.
    const int64_t bytes_of_row = transformed + (per_columns_ ? 0 : products);
    const int64_t fit = second_cache(target) / 8 * 5 / std::max<int64_t>(bytes_of_row, 1);
    const bool shared = is_large() && std::max<int64_t>(to.extent(3), 1) == 1;
    block_ = rows_of_block(down_, fit, shared);
    if (is_large() && blocks() * tiles(to.extent(0), width_) < kTasks)
      block_ = rows_of_block(down_, down_ / kTasks, shared);
  }

  bool has_open_channels() const { return channels_ == 0 || to_.extent(0) == 0; }
  void run_plain(const Stage *border) {
    if (border) Func(border->func).compute_root();
    for (Func f : {tiles_, sums_, products_}) f.compute_root();
  }

  // for image, block of rows of tiles {
  //   transformed tiles
  //   for strips { products; for rows, columns of tiles { results of a tile, lanes at once } } }
  //
  // Few kernels stay near, and products then are those of a register tile's columns:
  //
  //   for strips, rows, columns/at once { products; for columns { results } }
  void run(const Stage *border) {
    tile_output();
    const LoopLevel of_block(out_, block_loop_);
    if (border) {
      Func(border->func).compute_at(of_block);
      const int64_t pixels = block_ * s_.tile[0] * s_.stride[0];
      schedule_rows_inside(*border, std::max<int64_t>(pixels, 1), target_);
    }
    transform_tiles(of_block, border != nullptr);
    form_products();
  }

 private:
  static constexpr int64_t kNearKernels = 96 << 10, kNearProducts = 32 << 10;
  static constexpr int64_t kFewChannels = 4, kTasks = 4;

  // Of rows and columns, where they are open: images have fewer pixels the more channels they have.
  int64_t usual_size() const {
    constexpr int64_t kPixelsByChannels = 3584, kLeast = 8, kMost = 128;
    return std::clamp(kPixelsByChannels / std::max<int64_t>(channels_, 1), kLeast, kMost);
  }
  // 0 where it is open.
  int64_t exact(int64_t extent) const { return is_open_ ? 0 : extent; }

  bool is_large() const { return product_of(to_.extents) * channels_ >= kWorthThreads; }

  // Of rows of tiles, of all images.
  int64_t blocks() const { return tiles(down_, block_) * std::max<int64_t>(to_.extent(3), 1); }

  void tile_output() {
    const Var channel = to_.vars[0], x = to_.vars[1], y = to_.vars[2], image = to_.vars[3];
    const int64_t results = to_.extent(0);
    Var result("result"), vector("vector"), right("right"), row("row"), below("below");
    Var column("column");
    if (results % width_ != 0) out_.bound(channel, 0, static_cast<int>(results));
    out_.split(channel, strip_, result, width_, exact_tail(results, width_))
        .split(result, result, vector, lanes_)
        .split(x, columns_, right, s_.tile[1], exact_tail(to_.extent(1), s_.tile[1]))
        .split(y, row, below, s_.tile[0], exact_tail(to_.extent(2), s_.tile[0]))
        .split(row, block_loop_, row, static_cast<int>(block_), exact_tail(exact(down_), block_));
    std::vector<VarOrRVar> order{vector, right, below, result};
    if (per_columns_) {
      out_.split(columns_, columns_, column, at_once_, exact_tail(exact(across_), at_once_));
      order.emplace_back(column);
    }
    for (const Var &v : {columns_, row, strip_, block_loop_, image}) order.emplace_back(v);
    out_.reorder(order).vectorize(vector).unroll(right).unroll(below);
    // Where one block is all there is, strips are the tasks.
    if (!is_large()) return;
    out_.parallel(image).parallel(block_loop_);
    if (blocks() < kTasks) out_.parallel(strip_);
  }

  // Along columns of transformed tiles, which are the image's where its columns are not
  // transformed.
  int64_t columns_of_tiles() const {
    if (s_.tile[1] != 1) return across_;
    return (across_ - 1) * s_.stride[1] + constant(s_.rvars[1].extent()).value_or(1);
  }

  // Vectors of channels; a few channels fill none, columns do. Beyond the last column a border can
  // be read, an image cannot.
  void transform_tiles(const LoopLevel &level, bool has_border) {
    const std::vector<Var> t = tiles_.args();  // channel, column, j, i, row, image
    const bool few = channels_ <= kFewChannels;
    const Var along = few ? t[1] : t[0], other = few ? t[0] : t[1];
    const int natural = target_.natural_vector_size(tiles_.types()[0]);
    const int64_t extent = !few ? channels_ : has_border ? natural : columns_of_tiles();
    Var lane("lane");
    tiles_.compute_at(level)
        .split(along, along, lane, lanes_for(extent, natural))
        .reorder({lane, t[2], t[3], along, other, t[4], t[5]})
        .vectorize(lane)
        .unroll(t[2])
        .unroll(t[3]);
    if (few) tiles_.reorder_storage({t[1], t[0], t[2], t[3], t[4], t[5]});
  }

  // A register tile of results of a strip by columns of tiles, for one place (i, j) after the
  // other, so that the place's kernels stay in the first caches.
  void form_products() {
    const std::vector<Var> p = products_.args();  // result, column, j, i, row, image, strip
    Var member("member");
    products_.compute_at(out_, per_columns_ ? columns_ : strip_)
        .bound(p[0], 0, width_)
        .split(p[1], p[1], member, at_once_,
               is_open_ ? TailStrategy::RoundUp : tail_for(across_, at_once_))
        .reorder({p[0], member, p[1], p[4], p[2], p[3], p[5], p[6]})
        .vectorize(p[0], lanes_)
        .unroll(p[0])
        .unroll(member);
    const std::vector<Var> a = sums_.args();
    sums_.compute_at(products_, p[1]).bound(a[0], 0, width_).vectorize(a[0], lanes_).unroll(a[0]);
    sums_.unroll(a[1]);
    polyhalite::Stage update = sums_.update();
    const std::optional<Dot> dot = dot_for(sums_, lanes_, target_);
    RVar terms("terms");
    Var sum("sum");
    std::vector<VarOrRVar> order;
    if (dot) {
      update.split(s_.rvars[0], s_.rvars[0], terms, dot->terms).split(a[0], a[0], sum, dot->sums);
      order = {terms, sum};
    }
    order.insert(order.end(), {a[0], a[1], s_.rvars[0], s_.rvars[1], s_.rvars[2]});
    order.insert(order.end(), a.begin() + 2, a.end());
    update.reorder(order);
    if (dot) {
      update.tensorize(sum, terms, dot->name);
    } else {
      update.vectorize(a[0], lanes_);
    }
    update.unroll(a[0]).unroll(a[1]);
    if (channels_ <= kFewChannels) update.unroll(s_.rvars[0]);
  }

  const Loops &to_;
  const Stage &s_;
  const Target &target_;
  Func out_, tiles_, sums_, products_;
  const int bytes_, bytes_of_factors_;  // of a sum; of what is multiplied
  const int64_t channels_;
  const int width_;  // of a strip
  int lanes_;
  bool is_open_;           // are rows or columns?
  int64_t across_, down_;  // tiles, those of usual sizes where they are open
  int at_once_;            // columns of tiles whose sums are in registers together
  bool per_columns_;       // products are formed for these alone
  int64_t block_;          // rows of tiles
  Var strip_{"strip"}, columns_{"columns"}, block_loop_{"block"};
};

}  // namespace

void schedule_winograd(const Loops &to, const Stage &s, const Stage *border, const Target &target) {
  WinogradSchedule schedule(to, s, target);
  if (schedule.has_open_channels()) return schedule.run_plain(border);
  schedule.run(border);
}

}  // namespace polyhalite::ops
