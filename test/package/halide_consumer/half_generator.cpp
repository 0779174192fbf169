#include "Halide.h"

class Half : public Halide::Generator<Half> {
 public:
  GeneratorParam<int> factor{"factor", FACTOR_BY_DEFAULT};
  Input<Buffer<float, 1>> input{"input"};
  Output<Buffer<float, 1>> output{"output"};

  void generate() {
    Var x("x");
    output(x) = input(x) / static_cast<float>(static_cast<int>(factor));
    input.set_estimates({{0, 64}});
    output.set_estimates({{0, 64}});
  }
};

HALIDE_REGISTER_GENERATOR(Half, half)
