// Expr, Var, RVar, RDom and Tuple.
#include "python/bind/bind.h"
#include "python/bind/text.h"

namespace polyhalite::python {

namespace {

constexpr const char *kDimensionNames[] = {"x", "y", "z", "w"};

// r_x, r_y...: the variables are named in the order in which the ranges are written.
std::vector<std::string> names_of(const std::string &name, size_t count) {
  const std::string base = name.empty() ? "r" : name;
  if (count == 1) return {base};
  std::vector<std::string> names;
  for (size_t i = 0; i < count; i++) {
    names.push_back(base + "_" + (i < 4 ? kDimensionNames[i] : std::to_string(i)));
  }
  return names;
}

RDom make_rdom(const py::object &domain, const std::string &name) {
  Region region;
  if (py::isinstance<OutputImageParam>(domain)) {
    region = domain.cast<const OutputImageParam &>().region(here());
  } else if (py::isinstance<Buffer<>>(domain)) {
    region = domain.cast<const Buffer<> &>().region(here());
  } else {
    region = to_region(domain);
  }
  const size_t n = region.size();
  return RDom::named(region, reversed(names_of(name, n)), here());
}

RVar variable(const RDom &r, int i) {
  if (!r.defined()) return r[0];  // refuses
  return r[dimension_of_axis(i, r.dimensions())];
}

RVar named_variable(const RDom &r, int i) {
  if (i < r.dimensions()) return variable(r, i);
  user_error(std::string("'") + kDimensionNames[i] + "' of an RDom of " +
                 std::to_string(r.dimensions()) + " dimensions",
             "x, y, z and w are the first four", "name one of its dimensions", place());
}

}  // namespace

void bind_variables(py::module_ &m) {
  py::class_<Expr> expr(m, "Expr",
                        R"(A value of an algorithm at a point: an immutable expression.

Numbers are expressions: Python's int is an int32, its float a float32, numpy's scalars keep their
types. `/` of integers rounds down, as `//` does. Use &, | and ~ for and, or and not, and select()
for if: an Expr has no truth value while a program is written.)");
  expr.def(py::init([](Value v) { return v.e; }), py::arg("value"))
      .def("defined", &Expr::defined)
      .def("type", [](const Expr &e) { return e.type(); })
      .def(
          "same_as", [](const Expr &a, const Expr &b) { return a.same_as(b); },
          "Is it the same object, not only an equal one?")
      .def("__str__", [](const Expr &e) { return python_text(e); })
      .def("__repr__", [](const Expr &e) {
        return e.defined()
                   ? "<polyhalite.Expr " + e.type().to_string() + ": " + python_text(e) + ">"
                   : "<polyhalite.Expr, undefined>";
      });
  add_operators(expr);

  py::class_<Var> var(m, "Var", R"(A dimension of a Func, and the name of its loop.

Two Vars of the same name are the same. Var() makes a name that no other has.)");
  var.def(py::init<>())
      .def(py::init<const std::string &>(), py::arg("name"))
      .def("name", &Var::name)
      .def("same_as", &Var::same_as)
      .def("is_implicit", [](const Var &v) { return v.is_implicit(); })
      .def_static("outermost", &Var::outermost,
                  "The place outside of all loops of a stage, for compute_at and its like.")
      .def_static("implicit", &Var::implicit, py::arg("n"))
      .def("type", [](const Var &v) { return Expr(v).type(); })
      .def("__str__", &Var::name)
      .def("__repr__", [](const Var &v) { return "Var('" + v.name() + "')"; });
  add_operators(var);

  py::class_<RVar> rvar(m, "RVar",
                        "A variable of a reduction domain, or the name of a loop that splitting "
                        "one makes.");
  rvar.def(py::init<>())
      .def(py::init<const std::string &>(), py::arg("name"))
      .def("name", [](const RVar &r) { return plain_name_of(r); })
      .def("min", &RVar::min, "Where its range begins.")
      .def("extent", &RVar::extent, "How many values its range has.")
      .def("type", [](const RVar &r) { return Expr(r).type(); })
      .def("__str__", [](const RVar &r) { return plain_name_of(r); })
      .def("__repr__", [](const RVar &r) { return "RVar('" + plain_name_of(r) + "')"; });
  add_operators(rvar);

  py::class_<RDom> rdom(m, "RDom", R"(A reduction domain: the loops that an update runs over.

RDom([(min, extent), ...], name): nested loops in the order in which they are written, the last one
innermost; r[0], r[1]... or r.x, r.y, r.z, r.w are their variables in the same order. RDom(image)
runs over all points of an ImageParam or a Buffer, image[r[0], r[1], ...].)");
  rdom.def(py::init(&make_rdom), py::arg("domain"), py::arg("name") = "")
      .def("dimensions", &RDom::dimensions)
      .def(
          "where", [](RDom &r, Value condition) { r.where(condition.e, here()); },
          py::arg("condition"), "Keeps only the points where the condition holds; calls add up.")
      .def("__getitem__", &variable, py::arg("axis"))
      .def("__len__", &RDom::dimensions)
      .def("type", [](const RDom &r) { return Expr(r).type(); })
      .def(
          "name", [](const RDom &r) { return plain_name_of(static_cast<RVar>(r)); },
          "Of the variable of a one-dimensional domain.")
      .def("__repr__", [](const RDom &r) {
        std::string s;
        for (int i = 0; i < r.dimensions(); i++) {
          const RVar v = variable(r, i);
          s += (i ? ", " : "") + plain_name_of(v) + "(" + python_text(v.min()) + ", " +
               python_text(v.extent()) + ")";
        }
        return "RDom(" + s + ")";
      });
  for (int i = 0; i < 4; i++) {
    rdom.def_property_readonly(kDimensionNames[i],
                               [i](const RDom &r) { return named_variable(r, i); });
  }
  add_operators(rdom);

  py::class_<Tuple>(m, "Tuple", R"(Several values that are computed together: Tuple(a, b).

Where a Func is defined, a tuple of Python does as well: f[x] = (a, b).)")
      .def(py::init([](const py::args &args) {
        std::vector<Expr> list;
        for (const py::object &v : spread(args)) list.push_back(to_expr(v));
        return Tuple(list);
      }))
      .def("__len__", &Tuple::size)
      .def("__getitem__",
           [](const Tuple &t, int i) {
             const int n = static_cast<int>(t.size());
             return t[n - 1 - dimension_of_axis(i, n)];
           })
      .def("__repr__", [](const Tuple &t) {
        std::string s;
        for (const Expr &e : t.as_vector()) s += (s.empty() ? "" : ", ") + python_text(e);
        return "(" + s + ")";
      });
  m.attr("_") = Var(_);
  for (int i = 0; i < 10; i++) m.attr(("_" + std::to_string(i)).c_str()) = Var::implicit(i);
}

}  // namespace polyhalite::python
