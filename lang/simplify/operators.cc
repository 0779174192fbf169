#include "lang/simplify/operators.h"

#include <limits>

#include "lang/ir/intrinsics.h"

namespace polyhalite {

Expr Operator::apply(const Expr &a, const Expr &b) const {
  return intrinsic ? make_intrinsic(a.type(), intrinsic, {a, b}) : make_binary(op, a, b);
}

bool Operator::heads(const Expr &e) const {
  return intrinsic ? as_intrinsic(e, intrinsic) != nullptr : e->op == op;
}

void list_operands(Op op, const Expr &e, std::vector<Expr> &operands) {
  constexpr size_t kMaxOperands = 12;
  if (e->op == op && operands.size() < kMaxOperands) {
    list_operands(op, e->args[0], operands);
    list_operands(op, e->args[1], operands);
  } else {
    operands.push_back(e);
  }
}

Expr lowest_value(Type t) {
  if (t.is_float()) return make_float(t, -std::numeric_limits<double>::infinity());
  if (t.is_uint()) return make_zero(t);
  return make_int(
      t, t.bits() == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (t.bits() - 1)));
}

Expr highest_value(Type t) {
  if (t.is_float()) return make_float(t, std::numeric_limits<double>::infinity());
  if (t.is_bool()) return make_true();
  if (t.is_uint()) return make_int(t, t.bits() == 64 ? -1 : (int64_t{1} << t.bits()) - 1);
  return make_int(
      t, t.bits() == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (t.bits() - 1)) - 1);
}

std::optional<Operator> operator_of(const Expr &e) {
  switch (e->op) {
    case Op::Sub:
      return Operator{Op::Add};  // a - b = a + (0 - b)
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::And:
    case Op::Or:
      return Operator{e->op};
    default:
      break;
  }
  for (const char *name : {intrinsic::kBitwiseAnd, intrinsic::kBitwiseOr, intrinsic::kBitwiseXor}) {
    if (as_intrinsic(e, name)) return Operator{Op::Call, name};
  }
  // Of signed numbers, what stops at one end may come back.
  if (as_intrinsic(e, intrinsic::kSaturatingAdd) && e.type().is_uint()) {
    return Operator{Op::Call, intrinsic::kSaturatingAdd};
  }
  return std::nullopt;
}

Expr identity_of(const Operator &o, Type t) {
  if (o.intrinsic) {
    if (std::string(o.intrinsic) == intrinsic::kBitwiseAnd) {
      return t.is_uint() ? highest_value(t) : make_int(t, -1);
    }
    return make_zero(t);
  }
  switch (o.op) {
    case Op::Mul:
      return make_one(t);
    case Op::Min:
      return highest_value(t);
    case Op::Max:
      return lowest_value(t);
    case Op::And:
      return make_true();
    case Op::Or:
      return make_false();
    default:
      return make_zero(t);
  }
}

}  // namespace polyhalite
