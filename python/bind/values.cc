// What Python programs write where the language wants expressions, types, loops and Funcs.
#include <pybind11/numpy.h>

#include <cmath>
#include <iterator>
#include <optional>

#include "polyhalite/buffer.h"
#include "polyhalite/effects.h"
#include "polyhalite/operators.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

std::string type_name(py::handle value) {
  return py::cast<std::string>(py::type::handle_of(value).attr("__name__"));
}

[[noreturn]] void no_value(py::handle value) {
  const std::string name = type_name(value);
  std::string fix = "use an Expr, a variable, a call as in f[x, y], or a number";
  if (py::isinstance<Func>(value)) fix = "call the Func, as in f[x, y]";
  if (py::isinstance<ImageParam>(value)) fix = "read a pixel of it, as in image[x, y]";
  if (py::isinstance<py::slice>(value))
    fix = "name one coordinate; Funcs are defined point by point";
  throw py::type_error("a value of type '" + name +
                       "' is used as an expression\n  why: it has no "
                       "value at a point\n  fix: " +
                       fix);
}

bool is_numpy_scalar(py::handle value) {
  return py::hasattr(value, "dtype") && py::hasattr(value, "item") && py::hasattr(value, "ndim") &&
         !py::isinstance<Buffer<>>(value) && value.attr("ndim").cast<int>() == 0;
}

Expr integer(py::handle value) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (overflow < 0 ||
      (overflow > 0 && PyLong_AsUnsignedLongLong(value.ptr()) == ~0ull && PyErr_Occurred())) {
    PyErr_Clear();
    user_error("the number " + py::cast<std::string>(py::str(value)) + " as an expression",
               "integers have at most 64 bits", "use a float, or a smaller number", place());
  }
  if (overflow > 0) return Expr(static_cast<uint64_t>(PyLong_AsUnsignedLongLong(value.ptr())));
  if (v < INT32_MIN || v > INT32_MAX) return Expr(static_cast<int64_t>(v));
  return Expr(static_cast<int32_t>(v));
}

}  // namespace

bool is_number(py::handle value) {
  return py::isinstance<py::int_>(value) || py::isinstance<py::float_>(value) ||
         is_numpy_scalar(value);
}

Expr as_expr(py::handle value) {
  if (py::isinstance<Expr>(value)) return value.cast<const Expr &>();
  if (py::isinstance<py::bool_>(value)) return Expr(value.cast<bool>());
  if (py::isinstance<py::int_>(value)) return integer(value);
  // numpy's float64 is a float of Python.
  if (PyFloat_CheckExact(value.ptr())) return Expr(static_cast<float>(value.cast<double>()));
  if (py::isinstance<Var>(value)) return value.cast<const Var &>();
  if (py::isinstance<RVar>(value)) return value.cast<const RVar &>();
  if (py::isinstance<RDom>(value)) return value.cast<const RDom &>();
  if (py::isinstance<FuncRef>(value)) return value.cast<const FuncRef &>();
  if (py::isinstance<FuncTupleElementRef>(value)) return value.cast<const FuncTupleElementRef &>();
  if (py::isinstance<Param<>>(value)) return value.cast<const Param<> &>();
  if (is_numpy_scalar(value)) {
    return to_expr(value.attr("item")(), to_type(value.attr("dtype")));
  }
  return Expr();
}

Expr to_expr(py::handle value) {
  Expr e = as_expr(value);
  if (!e.defined() && !py::isinstance<Expr>(value)) no_value(value);
  return e;
}

Expr to_expr(py::handle value, const Type &type) {
  if (py::isinstance<py::bool_>(value)) return cast(type, Expr(value.cast<bool>()));
  if (py::isinstance<py::int_>(value)) {
    const Expr e = integer(value);
    int64_t v = PyLong_AsLongLong(value.ptr());
    const bool large = v == -1 && PyErr_Occurred();
    if (large) PyErr_Clear();
    const bool fits =
        large ? type.can_represent(static_cast<uint64_t>(PyLong_AsUnsignedLongLong(value.ptr())))
              : type.can_represent(v);
    if (!fits && type.is_int_or_uint()) {
      user_error("the number " + py::cast<std::string>(py::str(value)) + " as a value of type " +
                     type.to_string(),
                 "the type does not hold it", "use a wider type, or another number", place());
    }
    return cast(type, e);
  }
  if (PyFloat_Check(value.ptr())) return cast(type, Expr(value.cast<double>()));
  return to_expr(value);
}

