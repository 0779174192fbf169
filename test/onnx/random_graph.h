// Random graphs of float operators, small enough for the interpreter. Their sizes are what
// schedules are tried with: one row or column, a bit more than a tile, a prime.
#pragma once

#include <cstdint>
#include <string>

#include "apps/onnx/program.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx {

struct RandomGraph {
  ModelBuilder model;
  Program::Tensors inputs;
  std::string text;  // a line for each input and node, with its shape
};

/// The same graph for the same seed. A third of the graphs leave sizes of their inputs open.
RandomGraph random_graph(uint32_t seed);

}  // namespace polyhalite::onnx
