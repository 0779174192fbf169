// Indices whose bounds rest on values stay inside of what is there.
//
//   in(cast<int>(f(x)))      ->  in(max(min(cast<int>(f(x)), box.max), box.min))
//   in(r + cast<int>(f(x)))  ->  in(r + max(min(cast<int>(f(x)), box.max - 3), box.min)), r<4
#pragma once

#include <string>
#include <vector>

#include "lang/ir/visit.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Of one stage. Its expressions come with the loops' counters in place.
class HeldIndices : public ExprRewriter {
 public:
  HeldIndices(const LoopTree &tree, const Survey &survey, const StageId &s);

  /// `before`: the indices as the definition has them.
  void hold(const std::string &callee, std::vector<Expr> &indices,
            const std::vector<Expr> &before) const;

 protected:
  Expr rewrite(const Expr &e) override;

 private:
  const LoopTree &tree_;
  const Survey &survey_;
  std::vector<HeldIndex> held_;
};

}  // namespace polyhalite
