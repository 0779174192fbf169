#include "polyhalite/extern_stage.h"

#include "lang/ir/cxx_symbol.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/language/fixed_value.h"
#include "lang/language/names.h"
#include "polyhalite/func.h"
#include "polyhalite/param.h"

namespace polyhalite {

ExternFuncArgument::ExternFuncArgument(const Func &f) : func_(f.function()) {}
ExternFuncArgument::ExternFuncArgument(const ImageParam &p) : image_(p.parameter().contents()) {}

namespace {

Expr operand(const ExternFuncArgument &a, size_t position, const std::string &stage,
             const SourceLocation &where) {
  const std::string what =
      "argument " + std::to_string(position) + " of extern stage '" + plain_name(stage) + "'";
  if (a.func()) {
    const std::shared_ptr<FunctionContents> &f = a.func();
    if (f->types.empty()) {
      user_error(what + " is '" + plain_name(f->name) + "', which is undefined",
                 "there is nothing to pass", "define it first, as in f(x, y) = ...", where);
    }
    std::vector<Expr> calls;
    for (size_t i = 0; i < f->types.size(); i++) {
      auto node = std::make_shared<CallNode>(f->types[i], CallKind::Func, f->name,
                                             extern_indices(static_cast<int>(f->pure_args.size())));
      node->func = f;
      node->value_index = static_cast<int>(i);
      calls.push_back(Expr(std::move(node)));
    }
    return extern_buffer(calls);
  }
  if (a.image()) {
    auto node = std::make_shared<CallNode>(a.image()->type, CallKind::Image, a.image()->name,
                                           extern_indices(a.image()->dimensions));
    node->param = a.image();
    return extern_buffer({Expr(std::move(node))});
  }
  if (a.buffer().defined()) {
    return extern_buffer({a.buffer()(extern_indices(a.buffer().dimensions()))});
  }
  if (!a.scalar().defined()) {
    user_error(what + " is undefined", "there is nothing to pass",
               "give a Func, a Buffer, an ImageParam or a number", where);
  }
  detail::require_fixed_or_element(a.scalar(), what, where);
  return a.scalar();
}

}  // namespace

void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &params,
                         const std::vector<Type> &types, const std::vector<Var> &args,
                         NameMangling mangling, DeviceAPI device, Here here) {
  FunctionContents &f = *contents_;
  const std::string who = quoted_name(f.name);
  if (device != DeviceAPI::None && device != DeviceAPI::Host) {
    const char *device_name = device_api_name(device);
    user_error("extern stage " + who + " on " + (device_name ? device_name : "an unknown device") +
                   ": it is not available",
               "code is made for the processor only", "leave the device out", here.where);
  }
  if (f.pure) {
    user_error("extern stage " + who + " is defined already", "a Func has one pure definition",
               "use another Func", here.where);
  }
  if (types.empty()) {
    user_error("extern stage " + who + " has no values", "there is nothing to compute",
               "give the type of each value", here.where);
  }
  if (mangling == NameMangling::C && is_cxx_name(function)) {
    user_error("extern stage " + who + " of the C function '" + function + "'",
               "C has no namespaces", "take NameMangling::CPlusPlus, or a name without colons",
               here.where);
  }
  // What is C++'s shows in the name.
  const bool global = mangling == NameMangling::CPlusPlus && !is_cxx_name(function);
  std::vector<Expr> operands = {make_string((global ? "::" : "") + function), Expr(0)};
  for (size_t i = 0; i < params.size(); i++) {
    operands.push_back(operand(params[i], i, f.name, here.where));
  }
  Definition d;
  for (const Var &v : args) {
    f.pure_args.push_back(v.name());
    d.args.push_back(Expr(v));
  }
  for (size_t i = 0; i < types.size(); i++) {
    operands[1] = Expr(static_cast<int>(i));
    d.values.push_back(extern_call_node(
        types[i], mangling == NameMangling::C ? intrinsic::kExternCStage : intrinsic::kExternStage,
        operands));
  }
  d.where = here.where;
  f.types = types;
  f.where = here.where;
  f.pure = std::move(d);
}

void Func::define_extern(const std::string &function, const std::vector<ExternFuncArgument> &params,
                         const std::vector<Type> &types, int dimensions, NameMangling mangling,
                         DeviceAPI device, Here here) {
  std::vector<Var> args;
  for (int i = 0; i < dimensions; i++) args.emplace_back("_e" + std::to_string(i));
  define_extern(function, params, types, args, mangling, device, std::move(here));
}

namespace {

const CallNode *extern_stage_of(const FunctionContents &f) {
  if (!f.pure) return nullptr;
  StageDef stage;
  stage.values = f.pure->values;
  return as_extern_stage(stage);
}

}  // namespace

bool Func::is_extern() const { return extern_stage_of(*contents_) != nullptr; }

std::string Func::extern_function_name() const {
  const CallNode *stage = extern_stage_of(*contents_);
  if (!stage) {
    user_error("the C function of '" + plain_name(name()) + "'", "it is no extern stage",
               "define it with define_extern()");
  }
  const std::string &function = extern_function(*stage);
  return function.compare(0, 2, "::") == 0 ? function.substr(2) : function;
}

}  // namespace polyhalite
