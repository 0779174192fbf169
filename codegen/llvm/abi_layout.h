// Where the fields of the C interface's structs lie on the machine that code is made for, whose
// pointers may have another width than those of this one.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

namespace polyhalite {

/// Of structs of numbers of 32 bits the offsets are the same everywhere: those are read off the C
/// header.
struct AbiLayout {
  /// Of the machine whose data layout the module has.
  explicit AbiLayout(const llvm::Module &module);

  llvm::IntegerType *size_type;  // size_t
  uint64_t pointer_bytes;
  struct {
    uint64_t host, flags, type, dimensions, dim, bytes;
  } buffer;  // polyhalite_buffer_t
  struct {
    uint64_t instance, bytes;
  } profiler_thread;
  uint64_t profiler_instance_bytes, profiler_func_stats_bytes;
};

}  // namespace polyhalite
