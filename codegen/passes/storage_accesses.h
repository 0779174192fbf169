// Accesses of Funcs go to where their elements are stored: those of a folded dimension to a ring,
// those of a packed one to a block and a place in it, which is a dimension of its own.
//
//   f(x, y)  ->  f(x, y % 4)                        y folded by 4
//   f(x, y)  ->  f((x - m)/8, y, (x - m) % 8)       x packed by 8, stored from m on
#pragma once

#include <utility>
#include <vector>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "polyhedral/survey.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

class StorageAccesses : public ExprRewriter {
 public:
  StorageAccesses(const LoopTree &tree, const Survey &survey) : tree_(tree), survey_(survey) {}

  /// The same for the indices of one access of Func number `func`.
  void place(int func, std::vector<Expr> &indices) const;

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  std::pair<Expr, Expr> in_block(const Expr &i, int64_t block) const;
  bool is_within(const Linear &l, int64_t limit) const;

  const LoopTree &tree_;
  const Survey &survey_;
};

/// The dimensions of a storage in memory, innermost first, behind those of the Func the places in
/// blocks; empty: 0, 1, 2...
std::vector<int> memory_order(const FuncStorage &storage);
/// What `box` of a storage, its mins and extents, is in memory, places in blocks behind.
std::vector<Expr> memory_box(const FuncStorage &storage, const std::vector<Expr> &box);

}  // namespace polyhalite