bool is_tuple(py::handle value) {
  return py::isinstance<Tuple>(value) || py::isinstance<py::tuple>(value) ||
         py::isinstance<py::list>(value);
}

Tuple to_tuple(py::handle value) {
  if (py::isinstance<Tuple>(value)) return value.cast<const Tuple &>();
  if (py::isinstance<FuncRef>(value)) return Tuple(value.cast<const FuncRef &>());
  if (!is_tuple(value)) return Tuple(to_expr(value));
  std::vector<Expr> list;
  for (const py::handle v : value) list.push_back(to_expr(v));
  return Tuple(list);
}

namespace {

// Of the types of numpy that the C language has too; to ask these for their names takes long. Their
// sizes are not asked for: dtypes of numpy 1 and 2 keep them in different places.
std::optional<Type> plain_type(py::handle type) {
  constexpr int kLong = 8 * sizeof(long);
  // By numpy's numbers of them, from NPY_BOOL to NPY_DOUBLE.
  static const Type kTypes[] = {Bool(),   Int(8),    UInt(8),    Int(16),     UInt(16),
                                Int(32),  UInt(32),  Int(kLong), UInt(kLong), Int(64),
                                UInt(64), Float(32), Float(64)};
  if (!py::isinstance<py::dtype>(type)) return std::nullopt;
  const int number = py::reinterpret_borrow<py::dtype>(type).num();
  if (number < 0 || number >= static_cast<int>(std::size(kTypes))) return std::nullopt;
  return kTypes[number];
}

}  // namespace

Type to_type(py::handle type) {
  if (py::isinstance<Type>(type)) return type.cast<const Type &>();
  if (const auto plain = plain_type(type)) return *plain;
  if (type.ptr() == reinterpret_cast<PyObject *>(&PyBool_Type)) return Bool();
  if (type.ptr() == reinterpret_cast<PyObject *>(&PyLong_Type)) return Int(32);
  if (type.ptr() == reinterpret_cast<PyObject *>(&PyFloat_Type)) return Float(32);
  std::string name;
  try {
    name = py::cast<std::string>(py::module_::import("numpy").attr("dtype")(type).attr("name"));
  } catch (py::error_already_set &) {
    throw py::type_error("'" + py::cast<std::string>(py::str(type)) +
                         "' is used as a type\n  why: it is none\n  fix: use a Type such as "
                         "UInt(8), a dtype such as numpy.uint8, or one of bool, int and float");
  }
  if (name == "bool") return Bool();
  if (name == "bfloat16") return BFloat(16);
  const size_t digit = name.find_first_of("0123456789");
  const std::string word = name.substr(0, digit);
  const bool known = digit != std::string::npos && name.size() < 9 &&
                     (word == "int" || word == "uint" || (word == "float" && name != "float128"));
  if (!known) {
    throw py::type_error("elements of numpy's type '" + name +
                         "'\n  why: the language has bool, "
                         "int and uint of 8 to 64 bits, float16, bfloat16, float32 and float64\n"
                         "  fix: convert them, as in array.astype(numpy.float32)");
  }
  const int bits = std::stoi(name.substr(digit));
  return word == "int" ? Int(bits) : word == "uint" ? UInt(bits) : Float(bits);
}

