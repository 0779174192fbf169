#include "test/support/random_pipeline.h"

#include <algorithm>
#include <functional>
#include <map>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/integer_functions.h"
#include "polyhalite/error.h"
#include "lang/language/stream_rules.h"
#include "lang/simplify/distribute.h"
#include "schedule/derive_algorithm.h"

namespace polyhalite::test {

namespace {

constexpr int kModulus = 61;  // values of wide integers stay in [0, kModulus) between stages

Expr call_image(const std::shared_ptr<ParameterContents> &p, std::vector<Expr> args) {
  auto n = std::make_shared<CallNode>(p->type, CallKind::Image, p->name, std::move(args));
  n->param = p;
  return Expr(std::shared_ptr<const ExprNode>(std::move(n)));
}

Expr pure(const std::string &name) { return make_variable(Int(32), VariableKind::Pure, name); }
Expr reduction(const std::string &name) {
  return make_variable(Int(32), VariableKind::Reduction, name);
}
Expr clamped(Expr e, int low, int high) {
  return make_binary(Op::Max, make_binary(Op::Min, std::move(e), Expr(high)), Expr(low));
}

class AlgorithmDraw {
 public:
  AlgorithmDraw(Dice &dice, bool stencils) : dice_(dice), stencils_(stencils) {
    in_ = std::make_shared<ParameterContents>();
    in_->name = "in";
    in_->type = any_type();
    in_->is_buffer = true;
    in_->dimensions = 2;
    in_->dims.resize(2);
    table_ = std::make_shared<ParameterContents>();
    table_->name = "table";
    table_->type = UInt(8);
    table_->is_buffer = true;
    table_->dimensions = 1;
    table_->dims.resize(1);
  }

  Algorithm draw() {
    const int n = dice_.between(1, 5);
    for (int i = 0; i < n; i++) draw_func("f" + std::to_string(i), i == n - 1);
    drop_unused();
    algorithm_.outputs = {algorithm_.funcs.back().name};
    if (used_in_) algorithm_.inputs.push_back({in_});
    if (used_table_) algorithm_.inputs.push_back({table_});
    return std::move(algorithm_);
  }

 private:
  Type any_type() {
    return dice_.pick<Type>({UInt(8), UInt(8), UInt(16), Int(8), Int(16), UInt(32), Int(32),
                             Int(32), Int(64), UInt(64), Float(32), Float(32), Float(64), Float(16),
                             BFloat(16)});
  }

  Expr index(const std::vector<Expr> &vars, size_t prefer) {
    Expr v =
        dice_.chance(stencils_ ? 97 : 85) && prefer < vars.size() ? vars[prefer] : dice_.pick(vars);
    const int offset = dice_.between(-2, 2);
    auto plus = [&](Expr e) {
      return offset == 0 ? e : make_binary(Op::Add, std::move(e), Expr(offset));
    };
    const int kind = stencils_ ? dice_.between(0, 78) : dice_.between(0, 99);
    if (kind < 68) return plus(v);
    if (kind < 73) return plus(make_binary(Op::Mul, v, Expr(dice_.pick<int>({2, 3, -1}))));
    if (kind < 79) return plus(make_binary(Op::Div, v, Expr(dice_.between(2, 4))));
    if (kind < 82) return clamped(plus(v), 0, dice_.between(1, 9));
    if (kind < 83) return plus(half(v));
    if (kind < 86) return plus(make_binary(Op::Mod, v, Expr(dice_.between(2, 5))));
    if (kind < 90) return plus(make_binary(Op::Add, v, dice_.pick(vars)));
    if (kind < 93) return Expr(dice_.between(0, 4));
    if (kind < 96) {
      used_table_ = true;
      const Expr loaded = call_image(table_, {clamped(v, 0, 12)});
      return clamped(make_cast(Int(32), loaded), 0, dice_.between(1, 7));
    }
    return plus(make_binary(Op::Min, v, Expr(dice_.between(0, 6))));
  }

  // By way of floats, in which it is exact.
  static Expr half(const Expr &v) {
    const Expr scaled = make_binary(Op::Mul, make_cast(Float(32), v), make_float(Float(32), 0.5));
    return make_cast(Int(32), make_math(Float(32), "floor", {scaled}));
  }

