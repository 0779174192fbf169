#include "polyhalite/rdom.h"

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/fixed_value.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "polyhalite/operators.h"
#include "polyhalite/param.h"

namespace polyhalite {

namespace {

constexpr const char *kDimensionNames[] = {"x", "y", "z", "w"};

Expr checked_bound(const Expr &e, const std::string &what, const Here &here) {
  detail::require_int32(e, what, here.where);
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (!v || (v->kind != VariableKind::Pure && v->kind != VariableKind::Reduction)) return;
    user_error(what + " depends on '" + plain_name(v->name) + "'",
               "a reduction domain is a box of constants and parameters",
               "make the box large enough for all, and restrict it with where()", here.where);
  });
  return detail::cast_folding(Int(32), e);
}

Expr checked_extent(const Expr &e, const std::string &what, const Here &here) {
  Expr extent = checked_bound(e, what, here);
  int64_t n;
  if (is_const_int(extent, &n) && n < 0) {
    user_error(what + " is " + std::to_string(n), "extents count iterations",
               "give min and extent, as in RDom r(-1, 3) for -1, 0, 1", here.where);
  }
  return extent;
}

std::shared_ptr<ReductionDomain> make_domain(const Region &region,
                                             const std::vector<std::string> &variables,
                                             const std::vector<std::string> &described,
                                             const Here &here) {
  if (region.empty()) {
    user_error("an RDom without dimensions", "there is nothing to iterate over",
               "give pairs of min and extent", here.where);
  }
  auto domain = std::make_shared<ReductionDomain>();
  for (size_t i = 0; i < region.size(); i++) {
    domain->vars.push_back(
        {anonymous_name(variables[i]),
         checked_bound(region[i].min, "the min of " + described[i], here),
         checked_extent(region[i].extent, "the extent of " + described[i], here)});
  }
  return domain;
}

// e with the domain's own variables free of it: a predicate that names its domain would keep it
// alive for ever.
class DropDomain : public ExprRewriter {
 public:
  explicit DropDomain(const ReductionDomain *domain) : domain_(domain) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const VariableNode *v = as_variable(e);
    if (!v || v->domain.get() != domain_) return rewrite_children(e);
    auto copy = std::make_shared<VariableNode>(*v);
    copy->domain = nullptr;
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

 private:
  const ReductionDomain *domain_;
};

}  // namespace

RDom::RDom(const Region &region, const std::string &name, Here here) {
  const std::string base = name.empty() ? "r" : clean_name(name);
  std::vector<std::string> variables, described;
  for (size_t i = 0; i < region.size(); i++) {
    const std::string dimension = i < 4 ? kDimensionNames[i] : std::to_string(i);
    variables.push_back(region.size() > 1 ? base + "_" + dimension : base);
    described.push_back("dimension " + std::to_string(i) + " of RDom '" + base + "'");
  }
  *this = RDom(make_domain(region, variables, described, here));
}

RDom RDom::named(const Region &region, const std::vector<std::string> &variables, Here here) {
  if (region.size() != variables.size()) {
    user_error(std::to_string(variables.size()) + " names for an RDom of " +
                   std::to_string(region.size()) + " dimensions",
               "each dimension has a variable", "give one name for each", here.where);
  }
  std::vector<std::string> names, described;
  for (const std::string &v : variables) {
    names.push_back(clean_name(v));
    described.push_back("variable '" + names.back() + "' of an RDom");
  }
  return RDom(make_domain(region, names, described, here));
}

RDom::RDom(std::shared_ptr<ReductionDomain> domain) : domain_(std::move(domain)) {
  RVar *members[] = {&x, &y, &z, &w};
  for (int i = 0; i < dimensions() && i < 4; i++) *members[i] = (*this)[i];
}

RDom::RDom(const ImageParam &image, Here here) : RDom(image.region(here), "", here) {}

int RDom::dimensions() const { return domain_ ? static_cast<int>(domain_->vars.size()) : 0; }

RVar RDom::operator[](int i) const {
  if (i < 0 || i >= dimensions()) {
    user_error("dimension " + std::to_string(i) + " of an RDom of " + std::to_string(dimensions()) +
                   " dimensions",
               dimensions() == 0 ? "it is undefined" : "dimensions count from 0",
               dimensions() == 0 ? "construct the RDom with its ranges first"
                                 : "use r[0] to r[" + std::to_string(dimensions() - 1) + "]");
  }
  return RVar(domain_, i);
}

RDom::operator RVar() const {
  if (!domain_) {
    user_error("an undefined RDom is used as a variable", "it has no dimensions",
               "construct the RDom with its ranges first");
  }
  if (dimensions() != 1) {
    user_error("an RDom of " + std::to_string(dimensions()) + " dimensions is used as one variable",
               "only a one-dimensional RDom stands for its variable",
               "name the dimension, as in r.x");
  }
  return (*this)[0];
}

RDom::operator Expr() const { return static_cast<RVar>(*this); }

void RDom::where(Expr condition, Here here) {
  if (!condition.defined()) {
    user_error("where() with an undefined condition",
               "an Expr that was never given a value has no type",
               "assign the Expr before it is used", here.where);
  }
  if (!domain_) {
    user_error("where() on an undefined RDom", "it has no dimensions to restrict",
               "construct the RDom with its ranges first", here.where);
  }
  if (!condition.type().is_bool()) {
    user_error("where() with a value of type " + condition.type().to_string(),
               "conditions have type bool", "compare it, as in x != 0", here.where);
  }
  condition = DropDomain(domain_.get())(condition);
  domain_->predicate =
      domain_->predicate.defined() ? domain_->predicate && condition : std::move(condition);
}

}  // namespace polyhalite
