#include "lang/ir/extern_stage.h"

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

constexpr size_t kFirstOperand = 2;  // behind the function's name and the value's number

}  // namespace

Expr extern_call_node(Type t, const char *name, std::vector<Expr> args) {
  return Expr(std::make_shared<CallNode>(t, CallKind::Extern, name, std::move(args)));
}

const CallNode *as_extern_stage(const StageDef &stage) {
  const CallNode *c = stage.values.empty() ? nullptr : as_call(stage.values[0]);
  return c && c->kind == CallKind::Extern && c->name == intrinsic::kExternStage ? c : nullptr;
}

const std::string &extern_function(const CallNode &stage) { return as_imm(stage.args[0])->s; }

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
