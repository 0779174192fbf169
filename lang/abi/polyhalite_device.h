/* Buffers on devices: each call goes to the interface of the device. Without one, what needs a
 * device fails with no_device_interface. All return 0 or an error code. */
#ifndef POLYHALITE_DEVICE_H
#define POLYHALITE_DEVICE_H

#include "polyhalite_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the newer values are on the other side; nothing where they are not. */
int polyhalite_copy_to_host(void *user_context, struct polyhalite_buffer_t *buf);
int polyhalite_copy_to_device(void *user_context, struct polyhalite_buffer_t *buf,
                              const struct polyhalite_device_interface_t *device);
/* Copies the elements of dst, which src must have, from wherever src has them; a null device means
 * that dst gets them in host memory. */
int polyhalite_buffer_copy(void *user_context, struct polyhalite_buffer_t *src,
                           const struct polyhalite_device_interface_t *dst_device,
                           struct polyhalite_buffer_t *dst);
int polyhalite_device_malloc(void *user_context, struct polyhalite_buffer_t *buf,
                             const struct polyhalite_device_interface_t *device);
int polyhalite_device_free(void *user_context, struct polyhalite_buffer_t *buf);
int polyhalite_device_sync(void *user_context, struct polyhalite_buffer_t *buf);
void polyhalite_device_release(void *user_context,
                               const struct polyhalite_device_interface_t *device);
/* dst becomes a view of src on its device. */
int polyhalite_device_crop(void *user_context, const struct polyhalite_buffer_t *src,
                           struct polyhalite_buffer_t *dst);
int polyhalite_device_slice(void *user_context, const struct polyhalite_buffer_t *src,
                            int slice_dim, int slice_pos, struct polyhalite_buffer_t *dst);
int polyhalite_device_release_crop(void *user_context, struct polyhalite_buffer_t *buf);
int polyhalite_device_wrap_native(void *user_context, struct polyhalite_buffer_t *buf,
                                  uint64_t handle,
                                  const struct polyhalite_device_interface_t *device);
int polyhalite_device_detach_native(void *user_context, struct polyhalite_buffer_t *buf);

int polyhalite_device_sync_global(void *user_context,
                                  const struct polyhalite_device_interface_t *device);

/* Which device to use, counted from 0; -1 for the last one. At first, and after -2, it is
 * what PH_GPU_DEVICE or HL_GPU_DEVICE says, or the last one. */
void polyhalite_set_gpu_device(int n);
int polyhalite_get_gpu_device(void *user_context);

/* May memory that a device no longer needs be kept for other buffers? False at first; setting it to
 * false gives back what is kept, and the first error in doing so is returned. */
int polyhalite_reuse_device_allocations(void *user_context, bool reuse);
bool polyhalite_can_reuse_device_allocations(void *user_context);
/* What keeps memory registers itself, for good; `next` belongs to the runtime then. */
struct polyhalite_device_allocation_pool {
  int (*release_unused)(void *user_context);
  struct polyhalite_device_allocation_pool *next;
};
void polyhalite_register_device_allocation_pool(struct polyhalite_device_allocation_pool *pool);

#ifdef __cplusplus
}
#endif
#endif
