#include <Halide.h>

#include <cstdio>

int main() {
  Halide::Func f("f");
  Halide::Var x("x");
  f(x) = x;
  f(x) = 2;
  f.realize({4});
  printf("Success!\n");
  return 0;
}
