// Operators of each element on its own.
#include <cmath>

#include "apps/onnx/operators.h"
#include "apps/onnx/operators/narrow.h"
#include "apps/onnx/operators/size_elements.h"
#include "lang/ir/node.h"
#include "polyhalite/integer_functions.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Tensor;
using Values = std::vector<Expr>;

Expr number(const Expr &like, double v) { return cast(like.type(), Expr(v)); }
Expr zero(const Expr &like) { return number(like, 0); }
Expr one(const Expr &like) { return number(like, 1); }

// Functions of one operand, by name; the node has the parameters.
using Unary = Expr (*)(const Node &, const Expr &);
struct UnaryRow {
  const char *name;
  Unary f;
};

// A float min and max give their second operand where either is no number, which stays none so.
Expr limited(const Expr &low, const Expr &x, const Expr &high) { return min(high, max(low, x)); }

Expr elu(const Expr &x, double alpha, double gamma) {
  return number(x, gamma) *
         select(x > zero(x), x, number(x, alpha) * (exp(min(zero(x), x)) - one(x)));
}

const UnaryRow kUnary[] = {
    {"Abs", [](const Node &, const Expr &x) { return cast(x.type(), abs(x)); }},
    {"Acos", [](const Node &, const Expr &x) { return acos(x); }},
    {"Acosh", [](const Node &, const Expr &x) { return acosh(x); }},
    {"Asin", [](const Node &, const Expr &x) { return asin(x); }},
    {"Asinh", [](const Node &, const Expr &x) { return asinh(x); }},
    {"Atan", [](const Node &, const Expr &x) { return atan(x); }},
    {"Atanh", [](const Node &, const Expr &x) { return atanh(x); }},
    {"BitwiseNot", [](const Node &, const Expr &x) { return ~x; }},
    {"Ceil", [](const Node &, const Expr &x) { return ceil(x); }},
    {"Celu",
     [](const Node &n, const Expr &x) {
       const float a = n.real("alpha", 1);
       return max(zero(x), x) + min(zero(x), number(x, a) * (exp(x / number(x, a)) - one(x)));
     }},
    {"Cos", [](const Node &, const Expr &x) { return cos(x); }},
    {"Cosh", [](const Node &, const Expr &x) { return cosh(x); }},
    {"Elu", [](const Node &n, const Expr &x) { return elu(x, n.real("alpha", 1), 1); }},
    {"Erf", [](const Node &, const Expr &x) { return erf(x); }},
    {"Exp", [](const Node &, const Expr &x) { return exp(x); }},
    {"Floor", [](const Node &, const Expr &x) { return floor(x); }},
    {"Gelu",
     [](const Node &n, const Expr &x) {
       return n.text("approximate", "none") == "tanh" ? ops::point::gelu_tanh(x)
                                                      : ops::point::gelu(x);
     }},
    {"HardSigmoid",
     [](const Node &n, const Expr &x) {
       return limited(
           zero(x), number(x, n.real("alpha", 0.2f)) * x + number(x, n.real("beta", 0.5f)), one(x));
     }},
    {"HardSwish",
     [](const Node &, const Expr &x) {
       return x * clamp(x / number(x, 6) + number(x, 0.5), zero(x), one(x));
     }},
    {"LeakyRelu",
     [](const Node &n, const Expr &x) {
       return select(x < zero(x), number(x, n.real("alpha", 0.01f)) * x, x);
     }},
    {"Log", [](const Node &, const Expr &x) { return log(x); }},
    {"Mish", [](const Node &, const Expr &x) { return x * tanh(ops::point::softplus(x)); }},
    {"Neg", [](const Node &, const Expr &x) { return -x; }},
    {"Not", [](const Node &, const Expr &x) { return !x; }},
    {"Reciprocal", [](const Node &, const Expr &x) { return one(x) / x; }},
    {"Relu", [](const Node &, const Expr &x) { return max(zero(x), x); }},
    {"Round", [](const Node &, const Expr &x) { return round(x); }},
    {"Selu",
     [](const Node &n, const Expr &x) {
       return elu(x, n.real("alpha", 1.67326319217681884765625f),
                  n.real("gamma", 1.05070102214813232421875f));
     }},
    {"Shrink",
     [](const Node &n, const Expr &x) {
       const Expr lambda = number(x, n.real("lambd", 0.5f)), bias = number(x, n.real("bias", 0));
       return select(x < -lambda, x + bias, select(x > lambda, x - bias, zero(x)));
     }},
    {"Sigmoid", [](const Node &, const Expr &x) { return ops::point::sigmoid(x); }},
    {"Sign",
     [](const Node &, const Expr &x) {
       if (x.type().is_uint()) return select(x > zero(x), one(x), zero(x));
       return select(x > zero(x), one(x), select(x < zero(x), number(x, -1), x));
     }},
    {"Sin", [](const Node &, const Expr &x) { return sin(x); }},
    {"Sinh", [](const Node &, const Expr &x) { return sinh(x); }},
    {"Softplus", [](const Node &, const Expr &x) { return ops::point::softplus(x); }},
    {"Softsign", [](const Node &, const Expr &x) { return x / (one(x) + abs(x)); }},
    {"Sqrt", [](const Node &, const Expr &x) { return sqrt(x); }},
    {"Swish",
     [](const Node &n, const Expr &x) { return ops::point::swish(x, n.real("alpha", 1)); }},
    {"Tan", [](const Node &, const Expr &x) { return tan(x); }},
    {"Tanh", [](const Node &, const Expr &x) { return tanh(x); }},
    {"ThresholdedRelu",
     [](const Node &n,
        const Expr &x) { return select(x > number(x, n.real("alpha", 1)), x, zero(x)); }},
};

