// The machine as the cost model sees it.
#pragma once

#include "polyhalite/target.h"

namespace polyhalite::autosched {

struct Machine {
  int cores = 1;
  int vector_bytes = 16;
  int vector_registers = 16;
  double cycle = 0.33;  // nanoseconds
  // What the working set of a core should not exceed, in bytes.
  double l1 = 28 << 10, l2 = 400 << 10, l3 = 6 << 20;
  // Nanoseconds a byte from the next level: the second cache, the third, memory.
  double from_l2 = 0.01, from_l3 = 0.02, from_memory = 0.03;
  double stream_start = 40;   // nanoseconds until memory delivers from a new place
  double memory_lanes = 1.7;  // by how much all cores read memory faster than one
  // The pages of arrays that the runtime does not keep between calls are new each time; a byte of
  // them costs as many nanoseconds more.
  double kept = 128 << 20, fresh = 0.1;
};

/// Typical processors of the target; `cores` threads will run the pipeline.
Machine machine_for(const Target &target, int cores);

}  // namespace polyhalite::autosched
