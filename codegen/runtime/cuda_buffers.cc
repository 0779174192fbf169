// Buffers on NVIDIA's GPUs: memory, copies where the other side is newer, crops and slices.
//
// The field `device` is the address of the element at every dimension's min, as `host` is: a crop
// is an address further on, of memory that the whole buffer owns.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "codegen/runtime/cuda_driver.h"
#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_cuda.h"

namespace polyhalite::runtime::cuda {

namespace {

using Buffer = polyhalite_buffer_t;
using Interface = polyhalite_device_interface_t;

constexpr int kMostDimensions = 16;
// Rows further apart are copied one by one.
constexpr int64_t kMostPitch = INT32_MAX;

extern const Interface cuda_interface;

// -- Memory that is in use, or kept for other buffers

struct Block {
  Context context;
  Address address;
  size_t bytes;
  bool in_use;
  Block *next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// One copy at a time decides what is newer: two calls may bring the same input.
pthread_mutex_t copying = PTHREAD_MUTEX_INITIALIZER;
Block *blocks = nullptr;
polyhalite_device_allocation_pool pool = {polyhalite_cuda_release_unused_device_allocations,
                                          nullptr};
bool pool_is_registered = false;

class Locked {
 public:
  explicit Locked(pthread_mutex_t *m) : mutex_(m) { pthread_mutex_lock(m); }
  ~Locked() { pthread_mutex_unlock(mutex_); }

