// Nodes that run between kernels: If, Loop and Scan, whose regions are programs of their own, and
// operators whose results' sizes follow from elements.
#pragma once

#include <functional>
#include <vector>

#include "apps/onnx/graph.h"

namespace polyhalite::onnx {

struct CompileOptions;

/// Results of a node, in order, for its operands in row-major order; an undefined Constant stands
/// for each that is left out. May be called from many threads.
using HostRoutine = std::function<std::vector<Constant>(const std::vector<Constant> &)>;

/// For a node whose shapes were inferred. Regions are compiled when they first run.
HostRoutine make_host_routine(const Graph &g, const Node &n, const CompileOptions &options);

}  // namespace polyhalite::onnx
