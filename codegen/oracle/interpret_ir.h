// interpret_ir: runs loop IR of either level, statement by statement, and checks every access.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "codegen/ir/stmt.h"
#include "lang/abi/polyhalite_runtime.h"

namespace polyhalite {

struct IrArguments {
  std::map<std::string, polyhalite_buffer_t *> buffers;
  std::map<std::string, Expr> scalars;  // constants
};

/// In which order the iterations of parallel loops run.
enum class ParallelOrder : uint8_t { Forward, Reverse, Shuffled };

struct InterpretOptions {
  ParallelOrder parallel = ParallelOrder::Forward;
  uint64_t seed = 0;  // of Shuffled
  /// Buffers of which elements may be read that nobody wrote: their values are random then, and
  /// must not make a difference.
  std::set<std::string> may_be_unwritten;
};

/// Writes f's outputs. A failing assertion throws RuntimeError with the call that it makes;
/// an access outside of its buffer, a read of an element that nobody wrote, a missing or mistyped
/// argument and a call of a user's function throw InternalError.
void interpret_ir(const Function &f, const IrArguments &args, const InterpretOptions &options = {});

}  // namespace polyhalite
