// Unsharp mask: brightness is sharpened by what a Gaussian blur (radius 3) takes from it, and the
// colours follow in proportion. Input and output are planar, three channels.
#include <cmath>

#include "Halide.h"

using namespace Halide;

namespace {

class Unsharp : public Generator<Unsharp> {
 public:
  Input<Buffer<float, 3>> input{"input"};
  Output<Buffer<float, 3>> output{"output"};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: tiles.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};
  GeneratorParam<float> sigma{"sigma", 1.5f};

  void generate() {
    Func bounded = BoundaryConditions::repeat_edge(input);
    gray(x, y) = 0.299f * bounded(x, y, 0) + 0.587f * bounded(x, y, 1) + 0.114f * bounded(x, y, 2);

    blur_y(x, y) = weight(0) * gray(x, y) + weight(1) * (gray(x, y - 1) + gray(x, y + 1)) +
                   weight(2) * (gray(x, y - 2) + gray(x, y + 2)) +
                   weight(3) * (gray(x, y - 3) + gray(x, y + 3));
    blur_x(x, y) = weight(0) * blur_y(x, y) + weight(1) * (blur_y(x - 1, y) + blur_y(x + 1, y)) +
                   weight(2) * (blur_y(x - 2, y) + blur_y(x + 2, y)) +
                   weight(3) * (blur_y(x - 3, y) + blur_y(x + 3, y));
    // Black stays black: nothing is divided by less than a tenth of an 8-bit step.
    ratio(x, y) = (2.0f * gray(x, y) - blur_x(x, y)) / max(gray(x, y), 0.0004f);
    output(x, y, c) = ratio(x, y) * input(x, y, c);

    const std::string name = schedule_name;
    if (name == "naive") {
      gray.compute_root();
      blur_y.compute_root();
      blur_x.compute_root();
      ratio.compute_root();
    } else if (name == "auto") {
      input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
      output.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
    } else if (name == "good") {
      // Three stages of 256 x 32 floats and their rims, about 130 KiB: a second-level cache holds
      // them. The channels of a tile follow each other while its ratio is there.
      const int lanes = natural_vector_size<float>();
      Var xi{"xi"}, yi{"yi"};
      output.tile(x, y, xi, yi, 256, 32).reorder(xi, yi, c, x, y).vectorize(xi, lanes).parallel(y);
      gray.compute_at(output, x).vectorize(x, lanes);
      blur_y.compute_at(output, x).vectorize(x, lanes);
      ratio.compute_at(output, x).vectorize(x, lanes);
    }
  }

 private:
  /// The Gaussian of deviation sigma at `distance`.
  float weight(int distance) {
    const float s = sigma;
    return std::exp(-distance * distance / (2 * s * s)) / (std::sqrt(2 * 3.14159265f) * s);
  }

  Var x{"x"}, y{"y"}, c{"c"};
  Func gray{"gray"}, blur_y{"blur_y"}, blur_x{"blur_x"}, ratio{"ratio"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Unsharp, unsharp)
