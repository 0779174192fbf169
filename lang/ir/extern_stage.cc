#include "lang/ir/extern_stage.h"

#include "lang/ir/cxx_symbol.h"
#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

constexpr size_t kFirstOperand = 2;  // behind the function's name and the value's number

}  // namespace

Expr extern_call_node(Type t, const char *name, std::vector<Expr> args) {
  return Expr(std::make_shared<CallNode>(t, CallKind::Extern, name, std::move(args)));
}

const CallNode *as_extern_stage(const StageDef &stage) {
  return stage.values.empty() ? nullptr : as_extern_stage(stage.values[0]);
}

const CallNode *extern_stage_of(const FuncDef &f) {
  for (const StageDef &stage : f.stages) {
    if (const CallNode *call = as_extern_stage(stage)) return call;
  }
  return nullptr;
}

const CallNode *as_extern_stage(const Expr &value) {
  const CallNode *c = as_call(value);
  const bool is_one = c && c->kind == CallKind::Extern &&
                      (c->name == intrinsic::kExternStage || c->name == intrinsic::kExternCStage);
  return is_one ? c : nullptr;
}

const std::string &extern_function(const CallNode &stage) { return as_imm(stage.args[0])->s; }

std::string extern_stage_symbol(const CallNode &stage, size_t values, const Target &target) {
  std::string name = extern_function(stage);
  const bool by_target = stage.name == intrinsic::kExternStage && !is_cxx_name(name);
  if (by_target && target.has_feature(Target::CPlusPlusMangling)) name = "::" + name;
  std::vector<Type> types;
  for (const ExternOperand &o : extern_operands(stage)) {
    types.push_back(o.buffer ? buffer_pointer() : o.scalar.type());
  }
  types.insert(types.end(), values, buffer_pointer());
  return extern_symbol(name, types, target.bits);
}

std::vector<ExternOperand> extern_operands(const CallNode &stage) {
  std::vector<ExternOperand> operands;
  for (size_t i = kFirstOperand; i < stage.args.size(); i++) {
    const CallNode *c = as_call(stage.args[i]);
    if (!c || c->kind != CallKind::Intrinsic || c->name != intrinsic::kExternBuffer) {
      operands.push_back({nullptr, stage.args[i]});
      continue;
    }
    for (const Expr &value : c->args) operands.push_back({as_call(value), Expr()});
  }
  return operands;
}

Expr extern_buffer(const std::vector<Expr> &calls) {
  return make_intrinsic(Handle(), intrinsic::kExternBuffer, calls);
}

std::vector<Expr> extern_indices(int count) {
  return std::vector<Expr>(static_cast<size_t>(count),
                           make_intrinsic(Int(32), intrinsic::kExternIndex, {}));
}

Expr buffer_query(Type t, int dimensions, const std::vector<Expr> &box) {
  std::vector<Expr> args = {Expr(static_cast<polyhalite_type_t>(t).as_u32()), Expr(dimensions)};
  args.insert(args.end(), box.begin(), box.end());
  return extern_call_node(Handle(), intrinsic::kBufferQuery, std::move(args));
}

}  // namespace polyhalite
