#include "lang/interpret/extern_stage.h"

#include <memory>

#include "lang/interpret/c_call.h"

namespace polyhalite::interpreter {

namespace {

// A polyhalite_buffer_t with its dimensions.
struct RawBuffer {
  polyhalite_buffer_t raw{};
  std::vector<polyhalite_dimension_t> dims;

  RawBuffer(Type t, uint8_t *host, std::vector<polyhalite_dimension_t> d) : dims(std::move(d)) {
    raw.type = t;
    raw.host = host;
    raw.dimensions = static_cast<int32_t>(dims.size());
    raw.dim = dims.data();
  }
};

RawBuffer of_grid(const Grid &g) {
  std::vector<polyhalite_dimension_t> dims;
  for (size_t d = 0; d < g.min.size(); d++) {
    dims.emplace_back(static_cast<int32_t>(g.min[d]), static_cast<int32_t>(g.extent[d]),
                      static_cast<int32_t>(g.stride[d]));
  }
  return RawBuffer(g.type, g.host, std::move(dims));
}

RawBuffer of_box(Type t, const Box &box) {
  std::vector<polyhalite_dimension_t> dims;
  int64_t stride = 1;
  for (const Span &s : box) {
    dims.emplace_back(static_cast<int32_t>(s.min), static_cast<int32_t>(s.extent()),
                      static_cast<int32_t>(stride));
    stride *= s.extent();
  }
  return RawBuffer(t, nullptr, std::move(dims));
}

// The call, once all its buffers are made.
void call(const CallNode &stage, const std::vector<ExternOperand> &operands,
          const std::vector<std::unique_ptr<RawBuffer>> &inputs, std::vector<RawBuffer> &outputs,
          const ExternContext &context, const SourceLocation &where) {
  CCall c;
  bool fits = true;
  for (size_t i = 0; i < operands.size(); i++) {
    if (inputs[i]) {
      fits = fits && c.add_pointer(&inputs[i]->raw);
      continue;
    }
    Program program(context.bindings);
    Register *value = program.compile(operands[i].scalar);
    program.run(Level::Once, 1);
    if (value->poisoned && value->poison[0]) throw RuntimeError(program.explain(*value, 0));
    fits = fits && c.add(value->type, value->bytes.get());
  }
  for (RawBuffer &b : outputs) fits = fits && c.add_pointer(&b.raw);
  const std::string name = extern_stage_symbol(stage, outputs.size(), get_host_target());
  if (!fits) too_many_arguments(name);
  const int code = static_cast<int>(c.call<int64_t>(exported_function(name)));
  if (code == 0) return;
  throw RuntimeError({"the function '" + name + "' of an extern stage returned " +
                          std::to_string(code) + ", not 0",
                      "", "", where});
}

}  // namespace

std::map<std::string, Box> asked_by_extern(const FuncDef &f, const CallNode &stage, const Box &box,
                                           const ExternContext &context) {
  const std::vector<ExternOperand> operands = extern_operands(stage);
  std::vector<std::unique_ptr<RawBuffer>> inputs;
  bool asks = false;
  for (const ExternOperand &o : operands) {
    inputs.push_back(nullptr);
    if (!o.buffer) continue;
    if (context.is_func(*o.buffer)) {
      asks = true;
      inputs.back() = std::make_unique<RawBuffer>(
          o.buffer->type, nullptr, std::vector<polyhalite_dimension_t>(o.buffer->args.size()));
    } else {
      inputs.back() = std::make_unique<RawBuffer>(of_grid(*context.grid(*o.buffer)));
    }
    inputs.back()->raw.dim = inputs.back()->dims.data();
  }
  std::map<std::string, Box> asked;
  if (!asks) return asked;
  std::vector<RawBuffer> outputs;
  for (Type t : f.types) outputs.push_back(of_box(t, box));
  for (RawBuffer &b : outputs) b.raw.dim = b.dims.data();
  call(stage, operands, inputs, outputs, context, f.where);
  for (size_t i = 0; i < operands.size(); i++) {
    if (!operands[i].buffer || !context.is_func(*operands[i].buffer)) continue;
    Box need;
    for (const polyhalite_dimension_t &d : inputs[i]->dims) {
      need.push_back({d.min, int64_t{d.min} + d.extent - 1});
    }
    const std::string &name = operands[i].buffer->name;
    asked[name] = asked.count(name) ? hull(asked[name], need) : need;
  }
  return asked;
}

void run_extern(const FuncDef &f, const CallNode &stage, const std::vector<Grid> &outputs,
                const ExternContext &context) {
  const std::vector<ExternOperand> operands = extern_operands(stage);
  std::vector<std::unique_ptr<RawBuffer>> inputs;
  for (const ExternOperand &o : operands) {
    inputs.push_back(o.buffer ? std::make_unique<RawBuffer>(of_grid(*context.grid(*o.buffer)))
                              : nullptr);
    if (inputs.back()) inputs.back()->raw.dim = inputs.back()->dims.data();
  }
  std::vector<RawBuffer> out;
  for (const Grid &g : outputs) out.push_back(of_grid(g));
  for (RawBuffer &b : out) b.raw.dim = b.dims.data();
  call(stage, operands, inputs, out, context, f.where);
}

}  // namespace polyhalite::interpreter
