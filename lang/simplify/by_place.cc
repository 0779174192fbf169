#include "lang/simplify/by_place.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/operators.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

using Choice = AssociativeUpdate::Choice;

// One coordinate of a place: a value that grows with a reduction variable alone.
struct Coordinate {
  size_t value;
  Linear at;   // the value; its other terms are the same for all that meet in a cell
  Expr least;  // where the variable begins
};

// at = k*r + ..., k > 0, and no other reduction variable
bool grows_with(const Linear &at, const std::string &variable, const StageDef &stage) {
  bool grows = false;
  for (const auto &[atom, coefficient] : at.terms) {
    const VariableNode *v = as_variable(atom);
    if (v && v->kind == VariableKind::Reduction && v->name == variable && coefficient > 0) {
      grows = true;
      continue;
    }
    bool varies = false;
    for (const ReductionVariable &r : stage.rvars) varies |= uses_variable(atom, r.var);
    for_each_node(atom, [&](const Expr &e) { varies |= as_call(e) != nullptr; });
    if (varies) return false;
  }
  return grows;
}

// The coordinates of the places that a choice's values come from, the innermost first.
std::optional<std::vector<Coordinate>> coordinates(const AssociativeUpdate &update,
                                                   const Choice &choice, const StageDef &stage) {
  std::vector<Coordinate> found;
  for (const ReductionVariable &r : stage.rvars) {
    int64_t extent = 0;
    if (is_const_int(r.extent, &extent) && extent == 1) continue;
    const auto value = std::find_if(choice.values.begin(), choice.values.end(), [&](size_t i) {
      const Expr &e = update.operands[i];
      return i != choice.key && e.type() == Int(32) && grows_with(to_linear(e), r.var, stage);
    });
    if (value == choice.values.end()) return std::nullopt;
    found.push_back({*value, to_linear(update.operands[*value]), r.min});
  }
  return found;
}

// No place of the domain comes before where the cell begins, or nothing of an equal key replaces
// what it begins with.
bool starts_first(const AssociativeUpdate &update, const Choice &choice,
                  const std::vector<Coordinate> &place, const FuncDef &f, int stage) {
  // Updates before this one, and branches, may leave anything there.
  if (f.definition_of(stage) != 1 || !f.branches_of(0).empty()) return false;
  const std::vector<Expr> &start = f.stages[0].values;
  if (!choice.last && equal(start[choice.key], update.identity[choice.key])) return true;
  return std::all_of(place.begin(), place.end(), [&](const Coordinate &c) {
    int64_t first = 0, least = 0;
    if (!is_const_int(start[c.value], &first)) return false;
    if (first == INT32_MIN) return true;
    if (!is_const_int(simplify(c.least), &least) || c.at.terms.size() != 1) return false;
    return first <= c.at.terms.begin()->second * least + c.at.constant;
  });
}

// Is the right operand's place before the left one's, or with `last` not before it?
Expr replaces(const Choice &choice, const std::vector<Coordinate> &place) {
  Expr out;
  for (const Coordinate &c : place) {
    const Expr left = left_operand(Int(32), c.value), right = right_operand(Int(32), c.value);
    if (!out.defined()) {
      out = make_binary(choice.last ? Op::Ge : Op::Lt, right, left);
      continue;
    }
    const Expr sooner = make_binary(choice.last ? Op::Gt : Op::Lt, right, left);
    out = make_binary(Op::Or, sooner, make_binary(Op::And, make_binary(Op::Eq, right, left), out));
  }
  return out;
}

}  // namespace

std::optional<AssociativeUpdate> ordered_by_place(const AssociativeUpdate &update, const FuncDef &f,
                                                  int stage) {
  if (!update.choices_alone || update.choices.empty()) return std::nullopt;
  AssociativeUpdate out = update;
  for (const Choice &choice : update.choices) {
    const auto place = coordinates(update, choice, f.stages[stage]);
    if (!place || place->empty() || !starts_first(update, choice, *place, f, stage)) {
      return std::nullopt;
    }
    const Type t = f.types[choice.key];
    const Expr left = left_operand(t, choice.key), right = right_operand(t, choice.key);
    const Expr better = make_binary(choice.least ? Op::Lt : Op::Gt, right, left);
    const Expr takes = make_binary(
        Op::Or, better,
        make_binary(Op::And, make_binary(Op::Eq, right, left), replaces(choice, *place)));
    for (const size_t i : choice.values) {
      const Type value = f.types[i];
      out.op[i] = make_select(takes, right_operand(value, i), left_operand(value, i));
    }
    // Where nothing was found, no place comes after (or before) it.
    for (const Coordinate &c : *place) {
      out.identity[c.value] = choice.last ? lowest_value(Int(32)) : highest_value(Int(32));
    }
  }
  out.choices.clear();
  out.commutative = true;
  return out;
}

}  // namespace polyhalite
