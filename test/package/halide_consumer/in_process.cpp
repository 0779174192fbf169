#include <cstdio>

#include "Halide.h"

int main() {
  Halide::Var x("x");
  Halide::Func f("f");
  f(x) = 2 * x;
  Halide::Buffer<int> out = f.realize({5});
  if (out(4) != 8) return std::printf("f(4) is %d, not 8\n", out(4));
}
