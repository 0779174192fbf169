// played_kernels: the kernels of a pipeline on a card that is played, so that its host code shows
// what it does with them: the checking interpreter of loop IR runs each on the card's own memory.
#pragma once

#include "codegen/oracle/interpret_ir.h"
#include "lang/ir/freeze.h"
#include "polyhalite/target.h"
#include "test/support/fake_cuda.h"

namespace polyhalite {

/// From now on `card` knows the kernels of the code that backend().jit makes of the pipeline for
/// this target, those for aligned operands too. They find out, and break the card where it is so
/// (`card.fault`): memory that is not the card's, races, elements outside of buffers, operands that
/// are not as aligned as was promised. `options`: the order of blocks and threads, and which of the
/// kernels' own buffers may be read where nobody wrote. Throws CompileError where the pipeline is
/// refused.
void play_kernels(const FrozenPipeline &pipeline, const Target &target,
                  const InterpretOptions &options, FakeCuda &card);

}  // namespace polyhalite
