// Schedules of convolutions: kernels in strips, and depthwise ones.
#include <algorithm>
#include <optional>

#include "lang/ops/common.h"
#include "lang/ops/dots.h"
#include "lang/ops/loops.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

int64_t largest_divisor(int64_t n, int64_t most) {
  int64_t d = std::max<int64_t>(std::min(n, most), 1);
  while (n % d != 0) d--;
  return d;
}

// All cells of a window are unrolled: of more columns LLVM keeps too much in flight at once, and
// sums leave registers.
constexpr int kMostDepthwiseColumns = 7;

// Has e functions that are polynomials, of many constants?
bool has_polynomials(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *call = as_call(n);
    found = found || (call && call->kind == CallKind::Math && call->name != "sqrt" &&
                      call->name != "floor" && call->name != "ceil" && call->name != "trunc" &&
                      call->name != "round");
  });
  return found;
}

// The terms of a sum.
int64_t steps_of(const Stage &s) {
  int64_t n = 1;
  for (const RVar &r : s.rvars) n *= constant(r.extent()).value_or(64);
  return n;
}

// Do the first or the last pixels along a dimension of a bordered image lie outside of it? It
// counts from the innermost one, the columns.
bool reaches_outside(const Stage &border, size_t dimension) {
  const int own = static_cast<int>(border.places.size() - 1 - dimension);
  const auto d = static_cast<size_t>(std::find(border.places.begin(), border.places.end(), own) -
                                     border.places.begin());
  const auto extent = constant(border.extents[d]);
  const std::string name = Func(border.func).args()[d].name();
  bool outside = !extent;
  for_each_node(Func(border.func).value(), [&](const Expr &e) {
    if (outside || e->op != Op::Select || !uses_variable(e->args[0], name)) return;
    for (const int64_t at : {int64_t{0}, *extent - 1}) {
      const Expr there = substitute(name, Expr(static_cast<int>(at)), e->args[0]);
      outside = outside || !is_true(simplify(there));
    }
  });
  return outside;
}

// Loops around a tile, the innermost first, and their extents; 0: known at run time only.
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

// Columns of a tile that neither registers nor the first cache forbid.
int allowed_columns(const Func &to, const Stage &s, int vectors, int most_columns) {
  // LLVM takes constants of a long epilogue out of all loops, and spills sums for them.
  constexpr int kBesideEpilogue = 12;
  // Pixels a multiple of 4 KiB apart are in one set of the first cache, of 8 or 12 lines.
  constexpr int kInOneSet = 7;
  constexpr int64_t kPeriod = 4096;
  int most = most_columns;
  if (vectors <= 2 && !is_small(Func(to).value())) most = std::min(most, kBesideEpilogue);
  const int64_t channels = s.rvars.empty() ? 0 : constant(s.rvars[0].extent()).value_or(0);
  const int64_t pixel = channels * s.func.types()[0].bytes();
  if (pixel > 0 && pixel % kPeriod == 0) most = std::min(most, kInOneSet);
  return most;
}

