// inline: substitutes Funcs that have no compute level into the stages that call them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "lang/ir/algorithm.h"

namespace polyhalite {

struct Materialised {
  Algorithm algorithm;  // every Func is stored somewhere
  /// Copies of Funcs with updates -> the Func each copies. See inline_funcs.
  std::map<std::string, std::string> origin;
  /// Those of them that serve another stage of the Func at whose loops the original is computed: a
  /// directive's stage is that of the original.
  std::set<std::string> of_other_stages = {};

  /// The name that the user's algorithm and directives have for a Func.
  const std::string &origin_of(const std::string &name) const {
    auto it = origin.find(name);
    return it == origin.end() ? name : it->second;
  }
};

/// Substitutes every pure Func of `inlined` into its callers. A Func of `inlined` with updates
/// cannot be substituted: it is computed in the innermost block of its caller, and where several
/// stages call it each but the first gets a copy of its own, named FUNC$CALLER (FUNC$CALLER$uK in
/// an update):
///   s() += f(r);  g(x) = s;  h(x) = s   ->   g(x) = s;  h(x) = s$h
/// Funcs that no output needs are dropped. Where `work` is given, it counts the operations of the
/// result's definitions down, and a definition with more than are left is refused.
Materialised inline_funcs(const Algorithm &algorithm, const std::set<std::string> &inlined,
                          int64_t *work = nullptr);

/// Substitutes the pure Funcs `names` into one stage; calls of them in their own definitions too.
void inline_into_stage(Algorithm &a, int func, int stage, const std::set<std::string> &names);

/// Where Funcs are computed, by name: the Func at whose loops.
using ComputeTargets = std::map<std::string, std::string>;

/// A Func that is computed at a loop of a Func is computed in each stage, and each branch of a
/// stage, that uses it: each but the first gets a copy, named FUNC$CALLER$uK in update K,
/// FUNC$CALLER$bK in branch K, with the same directives.
///   for x {f; g.s0}, for x {f$g$u0; g.s1}     if c { for x {f; g} } else { for x {f$g$b1; g} }
/// So are Funcs of `inlined` that stand between the two, with a copy for each copy of their caller.
Materialised copy_per_stage(Materialised m, const std::set<std::string> &inlined,
                            const ComputeTargets &targets);

/// The Funcs that a Func calls, itself or through others; not itself.
std::set<std::string> needed_funcs(const Algorithm &a, const std::string &func);

/// The names of the Funcs that a stage calls, itself included where it does.
std::set<std::string> called_funcs(const StageDef &stage);

}  // namespace polyhalite
