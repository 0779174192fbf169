// The library's schedule: from the kinds of stages that tensors are made of to directives. The only
// place that picks schedules for operators.
#include <algorithm>
#include <optional>
#include <set>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

int64_t Loops::extent(size_t i) const { return constant(extents[i]).value_or(0); }

int64_t product_of(const std::vector<Expr> &extents) {
  int64_t n = 1;
  for (const Expr &e : extents) n *= std::max<int64_t>(constant(e).value_or(256), 1);
  return n;
}

TailStrategy tail_for(int64_t extent, int64_t factor) {
  return extent >= factor ? TailStrategy::Auto : TailStrategy::GuardWithIf;
}

int lanes_for(int64_t extent, int lanes) {
  if (extent == 0 || extent >= lanes) return lanes;
  int n = 1;
  while (n * 2 <= extent) n *= 2;
  return n;
}

int vector_registers(const Target &target) {
  return target.arch == Target::ARM || target.has_feature(Target::AVX512_Skylake) ? 32 : 16;
}

// Two multiply-adds begin in each of four cycles. A tile of just as many sums waits for whatever is
// late: with AVX2 4x2 vectors reached 49 to 70 GFLOP/s where 3x4 reached 62 to 88.
int sums_in_flight(const Target &target) { return vector_registers(target) > 16 ? 8 : 10; }

int64_t products_of_point(const Target &target) {
  return target.natural_vector_size(Float(32)) / (is_zen_4(target) ? 2 : 1);
}

int block_of_terms(const std::vector<RVar> &rvars, int64_t most, int64_t worth, int64_t least) {
  int64_t inner = 1;
  for (size_t i = 0; i + 1 < rvars.size(); i++) inner *= constant(rvars[i].extent()).value_or(0);
  const auto outer = constant(rvars.back().extent());
  if (!outer || inner < 1 || *outer * inner < worth) return 0;
  for (int64_t n = std::max<int64_t>(most / inner, 1); n > 0; n--) {
    if (*outer % n == 0) return n * inner >= least && n < *outer ? static_cast<int>(n) : 0;
  }
  return 0;
}

// Of Intel's, those with what a Zen 4 has are of 2023 and later.
int64_t second_cache(const Target &target) {
  constexpr int64_t kMiB = 1 << 20;
  if (!target.has_feature(Target::AVX512_Skylake)) return kMiB / 2;
  const bool zen = is_zen_4(target) || is_zen_5(target);
  return target.has_feature(Target::AVX512_Zen4) && !zen ? 2 * kMiB : kMiB;
}

namespace {

// Nodes of an expression, counted up to `most`.
int size_of(const Expr &e, int most) {
  int n = 1;
  for (const Expr &arg : e->args) {
    if (n >= most) break;
    n += size_of(arg, most - n);
  }
  return n;
}

}  // namespace

bool is_small(const Expr &e) {
  constexpr int kLargest = 48;
  return size_of(e, kLargest) < kLargest;
}

Func hold_tile(Func sums, const LoopLevel &level, int lanes) {
  Func copies = sums.in();
  const std::vector<Var> args = copies.args();
  copies.compute_at(level);
  if (lanes > 1) copies.vectorize(args[0], lanes);
  copies.unroll(args[0]);
  if (args.size() > 1) copies.unroll(args[1]);
  return copies;
}

void order_around_sums(polyhalite::Stage update, std::vector<VarOrRVar> inside,
                       const std::vector<RVar> &reduced, const std::vector<Var> &args,
                       const std::vector<Var> &further) {
  for (const RVar &r : reduced) inside.emplace_back(r);
  for (size_t i = 2; i < args.size(); i++) inside.emplace_back(args[i]);
  for (const Var &v : further) inside.emplace_back(v);
  update.reorder(inside);
}

void make_parallel(const Loops &l, const std::vector<Var> &outer,
                   const std::vector<int64_t> &counts) {
  constexpr int64_t kEnough = 8, kMost = 32;
  const int64_t points = product_of(l.extents);
  int64_t tasks = 1;
  for (size_t i = outer.size(); i-- > 0 && tasks < kMost;) {
    if (counts[i] == 1) continue;
    if (tasks >= kEnough && points / tasks < kWorthThreads) break;
    Func(l.func).parallel(outer[i]);
    tasks *= counts[i] == 0 ? 16 : counts[i];
  }
}