// A tile of `to`, a strip of channels by some columns, whose sums stay in registers.
class TileSchedule {
 public:
  TileSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
               const Stage *border, int lanes, int vectors, const Target &target,
               int most_columns = kMostColumns)
      : to_(to),
        place_(place),
        s_(s),
        border_(border),
        target_(target),
        out_(to.func),
        loops_(to.stage),
        sums_(s.func),
        args_(sums_.args()),
        lanes_(lanes),
        width_(lanes * vectors),
        columns_(args_.size() > 1 ? constant(s.extents[1]).value_or(0) : 1),
        least_columns_(columns_ == 0 ? open_size(s, 1).least : columns_),
        tile_(register_tile_columns(vectors, least_columns_, target,
                                    allowed_columns(to.func, s, vectors, most_columns))) {}

 protected:
  // Strips stand around the loops over rows, or inside of them; there around the tiles of a row, or
  // inside, too.
  enum class StripLoop { Outermost, InRow, Innermost };

  // for strips { for rows { for columns/tile { tile } } }
  //
  // `columns_outside`: of all but images; tiles go down the rows. `together`: only so many strips
  // stand inside, 0: all.
  void tile_output(StripLoop where, bool columns_outside = false, int64_t together = 0) {
    Var channel = to_.vars[place_[0]], column("column");
    const Var &columns = column_tiles_;
    const bool own_strips = place_.size() == s_.extents.size() && s_.kind == Stage::Strips;
    if (own_strips) {
      strip_ = to_.vars[place_.back()];
      strips_ = s_.groups;
      out_.bound(channel, 0, width_);
    } else {
      const int64_t channels = to_.extent(place_[0]);
      Var member("member");
      strips_ = channels == 0 ? 0 : tiles(channels, width_);
      TailStrategy tail = tail_for(channels, width_);
      if (s_.kind == Stage::Strips) {
        out_.bound(channel, 0, static_cast<int>(channels));
        tail = channels % width_ == 0 ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
      }
      loops_.split(channel, strip_, member, width_, tail);
      channel = member;
    }
    std::vector<VarOrRVar> order{channel};
    OuterLoops outer;
    const Var &groups = groups_;
    const int64_t group =
        together == 0 || strips_ == 0 ? strips_ : largest_divisor(strips_, together);
    if (group < strips_) loops_.split(strip_, groups, strip_, static_cast<int>(group));
    if (where == StripLoop::Innermost) outer.add(strip_, group);
    const auto add_columns = [&] {
      outer.add(columns, columns_ == 0 ? 0 : tiles(columns_, tile_));
    };
    const bool has_columns = place_.size() > 1;
    if (has_columns) {
      TailStrategy tail = tail_for(least_columns_, tile_);
      if (s_.joined && columns_ >= tile_) tail = TailStrategy::ShiftInwards;
      loops_.split(to_.vars[place_[1]], columns, column, tile_, tail);
      order.emplace_back(column);
      if (!columns_outside) add_columns();
    }
    if (where == StripLoop::InRow) outer.add(strip_, strips_);
    OuterLoops row_tasks, images;
    for (size_t i = 0; i < to_.vars.size(); i++) {
      if (i == place_[0] || (place_.size() > 1 && i == place_[1])) continue;
      if (own_strips && i == place_.back()) continue;
      if (place_.size() > 2 && i == place_[2] && columns_outside) {
        add_rows_of_tasks(i, &outer, &row_tasks);
        continue;
      }
      if (place_.size() > 2 && i == place_[2] && where != StripLoop::Outermost) {
        add_rows(i, &outer);
        continue;
      }
      (columns_outside ? images : outer).add(to_.vars[i], to_.extent(i));
    }
    if (where == StripLoop::Outermost) outer.add(strip_, strips_);
    if (group < strips_) outer.add(groups, strips_ / group);
    outer.add(row_tasks);
    if (has_columns && columns_outside) add_columns();
    outer.add(images);
    for (const Var &o : outer.vars) order.emplace_back(o);
    loops_.reorder(order);
    for (size_t i = 0; down_ && i + 1 < outer.vars.size(); i++) {
      if (outer.vars[i].name() == down_->name()) around_ = outer.vars[i + 1];
    }
    make_parallel(outer);
    level_ = LoopLevel(out_, outer.vars[0]);
    sums_.compute_at(level_);
    if (place_[0] == 0 && lanes_ > 1) {
      loops_.vectorize(channel, lanes_);
      // Constants stay in registers around the sums' loop, which wide tiles leave none for.
      const bool is_wide = width_ > 2 * lanes_;
      if (is_small(out_.value()) && !(is_wide && has_polynomials(out_.value()))) {
        if (width_ > lanes_) loops_.unroll(channel);
        if (place_.size() > 1 && tile_ > 1) loops_.unroll(column);
      } else if (s_.kind == Stage::Strips) {
        Func copies = hold_tile(sums_, level_, lanes_);
        copies.bound(copies.args()[0], 0, width_);
      }
    }
    if (border_ && s_.kind != Stage::Depthwise) place_border(border_->func);
  }

  // What a group's tiles see on their way down is copied, with zeros around it, to a ring of rows.
  void copy_border() {
    if (!down_ || !around_) return;
    Func border = border_->func;
    border.store_at(out_, *around_).compute_at(out_, *down_);
    if (lanes_ > 1) border.vectorize(border.args()[0], lanes_);
  }

  // Tiles inside of the image read it without conditions: of all cells at once they take registers
  // from the sums. Short loops are left whole where nobody asks.
  void cut_off_border() {
    constexpr int64_t kCutAnyway = 16, kFewTiles = 4;
    const auto cut = [&](const Var &loop, int64_t count, int64_t least, size_t dimension) {
      if (count >= least && count < kCutAnyway && reaches_outside(*border_, dimension))
        loops_.always_partition(loop);
    };
    if (!down_) return;
    cut(*down_, down_count_, 3, 1);
    if (columns_ != 0) cut(column_tiles_, tiles(columns_, tile_), kFewTiles, 0);
  }

  void in_registers(const polyhalite::Stage &stage) const { in_registers(stage, args_); }
  void in_registers(polyhalite::Stage stage, const std::vector<Var> &args) const {
    if (lanes_ > 1) stage.vectorize(args[0], lanes_);
    if (width_ > lanes_) stage.unroll(args[0]);
    if (args.size() > 1 && tile_ > 1) stage.unroll(args[1]);
  }

  void order_update(polyhalite::Stage update, const std::vector<RVar> &reduced,
                    const std::vector<Var> &further, bool of_products = true) const {
    std::vector<VarOrRVar> inner{args_[0]};
    if (args_.size() > 1) inner.emplace_back(args_[1]);
    RVar together("together");
    const bool unrolled = of_products && steps_ % kTogether == 0 && steps_ >= 4 * kTogether;
    if (unrolled) {
      update.split(reduced[0], reduced[0], together, kTogether);
      inner.emplace_back(together);
    }
    for (const RVar &r : reduced) inner.emplace_back(r);
    for (size_t i = 2; i < args_.size(); i++) inner.emplace_back(args_[i]);
    for (const Var &v : further) inner.emplace_back(v);
    update.reorder(inner);
    if (unrolled) update.unroll(together);
    in_registers(update);
  }

  bool is_one_row() const {
    return columns_ == 1 && product_of(s_.extents) == int64_t{width_} * s_.groups;
  }

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
  void add_rows(size_t i, OuterLoops *outer) {
    constexpr int64_t kMost = 16, kLeast = 7;
    const Var rows = to_.vars[i];
    const int64_t count = to_.extent(i);
    outer->add(rows, count);
    if (!border_) return;
    // Tasks of equal sizes: where the last one is smaller, so are its tiles, of which then no more
    // is known than the largest size. Where no size divides them, the border is a copy of the
    // image.
    int64_t task = std::min(kMost, count - 1);
    while (task >= kLeast && count % task != 0) task--;
    if (task < kLeast) return;
    outer->counts.back() = 1;
    Var row("row");
    loops_.split(rows, rows, row, static_cast<int>(task));
    outer->vars.back() = row;
    outer->add(rows, count / task);
    row_ = row;
    task_ = rows;
  }

  // Down which tiles go.
  void add_rows_of_tasks(size_t i, OuterLoops *outer, OuterLoops *tasks) {
    constexpr int64_t kMost = 28, kLeast = 7;
    const Var rows = to_.vars[i];
    const int64_t count = to_.extent(i), task = largest_divisor(count, std::min(kMost, count / 2));
    Var row("row");
    down_ = task < kLeast ? rows : row;
    down_count_ = task < kLeast ? count : task;
    if (task < kLeast) return outer->add(rows, count);
    loops_.split(rows, rows, row, static_cast<int>(task));
    outer->add(row, task);
    tasks->add(rows, count / task);
  }

  // Once, for all branches of the output.
  void place_border(Func border) {
    if (s_.when.defined()) return;
    if (!row_) {
      border.compute_root();
      return schedule_points(Loops(border, border_->extents), true, true, target_);
    }
    border.store_at(out_, *task_).compute_at(out_, *row_);
    schedule_points(Loops(border, border_->extents), false, false, target_);
  }

  // The image is the sums' last argument but for the strip or group.
  bool is_image(const Var &v) const {
    const size_t image = s_.extents.size() - (is_split(s_) ? 2 : 1);
    return image < place_.size() && to_.vars[place_[image]].name() == v.name();
  }

  void make_parallel(const OuterLoops &outer) {
    constexpr int64_t kWorthSharedPixels = 1 << 20;
    const int64_t operations = product_of(s_.extents) * steps_of(s_);
    // One row fetches a kernel's element for each multiply-add. Few of a depthwise tile share what
    // they read.
    const int64_t near = products_of_point(target_);
    const int64_t together = s_.kind != Stage::Strips ? 1 : is_one_row() ? near / 2 : near;
    if (operations < together * kWorthThreads) return;
    int64_t tasks = 1;
    for (size_t i = outer.vars.size(); i-- > 0 && tasks < 8;) {
      if (tasks > 1 && operations / tasks <= kWorthTasksInside) break;
      // What is inside of a row shares the border's.
      if (row_ && outer.vars[i].name() == row_->name()) break;
      if (outer.counts[i] == 1) continue;
      // Of each pixel, threads that share its channels take lines from each other.
      if (outer.vars[i].name() == groups_.name() && operations < kWorthSharedPixels) break;
      loops_.parallel(outer.vars[i]);
      // Of an open number of images there may be one.
      constexpr int64_t kOpenTasks = 8;
      if (outer.counts[i] != 0) {
        tasks *= outer.counts[i];
      } else if (!is_image(outer.vars[i])) {
        tasks *= kOpenTasks;
      }
    }
  }

  Var strip_{"strips"}, groups_{"strip_groups"}, column_tiles_{"columns"};
  int64_t strips_ = 1;
  std::optional<Var> row_, task_;
  std::optional<Var> down_, around_;  // rows that tiles go down, and the loop around it
  int64_t down_count_ = 0;
};

