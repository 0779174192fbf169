// 3x3 box blur of 16-bit pixels in two passes: the output is two pixels smaller than the input.
#include "Halide.h"

using namespace Halide;

namespace {

class Blur : public Generator<Blur> {
 public:
  Input<Buffer<uint16_t, 2>> input{"input"};
  Output<Buffer<uint16_t, 2>> output{"output"};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: tiles.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    blur_x(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
    output(x, y) = (blur_x(x, y) + blur_x(x, y + 1) + blur_x(x, y + 2)) / 3;

    const std::string name = schedule_name;
    if (name == "naive") {
      blur_x.compute_root();
    } else if (name == "auto") {
      input.set_estimates({{0, 6410}, {0, 4804}});
      output.set_estimates({{0, 6408}, {0, 4802}});
    } else if (name == "good") {
      // A tile of blur_x is 512 x 34 pixels, 34 KiB: it stays in the second-level cache.
      const int lanes = natural_vector_size<uint16_t>();
      Var xi{"xi"}, yi{"yi"};
      output.tile(x, y, xi, yi, 512, 32).vectorize(xi, lanes).parallel(y);
      blur_x.compute_at(output, x).vectorize(x, lanes);
    }
  }

 private:
  Var x{"x"}, y{"y"};
  Func blur_x{"blur_x"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Blur, blur)
