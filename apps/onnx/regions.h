// Regions: the graphs inside If, Loop and Scan.
#pragma once

#include <string>
#include <vector>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

/// Values that regions capture become operands behind the node's own, and inputs of the region
/// behind its own. "operands" is the number of the node's own.
///
///   %y = If(%c) {then = graph() reads %x}  ->  %y = If(%c, %x) {then = graph(%x), operands = 1}
void close_regions(Node *n);

/// Attributes that nodes with regions have here, and in no file: "operands" (see close_regions()),
/// "bounded" (see scan_bounds()) and "turn", the first turn that a Loop has left to run.
bool is_own_attribute(const std::string &name);

/// How many of a Scan's own operands stand behind the sequences, 0 or 1: lengths of sequences, the
/// longest of which tells how many turns run. Behind them states stay, and results are 0.
size_t scan_bounds(const Node &n);

/// A state of a Loop or a Scan that each turn gives on as it came is a value around it: where that
/// is known, each turn's kernels are made for it, and nothing copies it. After close_regions().
void capture_invariants(Graph *g, Node *n);

/// Null where the node has no such region.
const Graph *region_of(const Node &n, const std::string &attribute);

/// Does a region read its input v: in a node, or as one of its results?
bool reads(const Graph &region, ValueId v);

/// What v is a copy of: through Identity.
ValueId original(const Graph &g, ValueId v);

/// The region's nodes with these operands in the place of its inputs. What they define are new
/// values of g, whose names begin with the prefix; `results` are the region's outputs there.
std::vector<Node> nodes_of(const Graph &region, const std::vector<ValueId> &operands,
                           const std::string &prefix, Graph *g, std::vector<ValueId> *results);

/// Whether node `at` is an If whose condition is known; its nodes are then those of the branch.
bool inline_branch(Graph *g, size_t at);

}  // namespace polyhalite::onnx
