// Facts: affine inequalities that hold at a place of the program, and what follows from them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/ir/node.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

/// A stack of known facts "linear form >= 0" with constant bounds of variables. A conclusion uses
/// one symbolic fact and the constant bounds: enough for guards that repeat and for loop ranges.
class Facts {
 public:
  /// `condition` holds from here on, until pop().
  void push_condition(const Expr &condition, bool holds = true);
  /// `name` is a counter in [min, min + extent), until pop().
  void push_range(const Expr &counter, const Expr &min, const Expr &extent);
  /// `symbol` is bound to `value`, until pop().
  void push_value(const Expr &symbol, const Expr &value);
  void pop();

  /// Decides a comparison of affine scalars; nothing where the facts do not tell.
  std::optional<bool> decide(const Expr &condition) const;
  /// e with what the facts decide put in: comparisons, and min, max and select that rest on them.
  Expr apply(const Expr &e) const;

  const VariableBounds &bounds() const { return bounds_; }

 private:
  struct Frame {
    size_t facts, conditions;
    std::string bounded;  // a variable whose bounds are new in this frame, or empty
    std::optional<VariableBound> hidden;
    std::string named;  // a symbol whose value is new in this frame, or empty
  };
  void open();
  void learn(const Expr &condition, bool holds);
  void learn_bounds(const std::string &name, const VariableBound &b);
  bool holds(const Linear &goal) const;

  std::vector<Linear> facts_;
  std::vector<std::pair<Expr, bool>> conditions_;  // whole conditions of any kind
  VariableBounds bounds_;
  std::map<std::string, Expr> values_;  // of symbols, where no memory is read
  std::vector<Frame> frames_;
};

}  // namespace polyhalite
