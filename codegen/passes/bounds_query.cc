#include "codegen/passes/bounds_query.h"

#include <map>

#include "codegen/passes/buffer_fields.h"
#include "codegen/passes/entry_checks.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr call(const char *name, std::vector<Expr> args) {
  auto n = std::make_shared<CallNode>(Int(32), CallKind::Extern, name, std::move(args));
  return Expr(std::shared_ptr<const ExprNode>(std::move(n)));
}

Expr extent_of(const Expr &min, const Expr &max) {
  return make_binary(Op::Add, make_binary(Op::Sub, max, min), Expr(1));
}

// The buffer's fields in a constraint on it stand for the shape that is needed.
class NeededShape : public ExprRewriter {
 public:
  explicit NeededShape(const std::map<std::string, Expr> &fields) : fields_(fields) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v || v->kind != VariableKind::BufferField) return rewrite_children(e);
    const auto it = fields_.find(v->name);
    return it == fields_.end() ? e : it->second;
  }

 private:
  const std::map<std::string, Expr> &fields_;
};

void answer(const FunctionArgument &a, const ParameterContents *constraints, const Box *need,
            std::vector<Stmt> &out) {
  std::map<std::string, Expr> needed;
  const size_t n = static_cast<size_t>(a.dimensions);
  for (size_t d = 0; d < n; d++) {
    // What is not read keeps the shape that it came with.
    const Expr min = need ? (*need)[d].min : buffer_field(a.name, "min", d);
    const Expr extent = need ? extent_of(min, (*need)[d].max) : buffer_field(a.name, "extent", d);
    needed[buffer_field_name(a.name, "min", d)] = min;
    needed[buffer_field_name(a.name, "extent", d)] = extent;
  }
  Expr stride = Expr(1);
  for (size_t d = 0; d < n; d++) {
    Expr min = needed.at(buffer_field_name(a.name, "min", d));
    Expr extent = needed.at(buffer_field_name(a.name, "extent", d));
    if (constraints) {
      const ParameterContents::DimConstraint &c = constraints->dims[d];
      const NeededShape shape(needed);
      const Expr end = make_binary(Op::Add, min, extent);
      if (c.min.defined()) {
        min = NeededShape(needed)(c.min);
        extent = make_binary(Op::Sub, end, min);
      }
      if (c.extent.defined()) extent = NeededShape(needed)(c.extent);
      if (c.stride.defined()) stride = NeededShape(needed)(c.stride);
    }
    const uint32_t type =
        uint32_t(a.type.code()) | uint32_t(a.type.bits()) << 8 | uint32_t{1} << 16;
    out.push_back(make_evaluate(
        call("polyhalite_answer_query",
             {buffer_fact(Handle(), intrinsic::kBufferPointer, a.name), Expr(static_cast<int>(d)),
              Expr(type), simplify(min), simplify(extent), simplify(stride)})));
    stride = make_binary(Op::Mul, stride, extent);
  }
}

}  // namespace

std::vector<Stmt> answer_bounds_query(const std::vector<FunctionArgument> &args,
                                      const LoopTree &tree, const Survey &survey) {
  Expr asks;
  std::vector<Stmt> answers;
  for (const FunctionArgument &a : args) {
    if (!a.is_buffer) continue;
    const Expr missing = buffer_fact(Bool(), intrinsic::kBufferIsQuery, a.name);
    asks = asks.defined() ? make_binary(Op::Or, asks, missing) : missing;
    answer(a, constraints_of(a, tree.algorithm), needed_box(a, tree.algorithm, survey), answers);
  }
  if (!asks.defined()) return {};
  std::vector<Stmt> out;
  if (!answers.empty()) out.push_back(make_if(asks, make_block(std::move(answers))));
  out.push_back(make_assert(make_not(asks), call("polyhalite_query_answered", {})));
  return out;
}

}  // namespace polyhalite
