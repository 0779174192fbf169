// Harris corner response of a colour image (Harris and Stephens, 1988). Output pixel (x, y) looks
// at input pixels (x .. x + 4, y .. y + 4): the output is four pixels smaller.
#include "Halide.h"

using namespace Halide;

namespace {

class Harris : public Generator<Harris> {
 public:
  Input<Buffer<float, 3>> input{"input"};
  Output<Buffer<float, 2>> output{"output"};
  /// none: only what is required; naive: every stage in full, one after the other; auto: an
  /// auto-scheduler does it; good: tiles.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    gray(x, y) = 0.299f * input(x, y, 0) + 0.587f * input(x, y, 1) + 0.114f * input(x, y, 2);
    // Sobel's derivatives around (x + 1, y + 1).
    dx(x, y) = (gray(x + 2, y) - gray(x, y) + 2.0f * (gray(x + 2, y + 1) - gray(x, y + 1)) +
                gray(x + 2, y + 2) - gray(x, y + 2)) *
               (1.0f / 12);
    dy(x, y) = (gray(x, y + 2) - gray(x, y) + 2.0f * (gray(x + 1, y + 2) - gray(x + 1, y)) +
                gray(x + 2, y + 2) - gray(x + 2, y)) *
               (1.0f / 12);
    dxx(x, y) = dx(x, y) * dx(x, y);
    dyy(x, y) = dy(x, y) * dy(x, y);
    dxy(x, y) = dx(x, y) * dy(x, y);
    sxx(x, y) = sum_3x3(dxx);
    syy(x, y) = sum_3x3(dyy);
    sxy(x, y) = sum_3x3(dxy);
    Expr trace = sxx(x, y) + syy(x, y);
    output(x, y) = sxx(x, y) * syy(x, y) - sxy(x, y) * sxy(x, y) - 0.04f * trace * trace;

    const std::string name = schedule_name;
    if (name == "naive") {
      for (Func f : {gray, dx, dy, dxx, dyy, dxy, sxx, syy, sxy}) f.compute_root();
    } else if (name == "auto") {
      input.set_estimates({{0, 1536}, {0, 2560}, {0, 3}});
      output.set_estimates({{0, 1532}, {0, 2556}});
    } else if (name == "good") {
      // Three stages of 256 x 32 floats and their rims, about 110 KiB: a second-level cache holds
      // them. Products and sums are cheap enough to recompute.
      const int lanes = natural_vector_size<float>();
      Var xi{"xi"}, yi{"yi"};
      output.tile(x, y, xi, yi, 256, 32).vectorize(xi, lanes).parallel(y);
      gray.compute_at(output, x).vectorize(x, lanes);
      dx.compute_at(output, x).vectorize(x, lanes);
      dy.compute_at(output, x).vectorize(x, lanes);
    }
  }

 private:
  Expr sum_3x3(Func f) {
    Expr total = 0.0f;
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 3; i++) total += f(x + i, y + j);
    }
    return total;
  }

  Var x{"x"}, y{"y"};
  Func gray{"gray"}, dx{"dx"}, dy{"dy"}, dxx{"dxx"}, dyy{"dyy"}, dxy{"dxy"};
  Func sxx{"sxx"}, syy{"syy"}, sxy{"sxy"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Harris, harris)
