/* Hexagon's DMA engine in programs written for Halide. No code is made for the device, so that it
 * is never there: a null interface says so. */
#ifndef POLYHALITE_HALIDE_RUNTIME_HEXAGONDMA_H
#define POLYHALITE_HALIDE_RUNTIME_HEXAGONDMA_H

#include "HalideRuntime.h"

static inline const struct halide_device_interface_t *halide_hexagon_dma_device_interface(void) {
  return NULL;
}

#endif
