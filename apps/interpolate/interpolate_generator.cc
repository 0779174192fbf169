// Fills the holes of an image from its surroundings: pull-push interpolation over a pyramid
// (Gortler et al., The Lumigraph, 1996). The fourth channel is the pixels' weight.
#include <vector>

#include "Halide.h"

using namespace Halide;

namespace {

class Interpolate : public Generator<Interpolate> {
 public:
  Input<Buffer<float, 3>> input{"input"};     // three colours and the weight in [0, 1]
  Output<Buffer<float, 3>> output{"output"};  // three colours
  GeneratorParam<int> levels{"levels", 10, 2, 16};
  /// none: only what is required; naive: every stage in full, one after the other; good: levels
  /// in full, rows in parallel.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    const int n = levels;
    std::vector<Func> down(n), half(n), up(n), wide(n);
    Func bounded = BoundaryConditions::repeat_edge(input);
    down[0] = Func("down_0");
    // Colours times weight: an unknown pixel contributes nothing.
    down[0](x, y, c) = select(c < 3, bounded(x, y, c) * bounded(x, y, 3), bounded(x, y, 3));
    for (int l = 1; l < n; l++) {
      const std::string id = std::to_string(l);
      half[l] = Func("half_" + id);
      down[l] = Func("down_" + id);
      half[l](x, y, c) = (down[l - 1](2 * x - 1, y, c) + 2.0f * down[l - 1](2 * x, y, c) +
                          down[l - 1](2 * x + 1, y, c)) *
                         0.25f;
      down[l](x, y, c) =
          (half[l](x, 2 * y - 1, c) + 2.0f * half[l](x, 2 * y, c) + half[l](x, 2 * y + 1, c)) *
          0.25f;
    }
    up[n - 1] = down[n - 1];
    for (int l = n - 2; l >= 0; l--) {
      const std::string id = std::to_string(l);
      wide[l] = Func("wide_" + id);
      up[l] = Func("up_" + id);
      wide[l](x, y, c) = (up[l + 1](x / 2, y, c) + up[l + 1]((x + 1) / 2, y, c)) * 0.5f;
      Expr coarse = (wide[l](x, y / 2, c) + wide[l](x, (y + 1) / 2, c)) * 0.5f;
      // What this level does not know, the coarser one says.
      up[l](x, y, c) = down[l](x, y, c) + (1.0f - down[l](x, y, 3)) * coarse;
    }
    output(x, y, c) = up[0](x, y, c) / up[0](x, y, 3);

    const std::string name = schedule_name;
    if (name != "good") {
      for (int l = 1; l < n; l++) down[l].compute_root();
      for (int l = 1; l < n - 1; l++) up[l].compute_root();
      if (name == "naive") {
        for (int l = 1; l < n; l++) half[l].compute_root();
        for (int l = 0; l < n - 1; l++) wide[l].compute_root();
        down[0].compute_root();
        up[0].compute_root();
      }
      return;
    }
    const int lanes = natural_vector_size<float>();
    Var yo{"yo"}, yi{"yi"};
    for (int l = 1; l < n; l++) {
      if (l < 4) {
        down[l]
            .compute_root()
            .reorder(c, x, y)
            .bound(c, 0, 4)
            .unroll(c)
            .vectorize(x, lanes)
            .parallel(y, 8);
      } else {
        down[l].compute_root();
      }
    }
    for (int l = 1; l < n - 1; l++) {
      if (l < 4) {
        up[l].compute_root().reorder(c, x, y).bound(c, 0, 4).unroll(c).vectorize(x, lanes).parallel(
            y, 8);
      } else {
        up[l].compute_root();
      }
    }
    output.bound(c, 0, 3).reorder(c, x, y).unroll(c).vectorize(x, lanes).parallel(y, 16);
  }

 private:
  Var x{"x"}, y{"y"}, c{"c"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Interpolate, interpolate)
