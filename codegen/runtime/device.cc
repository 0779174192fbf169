// Buffers on devices, by the interfaces that devices bring; copies between host memories.
#include "lang/abi/polyhalite_device.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

using Buffer = polyhalite_buffer_t;
using Device = polyhalite_device_interface_t;

int no_device(void *user_context) {
  report(user_context,
         "a buffer is used on a device: it is not available; keep the buffer in host memory");
  return polyhalite_error_code_no_device_interface;
}

// Elements of dimensions 0..d of both buffers, which lie at `from` and `to`.
void copy_elements(const Buffer &src, const uint8_t *from, const Buffer &dst, uint8_t *to, int d) {
  const size_t bytes = static_cast<size_t>(src.type.bits + 7) / 8;
  if (d < 0) {
    memcpy(to, from, bytes);
    return;
  }
  const polyhalite_dimension_t &s = src.dim[d], &t = dst.dim[d];
  from += static_cast<int64_t>(t.min - s.min) * s.stride * static_cast<int64_t>(bytes);
  if (d == 0 && s.stride == 1 && t.stride == 1) {
    if (t.extent > 0) memcpy(to, from, bytes * static_cast<size_t>(t.extent));
    return;
  }
  for (int i = 0; i < t.extent; i++) {
    const auto step = static_cast<int64_t>(bytes) * i;
    copy_elements(src, from + step * s.stride, dst, to + step * t.stride, d - 1);
  }
}

bool fits(const Buffer &src, const Buffer &dst) {
  if (src.dimensions != dst.dimensions || src.type.code != dst.type.code ||
      src.type.bits != dst.type.bits) {
    return false;
  }
  for (int d = 0; d < dst.dimensions; d++) {
    const polyhalite_dimension_t &s = src.dim[d], &t = dst.dim[d];
    if (t.min < s.min || int64_t{t.min} + t.extent > int64_t{s.min} + s.extent) return false;
  }
  return true;
}

constexpr int kUnsetDevice = -2;
std::atomic<int> gpu_device{kUnsetDevice};
std::atomic<bool> reuses_allocations{false};
std::atomic<polyhalite_device_allocation_pool *> allocation_pools{nullptr};

}  // namespace

}  // namespace polyhalite::runtime

using namespace polyhalite::runtime;  // NOLINT: all of this file

extern "C" {

PH_WEAK int polyhalite_copy_to_host(void *user_context, polyhalite_buffer_t *buf) {
  if (!buf->device_dirty()) return 0;
  if (!buf->device_interface) return no_device(user_context);
  return buf->device_interface->copy_to_host(user_context, buf);
}

PH_WEAK int polyhalite_copy_to_device(void *user_context, polyhalite_buffer_t *buf,
                                      const polyhalite_device_interface_t *device) {
  if (!device) device = buf->device_interface;
  if (!device) return no_device(user_context);
  return device->copy_to_device(user_context, buf, device);
}

PH_WEAK int polyhalite_buffer_copy(void *user_context, polyhalite_buffer_t *src,
                                   const polyhalite_device_interface_t *dst_device,
                                   polyhalite_buffer_t *dst) {
  if (dst_device) return dst_device->buffer_copy(user_context, src, dst_device, dst);
  if (src->device_dirty() || !src->host) {
    if (!src->device_interface) return no_device(user_context);
    return src->device_interface->buffer_copy(user_context, src, nullptr, dst);
  }
  if (!fits(*src, *dst)) {
    report(user_context,
           "a buffer is copied to one of another type, or beyond its own bounds; "
           "give a destination inside the source");
    return polyhalite_error_code_device_buffer_copy_failed;
  }
  if (!dst->host) {
    report(user_context,
           "a buffer is copied to the host: the destination has no memory there; allocate some");
    return polyhalite_error_code_host_is_null;
  }
  copy_elements(*src, src->host, *dst, dst->host, dst->dimensions - 1);
  // All of its elements are new on the host, whatever its device had.
  dst->set_host_dirty();
  dst->set_device_dirty(false);
  return 0;
}

PH_WEAK int polyhalite_device_malloc(void *user_context, polyhalite_buffer_t *buf,
                                     const polyhalite_device_interface_t *device) {
  return device ? device->device_malloc(user_context, buf, device) : no_device(user_context);
}

PH_WEAK int polyhalite_device_free(void *user_context, polyhalite_buffer_t *buf) {
  return buf->device_interface ? buf->device_interface->device_free(user_context, buf) : 0;
}

PH_WEAK int polyhalite_device_sync(void *user_context, polyhalite_buffer_t *buf) {
  return buf->device_interface ? buf->device_interface->device_sync(user_context, buf)
                               : no_device(user_context);
}

PH_WEAK void polyhalite_device_release(void *user_context,
                                       const polyhalite_device_interface_t *device) {
  if (device) device->device_release(user_context, device);
}

PH_WEAK int polyhalite_device_crop(void *user_context, const polyhalite_buffer_t *src,
                                   polyhalite_buffer_t *dst) {
  return src->device_interface ? src->device_interface->device_crop(user_context, src, dst)
                               : no_device(user_context);
}

PH_WEAK int polyhalite_device_slice(void *user_context, const polyhalite_buffer_t *src,
                                    int slice_dim, int slice_pos, polyhalite_buffer_t *dst) {
  return src->device_interface
             ? src->device_interface->device_slice(user_context, src, slice_dim, slice_pos, dst)
             : no_device(user_context);
}

PH_WEAK int polyhalite_device_release_crop(void *user_context, polyhalite_buffer_t *buf) {
  return buf->device_interface ? buf->device_interface->device_release_crop(user_context, buf) : 0;
}

PH_WEAK int polyhalite_device_wrap_native(void *user_context, polyhalite_buffer_t *buf,
                                          uint64_t handle,
                                          const polyhalite_device_interface_t *device) {
  return device ? device->wrap_native(user_context, buf, handle, device) : no_device(user_context);
}

PH_WEAK int polyhalite_device_detach_native(void *user_context, polyhalite_buffer_t *buf) {
  return buf->device_interface ? buf->device_interface->detach_native(user_context, buf) : 0;
}

PH_WEAK int polyhalite_device_sync_global(void *user_context,
                                          const polyhalite_device_interface_t *device) {
  return device ? device->device_sync(user_context, nullptr) : no_device(user_context);
}

PH_WEAK void polyhalite_set_gpu_device(int n) { gpu_device = n; }

PH_WEAK int polyhalite_get_gpu_device(void *) {
  const int chosen = gpu_device;
  if (chosen != kUnsetDevice) return chosen;
  const char *named = getenv("PH_GPU_DEVICE");
  if (!named) named = getenv("HL_GPU_DEVICE");
  return named ? atoi(named) : -1;
}

PH_WEAK int polyhalite_reuse_device_allocations(void *user_context, bool reuse) {
  reuses_allocations = reuse;
  int result = 0;
  if (reuse) return result;
  for (const auto *pool = allocation_pools.load(); pool; pool = pool->next) {
    const int error = pool->release_unused(user_context);
    if (result == 0) result = error;
  }
  return result;
}

PH_WEAK bool polyhalite_can_reuse_device_allocations(void *) { return reuses_allocations; }

PH_WEAK void polyhalite_register_device_allocation_pool(polyhalite_device_allocation_pool *pool) {
  pool->next = allocation_pools;
  while (!allocation_pools.compare_exchange_weak(pool->next, pool)) {
  }
}

}  // extern "C"
