#include "autosched/machine.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace polyhalite::autosched {

Machine machine_for(const Target &target, int cores) {
  Machine m;
  m.cores = cores > 0 ? cores : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // Machines with more cores have more channels: two cores want most of what one channel gives.
  if (m.cores > 2) m.memory_lanes *= std::sqrt(m.cores / 2.0);
  m.vector_bytes = std::max(1, target.natural_vector_size(UInt(8)));
  m.vector_registers = m.vector_bytes >= 64 || target.arch == Target::ARM ? 32 : 16;
  return m;
}

}  // namespace polyhalite::autosched
