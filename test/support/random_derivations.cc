#include <algorithm>

#include "lang/ir/intrinsics.h"
#include "lang/simplify/distribute.h"
#include "lang/simplify/scan_update.h"
#include "schedule/derive_algorithm.h"
#include "schedule/fission.h"
#include "test/support/schedule_draw.h"

namespace polyhalite::test {

std::vector<ScheduleDraw::Stage> ScheduleDraw::with_invariants() const {
  std::vector<Stage> found;
  for (const FuncDef &f : algorithm_.funcs) {
    for (int s = 1; s < f.num_definitions(); s++) {
      std::string why;
      const auto terms = reduction_terms(f, s, constant_ranges(f, s, list_), &why);
      if (terms) found.push_back({f.name, s});
    }
  }
  return found;
}

bool ScheduleDraw::rewriting_directive(int kind) {
  const std::vector<Stage> hoistable = with_invariants();
  if (kind == 2 && hoistable.empty()) kind = dice_.between(0, 1);
  const FuncDef f =
      kind == 2 ? *algorithm_.find(dice_.pick(hoistable).first) : dice_.pick(algorithm_.funcs);
  int stage = dice_.between(0, f.num_definitions() - 1);
  while (kind == 2 && !std::count(hoistable.begin(), hoistable.end(), Stage{f.name, stage})) {
    stage = dice_.between(1, f.num_definitions() - 1);
  }
  const std::string made = f.name + "_made" + std::to_string(fresh_++);
  if (kind == 0) {
    std::vector<std::string> names;
    for (const FuncDef &g : algorithm_.funcs) {
      if (g.num_definitions() == 1 && g.name != f.name && dice_.chance(60)) {
        names.push_back(g.name);
      }
    }
    if (names.empty()) return false;
    add(DirectiveKind::EagerInline, f.name, stage, {}).funcs = std::move(names);
  } else if (kind == 1) {
    Directive &d = add(DirectiveKind::ChangeType, f.name, 0, {});
    d.type = dice_.pick<Type>({Int(64), Int(32), Int(16), UInt(16), Float(64), Float(32)});
    d.factors = {make_false()};
    d.makes = made;
  } else {
    Directive &d = add(DirectiveKind::HoistInvariants, f.name, stage, {});
    d.makes = made;
    std::string why;
    const auto terms = reduction_terms(f, stage, constant_ranges(f, stage, list_), &why);
    for (size_t i = 1; terms && i < terms->size(); i++) {
      d.makes_more.push_back(made + "_" + std::to_string(i));
    }
  }
  try {
    algorithm_ = derive_algorithm(original_, list_).algorithm;
  } catch (const CompileError &) {
    list_.pop_back();
    return false;
  }
  for (int s = 0; s < f.num_definitions(); s++) dims_.erase({f.name, s});
  std::vector<FuncDef> fresh;
  for (const FuncDef &g : algorithm_.funcs) {
    const bool is_made = g.name.rfind(made, 0) == 0;
    if (!is_made && g.name != f.name) continue;
    for (int s = 0; s < g.num_definitions(); s++) dims_[{g.name, s}] = initial(g, s);
    if (is_made) fresh.push_back(g);
  }
  for (const FuncDef &g : fresh) {
    if (dice_.chance(75)) place(g);
  }
  return true;
}

std::vector<ScheduleDraw::Stage> ScheduleDraw::stages_where(bool (*fits)(const FuncDef &,
                                                                         int)) const {
  std::vector<Stage> found;
  for (const FuncDef &f : algorithm_.funcs) {
    for (int s = 1; s < f.num_definitions(); s++) {
      if (fits(f, s)) found.push_back({f.name, s});
    }
  }
  return found;
}

std::vector<ScheduleDraw::Stage> ScheduleDraw::with_parts() const {
  return stages_where([](const FuncDef &f, int s) { return fission_parts(f, s).size() > 1; });
}

std::vector<ScheduleDraw::Stage> ScheduleDraw::scans() const {
  return stages_where([](const FuncDef &f, int s) { return prove_scan(f, s).has_value(); });
}

std::vector<ScheduleDraw::Stage> ScheduleDraw::updates() const {
  return stages_where([](const FuncDef &f, int s) { return !f.stages[s].rvars.empty(); });
}

void ScheduleDraw::fission_directive() {
  const bool wrong = mistakes_ && dice_.chance(50);
  const std::vector<Stage> fit = wrong ? updates() : with_parts();
  if (fit.empty()) return;
  const size_t before = list_.size();
  const Stage stage = dice_.pick(fit);
  std::vector<std::string> dims = dims_.at(stage);
  const std::string part = "rp" + std::to_string(fresh_++);
  const int at = dice_.between(0, static_cast<int>(dims.size()));
  std::vector<std::string> loops = {part};
  if (at < static_cast<int>(dims.size())) loops.insert(loops.begin(), dims[at]);
  add(DirectiveKind::Fission, stage.first, stage.second, std::move(loops));
  dims.insert(dims.begin() + at, part);
  if (derived_with(before, "", wrong)) dims_[stage] = std::move(dims);
}

void ScheduleDraw::scan_directive() {
  const bool wrong = mistakes_ && dice_.chance(50);
  const std::vector<Stage> fit = wrong ? updates() : scans();
  if (fit.empty()) return;
  const size_t before = list_.size();
  const Stage stage = dice_.pick(fit);
  const auto &[func, number] = stage;
  const std::string r = algorithm_.find(func)->stages[number].rvars[0].var;
  std::vector<std::string> dims = dims_.at(stage);
  const auto at = std::find(dims.begin(), dims.end(), r);
  if (at == dims.end()) return;
  const std::string n = std::to_string(fresh_++), outer = r + "o" + n, inner = r + "i" + n;
  add(DirectiveKind::Split, func, number, {r, outer, inner}).factors = {Expr(dice_.between(1, 4))};
  *at = outer;
  dims.insert(std::find(dims.begin(), dims.end(), outer), inner);
  const std::string made = func + "_made" + std::to_string(fresh_++);
  add(DirectiveKind::Scan, func, number, {outer, "u" + n}).makes = made;
  if (dice_.chance(60)) add(DirectiveKind::Parallel, func, number, {outer});
  if (derived_with(before, made, wrong)) dims_[stage] = std::move(dims);
}

bool ScheduleDraw::derived_with(size_t before, const std::string &made, bool keep_wrong) {
  try {
    algorithm_ = derive_algorithm(original_, list_).algorithm;
  } catch (const CompileError &) {
    if (!keep_wrong) list_.resize(before);
    return false;
  }
  const FuncDef *g = made.empty() ? nullptr : algorithm_.find(made);
  if (!g) return true;
  for (int s = 0; s < g->num_definitions(); s++) dims_[{made, s}] = initial(*g, s);
  if (dice_.chance(75)) place(FuncDef(*g));
  return true;
}

void ScheduleDraw::deriving_directive() {
  if (dice_.chance(45)) {
    for (int tries = 6; tries > 0 && !rewriting_directive(dice_.between(0, 2));) tries--;
    return;
  }
  const size_t before = list_.size();
  const FuncDef &f = dice_.pick(algorithm_.funcs);
  const std::string func = f.name, made = func + "_made" + std::to_string(fresh_++);
  const int stage = dice_.between(0, f.num_definitions() - 1);
  const int kind = dice_.between(0, 99);
  if (kind < 40 && !algorithm_.is_output(func)) {
    Directive &d = add(kind < 25 ? DirectiveKind::In : DirectiveKind::CloneIn, func, 0, {});
    d.makes = made;
    for (const FuncDef &g : algorithm_.funcs) {
      bool reader = false;
      for (const StageDef &s : g.stages) {
        for (const Expr &e : s.values) reader |= reads(e, func);
      }
      if (reader && g.name != func && dice_.chance(70)) d.consumers.push_back(g.name);
    }
    if (d.kind == DirectiveKind::CloneIn && d.consumers.empty()) d.consumers = {func};
  } else if (kind < 70 && stage > 0 && !f.stages[stage].rvars.empty()) {
    std::vector<std::string> loops;
    for (const ReductionVariable &r : f.stages[stage].rvars) {
      std::string loop = r.var;
      if (dice_.chance(40)) {
        Directive &d = add(DirectiveKind::Split, func, stage, {loop, loop + "o", loop + "i"});
        d.factors = {Expr(dice_.between(1, 4))};
        loop += dice_.chance(60) ? "o" : "i";
      }
      if (loops.empty() || dice_.chance(40)) {
        loops.insert(loops.end(), {loop, "u" + std::to_string(fresh_++)});
      }
    }
    add(DirectiveKind::Rfactor, func, stage, loops).makes = made;
  } else if (kind < 90) {
    const std::string buffer = algorithm_.find(algorithm_.outputs[0])->buffer_name(0);
    const Expr extent = make_variable(Int(32), VariableKind::BufferField, buffer + ".extent.0");
    const Expr condition =
        make_binary(dice_.pick<Op>({Op::Eq, Op::Gt, Op::Le}), extent, Expr(dice_.between(1, 12)));
    // Of a run that no branch serves nothing could be compared.
    const bool fails = dice_.chance(15);
    const Expr holds = make_binary(Op::Gt, extent, Expr(0));
    add(DirectiveKind::Specialize, func, stage, {}).factors = {fails ? holds : condition};
    branches_.push_back({func, stage, fails ? holds : condition, dims_.at({func, stage})});
    if (fails) {
      add(DirectiveKind::SpecializeFail, func, stage, {}).factors = {make_string("no branch")};
    }
  } else if (stage > 0) {
    add(DirectiveKind::Atomic, func, stage, {}).factors = {make_false()};
  }
  try {
    algorithm_ = derive_algorithm(original_, list_).algorithm;
  } catch (const CompileError &) {
    list_.resize(before);
    return;
  }
  for (const FuncDef &g : algorithm_.funcs) {
    if (g.name == made) {
      for (int s = 0; s < g.num_definitions(); s++) dims_[{made, s}] = initial(g, s);
      if (dice_.chance(75)) place(FuncDef(g));
    } else if (g.name == func) {
      dims_[{func, stage}] = initial(g, stage);
    }
  }
}

}  // namespace polyhalite::test
