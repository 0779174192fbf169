#include "polyhalite/var.h"

#include "lang/ir/directive.h"
#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/names.h"
#include "polyhalite/rdom.h"

namespace polyhalite {

Var::Var() : name_(anonymous_name("v")) {}
Var::Var(const std::string &name) : name_(clean_name(name)) {}

// Which line uses a variable is not known: better none than that of another expression.
Var::operator Expr() const {
  detail::note_site(SourceLocation());
  return make_variable(Int(32), VariableKind::Pure, name_);
}

Var Var::of_loop(std::string name) {
  Var v("x");
  v.name_ = std::move(name);
  return v;
}

Var Var::outermost() { return of_loop(kOutermost); }

Var Var::implicit(int n) { return Var("_" + std::to_string(n)); }

int Var::implicit_index(const std::string &name) {
  if (name.size() < 2 || name.size() > 5 || name[0] != '_') return -1;
  int n = 0;
  for (size_t i = 1; i < name.size(); i++) {
    if (name[i] < '0' || name[i] > '9') return -1;
    n = 10 * n + (name[i] - '0');
  }
  return n;
}

bool Var::is_implicit(const std::string &name) { return implicit_index(name) >= 0; }

const Var _("_"), _0("_0"), _1("_1"), _2("_2"), _3("_3"), _4("_4"), _5("_5"), _6("_6"), _7("_7"),
    _8("_8"), _9("_9");

RVar::RVar() : name_(anonymous_name("r")) {}
RVar::RVar(const std::string &name) : name_(clean_name(name)) {}
RVar::RVar(std::shared_ptr<const ReductionDomain> domain, int index)
    : name_(domain->vars.at(index).var), domain_(std::move(domain)), index_(index) {}

namespace {

[[noreturn]] void no_domain(const std::string &name) {
  user_error("RVar '" + plain_name(name) + "' is used as a value",
             "it names a loop of a schedule and belongs to no RDom, so it has no range",
             "use a variable of an RDom, as in RDom r(0, 10); r.x");
}

}  // namespace

Expr RVar::min() const {
  if (!domain_) no_domain(name_);
  return domain_->vars[index_].min;
}

Expr RVar::extent() const {
  if (!domain_) no_domain(name_);
  return domain_->vars[index_].extent;
}

RVar::operator Expr() const {
  detail::note_site(SourceLocation());
  if (!domain_) no_domain(name_);
  auto node = std::make_shared<VariableNode>(Int(32), VariableKind::Reduction, name_);
  node->domain = domain_;
  return Expr(std::shared_ptr<const ExprNode>(std::move(node)));
}

VarOrRVar::VarOrRVar(const RDom &r, const char *file, int line) : VarOrRVar(RVar(r), file, line) {}

}  // namespace polyhalite
