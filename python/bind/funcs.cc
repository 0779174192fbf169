// Func: definitions, calls, and what a program can ask of them.
#include "polyhalite/func.h"

#include "polyhalite/boundary_conditions.h"
#include "polyhalite/derivative.h"
#include "polyhalite/lambda.h"
#include "python/bind/bind.h"
#include "python/bind/text.h"

namespace polyhalite::python {

namespace {

// f[x] += e reaches a class in three steps: f[x], its `+=`, which makes one of these, and the
// assignment to f[x], which makes the update of it.
struct PendingUpdate {
  char op;
  py::object value;
};

FuncRef call(const Func &f, const py::object &key) { return f(to_indices(key), here()); }

template <typename Ref, typename V>
void update(Ref &ref, char op, const V &value) {
  switch (op) {
    case '+':
      ref += value;
      break;
    case '-':
      ref -= value;
      break;
    case '*':
      ref *= value;
      break;
    default:
      ref /= value;
  }
}

// Python's numbers take the type that the Func has.
Expr value_for(const Func &f, size_t i, const py::handle &value) {
  if (is_number(value) && !py::hasattr(value, "dtype") && f.types().size() > i &&
      !f.types()[i].is_bool()) {
    const Type t = f.types()[i];
    if (t.is_float() || py::isinstance<py::int_>(value)) return to_expr(value, t);
  }
  return to_expr(value);
}

Tuple tuple_for(const Func &f, const py::object &value) {
  if (py::isinstance<Tuple>(value) || py::isinstance<FuncRef>(value)) return to_tuple(value);
  std::vector<Expr> list;
  for (const py::handle v : value) list.push_back(value_for(f, list.size(), v));
  return Tuple(list);
}

void assign(const Func &f, const py::object &key, const py::object &value) {
  FuncRef ref = call(f, key);
  if (py::isinstance<PendingUpdate>(value)) {
    const auto &pending = value.cast<const PendingUpdate &>();
    if (py::isinstance<FuncRef>(pending.value)) {
      update(ref, pending.op, pending.value.cast<const FuncRef &>());
    } else if (is_tuple(pending.value)) {
      update(ref, pending.op, tuple_for(f, pending.value));
    } else {
      update(ref, pending.op, value_for(f, 0, pending.value));
    }
  } else if (py::isinstance<FuncRef>(value)) {
    ref = value.cast<const FuncRef &>();
  } else if (is_tuple(value)) {
    ref = tuple_for(f, value);
  } else {
    ref = value_for(f, 0, value);
  }
}

void assign_element(const FuncRef &ref, int i, const py::object &value) {
  FuncTupleElementRef element = ref[i];
  if (py::isinstance<PendingUpdate>(value)) {
    const auto &pending = value.cast<const PendingUpdate &>();
    update(element, pending.op, to_expr(pending.value));
  } else {
    element = to_expr(value);
  }
}

template <typename Class>
void bind_updates(Class &cls) {
  const std::pair<const char *, char> symbols[] = {
      {"__iadd__", '+'}, {"__isub__", '-'}, {"__imul__", '*'}, {"__itruediv__", '/'}};
  for (const auto &[name, op] : symbols) {
    cls.def(name, [op = op](const py::object &, const py::object &value) {
      return PendingUpdate{op, value};
    });
  }
}

Func make_func(const py::object &first) {
  if (first.is_none()) return Func(here());
  if (py::isinstance<py::str>(first)) return Func(first.cast<std::string>(), here());
  if (py::isinstance<Func>(first)) return first.cast<Func>();
  if (py::isinstance<ImageParam>(first) || py::isinstance<Buffer<>>(first)) return to_func(first);
  return Func(to_expr(first), here());
}

Func make_typed(const py::object &types, int dimensions, const std::string &name) {
  std::vector<Type> list;
  if (is_tuple(types)) {
    for (const py::handle t : types) list.push_back(to_type(t));
  } else {
    list.push_back(to_type(types));
  }
  return Func(list, dimensions, name, here());
}

void bind_func(py::module_ &m) {
  py::class_<Func> func(m, "Func", R"(A stage of a pipeline: a function over integer coordinates.

f[i, j] = e defines it, f[i, j] += e and further assignments update it, f[i, j] is its value at a
point. Indices stand as in numpy: f[i, j] is array[i, j], the last index is contiguous in memory and
the innermost loop unless a schedule says otherwise. Handles share definitions and schedule.)");
  func.def(py::init(&make_func), py::arg("name") = py::none())
      .def(py::init(&make_typed), py::arg("types"), py::arg("dimensions"), py::arg("name") = "f",
           "A Func whose values must have these types, and this number of axes.")
      .def("__getitem__", &call, py::arg("key"))
      .def("__setitem__", &assign, py::arg("key"), py::arg("value"))
      .def("name", &Func::name)
      .def("defined", &Func::defined)
      .def("dimensions", &Func::dimensions, "How many axes; 0 while undefined.")
      .def(
          "args", [](const Func &f) { return reversed(f.args()); },
          "The Vars of the pure definition, as they stand in brackets.")
      .def(
          "value", [](const Func &f) { return f.value(here()); },
          "The right-hand side of the pure definition.")
      .def("values", [](const Func &f) { return f.values(here()); })
      .def("num_update_definitions", &Func::num_update_definitions)
      .def("has_update_definition", &Func::has_update_definition)
      .def(
          "update_args", [](const Func &f, int i) { return reversed(f.update_args(i, here())); },
          py::arg("i") = 0)
      .def(
          "update_value", [](const Func &f, int i) { return f.update_value(i, here()); },
          py::arg("i") = 0)
      .def(
          "update_values", [](const Func &f, int i) { return f.update_values(i, here()); },
          py::arg("i") = 0)
      .def(
          "rvars", [](const Func &f, int i) { return reversed(f.rvars(i, here())); },
          py::arg("i") = 0, "The variables of update i's RDom, as it lists them.")
      .def(
          "update", [](Func &f, int i) { return f.update(i, here()); }, py::arg("i") = 0,
          "Update definition i, to be scheduled. Directives on the Func mean its pure definition.")
      .def("type", [](const Func &f) { return f.type(here()); })
      .def("types", &Func::types)
      .def("outputs", &Func::outputs, "How many values it has at a point.")
      .def(
          "output_buffer", [](const Func &f) { return f.output_buffer(here()); },
          "The buffer of this Func as an output: constraints on its shape.")
      .def("output_buffers", [](const Func &f) { return f.output_buffers(here()); })
      .def("is_extern", &Func::is_extern)
      .def("extern_function_name", &Func::extern_function_name)
      .def("__repr__", [](const Func &f) {
        return "<polyhalite.Func " + f.name() + (f.defined() ? ">" : ", undefined>");
      });
  func.attr("__iter__") = py::none();
  func.attr("__contains__") = py::none();
  py::implicitly_convertible<ImageParam, Func>();

  py::class_<FuncRef> ref(m, "FuncRef", "f[i, j]: a value, or what an assignment defines.");
  ref.def(
         "__getitem__", [](const FuncRef &r, int i) { return r[i]; }, py::arg("i"),
         "Value i of a Func that is defined as a tuple.")
      .def("__setitem__", &assign_element, py::arg("i"), py::arg("value"))
      .def("__len__", &FuncRef::size)
      .def("type", [](const FuncRef &r) { return Expr(r).type(); })
      .def("__repr__", [](const FuncRef &r) { return python_text(r); });
  add_operators(ref);
  bind_updates(ref);

  py::class_<FuncTupleElementRef> element(m, "FuncTupleElementRef", "f[i, j][k].");
  element.def("index", &FuncTupleElementRef::index)
      .def("type", [](const FuncTupleElementRef &r) { return Expr(r).type(); })
      .def("__repr__", [](const FuncTupleElementRef &r) { return python_text(r); });
  add_operators(element);
  bind_updates(element);

  py::class_<PendingUpdate>(m, "_PendingUpdate");
}

using Condition = Func (*)(const Func &, const Region &);

// The source as a Func, and the bounds that are given or its own.
std::pair<Func, Region> bounded(const py::object &source, const py::object &bounds) {
  const Func f = to_func(source);
  if (!bounds.is_none()) return {f, to_region(bounds, f.dimensions())};
  if (py::isinstance<OutputImageParam>(source)) {
    return {f, source.cast<const OutputImageParam &>().region(here())};
  }
  if (py::isinstance<Buffer<>>(source)) return {f, source.cast<const Buffer<> &>().region(here())};
  user_error("a boundary condition of Func '" + f.name() + "' without bounds",
             "a Func has values everywhere", "give them, as in [(0, height), (0, width)]", place());
}

void bind_boundary_conditions(py::module_ &m) {
  py::module_ sub =
      m.def_submodule("BoundaryConditions", "Funcs that extend an image beyond its edges.");
  const std::tuple<const char *, Condition, const char *> conditions[] = {
      {"repeat_edge", BoundaryConditions::repeat_edge, "Outside, the nearest point's value."},
      {"repeat_image", BoundaryConditions::repeat_image, "Copies, side by side."},
      {"mirror_image", BoundaryConditions::mirror_image, "Copies, every other one mirrored."},
      {"mirror_interior", BoundaryConditions::mirror_interior,
       "Mirrored copies whose edges are not doubled."}};
  for (const auto &[name, f, doc] : conditions) {
    sub.def(
        name,
        [f = f](const py::object &source, const py::object &bounds) {
          const auto [func, region] = bounded(source, bounds);
          return f(func, region);
        },
        py::arg("source"), py::arg("bounds") = py::none(), doc);
  }
  sub.def(
      "constant_exterior",
      [](const py::object &source, const py::object &value, const py::object &bounds) {
        const auto [func, region] = bounded(source, bounds);
        return BoundaryConditions::constant_exterior(func, value_for(func, 0, value), region);
      },
      py::arg("source"), py::arg("value"), py::arg("bounds") = py::none(), "Outside, `value`.");
}

void bind_derivatives(py::module_ &m) {
  py::class_<Derivative>(m, "Derivative", R"(What propagate_adjoints() made.

d[f] is the derivative of the output by f's pure definition, d[f, i] by its update i; d[image] and
d[param] by inputs.)")
      .def("__getitem__", [](const Derivative &d, const py::object &key) {
        const bool pair = py::isinstance<py::tuple>(key);
        const py::object of = pair ? py::object(py::tuple(key)[0]) : key;
        if (py::isinstance<Func>(of)) {
          return d(of.cast<const Func &>(), pair ? py::tuple(key)[1].cast<int>() : -1);
        }
        if (py::isinstance<ImageParam>(of)) return d(of.cast<const ImageParam &>());
        if (py::isinstance<Buffer<>>(of)) return d(of.cast<const Buffer<> &>());
        if (py::isinstance<Param<>>(of)) return d(of.cast<const Param<> &>());
        throw py::type_error("a derivative is by a Func, an image or a Param");
      });
  m.def(
      "propagate_adjoints",
      [](AnyFunc output, const py::object &adjoint, const py::object &bounds) {
        if (adjoint.is_none()) return propagate_adjoints(output.f, here());
        if (py::isinstance<Buffer<>>(adjoint)) {
          return propagate_adjoints(output.f, adjoint.cast<const Buffer<> &>().as<float>(), here());
        }
        return propagate_adjoints(output.f, to_func(adjoint), to_region(bounds), here());
      },
      py::arg("output"), py::arg("adjoint") = py::none(), py::arg("bounds") = py::none(),
      "Derivatives of the sum of adjoint*output over the bounds; of an output without axes, with "
      "adjoint 1.");
}

}  // namespace

void bind_funcs(py::module_ &m) {
  bind_func(m);
  bind_boundary_conditions(m);
  bind_derivatives(m);
  m.def(
      "lambda_",
      [](const py::args &args) {
        if (args.empty()) throw py::type_error("lambda_() without a value");
        Func f("lambda", here());
        std::vector<Expr> indices;
        for (size_t i = 0; i + 1 < args.size(); i++) indices.push_back(to_expr(args[i]));
        if (indices.empty()) indices.push_back(_);
        f(reversed(indices), here()) = to_expr(args[args.size() - 1]);
        return f;
      },
      "lambda_(i, j, e) is f in f[i, j] = e.");
  m.def(
      "scatter",
      [](const py::args &values) {
        std::vector<Expr> list;
        for (const py::object &v : spread(values)) list.push_back(to_expr(v));
        return scatter(list, here());
      },
      "Several cells of one update: f[scatter(a, b)] = gather(u, v) writes u to f[a], v to f[b].");
  m.def("gather", [](const py::args &values) {
    std::vector<Expr> list;
    for (const py::object &v : spread(values)) list.push_back(to_expr(v));
    return gather(list, here());
  });
}

}  // namespace polyhalite::python