  std::vector<Expr> indices(const std::vector<Expr> &vars, int dimensions) {
    std::vector<Expr> r;
    for (int d = 0; d < dimensions; d++) r.push_back(index(vars, d));
    return r;
  }

  // Into range: wide signed integers must not overflow, floats must stay small and exact enough.
  Expr reduce_range(Expr e) {
    const Type t = e.type();
    if (t.is_affine()) return make_binary(Op::Mod, e, make_int(t, kModulus));
    return e;
  }

  Expr convert(Type to, Expr e) {
    const Type from = e.type();
    if (from == to) return e;
    if (from.is_float() && !to.is_float()) {
      const Expr low = make_int(from, 0), high = make_int(from, 60);
      e = make_cast(Int(32), make_binary(Op::Max, make_binary(Op::Min, e, high), low));
      return make_cast(to, e);
    }
    if (to.is_float() || to.is_affine()) e = make_cast(Int(32), limited(e));
    return make_cast(to, e);
  }

  // A value of at most kModulus in magnitude, before it enters a wider type.
  Expr limited(const Expr &e) { return make_binary(Op::Mod, e, make_int(e.type(), kModulus)); }

  Expr leaf(Type t, const std::vector<Expr> &vars) {
    const int kind = dice_.between(0, 99);
    if (kind < 12) return make_int(t, dice_.between(0, 9));
    if (kind < 22) {
      return convert(t, make_binary(Op::Mod, dice_.pick(vars), Expr(kModulus)));
    }
    if (kind < 45 || algorithm_.funcs.empty()) {
      used_in_ = true;
      Expr e = call_image(in_, indices(vars, 2));
      return in_->type == t && t.is_affine() ? limited(e) : convert(t, e);
    }
    // Recent Funcs more often, so that chains get long.
    const int last = static_cast<int>(algorithm_.funcs.size()) - 1;
    const FuncDef &f = algorithm_.funcs[dice_.chance(60) ? last : dice_.between(0, last)];
    const int v = dice_.between(0, static_cast<int>(f.types.size()) - 1);
    Expr e = make_func_call(f.types[v], f.name, indices(vars, f.dimensions()), v);
    return f.types[v] == t && t.is_affine() ? limited(e) : convert(t, e);
  }

  Expr value(Type t, const std::vector<Expr> &vars, int depth) {
    if (depth == 0 || dice_.chance(15)) return leaf(t, vars);
    const int kind = dice_.between(0, 99);
    auto sub = [&] { return value(t, vars, depth - 1); };
    if (kind < 40) return make_binary(Op::Add, sub(), sub());
    if (kind < 52) return make_binary(Op::Sub, sub(), sub());
    if (kind < 62) return make_binary(Op::Mul, leaf(t, vars), make_int(t, dice_.between(1, 5)));
    if (kind < 72) return make_binary(Op::Min, sub(), sub());
    if (kind < 80) return make_binary(Op::Max, sub(), sub());
    if (kind < 85 && t.is_int_or_uint()) return integer_function(sub(), sub());
    if (kind < 90 && !t.is_float()) {
      return make_binary(dice_.chance(50) ? Op::Div : Op::Mod, sub(),
                         dice_.chance(80) ? make_int(t, dice_.between(1, 7)) : sub());
    }
    const Op compare = dice_.pick<Op>({Op::Lt, Op::Le, Op::Eq, Op::Ne, Op::Gt, Op::Ge});
    return make_select(make_binary(compare, leaf(t, vars), leaf(t, vars)), sub(), sub());
  }

  Expr integer_function(const Expr &a, const Expr &b) {
    const Type t = a.type();
    const int kind = dice_.between(0, 9);
    const Expr places = make_int(t, dice_.between(0, 6));
    switch (kind) {
      case 0:
        return saturating_add(a, b);
      case 1:
        return saturating_sub(a, b);
      case 2:
        return halving_add(a, b);
      case 3:
        return rounding_halving_add(a, b);
      case 4:
        return count_leading_zeros(a);
      case 5:
        return popcount(a) + count_trailing_zeros(b);
      case 6:
        return rounding_shift_right(a, places);
      case 7:
        return t.bits() <= 32 ? mul_shift_right(a, b, t.bits() - dice_.between(0, 2)) : a & b;
      case 8:
        return t.bits() <= 32 ? lerp(a, b, cast<uint8_t>(b)) : a ^ b;
      default:
        return div_round_to_zero(a, places);
    }
  }

