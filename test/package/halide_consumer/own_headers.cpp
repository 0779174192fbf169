// A caller that declares Halide's runtime as Halide's own headers do, without any of ours.
#include <cstdio>

struct halide_buffer_t;
extern "C" {
typedef void (*halide_error_handler_t)(void *, const char *);
halide_error_handler_t halide_set_error_handler(halide_error_handler_t handler);
int half(halide_buffer_t *in, halide_buffer_t *out);
}

static int heard = 0;
static void hear(void *, const char *message) { heard += message[0] != 0; }

int main() {
  halide_set_error_handler(hear);
  const int code = half(nullptr, nullptr);
  if (code == 0 || heard != 1) {
    std::printf("half of nothing gave %d, and %d messages\n", code, heard);
    return 1;
  }
}
