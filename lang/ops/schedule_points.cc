// The schedule of points that are made one by one: vectors along memory, threads outside.
#include <algorithm>
#include <optional>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

// c where e is the variable plus c.
std::optional<int64_t> offset_from(const Expr &e, const Var &v) {
  const VariableNode *variable = as_variable(e);
  if (variable) return variable->name == v.name() ? std::optional<int64_t>(0) : std::nullopt;
  int64_t c = 0;
  if ((e->op != Op::Add && e->op != Op::Sub) || !is_const_int(e->args[1], &c)) return std::nullopt;
  const auto rest = offset_from(e->args[0], v);
  if (!rest) return std::nullopt;
  return *rest + (e->op == Op::Add ? c : -c);
}

// Places along the variable where parts of f's value begin that lie beside each other.
std::vector<int64_t> parts_along(const Func &f, const Var &along) {
  std::vector<int64_t> places;
  for_each_node(f.value(), [&](const Expr &e) {
    int64_t end = 0;
    if ((e->op != Op::Lt && e->op != Op::Ge) || !is_const_int(e->args[1], &end)) return;
    if (const auto offset = offset_from(e->args[0], along)) places.push_back(end - *offset);
  });
  return places;
}

// Of vectors that lie in one part each, where they can; else short ones, of which few lie in two.
int lanes_between(std::vector<int64_t> places, int64_t extent, int lanes) {
  places.push_back(extent);
  for (int n = lanes; n >= std::max(lanes / 4, 2); n /= 2) {
    if (std::all_of(places.begin(), places.end(), [&](int64_t p) { return p % n == 0; })) return n;
  }
  return std::max(lanes / 2, 1);
}

// Is each element made of those at its own place, and of what is the same for all?
bool reads_own_place(const Loops &l) {
  bool own = true;
  for_each_node(l.func.value(), [&](const Expr &e) {
    const CallNode *call = as_call(e);
    const bool reads = call && (call->param || call->image || call->kind == CallKind::Func);
    if (!reads || !own) return;
    bool here = call->args.size() == l.vars.size(), same = true;
    for (size_t d = 0; d < call->args.size(); d++) {
      const VariableNode *v = as_variable(call->args[d]);
      bool fixed = true;
      for (const Var &x : l.vars) fixed = fixed && !uses_variable(call->args[d], x.name());
      same = same && fixed;
      here = here && ((v && v->name == l.vars[d].name()) || (fixed && l.extent(d) == 1));
    }
    own = here || same;
  });
  return own;
}

// The loops over more than one point; all where there is none.
Loops longer_loops(const Loops &given) {
  Loops l = given;
  for (size_t d = l.vars.size(); d-- > 0;) {
    if (l.extent(d) != 1) continue;
    l.vars.erase(l.vars.begin() + static_cast<ptrdiff_t>(d));
    l.extents.erase(l.extents.begin() + static_cast<ptrdiff_t>(d));
  }
  return l.vars.empty() ? given : l;
}

// Very short rows, a few channels say, as one loop with those that follow them in memory, also
// where it is not known how far apart what is read lies.
Loops joined_rows(const Loops &l, const Loops &all, int lanes) {
  constexpr int64_t kShort = 4, kManyVectors = 16;
  if (l.vars.size() < 2 || l.extent(0) < 2 || l.extent(0) > kShort || !reads_own_place(all))
    return l;
  // The last vector of another length asks for each element; of many, loops are cut before it.
  const int64_t length = l.extent(0) * l.extent(1);
  if (length < 2 * lanes || (length % lanes != 0 && length < kManyVectors * lanes)) return l;
  Loops joined = l;
  const Var rows("joined");
  Func(l.func).fuse(l.vars[0], l.vars[1], rows);
  joined.vars.erase(joined.vars.begin());
  joined.extents.erase(joined.extents.begin());
  joined.vars[0] = rows;
  joined.extents[0] = static_cast<int>(length);
  return joined;
}

}  // namespace

