#include <cstdio>

#include "HalideBuffer.h"
#include "half.h"

int main() {
  Halide::Runtime::Buffer<float, 1> in(9), out(9);
  in.fill(10.0f);
  if (half(in.raw_buffer(), out.raw_buffer()) != 0 || out(8) != 2.5f) {
    return std::printf("half gave %f, not 2.5\n", static_cast<double>(out(8)));
  }
}
