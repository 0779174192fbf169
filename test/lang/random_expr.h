// Random expressions over a few variables with known bounds.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"
#include "test/lang/evaluate.h"

namespace polyhalite::test {

struct RandomVariable {
  const char *name;
  Type type;
  int64_t min, max;
};

inline const std::vector<RandomVariable> &random_variables() {
  static const std::vector<RandomVariable> kVariables = {
      {"x", Int(32), -20, 40},  {"y", Int(32), 0, 7},      {"z", Int(32), -100, 100},
      {"n", Int(32), 1, 33},    {"l", Int(64), -50, 50},   {"a", UInt(8), 0, 255},
      {"b", UInt(8), 10, 20},   {"s", Int(16), -300, 300}, {"u", UInt(32), 0, 1000},
      {"c", Int(8), -128, 127}, {"f", Float(32), -8, 8},   {"d", Float(64), -8, 8},
      {"p", Bool(), 0, 1},      {"q", Bool(), 0, 1},
  };
  return kVariables;
}

inline VariableBounds random_variable_bounds() {
  VariableBounds bounds;
  for (const RandomVariable &v : random_variables()) {
    if (v.type.is_int_or_uint()) bounds[v.name] = {v.min, v.max};
  }
  return bounds;
}

class RandomExpr {
 public:
  explicit RandomExpr(uint32_t seed) : random_(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  Type pick_type() {
    static const Type kTypes[] = {Int(32), Int(32),  Int(32), Int(32),   Int(64),   UInt(8),
                                  Int(16), UInt(32), Int(8),  Float(32), Float(64), Bool()};
    return kTypes[pick(0, std::size(kTypes) - 1)];
  }

  Environment point() {
    Environment names;
    for (const RandomVariable &v : random_variables()) {
      Lane lane;
      lane.i = pick(v.min, v.max);
      // Quarters: sums stay exact often enough to meet zeros and equal values.
      lane.f = static_cast<double>(pick(4 * v.min, 4 * v.max)) / 4;
      names[v.name] = {lane};
    }
    return names;
  }

  Expr make(Type t, int depth) {
    if (depth <= 0) return leaf(t);
    if (t.is_vector()) return vector(t, depth);
    if (pick(0, 9) == 0) {
      // A shared operand.
      const Expr shared = make(t, depth - 2);
      return t.is_bool() ? make_binary(Op::And, shared, make_not(shared))
                         : make_binary(pick(0, 1) ? Op::Add : Op::Sub, shared, shared);
    }
    if (t.is_bool()) return boolean(t, depth);
    switch (pick(0, 11)) {
      case 0:
        return leaf(t);
      case 1:
        return make_select(make(Bool(), depth - 1), make(t, depth - 1), make(t, depth - 1));
      case 2:
        return make_cast(t, make(pick_type(), depth - 1));
      case 3:
        if (t.is_int_or_uint()) {
          const int64_t k = pick(1, 4) * (pick(0, 1) ? 4 : 1);
          return make_binary(pick(0, 1) ? Op::Div : Op::Mod, make(t, depth - 1), make_int(t, k));
        }
        break;
      case 4:
        if (t.is_int_or_uint()) {
          return make_binary(pick(0, 1) ? Op::Div : Op::Mod, make(t, depth - 1),
                             make(t, depth - 2));
        }
        break;
      case 5:
        return make_intrinsic(t, intrinsic::kLikely, {make(t, depth - 1)});
      case 6:
        if (t.is_affine()) {
          return make_intrinsic(t, intrinsic::kShiftRight,
                                {make(t, depth - 1), make_int(t, pick(0, 5))});
        }
        break;
      case 7: {
        const std::string name = "t" + std::to_string(pick(0, 2));
        const Type bound = pick_type();
        const Expr value = make(bound, depth - 2);
        lets_.push_back({name, bound});
        const Expr body = make(t, depth - 1);
        lets_.pop_back();
        return make_let(name, value, body);
      }
      default:
        break;
    }
    static const Op kOps[] = {Op::Add, Op::Sub, Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max};
    const Op op = kOps[pick(0, std::size(kOps) - 1)];
    const Expr left = make(t, depth - 1);
    const bool scales = op == Op::Mul && t.is_affine();
    return make_binary(op, left, scales ? make_int(t, pick(-4, 8)) : make(t, depth - 1));
  }

 private:
  Expr leaf(Type t) {
    if (t.is_vector()) return make_broadcast(leaf(t.element_of()), t.lanes());
    std::vector<Expr> names;
    for (const RandomVariable &v : random_variables()) {
      if (v.type == t) names.push_back(make_variable(t, VariableKind::Symbol, v.name));
    }
    for (size_t i = 0; i < lets_.size(); i++) {
      bool hidden = false;
      for (size_t j = i + 1; j < lets_.size(); j++) hidden |= lets_[j].name == lets_[i].name;
      if (!hidden && lets_[i].type == t) {
        names.push_back(make_variable(t, VariableKind::Symbol, lets_[i].name));
      }
    }
    if (names.empty() || pick(0, 3) == 0) {
      if (t.is_float()) return make_float(t, static_cast<double>(pick(-8, 8)) / 2);
      return make_int(t, t.is_bool() ? pick(0, 1) : t.is_uint() ? pick(0, 40) : pick(-40, 40));
    }
    return names[pick(0, static_cast<int64_t>(names.size()) - 1)];
  }

  Expr boolean(Type t, int depth) {
    static const Op kCompare[] = {Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge};
    switch (pick(0, 6)) {
      case 0:
        return make_not(make(t, depth - 1));
      case 1:
        return make_binary(Op::And, make(t, depth - 1), make(t, depth - 1));
      case 2:
        return make_binary(Op::Or, make(t, depth - 1), make(t, depth - 1));
      case 3:
        return make_select(make(t, depth - 1), make(t, depth - 1), make(t, depth - 1));
      default: {
        const Type operand =
            pick(0, 2) ? Type(Int(32, t.lanes())) : pick_type().with_lanes(t.lanes());
        return make_binary(kCompare[pick(0, 5)], make(operand, depth - 1),
                           make(operand, depth - 1));
      }
    }
  }

  Expr vector(Type t, int depth) {
    const Type e = t.element_of();
    if (e.is_bool() && pick(0, 2)) return boolean(t, depth);
    switch (pick(0, 7)) {
      case 0:
        return make_broadcast(make(e, depth - 1), t.lanes());
      case 1:
      case 2:
        if (!e.is_affine()) break;
        return make_ramp(make(e, depth - 1), pick(0, 3) ? make_int(e, pick(-3, 8)) : leaf(e),
                         t.lanes());
      case 3: {
        std::vector<int> lanes;
        const int64_t step = pick(0, 2), first = pick(0, t.lanes());
        for (int i = 0; i < t.lanes(); i++) {
          lanes.push_back(static_cast<int>((first + step * i) % (2 * t.lanes())));
        }
        return Expr(std::make_shared<ShuffleNode>(
            std::vector{make(t, depth - 1), make(t, depth - 1)}, lanes));
      }
      case 4:
        return make_cast(t, make(pick_type().with_lanes(t.lanes()), depth - 1));
      case 5:
        if (!e.is_affine()) break;
        return make_binary(pick(0, 1) ? Op::Div : Op::Mod, make(t, depth - 1),
                           make_int(t, int64_t{1} << pick(0, 4)));
      case 6:
        return make_select(make(Bool(t.lanes()), depth - 1), make(t, depth - 1),
                           make(t, depth - 1));
      default:
        break;
    }
    if (e.is_bool()) return boolean(t, depth);
    static const Op kOps[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max};
    return make_binary(kOps[pick(0, 4)], make(t, depth - 1), make(t, depth - 1));
  }

  struct LetName {
    std::string name;
    Type type;
  };
  std::mt19937 random_;
  std::vector<LetName> lets_;
};

}  // namespace polyhalite::test
