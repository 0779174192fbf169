// A program with a function of its own in the place of one of the runtime's: it sees each index of
// a parallel loop.
#include <polyhalite/runtime_buffer.h>

#include <atomic>
#include <cstdio>

#include "threaded.h"

namespace {
std::atomic<int> tasks{0};
}

extern "C" int polyhalite_do_task(void *user_context, int (*task)(void *, int, uint8_t *),
                                  int index, uint8_t *closure) {
  tasks++;
  return task(user_context, index, closure);
}

int main() {
  polyhalite::runtime::Buffer<uint8_t, 2> in(13, 100), out(13, 100);
  in.fill(5);
  if (threaded(in.raw_buffer(), out.raw_buffer()) != 0 || out(12, 99) != 25) {
    return std::printf("threaded gave %d, not 25\n", out(12, 99));
  }
  if (tasks != 100) return std::printf("there were %d tasks, not 100\n", tasks.load());
}
