// The storage of a Func around what uses it: an allocation of its own, or a place in memory that is
// allocated further outside.
#pragma once

#include "codegen/ir/stmt.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// Where a storage stands.
enum class StoragePlace : uint8_t {
  Host,
  Block,   // in a kernel, outside of its loops over threads
  Thread,  // in a loop over threads
};

///     body  ->  allocate f : T (min, extent, ...)  body
/// or, of hoisted storage,
///     body  ->  place f : T (min, extent, ...) in f.memory at slot  body
/// CompileError where a kernel cannot have it: without constant size, on the heap.
Stmt with_storage(const LoopTree &tree, const Survey &survey, int func, StoragePlace place,
                  Stmt body);

/// The memory that storages inside are placed in, those of a ring one behind the other:
///     body  ->  allocate f.memory : T (0, elements, 0, slots)  body
Stmt with_hoisted_memory(const LoopTree &tree, const Survey &survey, int func, Stmt body);

}  // namespace polyhalite
