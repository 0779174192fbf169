// What a program that is built with -fsanitize=memory is told of memory that pipelines write and
// hand on (target feature msan). Without the sanitizer nothing happens.
#include "codegen/runtime/internal.h"

extern "C" {

__attribute__((weak)) void __msan_check_mem_is_initialized(const volatile void *, size_t);
__attribute__((weak)) void __msan_unpoison(const volatile void *, size_t);

PH_WEAK int polyhalite_msan_check_memory_is_initialized(void *, const void *memory, uint64_t bytes,
                                                        const char *) {
  if (__msan_check_mem_is_initialized) {
    __msan_check_mem_is_initialized(memory, static_cast<size_t>(bytes));
  }
  return 0;
}

PH_WEAK int polyhalite_msan_annotate_memory_is_initialized(void *, const void *memory,
                                                           uint64_t bytes) {
  if (__msan_unpoison) __msan_unpoison(memory, static_cast<size_t>(bytes));
  return 0;
}

}  // extern "C"

namespace {

// The elements as dense runs, in the order of their addresses: act(memory, bytes) of each. Padding
// between them is left out.
template <typename Act>
void for_each_run(const polyhalite_buffer_t &b, Act act) {
  struct Step {
    int64_t extent, stride;  // bytes
  };
  constexpr int kMost = 64;
  if (!b.host || b.dimensions > kMost) return;
  Step steps[kMost];
  int count = 0;
  const uint8_t *first = b.host;
  for (int d = 0; d < b.dimensions; d++) {
    const polyhalite_dimension_t &dim = b.dim[d];
    if (dim.extent <= 0) return;
    if (dim.extent == 1) continue;
    int64_t stride = int64_t{dim.stride} * b.type.bytes();
    if (stride < 0) first += stride * (dim.extent - 1);
    stride = stride < 0 ? -stride : stride;
    int at = count++;
    for (; at > 0 && steps[at - 1].stride > stride; at--) steps[at] = steps[at - 1];
    steps[at] = {dim.extent, stride};
  }
  int64_t run = b.type.bytes();
  int inner = 0;
  while (inner < count && steps[inner].stride <= run) {
    run += steps[inner].stride * (steps[inner].extent - 1);
    inner++;
  }
  int64_t position[kMost] = {};
  for (;;) {
    const uint8_t *at = first;
    for (int i = inner; i < count; i++) at += position[i] * steps[i].stride;
    act(at, static_cast<uint64_t>(run));
    int i = inner;
    while (i < count && ++position[i] == steps[i].extent) position[i++] = 0;
    if (i == count) return;
  }
}

uint64_t bytes_of_shape(const polyhalite_buffer_t &b) {
  return static_cast<uint64_t>(b.dimensions) * sizeof(polyhalite_dimension_t);
}

}  // namespace

extern "C" {

PH_WEAK int polyhalite_msan_check_buffer_is_initialized(void *user_context,
                                                        polyhalite_buffer_t *buffer,
                                                        const char *name) {
  // What is newer on a device is not looked at.
  if (!buffer || buffer->device_dirty()) return 0;
  for_each_run(*buffer, [&](const uint8_t *memory, uint64_t bytes) {
    polyhalite_msan_check_memory_is_initialized(user_context, memory, bytes, name);
  });
  return 0;
}

PH_WEAK int polyhalite_msan_annotate_buffer_is_initialized(void *user_context,
                                                           polyhalite_buffer_t *buffer) {
  if (!buffer || buffer->device_dirty()) return 0;
  for_each_run(*buffer, [&](const uint8_t *memory, uint64_t bytes) {
    polyhalite_msan_annotate_memory_is_initialized(user_context, memory, bytes);
  });
  return 0;
}

PH_WEAK void polyhalite_msan_annotate_buffer_is_initialized_as_destructor(void *user_context,
                                                                          void *buffer) {
  polyhalite_msan_annotate_buffer_is_initialized(user_context,
                                                 static_cast<polyhalite_buffer_t *>(buffer));
}

PH_WEAK int polyhalite_msan_annotate_description(void *user_context, polyhalite_buffer_t *buffer) {
  polyhalite_msan_annotate_memory_is_initialized(user_context, buffer, sizeof(*buffer));
  return polyhalite_msan_annotate_memory_is_initialized(user_context, buffer->dim,
                                                        bytes_of_shape(*buffer));
}

PH_WEAK int polyhalite_msan_check_argument(void *user_context, polyhalite_buffer_t *buffer,
                                           const char *name) {
  polyhalite_msan_check_memory_is_initialized(user_context, buffer, sizeof(*buffer), name);
  polyhalite_msan_check_memory_is_initialized(user_context, buffer->dim, bytes_of_shape(*buffer),
                                              name);
  return polyhalite_msan_check_buffer_is_initialized(user_context, buffer, name);
}

}  // extern "C"
