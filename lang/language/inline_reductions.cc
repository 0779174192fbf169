#include "polyhalite/inline_reductions.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "polyhalite/integer_functions.h"

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
      if (!domain || !v->domain || v->domain == domain) return;
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

// What a reduction does: its word, the values before the first point, and the values after one.
struct Reduction {
  const char *word;
  std::function<std::vector<Expr>(size_t dimensions)> initial;
  std::function<std::vector<Expr>(const Tuple &before, const std::vector<Expr> &point,
                                  const Expr &e)>
      combine;
};

// Defines f as the reduction of e over `domain`, and calls it; a null domain is the only one in e.
FuncRef reduce(const Reduction &reduction, DomainPtr domain, const Expr &e, Func f,
               const Here &here) {
  const std::string word = reduction.word;
  Variables vars = find_variables(e, domain);
  if (!domain) {
    if (vars.domains.size() != 1) {
      user_error(word + "() of an expression with " + std::to_string(vars.domains.size()) +
                     " reduction domains",
                 "it runs over the one RDom in its argument",
                 vars.domains.empty() ? "use a variable of an RDom in the argument"
                                      : "name the RDom, as in " + word + "(r, e)",
                 here.where);
    }
    domain = vars.domains[0];
    vars = find_variables(e, domain);
  }
  if (f.defined()) {
    user_error(word + "() into Func '" + plain_name(f.name()) + "', which has a definition",
               "the reduction is the Func's definition", "give an undefined Func", here.where);
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
  std::vector<Expr> point;
  for (size_t i = 0; i < domain->vars.size(); i++) {
    point.push_back(RVar(domain, static_cast<int>(i)));
  }
  f(args, here) = Tuple(reduction.initial(point.size()));
  f(args, here) = Tuple(reduction.combine(f(args, here), point, body));
  return f(vars.free, here);
}

using Combine = Expr (*)(Expr, Expr);

// One value, f = combine(f, e).
Reduction simple(const char *word, const Expr &initial, Combine combine) {
  return {word, [=](size_t) { return std::vector<Expr>{initial}; },
          [=](const Tuple &before, const std::vector<Expr> &, const Expr &e) {
            return std::vector<Expr>{combine(before[0], e)};
          }};
}

Expr add(Expr a, Expr b) { return std::move(a) + std::move(b); }
Expr add_saturated(Expr a, Expr b) { return saturating_add(std::move(a), std::move(b)); }
Expr multiply(Expr a, Expr b) { return std::move(a) * std::move(b); }
Expr smaller(Expr a, Expr b) { return min(std::move(a), std::move(b)); }
Expr greater(Expr a, Expr b) { return max(std::move(a), std::move(b)); }

Reduction sum_of(Type t) { return simple("sum", make_zero(t), add); }
Reduction saturating_sum_of(Type t) {
  return simple("saturating_sum", make_zero(t), add_saturated);
}
Reduction product_of(Type t) { return simple("product", make_one(t), multiply); }
Reduction minimum_of(Type t) { return simple("minimum", extreme_value(t, true), smaller); }
Reduction maximum_of(Type t) { return simple("maximum", extreme_value(t, false), greater); }

// The point and the value where e is smallest (largest), the first of equals.
Reduction extreme_point(const char *word, Type t, bool largest) {
  return {word,
          [=](size_t dimensions) {
            std::vector<Expr> values(dimensions, Expr(0));
            values.push_back(extreme_value(t, !largest));
            return values;
          },
          [=](const Tuple &before, const std::vector<Expr> &point, const Expr &e) {
            const Expr best = before[point.size()];
            const Expr better = largest ? e > best : e < best;
            std::vector<Expr> now = point;
            now.push_back(e);
            return select(better, Tuple(now), before).as_vector();
          }};
}

Reduction argmin_of(Type t) { return extreme_point("argmin", t, false); }
Reduction argmax_of(Type t) { return extreme_point("argmax", t, true); }

using Make = Reduction (*)(Type);

FuncRef reduced(const char *word, Make make, const DomainPtr &domain, const Expr &e, const Func &f,
                const Here &here) {
  detail::require_defined(e, word);
  return reduce(make(e.type()), domain, e, f, here);
}

}  // namespace

Expr sum(Expr e, const std::string &name, Here here) {
  return reduced("sum", sum_of, nullptr, e, Func(name, here), here);
}
Expr sum(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("sum", sum_of, r.domain(), e, Func(name, here), here);
}
Expr sum(Expr e, const Func &f, Here here) { return reduced("sum", sum_of, nullptr, e, f, here); }
Expr sum(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("sum", sum_of, r.domain(), e, f, here);
}

Expr saturating_sum(Expr e, const std::string &name, Here here) {
  return reduced("saturating_sum", saturating_sum_of, nullptr, e, Func(name, here), here);
}
Expr saturating_sum(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("saturating_sum", saturating_sum_of, r.domain(), e, Func(name, here), here);
}
Expr saturating_sum(Expr e, const Func &f, Here here) {
  return reduced("saturating_sum", saturating_sum_of, nullptr, e, f, here);
}
Expr saturating_sum(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("saturating_sum", saturating_sum_of, r.domain(), e, f, here);
}

Expr product(Expr e, const std::string &name, Here here) {
  return reduced("product", product_of, nullptr, e, Func(name, here), here);
}
Expr product(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("product", product_of, r.domain(), e, Func(name, here), here);
}
Expr product(Expr e, const Func &f, Here here) {
  return reduced("product", product_of, nullptr, e, f, here);
}
Expr product(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("product", product_of, r.domain(), e, f, here);
}

Expr minimum(Expr e, const std::string &name, Here here) {
  return reduced("minimum", minimum_of, nullptr, e, Func(name, here), here);
}
Expr minimum(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("minimum", minimum_of, r.domain(), e, Func(name, here), here);
}
Expr minimum(Expr e, const Func &f, Here here) {
  return reduced("minimum", minimum_of, nullptr, e, f, here);
}
Expr minimum(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("minimum", minimum_of, r.domain(), e, f, here);
}

Expr maximum(Expr e, const std::string &name, Here here) {
  return reduced("maximum", maximum_of, nullptr, e, Func(name, here), here);
}
Expr maximum(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("maximum", maximum_of, r.domain(), e, Func(name, here), here);
}
Expr maximum(Expr e, const Func &f, Here here) {
  return reduced("maximum", maximum_of, nullptr, e, f, here);
}
Expr maximum(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("maximum", maximum_of, r.domain(), e, f, here);
}

Tuple argmin(Expr e, const std::string &name, Here here) {
  return reduced("argmin", argmin_of, nullptr, e, Func(name, here), here);
}
Tuple argmin(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("argmin", argmin_of, r.domain(), e, Func(name, here), here);
}
Tuple argmin(Expr e, const Func &f, Here here) {
  return reduced("argmin", argmin_of, nullptr, e, f, here);
}
Tuple argmin(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("argmin", argmin_of, r.domain(), e, f, here);
}

Tuple argmax(Expr e, const std::string &name, Here here) {
  return reduced("argmax", argmax_of, nullptr, e, Func(name, here), here);
}
Tuple argmax(const RDom &r, Expr e, const std::string &name, Here here) {
  return reduced("argmax", argmax_of, r.domain(), e, Func(name, here), here);
}
Tuple argmax(Expr e, const Func &f, Here here) {
  return reduced("argmax", argmax_of, nullptr, e, f, here);
}
Tuple argmax(const RDom &r, Expr e, const Func &f, Here here) {
  return reduced("argmax", argmax_of, r.domain(), e, f, here);
}

}  // namespace polyhalite