int natural_lanes(const Func &f, const Target &target) {
  return std::min(target.natural_vector_size(f.types()[0]),
                  2 * target.natural_vector_size(Float(32)));
}

int point_lanes(const Loops &l, int64_t operations, const Target &target) {
  if (operations < 64 && l.extent(0) != 0) return 1;
  return lanes_for(l.extent(0), natural_lanes(l.func, target));
}

namespace {

constexpr int64_t kMostUnrolledCells = 25;

// Windows of as many points as the output has in a vector, in a register.
//
//   for others { for innermost/lanes { vector of windows; vector of the output } }
void schedule_windows(const Loops &out, size_t innermost, const Stage &s, const Target &target) {
  Func f = s.func;
  const std::vector<Var> args = f.args();
  const int lanes = point_lanes(out, product_of(out.extents), target);
  const Var along = args[innermost];
  f.compute_at(out.func, out.vars[0]);
  std::vector<VarOrRVar> order{along};
  for (const RVar &r : s.rvars) order.emplace_back(r);
  for (const Var &v : args) {
    if (v.name() != along.name()) order.emplace_back(v);
  }
  f.update().reorder(order);
  // The few cells of a window one after the other, their offsets constants.
  int64_t cells = 1;
  for (const RVar &r : s.rvars) cells *= constant(r.extent()).value_or(kMostUnrolledCells + 1);
  if (cells <= kMostUnrolledCells) {
    for (const RVar &r : s.rvars) f.update().unroll(r);
  }
  if (lanes == 1) return;
  const TailStrategy tail = tail_for(out.extent(0), lanes);
  f.vectorize(along, lanes, tail);
  f.update().vectorize(along, lanes, TailStrategy::GuardWithIf);
}

// Of windows along rows of so few vectors each knows its place, and with it which of its lanes see
// the border: unrolled.
constexpr int64_t kVectorsThatKnow = 4;

// Windows that are made of columns: those of a row of `to`, which is or reads the windows, in
// vectors along its memory. `place`: where the windows' arguments, along the row first, stand in
// `to`. Small windows of images with channels side by side compute their own.
void schedule_columns(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                      const Target &target) {
  constexpr int kFewCells = 9;
  const bool has_rows = place[0] + 1 < to.vars.size();
  if ((place[0] != 0 || !has_rows) && s.cells <= kFewCells) return;
  Func columns = s.parts[0];
  const std::vector<Var> args = columns.args();
  std::vector<Var> order(args.size());
  for (size_t i = 0; i < args.size(); i++) order[place[i]] = args[i];
  columns.reorder_storage(order);
  // Those of a row are wanted before they have left the processor, by loads that no single store
  // answers. Those of a whole plane are not, where the first cache holds it, nor those of some
  // rows, nor the first ones of a long row.
  constexpr int64_t kSmallPlane = 8 << 10, kLongRow = 1 << 10;
  constexpr int kRowsTogether = 8;
  const int64_t rows = has_rows ? to.extent(place[0] + 1) : 0;
  const int64_t row_bytes = int64_t{s.columns} * columns.types()[0].bytes();
  const int64_t plane = row_bytes * rows;
  if (!has_rows) {
    columns.compute_root();
  } else if (place[0] == 0 && to.vars.size() > 2 && plane > 0 && plane <= kSmallPlane) {
    columns.compute_at(to.func, to.vars[2]);
  } else {
    const Var row("row");
    if (place[0] == 0 && row_bytes <= kLongRow && (rows == 0 || rows >= 2 * kRowsTogether))
      Func(to.func).split(to.vars[1], to.vars[1], row, kRowsTogether, TailStrategy::GuardWithIf);
    columns.compute_at(to.func, to.vars[place[0] + 1]);
  }
  const int64_t along = place[0] == 0 ? s.columns : to.extent(0);
  const int lanes = lanes_for(along, natural_lanes(columns, target));
  if (lanes > 1) columns.vectorize(order[0], lanes, tail_for(along, lanes));
  if (place[0] != 0) columns.reorder(std::vector<VarOrRVar>(order.begin(), order.end()));
  if (place[0] == 0 && along > 0 && tiles(along, lanes) <= kVectorsThatKnow)
    columns.unroll(order[0]);
  if (!has_rows || place[0] != 0) return;
  std::vector<Expr> sizes = to.extents;
  sizes[0] = s.columns;
  fetch_rows_ahead(Loops(columns, sizes), to.vars[1]);
}

bool is_product(const Stage &s) {
  return s.kind == Stage::Product || s.kind == Stage::Strips || s.kind == Stage::Depthwise;
}

void schedule_sums(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                   const std::vector<Func> &operands, const Stage *border, const Target &target) {
  if (border && s.kind == Stage::Product) {
    schedule_held(*border, nullptr, target);
    border = nullptr;
  }
  // A branch has what its stage was told before: the last choice, the stage itself, comes last.
  for (const Stage &choice : s.choices) {
    Loops loops = to;
    if (choice.when.defined()) loops.stage = Func(to.func).specialize(choice.when);
    schedule_sums(loops, place, choice, choice.parts, border, target);
  }
  if (!s.choices.empty()) return;
  if (s.kind == Stage::Strips) return schedule_strips(to, place, s, border, target);
  if (s.kind == Stage::Depthwise) return schedule_depthwise(to, place, s, border, target);
  schedule_product(to, place, s, operands, target);
}

}  // namespace

