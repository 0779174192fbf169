// fission: the values of a Tuple's update, one after the other.
#pragma once

#include <string>
#include <vector>

#include "lang/ir/algorithm.h"

namespace polyhalite {

/// The values of update `stage` that it writes, in parts that may be computed one after the other
/// in each instance: none needs what an earlier one has written there. Values that need each other
/// are one part; of parts that could change places the one with the first value comes first.
///   f(x) = {f(x).1, f(x).1 + 1, f(x).2}   ->   {0}, {1}
/// `why` says, where there is one part only, which values it keeps together.
std::vector<std::vector<size_t>> fission_parts(const FuncDef &f, int stage,
                                               std::string *why = nullptr);

struct Fissioned {
  Algorithm algorithm;
  /// For the stage, behind those that it has: the new loop's place and kind.
  std::vector<Directive> directives;
};

/// The update with one more reduction variable, its innermost, which chooses the part:
///   over r: f(x) = {a, b}   ->   over p(0, 2), r: f(x) = {select(p == 0, a, f(x).0),
///                                                         select(p == 1, b, f(x).1)}
/// and the directives that take its loop outside. Whether it may stand there is a question of
/// order, which is judged as for any loop. `before` are the directives of the stage that precede
/// it. CompileError where there is one part only, or a name is taken.
Fissioned fission(Algorithm a, const Directive &d, const std::vector<Directive> &before);

}  // namespace polyhalite