class StripSchedule : TileSchedule {
 public:
  StripSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                const Stage *border, int lanes, int vectors, const Target &target)
      : TileSchedule(to, place, s, border, lanes, vectors, target,
                     s.parts.empty() ? kMostColumns : kMostOfSums) {}

  void run() {
    if (!s_.parts.empty()) {
      tile_output(StripLoop::Outermost);
      return sum_blocks();
    }
    // Where there is no border, all strips of a tile are computed one after the other, so that
    // results are written, and what is added to them is read, in one stream.
    constexpr int64_t kStream = 256 << 10, kStay = 640 << 10;
    const int64_t kernels = steps_of(s_) * width_ * s_.groups * sums_.types()[0].bytes();
    tile_output(kernels > kStay                ? StripLoop::Outermost
                : border_ || kernels > kStream ? StripLoop::InRow
                                               : StripLoop::Innermost);
    tile_sums();
  }

 private:
  // Beside their own sums registers hold those of a block.
  static constexpr int kMostOfSums = 7;

  //   for blocks { for groups { dots }; sums += scaled dots }
  void sum_blocks() {
    sums_.bound(args_[0], 0, width_);
    in_registers(sums_.operator polyhalite::Stage());
    order_update(sums_.update(), s_.rvars, {}, false);
    Func dots = s_.parts[0];
    const std::vector<Var> args = dots.args();
    const std::vector<RVar> k = dots.rvars(0);  // in a word, in a byte, groups
    dots.compute_at(sums_, s_.rvars[0]).bound(args[0], 0, width_);
    in_registers(dots.operator polyhalite::Stage(), args);
    polyhalite::Stage update = dots.update();
    const std::optional<Dot> dot =
        dots.types()[0] == Int(32) ? dot_for(dots, lanes_, target_) : std::nullopt;
    if (dot) {
      Var sum("sum");
      update.split(args[0], args[0], sum, dot->sums);
      update.reorder(k[0], sum, args[0], args[1], k[1], k[2], args[2], args[3]);
      update.tensorize(sum, k[0], dot->name);
      if (width_ > dot->sums) update.unroll(args[0]);
      if (tile_ > 1) update.unroll(args[1]);
    } else {
      update.reorder(args[0], args[1], k[0], k[1], k[2], args[2], args[3]).unroll(k[0]);
      in_registers(update, args);
    }
    update.unroll(k[1]);
  }

  void tile_sums() {
    constexpr int64_t kUnrolled = 4;
    // Also of a strip that has results beyond the last one.
    sums_.bound(args_[0], 0, width_);
    in_registers(sums_.operator polyhalite::Stage());
    // Loops of one iteration stand outside, where they do nothing.
    std::vector<RVar> rvars, ones;
    for (const RVar &r : s_.rvars) (is_one(r.extent()) ? ones : rvars).push_back(r);
    if (rvars.empty()) return order_update(sums_.update(), ones, {});
    const bool unrolled = constant(rvars[0].extent()).value_or(kUnrolled + 1) <= kUnrolled;
    // For the sake of rounding. The more often kernels' elements are fetched, the less it costs.
    const int64_t most = is_one_row() ? 128 : 256;
    const int size = block_of_terms(rvars, most, 3 * most / 2, 0);
    steps_ = size != 0 && rvars.size() == 1 ? size : constant(rvars[0].extent()).value_or(1);
    if (const int chains = chains_of_row(rvars)) return sum_in_chains(rvars[0], ones, size, chains);
    const auto with_ones = [&] {
      std::vector<RVar> all = rvars;
      all.insert(all.end(), ones.begin(), ones.end());
      return all;
    };
    if (size == 0) {
      order_update(sums_.update(), with_ones(), {});
      if (unrolled) sums_.update().unroll(rvars[0]);
      return;
    }
    RVar blocks("blocks"), term("term");
    Var part("part");
    sums_.update().split(rvars.back(), blocks, term, size);
    Func partial = sums_.update().rfactor(blocks, part);
    partial.compute_at(sums_, blocks);
    in_registers(partial.operator polyhalite::Stage());
    rvars.back() = term;
    order_update(partial.update(), with_ones(), {part});
    if (unrolled) partial.update().unroll(rvars[0]);
    order_update(sums_.update(), {blocks}, {}, false);
  }

  // Sums that a result of one row is made of, since each multiply-add waits for the one before it:
  // of every so many-th term. 0: enough results are made at once, or terms are few.
  int chains_of_row(const std::vector<RVar> &rvars) const {
    constexpr int kEnough = 8, kManySteps = 8;
    if (!is_one_row() || rvars.size() != 1 || !sums_.types()[0].is_float()) return 0;
    int chains = 1;
    while (chains * width_ / lanes_ < kEnough) chains *= 2;
    while (chains > 1 && (steps_ % chains != 0 || steps_ < kManySteps * chains)) chains /= 2;
    return chains > 1 ? chains : 0;
  }

  //   for blocks { for terms/chains { chains of sums }; add them up }
  void sum_in_chains(RVar k, const std::vector<RVar> &ones, int size, int chains) {
    constexpr int kTogether = 2;
    RVar blocks("blocks"), term("term"), chain("chain"), together("together");
    Var part("part"), own("own");
    std::vector<std::pair<RVar, Var>> kept{{chain, own}};
    if (size != 0) {
      sums_.update().split(k, blocks, term, size);
      kept.emplace_back(blocks, part);
      k = term;
    }
    sums_.update().split(k, k, chain, chains);
    Func partial = sums_.update().rfactor(kept);
    if (size != 0) {
      partial.compute_at(sums_, blocks);
    } else {
      partial.compute_at(level_);
    }
    in_registers(partial.operator polyhalite::Stage());
    partial.unroll(own);
    std::vector<VarOrRVar> inner{args_[0]}, outer;
    if (args_.size() > 1) inner.emplace_back(args_[1]);
    for (const RVar &r : ones) outer.emplace_back(r);
    for (size_t i = 2; i < args_.size(); i++) outer.emplace_back(args_[i]);
    const auto ordered = [&](polyhalite::Stage stage, const std::vector<VarOrRVar> &middle,
                             const std::vector<VarOrRVar> &last) {
      std::vector<VarOrRVar> order = inner;
      order.insert(order.end(), middle.begin(), middle.end());
      order.insert(order.end(), outer.begin(), outer.end());
      order.insert(order.end(), last.begin(), last.end());
      stage.reorder(order);
      in_registers(stage);
    };
    const bool unrolled = steps_ / chains % kTogether == 0;
    if (unrolled) partial.update().split(k, k, together, kTogether);
    std::vector<VarOrRVar> middle{own}, last;
    if (unrolled) middle.emplace_back(together);
    middle.emplace_back(k);
    if (size != 0) last.emplace_back(part);
    ordered(partial.update(), middle, last);
    partial.update().unroll(own);
    if (unrolled) partial.update().unroll(together);
    outer.erase(outer.begin(), outer.begin() + static_cast<ptrdiff_t>(ones.size()));
    middle = {chain};
    if (size != 0) middle.emplace_back(blocks);
    ordered(sums_.update(), middle, {});
    sums_.update().unroll(chain);
  }
};

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

