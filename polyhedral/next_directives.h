// next_directives: what a schedule could say next about a stage, before anybody has judged it.
#pragma once

#include <string>
#include <vector>

#include "polyhedral/survey.h"
#include "schedule/loop_tree.h"

namespace polyhalite {

/// Where the next directives go, and for what machine.
struct NextPlace {
  std::string func;  // as directives name it
  int stage = 0;
  int lanes = 1;         // of a native vector of the Func's type
  bool kernels = false;  // loops may run on a GPU
};

/// Each entry is one step, of one directive or of a few that belong together, such as the split
/// that a vector loop comes out of. In the order in which a reader looks for them: kinds of loops,
/// order, tiles, other coordinates, reductions, then where the Func is computed and how it is
/// stored.
///
///   f.parallel(y)    f.split(x, x, x_v, 8); f.vectorize(x_v)    f.reorder(y, x)
///   f.split(x, x, x_i, 32)    f.fuse(x, y, x_y)    f.compute_at(g, y)    f.store_root()
///
/// `algorithm` is the derived one that `tree` was built from, with the Funcs that were inlined.
std::vector<std::vector<Directive>> next_directives(const Algorithm &algorithm,
                                                    const LoopTree &tree, const Survey &survey,
                                                    const NextPlace &place);

}  // namespace polyhalite
