#include "codegen/passes/held_indices.h"

#include <algorithm>

#include "lang/simplify/simplify.h"

namespace polyhalite {

HeldIndices::HeldIndices(const LoopTree &tree, const Survey &survey, const StageId &s)
    : tree_(tree), survey_(survey), held_(survey.stages[s.func][s.stage].held) {
  const auto &dims = survey.stages[s.func][s.stage].dims;
  for (HeldIndex &h : held_) h.index = substitute(dims, h.index);
  for (HeldIndex &h : held_) {
    if (!h.steps.defined()) continue;
    h.steps = substitute(dims, h.steps);
    h.rest = rewrite(substitute(dims, h.rest));
  }
}

void HeldIndices::hold(const std::string &callee, std::vector<Expr> &indices,
                       const std::vector<Expr> &before) const {
  const auto found = survey_.inputs.find(callee);
  for (size_t d = 0; d < indices.size(); d++) {
    const auto h = std::find_if(held_.begin(), held_.end(), [&](const HeldIndex &at) {
      return at.callee == callee && at.dimension == d && equal(at.index, before[d]);
    });
    if (h == held_.end()) continue;
    const Box &box = found != survey_.inputs.end()
                         ? found->second
                         : survey_.funcs[tree_.algorithm.index_of(callee)].needed;
    const auto held = [](const Expr &e, const Expr &min, const Expr &max) {
      return make_binary(Op::Max, make_binary(Op::Min, e, max), min);
    };
    if (!h->steps.defined()) {
      indices[d] = held(indices[d], box[d].min, box[d].max);
      continue;
    }
    const Expr min = make_binary(Op::Sub, box[d].min, h->least);
    const Expr max = make_binary(Op::Sub, box[d].max, h->most);
    indices[d] = make_binary(Op::Add, h->steps, held(h->rest, simplify(min), simplify(max)));
  }
}

Expr HeldIndices::rewrite(const Expr &e) {
  if (held_.empty()) return e;
  const Expr r = rewrite_children(e);
  const CallNode *c = as_call(r);
  if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return r;
  std::vector<Expr> args = c->args;
  hold(c->name, args, as_call(e)->args);
  return with_args(r, std::move(args));
}

}  // namespace polyhalite