  Expr finish(Expr e) {
    if (e.type().is_float()) return make_intrinsic(e.type(), intrinsic::kStrictFloat, {e});
    return reduce_range(e);
  }

  void draw_func(const std::string &name, bool last) {
    FuncDef f;
    f.name = name;
    const int dimensions = last || stencils_ ? 2 : dice_.between(1, 3);
    const std::vector<std::string> names = {"x", "y", "z"};
    f.args.assign(names.begin(), names.begin() + dimensions);
    const int values = dice_.chance(25) ? dice_.between(2, 3) : 1;
    for (int v = 0; v < values; v++) f.types.push_back(any_type());
    std::vector<Expr> vars;
    for (const std::string &a : f.args) vars.push_back(pure(a));
    StageDef s;
    s.args = vars;
    for (const Type t : f.types) s.values.push_back(finish(value(t, vars, dice_.between(1, 3))));
    f.stages.push_back(s);
    const int updates = !stencils_ && dice_.chance(45) ? dice_.between(1, 2) : 0;
    for (int u = 0; u < updates; u++) draw_update(f, vars);
    algorithm_.funcs.push_back(f);
  }

  // Value v of an update of f at `cell`.
  Expr updated_value(const FuncDef &f, int v, const std::vector<Expr> &cell,
                     const std::vector<Expr> &vars) {
    const Type t = f.types[v];
    const Expr self = make_func_call(t, f.name, cell, v);
    const int kind = dice_.between(0, 99);
    Expr e = value(t, vars, 1);
    // Sometimes with a factor that few of the variables are in: the others may find it invariant.
    const bool scaled = t.is_affine() && t.bits() > 1 && dice_.chance(25);
    if (scaled) {
      e = make_binary(Op::Mul, convert(t, make_binary(Op::Mod, dice_.pick(cell), Expr(5))),
                      limited(e));
    }
    if (kind < 40) {
      e = make_binary(Op::Add, self, t.is_affine() && !scaled ? limited(e) : e);
    } else if (kind < 60) {
      e = make_binary(dice_.chance(50) ? Op::Min : Op::Max, self, e);
    } else if (kind < 85) {
      // A scan or a stencil on itself: other cells, shifted along reduction variables, and of
      // several values maybe another one.
      std::vector<Expr> other = cell;
      for (Expr &index : other) {
        const VariableNode *var = as_variable(index);
        if (!(var && var->kind == VariableKind::Pure) && dice_.chance(70)) {
          index = make_binary(Op::Add, index, Expr(dice_.between(-2, 2)));
        }
      }
      const int from = dice_.between(0, static_cast<int>(f.types.size()) - 1);
      Expr read = make_func_call(f.types[from], f.name, other, from);
      if (from != v) read = convert(t, read);
      e = finish(make_binary(dice_.chance(70) ? Op::Add : Op::Sub, read, e));
    }
    return t.is_float() ? finish(e) : e;
  }

