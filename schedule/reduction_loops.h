// reduction_loops: what the directives so far have made of a stage's reduction variables, and the
// variables in terms of the loops that there are.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lang/ir/algorithm.h"
#include "schedule/derive.h"

namespace polyhalite {

/// a && b; undefined stands for what always holds.
Expr conjunction(const Expr &a, const Expr &b);

/// The reduction loops that the stage has at this point, and what they make of its variables.
class ReductionLoops {
 public:
  /// CompileError of directive `d`, which asks, where a loop is skewed, reversed, shifted or fused
  /// with a pure one. `def` and `dims` are to outlive this.
  ReductionLoops(const StageDef &def, const StageDimensions &dims, const Directive &d);

  /// Outermost first.
  const std::vector<LoopDimension> &loops() const { return loops_; }
  bool is_reduction(const std::string &dim) const { return reduction_.count(dim) > 0; }

  /// The loop as a variable of a domain.
  ReductionVariable variable(const LoopDimension &l) const;
  /// The definition's reduction variables in terms of `values`: each loop's counter.
  std::map<std::string, Expr> values(const std::map<std::string, Expr> &counters);
  /// Where these values lie inside the domain's box; undefined: everywhere.
  const Expr &guard() const { return guard_; }

 private:
  void extend(const Derivation &v, const Directive &d);
  void undo(const Derivation &v);

  const StageDef &def_;
  const StageDimensions &dims_;
  std::map<std::string, Expr> extent_;  // of each reduction dimension
  std::set<std::string> reduction_;
  std::vector<LoopDimension> loops_;
  std::map<std::string, Expr> at_;
  Expr guard_;
};

}  // namespace polyhalite
