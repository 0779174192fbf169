// The language's operators under Python's operator symbols.
#include "polyhalite/operators.h"

#include "polyhalite/integer_functions.h"

#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Operator = Expr (*)(Expr, Expr);

Expr divide(Expr a, Expr b) { return std::move(a) / std::move(b); }
Expr floor_divide(Expr a, Expr b) {
  Expr quotient = std::move(a) / std::move(b);
  return quotient.type().is_float() ? floor(quotient) : quotient;
}
Expr conjunction(Expr a, Expr b) {
  if (a.type().is_bool() && b.type().is_bool()) return std::move(a) && std::move(b);
  return std::move(a) & std::move(b);
}
Expr disjunction(Expr a, Expr b) {
  if (a.type().is_bool() && b.type().is_bool()) return std::move(a) || std::move(b);
  return std::move(a) | std::move(b);
}
Expr exclusive(Expr a, Expr b) {
  if (a.type().is_bool() && b.type().is_bool()) return std::move(a) != std::move(b);
  return std::move(a) ^ std::move(b);
}

struct Symbol {
  const char *name, *swapped;  // without the underscores; swapped: null for comparisons
  Operator apply;
};
const Symbol kSymbols[] = {
    {"add", "radd", [](Expr a, Expr b) { return a + b; }},
    {"sub", "rsub", [](Expr a, Expr b) { return a - b; }},
    {"mul", "rmul", [](Expr a, Expr b) { return a * b; }},
    {"truediv", "rtruediv", divide},
    {"floordiv", "rfloordiv", floor_divide},
    {"mod", "rmod", [](Expr a, Expr b) { return a % b; }},
    {"pow", "rpow", [](Expr a, Expr b) { return pow(a, b); }},
    {"and", "rand", conjunction},
    {"or", "ror", disjunction},
    {"xor", "rxor", exclusive},
    {"lshift", "rlshift", [](Expr a, Expr b) { return a << b; }},
    {"rshift", "rrshift", [](Expr a, Expr b) { return a >> b; }},
    {"eq", nullptr, [](Expr a, Expr b) { return a == b; }},
    {"ne", nullptr, [](Expr a, Expr b) { return a != b; }},
    {"lt", nullptr, [](Expr a, Expr b) { return a < b; }},
    {"le", nullptr, [](Expr a, Expr b) { return a <= b; }},
    {"gt", nullptr, [](Expr a, Expr b) { return a > b; }},
    {"ge", nullptr, [](Expr a, Expr b) { return a >= b; }},
};

// A plain number beside an expression of this type.
Expr beside(const py::object &number, const Type &type) {
  if (py::isinstance<py::bool_>(number)) return Expr(number.cast<bool>());
  if (py::isinstance<py::int_>(number) && !type.is_bool()) return to_expr(number, type);
  if (PyFloat_CheckExact(number.ptr()) && type.is_float()) return to_expr(number, type);
  return as_expr(number);
}

bool is_plain(const py::object &o) {
  return py::isinstance<py::int_>(o) || PyFloat_CheckExact(o.ptr());
}

py::object apply(Operator op, const py::object &a, const py::object &b, bool swapped) {
  Expr left = as_expr(a);
  Expr right = left.defined() && is_plain(b) ? beside(b, left.type()) : as_expr(b);
  if (!left.defined() || !right.defined()) {
    // Python goes on to ask the other operand, and then says that neither knows.
    if (!py::isinstance<Expr>(a) || left.defined()) {
      if (!py::isinstance<Expr>(b) || right.defined()) {
        return py::reinterpret_borrow<py::object>(Py_NotImplemented);
      }
    }
  }
  return py::cast(swapped ? op(std::move(right), std::move(left))
                          : op(std::move(left), std::move(right)));
}

