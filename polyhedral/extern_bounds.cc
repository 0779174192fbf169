#include "polyhedral/extern_bounds.h"

#include <algorithm>

#include "lang/ir/intrinsics.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

Expr view_of_image(const CallNode &image) {
  std::vector<Expr> mins, extents;
  for (size_t d = 0; d < image.args.size(); d++) {
    mins.push_back(buffer_field(image.name, "min", static_cast<int>(d)));
    extents.push_back(buffer_field(image.name, "extent", static_cast<int>(d)));
  }
  return buffer_view(mins, extents, [&](const std::vector<Expr> &indices) {
    auto call = std::make_shared<CallNode>(image.type, CallKind::Image, image.name, indices);
    call->param = image.param;
    call->image = image.image;
    return Expr(std::move(call));
  });
}

namespace {

// A question may come before it is known that images hold the elements that scalars are made of:
//   in(5)  ->  guarded(in.min.0 <= 5 && 5 < in.min.0 + in.extent.0 && in has memory, in(5))
class WhereItIs : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Image) return r;
    Expr there;
    auto require = [&](const Expr &condition) {
      there = there.defined() ? make_binary(Op::And, there, condition) : condition;
    };
    if (!c->image) {
      require(
          make_not(make_intrinsic(Bool(), intrinsic::kBufferHostIsNull, {make_string(c->name)})));
    }
    for (size_t d = 0; d < c->args.size(); d++) {
      const Expr min = buffer_field(c->name, "min", static_cast<int>(d));
      const Expr extent = buffer_field(c->name, "extent", static_cast<int>(d));
      require(make_binary(Op::Ge, c->args[d], min));
      require(make_binary(Op::Lt, make_binary(Op::Sub, c->args[d], min), extent));
    }
    return there.defined() ? make_intrinsic(r.type(), intrinsic::kGuarded, {there, r}) : r;
  }
};

}  // namespace

Expr extern_bounds(const FuncDef &stage, const Algorithm &algorithm, size_t operand, int d,
                   bool is_max, const std::vector<Expr> &box) {
  const CallNode &call = *extern_stage_of(stage);
  std::vector<Expr> args = {call.args[0], Expr(static_cast<int>(operand)), Expr(d),
                            Expr(is_max ? 1 : 0)};
  for (const ExternOperand &o : extern_operands(call)) {
    if (!o.buffer) {
      args.push_back(WhereItIs()(o.scalar));
      continue;
    }
    // Of an image the shape is known.
    const int dimensions = static_cast<int>(o.buffer->args.size());
    std::vector<Expr> shape;
    for (int i = 0; i < dimensions && !algorithm.find(o.buffer->name); i++) {
      shape.push_back(buffer_field(o.buffer->name, "min", i));
      shape.push_back(buffer_field(o.buffer->name, "extent", i));
    }
    args.push_back(buffer_query(o.buffer->type, dimensions, shape));
  }
  for (Type t : stage.types) args.push_back(buffer_query(t, stage.dimensions(), box));
  return extern_call_node(Int(32), intrinsic::kExternBounds, std::move(args));
}

bool meets_c_function(const LoopTree &tree, const std::string &func) {
  for (const Directive &d : tree.directives) {
    if (d.kind == DirectiveKind::DebugToFile && d.func == func) return true;
  }
  const std::vector<FuncDef> &funcs = tree.algorithm.funcs;
  return std::any_of(funcs.begin(), funcs.end(), [&](const FuncDef &f) {
    const CallNode *stage = extern_stage_of(f);
    if (!stage || f.name == func) return stage != nullptr;
    const std::vector<ExternOperand> operands = extern_operands(*stage);
    return std::any_of(operands.begin(), operands.end(),
                       [&](const ExternOperand &o) { return o.buffer && o.buffer->name == func; });
  });
}

}  // namespace polyhalite
