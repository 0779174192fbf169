/* The operating system of Hexagon DSPs in programs written for Halide: no code is made for it. */
#ifndef POLYHALITE_HALIDE_RUNTIME_QURT_H
#define POLYHALITE_HALIDE_RUNTIME_QURT_H

#include "HalideRuntime.h"

#endif
