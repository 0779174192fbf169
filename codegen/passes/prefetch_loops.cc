#include "codegen/passes/prefetch_loops.h"

#include <algorithm>

#include "codegen/passes/storage_accesses.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

Expr plus(const Expr &a, const Expr &b) { return make_binary(Op::Add, a, b); }

// May rows of the image that begin at `min` begin inside of a cache line of so many elements? The
// image itself is taken to begin with one.
bool may_begin_inside_line(const ParameterContents &image, const Expr &min, int64_t elements) {
  const Expr line = make_int(Int(32), elements);
  const auto is_multiple = [&](const Expr &e) {
    return e.defined() && is_zero(simplify(make_binary(Op::Mod, e, line)));
  };
  const auto &dims = image.dims;
  return !is_multiple(min) || !is_multiple(dims[0].min) ||
         std::any_of(dims.begin() + 1, dims.end(),
                     [&](const auto &d) { return !is_multiple(d.stride); });
}

}  // namespace

Stmt prefetch_loops(const LoopTree &tree, const Survey &survey_of, size_t number) {
  const PrefetchDirective &p = tree.prefetches[number];
  const PrefetchSurvey &survey = survey_of.prefetches[number];
  const int f = tree.algorithm.index_of(p.target);
  Type type;
  std::shared_ptr<ParameterContents> param;
  if (f >= 0) {
    type = tree.algorithm.funcs[f].types[0];
  } else {
    for (const AlgorithmInput &in : tree.algorithm.inputs) {
      if (in.param->name == p.target) param = in.param;
    }
    if (!param) return Stmt();  // a constant: part of the code, and read again and again
    type = param->type;
  }
  constexpr int64_t kLineBytes = 64;
  int64_t step = std::max<int64_t>(kLineBytes / type.bytes(), 1);
  const std::string prefix = p.target + ".prefetch." + std::to_string(number) + ".";
  int innermost = f >= 0 && !tree.storage[f].order.empty() ? tree.storage[f].order[0] : 0;
  if (f >= 0 && !tree.storage[f].packed.empty()) {
    innermost = tree.storage[f].packed[0];
    step = std::min(step, tree.storage[f].dims[innermost].block);
  }
  std::vector<Expr> indices;
  Expr inside;
  std::vector<std::pair<std::string, Expr>> loops;  // innermost first
  for (size_t d = 0; d < survey.wanted.size(); d++) {
    Expr min = survey.wanted[d].min, max = survey.wanted[d].max;
    const IndexRange &held = survey.held[d];
    if (p.strategy == PrefetchBoundStrategy::Clamp) {
      min = make_binary(Op::Max, min, held.min);
      max = make_binary(Op::Min, max, held.max);
    } else if (p.strategy == PrefetchBoundStrategy::GuardWithIf) {
      const Expr both = make_binary(Op::And, make_binary(Op::Ge, min, held.min),
                                    make_binary(Op::Le, max, held.max));
      inside = inside.defined() ? make_binary(Op::And, inside, both) : both;
    }
    const bool rows = static_cast<int>(d) == innermost;
    const int64_t by = rows ? step : 1;
    const std::string name = prefix + std::to_string(d);
    const Expr counter = make_variable(Int(32), VariableKind::Loop, name);
    const Expr k = make_int(Int(32), by);
    Expr at = plus(min, make_binary(Op::Mul, counter, k));
    Expr extent = make_binary(Op::Div, plus(make_binary(Op::Sub, max, min), k), k);
    // The last elements of such a row lie in one line more.
    if (rows && by > 1 && param && may_begin_inside_line(*param, min, by)) {
      at = make_binary(Op::Min, at, max);
      extent = plus(extent, make_int(Int(32), 1));
    }
    indices.push_back(at);
    loops.insert(rows ? loops.begin() : loops.end(), {name, extent});
  }
  if (f >= 0) StorageAccesses(tree, survey_of).place(f, indices);
  auto call = std::make_shared<CallNode>(type, f >= 0 ? CallKind::Func : CallKind::Image, p.target,
                                         std::move(indices));
  call->param = param;
  // Until a loop around this one goes on, the first cache would lose it, and what it holds.
  const bool far = p.from != p.at;
  Stmt s = make_evaluate(make_intrinsic(
      Bool(), intrinsic::kPrefetch,
      {Expr(std::shared_ptr<const ExprNode>(std::move(call))), make_int(Int(32), far ? 2 : 1)}));
  // A few lines are asked for without a loop, which would be the innermost one of the nest.
  constexpr int64_t kFewLines = 9;  // eight vectors, and the line that the last one ends in
  int64_t lines = 1;
  for (const auto &[name, extent] : loops) {
    int64_t n = kFewLines + 1;
    is_const_int(simplify(extent), &n);
    lines = std::min(lines * std::max<int64_t>(n, 0), kFewLines + 1);
    const bool few = lines <= kFewLines && lines > 0;
    s = make_for(name, Expr(0), few ? make_int(Int(32), n) : extent,
                 few ? LoopKind::Unrolled : LoopKind::Serial, s, Partition::Never);
  }
  return inside.defined() ? make_if(inside, s) : s;
}

}  // namespace polyhalite
