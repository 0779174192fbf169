// A model in the ONNX format on the photograph.
#pragma once

#include <string>

#include "apps/common/image.h"

namespace polyhalite_apps {

struct ModelRun {
  double import_and_compile_seconds = 0;
  double seconds = 0;  // median of a run
  double largest_difference = 0;
  std::string report;  // of the compiled program: kernels, memory
  Plane edges;
};

/// Runs edges.onnx (make_edges_model.py), compared at every pixel with the same arithmetic in plain
/// loops.
ModelRun run_edges_model(const std::string &path, const Image &photograph);

}  // namespace polyhalite_apps
