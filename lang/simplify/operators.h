// operators: the associative operators of single values, and what operators of several are written
// with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

/// Value i of the left and of the right operand.
inline std::string left_symbol(size_t i) { return "left." + std::to_string(i); }
inline std::string right_symbol(size_t i) { return "right." + std::to_string(i); }
inline Expr left_operand(Type t, size_t i) {
  return make_variable(t, VariableKind::Symbol, left_symbol(i));
}
inline Expr right_operand(Type t, size_t i) {
  return make_variable(t, VariableKind::Symbol, right_symbol(i));
}

/// Adds what `op` joins in `e`, from left to right; a long list's last operand is a rest.
void list_operands(Op op, const Expr &e, std::vector<Expr> &operands);

/// The least and the greatest value of a type; of floats the infinities.
Expr lowest_value(Type t);
Expr highest_value(Type t);

/// An operator of two scalars: a node or an intrinsic.
struct Operator {
  Op op;
  const char *intrinsic = nullptr;

  Expr apply(const Expr &a, const Expr &b) const;
  /// Is it the one that e applies?
  bool heads(const Expr &e) const;
};

/// The operator that e applies, if it is associative and commutative; a - b counts as a + (0 - b).
std::optional<Operator> operator_of(const Expr &e);
/// What leaves others as they are.
Expr identity_of(const Operator &o, Type t);

/// `e` with `names`' expressions in the places of the ones that they stand for.
template <typename Names>
Expr replace_nodes(const Expr &e, const Names &names) {
  const auto it = names.find(e);
  if (it != names.end()) return it->second;
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  for (const Expr &a : e->args) args.push_back(replace_nodes(a, names));
  return with_args(e, std::move(args));
}

}  // namespace polyhalite
