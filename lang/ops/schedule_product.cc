// Schedules of products: register tiles, packed operands, blocks of long sums.
#include <algorithm>
#include <optional>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_plan.h"
#include "lang/ops/schedule_along_depth.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

class ProductSchedule : ProductPlan {
 public:
  ProductSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                  const std::optional<Dot> &dot, const Target &target)
      : ProductPlan(to, place, s, dot, target), out_(to.func), loops_(to.stage) {}

  // `packs`: the operand is to be packed.
  void run(const std::vector<Func> &operands, bool packs = false) {
    const bool plain = operands.size() == 1 && !packs;
    if (plain && place_[0] == 0 && reads_once(to_, s_, operands[0]))
      return schedule_row_product(to_, s_, tile_.lanes, target_);
    if (operands.size() == 1 && packs == dot_.has_value() && gains_by_panels(operands[0]))
      return multiply_in_panels(operands[0]);
    if (plain && streams_for_few_rows(operands[0])) return stream_for_few_rows(operands[0]);
    if (plain && gains_along_depth(operands[0])) {
      tile_ = along_depth_;
      tile_output();
      // In a branch the operand has memory of its own only where the branch is taken.
      const LoopLevel outside = s_.when.defined() ? LoopLevel(out_, outermost_) : LoopLevel::root();
      return schedule_along_depth(s_, operands[0], tile_, level_, outside, target_);
    }
    tile_output();
    for (const Func &f : operands) place_operand(f);
    tile_sums();
    if (has_rest_) order_update(sums_.update(1), sums_.rvars(1), {});
  }

 private:
  // for columns/tile { for others { for rows/tile { tile } } }
  void tile_output() {
    Var column = to_.vars[place_[0]];
    TailStrategy column_tail =
        masked_ ? TailStrategy::Predicate : tail_for(least_columns_, tile_.columns());
    const auto shifts = [&](int64_t least, int64_t tile) { return s_.joined && least >= tile; };
    if (shifts(least_columns_, tile_.columns())) column_tail = TailStrategy::ShiftInwards;
    Var group("group"), row("row"), rows("rows");
    std::vector<Var> outer;
    std::vector<int64_t> counts;
    if (grouped_) {
      // Groups have equal sizes, so that a tile is inside of one.
      Var member("member");
      out_.bound(column, 0, static_cast<int>(columns_ * s_.groups));
      loops_.split(column, group, member, static_cast<int>(columns_));
      column = member;
      column_tail = TailStrategy::ShiftInwards;
    }
    if (is_one_strip()) {
      // Joined columns and rows are no argument; their own ones have bounds.
      const std::vector<Var> args = out_.args();
      if (std::any_of(args.begin(), args.end(),
                      [&](const Var &arg) { return arg.name() == column.name(); }))
        out_.bound(column, 0, static_cast<int>(to_.extent(place_[0])));
    } else {
      Var inner("column");
      loops_.split(column, column_loop_, inner, tile_.columns(), column_tail);
      column = inner;
    }
    std::vector<VarOrRVar> order{column};
    if (place_.size() > 1) {
      TailStrategy tail = tail_for(least_rows_, tile_.rows);
      if (shifts(least_rows_, tile_.rows)) tail = TailStrategy::ShiftInwards;
      loops_.split(to_.vars[place_[1]], rows, row, tile_.rows, tail);
      order.emplace_back(row);
      outer.push_back(rows);
      counts.push_back(rows_ == 0 ? 0 : tiles(rows_, tile_.rows));
    }
    const auto add_columns = [&] {
      if (!is_one_strip()) {
        outer.push_back(column_loop_);
        counts.push_back(masked_ ? 1 : columns_ == 0 ? 0 : tiles(columns_, tile_.columns()));
      }
      if (!grouped_) return;
      outer.push_back(group);
      counts.push_back(s_.groups);
    };
    if (columns_inside_) add_columns();
    for (size_t i = 0; i < to_.vars.size(); i++) {
      if (i == place_[0] || (place_.size() > 1 && i == place_[1])) continue;
      outer.push_back(to_.vars[i]);
      counts.push_back(to_.extent(i));
    }
    if (!columns_inside_) add_columns();
    for (const Var &o : outer) order.emplace_back(o);
    loops_.reorder(order);
    if (place_[0] == 0 && tile_.lanes > 1) {
      loops_.vectorize(
          column, tile_.lanes,
          is_one_strip() ? TailStrategy::Predicate : tail_for(tile_.columns(), tile_.lanes));
    }
    // What little is made of sums takes them from registers.
    const bool dense =
        place_[0] == 0 && (least_columns_ >= tile_.lanes || tile_.all_columns || masked_);
    plain_ = dense && is_small(out_.value());
    if (plain_) {
      if (tile_.vectors > 1) loops_.unroll(column);
      if (place_.size() > 1 && tile_.rows > 1) loops_.unroll(row);
    }
    make_parallel(outer, counts);
    outermost_ = outer.back();
    only_rows_ = outer.size() == 1;
    level_ = LoopLevel(out_, outer[0]);
    holds_tile_ = dense && !plain_ && !is_one_strip() && least_columns_ >= tile_.columns();
  }

  void make_parallel(const std::vector<Var> &outer, const std::vector<int64_t> &counts) {
    int64_t operations = product_of(s_.extents);
    for (const RVar &r : s_.rvars) operations *= constant(r.extent()).value_or(64);
    const bool wide = columns_ == 0 && s_.when.defined();  // the class says that they are many
    if (!wide && operations < products_of_point(target_) * kWorthThreads) return;
    // Which of the loops are long is not known of open sizes; inside of a loop that keeps all
    // threads busy one runs in one thread.
    if (rows_ == 0 || wide) {
      for (size_t i = 0; i < outer.size(); i++) {
        if (counts[i] == 0) loops_.parallel(outer[i]);
      }
      return;
    }
    // Packed columns serve all rows of a task: rows stay inside unless there are few columns, or
    // threads that have no columns left would wait long for the others.
    constexpr int64_t kEnough = 8, kMost = 64;
    int64_t tasks = 1;
    for (size_t i = outer.size(); i-- > 0 && tasks < kMost;) {
      if (counts[i] == 1) continue;
      const int64_t worth = tasks < kEnough ? kWorthTasksInside : 4 * kWorthTasksInside;
      if (tasks > 1 && operations / tasks <= worth) break;
      loops_.parallel(outer[i]);
      tasks *= counts[i] == 0 ? 8 : counts[i];
    }
  }

  // While a strip of columns is used, the next one is fetched; of a large matrix that is a strip of
  // some of its rows. Or it is read in long rows, which the processor fetches ahead.
  //
  //   parallel for columns/several tiles { sums, in blocks of terms; to }
  void stream_for_few_rows(const Func &operand) {
    const CallNode *image = image_of(operand);
    const StreamedOperand parts = *streamed(image);
    tile_ = parts.tile;
    fetches_strips_ = parts.fetches_strips;
    if (fetches_strips_) fetched_ = image->param;
    const int columns = parts.columns;
    Var inner("column");
    loops_.split(to_.vars[0], column_loop_, inner, columns, tail_for(columns_, columns))
        .reorder(inner, to_.vars[1], column_loop_)
        .vectorize(inner, tile_.lanes)
        .parallel(column_loop_);
    sum_in_blocks(parts.terms, LoopLevel(out_, column_loop_));
  }

  //   parallel for columns/panel, rows/panel {
  //     for blocks of terms { pack columns; for blocks of rows, columns/tile, rows/tile { tile } };
  //     to }
  void multiply_in_panels(Func operand) {
    const ProductPanels p = panels(operand.types()[0].bytes());
    tile_ = tile_of_panels();
    in_panels_ = true;
    Var column("column"), rows("rows"), row("row");
    loops_.split(to_.vars[0], column_loop_, column, p.columns, tail_for(columns_, p.columns))
        .split(to_.vars[1], rows, row, p.rows, tail_for(rows_, p.rows))
        .reorder(column, row, rows, column_loop_)
        .vectorize(column, tile_.lanes)
        .parallel(column_loop_)
        .parallel(rows);
    sum_in_blocks(p.terms, LoopLevel(out_, rows), p.block, &operand);
  }

  // Packed beside the vectors of a tile where enough rows read it, else read where it is, ahead of
  // its use where it does not lie in the first cache.
  void place_operand(Func operand) {
    constexpr int64_t kFirstCache = 32 << 10, kFewSteps = 24;
    // Lanes beyond the last column are loads under a mask, where the processor has them.
    if (masked_ && loads_under_masks_) return;
    const int64_t rows = planned_rows();
    const CallNode *image = image_of(operand);
    // Only a copy has idle columns.
    const bool needs_copy = dot_ && has_idle_columns_;
    if (image && !needs_copy && lies_well(image)) {
      const int64_t steps = constant(s_.rvars[0].extent()).value_or(256);
      const int64_t bytes = steps * (columns_ == 0 ? 256 : columns_) * image->type.bytes();
      // A Zen 3 fetches ahead by itself: with prefetches 13x1021x1019 took 894 us, without 720.
      if (!few_registers_ && (plain_ || holds_tile_) && !dot_ && image->param &&
          s_.rvars.size() == 1 && steps > kFewSteps && bytes > kFirstCache) {
        fetched_ = image->param;
        fetches_strips_ = fetches_strips(image);
      }
      return;
    }
    if (!masked_ && !needs_copy && rows < (dot_ ? 2 : 4) * tile_.rows) return;
    const bool in_strips = !is_one_strip() && !columns_inside_;
    if (in_strips) {
      operand.compute_at(out_, column_loop_);
    } else if (only_rows_ || columns_inside_) {
      operand.compute_root();
    } else {
      operand.compute_at(out_, outermost_);
    }
    if (dot_) {
      pack_for_dots(operand, *dot_);
      // The next strip comes to the second cache meanwhile, if it does not hold all.
      const int64_t bytes = columns_ * constant(s_.rvars[0].extent()).value_or(0);
      if (image && image->param && in_strips && !few_registers_ && bytes > second_cache(target_))
        fetch(operand, image->param, operand.args()[1], column_loop_, 1);
      return;
    }
    if (tile_.lanes == 1) return;
    const bool whole = least_columns_ >= tile_.columns() || is_one_strip();
    if (whole && s_.rvars.size() == 1 &&
        turn_as_packed(operand, in_strips ? tile_.columns() : columns_, s_.rvars[0].extent(),
                       target_))
      return;
    pack_rows(operand, tile_, in_strips && whole, columns_ == 0);
  }

  // Terms of a sum whose columns stay in the second cache while all rows read them; 0: all do, or
  // tiles leave a rest, which would not stay in registers.
  int terms_in_cache() const {
    const bool whole = rows_ > 0 && rows_ % tile_.rows == 0 && rows_ >= 8 * tile_.rows &&
                       columns_ > 0 && columns_ % tile_.columns() == 0;
    if (!whole || !plain_ || dot_ || !is_one_matrix()) return 0;
    const int64_t steps = constant(s_.rvars[0].extent()).value_or(0);
    return static_cast<int>(terms_of_block(rows_, steps, sums_.types()[0].bytes(), tile_, target_));
  }

  //   for blocks of terms { for columns/tile, rows/tile { tile of a block's sums; add it to the
  //   sums } }
  //
  // `block`: rows that all strips read one after the other, 0: all. `operand`: packed for each
  // block of terms, where it is given.
  void sum_in_blocks(int terms, const LoopLevel &level, int block = 0, Func *operand = nullptr) {
    RVar blocks("blocks"), term("term");
    Var part("part"), columns("columns"), column("column"), rows("rows"), row("row");
    Var row_blocks("row_blocks"), strips("strips");
    sums_.compute_at(level).vectorize(args_[0], tile_.lanes);
    sums_.update().split(s_.rvars[0], blocks, term, terms);
    Func partial = sums_.update().rfactor(blocks, part);
    polyhalite::Stage adding = sums_.update();
    adding.split(args_[0], columns, column, tile_.columns())
        .split(args_[1], rows, row, tile_.rows)
        .reorder(column, row, rows, columns, blocks)
        .vectorize(column, tile_.lanes)
        .unroll(row);
    if (block != 0) {
      adding.split(rows, row_blocks, rows, block / tile_.rows)
          .reorder(column, row, rows, columns, row_blocks, blocks);
    }
    if (operand) {
      const std::vector<Var> args = operand->args();
      operand->compute_at(sums_, blocks);
      if (dot_) operand->pack(args[1], dot_->terms);
      operand->pack(args[0], tile_.columns())
          .reorder_storage(args[1], args[0])
          .split(args[0], strips, args[0], tile_.columns());
      if (dot_) {
        Var terms("terms");
        operand->split(args[1], args[1], terms, dot_->terms)
            .reorder(terms, args[0], strips, args[1])
            .vectorize(terms);
      }
      operand->vectorize(args[0], tile_.lanes);
      if (tile_.vectors > 1) operand->unroll(args[0]);
    }
    if (tile_.vectors > 1) adding.unroll(column);
    if (tile_.all_columns) adding.parallel(rows);
    partial.compute_at(sums_, rows);
    in_registers(partial.operator polyhalite::Stage());
    steps_ = terms;
    order_update(partial.update(), {term}, {part});
    fetch_ahead(partial.update(), term);
  }

  void tile_sums() {
    // The strip of such a block stays in the second cache: for blocks { for rows/tile { } }.
    if (const int terms = terms_in_cache()) {
      return sum_in_blocks(terms,
                           tile_.all_columns ? LoopLevel::root() : LoopLevel(out_, column_loop_));
    }
    // Of rows whose number is open a tile computes all, beyond the last one too: what operands are
    // read for there is inside of them.
    const bool open_rows = place_.size() > 1 && s_.extents.size() > 1 && rows_ == 0 &&
                           least_rows_ < tile_.rows &&
                           (least_columns_ >= tile_.columns() || tile_.all_columns || masked_);
    if (masked_) sums_.bound_extent(args_[0], tile_.columns());
    if (open_rows) sums_.bound_extent(args_[1], tile_.rows);
    guarded_ = least_columns_ < tile_.columns() && !tile_.all_columns && !masked_;
    sums_.compute_at(level_);
    if (holds_tile_) {
      Func copies = hold_tile(sums_, level_, tile_.lanes);
      if (open_rows) copies.bound_extent(copies.args()[1], tile_.rows);
    }
    in_registers(sums_.operator polyhalite::Stage());
    const Type type = sums_.types()[0];
    const int64_t most = type.bits() > 32 ? 2048 : 256;
    const int block = type.is_float() ? block_of_terms(s_.rvars, most, 3 * most / 2, most / 4) : 0;
    steps_ =
        block != 0 && s_.rvars.size() == 1 ? block : constant(s_.rvars[0].extent()).value_or(0);
    if (block == 0) {
      order_update(sums_.update(), s_.rvars, {});
      fetch_ahead(sums_.update(), s_.rvars[0]);
      return;
    }
    RVar blocks("blocks"), term("term");
    Var part("part");
    sums_.update().split(s_.rvars.back(), blocks, term, block);
    Func partial = sums_.update().rfactor(blocks, part);
    partial.compute_at(sums_, blocks);
    in_registers(partial.operator polyhalite::Stage());
    std::vector<RVar> reduced(s_.rvars.begin(), s_.rvars.end() - 1);
    reduced.push_back(term);
    order_update(partial.update(), reduced, {part});
    fetch_ahead(partial.update(), reduced[0]);
    order_update(sums_.update(), {blocks}, {}, false);
  }

  void in_registers(polyhalite::Stage stage) {
    const TailStrategy tail = guarded_            ? TailStrategy::GuardWithIf
                              : tile_.all_columns ? TailStrategy::PredicateLoads
                                                  : TailStrategy::Auto;
    if (tile_.lanes > 1) stage.vectorize(args_[0], tile_.lanes, tail);
    if (guarded_) return;
    if (tile_.vectors > 1) stage.unroll(args_[0]);
    if (args_.size() > 1 && tile_.rows > 1) stage.unroll(args_[1]);
  }

  void order_update(polyhalite::Stage update, const std::vector<RVar> &reduced,
                    const std::vector<Var> &further, bool of_products = true) {
    const bool dots = dot_ && of_products;
    RVar terms("terms");
    Var sum("sum");
    std::vector<VarOrRVar> inner;
    if (dots) {
      update.split(reduced[0], reduced[0], terms, dot_->terms);
      update.split(args_[0], args_[0], sum, dot_->sums);
      inner = {terms, sum};
    }
    inner.emplace_back(args_[0]);
    if (args_.size() > 1) inner.emplace_back(args_[1]);
    RVar together("together");
    const bool unrolled = of_products && unrolls_steps();
    if (unrolled) {
      update.split(reduced[0], reduced[0], together, steps_together(),
                   steps_ != 0 && steps_ % steps_together() == 0 ? TailStrategy::Auto
                                                                 : TailStrategy::GuardWithIf);
      inner.emplace_back(together);
    }
    order_around_sums(update, inner, reduced, args_, further);
    if (unrolled) update.unroll(together);
    if (!dots) return in_registers(update);
    update.tensorize(sum, terms, dot_->name);
    if (tile_.vectors > 1) update.unroll(args_[0]);
    if (args_.size() > 1 && tile_.rows > 1) update.unroll(args_[1]);
  }

  // Several steps in one iteration: what a loop costs tells beside few multiply-adds. Left over
  // ones need a copy of the tile for each.
  bool unrolls_steps() const {
    constexpr int64_t kManySteps = 64, kManyRows = 8;
    if (dot_ || fetched_) return false;
    if (steps_ == 0) return tile_.vectors == 1 && least_rows_ >= kManyRows;
    if (steps_ < 2 * kTogether) return false;
    return steps_ % kTogether == 0 || (tile_.vectors == 1 && steps_ >= kManySteps);
  }

  // Of rows that come from memory, a line.
  int steps_together() const {
    const int line = 64 / s_.func.types()[0].bytes();
    return far_rows() && steps_ % line == 0 && steps_ >= 2 * line ? line : kTogether;
  }

  void fetch_ahead(polyhalite::Stage update, const RVar &step) {
    constexpr int kLines = 16;
    // Steps a page apart share a set of a Zen 4's first cache, which has room for eight lines.
    const int steps_ahead = is_zen_4(target_) ? 4 : 8;
    if (fetched_ && fetches_strips_) fetch(update, fetched_, step, column_loop_, 1);
    if (fetched_ && (!fetches_strips_ || steps_ == 0)) {
      fetch(update, fetched_, step, step, steps_ahead);
    } else if (unrolls_steps() && steps_together() > kTogether) {
      fetch(update, far_rows(), step, step, kLines);
    }
  }

  // The last ones are beyond the image, which a prefetch may ask for.
  static void fetch(polyhalite::Stage stage, const std::shared_ptr<ParameterContents> &image,
                    const VarOrRVar &at, const VarOrRVar &from, int offset) {
    stage.prefetch(ImageParam(image), at, from, offset, PrefetchBoundStrategy::NonFaulting);
  }

  // The left operand, where its rows go along the sums and the third cache does not hold it for the
  // next strip of columns: each page of each row is waited for then. Null where it does.
  std::shared_ptr<ParameterContents> far_rows() const {
    constexpr int64_t kThirdCache = 16 << 20;
    if (dot_ || in_panels_ || rows_ == 0 || s_.rvars.size() != 1 ||
        tiles(columns_, tile_.columns()) < 2)
      return nullptr;
    const CallNode *left = dense_factor(sums_, s_.rvars[0].name());
    const int64_t steps = constant(s_.rvars[0].extent()).value_or(0);
    return left && rows_ * steps * left->type.bytes() >= kThirdCache ? left->param : nullptr;
  }

  static constexpr int kTogether = 4;  // steps in one iteration

  Func out_;
  polyhalite::Stage loops_;  // of the output
  Var column_loop_{"columns"}, outermost_;
  LoopLevel level_;    // where a tile is computed
  int64_t steps_ = 0;  // of the innermost loop over products; 0: not known
  bool in_panels_ = false;
  bool only_rows_ = false;   // the outermost loop is that over tiles of rows
  bool plain_ = false;       // a tile of the output is unrolled
  bool holds_tile_ = false;  // sums are copied to memory, for the output to loop over them
  bool guarded_ = false;
  std::shared_ptr<ParameterContents> fetched_;
  bool fetches_strips_ = false;
};

}  // namespace

void schedule_product(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                      const std::vector<Func> &operands, const Target &target) {
  const std::optional<Dot> dot = dot_of(s, target);
  if (dot && dot->widens && operands.size() == 1 && place == std::vector<size_t>{0, 1}) {
    const std::optional<Dot> wide = dot_of_widened(*dot, target);
    if (const auto right = wide ? widened_once(to, s, operands[0], target) : std::nullopt)
      return ProductSchedule(to, place, s, wide, target).run({*right}, true);
  }
  ProductSchedule(to, place, s, dot, target).run(operands);
}

}  // namespace polyhalite::ops