Unary find_unary(const std::string &name) {
  for (const UnaryRow &r : kUnary) {
    if (name == r.name) return r.f;
  }
  return nullptr;
}

void infer_unary(Inference &i) {
  i.result(0, i.type(0), i.shape(0));
  follow_sizes(i);
}

std::vector<Tensor> lower_unary(Lowering &l) {
  const Unary f = find_unary(l.node().op);
  const Node &n = l.node();
  return {ops::elementwise(l.in(0), [f, &n](Expr x) { return f(n, x); })};
}

void infer_test(Inference &i) { i.result(0, ElementType::Bool, i.shape(0)); }

std::vector<Tensor> lower_is_nan(Lowering &l) {
  return {ops::elementwise({l.in(0)}, Bool(), [](const Values &v) { return is_nan(v[0]); })};
}

std::vector<Tensor> lower_is_inf(Lowering &l) {
  const bool up = l.node().integer("detect_positive", 1) != 0;
  const bool down = l.node().integer("detect_negative", 1) != 0;
  return {ops::elementwise({l.in(0)}, Bool(), [=](const Values &v) {
    Expr sign = up && down ? Expr(true) : up ? v[0] > zero(v[0]) : v[0] < zero(v[0]);
    if (!up && !down) sign = Expr(false);
    return is_inf(v[0]) && sign;
  })};
}

// Sums and products of integers wrap. Of types whose overflow has no value in the language, the
// bits are those of unsigned ones.
Expr wrapped(Expr (*f)(const Expr &, const Expr &), const Expr &a, const Expr &b) {
  const Type t = a.type();
  if (!t.is_int() || t.bits() < 32) return f(a, b);
  const Type bits = UInt(t.bits());
  return reinterpret(t, f(reinterpret(bits, a), reinterpret(bits, b)));
}
Expr sum(const Expr &a, const Expr &b) { return a + b; }
Expr difference(const Expr &a, const Expr &b) { return a - b; }
Expr product(const Expr &a, const Expr &b) { return a * b; }

// Towards zero. What does not fit, and what is no number, becomes what machines give for it: the
// least number of 32 or 64 bits, of which narrower types keep the lowest bits.
Expr whole(const Expr &x, Type to) {
  const Type signed_type = to.bits() < 32 ? Int(32) : to == UInt(32) ? Int(64) : Int(to.bits());
  const Type wide = x.type().bits() < 32 ? Float(32) : x.type();
  const Expr v = cast(wide, x);
  const double limit = std::ldexp(1.0, signed_type.bits() - 1);
  const Expr fits = v >= cast(wide, Expr(-limit)) && v < cast(wide, Expr(limit));
  const Expr near = cast(to, select(fits, cast(signed_type, v), signed_type.min()));
  if (to != UInt(64)) return near;
  const Expr large = v >= cast(wide, Expr(limit)) && v < cast(wide, Expr(2 * limit));
  return select(large, cast(to, v), near);
}

