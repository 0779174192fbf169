#include "codegen/passes/likely_windows.h"

#include <set>
#include <string>
#include <utility>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

// select(y <= first, a, b)  ->  select(y <= first, a, likely(b)), for some loops y
class MarkLater : public ExprRewriter {
 public:
  explicit MarkLater(const std::set<std::string> &loops) : loops_(loops) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    if (r->op != Op::Select || r->args[0]->op != Op::Le) return r;
    const VariableNode *v = as_variable(r->args[0]->args[0]);
    if (!v || v->kind != VariableKind::Loop || !loops_.count(v->name)) return r;
    const Expr later = make_intrinsic(r.type(), intrinsic::kLikely, {r->args[2]});
    return make_select(r->args[0], r->args[1], later);
  }

 private:
  const std::set<std::string> &loops_;
};

}  // namespace

std::vector<Symbol> with_likely_windows(const LoopTree &tree, const Survey &survey,
                                        std::vector<Symbol> symbols) {
  for (Symbol &s : symbols) {
    for (size_t f = 0; f < survey.funcs.size(); f++) {
      const std::string start = tree.algorithm.funcs[f].name + ".new.";
      if (s.name.compare(0, start.size(), start) != 0) continue;
      std::set<std::string> loops;
      for (const auto &slide : survey.funcs[f].slides) {
        if (slide && slide->loop != tree.placements[f].compute) {
          loops.insert(tree.loops[slide->loop].name);
        }
      }
      s.value = MarkLater(loops)(s.value);
    }
  }
  return symbols;
}

}  // namespace polyhalite
