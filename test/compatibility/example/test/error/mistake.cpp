#include <Halide.h>

#include <cstdio>

int main() {
  Halide::Func f("f");
  Halide::Var x("x"), y("y");
  f(x) = x;
  f.parallel(y);
  printf("Success!\n");
  return 0;
}