  void draw_update(FuncDef &f, const std::vector<Expr> &pure_vars) {
    StageDef s;
    const int rvars = dice_.between(0, 2);
    std::vector<Expr> reductions;
    for (int r = 0; r < rvars; r++) {
      const std::string name = "r" + std::to_string(r);
      s.rvars.push_back({name, Expr(dice_.between(0, 2)), Expr(dice_.between(1, 6))});
      reductions.push_back(reduction(name));
    }
    // The cell: pure variables in their places, reduction variables or constants elsewhere.
    std::vector<Expr> vars = reductions;
    for (size_t d = 0; d < f.args.size(); d++) {
      const int kind = dice_.between(0, 99);
      if (reductions.empty() ? kind < 75 : kind < 45) {
        s.args.push_back(pure_vars[d]);
        vars.push_back(pure_vars[d]);
      } else if (reductions.empty()) {
        s.args.push_back(Expr(dice_.between(0, 3)));
      } else if (kind < 85) {
        const Expr r = dice_.pick(reductions);
        s.args.push_back(dice_.chance(70) ? r : make_binary(Op::Add, r, Expr(dice_.between(0, 2))));
      } else {
        used_table_ = true;
        s.args.push_back(clamped(make_cast(Int(32), call_image(table_, {dice_.pick(reductions)})),
                                 0, dice_.between(1, 6)));
      }
    }
    if (vars.empty()) vars.push_back(Expr(dice_.between(0, 3)));
    // Sometimes two cells at once.
    std::vector<Expr> second = s.args;
    for (size_t d = 0; d < second.size() && f.args.size() > 1 && dice_.chance(12); d++) {
      const VariableNode *var = as_variable(second[d]);
      if (var && var->kind == VariableKind::Pure) continue;
      second[d] = make_binary(Op::Add, second[d], Expr(dice_.between(0, 3)));
    }
    const bool scatters =
        !equal(make_intrinsic(Int(32), "cell", second), make_intrinsic(Int(32), "cell", s.args));
    for (size_t v = 0; v < f.types.size(); v++) {
      // Of several values, some stay as they are.
      if (v > 0 && dice_.chance(30)) {
        const Expr kept = make_func_call(f.types[v], f.name, s.args, static_cast<int>(v));
        s.values.push_back(
            scatters ? make_intrinsic(
                           f.types[v], intrinsic::kScatterGather,
                           {kept, make_func_call(f.types[v], f.name, second, static_cast<int>(v))})
                     : kept);
        continue;
      }
      Expr e = updated_value(f, static_cast<int>(v), s.args, vars);
      if (scatters && dice_.chance(70)) {
        const Expr other = updated_value(f, static_cast<int>(v), second, vars);
        e = make_intrinsic(e.type(), intrinsic::kScatterGather, {e, other});
      }
      s.values.push_back(e);
    }
    if (scatters) {
      for (size_t d = 0; d < s.args.size(); d++) {
        if (equal(s.args[d], second[d])) continue;
        s.args[d] = make_intrinsic(Int(32), intrinsic::kScatterGather, {s.args[d], second[d]});
      }
    }
    if (!reductions.empty() && dice_.chance(15)) {
      s.predicate = make_binary(Op::Le, reductions[0],
                                reductions.size() > 1 ? reductions[1] : Expr(dice_.between(0, 4)));
    }
    f.stages.push_back(s);
  }

  // Funcs that the last one never reaches would be dead weight; a pipeline has none.
  void drop_unused() {
    std::map<std::string, bool> live = {{algorithm_.funcs.back().name, true}};
    std::function<void(const Expr &)> mark = [&](const Expr &e) {
      if (!e.defined()) return;
      if (const CallNode *c = as_call(e); c && c->kind == CallKind::Func) live[c->name] = true;
      for (const Expr &a : e->args) mark(a);
    };
    used_in_ = used_table_ = false;
    std::function<void(const Expr &)> mark_images = [&](const Expr &e) {
      if (!e.defined()) return;
      if (const CallNode *c = as_call(e); c && c->kind == CallKind::Image) {
        (c->name == "in" ? used_in_ : used_table_) = true;
      }
      for (const Expr &a : e->args) mark_images(a);
    };
    std::vector<FuncDef> kept;
    for (auto f = algorithm_.funcs.rbegin(); f != algorithm_.funcs.rend(); ++f) {
      if (!live[f->name]) continue;
      for (const StageDef &s : f->stages) {
        for (const auto *list : {&s.args, &s.values}) {
          for (const Expr &e : *list) mark(e), mark_images(e);
        }
      }
      kept.push_back(*f);
    }
    algorithm_.funcs.assign(kept.rbegin(), kept.rend());
  }

  Dice &dice_;
  const bool stencils_;  // chains of stencils, for sliding windows
  Algorithm algorithm_;
  std::shared_ptr<ParameterContents> in_, table_;
  bool used_in_ = false, used_table_ = false;
};

class ScheduleDraw {
 public:
  ScheduleDraw(Dice &dice, const Algorithm &a, bool windows)
      : dice_(dice), original_(a), algorithm_(a), windows_(windows) {
    for (const FuncDef &f : a.funcs) {
      for (size_t s = 0; s < f.stages.size(); s++) dims_[{f.name, int(s)}] = initial(f, int(s));
    }
  }

