// The schedule of Funcs that read their operand across: squares of vectors, turned in registers.
#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

// The variable that an index counts along, one by one, perhaps further along or held inside of an
// image: those of the loops are `varies`. Null: it is no such index.
template <typename Varies>
const VariableNode *counted(const Expr &e, const Varies &varies) {
  if (const VariableNode *v = as_variable(e)) return v;
  if (const Expr value = wrapped_value(e); value.defined()) return counted(value, varies);
  const bool moves = e->op == Op::Add || e->op == Op::Sub;
  const bool holds = e->op == Op::Min || e->op == Op::Max;
  if ((!moves && !holds) || varies(e->args[1])) return nullptr;
  return counted(e->args[0], varies);
}

// The dimension of f along which an operand's elements lie side by side, where that is not f's own
// innermost one, which strides through the operand. 0: there is none.
size_t dimension_across(const Loops &l) {
  size_t across = 0;
  const auto varies = [&](const Expr &arg) {
    return std::any_of(l.vars.begin(), l.vars.end(),
                       [&](const Var &v) { return uses_variable(arg, v.name()); });
  };
  for_each_node(l.func.value(), [&](const Expr &e) {
    const CallNode *call = as_call(e);
    if (!call || call->args.size() < 2) return;
    if (!(call->param || call->image || call->kind == CallKind::Func)) return;
    const auto innermost = std::find_if(call->args.begin(), call->args.end(), varies);
    if (innermost == call->args.end()) return;
    const VariableNode *first = counted(*innermost, varies);
    const auto strides = [&](const Expr &arg) { return uses_variable(arg, l.vars[0].name()); };
    if (!first || !std::any_of(innermost + 1, call->args.end(), strides)) return;
    for (size_t d = 1; d < l.vars.size(); d++) {
      if (first->name == l.vars[d].name()) across = d;
    }
  });
  return across;
}

// Few points side by side, each from a row of the operand: vectors of all of them, which shuffles
// make of the rows' vectors.
//
//   for others { for y/lanes { vector over y, x } }
void interleave_rows(const Loops &l, size_t across, int lanes, TailStrategy tail, bool parallel) {
  Func f = l.func;
  const Var x = l.vars[0], y = l.vars[across];
  Var row("row");
  f.bound(x, 0, static_cast<int>(l.extent(0)));
  f.split(y, y, row, lanes, tail);
  std::vector<VarOrRVar> order{x, row, y};
  std::vector<Var> outer{y};
  std::vector<int64_t> counts{tiles(l.extent(across), lanes)};
  for (size_t d = 1; d < l.vars.size(); d++) {
    if (d == across) continue;
    order.emplace_back(l.vars[d]);
    outer.push_back(l.vars[d]);
    counts.push_back(l.extent(d));
  }
  f.reorder(order).vectorize(x).vectorize(row);
  if (parallel) make_parallel(l, outer, counts);
}

}  // namespace

