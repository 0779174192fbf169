#include "polyhalite/inline_reductions.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"

namespace polyhalite {

namespace {

using DomainPtr = std::shared_ptr<const ReductionDomain>;

Expr extreme_value(Type t, bool largest) {
  if (t.is_float()) {
    const double infinity = std::numeric_limits<double>::infinity();
    return make_float(t, largest ? infinity : -infinity);
  }
  if (t.is_uint()) return make_int(t, largest ? -1 : 0);
  const int64_t top = static_cast<int64_t>((uint64_t{1} << (t.bits() - 1)) - 1);
  return make_int(t, largest ? top : -top - 1);
}

// Variables of e that the reduction's Func takes as arguments: all but those of `domain`.
struct Variables {
  std::vector<DomainPtr> domains;
  std::vector<Expr> free;
};

Variables find_variables(const Expr &e, const DomainPtr &domain) {
  Variables result;
  auto visit = [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (!v) return;
    if (v->kind == VariableKind::Reduction) {
      if (std::find(result.domains.begin(), result.domains.end(), v->domain) ==
          result.domains.end()) {
        result.domains.push_back(v->domain);
      }
      if (!domain || v->domain == domain) return;
    } else if (v->kind != VariableKind::Pure) {
      return;
    }
    for (const Expr &known : result.free) {
      if (as_variable(known)->name == v->name) return;
    }
    result.free.push_back(n);
  };
  for_each_node(e, visit);
  if (domain && domain->predicate.defined()) for_each_node(domain->predicate, visit);
  return result;
}

// `word` over `domain`; a null domain is the only one in e.
Expr reduce(const char *word, DomainPtr domain, const Expr &e, const std::string &name,
            const Here &here, const std::function<Expr(Type)> &initial,
            const std::function<Expr(Expr, Expr)> &combine) {
  detail::require_defined(e, word);
  Variables vars = find_variables(e, domain);
  if (!domain) {
    if (vars.domains.size() != 1) {
      user_error(std::string(word) + "() of an expression with " +
                     std::to_string(vars.domains.size()) + " reduction domains",
                 "it runs over the one RDom in its argument",
                 vars.domains.empty() ? "use a variable of an RDom in the argument"
                                      : "name the RDom, as in " + std::string(word) + "(r, e)",
                 here.where);
    }
    domain = vars.domains[0];
    vars = find_variables(e, domain);
  }
  // Reduction variables of outer domains become free variables of the Func.
  std::map<std::string, Expr> as_argument;
  std::vector<Expr> args;
  for (const Expr &v : vars.free) {
    if (as_variable(v)->kind == VariableKind::Reduction) {
      const Expr argument = Var::of_loop(anonymous_name(plain_name(as_variable(v)->name)));
      as_argument[as_variable(v)->name] = argument;
      args.push_back(argument);
    } else {
      args.push_back(v);
    }
  }
  const Expr body = as_argument.empty() ? e : substitute(as_argument, e);
  Func f(name, here);
  f(args, here) = initial(e.type());
  f(args, here) = combine(f(args, here), body);
  return f(vars.free, here);
}

Expr sum_over(const DomainPtr &d, const Expr &e, const std::string &name, const Here &here) {
  return reduce("sum", d, e, name, here, make_zero,
                [](const Expr &a, const Expr &b) { return a + b; });
}
Expr product_over(const DomainPtr &d, const Expr &e, const std::string &name, const Here &here) {
  return reduce("product", d, e, name, here, make_one,
                [](const Expr &a, const Expr &b) { return a * b; });
}
Expr minimum_over(const DomainPtr &d, const Expr &e, const std::string &name, const Here &here) {
  return reduce(
      "minimum", d, e, name, here, [](Type t) { return extreme_value(t, true); },
      [](const Expr &a, const Expr &b) { return min(a, b); });
}
Expr maximum_over(const DomainPtr &d, const Expr &e, const std::string &name, const Here &here) {
  return reduce(
      "maximum", d, e, name, here, [](Type t) { return extreme_value(t, false); },
      [](const Expr &a, const Expr &b) { return max(a, b); });
}

}  // namespace

Expr sum(Expr e, const std::string &name, Here here) { return sum_over(nullptr, e, name, here); }
Expr product(Expr e, const std::string &name, Here here) {
  return product_over(nullptr, e, name, here);
}
Expr minimum(Expr e, const std::string &name, Here here) {
  return minimum_over(nullptr, e, name, here);
}
Expr maximum(Expr e, const std::string &name, Here here) {
  return maximum_over(nullptr, e, name, here);
}
Expr sum(const RDom &r, Expr e, const std::string &name, Here here) {
  return sum_over(r.domain(), e, name, here);
}
Expr product(const RDom &r, Expr e, const std::string &name, Here here) {
  return product_over(r.domain(), e, name, here);
}
Expr minimum(const RDom &r, Expr e, const std::string &name, Here here) {
  return minimum_over(r.domain(), e, name, here);
}
Expr maximum(const RDom &r, Expr e, const std::string &name, Here here) {
  return maximum_over(r.domain(), e, name, here);
}

}  // namespace polyhalite
