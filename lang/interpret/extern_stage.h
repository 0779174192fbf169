// Extern stages: the interpreter calls their C functions, too.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "lang/interpret/program.h"
#include "lang/interpret/region.h"
#include "lang/ir/extern_stage.h"

namespace polyhalite::interpreter {

struct ExternContext {
  /// The stored values of a Func or an image.
  std::function<const Grid *(const CallNode &)> grid;
  /// Is this a Func, to be asked about?
  std::function<bool(const CallNode &)> is_func;
  const Bindings &bindings;
};

/// The boxes that the stage asks of its Funcs, by name, for `box` of its outputs.
std::map<std::string, Box> asked_by_extern(const FuncDef &f, const CallNode &stage, const Box &box,
                                           const ExternContext &context);
/// Computes the outputs over their whole grids.
void run_extern(const FuncDef &f, const CallNode &stage, const std::vector<Grid> &outputs,
                const ExternContext &context);

}  // namespace polyhalite::interpreter