// Functions of two operands.
using Binary = Expr (*)(const Node &, const Expr &, const Expr &);
struct BinaryRow {
  const char *name;
  bool test;  // the result is bool
  Binary f;
};

// Known whole exponents of a few factors are products, which are as exact.
Expr power(const Expr &x, const Expr &y) {
  constexpr int kMostFactors = 4;
  if (x.type().is_float()) {
    double exponent = 0;
    int64_t whole = 0;
    if (is_const_int(y, &whole)) {
      exponent = static_cast<double>(whole);
    } else if (!is_const_float(y, &exponent)) {
      return pow(x, cast(x.type(), y));
    }
    const bool few = exponent >= 0 && exponent <= kMostFactors && std::floor(exponent) == exponent;
    return few ? pow(x, static_cast<int>(exponent)) : pow(x, cast(x.type(), y));
  }
  return cast(x.type(), round(pow(cast<double>(x), cast<double>(y))));
}

Expr remainder(const Node &n, const Expr &a, const Expr &b) {
  if (n.integer("fmod", 0) == 0 && !a.type().is_float()) return ops::point::modulo(a, b);
  if (!a.type().is_float()) return mod_round_to_zero(a, b);
  // Exact as long as the quotient has the bits that a type of twice the size has more.
  const Type wide = a.type().bits() < 64 ? Float(64) : a.type();
  const Expr x = cast(wide, a), y = cast(wide, b), q = x / y;
  const Expr nothing = zero(x), below = number(x, -0.0);
  // An infinite divisor is taken off not at all, or once.
  auto without = [&](const Expr &whole) { return select(whole == nothing, x, x - whole * y); };
  Expr rest;
  if (n.integer("fmod", 0) != 0) {
    rest = without(trunc(q));
    rest = select(rest == nothing && x < nothing, below, rest);
  } else {
    const Expr apart = (x < nothing && y > nothing) || (x > nothing && y < nothing);
    rest = without(select(q == nothing && apart, number(x, -1), floor(q)));
    rest = select(rest == nothing, select(y < nothing, below, nothing), rest);
  }
  return cast(a.type(), rest);
}

// By as many bits as there are, and by fewer than none, nothing of `a` is left but its sign.
Expr shift(const Node &n, const Expr &a, const Expr &b) {
  const bool right = n.text("direction", "LEFT") == "RIGHT";
  const Type bits = UInt(a.type().bits());
  const Expr count = reinterpret(bits, b), width = cast(bits, Expr(bits.bits()));
  const Expr within = min(count, width - cast(bits, Expr(1)));
  if (right && a.type().is_int()) return a >> within;
  const Expr of = reinterpret(bits, a);
  return reinterpret(a.type(),
                     select(count < width, right ? of >> within : of << within, zero(of)));
}