int64_t known_bytes(const Loops &l) {
  int64_t bytes = l.func.types()[0].bytes();
  for (const Expr &e : l.extents) bytes *= constant(e).value_or(0);
  return bytes;
}

void stream_if_large(const Loops &l) {
  if (known_bytes(l) < kManyBytes) return;
  constexpr int64_t kLine = 64, kPiece = 16, kLongRow = 2048;
  const int64_t row_bytes = l.extent(0) * l.func.types()[0].bytes();
  const bool few_ends = row_bytes % kPiece == 0 && row_bytes >= kLongRow;
  if (l.vars.size() == 1 || row_bytes % kLine == 0 || few_ends) Func(l.func).stream_stores();
}

void schedule_points(const Loops &given, bool alone, bool threads, const Target &target, bool whole,
                     int64_t inside) {
  if (given.vars.empty()) return;
  const Loops longer = alone ? longer_loops(given) : given;
  const int most = natural_lanes(given.func, target);
  Loops l = alone ? joined_rows(longer, given, most) : given;
  Func f = l.func;
  const int64_t operations = product_of(l.extents);
  const bool large = threads && operations * (1 + inside) >= kWorthThreads;
  if (alone && point_lanes(l, operations, target) > 1 && schedule_transpose(l, large, target, true))
    return;
  const bool joined = alone && join_until_full(&l, Loops(l), 0, l.vars.size(), most) > 0;
  if (threads && f.num_update_definitions() == 0) stream_if_large(l);
  const int lanes = point_lanes(l, operations, target);
  if (l.vars.size() == 1 && large) {
    Var inner("inner");
    const int task = std::max(lanes, 1) * 256;
    if (l.extent(0) >= 2 * task) {
      // A guard would hold each index of a joined loop on its own: they would be one no longer.
      const TailStrategy rest = joined ? TailStrategy::ShiftInwards : TailStrategy::GuardWithIf;
      f.split(l.vars[0], l.vars[0], inner, task, rest).parallel(l.vars[0]);
      f.vectorize(inner, lanes, TailStrategy::GuardWithIf);
      return;
    }
  }
  constexpr int kMostVectors = 160;
  const std::vector<int64_t> parts = parts_along(f, l.vars[0]);
  const int short_fit = lanes_between(parts, l.extent(0), lanes);
  const bool by_parts = whole && l.vars.size() == longer.vars.size() && !parts.empty() &&
                        short_fit > 1 && l.extent(0) > 0 &&
                        tiles(l.extent(0), short_fit) <= kMostVectors;
  if (by_parts) {
    // Unrolled, each vector knows its part, and reads it as it lies.
    f.bound(l.vars[0], 0, static_cast<int>(l.extent(0)))
        .vectorize(l.vars[0], short_fit, tail_for(l.extent(0), short_fit))
        .unroll(l.vars[0]);
  } else if (lanes > 1) {
    const bool shifts = joined && l.extent(0) >= lanes;
    f.vectorize(l.vars[0], lanes,
                shifts ? TailStrategy::ShiftInwards : tail_for(l.extent(0), lanes));
  }
  if (large && l.vars.size() > 1) {
    std::vector<int64_t> counts;
    for (size_t i = 1; i < l.vars.size(); i++) counts.push_back(l.extent(i));
    make_parallel(l, {l.vars.begin() + 1, l.vars.end()}, counts);
  }
}

void schedule_rows_inside(const Stage &border, int64_t rows, const Target &target) {
  Loops part(border.func, border.extents);
  // Channels, columns, rows.., images: those of an image outside of the rows stand alone.
  for (size_t d = 2; d < part.extents.size(); d++)
    part.extents[d] = static_cast<int>(d == 2 ? rows : 1);
  const bool by_channels = !border.places.empty() && border.places[0] == 1;
  if (by_channels && schedule_transpose(part, false, target)) return;
  schedule_points(Loops(border.func, border.extents), false, false, target);
}

}  // namespace polyhalite::ops
