#include <algorithm>

#include "lang/ir/visit.h"
#include "test/support/schedule_draw.h"

namespace polyhalite::test {

void ScheduleDraw::place_some(int percent) {
  for (const FuncDef &f : copy_of_funcs()) {
    if (!algorithm_.is_output(f.name) && dice_.chance(percent)) attempt([&] { place(f); });
  }
}

void ScheduleDraw::place(const FuncDef &f) {
  if (f.num_definitions() == 1 && dice_.chance(8)) {
    add(DirectiveKind::ComputeInline, f.name, 0, {});
    return;
  }
  if (dice_.chance(30)) {
    add(DirectiveKind::ComputeRoot, f.name, 0, {});
    return;
  }
  const auto at = random_loop(f.name);
  if (at.second.empty()) return;
  Directive &d = add(DirectiveKind::ComputeAt, f.name, 0, {at.second});
  d.target_func = at.first.first;
  d.target_stage = at.first.second;
  if (dice_.chance(40)) {
    const auto outer = random_loop(f.name);
    if (dice_.chance(30) || outer.second.empty()) {
      add(DirectiveKind::StoreRoot, f.name, 0, {});
    } else {
      Directive &s = add(DirectiveKind::StoreAt, f.name, 0, {outer.second});
      s.target_func = outer.first.first;
      s.target_stage = outer.first.second;
    }
  }
  if (dice_.chance(20)) hoist(f);
  if (dice_.chance(15)) add(DirectiveKind::Async, f.name, 0, {});
}

bool ScheduleDraw::depends(const std::string &func, const std::string &producer) const {
  if (func == producer) return true;
  const FuncDef *f = algorithm_.find(func);
  if (!f) return false;
  for (const StageDef &s : f->stages) {
    for (const FuncDef &g : algorithm_.funcs) {
      bool reader = s.predicate.defined() && reads(s.predicate, g.name);
      for (const auto *list : {&s.args, &s.values}) {
        for (const Expr &e : *list) reader |= reads(e, g.name);
      }
      if (reader && g.name != func && depends(g.name, producer)) return true;
    }
  }
  return false;
}

int ScheduleDraw::common_loops(const Stage &a, const Stage &b) const {
  const std::vector<std::string> &of_a = dims_.at(a), &of_b = dims_.at(b);
  const auto end = std::mismatch(of_a.rbegin(), of_a.rend(), of_b.rbegin(), of_b.rend());
  return static_cast<int>(end.first - of_a.rbegin());
}

void ScheduleDraw::share_loops() {
  std::vector<std::pair<Stage, Stage>> pairs;
  const bool any = dice_.chance(10);
  for (const auto &leader : dims_) {
    for (const auto &follower : dims_) {
      const Stage &a = leader.first, &b = follower.first;
      if (a.first == b.first || common_loops(a, b) == 0) continue;
      if (any || !(depends(a.first, b.first) || depends(b.first, a.first))) {
        pairs.push_back({a, b});
      }
    }
  }
  if (pairs.empty()) return;
  const auto [leader, follower] = dice_.pick(pairs);
  if (dice_.chance(30)) split_both(leader, follower);
  place_both(leader.first, follower.first);
  const std::vector<std::string> &dims = dims_.at(leader);
  const int depth = dice_.between(1, common_loops(leader, follower));
  const std::string loop = dims[dims.size() - static_cast<size_t>(depth)];
  if (dice_.chance(25)) {
    for (const Stage &s : {leader, follower}) {
      add(DirectiveKind::Parallel, s.first, s.second, {dims.back()});
    }
  }
  Directive &d = add(DirectiveKind::ComputeWith, follower.first, follower.second, {loop});
  d.target_func = leader.first;
  d.target_stage = leader.second;
  if (dice_.chance(60)) {
    d.loops.push_back(loop);
    d.aligns = {dice_.pick<LoopAlignStrategy>(
        {LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd, LoopAlignStrategy::NoAlign})};
  }
}

void ScheduleDraw::split_both(const Stage &a, const Stage &b) {
  const std::string n = std::to_string(fresh_++), dim = dims_.at(a).back();
  const Expr by = factor(1, 4);
  const auto tail = dice_.pick<TailStrategy>({TailStrategy::Auto, TailStrategy::GuardWithIf});
  for (const Stage &s : {a, b}) {
    Directive &d =
        add(DirectiveKind::Split, s.first, s.second, {dim, dim + "o" + n, dim + "i" + n});
    d.factors = {by};
    d.tail = tail;
    dims_.at(s).back() = dim + "i" + n;
    dims_.at(s).push_back(dim + "o" + n);
  }
}

void ScheduleDraw::place_both(const std::string &a, const std::string &b) {
  const auto at = random_loop(dice_.chance(50) ? a : b);
  const bool at_root = dice_.chance(65) || at.second.empty();
  for (const std::string &f : {a, b}) {
    if (algorithm_.is_output(f)) continue;
    if (at_root) {
      add(DirectiveKind::ComputeRoot, f, 0, {});
      continue;
    }
    Directive &d = add(DirectiveKind::ComputeAt, f, 0, {at.second});
    d.target_func = at.first.first;
    d.target_stage = at.first.second;
  }
}

void ScheduleDraw::hoist(const FuncDef &f) {
  const auto outer = random_loop(f.name);
  if (dice_.chance(50) || outer.second.empty()) {
    add(DirectiveKind::HoistStorageRoot, f.name, 0, {});
  } else {
    Directive &d = add(DirectiveKind::HoistStorage, f.name, 0, {outer.second});
    d.target_func = outer.first.first;
    d.target_stage = outer.first.second;
  }
  if (dice_.chance(40)) {
    add(DirectiveKind::RingBuffer, f.name, 0, {}).factors = {factor(1, 3)};
  }
}

void ScheduleDraw::place_window(const FuncDef &f) {
  const auto &dims = dims_.at({algorithm_.outputs[0], 0});
  if (algorithm_.is_output(f.name) || dice_.chance(15)) return;
  const int at = dice_.between(0, static_cast<int>(dims.size()) - 1);
  add(DirectiveKind::ComputeAt, f.name, 0, {dims[at]}).target_func = algorithm_.outputs[0];
  if (dice_.chance(25)) add(DirectiveKind::Async, f.name, 0, {});
  if (at + 1 == static_cast<int>(dims.size()) || dice_.chance(50)) {
    add(DirectiveKind::StoreRoot, f.name, 0, {});
    return;
  }
  Directive &s = add(DirectiveKind::StoreAt, f.name, 0,
                     {dims[dice_.between(at + 1, static_cast<int>(dims.size()) - 1)]});
  s.target_func = algorithm_.outputs[0];
}

bool ScheduleDraw::reads(const Expr &e, const std::string &func) {
  if (!e.defined()) return false;
  const CallNode *c = as_call(e);
  if (c && c->kind == CallKind::Func && c->name == func) return true;
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr &a) { return reads(a, func); });
}

std::pair<ScheduleDraw::Stage, std::string> ScheduleDraw::random_loop(const std::string &func) {
  std::vector<std::pair<std::string, int>> stages;
  const bool any = dice_.chance(15);
  for (const FuncDef &f : algorithm_.funcs) {
    for (int i = 0; i < f.num_definitions(); i++) {
      const StageDef &s = f.stages[i];
      bool reader = any;
      for (const Expr &e : s.args) reader |= reads(e, func);
      for (const Expr &e : s.values) reader |= reads(e, func);
      if (reader && (f.name != func || any)) stages.push_back({f.name, i});
    }
  }
  if (stages.empty()) return {{func, 0}, ""};
  const auto stage = dice_.pick(stages);
  const auto &dims = dims_.at(stage);
  return {stage, dims.empty() ? "" : dice_.pick(dims)};
}

}  // namespace polyhalite::test
