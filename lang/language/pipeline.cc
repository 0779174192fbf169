#include "polyhalite/pipeline.h"

#include <iostream>

#include "polyhalite/buffer_contents.h"
#include "lang/language/names.h"
#include "lang/language/pipeline_contents.h"
#include "polyhalite/param.h"

namespace polyhalite {

Argument::Argument(const ImageParam &p) : param_(p.parameter()) {}

const Buffer<> &Realization::single() const {
  if (buffers_.size() != 1) {
    user_error(
        "a Realization of " + std::to_string(buffers_.size()) + " outputs is used as one Buffer",
        "only a single output converts", "take one by index, as in r[0]");
  }
  return buffers_[0];
}

size_t Realization::checked(size_t i) const {
  if (i < buffers_.size()) return i;
  user_error("output " + std::to_string(i) + " of a Realization",
             "it has " + std::to_string(buffers_.size()) + ", counted from 0",
             "ask for one of them");
}

Pipeline::Pipeline(const Func &output) : contents_(output.pipeline_contents()) {}

Pipeline::Pipeline(const std::vector<Func> &outputs)
    : contents_(std::make_shared<PipelineContents>()) {
  if (outputs.empty()) {
    user_error("a Pipeline without outputs", "there is nothing to compute",
               "give at least one Func");
  }
  for (const Func &f : outputs) contents_->outputs.push_back(f.function());
}

std::vector<Func> Pipeline::outputs() const {
  std::vector<Func> funcs;
  for (const auto &f : contents_->outputs) funcs.emplace_back(f);
  return funcs;
}

namespace {

EditStamp stamp_of(const FrozenPipeline &frozen, const Target &target) {
  EditStamp stamp;
  for (const auto &f : frozen.functions) {
    stamp.funcs.push_back({f, f->updates.size(), f->directives.size()});
  }
  for (const auto &p : frozen.bindings) stamp.params.push_back({p, p->edits});
  stamp.target = target.to_string();
  return stamp;
}

bool is_current(const EditStamp &stamp, const Target &target) {
  for (const EditStamp::FuncEdits &f : stamp.funcs) {
    if (f.func->updates.size() != f.updates || f.func->directives.size() != f.directives) {
      return false;
    }
  }
  for (const EditStamp::ParamEdits &p : stamp.params) {
    if (p.param->edits != p.edits) return false;
  }
  return stamp.target == target.to_string();
}

std::shared_ptr<const Compilation> compile(PipelineContents &p, Target target) {
  if (target == Target()) target = get_jit_target_from_environment();
  target.set_feature(Target::JIT);
  std::lock_guard<std::mutex> lock(p.mutex);
  if (p.last && is_current(p.last->stamp, target)) return p.last;
  auto c = std::make_shared<Compilation>();
  c->frozen = freeze(p.outputs);
  c->stamp = stamp_of(c->frozen, target);
  c->code = backend().jit(c->frozen, target);
  p.last = c;
  return c;
}

// Addresses of the bound inputs; images and scalars are kept alive by `bindings`.
std::vector<void *> bound_inputs(const Compilation &c, std::vector<uint64_t> *scalars,
                                 const Here &here) {
  scalars->reserve(c.frozen.bindings.size());
  std::vector<void *> args;
  for (const auto &p : c.frozen.bindings) {
    const std::string name = "'" + plain_name(p->name) + "'";
    if (p->is_buffer) {
      if (!p->buffer) {
        throw RuntimeError({"ImageParam " + name + " is not bound",
                            "the pipeline reads it, and no Buffer was set",
                            "call set(buffer) before realize", here.where});
      }
      args.push_back(&p->buffer->raw());
    } else {
      if (!p->has_scalar) {
        throw RuntimeError({"Param " + name + " has no value",
                            "the pipeline reads it, and no value was set",
                            "call set(value) before realize", here.where});
      }
      scalars->push_back(p->scalar_bits);
      args.push_back(&scalars->back());
    }
  }
  return args;
}

void run(const Compilation &c, const std::vector<polyhalite_buffer_t *> &outputs,
         const Here &here) {
  std::vector<uint64_t> scalars;
  std::vector<void *> args = bound_inputs(c, &scalars, here);
  for (polyhalite_buffer_t *b : outputs) args.push_back(b);
  std::string message;
  const int code = c.code->call(args, &message);
  if (code == 0) return;
  if (message.empty()) message = "the pipeline returned " + std::to_string(code);
  throw RuntimeError({message, "", "", here.where});
}

// One buffer per value of each output, in order.
std::vector<Type> output_types(const PipelineContents &p) {
  std::vector<Type> types;
  for (const auto &f : p.outputs) types.insert(types.end(), f->types.begin(), f->types.end());
  return types;
}

void check_outputs(const PipelineContents &p, const std::vector<polyhalite_buffer_t *> &buffers,
                   const Here &here) {
  size_t wanted = 0;
  for (const auto &f : p.outputs) wanted += f->types.size();
  if (buffers.size() != wanted) {
    throw RuntimeError({"realize() got " + std::to_string(buffers.size()) + " output buffers",
                        "the pipeline has " + std::to_string(wanted) + " outputs",
                        "give one buffer for each", here.where});
  }
  for (const polyhalite_buffer_t *b : buffers) {
    if (b) continue;
    throw RuntimeError({"realize() got an undefined output buffer", "there is nowhere to write to",
                        "construct the Buffer with its sizes", here.where});
  }
}

// An output, or the error at the caller's place.
Buffer<> allocated(Type t, const std::vector<int> &sizes, const Here &here) {
  auto placed = [&](Diagnostic d) {
    d.where = here.where;
    return d;
  };
  try {
    return Buffer<>(t, sizes);
  } catch (const CompileError &e) {
    throw CompileError(placed(e.diagnostic()));
  } catch (const RuntimeError &e) {
    throw RuntimeError(placed(e.diagnostic()));
  }
}

std::vector<std::shared_ptr<Parameter>> parameters(const std::vector<Argument> &args) {
  std::vector<std::shared_ptr<Parameter>> list;
  for (const Argument &a : args) list.push_back(a.parameter());
  return list;
}

}  // namespace

template <typename Self>
PipelineContents &Realizable<Self>::contents() const {
  const auto &p = static_cast<const Self &>(*this).pipeline_contents();
  if (!p) {
    user_error("an undefined Pipeline is compiled", "it has no outputs",
               "construct it from its output Funcs");
  }
  return *p;
}

template <typename Self>
Realization Realizable<Self>::realize(const std::vector<int> &sizes, const Target &target,
                                      Here here) {
  PipelineContents &p = contents();
  auto c = compile(p, target);
  for (const auto &f : p.outputs) {
    if (sizes.size() == f->pure_args.size()) continue;
    user_error(
        "realize() of '" + plain_name(f->name) + "' got " + std::to_string(sizes.size()) + " sizes",
        "it has " + std::to_string(f->pure_args.size()) + " dimensions",
        "give one extent for each dimension", here.where);
  }
  std::vector<Buffer<>> buffers;
  std::vector<polyhalite_buffer_t *> raw;
  for (Type t : output_types(p)) {
    buffers.push_back(allocated(t, sizes, here));
    raw.push_back(buffers.back().raw_buffer());
  }
  run(*c, raw, here);
  return Realization(std::move(buffers));
}

template <typename Self>
void Realizable<Self>::realize(const RealizationArg &outputs, const Target &target, Here here) {
  PipelineContents &p = contents();
  auto c = compile(p, target);
  check_outputs(p, outputs.buffers(), here);
  run(*c, outputs.buffers(), here);
}

template <typename Self>
void Realizable<Self>::compile_jit(const Target &target) {
  compile(contents(), target);
}

template <typename Self>
CompileTimes Realizable<Self>::compile_times() const {
  PipelineContents &p = contents();
  std::lock_guard<std::mutex> lock(p.mutex);
  return p.last ? p.last->code->times() : CompileTimes();
}

template <typename Self>
void Realizable<Self>::compile_to(const std::map<Emit, std::string> &files,
                                  const std::vector<Argument> &args, const std::string &name,
                                  const Target &target) {
  PipelineContents &p = contents();
  const std::string symbol = name.empty() ? plain_name(p.outputs[0]->name) : name;
  const FrozenPipeline frozen = freeze(p.outputs, parameters(args));
  if (files.size() != files.count(Emit::stmt)) check_arguments(frozen, parameters(args));
  backend().emit(frozen, symbol, target, files);
}

template <typename Self>
std::string Realizable<Self>::emit_text(Emit what, const std::vector<Argument> &args,
                                        const Target &target) const {
  PipelineContents &p = contents();
  return backend().emit_text(freeze(p.outputs, parameters(args)), plain_name(p.outputs[0]->name),
                             target, what);
}

template <typename Self>
std::vector<Argument> Realizable<Self>::infer_arguments() const {
  std::vector<Argument> args;
  for (const auto &p : freeze(contents().outputs).bindings) args.emplace_back(p);
  return args;
}

template <typename Self>
void Realizable<Self>::print_loop_nest() const {
  std::cerr << emit_text(Emit::tree);
}

template class Realizable<Func>;
template class Realizable<Pipeline>;

}  // namespace polyhalite
