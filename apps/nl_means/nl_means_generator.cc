// Non-local means (Buades, Coll and Morel, 2005): each pixel becomes the mean of the pixels around
// it, weighted by how alike the patches around the two are.
#include "Halide.h"

using namespace Halide;

namespace {

class NonLocalMeans : public Generator<NonLocalMeans> {
 public:
  Input<Buffer<float, 3>> input{"input"};
  Input<int> patch_size{"patch_size"};    // pixels, odd
  Input<int> search_area{"search_area"};  // pixels, odd
  Input<float> sigma{"sigma"};            // of the noise
  Output<Buffer<float, 3>> output{"output"};
  /// none: only what keeps the differences from being computed again for each use; naive: rows of
  /// each stage, one after the other; good: tiles.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    Func bounded = BoundaryConditions::repeat_edge(input);
    RDom channel(0, 3);
    Expr apart = bounded(x, y, channel) - bounded(x + dx, y + dy, channel);
    distance(x, y, dx, dy) = sum(apart * apart);
    RDom patch(-(patch_size / 2), patch_size);
    column(x, y, dx, dy) = sum(distance(x, y + patch, dx, dy));
    likeness(x, y, dx, dy) = sum(column(x + patch, y, dx, dy));
    Expr falloff = -1.0f / (sigma * sigma * cast<float>(patch_size * patch_size));
    Expr weight = fast_exp(likeness(x, y, dx, dy) * falloff);
    weights(x, y, dx, dy) = weight;

    // The fourth channel adds up the weights.
    opaque(x, y, c) = mux(c, {bounded(x, y, 0), bounded(x, y, 1), bounded(x, y, 2), 1.0f});
    RDom area(-(search_area / 2), search_area, -(search_area / 2), search_area);
    total(x, y, c) = 0.0f;
    total(x, y, c) += weights(x, y, area.x, area.y) * opaque(x + area.x, y + area.y, c);
    output(x, y, c) = clamp(total(x, y, c) / total(x, y, 3), 0.0f, 1.0f);
    output.dim(2).set_bounds(0, 3);

    const std::string name = schedule_name;
    if (name != "good") {
      // In full, the differences of all shifts would take gigabytes: a row at a time.
      if (name == "naive") distance.compute_at(total, y);
      column.compute_at(total, y);
      total.compute_root();
    } else {
      const int lanes = natural_vector_size<float>();
      Var tx{"tx"}, ty{"ty"};
      output.compute_root()
          .reorder(c, x, y)
          .tile(x, y, tx, ty, x, y, 2 * lanes, 8)
          .parallel(ty)
          .vectorize(x, lanes);
      distance.compute_at(output, tx).vectorize(x, lanes);
      column.compute_at(output, tx).reorder(y, x).vectorize(x, lanes);
      total.compute_at(output, x).reorder(c, x, y).bound(c, 0, 4).unroll(c).vectorize(x, lanes);
      total.update().reorder(c, x, y, area.x, area.y).unroll(c).vectorize(x, lanes);
      likeness.compute_at(total, x).vectorize(x, lanes);
    }
  }

 private:
  Var x{"x"}, y{"y"}, c{"c"}, dx{"dx"}, dy{"dy"};
  Func distance{"distance"}, column{"column"}, likeness{"likeness"}, weights{"weights"};
  Func opaque{"opaque"}, total{"total"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(NonLocalMeans, nl_means)