void schedule_held(const Stage &s, const LoopLevel *level, const Target &target) {
  Func f = s.func;
  const Loops loops(f, s.extents);
  if (!level) {
    f.compute_root();
    // Whole also where less of it is read, by a stride say: its vectors are chosen for all.
    for (size_t d = 0; d < loops.vars.size(); d++) {
      if (const int64_t n = loops.extent(d)) f.bound(loops.vars[d], 0, static_cast<int>(n));
    }
    schedule_points(loops, true, true, target);
    if (s.rvars.empty()) return;
    // Rows that are copied into it.
    const int64_t length = constant(s.rvars[0].extent()).value_or(0);
    const int lanes = lanes_for(length, natural_lanes(f, target));
    if (lanes > 1) {
      f.update().vectorize(s.rvars[0], lanes, TailStrategy::Predicate);
    } else {
      f.update().unroll(s.rvars[0]);
    }
    if (product_of(s.extents) >= kWorthThreads && loops.vars.size() > 1)
      f.update().parallel(loops.vars.back());
    return;
  }
  f.compute_at(*level);
  if (s.kind == Stage::Row && loops.vars.size() > 1) fetch_rows_ahead(loops, loops.vars.back());
  if (s.kind == Stage::Row && in_masked_vectors(loops, target)) {
    f.align_storage(loops.vars[0], natural_lanes(f, target));
    return;
  }
  const int lanes = point_lanes(loops, product_of(s.extents), target);
  if (lanes > 1) f.vectorize(loops.vars[0], lanes, tail_for(loops.extent(0), lanes));
}

