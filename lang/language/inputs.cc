#include "lang/language/inputs.h"

#include <optional>

#include "lang/language/names.h"
#include "polyhalite/buffer_contents.h"

namespace polyhalite {

std::vector<std::shared_ptr<ParameterContents>> declared_inputs(const PipelineContents &p,
                                                                const std::vector<Argument> &args) {
  std::vector<std::shared_ptr<ParameterContents>> list;
  std::optional<FrozenPipeline> used;  // computed for the first argument that needs it
  auto by_name = [&](const Argument &a) {
    if (!used) used = freeze_pipeline(p);
    for (const auto &input : used->bindings) {
      if (input->name == a.name || plain_name(input->name) == a.name) return input;
    }
    auto unread = std::make_shared<ParameterContents>();
    unread->name = clean_name(a.name);
    unread->type = a.type;
    unread->is_buffer = a.is_buffer();
    unread->dimensions = a.dimensions;
    unread->dims.resize(a.dimensions);
    return unread;
  };
  for (const Argument &a : args) {
    if (a.is_output()) {
      user_error("argument '" + a.name + "' is an output", "outputs are the pipeline's own",
                 "list inputs only");
    }
    if (!a.parameter().defined() && a.name == "__user_context") continue;
    list.push_back(a.parameter().defined() ? a.parameter().contents() : by_name(a));
  }
  return list;
}

std::vector<Diagnostic> BoundInputs::bind(const FrozenPipeline &pipeline, const Here &here,
                                          std::vector<runtime::Buffer<>> *queries) {
  constexpr size_t kSomeOutputs = 7;
  std::vector<Diagnostic> problems;
  const size_t count = pipeline.bindings.size();
  slots_.reserve(1 + count + kSomeOutputs);
  slots_.resize(1 + count);
  if (queries) queries->reserve(count);
  for (size_t i = 0; i < count; i++) {
    const ParameterContents &p = *pipeline.bindings[i];
    void *&slot = slots_[1 + i];
    if (!p.is_buffer) {
      if (!p.has_scalar) {
        problems.push_back({"Param " + quoted_name(p.name) + " has no value",
                            "the pipeline reads it, and no value was set",
                            "call set(value) before realize", here.where});
      }
      if (scalars_.empty()) scalars_.resize(count);  // which stay where they are
      scalars_[i] = p.scalar_bits;
      slot = &scalars_[i];
      continue;
    }
    std::shared_ptr<BufferContents> bound = p.buffer;
    if (bound && bound->raw().host) {
      slot = &bound->raw();
      if (buffers_.empty()) buffers_.resize(count);
      buffers_[i] = std::move(bound);
    } else if (queries) {
      const std::vector<polyhalite_dimension_t> dims(static_cast<size_t>(p.dimensions));
      queries->emplace_back(p.type, nullptr, dims);
      slot = queries->back().raw_buffer();
    } else if (bound) {
      problems.push_back(
          {"ImageParam " + quoted_name(p.name) + " is bound to a Buffer without memory",
           "its host pointer is null",
           "allocate the Buffer, or let infer_input_bounds() choose one", here.where});
    } else {
      problems.push_back({"ImageParam " + quoted_name(p.name) + " is not bound",
                          "the pipeline reads it, and no Buffer was set",
                          "call set(buffer) before realize", here.where});
    }
  }
  return problems;
}

}  // namespace polyhalite
