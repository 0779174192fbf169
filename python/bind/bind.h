// What the binding files share: places in Python programs, values that convert, the order of
// dimensions.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "polyhalite/func.h"
#include "polyhalite/param.h"
#include "polyhalite/pipeline.h"
#include "polyhalite/rdom.h"
#include "polyhalite/target.h"
#include "polyhalite/type.h"
#include "polyhalite/var.h"

namespace polyhalite::python {

namespace py = pybind11;

/// The line of the user's program that called into the package: of the innermost frame of this
/// thread whose file is none of the package's. Needs the GIL.
SourceLocation place();
inline Here here() { return Here(place()); }

/// Lists that name dimensions by position (indices, sizes, bounds, axes) stand in numpy's order in
/// Python, outermost first, and innermost first in C++. This is the only place that turns them.
template <typename T>
std::vector<T> reversed(std::vector<T> list) {
  std::reverse(list.begin(), list.end());
  return list;
}
/// The same for one axis of n, which may count from the end as in numpy. IndexError beyond them.
int dimension_of_axis(int axis, int n);

/// What Python calls a value: an Expr, anything that has one (a variable, a Param, a call of a
/// Func), a number of Python or numpy. Python's ints are int32, or int64 where they need it, its
/// floats float32; numpy's scalars keep their types. Undefined for anything else.
Expr as_expr(py::handle value);
/// TypeError, naming the value, for anything else.
Expr to_expr(py::handle value);
/// A number as a constant of this type; other values as to_expr() has them.
Expr to_expr(py::handle value, const Type &type);
/// Values of one operation. A plain number of Python beside an expression takes the expression's
/// type: ints any type that holds them, floats a float's.
std::pair<Expr, Expr> to_exprs(const py::object &a, const py::object &b);
/// A scalar, or the list of values that a tuple or list stands for. TypeError for anything else.
bool is_tuple(py::handle value);
Tuple to_tuple(py::handle value);
/// A Type, a dtype of numpy or what makes one, or one of Python's bool, int and float: bool, int32
/// and float32.
Type to_type(py::handle type);
/// The dtype of an array of such elements.
py::object dtype_of(const Type &type);
bool is_number(py::handle value);

/// The Target that PH_TARGET, or else HL_TARGET, names where this is none.
inline Target target_or_environment(const Target &t) {
  return t == Target() ? get_target_from_environment() : t;
}

/// [(min, extent), ...] of the axes, as the Region of dimensions in C++'s order; None and missing
/// axes at the end are unbounded where `axes` says how many there are.
Region to_region(py::handle bounds, int axes = -1);
/// Arguments in brackets, f[...], in C++'s order. Ellipsis is `_`.
std::vector<Expr> to_indices(py::handle key);
/// As polyhalite.Diagnostic.
py::object to_python(const Diagnostic &d);
/// *args or one list.
std::vector<py::object> spread(const py::args &args);
Func to_func(py::handle value);
std::vector<Func> to_funcs(py::handle value);
Stage to_stage(py::handle value);
/// A Func stands for the pipeline whose output it is.
Pipeline to_pipeline(py::handle value);
/// A Buffer, or one that shares an array's elements.
Buffer<> to_buffer(const py::object &value);
/// A number as the bits of a scalar of this type. `name` is for errors.
uint64_t to_scalar_bits(const Type &type, const std::string &name, const py::object &value);
/// What is text as it is, what is a value as one: for print() and its like.
std::vector<Expr> to_message(const py::args &args);

// Arguments of bound functions that convert from all of these.
struct Value {
  Expr e;
  operator Expr() const { return e; }  // NOLINT
};
struct Loop {
  VarOrRVar v{Var::outermost()};
  operator const VarOrRVar &() const { return v; }  // NOLINT
};
struct AnyType {
  Type t;
  operator Type() const { return t; }  // NOLINT
};
struct AnyFunc {
  Func f;
  operator Func() const { return f; }  // NOLINT
};

Loop to_loop(py::handle value);
std::vector<VarOrRVar> to_loops(const std::vector<py::object> &values);

/// Methods of classes that differ in C++ only: each body is compiled once.
class Classes {
 public:
  explicit Classes(std::vector<py::object> classes) : classes_(std::move(classes)) {}
  template <typename F, typename... Extra>
  Classes &def(const char *name, F f, const Extra &...extra) {
    for (const py::object &cls : classes_) {
      cls.attr(name) = py::cpp_function(f, py::name(name), py::is_method(cls),
                                        py::sibling(py::getattr(cls, name, py::none())), extra...);
    }
    return *this;
  }

 private:
  std::vector<py::object> classes_;
};

/// The operators of `language` on a class whose objects are values.
void add_operators(const py::object &cls);

// One per subject; called in this order.
void bind_errors(py::module_ &m);
void bind_types(py::module_ &m);
void bind_targets(py::module_ &m);
void bind_variables(py::module_ &m);
void bind_operators(py::module_ &m);
void bind_math(py::module_ &m);
void bind_buffers(py::module_ &m);
void bind_params(py::module_ &m);
void bind_funcs(py::module_ &m);
void bind_loops(py::module_ &m);
void bind_placement(py::module_ &m);
void bind_reductions(py::module_ &m);
void bind_effects(py::module_ &m);
void bind_running(py::module_ &m);
void bind_compiling(py::module_ &m);
void bind_texts(py::module_ &m);
void bind_questions(py::module_ &m);
void bind_generators(py::module_ &m);

}  // namespace polyhalite::python

namespace pybind11::detail {

#define POLYHALITE_PYTHON_ARGUMENT(type, name, convert)               \
  template <>                                                         \
  struct type_caster<polyhalite::python::type> {                      \
    PYBIND11_TYPE_CASTER(polyhalite::python::type, const_name(name)); \
    bool load(handle source, bool) {                                  \
      value = convert(source);                                        \
      return true;                                                    \
    }                                                                 \
  };
POLYHALITE_PYTHON_ARGUMENT(Value, "ExprLike", [](handle h) {
  return polyhalite::python::Value{polyhalite::python::to_expr(h)};
})
POLYHALITE_PYTHON_ARGUMENT(Loop, "LoopLike", polyhalite::python::to_loop)
POLYHALITE_PYTHON_ARGUMENT(AnyType, "TypeLike", [](handle h) {
  return polyhalite::python::AnyType{polyhalite::python::to_type(h)};
})
POLYHALITE_PYTHON_ARGUMENT(AnyFunc, "FuncLike", [](handle h) {
  return polyhalite::python::AnyFunc{polyhalite::python::to_func(h)};
})
#undef POLYHALITE_PYTHON_ARGUMENT

}  // namespace pybind11::detail
