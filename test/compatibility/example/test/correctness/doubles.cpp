#include <Halide.h>

#include <cstdio>

using namespace Halide;

int main() {
  Func f("f");
  Var x("x"), xi("xi");
  f(x) = 2 * x;
  f.split(x, x, xi, 4).vectorize(xi);
  Buffer<int> out = f.realize({16});
  for (int i = 0; i < 16; i++) {
    if (out(i) != 2 * i) {
      printf("out(%d) = %d\n", i, out(i));
      return 1;
    }
  }
  printf("Success!\n");
  return 0;
}
