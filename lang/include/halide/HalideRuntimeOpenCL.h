/* OpenCL in programs written for Halide. No code is made for the device, so that it is never there:
 * a null interface says so. */
#ifndef POLYHALITE_HALIDE_RUNTIME_OPENCL_H
#define POLYHALITE_HALIDE_RUNTIME_OPENCL_H

#include "HalideRuntime.h"

static inline const struct halide_device_interface_t *halide_opencl_device_interface(void) {
  return NULL;
}
static inline const struct halide_device_interface_t *halide_opencl_image_device_interface(void) {
  return NULL;
}

#endif
