/* GPUs through NVIDIA's driver, which is loaded when the first call needs it. Without a driver or a
 * card every call reports that the GPU is not available, and returns an error code. */
#ifndef POLYHALITE_CUDA_H
#define POLYHALITE_CUDA_H

#include "polyhalite_device.h"

#ifdef __cplusplus
extern "C" {
#endif

const struct polyhalite_device_interface_t *polyhalite_cuda_device_interface(void);

/* `buf`, which has no device memory yet, uses memory that somebody else owns: device_ptr is the
 * address of the element at every dimension's min. The dirty bits stay as they are. */
int polyhalite_cuda_wrap_device_ptr(void *user_context, struct polyhalite_buffer_t *buf,
                                    uint64_t device_ptr);
/* Ends that; the memory stays its owner's. */
int polyhalite_cuda_detach_device_ptr(void *user_context, struct polyhalite_buffer_t *buf);
/* 0 where the buffer has no device memory. */
uintptr_t polyhalite_cuda_get_device_ptr(void *user_context, struct polyhalite_buffer_t *buf);
/* Gives kept memory back to the driver; see polyhalite_reuse_device_allocations. */
int polyhalite_cuda_release_unused_device_allocations(void *user_context);

/* Where contexts (CUcontext) and streams (CUstream) come from. By default the primary context of
 * the device that polyhalite_get_gpu_device names, and the default stream. Each call of the first
 * is followed by one of the second on the same thread. Setting returns the handler before; null
 * sets the default. */
typedef int (*polyhalite_cuda_acquire_context_t)(void *user_context, void **context, bool create);
typedef int (*polyhalite_cuda_release_context_t)(void *user_context);
typedef int (*polyhalite_cuda_get_stream_t)(void *user_context, void *context, void **stream);
polyhalite_cuda_acquire_context_t polyhalite_set_cuda_acquire_context(
    polyhalite_cuda_acquire_context_t handler);
polyhalite_cuda_release_context_t polyhalite_set_cuda_release_context(
    polyhalite_cuda_release_context_t handler);
polyhalite_cuda_get_stream_t polyhalite_set_cuda_get_stream(polyhalite_cuda_get_stream_t handler);
int polyhalite_cuda_acquire_context(void *user_context, void **context, bool create);
int polyhalite_cuda_release_context(void *user_context);
int polyhalite_cuda_get_stream(void *user_context, void *context, void **stream);

/* The kernels of one compiled pipeline. For compiled code. */
typedef struct polyhalite_cuda_kernel_t {
  const char *symbol; /* in the PTX */
  const char *stage;  /* for messages */
} polyhalite_cuda_kernel_t;
typedef struct polyhalite_cuda_module_t {
  const char *pipeline; /* for messages */
  const char *portable; /* PTX for `capability` and later */
  const char *sm_90a;   /* PTX for compute capability 9.0 only, or null */
  const polyhalite_cuda_kernel_t *kernels;
  uint64_t hash;      /* of the texts: equal modules are loaded once */
  int32_t capability; /* 80 is 8.0 */
  int32_t kernel_count;
  int32_t has_wide_indices; /* buffers may have more elements than an int32_t counts */
  int32_t reserved;
} polyhalite_cuda_module_t;
/* Launches a kernel on blocks[0] * blocks[1] * blocks[2] blocks; nothing where that is not
 * positive. args: `buffers` addresses of polyhalite_buffer_t, which have device memory, then the
 * addresses of the other parameters' values. Returns when the kernel is on its way; with
 * PH_DEBUG_CUDA=1 in the environment when it has ended. */
int polyhalite_cuda_run(void *user_context, const polyhalite_cuda_module_t *module, int32_t kernel,
                        const int32_t *blocks, const int32_t *threads, int32_t shared_bytes,
                        void **args, int32_t buffers);

#ifdef __cplusplus
}
#endif
#endif