 private:
  pthread_mutex_t *mutex_;
};

// A kept block of at least `bytes`, of which at most a quarter would idle.
Block *take_kept(Context context, size_t bytes) {
  Locked locked(&lock);
  Block *best = nullptr;
  for (Block *b = blocks; b; b = b->next) {
    if (b->in_use || b->context != context || b->bytes < bytes) continue;
    if (b->bytes > bytes + bytes / 4 + 4096) continue;
    if (!best || b->bytes < best->bytes) best = b;
  }
  if (best) best->in_use = true;
  return best;
}

int release_kept(const Driver &d, Context context) {
  Block *released = nullptr;
  {
    Locked locked(&lock);
    for (Block **at = &blocks; *at;) {
      Block *b = *at;
      if (b->in_use || b->context != context) {
        at = &b->next;
        continue;
      }
      *at = b->next;
      b->next = released;
      released = b;
    }
  }
  Result first = 0;
  while (released) {
    Block *next = released->next;
    const Result result = d.free(released->address);
    if (first == 0) first = result;
    ::free(released);
    released = next;
  }
  return first;
}

int allocate(void *user_context, const Current &c, size_t bytes, Address *address) {
  if (Block *kept = take_kept(c.context, bytes)) {
    *address = kept->address;
    return 0;
  }
  const Driver &d = *c.driver;
  Result result = d.allocate(address, bytes);
  if (result == kOutOfMemory) {
    release_kept(d, c.context);
    result = d.allocate(address, bytes);
  }
  auto *block = result == 0 ? static_cast<Block *>(malloc(sizeof(Block))) : nullptr;
  if (!block) {
    if (result == 0) d.free(*address);
    char doing[64];
    snprintf(doing, sizeof doing, "allocate %zu bytes on the GPU", bytes);
    return fail_call(user_context, d, polyhalite_error_code_device_malloc_failed,
                     result ? result : kOutOfMemory, doing);
  }
  Locked locked(&lock);
  *block = {c.context, *address, bytes, true, blocks};
  blocks = block;
  return 0;
}

// False where the memory is none of this runtime's.
bool release(const Current &c, Address address, bool keep, Result *result) {
  *result = 0;
  {
    Locked locked(&lock);
    Block **at = &blocks;
    while (*at && !((*at)->in_use && (*at)->address == address && (*at)->context == c.context)) {
      at = &(*at)->next;
    }
    Block *b = *at;
    if (!b) return false;
    if (keep) {
      b->in_use = false;
      if (!pool_is_registered) polyhalite_register_device_allocation_pool(&pool);
      pool_is_registered = true;
      return true;
    }
    *at = b->next;
    ::free(b);
  }
  *result = c.driver->free(address);
  return true;
}

// -- Copies

enum class Way { ToDevice, ToHost, OnDevice };

struct CopyDimension {
  int64_t extent, src_step, dst_step;  // bytes
};

struct Copy {
  Way way;
  Stream stream;
  size_t chunk;  // bytes that lie in a row on both sides
  int dimensions;
  CopyDimension dims[kMostDimensions];
};

Result copy_chunk(const Driver &d, const Copy &c, uint64_t src, uint64_t dst) {
  switch (c.way) {
    case Way::ToDevice:
      return d.to_device(dst, reinterpret_cast<const void *>(src), c.chunk, c.stream);
    case Way::ToHost:
      return d.to_host(reinterpret_cast<void *>(dst), src, c.chunk, c.stream);
    default:
      return d.on_device(dst, src, c.chunk, c.stream);
  }
}

bool is_pitch(const Copy &c, const CopyDimension &dim) {
  const auto chunk = static_cast<int64_t>(c.chunk);
  return dim.src_step >= chunk && dim.dst_step >= chunk && dim.src_step < kMostPitch &&
         dim.dst_step < kMostPitch;
}

Result copy_rows(const Driver &d, const Copy &c, const CopyDimension &rows, uint64_t src,
                 uint64_t dst) {
  Copy2D copy = {};
  copy.width_bytes = c.chunk;
  copy.height = static_cast<size_t>(rows.extent);
  copy.src_pitch = static_cast<size_t>(rows.src_step);
  copy.dst_pitch = static_cast<size_t>(rows.dst_step);
  copy.src_kind = c.way == Way::ToDevice ? kHostMemory : kDeviceMemory;
  copy.dst_kind = c.way == Way::ToHost ? kHostMemory : kDeviceMemory;
  copy.src_host = reinterpret_cast<const void *>(src);
  copy.dst_host = reinterpret_cast<void *>(dst);
  copy.src_device = src;
  copy.dst_device = dst;
  return d.copy_2d(&copy, c.stream);
}

Result copy_dims(const Driver &d, const Copy &c, int dimension, uint64_t src, uint64_t dst) {
  if (dimension < 0) return copy_chunk(d, c, src, dst);
  const CopyDimension &dim = c.dims[dimension];
  if (dimension == 0 && is_pitch(c, dim)) return copy_rows(d, c, dim, src, dst);
  for (int64_t i = 0; i < dim.extent; i++) {
    const Result result =
        copy_dims(d, c, dimension - 1, src + static_cast<uint64_t>(i * dim.src_step),
                  dst + static_cast<uint64_t>(i * dim.dst_step));
    if (result != 0) return result;
  }
  return 0;
}

// Dimensions by rising steps; those that continue each other on both sides become one row.
void simplify(Copy *c) {
  auto magnitude = [](int64_t n) { return n < 0 ? -n : n; };
  for (int i = 1; i < c->dimensions; i++) {
    for (int k = i; k > 0; k--) {
      CopyDimension &a = c->dims[k - 1], &b = c->dims[k];
      if (magnitude(a.dst_step) <= magnitude(b.dst_step)) break;
      const CopyDimension kept = a;
      a = b;
      b = kept;
    }
  }
  int first = 0;
  while (first < c->dimensions && c->dims[first].src_step == static_cast<int64_t>(c->chunk) &&
         c->dims[first].dst_step == static_cast<int64_t>(c->chunk)) {
    c->chunk *= static_cast<size_t>(c->dims[first++].extent);
  }
  for (int i = first; i < c->dimensions; i++) c->dims[i - first] = c->dims[i];
  c->dimensions -= first;
}

// The elements of dst, from src, which has them; `from` and `to` are the addresses of the elements
// at the mins.
Result copy(const Current &current, Way way, const Buffer &src, uint64_t from, const Buffer &dst,
            uint64_t to) {
  Copy c = {way, current.stream, static_cast<size_t>(dst.type.bytes()), 0, {}};
  const auto bytes = static_cast<int64_t>(c.chunk);
  for (int i = 0; i < dst.dimensions; i++) {
    const polyhalite_dimension_t &s = src.dim[i], &t = dst.dim[i];
    if (t.extent <= 0) return 0;
    from += static_cast<uint64_t>(int64_t{t.min - s.min} * s.stride * bytes);
    if (t.extent == 1) continue;
    c.dims[c.dimensions++] = {t.extent, s.stride * bytes, t.stride * bytes};
  }
  simplify(&c);
  const Driver &d = *current.driver;
  const Result result = copy_dims(d, c, c.dimensions - 1, from, to);
  if (result != 0 || way == Way::OnDevice) return result;
  return d.synchronize_stream(current.stream);  // the host's memory is free to be used again
}

uint64_t host_address(const Buffer &b) { return reinterpret_cast<uint64_t>(b.host); }

int check_interface(void *user_context, const Buffer &b) {
  if (!b.device_interface || b.device_interface == &cuda_interface) return 0;
  return fail(user_context, polyhalite_error_code_incompatible_device_interface,
              "a buffer is used on the GPU: its memory is on another device; copy it to the host "
              "and free it there first");
}

int check_dimensions(void *user_context, const Buffer &b) {
  if (b.dimensions <= kMostDimensions) return 0;
  return fail(user_context, polyhalite_error_code_bad_dimensions,
              "a buffer on the GPU has %d dimensions: at most %d are copied; join some",
              b.dimensions, kMostDimensions);
}

// -- The interface

int device_malloc(void *user_context, Buffer *b, const Interface *) {
  if (const int error = check_interface(user_context, *b)) return error;
  if (b->device) return 0;
  Current c(user_context);
  if (c.error) return c.error;
  int64_t begin = b->begin_offset(), end = b->end_offset();
  if (b->number_of_elements() == 0) begin = end = 0;
  const auto element = static_cast<int64_t>(b->type.bytes());
  const auto bytes = static_cast<size_t>((end - begin) * element);
  Address address = 0;
  if (const int error = allocate(user_context, c, bytes ? bytes : 1, &address)) return error;
  b->device = address - static_cast<Address>(begin * element);
  b->device_interface = &cuda_interface;
  return 0;
}

int device_free(void *user_context, Buffer *b) {
  if (!b->device) return 0;
  if (const int error = check_interface(user_context, *b)) return error;
  Current c(user_context);
  if (c.error) return c.error;
  const int64_t begin = b->number_of_elements() == 0 ? 0 : b->begin_offset();
  const Address address = b->device + static_cast<Address>(begin * b->type.bytes());
  Result result = 0;
  const bool is_own =
      release(c, address, polyhalite_can_reuse_device_allocations(user_context), &result);
  b->device = 0;
  b->device_interface = nullptr;
  b->set_device_dirty(false);
  if (!is_own) {
    return fail(user_context, polyhalite_error_code_device_free_failed,
                "a buffer's memory on the GPU is freed: it was not allocated for it; detach memory "
                "that was wrapped, and free a crop with its whole buffer");
  }
  // Memory of a lost context is gone: programs that were told end their buffers in peace.
  if (result == 0 || (is_lost(result) && is_known_lost())) return 0;
  return fail_call(user_context, *c.driver, polyhalite_error_code_device_free_failed, result,
                   "free memory on the GPU");
}

int device_sync(void *user_context, Buffer *) {
  Current c(user_context);
  if (c.error) return c.error;
  const Result result = c.driver->synchronize();
  if (result == 0) return 0;
  return fail_call(user_context, *c.driver, polyhalite_error_code_device_sync_failed, result,
                   "wait for the GPU");
}

void device_release(void *user_context, const Interface *) {
  polyhalite_cuda_release_unused_device_allocations(user_context);
  release_driver();
}

int both_dirty(void *user_context) {
  return fail(user_context, polyhalite_error_code_host_and_device_dirty,
              "a buffer is copied between host and GPU: both have elements that the other has not "
              "seen; copy before writing on the other side");
}

int copy_to_host(void *user_context, Buffer *b) {
  Locked locked(&copying);
  if (!b->device_dirty()) return 0;
  if (b->host_dirty()) return both_dirty(user_context);
  if (!b->host) {
    return fail(user_context, polyhalite_error_code_host_is_null,
                "a buffer is copied from the GPU: it has no memory on the host; allocate some");
  }
  if (int error = check_interface(user_context, *b)) return error;
  if (int error = check_dimensions(user_context, *b)) return error;
  Current c(user_context);
  if (c.error) return c.error;
  const Result result = copy(c, Way::ToHost, *b, b->device, *b, host_address(*b));
  if (result != 0) {
    return fail_call(user_context, *c.driver, polyhalite_error_code_copy_to_host_failed, result,
                     "copy a buffer from the GPU");
  }
  b->set_device_dirty(false);
  return 0;
}

int copy_to_device(void *user_context, Buffer *b, const Interface *device) {
  Locked locked(&copying);
  if (const int error = device_malloc(user_context, b, device)) return error;
  if (!b->host_dirty()) return 0;
  if (b->device_dirty()) return both_dirty(user_context);
  if (!b->host) {
    return fail(user_context, polyhalite_error_code_host_is_null,
                "a buffer is copied to the GPU: it has no memory on the host; allocate some, or do "
                "not mark it as dirty there");
  }
  if (const int error = check_dimensions(user_context, *b)) return error;
  Current c(user_context);
  if (c.error) return c.error;
  const Result result = copy(c, Way::ToDevice, *b, host_address(*b), *b, b->device);
  if (result != 0) {
    return fail_call(user_context, *c.driver, polyhalite_error_code_copy_to_device_failed, result,
                     "copy a buffer to the GPU");
  }
  b->set_host_dirty(false);
  return 0;
}

int device_and_host_malloc(void *user_context, Buffer *b, const Interface *device) {
  const int64_t begin = b->begin_offset() * b->type.bytes();
  auto *memory = static_cast<uint8_t *>(polyhalite_malloc(user_context, b->size_in_bytes()));
  if (!memory) {
    return polyhalite_error_out_of_memory(user_context, "device_and_host_malloc", "a buffer",
                                          static_cast<int64_t>(b->size_in_bytes()));
  }
  const int error = device_malloc(user_context, b, device);
  if (error) {
    polyhalite_free(user_context, memory);
    return error;
  }
  b->host = memory - begin;
  return 0;
}

int device_and_host_free(void *user_context, Buffer *b) {
  const int error = device_free(user_context, b);
  if (b->host) polyhalite_free(user_context, b->begin());
  b->host = nullptr;
  b->set_host_dirty(false);
  return error;
}

// From where src is newest to dst's device memory, or its host memory where no device is named.
// dst has elements of src only, and all of its own are new then.
int buffer_copy(void *user_context, Buffer *src, const Interface *dst_device, Buffer *dst) {
  bool fits = src->dimensions == dst->dimensions && src->type == dst->type;
  for (int d = 0; fits && d < dst->dimensions; d++) {
    const polyhalite_dimension_t &s = src->dim[d], &t = dst->dim[d];
    fits = t.min >= s.min && int64_t{t.min} + t.extent <= int64_t{s.min} + s.extent;
  }
  if (!fits) {
    return fail(user_context, polyhalite_error_code_device_buffer_copy_failed,
                "a buffer is copied to one of another type, or beyond its own bounds; give a "
                "destination inside the source");
  }
  if (int error = check_dimensions(user_context, *dst)) return error;
  const bool from_device = src->device && (src->device_dirty() || !src->host);
  if (from_device) {
    if (int error = check_interface(user_context, *src)) return error;
  } else if (!src->host || src->device_dirty()) {
    return fail(user_context, polyhalite_error_code_host_is_null,
                "a buffer is copied: where its elements are newest, the source has no memory; "
                "allocate and fill it first");
  } else if (!dst_device) {
    return polyhalite_buffer_copy(user_context, src, nullptr, dst);  // between host memories
  }
  if (dst_device) {
    if (int error = device_malloc(user_context, dst, dst_device)) return error;
  } else if (!dst->host) {
    return fail(user_context, polyhalite_error_code_host_is_null,
                "a buffer is copied to the host: the destination has no memory there; allocate "
                "some");
  }
  Current c(user_context);
  if (c.error) return c.error;
  const Way way = !from_device ? Way::ToDevice : dst_device ? Way::OnDevice : Way::ToHost;
  const Result result = copy(c, way, *src, from_device ? src->device : host_address(*src), *dst,
                             dst_device ? dst->device : host_address(*dst));
  if (result != 0) {
    return fail_call(user_context, *c.driver, polyhalite_error_code_device_buffer_copy_failed,
                     result, "copy a buffer");
  }
  dst->set_device_dirty(dst_device != nullptr);
  dst->set_host_dirty(dst_device == nullptr);
  return 0;
}

int device_crop(void *user_context, const Buffer *src, Buffer *dst) {
  if (int error = check_interface(user_context, *src)) return error;
  int64_t offset = 0;
  for (int d = 0; d < dst->dimensions; d++) {
    offset += int64_t{dst->dim[d].min - src->dim[d].min} * src->dim[d].stride;
  }
  dst->device = src->device ? src->device + static_cast<Address>(offset * src->type.bytes()) : 0;
  dst->device_interface = src->device ? &cuda_interface : nullptr;
  dst->set_device_dirty(src->device_dirty());
  return 0;
}

int device_slice(void *user_context, const Buffer *src, int dimension, int position, Buffer *dst) {
  if (int error = check_interface(user_context, *src)) return error;
  const polyhalite_dimension_t &d = src->dim[dimension];
  const int64_t offset = int64_t{position - d.min} * d.stride * src->type.bytes();
  dst->device = src->device ? src->device + static_cast<Address>(offset) : 0;
  dst->device_interface = src->device ? &cuda_interface : nullptr;
  dst->set_device_dirty(src->device_dirty());
  return 0;
}

int device_release_crop(void *, Buffer *b) {
  b->device = 0;
  b->device_interface = nullptr;
  return 0;
}

int wrap_native(void *user_context, Buffer *b, uint64_t handle, const Interface *) {
  constexpr int kFailed = polyhalite_error_code_device_wrap_native_failed;
  if (b->device) {
    return fail(user_context, kFailed,
                "a buffer wraps memory of the GPU: it has such memory already; free it first");
  }
  Current c(user_context);
  if (c.error) return c.error;
  Context owner = nullptr;
  const Result result = c.driver->pointer_attribute(&owner, kContextOfPointer, handle);
  if (result != 0) {
    return fail(user_context, kFailed,
                "a buffer wraps memory of the GPU: %s for the address %#llx; give one that "
                "cuMemAlloc returned",
                ErrorName(*c.driver, result).text, static_cast<unsigned long long>(handle));
  }
  b->device = handle;
  b->device_interface = &cuda_interface;
  return 0;
}

int detach_native(void *user_context, Buffer *b) {
  if (int error = check_interface(user_context, *b)) return error;
  b->device = 0;
  b->device_interface = nullptr;
  b->set_device_dirty(false);
  return 0;
}

// Programs ask this before they use a card: where there is none it can do 0.0, which is no error.
int compute_capability(void *user_context, int *major, int *minor) {
  *major = *minor = 0;
  if (!has_driver()) return 0;
  Current c(user_context);
  if (c.error) return c.error;
  Device device = 0;
  Result result = c.driver->device_of_context(&device);
  if (result == 0) result = c.driver->device_attribute(major, kMajorCapability, device);
  if (result == 0) result = c.driver->device_attribute(minor, kMinorCapability, device);
  if (result == 0) return 0;
  return fail_call(user_context, *c.driver, polyhalite_error_code_gpu_device_error, result,
                   "ask the GPU what it can do");
}

const Interface cuda_interface = {device_malloc,
                                  device_free,
                                  device_sync,
                                  device_release,
                                  copy_to_host,
                                  copy_to_device,
                                  device_and_host_malloc,
                                  device_and_host_free,
                                  buffer_copy,
                                  device_crop,
                                  device_slice,
                                  device_release_crop,
                                  wrap_native,
                                  detach_native,
                                  compute_capability,
                                  nullptr};

}  // namespace

}  // namespace polyhalite::runtime::cuda

using namespace polyhalite::runtime::cuda;  // NOLINT: all of this file

extern "C" {

PH_WEAK const polyhalite_device_interface_t *polyhalite_cuda_device_interface(void) {
  return &cuda_interface;
}

PH_WEAK int polyhalite_cuda_wrap_device_ptr(void *user_context, polyhalite_buffer_t *buf,
                                            uint64_t device_ptr) {
  return wrap_native(user_context, buf, device_ptr, &cuda_interface);
}

PH_WEAK int polyhalite_cuda_detach_device_ptr(void *user_context, polyhalite_buffer_t *buf) {
  return detach_native(user_context, buf);
}

PH_WEAK uintptr_t polyhalite_cuda_get_device_ptr(void *, polyhalite_buffer_t *buf) {
  return static_cast<uintptr_t>(buf->device);
}

PH_WEAK int polyhalite_cuda_release_unused_device_allocations(void *user_context) {
  {
    // Nothing is kept where no driver was needed yet.
    Locked locked(&lock);
    if (!blocks) return 0;
  }
  Current c(user_context);
  if (c.error) return c.error;
  const Result result = release_kept(*c.driver, c.context);
  if (result == 0) return 0;
  return fail_call(user_context, *c.driver, polyhalite_error_code_device_free_failed, result,
                   "free memory on the GPU");
}

}  // extern "C"
