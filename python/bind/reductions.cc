// Inline reductions: sum(f[x + r]) and its kin.
#include "polyhalite/inline_reductions.h"

#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

// sum(e), sum(r, e), each with a name or a Func to be defined.
template <typename Result>
struct Reduction {
  Result (*of)(Expr, const std::string &, Here);
  Result (*over)(const RDom &, Expr, const std::string &, Here);
  Result (*into)(Expr, const Func &, Here);
  Result (*over_into)(const RDom &, Expr, const Func &, Here);
};

// sum(e, "name") and sum(r, e, f): the RDom stands first where it is given.
template <typename Result>
void bind(py::module_ &m, const char *name, const Reduction<Result> &r, const char *doc) {
  m.def(
      name,
      [r, word = std::string(name)](const py::object &first, const py::object &second,
                                    const py::object &named) -> Result {
        // Two arguments: (e, name) or (r, e).
        const bool has_domain = py::isinstance<RDom>(first) && !second.is_none() &&
                                !py::isinstance<py::str>(second) && !py::isinstance<Func>(second);
        const Expr e = to_expr(has_domain ? second : first);
        const py::object &last = has_domain || second.is_none() ? named : second;
        if (py::isinstance<Func>(last)) {
          const Func &f = last.cast<const Func &>();
          return has_domain ? r.over_into(first.cast<const RDom &>(), e, f, here())
                            : r.into(e, f, here());
        }
        const std::string text = last.is_none() ? word : last.cast<std::string>();
        return has_domain ? r.over(first.cast<const RDom &>(), e, text, here())
                          : r.of(e, text, here());
      },
      py::arg("domain_or_value"), py::arg("value") = py::none(), py::arg("name") = py::none(), doc);
}

// Coordinates and a value, which stands last, with the coordinates in Python's order.
Tuple turned(const Tuple &t) {
  std::vector<Expr> list = t.as_vector();
  std::reverse(list.begin(), list.end() - 1);
  return Tuple(list);
}

}  // namespace

void bind_reductions(py::module_ &m) {
  const char *doc =
      "Over the RDom that occurs in the value, or over the one that stands first. The name may be "
      "a Func, which is then defined and can be scheduled.";
  bind<Expr>(m, "sum", {sum, sum, sum, sum}, doc);
  bind<Expr>(m, "saturating_sum", {saturating_sum, saturating_sum, saturating_sum, saturating_sum},
             doc);
  bind<Expr>(m, "product", {product, product, product, product}, doc);
  bind<Expr>(m, "minimum", {minimum, minimum, minimum, minimum}, doc);
  bind<Expr>(m, "maximum", {maximum, maximum, maximum, maximum}, doc);
  // The coordinates of the point come in the order in which the RDom lists its ranges.
  const char *at = "The coordinates of the first such point, in the RDom's order, and the value.";
  bind<Tuple>(
      m, "argmin",
      {[](Expr e, const std::string &n, Here h) { return turned(argmin(e, n, h)); },
       [](const RDom &r, Expr e, const std::string &n, Here h) {
         return turned(argmin(r, e, n, h));
       },
       [](Expr e, const Func &f, Here h) { return turned(argmin(e, f, h)); },
       [](const RDom &r, Expr e, const Func &f, Here h) { return turned(argmin(r, e, f, h)); }},
      at);
  bind<Tuple>(
      m, "argmax",
      {[](Expr e, const std::string &n, Here h) { return turned(argmax(e, n, h)); },
       [](const RDom &r, Expr e, const std::string &n, Here h) {
         return turned(argmax(r, e, n, h));
       },
       [](Expr e, const Func &f, Here h) { return turned(argmax(e, f, h)); },
       [](const RDom &r, Expr e, const Func &f, Here h) { return turned(argmax(r, e, f, h)); }},
      at);
}

}  // namespace polyhalite::python
