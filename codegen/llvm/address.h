// Addresses as polynomials over scalar atoms, so that each part can be computed in the outermost
// loop that knows it.
//
//   cast<int64>(x - in.min.0) + cast<int64>(y - in.min.1) * cast<int64>(in.stride.1)
//     ->  x + y*in.stride.1 - in.min.0 - in.min.1*in.stride.1
//
// A cast from Int(32) to Int(64) distributes, because Int(32) arithmetic does not overflow.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "lang/ir/node.h"

namespace polyhalite {

/// A product of scalar Int(32) or Int(64) expressions, sorted by compare(); empty for one.
using Monomial = std::vector<Expr>;

struct MonomialLess {
  bool operator()(const Monomial &a, const Monomial &b) const;
};

/// A sum of coefficient * monomial. No zero coefficients; the constant is the empty monomial's.
struct Polynomial {
  std::map<Monomial, int64_t, MonomialLess> terms;

  static Polynomial constant(int64_t c);
  static Polynomial atom(const Expr &e);
  /// Its value, if it has no atoms.
  std::optional<int64_t> as_constant() const;
  void add(const Polynomial &o, int64_t factor = 1);
};

/// The address of lane l is base + l * stride.
struct LaneAddress {
  Polynomial base, stride;
};

/// What a Symbol of vector type stands for; null where it is not known.
using Definitions = std::function<Expr(const std::string &)>;

/// Of a scalar or vector index; nothing where its lanes are not evenly spaced. Expressions that
/// are not sums or products of others stay atoms.
std::optional<LaneAddress> to_lane_address(const Expr &index, const Definitions &definitions);

}  // namespace polyhalite