namespace {

// The product that runs inside of an output's tiles; -1: there is none. At most one does, others
// have a Func of their own.
int product_inside(const std::vector<Stage> &stages, int rank) {
  int inside = -1;
  for (size_t i = 0; i < stages.size(); i++) {
    const Stage &s = stages[i];
    if (!is_product(s) || s.dims.empty()) continue;
    const bool whole = std::count(s.dims.begin(), s.dims.end(), -1) == 0 &&
                       static_cast<int>(s.dims.size()) == rank + (is_split(s) ? 1 : 0);
    if (whole) inside = static_cast<int>(i);
  }
  return inside;
}

// Where among the dimensions of a joined stage the columns stand that the last one, the rows, is
// joined with: they are behind it in the tensor.
size_t joined_column(const std::vector<int> &dims) { return dims[0] == dims.back() + 1 ? 0 : 1; }

// A tensor whose sums are vectors along another dimension than its memory: made as they are, and
// then turned, which is quicker than to store each point on its own. Undefined where it does not
// pay.
Func turned(const Tensor &t, const std::string &name, const std::vector<int> &order,
            const Target &target, const std::function<void(const Func &, size_t)> &promise) {
  const int inside = product_inside(t.stages(), t.rank());
  if (inside < 0 || order.empty()) return Func();
  const std::vector<int> &dims = t.stages()[static_cast<size_t>(inside)].dims;
  std::vector<int> own = dims;
  if (t.stages()[static_cast<size_t>(inside)].joined) {
    own.insert(own.begin() + joined_column(own) + 1, own.back());
    own.pop_back();
  }
  own.resize(order.size());
  constexpr int64_t kSquare = 8;
  for (const int d : {own[0], order[0]}) {
    if (constant(t.size(d)).value_or(kSquare) < kSquare) return Func();
  }
  if (own[0] == order[0]) return Func();
  Func made = materialize({t}, {"made"}, {own}, target)[0];
  made.compute_root();
  const std::vector<Var> vars = index_vars(t.rank());
  std::vector<Var> from, to;
  std::vector<Expr> extents;
  for (int d : own) from.push_back(vars[static_cast<size_t>(d)]);
  for (int d : order) {
    to.push_back(vars[static_cast<size_t>(d)]);
    extents.push_back(t.size(d));
  }
  Func f(name);
  f(to) = made(from);
  if (promise) promise(f, 0);
  schedule_points(Loops(f, extents), true, true, target);
  return f;
}

// An output along another dimension than what its Turn reads lies along, in squares: a row of it is
// held as it lies, next to where it is turned. False, and nothing is done, where that does not pay.
bool turns_rows(const Loops &out, const std::vector<int> &order, const Stage &turn, bool parallel,
                const Target &target) {
  if (turn.dims.size() != order.size() || order.size() < 3) return false;
  const auto across = std::find(order.begin(), order.end(), turn.dims[0]);
  const size_t outside = across == order.begin() + 1 ? 2 : 1;
  if (across == order.begin() || across > order.begin() + 2) return false;
  constexpr int64_t kSquare = 8;
  for (const size_t d : {size_t{0}, static_cast<size_t>(across - order.begin())}) {
    if (out.extent(d) != 0 && out.extent(d) < kSquare) return false;
  }
  if (!schedule_transpose(out, parallel, target)) return false;
  Func held = turn.func;
  held.compute_at(out.func, out.vars[outside]);
  const Loops row(held, turn.extents);
  const int lanes = lanes_for(row.extent(0), natural_lanes(held, target));
  if (lanes > 1) held.vectorize(row.vars[0], lanes, tail_for(row.extent(0), lanes));
  return true;
}

// The loops over an output's columns and rows as one over its pixels, for a Product whose rows are
// joined: the last of `place` is the rows', and taken from it.
Loops joined_rows(const Loops &out, size_t at, std::vector<size_t> *place) {
  const size_t column = (*place)[at], row = place->back();
  place->pop_back();
  Loops joined = out;
  for (size_t d : {column, row}) Func(out.func).bound(out.vars[d], 0, out.extents[d]);
  joined.vars[column] = Var("pixel");
  joined.stage.fuse(out.vars[column], out.vars[row], joined.vars[column]);
  joined.extents[column] =
      static_cast<int>(*constant(out.extents[column]) * *constant(out.extents[row]));
  joined.vars.erase(joined.vars.begin() + static_cast<ptrdiff_t>(row));
  joined.extents.erase(joined.extents.begin() + static_cast<ptrdiff_t>(row));
  for (size_t &p : *place) p -= p > row ? 1 : 0;
  return joined;
}

// Is the tensor, its dimensions in this order, the Func of its last stage, whose updates write all
// places? Then it needs no copy of it.
bool is_last_stage(const Tensor &t, const std::vector<int> &order) {
  if (t.stages().empty() || t.stages().back().kind != Stage::InPlace) return false;
  if (order != reversed_dims(t.rank())) return false;
  const Func f = t.stages().back().func;
  const std::vector<Var> vars = index_vars(t.rank());
  const Expr value = t(as_index(vars));
  const CallNode *call = as_call(value);
  if (!call || call->kind != CallKind::Func || call->name != f.name()) return false;
  for (size_t i = 0; i < call->args.size(); i++) {
    if (!is_variable(call->args[i], vars[vars.size() - 1 - i].name())) return false;
  }
  return true;
}

}  // namespace

