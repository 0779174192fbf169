// Integer constraint systems, free of isl: what every question of the judge is made of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace polyhalite {

/// sum of coefficient * variable + constant, over the variables of one Problem.
struct AffineRow {
  std::map<int, int64_t> terms;  // [variable], no zero coefficients
  int64_t constant = 0;

  AffineRow() = default;
  AffineRow(int64_t constant) : constant(constant) {}  // NOLINT: numbers read as rows
  static AffineRow variable(int index);

  AffineRow &add(const AffineRow &o, int64_t factor = 1);
  bool is_constant() const { return terms.empty(); }
  int64_t evaluate(const std::vector<int64_t> &values) const;
};
AffineRow operator+(AffineRow a, const AffineRow &b);
AffineRow operator-(AffineRow a, const AffineRow &b);
AffineRow operator*(int64_t factor, const AffineRow &a);

/// All rows of `nonnegative` are >= 0 and all of `zero` are = 0.
struct Conjunction {
  std::vector<AffineRow> nonnegative, zero;
  Conjunction &append(const Conjunction &o);
};

/// One of the options holds.
using Choice = std::vector<Conjunction>;

struct ModelVariable {
  /// Parameters come first where a smallest solution is asked for, then coordinates.
  enum Role : uint8_t { Parameter, Coordinate, Existential } role;
  std::string name;  // for messages; empty where users know no such number
};

/// A set of integer points: `known`, and one option of each choice.
struct Problem {
  std::vector<ModelVariable> variables;
  Conjunction known;
  std::vector<Choice> choices;

  int add(ModelVariable::Role role, std::string name);
  AffineRow fresh(ModelVariable::Role role, std::string name);
  void require_nonnegative(const AffineRow &row) { known.nonnegative.push_back(row); }
  void require_zero(const AffineRow &row) { known.zero.push_back(row); }
  void require_less_equal(const AffineRow &a, const AffineRow &b) { require_nonnegative(b - a); }
};

/// a comes lexicographically before b: one option per position of the first difference.
Choice lexicographically_less(const std::vector<AffineRow> &a, const std::vector<AffineRow> &b);

}  // namespace polyhalite
