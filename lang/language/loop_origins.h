// Where the loops of a stage come from: rules on tails of splits and on parallel loops ask.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "lang/ir/function.h"
#include "polyhalite/stage.h"

namespace polyhalite {

/// What the directives so far say of where a stage's loops come from, by the names that the user
/// has for them.
class LoopOrigins {
 public:
  explicit LoopOrigins(const Stage &s);

  /// Is it the inner loop of a split, or made of such a one?
  bool is_inside(const std::string &loop) const { return inside_.count(loop) > 0; }
  /// A parallel loop that shares a variable with this one.
  std::optional<std::string> parallel_beside(const std::string &loop) const {
    return beside(loop, parallel_);
  }
  /// A loop with a variable of this one that a split with a blending tail has made.
  std::optional<std::string> blended_beside(const std::string &loop) const {
    return beside(loop, blended_);
  }

 private:
  void apply(const Directive &d);
  std::set<std::string> variables_of(const std::string &loop) const;
  std::set<std::string> take(const std::string &loop);
  std::optional<std::string> beside(const std::string &loop,
                                    const std::set<std::string> &others) const;

  std::map<std::string, std::set<std::string>> variables_;  // of derived loops
  std::set<std::string> inside_, parallel_, blended_;
};

}  // namespace polyhalite
