#include "lang/language/infer_bounds.h"

#include "lang/language/inputs.h"
#include "lang/language/names.h"
#include "lang/language/run_pipeline.h"
#include "polyhalite/buffer.h"

namespace polyhalite {

namespace {

// A shape that depends on itself settles after a few calls, or never.
constexpr int kMaxCalls = 16;

std::vector<polyhalite_dimension_t> shapes(const std::vector<runtime::Buffer<>> &inputs,
                                           const std::vector<polyhalite_buffer_t *> &outputs) {
  std::vector<polyhalite_dimension_t> dims;
  auto add = [&](const polyhalite_buffer_t &b) {
    dims.insert(dims.end(), b.dim, b.dim + b.dimensions);
  };
  for (const runtime::Buffer<> &b : inputs) add(*b.raw_buffer());
  for (const polyhalite_buffer_t *b : outputs) add(*b);
  return dims;
}

}  // namespace

void infer_input_bounds_of(PipelineContents &p, const std::vector<polyhalite_buffer_t *> &outputs,
                           JITUserContext *context, const Target &target, const Here &here) {
  auto c = compile_in_process(p, target);
  BoundInputs inputs;
  std::vector<runtime::Buffer<>> queries;
  if (auto problems = inputs.bind(c->frozen, here, &queries); !problems.empty()) {
    return report_failures(std::move(problems), context, p.handlers);
  }
  for (polyhalite_buffer_t *b : outputs) inputs.add_output(b);
  bool asks = !queries.empty();
  for (const polyhalite_buffer_t *b : outputs) asks = asks || b->is_bounds_query();
  if (!asks) return;  // the call would compute

  bool settled = false;
  for (int i = 0; i < kMaxCalls && !settled; i++) {
    const auto before = shapes(queries, outputs);
    if (!call_pipeline(*c->code, inputs.slots(), context, p.handlers, here)) return;
    settled = shapes(queries, outputs) == before;
  }
  if (!settled) {
    return report_failure(
        {"infer_input_bounds() found no shapes for the inputs",
         "the shapes that the pipeline asks for still change after " + std::to_string(kMaxCalls) +
             " calls: a constraint makes one depend on itself",
         "bind the inputs with set(), or lift the constraint", here.where},
        context, p.handlers);
  }
  size_t next = 0;
  for (const auto &param : c->frozen.bindings) {
    if (!param->is_buffer || (param->buffer && param->buffer->raw().host)) continue;
    runtime::Buffer<> b = queries[next++];
    try {
      b.allocate();
    } catch (const std::bad_alloc &) {
      return report_failure({"there is no memory for ImageParam '" + plain_name(param->name) +
                                 "', which needs " + std::to_string(b.size_in_bytes()) + " bytes",
                             "the machine's memory, or what this process may use of it, is smaller",
                             "ask for smaller outputs", here.where},
                            context, p.handlers);
    }
    param->buffer = detail::wrap_buffer(std::move(b), param->name);
  }
}

}  // namespace polyhalite