  std::vector<Directive> draw() {
    if (dice_.chance(35)) {
      for (int i = dice_.between(1, 2); i > 0; i--) deriving_directive();
    }
    if (windows_) {
      for (int i = dice_.between(0, 2); i > 0; i--) loop_directive();
      for (const FuncDef &f : algorithm_.funcs) place_window(f);
      for (int i = dice_.between(0, 3); i > 0; i--) loop_directive();
      for (int i = dice_.between(0, 2); i > 0; i--) storage_directive();
      return std::move(list_);
    }
    for (const FuncDef &f : algorithm_.funcs) {
      if (!algorithm_.is_output(f.name) && dice_.chance(75)) place(f);
    }
    const int n = dice_.between(0, 8);
    for (int i = 0; i < n; i++) loop_directive();
    if (dice_.chance(20)) share_loops();
    // Levels name loops that exist by now.
    for (const FuncDef &f : algorithm_.funcs) {
      if (!algorithm_.is_output(f.name) && dice_.chance(35)) place(f);
    }
    for (int i = dice_.chance(60) ? dice_.between(1, 3) : 0; i > 0; i--) storage_directive();
    return std::move(list_);
  }

 private:
  static std::vector<std::string> initial(const FuncDef &f, int stage) {
    std::vector<std::string> dims;
    const StageDef &s = f.stages[stage];
    for (const ReductionVariable &r : s.rvars) dims.push_back(r.var);
    for (size_t d = 0; d < f.args.size(); d++) {
      const VariableNode *v = as_variable(s.args[d]);
      if (v && v->kind == VariableKind::Pure && v->name == f.args[d]) dims.push_back(f.args[d]);
    }
    return dims;
  }

