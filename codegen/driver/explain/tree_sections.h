// tree_sections: a loop tree as nested, foldable HTML, with sizes.
#pragma once

#include <set>
#include <string>

#include "codegen/driver/explain/footprints.h"
#include "polyhalite/target.h"

namespace polyhalite {

/// Loops have anchors "tree-NAME" and links to "ir-NAME" and "asm-NAME", where those are in
/// `anchors`.
std::string tree_sections(const LoopTree &tree, const Survey &survey, const Footprints &numbers,
                          const Target &target, const std::set<std::string> &anchors);

}  // namespace polyhalite