[[noreturn]] void no_truth() {
  user_error("an expression is used as a condition of Python",
             "'and', 'or', 'not', 'if', 'while' and chained comparisons ask for its value now, and "
             "it has one only when the pipeline runs",
             "write &, | and ~ with brackets, as in (x > 0) & (x < 9), and select(condition, a, b)",
             place());
}

}  // namespace

std::pair<Expr, Expr> to_exprs(const py::object &a, const py::object &b) {
  if (is_plain(a) && !is_plain(b)) {
    Expr right = to_expr(b);
    return {beside(a, right.type()), right};
  }
  Expr left = to_expr(a);
  if (is_plain(b) && !is_plain(a)) return {left, beside(b, left.type())};
  return {left, to_expr(b)};
}

void add_operators(const py::object &cls) {
  for (const Symbol &s : kSymbols) {
    auto define = [&](const char *name, bool swapped) {
      const std::string method = std::string("__") + name + "__";
      cls.attr(method.c_str()) = py::cpp_function(
          [op = s.apply, swapped](const py::object &a, const py::object &b) {
            return apply(op, a, b, swapped);
          },
          py::name(method.c_str()), py::is_method(cls));
    };
    define(s.name, false);
    if (s.swapped) define(s.swapped, true);
  }
  auto unary = [&](const char *name, auto f) {
    cls.attr(name) = py::cpp_function([f](const py::object &a) -> Expr { return f(to_expr(a)); },
                                      py::name(name), py::is_method(cls));
  };
  unary("__neg__", [](Expr e) { return -std::move(e); });
  unary("__pos__", [](Expr e) { return e; });
  unary("__abs__", [](Expr e) { return abs(std::move(e)); });
  unary("__invert__", [](Expr e) { return e.type().is_bool() ? !std::move(e) : ~std::move(e); });
  cls.attr("__bool__") = py::cpp_function([](const py::object &) -> bool { no_truth(); },
                                          py::name("__bool__"), py::is_method(cls));
  // Comparisons make expressions, so that objects are told apart by identity.
  cls.attr("__hash__") = py::module_::import("builtins").attr("object").attr("__hash__");
  // numpy's arrays and scalars leave operators with expressions to the expressions.
  cls.attr("__array_ufunc__") = py::none();
}

void bind_operators(py::module_ &m) {
  m.def(
      "cast", [](AnyType t, py::object e) { return cast(t.t, to_expr(e)); }, py::arg("type"),
      py::arg("value"),
      "The value in another type, as static_cast in C++: floats to integers round towards zero.");
  m.def(
      "reinterpret", [](AnyType t, Value e) { return reinterpret(t.t, e.e); }, py::arg("type"),
      py::arg("value"), "The same bits as another type of the same width.");
  m.def(
      "saturating_cast", [](AnyType t, Value e) { return saturating_cast(t.t, e.e); },
      py::arg("type"), py::arg("value"), "The value of the type that is nearest. NaN becomes 0.");
  const std::pair<const char *, Type> casts[] = {
      {"f64", Float(64)}, {"f32", Float(32)}, {"f16", Float(16)}, {"bf16", BFloat(16)},
      {"i64", Int(64)},   {"i32", Int(32)},   {"i16", Int(16)},   {"i8", Int(8)},
      {"u64", UInt(64)},  {"u32", UInt(32)},  {"u16", UInt(16)},  {"u8", UInt(8)}};
  for (const auto &[name, type] : casts) {
    const std::string of = type.to_string();
    m.def(
        name,
        [t = type](const py::object &v) {
          return is_number(v) && !py::hasattr(v, "dtype") ? to_expr(v, t) : cast(t, to_expr(v));
        },
        py::arg("value"), ("The value cast to " + of + "; a number must fit.").c_str());
    if (type.is_float()) continue;
    m.def((std::string(name) + "_sat").c_str(),
          [t = type](Value v) { return saturating_cast(t, v.e); }, py::arg("value"),
          ("The value of " + of + " that is nearest.").c_str());
  }
}

}  // namespace polyhalite::python
