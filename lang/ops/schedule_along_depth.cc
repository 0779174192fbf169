#include "lang/ops/schedule_along_depth.h"

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_operands.h"

namespace polyhalite::ops {

//   for rows/tile, columns/tile { for k/lanes { tile of vectors of partial sums };
//                                 tile of sums: each adds up a vector }
void schedule_along_depth(const Stage &s, Func operand, const ProductTile &tile,
                          const LoopLevel &level, const LoopLevel &outside, const Target &target) {
  Func sums(s.func);
  const std::vector<Var> args = sums.args();
  const int lanes = target.natural_vector_size(sums.types()[0]);
  const Var column = operand.args()[0], depth = operand.args()[1];
  if (!dense_image(operand.value(), depth.name())) {
    operand.compute_at(outside).reorder_storage(depth, column);
    std::vector<Expr> sizes(operand.args().size());
    sizes[0] = s.rvars[0].extent();
    if (constant(s.extents[0]).value_or(0) > 0) sizes[1] = s.extents[0];
    Loops turned(operand, sizes);
    std::swap(turned.vars[0], turned.vars[1]);
    if (!schedule_transpose(turned, false, target)) {
      operand.reorder(depth, column).vectorize(depth, lanes, TailStrategy::GuardWithIf);
    }
  }
  RVar steps("steps"), within("within");
  Var lane("lane");
  sums.compute_at(level);
  sums.update().split(s.rvars[0], steps, within, lanes);
  Func partial = sums.update().rfactor(within, lane);
  partial.compute_at(level).reorder_storage(lane, args[0], args[1]);
  auto unroll_tile = [&](polyhalite::Stage stage) {
    if (tile.vectors > 1) stage.unroll(args[0]);
    if (tile.rows > 1) stage.unroll(args[1]);
  };
  auto in_order = [&](polyhalite::Stage stage, std::vector<VarOrRVar> order) {
    for (size_t i = 2; i < args.size(); i++) order.emplace_back(args[i]);
    stage.reorder(order);
    unroll_tile(stage);
  };
  unroll_tile(sums);
  in_order(sums.update(), {within, args[0], args[1]});
  sums.update().atomic().vectorize(within);
  in_order(partial, {lane, args[0], args[1]});
  partial.vectorize(lane);
  in_order(partial.update(), {lane, args[0], args[1], steps});
  partial.update().vectorize(lane);
  if (s.kind == Stage::Product && sums.num_update_definitions() > 1)
    in_order(sums.update(1), {sums.rvars(1)[0], args[0], args[1]});
}

}  // namespace polyhalite::ops
