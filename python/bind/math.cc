// Functions of expressions: math, integers, choices.
#include "polyhalite/effects.h"
#include "polyhalite/integer_functions.h"
#include "polyhalite/operators.h"
#include "python/bind/bind.h"

namespace polyhalite::python {

namespace {

using Unary = Expr (*)(Expr);
using Binary = Expr (*)(Expr, Expr);

// One lambda for all functions of a kind: each would be compiled by itself otherwise.
void unary(py::module_ &m, const char *name, Unary f, const char *doc) {
  m.def(name, [f](Value x) { return f(x.e); }, py::arg("x"), doc);
}
void binary(py::module_ &m, const char *name, Binary f, const char *doc) {
  m.def(
      name,
      [f](const py::object &a, const py::object &b) {
        auto [left, right] = to_exprs(a, b);
        return f(std::move(left), std::move(right));
      },
      py::arg("a"), py::arg("b"), doc);
}
void ternary(py::module_ &m, const char *name, Expr (*f)(Expr, Expr, Expr), const char *a,
             const char *b, const char *c, const char *doc) {
  m.def(
      name,
      [f](Value x, const py::object &y, const py::object &z) {
        auto [left, right] = to_exprs(y, z);
        return f(x.e, std::move(left), std::move(right));
      },
      py::arg(a), py::arg(b), py::arg(c), doc);
}

void bind_floats(py::module_ &m) {
  const char *of_float = "Of a float, in its type; other numbers are cast to float32.";
  const std::pair<const char *, Unary> functions[] = {
      {"sqrt", sqrt},   {"exp", exp},   {"log", log},     {"sin", sin},     {"cos", cos},
      {"tan", tan},     {"asin", asin}, {"acos", acos},   {"atan", atan},   {"sinh", sinh},
      {"cosh", cosh},   {"tanh", tanh}, {"asinh", asinh}, {"acosh", acosh}, {"atanh", atanh},
      {"floor", floor}, {"ceil", ceil}, {"trunc", trunc}, {"erf", erf},     {"fract", fract}};
  for (const auto &[name, f] : functions) unary(m, name, f, of_float);
  unary(m, "round", round, "To the nearest integer, halves to the even one.");
  unary(m, "is_nan", is_nan, "A bool.");
  unary(m, "is_inf", is_inf, "A bool.");
  unary(m, "is_finite", is_finite, "A bool.");
  binary(m, "atan2", atan2, "The angle of the point (b, a), in radians.");
  binary(m, "pow", pow, "a to the power of b. Constant integer powers are products.");
  binary(m, "hypot", hypot, "sqrt(a*a + b*b).");
  const char *quick = "Of float32, quicker and less exact than its model.";
  unary(m, "fast_exp", fast_exp, quick);
  unary(m, "fast_log", fast_log, quick);
  unary(m, "fast_sin", fast_sin, quick);
  unary(m, "fast_cos", fast_cos, quick);
  unary(m, "fast_inverse", fast_inverse, quick);
  unary(m, "fast_inverse_sqrt", fast_inverse_sqrt, quick);
  binary(m, "fast_pow", fast_pow, quick);
  unary(m, "strict_float", strict_float,
        "The value with floats computed exactly as written: no contraction, no reassociation.");
}

void bind_integers(py::module_ &m) {
  unary(m, "abs", abs, "Of a signed integer, unsigned of the same width.");
  binary(m, "absd", absd, "|a - b| without overflow; unsigned for integers.");
  const char *widening = "In a type of twice the width, which loses nothing.";
  binary(m, "widening_add", widening_add, widening);
  binary(m, "widening_sub", widening_sub, widening);
  binary(m, "widening_mul", widening_mul, widening);
  binary(m, "widening_shift_left", widening_shift_left, "a of twice the width, shifted by b.");
  binary(m, "widening_shift_right", widening_shift_right, "a of twice the width, shifted by b.");
  const char *right = "b has half of a's width; the result has a's type.";
  binary(m, "widen_right_add", widen_right_add, right);
  binary(m, "widen_right_sub", widen_right_sub, right);
  binary(m, "widen_right_mul", widen_right_mul, right);
  binary(m, "saturating_add", saturating_add, "The sum, or what of its type is nearest.");
  binary(m, "saturating_sub", saturating_sub, "The difference, or what of its type is nearest.");
  binary(m, "halving_add", halving_add, "(a + b)/2 without overflow, rounded down.");
  binary(m, "rounding_halving_add", rounding_halving_add, "(a + b)/2, halves rounded up.");
  binary(m, "halving_sub", halving_sub, "(a - b)/2, rounded down, which wraps.");
  binary(m, "rounding_shift_left", rounding_shift_left, "Wraps.");
  binary(m, "rounding_shift_right", rounding_shift_right, "Halves are rounded up.");
  ternary(m, "mul_shift_right", mul_shift_right, "a", "b", "q",
          "a*b in twice the width, shifted right by q, as the nearest value of a's type.");
  ternary(m, "rounding_mul_shift_right", rounding_mul_shift_right, "a", "b", "q",
          "mul_shift_right with halves rounded up.");
  binary(m, "div_round_to_zero", div_round_to_zero, "Division as in C; 0 where b is 0.");
  binary(m, "mod_round_to_zero", mod_round_to_zero, "The remainder as in C; 0 where b is 0.");
  binary(m, "fast_integer_divide", fast_integer_divide, "By an unsigned b of up to 32 bits.");
  binary(m, "fast_integer_modulo", fast_integer_modulo, "By an unsigned b of up to 32 bits.");
  unary(m, "popcount", popcount, "How many bits are set.");
  unary(m, "count_leading_zeros", count_leading_zeros, "Of 0 the width.");
  unary(m, "count_trailing_zeros", count_trailing_zeros, "Of 0 the width.");
  m.def(
      "extract_bits", [](AnyType t, Value e, Value lsb) { return extract_bits(t.t, e.e, lsb.e); },
      py::arg("type"), py::arg("value"), py::arg("lsb"),
      "The bits of the value from bit `lsb` on.");
  m.def(
      "concat_bits",
      [](const py::args &parts) {
        std::vector<Expr> list;
        for (const py::object &p : spread(parts)) list.push_back(to_expr(p));
        return concat_bits(list);
      },
      "Unsigned integers side by side in a wider one, the first one lowest.");
}

Expr extremum(const py::args &args, Expr (*f)(Expr, Expr), const char *name) {
  const std::vector<py::object> list = spread(args);
  if (list.size() < 2) {
    throw py::type_error(std::string(name) + "() of " + std::to_string(list.size()) +
                         " values\n  why: it compares\n  fix: give two or more");
  }
  auto [left, right] = to_exprs(list[0], list[1]);
  Expr e = f(std::move(left), std::move(right));
  for (size_t i = 2; i < list.size(); i++) {
    auto [so_far, next] = to_exprs(py::cast(e), list[i]);
    e = f(std::move(so_far), std::move(next));
  }
  return e;
}

// select(c0, v0, c1, v1, ..., otherwise), of values or of tuples of them.
py::object choose(const py::args &args) {
  if (args.size() < 3 || args.size() % 2 == 0) {
    throw py::type_error("select() of " + std::to_string(args.size()) +
                         " arguments\n  why: each condition has a value, and one stands for none "
                         "of them\n  fix: write select(condition, value, ..., otherwise)");
  }
  py::object result = args[args.size() - 1];
  for (size_t i = args.size() - 1; i >= 2; i -= 2) {
    const py::object condition = args[i - 2], value = args[i - 1];
    if (is_tuple(value) || is_tuple(result)) {
      const Tuple a = to_tuple(value), b = to_tuple(result);
      result = py::cast(is_tuple(condition) ? select(to_tuple(condition), a, b)
                                            : select(to_expr(condition), a, b));
    } else {
      auto [a, b] = to_exprs(value, result);
      result = py::cast(select(to_expr(condition), std::move(a), std::move(b)));
    }
  }
  return result;
}

py::object pick(Value id, const py::object &values) {
  if (!is_tuple(values)) {
    throw py::type_error(
        "mux() without a list of values\n  why: the id picks one of them\n  fix: "
        "write mux(id, [a, b, c])");
  }
  std::vector<Tuple> tuples;
  std::vector<Expr> exprs;
  for (const py::handle v : values) {
    if (is_tuple(v)) {
      tuples.push_back(to_tuple(v));
    } else {
      exprs.push_back(to_expr(v));
    }
  }
  if (tuples.empty()) return py::cast(mux(id.e, exprs));
  return py::cast(mux(id.e, tuples));
}

void bind_selection(py::module_ &m) {
  m.def(
      "min", [](const py::args &a) { return extremum(a, min, "min"); },
      "The smallest of two or more values.");
  m.def(
      "max", [](const py::args &a) { return extremum(a, max, "max"); },
      "The largest of two or more values.");
  m.def(
      "clamp",
      [](Value v, const py::object &low, const py::object &high) {
        const Type t = v.e.type();
        auto bound = [&](const py::object &b) {
          return is_number(b) && !t.is_bool() ? to_exprs(py::cast(v.e), b).second : to_expr(b);
        };
        return clamp(v.e, bound(low), bound(high));
      },
      py::arg("value"), py::arg("min"), py::arg("max"),
      "The value, or the bound that it lies beyond. The bounds are cast to its type.");
  m.def("select", &choose,
        "select(c0, v0, c1, v1, ..., otherwise): the first value whose condition holds. Values may "
        "be tuples; all are evaluated.");
  m.def("mux", &pick, py::arg("id"), py::arg("values"),
        "values[id]; the last one where id is out of range.");
  m.def(
      "lerp",
      [](const py::object &zero, const py::object &one, Value weight) {
        auto [a, b] = to_exprs(zero, one);
        return lerp(std::move(a), std::move(b), weight.e);
      },
      py::arg("zero"), py::arg("one"), py::arg("weight"),
      "Linear interpolation: `zero` where weight is 0, `one` where it is 1 or the largest value "
      "of its unsigned type.");
  unary(m, "likely", likely,
        "The value itself, and a hint: loops are cut so that the branch, min, max or clamp around "
        "it takes it in their middle.");
  unary(m, "likely_if_innermost", likely_if_innermost,
        "likely() where no loop is inside the one that would be cut.");
  m.def(
      "unsafe_promise_clamped",
      [](Value v, const py::object &low, const py::object &high) {
        return unsafe_promise_clamped(v.e, to_exprs(py::cast(v.e), low).second,
                                      to_exprs(py::cast(v.e), high).second);
      },
      py::arg("value"), py::arg("min"), py::arg("max"),
      "The value, which is promised to lie in [min, max].");
}

}  // namespace

void bind_math(py::module_ &m) {
  bind_floats(m);
  bind_integers(m);
  bind_selection(m);
}

}  // namespace polyhalite::python
