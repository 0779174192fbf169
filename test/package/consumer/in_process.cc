#include <polyhalite/polyhalite.h>

#include <cstdio>

int main() {
  polyhalite::Var x("x"), y("y");
  polyhalite::Func f("f");
  f(x, y) = x + 10 * y;
  f.vectorize(x, 4);
  polyhalite::Buffer<int32_t, 2> result = f.realize({8, 4});
  if (result(7, 3) != 37) return std::printf("f(7, 3) is %d, not 37\n", result(7, 3));
}