const BinaryRow kBinary[] = {
    {"Add", false, [](const Node &, const Expr &a, const Expr &b) { return wrapped(sum, a, b); }},
    {"And", true, [](const Node &, const Expr &a, const Expr &b) { return a && b; }},
    {"BitShift", false, shift},
    {"BitwiseAnd", false, [](const Node &, const Expr &a, const Expr &b) { return a & b; }},
    {"BitwiseOr", false, [](const Node &, const Expr &a, const Expr &b) { return a | b; }},
    {"BitwiseXor", false, [](const Node &, const Expr &a, const Expr &b) { return a ^ b; }},
    {"Div", false,
     [](const Node &, const Expr &a, const Expr &b) {
       return a.type().is_float() ? a / b : div_round_to_zero(a, b);
     }},
    {"Equal", true, [](const Node &, const Expr &a, const Expr &b) { return a == b; }},
    {"Greater", true, [](const Node &, const Expr &a, const Expr &b) { return a > b; }},
    {"GreaterOrEqual", true, [](const Node &, const Expr &a, const Expr &b) { return a >= b; }},
    {"Less", true, [](const Node &, const Expr &a, const Expr &b) { return a < b; }},
    {"LessOrEqual", true, [](const Node &, const Expr &a, const Expr &b) { return a <= b; }},
    {"Mod", false, remainder},
    {"Mul", false,
     [](const Node &, const Expr &a, const Expr &b) { return wrapped(product, a, b); }},
    {"Or", true, [](const Node &, const Expr &a, const Expr &b) { return a || b; }},
    {"PRelu", false,
     [](const Node &, const Expr &a, const Expr &b) { return select(a < zero(a), b * a, a); }},
    {"Pow", false, [](const Node &, const Expr &a, const Expr &b) { return power(a, b); }},
    {"Sub", false,
     [](const Node &, const Expr &a, const Expr &b) { return wrapped(difference, a, b); }},
    {"SwiGLU", false,
     [](const Node &n, const Expr &a, const Expr &b) {
       return ops::point::swish(a, n.real("alpha", 1)) * b;
     }},
    {"Xor", true, [](const Node &, const Expr &a, const Expr &b) { return a != b; }},
};

const BinaryRow *find_binary(const std::string &name) {
  for (const BinaryRow &r : kBinary) {
    if (name == r.name) return &r;
  }
  return nullptr;
}

// Before version 7 the second operand's dimensions stood from `axis` on: what is behind them is 1.
Shape legacy_shape(const Node &n, Shape b, size_t rank) {
  if (n.version >= 7) return b;
  int64_t axis = n.integer("axis", 0);
  if (n.is("PRelu")) {
    // One slope for each channel.
    if (b.size() != 1 || b[0].is(1)) return b;
    axis = 1;
  } else if (n.integer("broadcast", 0) == 0 || !n.has("axis")) {
    return b;
  }
  const size_t at = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  while (at + b.size() < rank) b.emplace_back(1);
  return b;
}

void infer_binary(Inference &i) {
  const BinaryRow *row = find_binary(i.node().op);
  const Shape b = legacy_shape(i.node(), i.shape(1), i.shape(0).size());
  i.result(0, row->test ? ElementType::Bool : i.type(0), broadcast(i, {i.shape(0), b}));
  follow_sizes(i);
}

std::vector<Tensor> lower_binary(Lowering &l) {
  const BinaryRow *row = find_binary(l.node().op);
  Tensor b = l.in(1);
  const Shape shape = legacy_shape(l.node(), l.shape(1), l.shape(0).size());
  if (shape.size() != l.shape(1).size()) b = ops::reshape(b, l.sizes(shape));
  const Node &n = l.node();
  return {ops::elementwise({l.in(0), b}, l.result_type(0),
                           [row, &n](const Values &v) { return row->f(n, v[0], v[1]); })};
}

void infer_variadic(Inference &i) {
  std::vector<Shape> shapes;
  for (size_t k = 0; k < i.inputs(); k++) shapes.push_back(i.shape(k));
  i.result(0, i.type(0), broadcast(i, shapes));
  follow_sizes(i);
}

std::vector<Tensor> lower_variadic(Lowering &l) {
  const std::string &op = l.node().op;
  return {ops::elementwise(l.all(), l.result_type(0), [op](const Values &v) {
    Expr value = v[0];
    for (size_t k = 1; k < v.size(); k++) {
      if (op == "Max" || op == "Min") {
        const Expr extreme = op == "Max" ? max(value, v[k]) : min(value, v[k]);
        value = value.type().is_float() ? select(is_nan(value), value, extreme) : extreme;
      } else {
        value = value + v[k];
      }
    }
    return op == "Mean" ? value / number(value, static_cast<double>(v.size())) : value;
  })};
}

void infer_where(Inference &i) {
  i.result(0, i.type(1), broadcast(i, {i.shape(0), i.shape(1), i.shape(2)}));
  follow_sizes(i);
}

std::vector<Tensor> lower_where(Lowering &l) {
  return {ops::elementwise(l.all(), l.result_type(0),
                           [](const Values &v) { return select(v[0], v[1], v[2]); })};
}

