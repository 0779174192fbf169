// Values with something beside them: print, require, random numbers, calls of C functions.
#include "polyhalite/effects.h"

#include "polyhalite/extern_call.h"
#include "polyhalite/extern_stage.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

Expr seed_of(const py::object &seed) { return seed.is_none() ? Expr() : to_expr(seed); }

ExternFuncArgument to_extern_argument(const py::handle &value) {
  if (py::isinstance<Func>(value)) return value.cast<const Func &>();
  if (py::isinstance<ImageParam>(value)) return value.cast<const ImageParam &>();
  if (py::isinstance<Buffer<>>(value)) return value.cast<const Buffer<> &>();
  return to_expr(value);
}

template <typename Call>
auto extern_caller(Call call) {
  return [call](AnyType result, const std::string &name, const py::args &args) {
    std::vector<Expr> values;
    std::vector<Type> types;
    for (const py::object &a : spread(args)) {
      values.push_back(to_expr(a));
      types.push_back(values.back().type());
    }
    return call(result.t, name, values, types, here());
  };
}

}  // namespace

void bind_effects(py::module_ &m) {
  m.def(
      "print",
      [](Value value, const py::args &more) {
        std::vector<Expr> list = to_message(more);
        list.insert(list.begin(), value.e);
        return print(list);
      },
      "The first value; wherever it is computed all of them are printed.");
  m.def(
      "print_when",
      [](Value condition, Value value, const py::args &more) {
        std::vector<Expr> list = to_message(more);
        list.insert(list.begin(), value.e);
        return print_when(condition.e, list);
      },
      "print() where the condition holds.");
  m.def(
      "require",
      [](Value condition, Value value, const py::args &message) {
        std::vector<Expr> list = to_message(message);
        list.insert(list.begin(), value.e);
        return require(condition.e, list);
      },
      "The value; where the condition does not hold, the run ends with an error that has the "
      "message.");
  m.def(
      "undef", [](AnyType t) { return undef(t.t); }, py::arg("type"),
      "No value: a definition writes nothing where its value would be made from one.");
  m.def(
      "memoize_tag",
      [](Value result, const py::args &keys) {
        std::vector<Expr> list;
        for (const py::object &k : spread(keys)) list.push_back(to_expr(k));
        return memoize_tag(result.e, list);
      },
      "The result, which a memoized Func takes to be a function of the keys alone.");
  m.def(
      "random_float", [](const py::object &s) { return random_float(seed_of(s)); },
      py::arg("seed") = py::none(), "In [0, 1): equal in every run, whatever the schedule.");
  m.def(
      "random_uint", [](const py::object &s) { return random_uint(seed_of(s)); },
      py::arg("seed") = py::none());
  m.def(
      "random_int", [](const py::object &s) { return random_int(seed_of(s)); },
      py::arg("seed") = py::none());
  m.def("extern_call", extern_caller(extern_call),
        "extern_call(result_type, name, args...): the value of a C function of the process.");
  m.def("pure_extern_call", extern_caller(pure_extern_call),
        "extern_call() of a function that is pure.");
  auto func = py::reinterpret_borrow<py::class_<Func>>(m.attr("Func"));
  func.def(
      "define_extern",
      [](Func &f, const std::string &function, const py::object &params, const py::object &types,
         int dimensions, NameMangling mangling) {
        std::vector<ExternFuncArgument> list;
        for (const py::handle p : params) list.push_back(to_extern_argument(p));
        std::vector<Type> value_types;
        if (is_tuple(types)) {
          for (const py::handle t : types) value_types.push_back(to_type(t));
        } else {
          value_types.push_back(to_type(types));
        }
        f.define_extern(function, list, value_types, dimensions, mangling, DeviceAPI::Host, here());
      },
      py::arg("function"), py::arg("params"), py::arg("types"), py::arg("dimensions"),
      py::arg("mangling") = NameMangling::Default,
      "Has the C function compute the values, a box at a time.");
}

}  // namespace polyhalite::python
