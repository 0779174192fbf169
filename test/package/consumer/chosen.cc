#include <polyhalite/runtime_buffer.h>

#include <cstdio>

#include "choice.function_info.h"
#include "choice.h"

static_assert(tool::choice_argument_info().size() == 2);

int main() {
  polyhalite::runtime::Buffer<uint8_t, 2> in(13, 3), out(13, 3);
  in.fill(5);
  if (tool::choice(in.raw_buffer(), out.raw_buffer()) != 0 || out(12, 2) != 25) {
    return std::printf("choice gave %d, not 25\n", out(12, 2));
  }
}
