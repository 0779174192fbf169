// TrialCard: where the kernels of a trial run, on a card that is played or on this machine's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/oracle/interpret_ir.h"
#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/freeze.h"
#include "polyhalite/target.h"
#include "test/support/fake_cuda.h"

namespace polyhalite::test {

/// What runs the parts of a schedule that are a device's. None: there are no such parts.
enum class Device : uint8_t { None, Played, Card };

/// Why this machine's card cannot be used; empty: it can.
std::string why_no_card();

class TrialCard {
 public:
  /// `options`: how a played card runs kernels. Throws CompileError where the pipeline is refused.
  TrialCard(Device device, const FrozenPipeline &pipeline, const Target &target,
            const InterpretOptions &options);

  /// After a call of the pipeline's code: the host gets what the device wrote, and its memory of
  /// these buffers is given back. What went wrong on the card; empty: nothing.
  std::string finish(const std::vector<polyhalite_buffer_t *> &inputs,
                     const std::vector<polyhalite_buffer_t *> &outputs);

 private:
  const Device device_;
  std::optional<FakeCuda> played_;
};

}  // namespace polyhalite::test
