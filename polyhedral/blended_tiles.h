// blended_tiles: what tiles that were shifted inwards and blend write back, while other iterations
// of a loop may write it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "polyhedral/judge_context.h"

namespace polyhalite {

struct BlendedTwice {
  const Derivation *split = nullptr;  // with the tail that blends
  Solution solution;                  // Found or Unknown
  int64_t blends = 0, writes = 0;     // iterations of the loop
  Instance point;                     // that both have
  std::vector<std::pair<std::string, int64_t>> parameters;
  std::optional<std::string> inexact;
};

/// Two iterations of a loop of the stage, all loops outside of it equal, that have one point, which
/// one of them writes back as it is. None: there are no such two, or no tile of the stage blends.
std::optional<BlendedTwice> find_blended_twice(JudgeContext &c, StageId s, size_t position);

/// Does a split of the stage shift tiles inwards and blend?
bool blends_tiles(const LoopTree &tree, StageId s);

}  // namespace polyhalite
