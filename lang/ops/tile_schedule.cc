#include "lang/ops/tile_schedule.h"

#include <algorithm>

#include "lang/ops/common.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

int64_t largest_divisor(int64_t n, int64_t most) {
  int64_t d = std::max<int64_t>(std::min(n, most), 1);
  while (n % d != 0) d--;
  return d;
}

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

// Pixels along a dimension of a bordered image that lie outside of it, at its begin and end
// together; nullopt: all do, or its size is open. The dimension counts from the innermost one, the
// columns.
std::optional<int64_t> pixels_outside(const Stage &border, size_t dimension) {
  const int own = static_cast<int>(border.places.size() - 1 - dimension);
  const auto d = static_cast<size_t>(std::find(border.places.begin(), border.places.end(), own) -
                                     border.places.begin());
  const auto extent = constant(border.extents[d]);
  if (!extent) return std::nullopt;
  const std::string name = Func(border.func).args()[d].name();
  std::vector<Expr> conditions;
  for_each_node(Func(border.func).value(), [&](const Expr &e) {
    if (e->op == Op::Select && uses_variable(e->args[0], name)) conditions.push_back(e->args[0]);
  });
  const auto is_inside = [&](int64_t at) {
    return std::all_of(conditions.begin(), conditions.end(), [&](const Expr &condition) {
      return is_true(simplify(substitute(name, Expr(static_cast<int>(at)), condition)));
    });
  };
  int64_t first = 0, last = *extent - 1;
  while (first <= last && !is_inside(first)) first++;
  while (first < last && !is_inside(last)) last--;
  if (first > last) return std::nullopt;
  return first + (*extent - 1 - last);
}

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

}  // namespace

int64_t steps_of(const Stage &s) {
  int64_t n = 1;
  for (const RVar &r : s.rvars) n *= constant(r.extent()).value_or(64);
  return n;
}

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

TileSchedule::TileSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                           const Stage *border, int lanes, int vectors, const Target &target,
                           int most_columns)
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

void TileSchedule::tile_output(StripLoop where, bool columns_outside, int64_t together) {
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
  const auto add_columns = [&] { outer.add(columns, columns_ == 0 ? 0 : tiles(columns_, tile_)); };
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

void TileSchedule::copy_border() {
  if (!down_ || !around_) return;
  Func border = border_->func;
  border.store_at(out_, *around_).compute_at(out_, *down_);
  if (lanes_ > 1) border.vectorize(border.args()[0], lanes_);
}

void TileSchedule::cut_off_border() {
  constexpr int64_t kCutAnyway = 16, kFewTiles = 4;
  // A tile in the middle has to see nothing outside: of this many pixels some do that wherever it
  // begins.
  const auto cut = [&](const Var &loop, int64_t count, int64_t least, int64_t tile, int64_t pixels,
                       size_t dimension) {
    if (count < least || count >= kCutAnyway) return;
    const auto outside = pixels_outside(*border_, dimension);
    if (outside && *outside > 0 && pixels >= *outside + 2 * tile - 1) loops_.always_partition(loop);
  };
  if (!down_) return;
  cut(*down_, down_count_, 3, 1, down_count_, 1);
  if (columns_ != 0) cut(column_tiles_, tiles(columns_, tile_), kFewTiles, tile_, columns_, 0);
}

void TileSchedule::in_registers(polyhalite::Stage stage, const std::vector<Var> &args) const {
  if (lanes_ > 1) stage.vectorize(args[0], lanes_);
  if (width_ > lanes_) stage.unroll(args[0]);
  if (args.size() > 1 && tile_ > 1) stage.unroll(args[1]);
}

void TileSchedule::order_update(polyhalite::Stage update, const std::vector<RVar> &reduced,
                                const std::vector<Var> &further, bool of_products) const {
  std::vector<VarOrRVar> inner{args_[0]};
  if (args_.size() > 1) inner.emplace_back(args_[1]);
  RVar together("together");
  const bool unrolled = of_products && steps_ % kTogether == 0 && steps_ >= 4 * kTogether;
  if (unrolled) {
    update.split(reduced[0], reduced[0], together, kTogether);
    inner.emplace_back(together);
  }
  order_around_sums(update, inner, reduced, args_, further);
  if (unrolled) update.unroll(together);
  in_registers(update);
}

bool TileSchedule::is_one_row() const {
  return columns_ == 1 && product_of(s_.extents) == int64_t{width_} * s_.groups;
}

void TileSchedule::add_rows(size_t i, OuterLoops *outer) {
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

void TileSchedule::add_rows_of_tasks(size_t i, OuterLoops *outer, OuterLoops *tasks) {
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

void TileSchedule::place_border(Func border) {
  if (s_.when.defined()) return;
  if (!row_) {
    border.compute_root();
    return schedule_points(Loops(border, border_->extents), true, true, target_);
  }
  border.store_at(out_, *task_).compute_at(out_, *row_);
  schedule_rows_inside(*border_, 1, target_);
}

bool TileSchedule::is_image(const Var &v) const {
  const size_t image = s_.extents.size() - (is_split(s_) ? 2 : 1);
  return image < place_.size() && to_.vars[place_[image]].name() == v.name();
}

void TileSchedule::make_parallel(const OuterLoops &outer) {
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

}  // namespace polyhalite::ops