  Directive &add(DirectiveKind kind, const std::string &func, int stage,
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

  void place(const FuncDef &f) {
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

  // Two stages with equal outer loops, both at root.
  void share_loops() {
    std::vector<std::pair<std::string, int>> stages;
    for (const auto &[stage, dims] : dims_) {
      if (!dims.empty()) stages.push_back(stage);
    }
    const auto leader = dice_.pick(stages), follower = dice_.pick(stages);
    for (const auto &s : {leader, follower}) {
      if (!algorithm_.is_output(s.first)) add(DirectiveKind::ComputeRoot, s.first, 0, {});
    }
    const std::string loop =
        dims_.at(leader)[dice_.between(std::max(0, static_cast<int>(dims_.at(leader).size()) - 2),
                                       static_cast<int>(dims_.at(leader).size()) - 1)];
    Directive &d = add(DirectiveKind::ComputeWith, follower.first, follower.second, {loop});
    d.target_func = leader.first;
    d.target_stage = leader.second;
    if (dice_.chance(60)) {
      d.loops.push_back(loop);
      d.aligns = {
          dice_.pick<LoopAlignStrategy>({LoopAlignStrategy::AlignStart, LoopAlignStrategy::AlignEnd,
                                         LoopAlignStrategy::NoAlign})};
    }
  }

  // Memory for its storages, taken further outside.
  void hoist(const FuncDef &f) {
    const auto outer = random_loop(f.name);
    if (dice_.chance(50) || outer.second.empty()) {
      add(DirectiveKind::HoistStorageRoot, f.name, 0, {});
    } else {
      Directive &d = add(DirectiveKind::HoistStorage, f.name, 0, {outer.second});
      d.target_func = outer.first.first;
      d.target_stage = outer.first.second;
    }
    if (dice_.chance(40)) {
      add(DirectiveKind::RingBuffer, f.name, 0, {}).factors = {Expr(dice_.between(1, 3))};
    }
  }

  // eager_inline, change_type or hoist_invariants; what cannot be is taken back, and false is
  // returned.
  bool rewriting_directive() {
    const int kind = dice_.between(0, 2);
    std::vector<FuncDef> funcs;
    for (const FuncDef &f : algorithm_.funcs) {
      if (kind < 2 || f.num_definitions() > 1) funcs.push_back(f);
    }
    if (funcs.empty()) return false;
    const FuncDef f = dice_.pick(funcs);
    const int stage = dice_.between(kind < 2 ? 0 : 1, f.num_definitions() - 1);
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

  // in, clone_in, rfactor, specialize or atomic; what cannot be is taken back.
  void deriving_directive() {
    if (dice_.chance(45)) {
      for (int tries = 6; tries > 0 && !rewriting_directive();) tries--;
      return;
    }
    const size_t before = list_.size();
    const FuncDef &f = dice_.pick(algorithm_.funcs);
    const std::string func = f.name, made = func + "_made" + std::to_string(fresh_++);
    const int stage = dice_.between(0, f.num_definitions() - 1);
    const int kind = dice_.between(0, 99);
    if (kind < 40 && !algorithm_.is_output(func)) {
      Directive &d =
          add(kind < 25 ? DirectiveKind::In : DirectiveKind::CloneIn, func, 0, {});
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
      const Expr extent =
          make_variable(Int(32), VariableKind::BufferField, buffer + ".extent.0");
      const Expr condition = make_binary(dice_.pick<Op>({Op::Eq, Op::Gt, Op::Le}), extent,
                                         Expr(dice_.between(1, 12)));
      add(DirectiveKind::Specialize, func, stage, {}).factors = {condition};
      branches_.push_back({func, stage, condition, dims_.at({func, stage})});
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

  // Computed at a loop of the output, stored at one outside of it.
  void place_window(const FuncDef &f) {
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

  static bool reads(const Expr &e, const std::string &func) {
    if (!e.defined()) return false;
    const CallNode *c = as_call(e);
    if (c && c->kind == CallKind::Func && c->name == func) return true;
    return std::any_of(e->args.begin(), e->args.end(),
                       [&](const Expr &a) { return reads(a, func); });
  }

  // A loop where `func` could be computed: mostly one of a stage that reads it.
  std::pair<std::pair<std::string, int>, std::string> random_loop(const std::string &func) {
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

  void loop_directive() {
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

  void loop_directive(const std::string &func, int stage, std::vector<std::string> &dims) {
    if (dims.empty()) return;
    const int kind = dice_.between(0, 99);
    const std::string dim = dice_.chance(2) ? "nowhere" : dice_.pick(dims);
    const auto at = std::find(dims.begin(), dims.end(), dim);
    if (kind < 40) {
      const std::string n = std::to_string(fresh_++);
      const std::string outer = dim + "o" + n, inner = dim + "i" + n;
      Directive &d = add(DirectiveKind::Split, func, stage, {dim, outer, inner});
      d.factors = {Expr(dice_.chance(2) ? 0 : dice_.between(1, 6))};
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
      add(DirectiveKind::Fuse, func, stage, {dims[i], dims[i + 1], fused});
      dims[i] = fused;
      dims.erase(dims.begin() + static_cast<long>(i) + 1);
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
      add(dice_.pick(kinds), func, stage, {dim});
      if (dice_.chance(10)) {
        add(DirectiveKind::Partition, func, stage, {dim}).option =
            dice_.pick<std::string>({"Never", "Auto"});
      }
      if (dice_.chance(15)) stream(func, stage);
    }
  }

  void stream(const std::string &func, int stage) {
    const FuncDef *f = algorithm_.find(func);
    if (f && stage < f->num_definitions() && !why_not_streamed(*f, stage) && dice_.chance(60)) {
      add(DirectiveKind::StreamStores, func, stage, {});
    } else {
      Directive &d = add(DirectiveKind::StreamLoads, func, stage, {});
      if (dice_.chance(50)) d.funcs = {"in"};
    }
  }

  // How a Func is stored, and over what it is computed.
  void storage_directive() {
    const FuncDef &f = dice_.pick(algorithm_.funcs);
    const std::string dim = dice_.pick(f.args);
    switch (dice_.between(0, 8)) {
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
        add(DirectiveKind::AlignBounds, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 5)),
                                                                     Expr(dice_.between(-1, 4))};
        return;
      case 6:
        add(DirectiveKind::AlignExtent, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 5))};
        return;
      case 7:
        add(DirectiveKind::BoundExtent, f.name, 0, {dim}).factors = {Expr(dice_.between(1, 20))};
        return;
      default:
        prefetch(f);
    }
  }

  // Of what stage 0 of f reads, at a loop of it.
  void prefetch(const FuncDef &f) {
    const auto &dims = dims_.at({f.name, 0});
    std::vector<std::string> targets = {"in"};
    for (const FuncDef &g : algorithm_.funcs) {
      if (reads(f.stages[0].values[0], g.name)) targets.push_back(g.name);
    }
    const int at = dice_.between(0, static_cast<int>(dims.size()) - 1);
    Directive &d = add(DirectiveKind::Prefetch, f.name, 0,
                       {dims[at], dims[dice_.between(at, static_cast<int>(dims.size()) - 1)]});
    d.factors = {Expr(dice_.between(-1, 3))};
    d.target_func = dice_.pick(targets);
    d.option = dice_.pick<std::string>({"Clamp", "GuardWithIf", "NonFaulting"});
  }

  Dice &dice_;
  const Algorithm &original_;
  Algorithm algorithm_;  // with what directives have made of it
  const bool windows_;
  std::map<std::pair<std::string, int>, std::vector<std::string>> dims_;  // innermost first
  struct Branch {
    std::string func;
    int stage;
    Expr condition;
    std::vector<std::string> dims;
  };
  std::vector<Branch> branches_;
  std::vector<Directive> list_;
  int fresh_ = 0;
};

// What images hold may differ between runs, unless the program says that it does not.
class TagImages : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Image) return r;
    return make_intrinsic(r.type(), intrinsic::kMemoizeTag, {r, Expr(0)});
  }
};

// Some Funcs are kept between runs.
void memoize_some(FrozenPipeline &p, Dice &dice) {
  if (dice.chance(60)) {  // a schedule of nothing else, which is seldom refused
    p.directives.clear();
    for (const FuncDef &f : p.algorithm.funcs) {
      if (p.algorithm.is_output(f.name) || dice.chance(30)) continue;
      Directive d;
      d.kind = DirectiveKind::ComputeRoot;
      d.func = f.name;
      d.where = {"memoize", 0};
      d.order = p.directives.size();
      p.directives.push_back(std::move(d));
    }
  }
  TagImages tag;
  for (FuncDef &f : p.algorithm.funcs) {
    for (StageDef &s : f.stages) {
      for (Expr &e : s.args) e = tag(e);
      for (Expr &e : s.values) e = tag(e);
      if (s.predicate.defined()) s.predicate = tag(s.predicate);
    }
    auto has = [&](std::initializer_list<DirectiveKind> kinds) {
      return std::any_of(p.directives.begin(), p.directives.end(), [&](const Directive &d) {
        return d.func == f.name && std::count(kinds.begin(), kinds.end(), d.kind) > 0;
      });
    };
    if (p.algorithm.is_output(f.name) || !dice.chance(70)) continue;
    if (!has({DirectiveKind::ComputeRoot, DirectiveKind::ComputeAt})) continue;
    // What cannot be kept is left out mostly: it is refused at once.
    if (dice.chance(90) &&
        has({DirectiveKind::StoreRoot, DirectiveKind::StoreAt, DirectiveKind::HoistStorage,
             DirectiveKind::HoistStorageRoot, DirectiveKind::FoldStorage,
             DirectiveKind::ComputeWith})) {
      continue;
    }
    Directive d;
    d.kind = DirectiveKind::Memoize;
    d.func = f.name;
    if (dice.chance(20)) d.factors.push_back(Expr(dice.between(1, 3)));
    d.where = {"memoize", 1};
    d.order = p.directives.size();
    p.directives.push_back(std::move(d));
  }
}

void draw_trace(Dice &dice, FrozenPipeline &p) {
  for (const FuncDef &f : p.algorithm.funcs) {
    auto add = [&](DirectiveKind kind) {
      Directive d;
      d.kind = kind;
      d.func = f.name;
      p.directives.push_back(std::move(d));
    };
    if (dice.chance(60)) add(DirectiveKind::TraceRealizations);
    if (dice.chance(60)) add(DirectiveKind::TraceStores);
    if (dice.chance(60)) add(DirectiveKind::TraceLoads);
  }
}

}  // namespace

RandomPipeline random_pipeline(uint64_t seed) {
  Dice dice(seed * 0x9e3779b97f4a7c15ull + 12345);
  RandomPipeline p;
  const bool stencils = dice.chance(30);
  const bool windows = stencils && dice.chance(70);
  p.frozen.algorithm = AlgorithmDraw(dice, stencils).draw();
  p.frozen.directives = ScheduleDraw(dice, p.frozen.algorithm, windows).draw();
  Dice kept(seed + 4711);
  if (kept.chance(30)) memoize_some(p.frozen, kept);
  for (int d = 0; d < p.frozen.algorithm.funcs.back().dimensions(); d++) {
    p.output_min.push_back(dice.between(-2, 3));
    p.output_extent.push_back(dice.between(1, 11));
  }
  if (dice.chance(20)) draw_trace(dice, p.frozen);
  return p;
}

}  // namespace polyhalite::test
