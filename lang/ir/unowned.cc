#include "lang/ir/unowned.h"

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

class Disown : public ExprRewriter {
 public:
  explicit Disown(const ParameterContents &p) : p_(p) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v || v->param.get() != &p_) return rewrite_children(e);
    auto copy = std::make_shared<VariableNode>(*v);
    copy->param = unowned(v->param);
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

 private:
  const ParameterContents &p_;
};

}  // namespace

void disown_itself(ParameterContents &p) {
  Disown disown(p);
  std::vector<Expr *> all = {&p.min_value, &p.max_value, &p.estimate, &p.default_value};
  for (ParameterContents::DimConstraint &d : p.dims) {
    for (Expr *e : {&d.min, &d.extent, &d.stride, &d.min_estimate, &d.extent_estimate}) {
      all.push_back(e);
    }
  }
  for (Expr *e : all) {
    if (e->defined()) *e = disown(*e);
  }
}

}  // namespace polyhalite
