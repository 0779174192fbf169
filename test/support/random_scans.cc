#include "test/support/random_scans.h"

#include <string>
#include <utility>
#include <vector>

#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/integer_functions.h"

namespace polyhalite::test {

namespace {

constexpr int kSmall = 7;  // operands are below

// Below kSmall, whatever the number is.
Expr small(const Expr &e, Type to) {
  const Type from = e.type();
  Expr number;
  if (from.is_bool()) {
    number = make_cast(Int(32), e);
  } else if (from.is_float()) {
    const Expr low = make_int(from, 0), high = make_int(from, kSmall - 1);
    number = make_cast(Int(32), make_binary(Op::Max, make_binary(Op::Min, e, high), low));
  } else {
    number = make_cast(Int(32), make_binary(Op::Mod, e, make_int(from, kSmall)));
  }
  if (to.is_bool()) return make_binary(Op::Gt, number, Expr(kSmall / 2));
  return make_cast(to, number);
}

class ScanDraw {
 public:
  ScanDraw(Dice &dice, Algorithm &algorithm, size_t func)
      : dice_(dice), algorithm_(algorithm), func_(func), f_(algorithm.funcs[func]) {}

  void draw() {
    StageDef first, scan;
    std::vector<Expr> vars;
    for (const std::string &a : f_.args) vars.push_back(pure_variable(a));
    first.args = vars;
    for (const Type t : f_.types) first.values.push_back(operand(t, vars));

    r_ = make_variable(Int(32), VariableKind::Reduction, "r0");
    scan.rvars.push_back({"r0", Expr(dice_.between(-1, 2)), Expr(dice_.between(1, 11))});
    const int moving = dice_.between(0, f_.dimensions() - 1);
    for (int d = 0; d < f_.dimensions(); d++) {
      if (d == moving) {
        scan.args.push_back(moved());
      } else {
        scan.args.push_back(dice_.chance(80) ? vars[d] : Expr(dice_.between(0, 3)));
      }
    }
    const Expr last = make_binary(Op::Sub, r_, Expr(dice_.chance(95) ? 1 : 2));
    for (const Expr &a : scan.args) before_.push_back(simplify(substitute("r0", last, a)));
    cell_ = scan.args;
    for (size_t v = 0; v < f_.types.size(); v++) scan.values.push_back(step(v));
    if (dice_.chance(5)) scan.predicate = make_binary(Op::Ne, r_, Expr(3));

    f_.stages = {std::move(first), std::move(scan)};
    algorithm_.funcs[func_] = std::move(f_);
  }

 private:
  Expr moved() {
    const int kind = dice_.between(0, 99);
    if (kind < 70) return r_;
    if (kind < 80) return make_binary(Op::Add, r_, Expr(dice_.between(1, 2)));
    if (kind < 90) return make_binary(Op::Sub, Expr(8), r_);
    return make_binary(Op::Mul, r_, Expr(2));
  }

  // A small number of variables and earlier Funcs.
  Expr operand(Type t, const std::vector<Expr> &vars) {
    const Expr &v = dice_.pick(vars);
    const Expr mixed =
        make_binary(Op::Add, make_binary(Op::Mul, v, Expr(dice_.between(1, 5))), dice_.pick(vars));
    if (func_ == 0 || dice_.chance(40)) return small(mixed, t);
    const FuncDef &g = algorithm_.funcs[dice_.between(0, static_cast<int>(func_) - 1)];
    std::vector<Expr> at;
    for (int d = 0; d < g.dimensions(); d++) {
      at.push_back(vars[static_cast<size_t>(d) % vars.size()]);
      if (dice_.chance(30)) at.back() = make_binary(Op::Add, at.back(), Expr(1));
    }
    const int value = dice_.between(0, static_cast<int>(g.types.size()) - 1);
    return small(make_func_call(g.types[value], g.name, at, value), t);
  }

  Expr call(const std::vector<Expr> &at, size_t v) const {
    return make_func_call(f_.types[v], f_.name, at, static_cast<int>(v));
  }

  // What value v of the cell becomes.
  Expr step(size_t v) {
    const Type t = f_.types[v];
    const Expr self = call(before_, v), e = operand(t, cell_);
    const int kind = dice_.between(0, 99);
    if (v > 0 && kind < 10) return call(cell_, v);  // it stays
    if (t.is_bool()) return make_binary(kind < 50 ? Op::Or : Op::And, self, e);
    if (kind < 35) return make_binary(dice_.chance(80) ? Op::Add : Op::Sub, self, e);
    if (kind < 45) {
      const Expr factor = make_binary(Op::Min, operand(t, cell_), make_int(t, 1));
      const Expr sum = make_binary(Op::Add, make_binary(Op::Mul, self, factor), e);
      if (!t.is_int_or_uint() || dice_.chance(60)) return sum;
      return make_binary(Op::Mod, sum, make_int(t, dice_.pick<int>({8, 16, 61})));
    }
    if (kind < 53) return make_binary(dice_.chance(50) ? Op::Min : Op::Max, self, e);
    if (kind < 60) return make_binary(Op::Add, call(cell_, v), self);
    if (kind < 66) {
      const Expr condition = make_binary(Op::Lt, r_, Expr(dice_.between(2, 6)));
      return make_select(condition, make_binary(Op::Add, self, e), self);
    }
    if (kind < 74) {
      const Expr sum = make_binary(dice_.chance(50) ? Op::Add : Op::Sub, self, e);
      return make_binary(Op::Max, make_binary(Op::Min, sum, make_int(t, 20)), make_int(t, 3));
    }
    if (kind < 79 && t.is_int_or_uint()) {
      return dice_.chance(50) ? saturating_add(self, e) : saturating_sub(self, e);
    }
    // Sums of sums, and halves, need more digits than the smallest floats have.
    const bool has_room = !t.is_float() || t.bits() > 16;
    if (kind < 92 && f_.types.size() > 1 && has_room) {
      const size_t from = dice_.between(0, static_cast<int>(f_.types.size()) - 1);
      Expr other = call(dice_.chance(60) ? before_ : cell_, from);
      if (f_.types[from] != t) other = small(other, t);
      return make_binary(Op::Add, make_binary(Op::Add, self, other), e);
    }
    const Expr before = has_room ? make_binary(Op::Div, self, make_int(t, 2)) : self;
    return make_binary(Op::Add, before, e);
  }

  Dice &dice_;
  Algorithm &algorithm_;
  const size_t func_;
  FuncDef f_;
  Expr r_;
  std::vector<Expr> cell_, before_;
};

}  // namespace

void add_scan(Dice &dice, Algorithm &algorithm) {
  std::vector<size_t> fit;
  for (size_t f = 0; f < algorithm.funcs.size(); f++) {
    const FuncDef &def = algorithm.funcs[f];
    if (def.dimensions() > 0 && !is_extern_stage(def.stages[0])) fit.push_back(f);
  }
  if (!fit.empty()) ScanDraw(dice, algorithm, dice.pick(fit)).draw();
}

}  // namespace polyhalite::test
