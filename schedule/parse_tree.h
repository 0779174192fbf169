// parse_tree: a loop tree from its text, so that trees can be written by hand.
#pragma once

#include <string>

#include "schedule/loop_tree.h"

namespace polyhalite {

/// `algorithm` is that of the tree: after inlining, as LoopTree::algorithm. What the text does not
/// say is empty in the result: `directives`, and places of directives; a loop's place is its line.
/// to_text(parse_tree(to_text(t), t.algorithm)) == to_text(t), and both have one hash.
///
/// Throws CompileError at NAME:LINE for a text that is no tree of the algorithm: stages that miss,
/// loops that are not those which the derivations leave, nodes that stand where their levels do not
/// put them.
LoopTree parse_tree(const std::string &text, const Algorithm &algorithm,
                    const std::string &name = "tree");

}  // namespace polyhalite
