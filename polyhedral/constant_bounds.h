// Constant bounds: the numbers between which an integer expression lies, by its form and its type
// alone, and a number that none of its values exceeds, by what its variables stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "lang/ir/node.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

struct ConstantInterval {
  std::optional<int64_t> min, max;
};
/// What is known of a call's integer value beside its form and type.
using KnownCall = std::function<ConstantInterval(const CallNode &)>;
/// Constant bounds of an integer expression by its form and type alone, exact about wrapping.
/// Limits of Params count: the entry checks them.
ConstantInterval constant_interval(const Expr &e, const KnownCall &known = {});

/// A constant that `e` never exceeds, if one is found: symbols and loop counters are replaced by
/// `expand` (value or bounds), min, max and divisions by their properties.
class ConstantUpperBound {
 public:
  struct Meaning {
    Expr value;         // exact, or null
    Expr lower, upper;  // or null
  };
  using Expand = std::function<Meaning(const VariableNode &)>;

  static constexpr int kMaxTries = 4096;  // replacements

  explicit ConstantUpperBound(Expand expand, int tries = kMaxTries)
      : expand_(std::move(expand)), tries_(tries) {}
  std::optional<int64_t> operator()(const Expr &e);

 private:
  std::optional<int64_t> bound(Linear l, int depth);

  Expand expand_;
  int tries_, budget_ = 0;
};

}  // namespace polyhalite
