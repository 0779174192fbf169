#include "test/support/random_algorithm.h"

#include <algorithm>
#include <functional>
#include <map>

#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/distribute.h"
#include "polyhalite/integer_functions.h"
#include "polyhalite/param.h"

namespace polyhalite::test {

namespace {

constexpr int kModulus = 61;  // values of wide integers stay in [0, kModulus) between stages

Expr call_image(const std::shared_ptr<ParameterContents> &p, std::vector<Expr> args) {
  auto n = std::make_shared<CallNode>(p->type, CallKind::Image, p->name, std::move(args));
  n->param = p;
  return Expr(std::shared_ptr<const ExprNode>(std::move(n)));
}

Expr reduction(const std::string &name) {
  return make_variable(Int(32), VariableKind::Reduction, name);
}
Expr clamped(Expr e, int low, Expr high) {
  return make_binary(Op::Max, make_binary(Op::Min, std::move(e), std::move(high)), Expr(low));
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
    if (dice_.chance(25)) {
      number_ = std::make_shared<ParameterContents>();
      number_->name = "n";
      number_->type = Int(32);
    }
  }

  Algorithm draw() {
    const int n = dice_.between(1, 5);
    for (int i = 0; i < n; i++) draw_func("f" + std::to_string(i), i == n - 1);
    algorithm_.outputs = {algorithm_.funcs.back().name};
    if (n > 1 && dice_.chance(15)) {
      algorithm_.outputs.push_back("f" + std::to_string(dice_.between(0, n - 2)));
    }
    drop_unused();
    if (used_in_) algorithm_.inputs.push_back({in_});
    if (used_table_) algorithm_.inputs.push_back({table_});
    if (number_) algorithm_.inputs.push_back({number_});
    return std::move(algorithm_);
  }

 private:
  Type any_type() {
    return dice_.pick<Type>({UInt(8), UInt(8), UInt(16), Int(8), Int(16), UInt(32), Int(32),
                             Int(32), Int(64), UInt(64), Float(32), Float(32), Float(64), Float(16),
                             BFloat(16), Bool()});
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
    if (kind < 82) {
      const Expr high(dice_.between(1, 9));
      return clamped(plus(v), 0,
                     number_ && dice_.chance(50) ? detail::parameter_value(number_) : high);
    }
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
    if (to.is_bool()) return make_binary(Op::Ne, e, make_int(from, 0));
    if (from.is_bool()) return make_cast(to, e);
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
    if (kind < 12) return make_int(t, dice_.between(0, t.is_bool() ? 1 : 9));
    if (kind < 22) {
      if (number_ && dice_.chance(30)) return convert(t, detail::parameter_value(number_));
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

  Expr truth(const std::vector<Expr> &vars, int depth) {
    const int kind = dice_.between(0, 99);
    auto sub = [&] { return value(Bool(), vars, depth - 1); };
    if (kind < 40) {
      const Type t = dice_.pick<Type>({UInt(8), Int(16), Int(32), Float(32)});
      return make_binary(dice_.pick<Op>({Op::Lt, Op::Le, Op::Eq, Op::Ne, Op::Gt, Op::Ge}),
                         leaf(t, vars), leaf(t, vars));
    }
    if (kind < 55) return make_binary(Op::And, sub(), sub());
    if (kind < 70) return make_binary(Op::Or, sub(), sub());
    if (kind < 85) return !sub();
    return make_select(sub(), sub(), sub());
  }

  Expr value(Type t, const std::vector<Expr> &vars, int depth) {
    if (depth == 0 || dice_.chance(15)) return leaf(t, vars);
    if (t.is_bool()) return truth(vars, depth);
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
    for (const std::string &a : f.args) vars.push_back(pure_variable(a));
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
    if (t.is_bool()) return make_binary(kind < 50 ? Op::Or : Op::And, self, e);
    // Sometimes with a factor that few of the variables are in: the others may find it invariant.
    const bool scaled = t.is_affine() && t.bits() > 1 && dice_.chance(40);
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
      const bool scan = kind >= 78;  // each cell of the one before it
      for (Expr &index : other) {
        const VariableNode *var = as_variable(index);
        if (is_const(index) && scan) continue;
        if (var && var->kind == VariableKind::Pure) continue;
        if (scan) {
          index = make_binary(Op::Sub, index, Expr(1));
        } else if (dice_.chance(70)) {
          index = make_binary(Op::Add, index, Expr(dice_.between(-2, 2)));
        }
      }
      if (scan) {
        e = make_binary(Op::Add, make_func_call(t, f.name, other, v),
                        t.is_affine() && !scaled ? limited(e) : e);
      } else {
        const int from = dice_.between(0, static_cast<int>(f.types.size()) - 1);
        Expr read = make_func_call(f.types[from], f.name, other, from);
        if (from != v) read = convert(t, read);
        e = finish(make_binary(dice_.chance(70) ? Op::Add : Op::Sub, read, e));
      }
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
    const bool whole = dice_.chance(20);  // each cell takes all terms in
    for (size_t d = 0; d < f.args.size(); d++) {
      const int kind = whole ? 0 : dice_.between(0, 99);
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
    if (!reductions.empty() && !scatters && dice_.chance(20)) draw_phases(f, s, reductions, vars);
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

  // Something else where a reduction variable has other values: a phase, or a triangle.
  void draw_phases(const FuncDef &f, StageDef &s, const std::vector<Expr> &reductions,
                   const std::vector<Expr> &vars) {
    const Expr r = dice_.pick(reductions);
    const Expr limit = reductions.size() > 1 && dice_.chance(30)
                           ? reductions[r.same_as(reductions[0]) ? 1 : 0]
                           : Expr(dice_.between(0, 4));
    const Expr condition =
        make_binary(dice_.pick(std::vector<Op>{Op::Eq, Op::Lt, Op::Ne}), r, limit);
    for (size_t v = 0; v < s.values.size(); v++) {
      if (dice_.chance(30)) continue;
      const Expr other = updated_value(f, static_cast<int>(v), s.args, vars);
      s.values[v] = make_select(condition, s.values[v], other);
    }
    for (Expr &index : s.args) {
      const VariableNode *var = as_variable(index);
      if ((var && var->kind == VariableKind::Pure) || dice_.chance(70)) continue;
      index = make_select(condition, index, make_binary(Op::Add, r, Expr(dice_.between(0, 2))));
    }
  }

  // Funcs that no output reaches would be dead weight; a pipeline has none.
  void drop_unused() {
    std::map<std::string, bool> live;
    for (const std::string &output : algorithm_.outputs) live[output] = true;
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
  std::shared_ptr<ParameterContents> number_;  // a scalar, in some algorithms
  bool used_in_ = false, used_table_ = false;
};

}  // namespace

Algorithm random_algorithm(Dice &dice, bool stencils) {
  return AlgorithmDraw(dice, stencils).draw();
}

}  // namespace polyhalite::test
