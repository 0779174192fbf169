#include "test/support/random_schedule.h"

#include <algorithm>
#include <utility>

#include "lang/language/stream_rules.h"
#include "polyhalite/param.h"
#include "schedule/inline.h"
#include "test/support/schedule_draw.h"

namespace polyhalite::test {

ScheduleDraw::ScheduleDraw(Dice &dice, const Algorithm &a, bool windows, const CheckSchedule &check)
    : dice_(dice),
      original_(a),
      algorithm_(a),
      windows_(windows),
      check_(check),
      mistakes_(dice.chance(8)) {
  for (const FuncDef &f : a.funcs) {
    for (size_t s = 0; s < f.stages.size(); s++) dims_[{f.name, int(s)}] = initial(f, int(s));
  }
}

std::vector<Directive> ScheduleDraw::draw() {
  if (!with_invariants().empty() && dice_.chance(40)) {
    attempt([&] { rewriting_directive(2); });
  }
  if (dice_.chance(40)) {
    for (int i = dice_.between(1, 2); i > 0; i--) attempt([&] { deriving_directive(); });
  }
  auto loops = [&](int count) {
    for (; count > 0; count--) attempt([&] { loop_directive(); });
  };
  auto storage = [&](int count) {
    for (; count > 0; count--) attempt([&] { storage_directive(); });
  };
  const bool wrong = mistakes_ && !updates().empty();
  if ((wrong || !with_parts().empty()) && dice_.chance(45)) attempt([&] { fission_directive(); });
  if ((wrong || !scans().empty()) && dice_.chance(60)) attempt([&] { scan_directive(); });
  if (windows_) {
    loops(dice_.between(0, 2));
    for (const FuncDef &f : copy_of_funcs()) attempt([&] { place_window(f); });
    loops(dice_.between(0, 3));
    storage(dice_.between(0, 2));
  } else {
    if (dice_.chance(20)) attempt([&] { share_loops(); });
    place_some(75);
    loops(dice_.between(0, 8));
    if (dice_.chance(20)) attempt([&] { share_loops(); });
    // Levels name loops that exist by now.
    place_some(35);
    storage(dice_.chance(60) ? dice_.between(1, 3) : 0);
  }
  if (dice_.chance(20)) attempt([&] { in_place(); });
  if (dice_.chance(10)) attempt([&] { allow_races(); });
  for (const FuncDef &f : algorithm_.funcs) {
    if (dice_.chance(3)) add(DirectiveKind::NoProfiling, f.name, 0, {});
  }
  if (dice_.chance(3)) device_directive();
  return std::move(list_);
}

void ScheduleDraw::in_place() {
  std::vector<std::pair<std::string, std::string>> fit;
  for (const FuncDef &f : algorithm_.funcs) {
    for (const std::string &read : called_funcs(f.stages[0])) {
      const FuncDef *of = algorithm_.find(read);
      if (of && of->args.size() == f.args.size() && of->types == f.types) {
        fit.push_back({f.name, read});
      }
    }
  }
  if (fit.empty()) return;
  const auto [f, read] = dice_.pick(fit);
  if (!algorithm_.is_output(f)) add(DirectiveKind::ComputeRoot, f, 0, {});
  add(DirectiveKind::InPlace, f, 0, {}).funcs = {read};
}

void ScheduleDraw::allow_races() {
  auto it = dims_.begin();
  std::advance(it, dice_.between(0, static_cast<int>(dims_.size()) - 1));
  const auto &[func, stage] = it->first;
  for (const Directive &d : list_) {
    if (d.func != func || d.stage != stage) continue;
    if (stage > 0 && (d.kind == DirectiveKind::Parallel || d.kind == DirectiveKind::Vectorize ||
                      d.kind == DirectiveKind::Reorder || d.kind == DirectiveKind::Fuse ||
                      d.kind == DirectiveKind::Fission || d.kind == DirectiveKind::Reverse ||
                      d.kind == DirectiveKind::Skew)) {
      return;
    }
  }
  add(DirectiveKind::AllowRaceConditions, func, stage, {});
}

void ScheduleDraw::device_directive() {
  const FuncDef &f = dice_.pick(algorithm_.funcs);
  const auto &dims = dims_.at({f.name, 0});
  const auto kind = dice_.pick<DirectiveKind>(
      {DirectiveKind::GpuBlocks, DirectiveKind::GpuThreads, DirectiveKind::GpuLanes,
       DirectiveKind::GpuSingleThread, DirectiveKind::Tensorize, DirectiveKind::Hexagon,
       DirectiveKind::SmeStreaming, DirectiveKind::CopyToDevice, DirectiveKind::CopyToHost});
  if (kind == DirectiveKind::Tensorize) {
    if (dims.size() < 2) return;
    add(kind, f.name, 0, {dims[1], dims[0]}).option = "mma_m16n8k16_f16_f32";
    return;
  }
  const bool names_loop = kind == DirectiveKind::GpuBlocks || kind == DirectiveKind::GpuThreads ||
                          kind == DirectiveKind::GpuLanes;
  if (names_loop && dims.empty()) return;
  add(kind, f.name, 0,
      names_loop ? std::vector<std::string>{dice_.pick(dims)} : std::vector<std::string>{});
}

std::vector<std::string> ScheduleDraw::initial(const FuncDef &f, int stage) {
  std::vector<std::string> dims;
  const StageDef &s = f.stages[stage];
  for (const ReductionVariable &r : s.rvars) dims.push_back(r.var);
  for (size_t d = 0; d < f.args.size(); d++) {
    const VariableNode *v = as_variable(s.args[d]);
    if (v && v->kind == VariableKind::Pure && v->name == f.args[d]) dims.push_back(f.args[d]);
  }
  return dims;
}

Expr ScheduleDraw::factor(int low, int high) {
  if (dice_.chance(10)) {
    for (const AlgorithmInput &i : original_.inputs) {
      if (!i.param->is_buffer) return detail::parameter_value(i.param);
    }
  }
  return Expr(dice_.between(low, high));
}

Directive &ScheduleDraw::add(DirectiveKind kind, const std::string &func, int stage,
                             std::vector<std::string> loops) {
  Directive d;
  d.kind = kind;
  d.func = func;
  d.stage = stage;
  d.loops = std::move(loops);
  d.where = {"random", static_cast<int>(list_.size()) + 1};
  d.order = list_.size();
  list_.push_back(std::move(d));
  return list_.back();
}

void ScheduleDraw::loop_directive() {
  if (!branches_.empty() && dice_.chance(40)) {
    Branch &b = branches_[dice_.between(0, static_cast<int>(branches_.size()) - 1)];
    const size_t before = list_.size();
    loop_directive(b.func, b.stage, b.dims);
    for (size_t i = before; i < list_.size(); i++) list_[i].branch = {b.condition};
    return;
  }
  auto it = dims_.begin();
  std::advance(it, dice_.between(0, static_cast<int>(dims_.size()) - 1));
  loop_directive(it->first.first, it->first.second, it->second);
}

void ScheduleDraw::loop_directive(const std::string &func, int stage,
                                  std::vector<std::string> &dims) {
  if (dims.empty()) return;
  const int kind = dice_.between(0, 99);
  const std::string dim = mistakes_ && dice_.chance(10) ? "nowhere" : dice_.pick(dims);
  const auto at = std::find(dims.begin(), dims.end(), dim);
  if (kind < 40) {
    const std::string n = std::to_string(fresh_++);
    const std::string outer = dim + "o" + n, inner = dim + "i" + n;
    Directive &d = add(DirectiveKind::Split, func, stage, {dim, outer, inner});
    d.factors = {mistakes_ && dice_.chance(10) ? Expr(0) : factor(1, 6)};
    d.tail = dice_.pick<TailStrategy>(
        {TailStrategy::Auto, TailStrategy::Auto, TailStrategy::Auto, TailStrategy::GuardWithIf,
         TailStrategy::GuardWithIf, TailStrategy::Predicate, TailStrategy::PredicateLoads,
         TailStrategy::PredicateStores, TailStrategy::RoundUp, TailStrategy::ShiftInwards,
         TailStrategy::ShiftInwardsAndBlend, TailStrategy::RoundUpAndBlend});
    if (stage > 0 && d.tail == TailStrategy::ShiftInwards && dice_.chance(90)) {
      d.tail = TailStrategy::Auto;
    }
    if (at == dims.end()) return;
    *at = outer;
    dims.insert(std::find(dims.begin(), dims.end(), outer), inner);
    if (dice_.chance(45)) {
      add(dice_.chance(65) ? DirectiveKind::Vectorize : DirectiveKind::Unroll, func, stage,
          {inner});
    }
  } else if (kind < 50 && dims.size() >= 2) {
    const size_t i = dice_.between(0, static_cast<int>(dims.size()) - 2);
    const std::string fused = dims[i] + dims[i + 1] + std::to_string(fresh_++);
    // Tiles of loops of known sizes may shift.
    const FuncDef *f = algorithm_.find(func);
    for (const std::string &d : {dims[i], dims[i + 1]}) {
      const bool is_argument = f && std::count(f->args.begin(), f->args.end(), d) > 0;
      if (is_argument && dice_.chance(60)) {
        add(DirectiveKind::Bound, func, 0, {d}).factors = {Expr(dice_.between(-2, 1)),
                                                           Expr(dice_.between(8, 20))};
      }
    }
    add(DirectiveKind::Fuse, func, stage, {dims[i], dims[i + 1], fused});
    dims[i] = fused;
    dims.erase(dims.begin() + static_cast<long>(i) + 1);
  } else if (kind < 53 && at != dims.end()) {
    const std::string name = dim + "n" + std::to_string(fresh_++);
    add(DirectiveKind::Rename, func, stage, {dim, name});
    *at = name;
  } else if (kind < 61 && at != dims.end()) {
    recount(func, stage, *at, dims);
  } else if (kind < 75 && dims.size() >= 2) {
    std::vector<std::string> order = dims;
    for (size_t i = order.size() - 1; i > 0; i--) {
      std::swap(order[i], order[dice_.between(0, static_cast<int>(i))]);
    }
    add(DirectiveKind::Reorder, func, stage, order);
    dims = order;
  } else {
    // Whole loops seldom have constant extents, but those of reduction variables do here.
    const bool constant = dim[0] == 'r' || dice_.chance(15);
    const auto kinds =
        constant ? std::vector<DirectiveKind>{DirectiveKind::Parallel, DirectiveKind::Vectorize,
                                              DirectiveKind::Unroll}
                 : std::vector<DirectiveKind>{DirectiveKind::Parallel, DirectiveKind::Parallel,
                                              DirectiveKind::Serial};
    const DirectiveKind run = dice_.pick(kinds);
    add(run, func, stage, {dim});
    const bool at_once = run == DirectiveKind::Parallel || run == DirectiveKind::Vectorize;
    if (stage > 0 && dim[0] == 'r' && at_once && dice_.chance(40)) {
      add(DirectiveKind::Atomic, func, stage, {}).factors = {make_false()};
    }
    if (dice_.chance(10)) {
      add(DirectiveKind::Partition, func, stage, {dim}).option =
          dice_.pick<std::string>({"Never", "Auto"});
    }
    if (dice_.chance(15)) stream(func, stage);
  }
}

// A loop in other coordinates: `dim` is one of `dims`.
void ScheduleDraw::recount(const std::string &func, int stage, std::string &dim,
                           const std::vector<std::string> &dims) {
  const std::string &by = dice_.pick(dims);
  const Expr constant(dice_.between(1, 3) * (dice_.chance(70) ? 1 : -1));
  if (by == dim && dice_.chance(50)) {
    add(DirectiveKind::Reverse, func, stage, {dim});
  } else if (by == dim) {
    add(DirectiveKind::Shift, func, stage, {dim}).factors = {constant};
  } else {
    const std::string skewed = dim + "k" + std::to_string(fresh_++);
    add(DirectiveKind::Skew, func, stage, {dim, by, skewed}).factors = {constant};
    dim = skewed;
  }
}

void ScheduleDraw::stream(const std::string &func, int stage) {
  const FuncDef *f = algorithm_.find(func);
  if (f && stage < f->num_definitions() && !why_not_streamed(*f, stage) && dice_.chance(60)) {
    add(DirectiveKind::StreamStores, func, stage, {});
  } else {
    Directive &d = add(DirectiveKind::StreamLoads, func, stage, {});
    if (dice_.chance(50)) d.funcs = {"in"};
  }
}

void ScheduleDraw::storage_directive() {
  const FuncDef &f = dice_.pick(algorithm_.funcs);
  const std::string dim = dice_.pick(f.args);
  switch (dice_.between(0, 10)) {
    case 10:
      add(DirectiveKind::Pack, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 6))};
      return;
    case 0:
      add(DirectiveKind::ReorderStorage, f.name, 0, {f.args.rbegin(), f.args.rend()});
      return;
    case 1:
      add(DirectiveKind::AlignStorage, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 8))};
      return;
    case 2:
      add(DirectiveKind::FoldStorage, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 12))};
      return;
    case 3:
      add(DirectiveKind::BoundStorage, f.name, 0, {dim}).factors = {Expr(dice_.between(4, 40))};
      return;
    case 4:
      add(DirectiveKind::StoreIn, f.name, 0, {}).option =
          dice_.pick<std::string>({"Heap", "Stack", "Auto"});
      return;
    case 5:
      add(DirectiveKind::AlignBounds, f.name, 0, {dim}).factors = {factor(1, 5),
                                                                   Expr(dice_.between(-1, 4))};
      return;
    case 6:
      add(DirectiveKind::AlignExtent, f.name, 0, {dim}).factors = {factor(1, 5)};
      return;
    case 7:
      add(DirectiveKind::BoundExtent, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 20))};
      return;
    case 8:
      add(DirectiveKind::Bound, f.name, 0, {dim}).factors = {Expr(dice_.between(-3, 3)),
                                                             Expr(dice_.between(1, 20))};
      return;
    default:
      prefetch(f);
  }
}

void ScheduleDraw::prefetch(const FuncDef &f) {
  const auto &dims = dims_.at({f.name, 0});
  std::vector<std::string> targets = {"in"};
  for (const FuncDef &g : algorithm_.funcs) {
    if (reads(f.stages[0].values[0], g.name)) targets.push_back(g.name);
  }
  const int at = dice_.between(0, static_cast<int>(dims.size()) - 1);
  std::string from = dims[dice_.between(at, static_cast<int>(dims.size()) - 1)];
  // Or one of another Func, whose loops may be around.
  if (dice_.chance(30)) from = dice_.pick(dims_.at({dice_.pick(algorithm_.funcs).name, 0}));
  Directive &d = add(DirectiveKind::Prefetch, f.name, 0, {dims[at], from});
  d.factors = {Expr(dice_.between(-1, 3))};
  d.target_func = dice_.pick(targets);
  d.option = dice_.pick<std::string>({"Clamp", "GuardWithIf", "NonFaulting"});
}

std::vector<Directive> random_schedule(Dice &dice, const Algorithm &algorithm, bool windows,
                                       const CheckSchedule &check) {
  return ScheduleDraw(dice, algorithm, windows, check).draw();
}

}  // namespace polyhalite::test
