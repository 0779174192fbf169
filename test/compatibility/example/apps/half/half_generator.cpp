#include <Halide.h>

class Half : public Halide::Generator<Half> {
 public:
  Input<Buffer<uint8_t, 1>> input{"input"};
  Output<Buffer<uint8_t, 1>> output{"output"};

  void generate() { output(x) = input(x) / 2; }

 private:
  Halide::Var x{"x"};
};

HALIDE_REGISTER_GENERATOR(Half, half)