bool schedule_transpose(const Loops &given, bool parallel, const Target &target, bool may_join) {
  if (given.vars.size() < 2 || given.func.outputs() != 1) return false;
  size_t across = dimension_across(given);
  if (across == 0) return false;
  constexpr int kLeastLanes = 4, kFewRows = 4;
  const int most = std::min(target.natural_vector_size(given.func.types()[0]),
                            2 * target.natural_vector_size(Float(32)));
  Loops l = given;
  size_t joined = 0;
  if (may_join && std::min(l.extent(0), l.extent(across)) >= kLeastLanes) {
    join_until_full(&l, given, across, given.vars.size(), most);
    across -= join_until_full(&l, given, 0, across, most);
    joined = given.vars.size() - l.vars.size();
  }
  const auto tail = [&](size_t d) {
    if (l.extent(d) == 0) return TailStrategy::GuardWithIf;
    return joined > 0 ? TailStrategy::ShiftInwards : TailStrategy::Auto;
  };
  if (l.extent(0) > 1 && l.extent(0) <= kFewRows &&
      (l.extent(across) == 0 || l.extent(across) >= most)) {
    interleave_rows(l, across, most, tail(across), parallel);
    return true;
  }
  int lanes = std::min(target.natural_vector_size(l.func.types()[0]),
                       target.natural_vector_size(Float(32)));
  // Of open sizes: loops are cut before the last squares, whose points have masks.
  constexpr int kOpenLanes = 8;
  const bool open = l.extent(0) == 0 || l.extent(across) == 0;
  if (open) lanes = std::min(lanes, kOpenLanes);
  for (size_t d : {size_t{0}, across}) {
    while (lanes >= kLeastLanes && l.extent(d) != 0 && l.extent(d) < lanes) lanes /= 2;
  }
  if (lanes < kLeastLanes) return false;
  Func f = l.func;
  const Var x = l.vars[0], y = l.vars[across];
  Var column("column"), row("row"), inner("inner"), below("below");
  // What no cache holds is written past them, whole lines at once: otherwise each would be read
  // before. Of less, what reads the copy next would wait for memory.
  constexpr int kLineBytes = 64;
  constexpr int64_t kStreamedFrom = 8 << 20, kManyOfParts = 512 << 10;
  const int row_bytes = lanes * f.types()[0].bytes();
  const int64_t bytes = product_of(l.extents) * f.types()[0].bytes();
  const bool known = std::all_of(l.extents.begin(), l.extents.end(),
                                 [](const Expr &e) { return constant(e).has_value(); });
  const bool lines = row_bytes >= kLineBytes, streams = lines && bytes >= kStreamedFrom && known;
  // Of much, blocks of squares, which read and write some lines of each row: a page of it is then
  // wanted for a while. Past the caches along what is read, which is fetched ahead so, unless whole
  // rows of it are; else along what is written, where a line's parts have to meet.
  constexpr int64_t kBlockBytes = 128, kStreamedBytes = 1024, kLongBytes = 4096;
  const bool whole_rows = l.extent(across) * f.types()[0].bytes() <= kStreamedBytes;
  const auto steps_of = [&](size_t d, int64_t most_bytes) {
    return std::clamp<int64_t>(l.extent(d) / lanes, 1, most_bytes / row_bytes);
  };
  const bool blocks = (streams || (!lines && bytes >= kManyOfParts && known)) &&
                      l.extent(0) >= int64_t{2} * lanes && l.extent(across) >= int64_t{2} * lanes;
  const bool by_rows = streams && !whole_rows;
  int64_t steps_x = 1, steps_y = 1;
  if (blocks) {
    steps_x = steps_of(0, by_rows ? kStreamedBytes : streams ? kLongBytes : kBlockBytes);
    steps_y = steps_of(across, by_rows ? kStreamedBytes : streams ? 2 * kBlockBytes : kBlockBytes);
  }
  if (streams) f.stream_stores();
  // Along what is written: stores then fill one page after the other, and loads wait for less. Of
  // few rows that are written parts are tasks: behind each, what is written past the caches is
  // waited for.
  constexpr int kPart = 64;
  const bool parts = !blocks && l.extent(0) >= int64_t{2} * kPart * lanes &&
                     l.extent(across) < int64_t{kPart} * lanes;
  // Vectors along a loop, so many of them in a step. Steps of joined loops shift: a guard would
  // hold each of their indices on its own, so that they are one no longer.
  const auto split = [&](const Var &v, size_t d, const Var &step, const Var &lane, int64_t count) {
    if (count > 1 && joined > 0) {
      const int64_t vectors = tiles(l.extent(d), lanes);
      const auto even = static_cast<int>(tiles(vectors, tiles(vectors, count)) * lanes);
      f.split(v, v, step, even, TailStrategy::ShiftInwards).split(step, step, lane, lanes);
      return;
    }
    f.split(v, v, lane, lanes, tail(d));
    if (count > 1) f.split(v, v, step, static_cast<int>(count), TailStrategy::GuardWithIf);
  };
  split(x, 0, inner, column, parts ? kPart : steps_x);
  split(y, across, below, row, steps_y);
  std::vector<VarOrRVar> order{column, row};
  std::vector<Var> steps;
  if (parts || steps_x > 1) steps.push_back(inner);
  if (steps_y > 1) steps.push_back(below);
  if (by_rows) std::reverse(steps.begin(), steps.end());
  order.insert(order.end(), steps.begin(), steps.end());
  std::vector<Var> outer{x, y};
  std::vector<int64_t> counts{l.extent(0) / lanes / steps_x, l.extent(across) / lanes / steps_y};
  if (parts || blocks) {
    std::swap(outer[0], outer[1]);
    counts = {counts[1], counts[0] / (parts ? kPart : 1)};
  }
  order.insert(order.end(), outer.begin(), outer.end());
  for (size_t d = 1; d < l.vars.size(); d++) {
    if (d == across) continue;
    order.emplace_back(l.vars[d]);
    outer.push_back(l.vars[d]);
    counts.push_back(l.extent(d));
  }
  f.reorder(order).vectorize(column).vectorize(row);
  if (parallel) make_parallel(l, outer, counts);
  return true;
}

}  // namespace polyhalite::ops
