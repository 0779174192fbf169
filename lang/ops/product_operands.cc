#include "lang/ops/product_operands.h"

#include <algorithm>

#include "lang/ir/function.h"
#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

const CallNode *image_under_cast(Expr e) {
  if (e->op == Op::Cast) e = e->args[0];
  const CallNode *call = as_call(e);
  return call && (call->param || call->image) && !call->args.empty() ? call : nullptr;
}

// Does a step of it go to the image's next element? Its innermost index is it, and no other depends
// on it; or it counts elements over several dimensions of known strides.
bool runs_along(const CallNode &image, const std::string &variable) {
  const VariableNode *first = as_variable(image.args[0]);
  bool others = false;
  for (size_t d = 1; d < image.args.size(); d++)
    others = others || uses_variable(image.args[d], variable);
  if (!others) return first && first->name == variable;
  if (!image.param) return false;
  const Expr step = Var("step");
  Expr offset = 0;
  for (size_t d = 0; d < image.args.size(); d++) {
    if (!uses_variable(image.args[d], variable)) continue;
    const auto stride = constant(image.param->dims[d].stride);
    if (!stride) return false;
    offset = offset + substitute(variable, step, image.args[d]) * static_cast<int>(*stride);
  }
  return !uses_variable(simplify(offset - step), "step");
}

bool is_rest(const Expr &e, const std::string &of, int64_t *by) {
  const VariableNode *v = e->op == Op::Mod ? as_variable(e->args[0]) : nullptr;
  return v && v->name == of && is_const_int(e->args[1], by);
}

}  // namespace

const CallNode *image_of(const Func &operand) {
  return dense_image(operand.value(), operand.args()[0].name());
}

const CallNode *dense_image(Expr e, const std::string &depth) {
  const CallNode *image = image_under_cast(std::move(e));
  return image && runs_along(*image, depth) ? image : nullptr;
}

const CallNode *dense_factor(const Func &sums, const std::string &depth) {
  for (const Expr &term : Func(sums).update_value()->args) {
    if (term->op != Op::Mul) continue;
    for (const Expr &factor : term->args) {
      if (const CallNode *image = dense_image(factor, depth)) return image;
    }
  }
  return nullptr;
}

bool is_packed(const Tensor &b, int terms) {
  if (b.rank() < 2) return false;
  const std::vector<Var> vars = index_vars(b.rank());
  const Expr element = b(as_index(vars));
  const CallNode *image = image_under_cast(element);
  int64_t step = 0, columns = 0;
  return image && image->args.size() == 4 &&
         is_rest(image->args[0], vars[vars.size() - 2].name(), &step) && step == terms &&
         is_rest(image->args[1], vars.back().name(), &columns);
}

bool lies_in_dots(Expr e, const std::string &depth, int terms) {
  if (e->op == Op::Cast) e = e->args[0];
  const CallNode *call = as_call(e);
  int64_t by = 0;
  return call && (call->kind == CallKind::Func || call->kind == CallKind::Image) &&
         !call->args.empty() && is_rest(call->args[0], depth, &by) && by == terms;
}

bool turn_as_packed(const Func &operand, int64_t columns, const Expr &depth, const Target &target) {
  std::vector<Expr> extents(operand.args().size(), Expr(1));
  extents[0] = Expr(static_cast<int>(columns));
  extents[1] = depth;
  return schedule_transpose(Loops(operand, extents), false, target);
}

void pack_rows(Func operand, const ProductTile &tile, bool in_strips, bool open) {
  constexpr int kRows = 8;
  const Var column = operand.args()[0], depth = operand.args()[1];
  if (!in_strips) {
    operand.vectorize(column, tile.lanes, TailStrategy::GuardWithIf);
    return;
  }
  if (open) {
    operand.split(column, Var("strips"), column, tile.columns(), TailStrategy::ShiftInwards);
  }
  // A loop over a row's few vectors takes 15% of 128x768x768 (Zen 3), to wait for rows 3%.
  operand.vectorize(column, tile.lanes);
  if (tile.vectors > 1) operand.unroll(column);
  const CallNode *image = image_of(operand);
  if (image && image->param) {
    operand.prefetch(ImageParam(image->param), depth, depth, kRows,
                     PrefetchBoundStrategy::NonFaulting);
  }
}

std::optional<Func> widened_once(const Loops &to, const Stage &s, Func right,
                                 const Target &target) {
  constexpr int64_t kManyRows = 16, kManyColumns = 16;
  if (to.vars.size() != 2 || s.extents.size() != 2 || s.rvars.size() != 1 || s.when.defined() ||
      Func(s.func).num_update_definitions() != 1)
    return std::nullopt;
  const auto columns = constant(s.extents[0]), rows = constant(s.extents[1]);
  const auto steps = constant(s.rvars[0].extent());
  if (!columns || !rows || !steps || *steps % 2 != 0 || *columns != to.extent(0))
    return std::nullopt;
  if (*rows < kManyRows || *columns < kManyColumns) return std::nullopt;
  const CallNode *left = dense_factor(s.func, s.rvars[0].name());
  if (!left || !left->param || left->args.size() < 2 || !as_variable(left->args[0]))
    return std::nullopt;
  const Type wide = Int(16);
  Func copy = ImageParam(left->param).in(s.func).change_type(wide);
  Loops rows_of_copy(copy, std::vector<Expr>(copy.args().size(), Expr(1)));
  rows_of_copy.extents[0] = s.rvars[0].extent();
  rows_of_copy.extents[1] = s.extents[1];
  copy.compute_root();
  schedule_points(rows_of_copy, true, true, target);
  return right.change_type(wide);
}

}  // namespace polyhalite::ops
