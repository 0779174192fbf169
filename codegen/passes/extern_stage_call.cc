#include "codegen/passes/extern_stage_call.h"

#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "polyhalite/error.h"
#include "polyhedral/extern_bounds.h"

namespace polyhalite {

namespace {

// A box of value `index` of a Func, at its place in memory. A ring holds it in one piece
// (polyhedral/judge_rings).
Expr box_view(const LoopTree &tree, const Survey &survey, int func, size_t index, const Box &box) {
  const FuncDef &f = tree.algorithm.funcs[static_cast<size_t>(func)];
  const std::vector<int64_t> &fold = survey.funcs[static_cast<size_t>(func)].fold;
  std::vector<Expr> mins, extents;
  for (const IndexRange &r : box) {
    mins.push_back(r.min);
    extents.push_back(make_binary(Op::Add, make_binary(Op::Sub, r.max, r.min), Expr(1)));
  }
  return buffer_view(mins, extents, [&](std::vector<Expr> indices) {
    for (size_t d = 0; d < fold.size(); d++) {
      if (fold[d] == 0) continue;
      const Expr begin = make_binary(Op::Mod, mins[d], make_int(mins[d].type(), fold[d]));
      indices[d] = make_binary(Op::Add, begin, make_binary(Op::Sub, indices[d], mins[d]));
    }
    return make_func_call(f.types[index], f.name, indices, static_cast<int>(index));
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
                                  : box_view(tree, survey, producer,
                                             static_cast<size_t>(o.buffer->value_index),
                                             survey.funcs[producer].needed));
  }
  for (size_t i = 0; i < f.types.size(); i++) {
    args.push_back(box_view(tree, survey, func, i, box));
  }
  return make_evaluate(extern_call_node(Int(32), intrinsic::kExternStage, std::move(args)));
}

Stmt debug_to_files(const LoopTree &tree, const Survey &survey, int func, const Box &box) {
  const FuncDef &f = tree.algorithm.funcs[func];
  std::vector<Stmt> out;
  for (const Directive &d : tree.directives) {
    if (d.kind != DirectiveKind::DebugToFile || d.func != f.name) continue;
    out.push_back(make_evaluate(extern_call_node(
        Int(32), intrinsic::kDebugToFile, {d.factors[0], box_view(tree, survey, func, 0, box)})));
  }
  return out.empty() ? Stmt() : make_block(std::move(out));
}

}  // namespace polyhalite
