// Dim: a size as an expression over symbols: a polynomial with integer coefficients, whose atoms
// are symbols and quotients, minima and maxima of polynomials.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "polyhalite/expr.h"

namespace polyhalite::onnx {

struct DimAtom;

/// A value. Two Dims that are equal as polynomials have one text and compare equal. Arithmetic that
/// leaves int64 throws std::overflow_error.
class Dim {
 public:
  Dim() = default;
  Dim(int64_t value);  // NOLINT: sizes read as numbers
  static Dim symbol(const std::string &name);
  /// Rounded down; the divisor is positive.
  static Dim floor_div(const Dim &a, const Dim &b);
  static Dim ceil_div(const Dim &a, const Dim &b);
  static Dim minimum(const Dim &a, const Dim &b);
  static Dim maximum(const Dim &a, const Dim &b);

  std::optional<int64_t> constant() const;
  bool is(int64_t value) const { return constant() == value; }
  Dim operator+(const Dim &o) const;
  Dim operator-(const Dim &o) const;
  Dim operator*(const Dim &o) const;
  bool operator==(const Dim &o) const { return to_string() == o.to_string(); }
  bool operator!=(const Dim &o) const { return !(*this == o); }
  /// "N", "2*N + 1", "floor((H - 3)/2)".
  std::string to_string() const;
  void add_symbols(std::set<std::string> *names) const;
  /// A number that it is never below, symbols being sizes, which are at least 0; nullopt where no
  /// such number is found.
  std::optional<int64_t> lower_bound() const;
  /// nullopt where a symbol has no value.
  std::optional<int64_t> evaluate(const std::map<std::string, int64_t> &values) const;
  /// The greatest number that divides all coefficients; 0 of 0.
  int64_t common_factor() const;
  /// The same with symbols replaced.
  Dim substitute(const std::map<std::string, Dim> &values) const;
  /// Int(32), with an expression for each symbol.
  Expr to_expr(const std::map<std::string, Expr> &symbols) const;

 private:
  // A product of atoms, sorted by their text.
  using Monomial = std::vector<std::shared_ptr<const DimAtom>>;
  struct Less {
    bool operator()(const Monomial &a, const Monomial &b) const;
  };
  static Dim of_atom(DimAtom atom);
  void add(const Monomial &m, int64_t coefficient);
  const std::pair<const Monomial, int64_t> &leading_term() const;
  std::optional<Dim> exact_quotient(const Dim &b) const;
  template <typename T>
  T fold(const std::function<T(int64_t)> &number, const std::function<T(const DimAtom &)> &atom,
         const std::function<T(const T &, const T &)> &sum,
         const std::function<T(const T &, const T &)> &product) const;

  std::map<Monomial, int64_t, Less> terms_;  // no coefficient is 0
};

struct DimAtom {
  enum Kind { Symbol, FloorDiv, Min, Max } kind = Symbol;
  std::string text;  // of a symbol its name
  Dim a, b;
};

using Shape = std::vector<Dim>;
std::string to_string(const Shape &shape);
/// The product of all sizes.
Dim elements(const Shape &shape);
/// nullopt where a size is no constant.
std::optional<std::vector<int64_t>> constant_shape(const Shape &shape);

}  // namespace polyhalite::onnx
