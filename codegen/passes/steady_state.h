// steady_state: for which iterations of a loop the conditions in its body are decided.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/ir/stmt.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

/// What a node of an operand becomes where its condition holds.
using Replacements = std::map<std::pair<const StmtNode *, const ExprNode *>, Expr>;

/// The iterations x of a loop for which every condition found holds, whatever the inner loops'
/// counters are:  invariant && first <= x && x < end.
struct SteadyState {
  Expr first, end;  // Int(32), over what is known outside the loop; null: no such limit
  Expr invariant;   // Bool; null: always true
  Replacements replacements;
  /// Outside the steady state this If does nothing, and nothing else was decided; else null.
  const StmtNode *only_guard = nullptr;
};

/// Looks in a loop's body for
///   min, max and select that likely() marks, also of each other, and Ifs without else,
/// whose conditions are affine in the counter and for which this loop is the one to cut: the
/// innermost on which the condition depends, short loops of constant extent left aside, and those
/// that a Param's limits keep short where one outside can be cut. Of conditions on short loops
/// alone it is the outermost of these, where a longer one inside asks again and again. A clamp that is the same in all
/// iterations of a loop inside is left to that loop's preheader. With
/// `guards_only`, only Ifs count. No replacements: there is nothing to cut.
SteadyState steady_state(const Stmt &loop, bool guards_only);

/// May this loop be cut: serial or parallel, and not short?
bool may_be_cut(const Stmt &loop);

/// likely(x), or a min, max or select that has such a side: the side that holds in the steady
/// state.
bool is_likely(const Expr &e);

}  // namespace polyhalite
