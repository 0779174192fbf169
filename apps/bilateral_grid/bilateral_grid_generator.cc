// Edge-preserving smoothing with a bilateral grid (Chen, Paris and Durand, Real-time edge-aware
// image processing with the bilateral grid, 2007): pixels are gathered in a coarse grid of place
// and brightness, the grid is blurred, and each pixel reads it back at its own brightness.
#include "Halide.h"

using namespace Halide;

namespace {

class BilateralGrid : public Generator<BilateralGrid> {
 public:
  Input<Buffer<float, 2>> input{"input"};   // brightness in [0, 1]
  Input<float> sigma_range{"sigma_range"};  // height of a cell, in brightness
  Output<Buffer<float, 2>> output{"output"};
  GeneratorParam<int> cell{"cell", 8};  // width of a cell, in pixels
  /// none: only what is required; naive: every stage in full, one after the other; good: rows of
  /// the grid in parallel.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    const int s = cell;
    Func bounded = BoundaryConditions::repeat_edge(input);

    // Sum (0) and number (1) of the pixels in a cell.
    RDom r(0, s, 0, s);
    Expr value = clamp(bounded(x * s + r.x - s / 2, y * s + r.y - s / 2), 0.0f, 1.0f);
    Expr level = cast<int>(value * (1.0f / sigma_range) + 0.5f);
    grid(x, y, z, c) = 0.0f;
    grid(x, y, level, c) += mux(c, {value, 1.0f});

    blur_z(x, y, z, c) = grid(x, y, z - 2, c) + grid(x, y, z - 1, c) * 4 + grid(x, y, z, c) * 6 +
                         grid(x, y, z + 1, c) * 4 + grid(x, y, z + 2, c);
    blur_x(x, y, z, c) = blur_z(x - 2, y, z, c) + blur_z(x - 1, y, z, c) * 4 +
                         blur_z(x, y, z, c) * 6 + blur_z(x + 1, y, z, c) * 4 +
                         blur_z(x + 2, y, z, c);
    blur_y(x, y, z, c) = blur_x(x, y - 2, z, c) + blur_x(x, y - 1, z, c) * 4 +
                         blur_x(x, y, z, c) * 6 + blur_x(x, y + 1, z, c) * 4 +
                         blur_x(x, y + 2, z, c);

    // Linear interpolation in all three directions.
    Expr height = clamp(input(x, y), 0.0f, 1.0f) * (1.0f / sigma_range);
    Expr zi = cast<int>(height), zf = height - cast<float>(zi);
    Expr xf = cast<float>(x % s) / s, yf = cast<float>(y % s) / s, xi = x / s, yi = y / s;
    const auto column = [&](Expr cx, Expr cy) {
      return lerp(blur_y(cx, cy, zi, c), blur_y(cx, cy, zi + 1, c), zf);
    };
    sample(x, y, c) = lerp(lerp(column(xi, yi), column(xi + 1, yi), xf),
                           lerp(column(xi, yi + 1), column(xi + 1, yi + 1), xf), yf);
    output(x, y) = sample(x, y, 0) / sample(x, y, 1);

    const std::string name = schedule_name;
    if (name != "good") {
      grid.compute_root();
      blur_z.compute_root();
      blur_x.compute_root();
      blur_y.compute_root();
      if (name == "naive") sample.compute_root();
      return;
    }
    const int lanes = natural_vector_size<float>();
    blur_z.compute_at(blur_x, y).reorder(c, z, x, y).vectorize(x, lanes).unroll(c);
    grid.compute_at(blur_z, y);
    grid.update().reorder(c, r.x, r.y, x, y).unroll(c);
    blur_x.compute_root().reorder(c, x, z, y).parallel(y).vectorize(x, lanes).unroll(c);
    blur_y.compute_root().reorder(c, x, y, z).parallel(z).vectorize(x, lanes).unroll(c);
    output.parallel(y, 8).vectorize(x, lanes);
    blur_z.bound(c, 0, 2);
    blur_x.bound(c, 0, 2);
    blur_y.bound(c, 0, 2);
    grid.bound(c, 0, 2);
  }

 private:
  Var x{"x"}, y{"y"}, z{"z"}, c{"c"};
  Func grid{"grid"}, blur_z{"blur_z"}, blur_x{"blur_x"}, blur_y{"blur_y"}, sample{"sample"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(BilateralGrid, bilateral_grid)