std::vector<Func> materialize(const std::vector<Tensor> &tensors,
                              const std::vector<std::string> &names,
                              const std::vector<std::vector<int>> &orders, const Target &target,
                              const std::function<void(const Func &, size_t)> &promise) {
  if (tensors.size() == 1) {
    const Func f =
        turned(tensors[0], names[0],
               orders[0].empty() ? reversed_dims(tensors[0].rank()) : orders[0], target, promise);
    if (f.defined()) return {f};
  }
  std::vector<Func> outputs;
  bool is_own = false;  // is the first output the last stage?
  for (size_t i = 0; i < tensors.size(); i++) {
    const Tensor &t = tensors[i];
    const std::vector<Var> vars = index_vars(t.rank());
    const std::vector<int> order = orders[i].empty() ? reversed_dims(t.rank()) : orders[i];
    if (tensors.size() == 1 && (is_own = is_last_stage(t, order))) {
      outputs.push_back(t.stages().back().func);
      break;
    }
    std::vector<Var> args;
    for (int d : order) args.push_back(vars[static_cast<size_t>(d)]);
    Func f(names[i]);
    f(args) = tabulated(t(as_index(vars)), product_of(t.shape()), target);
    outputs.push_back(f);
  }
  for (size_t i = 0; promise && i < outputs.size(); i++) promise(outputs[i], i);
  const bool single = tensors.size() == 1;
  const std::vector<Stage> stages = single ? tensors[0].stages() : merged_stages(tensors);
  const Tensor &t = tensors[0];
  const std::vector<int> order = orders[0].empty() ? reversed_dims(t.rank()) : orders[0];
  // Where the argument that counts along a dimension of the tensor stands in the output.
  auto place_of = [&](int dim) {
    return static_cast<size_t>(std::find(order.begin(), order.end(), dim) - order.begin());
  };
  std::vector<Expr> extents;
  for (int d : order) extents.push_back(t.shape()[static_cast<size_t>(d)]);
  const Loops out(outputs[0], extents);

  const std::vector<std::optional<size_t>> loops_of_rows =
      single ? row_loops(stages, extents, order)
             : std::vector<std::optional<size_t>>(stages.size());
  int inside = single ? product_inside(stages, t.rank()) : -1;
  const int together = inside < 0 ? rows_together(out, stages, loops_of_rows, order, target) : 1;
  std::vector<Func> operands;
  const Stage *border = nullptr;
  bool alone = inside < 0;      // is nothing computed in the first output's loops?
  bool columns_inside = false;  // are columns of windows, along its rows?
  bool holds_row = false;       // is something of a row, for all of its points?
  int64_t operations = 0;       // there, of reductions for a row
  std::vector<Stage> held;      // Rows, until their Reduce comes
  for (size_t i = 0; i < stages.size(); i++) {
    const Stage &s = stages[i];
    switch (s.kind) {
      case Stage::Row:
        held.push_back(s);
        break;
      case Stage::Operand:
        operands.push_back(s.func);
        break;
      case Stage::Border:
        if (border) schedule_held(*border, nullptr, target);
        border = &s;
        break;
      case Stage::Product:
      case Stage::Strips:
      case Stage::Depthwise: {
        std::vector<size_t> place;
        if (static_cast<int>(i) == inside) {
          for (int d : s.dims) place.push_back(place_of(d));
          const Loops loops = s.joined ? joined_rows(out, joined_column(s.dims), &place) : out;
          if (is_split(s)) place.pop_back();
          schedule_sums(loops, place, s, operands, border, target);
        } else {
          Func whole = Func(s.func).in();
          whole.compute_root();
          // Tiles begin with it, not where what reads it does.
          for (size_t a = 0; a < s.extents.size(); a++) {
            const auto n = constant(s.extents[a]);
            if (n) whole.bound(whole.args()[a], 0, static_cast<int>(*n));
            place.push_back(a);
          }
          schedule_sums(Loops(whole, s.extents), place, s, operands, border, target);
        }
        operands.clear();
        border = nullptr;
        break;
      }
      case Stage::Window: {
        // At the output's own points, where the tensor's dimensions are the window's in some order.
        const auto innermost = std::find(s.dims.begin(), s.dims.end(), order[0]);
        std::set<int> dims(s.dims.begin(), s.dims.end());
        dims.erase(-1);
        const bool here =
            single && inside < 0 && innermost != s.dims.end() && dims.size() == order.size();
        if (!s.parts.empty()) {
          const bool in_loops = here && std::count(s.dims.begin(), s.dims.end(), -1) == 0;
          std::vector<size_t> place;
          for (size_t a = 0; a < s.extents.size(); a++)
            place.push_back(in_loops ? place_of(s.dims[a]) : a);
          if (!in_loops) {
            Func(s.func).compute_root();
            schedule_points(Loops(s.func, s.extents), false, true, target);
          }
          schedule_columns(in_loops ? out : Loops(s.func, s.extents), place, s, target);
          alone = alone && !in_loops;
          columns_inside = in_loops && place[0] == 0;
        } else if (here) {
          alone = false;
          schedule_windows(out, static_cast<size_t>(innermost - s.dims.begin()), s, target);
        } else {
          Stage points = s;  // vectors of them: a window is short
          points.rvars.clear();
          schedule_reduction(points, nullptr, target);
        }
        break;
      }
      case Stage::Reduce: {
        const bool rows = inside < 0 && loops_of_rows[i];
        const LoopLevel level =
            rows ? LoopLevel(outputs[0], out.vars[*loops_of_rows[i]]) : LoopLevel::root();
        for (const Stage &row : held) schedule_held(row, rows ? &level : nullptr, target);
        holds_row = holds_row || (rows && !held.empty());
        held.clear();
        alone = alone && !rows;
        if (rows) {
          std::vector<Expr> lengths;
          for (const RVar &r : s.rvars) lengths.push_back(r.extent());
          operations += product_of(lengths);
        }
        schedule_reduction(s, rows ? &level : nullptr, target, rows && together > 1);
        break;
      }
      case Stage::Attention: {
        // Inside of an output whose loops are its own, else on its own.
        const bool whole = single && inside < 0 && s.dims == order && alone;
        if (!whole) Func(s.func).compute_root();
        schedule_attention(whole ? out : Loops(s.func, s.extents), s, target);
        if (whole) inside = static_cast<int>(i);
        alone = alone && !whole;
        break;
      }
      case Stage::Winograd: {
        const bool whole = single && inside < 0 && s.dims == order && alone;
        if (!whole) Func(s.func).compute_root();
        schedule_winograd(whole ? out : Loops(s.func, s.extents), s, border, target);
        border = nullptr;
        if (whole) inside = static_cast<int>(i);
        alone = alone && !whole;
        break;
      }
      case Stage::Fourier:
        schedule_fourier(s, target);
        break;
      case Stage::InPlace:
        schedule_in_place(s, target);
        break;
      case Stage::Turn:  // where the output is scheduled
        break;
      case Stage::Store:
        schedule_held(s, nullptr, target);
        break;
    }
  }
  if (border) schedule_held(*border, nullptr, target);
  for (size_t i = 0; i < outputs.size(); i++) {
    if (i == 0 && (inside >= 0 || is_own)) continue;
    const Tensor &each = tensors[i];
    const std::vector<int> its = orders[i].empty() ? reversed_dims(each.rank()) : orders[i];
    std::vector<Expr> sizes;
    for (int d : its) sizes.push_back(each.shape()[static_cast<size_t>(d)]);
    // Each point of a row of one has its reductions.
    const bool of_points = i == 0 && !sizes.empty() && is_one(sizes[0]);
    const Stage *last = single && alone && !stages.empty() ? &stages.back() : nullptr;
    const bool is_large = product_of(sizes) >= kWorthThreads;
    if (last && last->kind == Stage::Turn &&
        turns_rows(Loops(outputs[i], sizes), its, *last, is_large, target))
      continue;
    const Loops loops(outputs[i], sizes);
    if (i == 0 && holds_row && in_masked_vectors(loops, target)) {
      stream_if_large(loops);
      std::vector<int64_t> counts;
      for (size_t d = 1; d < loops.vars.size(); d++) counts.push_back(loops.extent(d));
      if (is_large) make_parallel(loops, {loops.vars.begin() + 1, loops.vars.end()}, counts);
      continue;
    }
    schedule_points(loops, i > 0 || alone, true, target, true, of_points ? operations : 0);
    if (i != 0 || !columns_inside) continue;
    const int64_t n = loops.extent(0);
    if (n > 0 && tiles(n, point_lanes(loops, product_of(sizes), target)) <= kVectorsThatKnow)
      Func(outputs[0]).bound(loops.vars[0], 0, static_cast<int>(n)).unroll(loops.vars[0]);
  }
  return outputs;
}

}  // namespace polyhalite::ops
