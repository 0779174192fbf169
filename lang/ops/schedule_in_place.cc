// Schedules of Funcs whose updates write places one after the other: running sums, scattered
// elements.
#include <algorithm>
#include <optional>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

// Steps of an update as loops, vectors along memory innermost where each of their lanes has a place
// of its own.
class Steps {
 public:
  Steps(const Loops &points, int update, const Target &target)
      : l_(points), update_(update), lanes_(natural_lanes(points.func, target)), target_(target) {}

  void schedule() {
    const std::vector<Expr> places = func().update_args(update_);
    std::vector<VarOrRVar> order;
    for (const RVar &r : func().rvars(update_)) order.emplace_back(r);
    std::vector<size_t> free;  // arguments that the update leaves as they are
    for (size_t i = 0; i < places.size(); i++) {
      if (is_variable(places[i], l_.vars[i].name())) free.push_back(i);
    }
    const bool along_points = !free.empty() && free[0] == 0;
    if (along_points) order.insert(order.begin(), l_.vars[0]);
    for (size_t i : free) {
      if (i != 0) order.emplace_back(l_.vars[i]);
    }
    polyhalite::Stage steps = func().update(update_);
    if (order.size() > 1) steps.reorder(order);
    const bool large = product_of(l_.extents) >= kWorthThreads;
    while (free.size() > 1 && is_one(l_.extents[free.back()])) free.pop_back();
    const size_t outermost = free.empty() ? 0 : free.back();
    const bool in_parts = along_points && outermost == 0;
    if (large && in_parts && l_.extent(0) >= kLeastPart * lanes_ * 2) {
      // Each thread goes down some columns: of a row from memory a page or more of them.
      Var part("part"), column("column");
      const bool far = known_bytes(l_) > second_cache(target_);
      const int64_t size = std::max<int64_t>(tiles(l_.extent(0), kParts * lanes_), kLeastPart);
      const int64_t columns = far ? piece_of_row(l_.extent(0), lanes_) : size * lanes_;
      steps.split(l_.vars[0], part, column, static_cast<int>(columns), TailStrategy::GuardWithIf);
      const std::vector<RVar> rvars = func().rvars(update_);
      if (far && !rvars.empty())
        fetch_ahead(steps, images_of(func().update_value(update_)), column, rvars[0]);
      order[0] = column;
      order.emplace_back(part);
      steps.reorder(order).parallel(part);
      steps.vectorize(column, lanes_, TailStrategy::GuardWithIf);
      return;
    }
    if (large && outermost != 0) steps.parallel(l_.vars[outermost]);
    if (!free.empty() && goes_along_row(places)) return go_along_rows(steps, free, order);
    const int64_t extent = l_.extent(0);
    if (along_points && lanes_for(extent, lanes_) > 1) {
      steps.vectorize(l_.vars[0], lanes_for(extent, lanes_), TailStrategy::GuardWithIf);
    } else if (const auto along = own_reduction(places)) {
      const int64_t length = constant(along->extent()).value_or(0);
      const int fit = lanes_for(length, lanes_);
      if (fit > 1) steps.vectorize(*along, fit, TailStrategy::GuardWithIf);
    } else if (order.empty()) {
      steps.unscheduled();
    }
  }

 private:
  static constexpr int64_t kLeastPart = 4, kParts = 4;

  // Is each place of a row made of the one before it?
  bool goes_along_row(const std::vector<Expr> &places) const {
    const std::vector<RVar> rvars = func().rvars(update_);
    return rvars.size() == 1 && is_variable(places[0], rvars[0].name()) && !own_reduction(places);
  }

  // Some rows at a time, since an operation waits for the one before it. Those that lie pages apart
  // and come from memory would share a set of the first cache.
  void go_along_rows(polyhalite::Stage steps, const std::vector<size_t> &free,
                     std::vector<VarOrRVar> order) const {
    constexpr int kRows = 4;
    constexpr int64_t kPage = 4096;
    const Var rows = l_.vars[free[0]], row("row");
    const int64_t row_bytes = l_.extent(0) * func().types()[0].bytes();
    const bool collide = known_bytes(l_) >= kManyBytes && row_bytes % kPage == 0;
    if (collide || l_.extent(free[0]) < kRows) return;
    steps.split(rows, rows, row, kRows, TailStrategy::GuardWithIf);
    order.insert(order.begin(), row);
    steps.reorder(order).unroll(row);
  }

  // That which counts along memory, and along nothing else that is written, where no place is made
  // of another one.
  std::optional<RVar> own_reduction(const std::vector<Expr> &places) const {
    bool own = true;
    for_each_node(func().update_value(update_), [&](const Expr &e) {
      const CallNode *call = as_call(e);
      if (!call || call->kind != CallKind::Func || call->name != func().name()) return;
      for (size_t i = 0; i < places.size(); i++) own = own && equal(call->args[i], places[i]);
    });
    if (!own) return std::nullopt;
    for (const RVar &r : func().rvars(update_)) {
      if (places.empty() || !is_variable(places[0], r.name())) continue;
      for (size_t i = 1; i < places.size(); i++) {
        if (uses_variable(places[i], r.name())) return std::nullopt;
      }
      return r;
    }
    return std::nullopt;
  }

  Func func() const { return l_.func; }

  const Loops &l_;
  const int update_, lanes_;
  const Target &target_;
};

}  // namespace

void schedule_in_place(const Stage &s, const Target &target) {
  const Loops points(s.func, s.extents);
  Func f = s.func;
  f.compute_root();
  schedule_points(points, true, true, target);
  for (int u = 0; u < f.num_update_definitions(); u++) Steps(points, u, target).schedule();
}

}  // namespace polyhalite::ops
