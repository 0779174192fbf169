#include "Halide.h"

namespace {

class Brighten : public Halide::Generator<Brighten> {
 public:
  GeneratorParam<int> amount{"amount", 20};
  GeneratorParam<bool> threads{"threads", false};
  Input<Buffer<uint8_t, 2>> input{"input"};
  Output<Buffer<uint8_t, 2>> output{"output"};

  void generate() {
    Halide::Var x("x"), y("y");
    Halide::Expr wide = Halide::cast<int>(input(x, y)) + static_cast<int>(amount);
    output(x, y) = Halide::cast<uint8_t>(Halide::clamp(wide, 0, 255));
    output.vectorize(x, 8, Halide::TailStrategy::GuardWithIf);
    if (threads) output.parallel(y);
  }
};

}  // namespace

HALIDE_REGISTER_GENERATOR(Brighten, brighten)