Region to_region(py::handle bounds, int axes) {
  Region region;
  if (!py::isinstance<py::sequence>(bounds)) {
    throw py::type_error("bounds of type '" + type_name(bounds) +
                         "'\n  why: each axis has a min and an extent\n  fix: give a list of "
                         "pairs, as in [(0, height), (0, width)]");
  }
  for (const py::handle b : bounds) {
    if (b.is_none()) {
      region.emplace_back();
      continue;
    }
    if (!py::isinstance<py::sequence>(b) || py::len(b) != 2) {
      throw py::type_error("'" + py::cast<std::string>(py::repr(b)) +
                           "' is used as the bounds of an axis\n  why: an axis has a min and an "
                           "extent\n  fix: give a pair, as in (0, height)");
    }
    const auto pair = py::reinterpret_borrow<py::sequence>(b);
    const py::object min = pair[0], extent = pair[1];
    region.emplace_back(min.is_none() ? Expr() : to_expr(min),
                        extent.is_none() ? Expr() : to_expr(extent));
  }
  if (axes >= 0 && region.size() < static_cast<size_t>(axes)) region.resize(axes);
  return reversed(std::move(region));
}

std::vector<Expr> to_indices(py::handle key) {
  std::vector<Expr> indices;
  auto add = [&](py::handle k) { indices.push_back(k.is(py::ellipsis()) ? Expr(_) : to_expr(k)); };
  if (py::isinstance<py::tuple>(key) || py::isinstance<py::list>(key)) {
    for (const py::handle k : key) add(k);
  } else {
    add(key);
  }
  return reversed(std::move(indices));
}

std::vector<py::object> spread(const py::args &args) {
  std::vector<py::object> list;
  const bool one = args.size() == 1 && is_tuple(args[0]) && !py::isinstance<Tuple>(args[0]);
  for (const py::handle a : one ? py::handle(args[0]) : py::handle(args)) {
    list.push_back(py::reinterpret_borrow<py::object>(a));
  }
  return list;
}

Func to_func(py::handle value) {
  if (py::isinstance<Func>(value)) return value.cast<const Func &>();
  if (py::isinstance<ImageParam>(value)) return value.cast<const ImageParam &>();
  if (py::isinstance<Buffer<>>(value)) return Func(value.cast<const Buffer<> &>(), here());
  throw py::type_error("a value of type '" + type_name(value) +
                       "' is used as a Func\n  why: it is no function of coordinates\n  fix: use "
                       "a Func, an ImageParam or a Buffer");
}

std::vector<Func> to_funcs(py::handle value) {
  std::vector<Func> list;
  if (!is_tuple(value)) return {to_func(value)};
  for (const py::handle v : value) list.push_back(to_func(v));
  return list;
}

Stage to_stage(py::handle value) {
  if (py::isinstance<Stage>(value)) return value.cast<const Stage &>();
  if (py::isinstance<Func>(value)) return value.cast<const Func &>().stage_to_schedule();
  throw py::type_error("a value of type '" + type_name(value) +
                       "' is used as a stage\n  why: it has no loops\n  fix: use a Func, or "
                       "f.update(0)");
}

Pipeline to_pipeline(py::handle value) {
  if (py::isinstance<Pipeline>(value)) return value.cast<const Pipeline &>();
  return Pipeline(to_func(value).pipeline_contents());
}

std::vector<Expr> to_message(const py::args &args) {
  std::vector<Expr> list;
  for (const py::handle a : args) {
    list.push_back(py::isinstance<py::str>(a) ? Expr(a.cast<std::string>()) : to_expr(a));
  }
  return list;
}

Loop to_loop(py::handle value) {
  Loop loop;
  if (py::isinstance<Var>(value)) {
    loop.v = VarOrRVar(value.cast<const Var &>());
  } else if (py::isinstance<RVar>(value)) {
    loop.v = VarOrRVar(value.cast<const RVar &>());
  } else if (py::isinstance<RDom>(value)) {
    loop.v = VarOrRVar(static_cast<RVar>(value.cast<const RDom &>()));
  } else {
    throw py::type_error("a value of type '" + type_name(value) +
                         "' is used as a loop\n  why: loops go by variables\n  fix: name a Var, "
                         "an RVar or a variable of an RDom");
  }
  loop.v.where = place();
  return loop;
}

std::vector<VarOrRVar> to_loops(const std::vector<py::object> &values) {
  std::vector<VarOrRVar> loops;
  for (const py::object &v : values) loops.push_back(to_loop(v).v);
  return loops;
}

}  // namespace polyhalite::python
