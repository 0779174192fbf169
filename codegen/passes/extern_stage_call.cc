#include "codegen/passes/extern_stage_call.h"

#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"
#include "polyhedral/extern_bounds.h"

namespace polyhalite {

namespace {

// An access of value `index` of a Func.
Expr box_view(const FuncDef &f, int index, const Box &box) {
  std::vector<Expr> mins, extents;
  for (const IndexRange &r : box) {
    mins.push_back(r.min);
    extents.push_back(make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1)));
  }
  return buffer_view(mins, extents, [&](const std::vector<Expr> &indices) {
    return make_func_call(f.types[static_cast<size_t>(index)], f.name, indices, index);
  });
}

}  // namespace

Stmt extern_stage_call(const LoopTree &tree, const Survey &survey, int func, const CallNode &call,
                       const Box &box) {
  const FuncDef &f = tree.algorithm.funcs[func];
  std::vector<Expr> args = {call.args[0]};
  for (const ExternOperand &o : extern_operands(call)) {
    const int producer = o.buffer ? tree.algorithm.index_of(o.buffer->name) : -1;
    args.push_back(!o.buffer      ? o.scalar
                   : producer < 0 ? view_of_image(*o.buffer)
                                  : box_view(tree.algorithm.funcs[producer], o.buffer->value_index,
                                             survey.funcs[producer].needed));
  }
  for (size_t i = 0; i < f.types.size(); i++) {
    args.push_back(box_view(f, static_cast<int>(i), box));
  }
  return make_evaluate(extern_call_node(Int(32), intrinsic::kExternStage, std::move(args)));
}

Stmt debug_to_files(const LoopTree &tree, int func, const Box &box) {
  const FuncDef &f = tree.algorithm.funcs[func];
  std::vector<Stmt> out;
  for (const Directive &d : tree.directives) {
    if (d.kind != DirectiveKind::DebugToFile || d.func != f.name) continue;
    out.push_back(make_evaluate(
        extern_call_node(Int(32), intrinsic::kDebugToFile, {d.factors[0], box_view(f, 0, box)})));
  }
  return out.empty() ? Stmt() : make_block(std::move(out));
}

}  // namespace polyhalite
