// Winograd's form along one dimension: the matrices that make results of products.
#pragma once

#include <vector>

namespace polyhalite::ops {

/// result[t] = sum over cells k of kernel[k] * input[t * stride + k], for the `tile` results t of a
/// tile, is result * ((kernel matrix * kernel) x (input matrix * input)), x being the product of
/// places.
struct WinogradTransforms {
  using Matrix = std::vector<std::vector<double>>;
  Matrix input;   // places x ((tile - 1) * stride + cells)
  Matrix kernel;  // places x cells
  Matrix result;  // tile x places

  int places() const { return static_cast<int>(input.size()); }
};

/// Tiles of 2 or 4 results. The kernel's cells are taken `stride` apart, as many times as there are
/// cells within a stride, and of those at most four at a time; each such group is a convolution of
/// its own at stride 1, made by the method of Toom and Cook at the points 0, 1, -1, 2, -1/2, -2 and
/// infinity, so that it takes tile + cells - 1 products. Longer groups would take points that lose
/// more digits.
WinogradTransforms winograd_transforms(int cells, int stride, int tile);

}  // namespace polyhalite::ops
