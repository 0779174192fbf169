#include "polyhalite/rdom.h"

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "polyhalite/operators.h"
#include "polyhalite/param.h"

namespace polyhalite {

namespace {

constexpr const char *kDimensionNames[] = {"x", "y", "z", "w"};

void check_bound(const Expr &e, const char *what) {
  detail::require_defined(e, "RDom");
  if (!e.type().is_int_or_uint()) {
    user_error(std::string("the ") + what + " of an RDom has type " + e.type().to_string(),
               "loops run over integers", "cast it to int32");
  }
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (!v || (v->kind != VariableKind::Pure && v->kind != VariableKind::Reduction)) return;
    user_error(std::string("the ") + what + " of an RDom depends on '" + plain_name(v->name) + "'",
               "a reduction domain is a box of constants and parameters",
               "make the box large enough for all, and restrict it with where()");
  });
}

}  // namespace

RDom::RDom(const Region &region, const std::string &name) {
  if (region.empty()) {
    user_error("an RDom without dimensions", "there is nothing to iterate over",
               "give pairs of min and extent");
  }
  const std::string base = name.empty() ? "r" : clean_name(name);
  auto domain = std::make_shared<ReductionDomain>();
  for (size_t i = 0; i < region.size(); i++) {
    check_bound(region[i].min, "min");
    check_bound(region[i].extent, "extent");
    std::string var = base;
    if (region.size() > 1) var += "_" + (i < 4 ? kDimensionNames[i] : std::to_string(i));
    domain->vars.push_back({anonymous_name(var), detail::cast_folding(Int(32), region[i].min),
                            detail::cast_folding(Int(32), region[i].extent)});
  }
  domain_ = std::move(domain);
  RVar *members[] = {&x, &y, &z, &w};
  for (int i = 0; i < dimensions() && i < 4; i++) *members[i] = (*this)[i];
}

RDom::RDom(const ImageParam &image) : RDom(image.region()) {}

int RDom::dimensions() const { return domain_ ? static_cast<int>(domain_->vars.size()) : 0; }

RVar RDom::operator[](int i) const {
  if (i < 0 || i >= dimensions()) {
    user_error("dimension " + std::to_string(i) + " of an RDom of " + std::to_string(dimensions()) +
                   " dimensions",
               "dimensions count from 0",
               "use r[0] to r[" + std::to_string(dimensions() - 1) + "]");
  }
  return RVar(domain_, i);
}

RDom::operator RVar() const {
  if (dimensions() != 1) {
    user_error("an RDom of " + std::to_string(dimensions()) + " dimensions is used as one variable",
               "only a one-dimensional RDom stands for its variable",
               "name the dimension, as in r.x");
  }
  return (*this)[0];
}

RDom::operator Expr() const { return static_cast<RVar>(*this); }

void RDom::where(Expr condition) {
  detail::require_defined(condition, "where");
  if (!domain_) {
    user_error("where() on an undefined RDom", "it has no dimensions to restrict",
               "construct the RDom with its ranges first");
  }
  if (!condition.type().is_bool()) {
    user_error("where() with a value of type " + condition.type().to_string(),
               "conditions have type bool", "compare it, as in x != 0");
  }
  domain_->predicate =
      domain_->predicate.defined() ? domain_->predicate && condition : std::move(condition);
}

}  // namespace polyhalite
