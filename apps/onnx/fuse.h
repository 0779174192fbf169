// Groups of nodes that run as one kernel: an operator and what follows it point by point.
#pragma once

#include <vector>

#include "apps/onnx/kernel.h"

namespace polyhalite::onnx {

/// Every node that is no view is in one group; groups stand in an order in which they can run.
///
///   %y = Conv(%x, %w); %z = Add(%y, %b); %r = Relu(%z)   ->   { Conv, Add, Relu }
std::vector<Group> fuse(const Graph &g, bool enabled);

/// The value whose memory this one shares: views are none of their own.
std::vector<ValueId> storage_roots(const Graph &g);

}  // namespace polyhalite::onnx
