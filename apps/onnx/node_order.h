// The order in which a file's nodes can run: producers first.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/onnx/proto.h"

namespace polyhalite::onnx {

/// Numbers of the nodes, each behind those whose results it reads, else as they stand. `on_cycle`
/// is told of each node whose result, by its name, is made from itself.
std::vector<size_t> reading_order(
    const std::vector<NodeProto> &nodes,
    const std::function<void(size_t node, const std::string &value)> &on_cycle);

}  // namespace polyhalite::onnx
