// The inputs of a pipeline: those that a caller lists, and the values that are bound to them.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

#include "lang/language/pipeline_contents.h"
#include "polyhalite/argument.h"
#include "polyhalite/var.h"

namespace polyhalite {

/// The parameters behind a list of arguments. One that is given by name is the pipeline's input of
/// that name, or else a new one that nothing reads. The user context is no input: left out.
std::vector<std::shared_ptr<ParameterContents>> declared_inputs(const PipelineContents &p,
                                                                const std::vector<Argument> &args);

/// The slots of a call: one for its own use, addresses of what is bound to the pipeline's inputs,
/// in order, and outputs. Scalars are copied; inputs' buffers are kept alive.
class BoundInputs {
 public:
  BoundInputs() = default;
  BoundInputs(const BoundInputs &) = delete;
  BoundInputs &operator=(const BoundInputs &) = delete;
  /// What is wrong, of each input that is not bound, or to a buffer without memory. `queries`:
  /// buffers of no memory for ImageParams that are not bound, to be asked about; then none is
  /// missing.
  std::vector<Diagnostic> bind(const FrozenPipeline &pipeline, const Here &here,
                               std::vector<runtime::Buffer<>> *queries = nullptr);
  void add_output(polyhalite_buffer_t *b) { slots_.push_back(b); }
  void **slots() { return slots_.data(); }

 private:
  // Of up to a hundred inputs all lies on the stack: small pipelines take as long as an allocation.
  std::byte room_[2048];
  std::pmr::monotonic_buffer_resource memory_{room_, sizeof(room_)};
  std::pmr::vector<uint64_t> scalars_{&memory_};
  std::pmr::vector<std::shared_ptr<BufferContents>> buffers_{&memory_};
  std::pmr::vector<void *> slots_ = std::pmr::vector<void *>(&memory_);
};

}  // namespace polyhalite