std::vector<Tensor> lower_clip(Lowering &l) {
  Tensor x = l.in(0);
  if (l.has(1)) {
    x = ops::elementwise({x, ops::reshape(l.in(1), {})}, x.type(),
                         [](const Values &v) { return max(v[1], v[0]); });
  }
  if (l.has(2)) {
    x = ops::elementwise({x, ops::reshape(l.in(2), {})}, x.type(),
                         [](const Values &v) { return min(v[1], v[0]); });
  }
  return {x};
}

void infer_cast(Inference &i) {
  const auto type = static_cast<ElementType>(i.node().integer("to", 0));
  if (!language_type(type) || !language_type(i.type(0))) {
    i.fail("elements of " + element_name(i.type(0)) + " are cast to " + element_name(type),
           "one of the types is not supported");
  }
  i.result(0, type, i.shape(0));
  follow_sizes(i);
}

std::vector<Tensor> lower_cast(Lowering &l) {
  const ElementType from = l.element(0), to = l.result_element(0);
  const Type type = l.result_type(0);
  if (!is_narrow(from) && !is_narrow(to)) {
    if (l.in(0).type().is_float() && !type.is_float() && !type.is_bool())
      return {
          ops::elementwise({l.in(0)}, type, [type](const Values &v) { return whole(v[0], type); })};
    return {ops::convert(l.in(0), type)};
  }
  const Node &n = l.node();
  const Tensor x =
      is_narrow(from) ? decoded(l.in(0), from, is_narrow(to) ? Float(32) : type) : l.in(0);
  return {encoded(x, to, n.integer("saturate", 1) != 0, n.text("round_mode", "up"))};
}

void infer_cast_like(Inference &i) {
  if (!language_type(i.type(0)) || !language_type(i.type(1))) {
    i.fail("elements of " + element_name(i.type(0)) + " are cast to " + element_name(i.type(1)),
           "one of the types is not supported");
  }
  i.result(0, i.type(1), i.shape(0));
  follow_sizes(i);
}

void infer_bit_cast(Inference &i) {
  const auto type = static_cast<ElementType>(i.node().integer("to", 0));
  const auto to = language_type(type), from = language_type(i.type(0));
  if (!to || !from || element_bits(type) != element_bits(i.type(0))) {
    i.fail("the bits of " + element_name(i.type(0)) + " are taken as " + element_name(type),
           "both have the same width");
  }
  i.result(0, type, i.shape(0));
}

std::vector<Tensor> lower_bit_cast(Lowering &l) {
  const Tensor x = l.in(0);
  const Type to = l.result_type(0);
  return {Tensor(
      to, x.shape(),
      [x, to](const ops::Index &at) {
        // A bool is a byte in memory, one bit in the language.
        const Expr v = x.type().is_bool() ? cast<uint8_t>(x(at)) : x(at);
        return to.is_bool() ? v != cast(v.type(), Expr(0)) : reinterpret(to, v);
      },
      x.stages())};
}

}  // namespace

std::vector<Operator> pointwise_operators() {
  std::vector<Operator> list;
  for (const UnaryRow &r : kUnary) {
    list.push_back({"", r.name, Operator::Pointwise, infer_unary, lower_unary});
  }
  for (const BinaryRow &r : kBinary) {
    list.push_back({"", r.name, Operator::Pointwise, infer_binary, lower_binary});
  }
  for (const char *name : {"Max", "Mean", "Min", "Sum"}) {
    list.push_back({"", name, Operator::Pointwise, infer_variadic, lower_variadic});
  }
  list.push_back({"", "IsNaN", Operator::Pointwise, infer_test, lower_is_nan});
  list.push_back({"", "IsInf", Operator::Pointwise, infer_test, lower_is_inf});
  list.push_back({"", "Where", Operator::Pointwise, infer_where, lower_where});
  list.push_back({"", "Clip", Operator::Pointwise, infer_unary, lower_clip});
  list.push_back({"", "Cast", Operator::Pointwise, infer_cast, lower_cast});
  list.push_back({"", "CastLike", Operator::Pointwise, infer_cast_like, lower_cast});
  list.push_back({"", "BitCast", Operator::Pointwise, infer_bit_cast, lower_bit_cast});
  return list;
}

}  // namespace polyhalite::onnx
