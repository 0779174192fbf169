#include <polyhalite/runtime_buffer.h>

#include <cstdio>

#ifdef BRIGHTEN_HEADER
#include BRIGHTEN_HEADER
#else
#include "brighten.h"
#endif
#include "darken.h"

int main() {
  polyhalite::runtime::Buffer<uint8_t, 2> in(13, 3), out(13, 3);
  in.fill(250);
  if (brighten(in.raw_buffer(), out.raw_buffer()) != 0 || out(12, 2) != 255) {
    return std::printf("brighten gave %d, not 255\n", out(12, 2));
  }
  if (darken_u8(in.raw_buffer(), out.raw_buffer()) != 0 || out(12, 2) != 230) {
    return std::printf("darken gave %d, not 230\n", out(12, 2));
  }
}