// The count of columns that wastes the least, of columns that are computed twice and of steps with
// too few sums to keep the processor busy. Beside the sums, registers hold a column's value and all
// but one of the kernels' vectors.
int register_tile_columns(int vectors, int64_t columns, const Target &target, int most_columns) {
  constexpr double kColumn = 0.2;
  const double latency = sums_in_flight(target);
  const int most = std::min(most_columns, std::max(1, (vector_registers(target) - 4) / vectors));
  if (columns == 0) return 1;
  int best = 1;
  double least = 0;
  for (int r = 1; r <= most && r <= columns; r++) {
    const double step = std::max(latency, static_cast<double>(vectors * r)) + kColumn * r + 0.5;
    const double cost = static_cast<double>(tiles(columns, r)) * step;
    if (least == 0 || cost < least) {
      least = cost;
      best = r;
    }
  }
  return best;
}

int block_strip_width(const Target &target) { return 2 * target.natural_vector_size(Float(32)); }

void schedule_strips(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                     const Stage *border, const Target &target) {
  const int width = static_cast<int>(constant(s.extents[0]).value_or(1));
  int lanes = target.natural_vector_size(s.func.types()[0]);
  while (width % lanes != 0) lanes /= 2;
  StripSchedule(to, place, s, border, lanes, width / lanes, target).run();
}

void schedule_depthwise(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                        const Stage *border, const Target &target) {
  const int lanes =
      lanes_for(constant(s.extents[0]).value_or(0), target.natural_vector_size(s.func.types()[0]));
  DepthwiseSchedule(to, place, s, border, lanes, target).run();
}

}  // namespace polyhalite::ops
