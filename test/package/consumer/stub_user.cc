#include <cstdio>

#include "brighten_stub.stub.h"

int main() {
  polyhalite::Buffer<uint8_t, 2> in(8, 4);
  in.fill(100);
  brighten::GeneratorParams params;
  params.amount = 11;
  const polyhalite::GeneratorContext context(polyhalite::get_jit_target_from_environment());
  auto result = brighten::generate(context, {in}, params);
  polyhalite::Buffer<uint8_t, 2> out = result.realize({8, 4});
  if (out(7, 3) != 111) return std::printf("the stub gave %d, not 111\n", out(7, 3));
}
