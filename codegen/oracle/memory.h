// Memory: what a buffer of loop IR holds while it is interpreted, on the host and on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/oracle/race_check.h"
#include "lang/abi/polyhalite_runtime.h"
#include "polyhalite/type.h"

namespace polyhalite {

/// What a device has of a buffer.
struct DeviceMemory {
  std::vector<uint8_t> bytes;
  std::vector<bool> written;
  bool host_dirty = true, device_dirty = false;
};

/// An argument, a constant or an allocation.
struct Memory {
  Type type;
  uint8_t *data = nullptr;
  std::vector<polyhalite_dimension_t> dims;     // empty at the flat level's allocations
  int64_t first = 0, last = -1;                 // element indices that are inside
  std::shared_ptr<std::vector<uint8_t>> bytes;  // of allocations; tasks of a fork share them
  std::shared_ptr<std::vector<bool>> written;   // of allocations
  std::shared_ptr<DeviceMemory> device;         // once a kernel has needed it
  bool device_only = false, is_in_kernel = false, is_thread_own = false;
  std::shared_ptr<AccessRecords> accesses;  // by threads of kernels
};

/// Ends the interpretation: InternalError.
[[noreturn]] void oracle_error(std::string what);

/// The memory of a caller's buffer or of a constant; an error where it has none.
Memory external_memory(const std::string &name, Type type, const polyhalite_buffer_t &b);

/// The element at these indices; an error where one is outside.
int64_t element_at(const std::string &name, const Memory &m, const std::vector<int64_t> &indices);
void check_inside(const std::string &name, const Memory &m, int64_t at);

/// Copies where the other side has newer values.
void to_device(Memory &m);
void to_host(Memory &m);

}  // namespace polyhalite
