#include <cstdio>

#include "HalideBuffer.h"
#include "half.h"
#include "half_found.h"

int main() {
  Halide::Runtime::Buffer<float, 1> in(64), out(64);
  in.fill(10.0f);
  if (half(in.raw_buffer(), out.raw_buffer()) != 0 || out(63) != 2.5f) {
    return std::printf("half gave %f, not 2.5\n", static_cast<double>(out(63)));
  }
  out.fill(0.0f);
  if (consumer::half_of_four(in.raw_buffer(), out.raw_buffer()) != 0 || out(63) != 2.5f) {
    return std::printf("half_found gave %f, not 2.5\n", static_cast<double>(out(63)));
  }
}
