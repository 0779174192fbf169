// A program's own class that an Expr converts to, with operators of its own beside the language's:
// those of Exprs stay the language's. And errors of operators name the line that makes the
// expression.
#include <gtest/gtest.h>

#include "halide/Halide.h"
#include "lang/messages.h"

namespace polyhalite::own_operators_test {
namespace {

struct Complex {
  Expr re, im;
  Complex(Expr r, Expr i = 0.0f)
      : re(std::move(r)), im(std::move(i)) {}  // NOLINT: numbers are complex
};
Complex operator-(Complex z) { return Complex(-z.re, -z.im); }
Complex operator+(Complex a, Complex b) { return Complex(a.re + b.re, a.im + b.im); }
Complex operator+(Complex a, Expr b) { return Complex(a.re + b, a.im); }
Complex operator+(Expr a, Complex b) { return Complex(a + b.re, b.im); }
Complex operator*(Complex a, Complex b) {
  return Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
Complex operator*(Complex a, Expr b) { return Complex(a.re * b, a.im * b); }
Complex operator*(Expr a, Complex b) { return Complex(a * b.re, a * b.im); }
Complex operator/(Complex a, Expr b) { return Complex(a.re / b, a.im / b); }

TEST(OwnOperators, StandBesideThoseOfExpressions) {
  Var x("x");
  Func f("f"), real("real"), imaginary("imaginary");
  f(x) = cast<float>(x);
  const Expr a = f(x), b = f(x + 1);
  const Expr plain = (a + b) * (a - b) + -a;  // of Exprs alone: no Complex
  const Complex z(a, b), w = plain / 2.0f + z * z, v = -(a * (w + 1.0f)) / b + z * b;
  real(x) = v.re;
  imaginary(x) = v.im;
  const Buffer<float> re = real.realize({8}), im = imaginary.realize({8});
  for (int i = 0; i < 8; i++) {
    const float p = static_cast<float>(i), q = p + 1;
    const float re_w = p * p - q * q + ((p + q) * (p - q) - p) / 2, im_w = 2 * p * q;
    EXPECT_NEAR(re(i), -(p * (re_w + 1)) / q + p * q, 1e-4) << i;
    EXPECT_NEAR(im(i), -(p * im_w) / q + q * q, 1e-4) << i;
  }
}

std::string line_of(int line) {
  return std::string(__FILE__) + ":" + std::to_string(line) + ": error: ";
}

TEST(OwnOperators, ErrorsNameTheLineThatCombines) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = cast<float>(x);
  g(x) = x;
  const Expr real = f(x), condition = g(x) > 3;
  const std::vector<Expr> list = {real, condition};
  auto begins = [](const std::string &message, int line) {
    EXPECT_EQ(message.substr(0, line_of(line).size()), line_of(line)) << message;
  };
  begins(message_of([&] { real &g(x); }), __LINE__);
  begins(message_of([&] { (real + 1.0f) & (real * real); }), __LINE__);
  begins(message_of([&] { list[0] << list[0]; }), __LINE__);
  begins(message_of([&] { !real; }), __LINE__);
  begins(message_of([&] { condition &&real; }), __LINE__);
  begins(message_of([&] { min(real, Expr()); }), __LINE__);
  begins(message_of([&] { f(x) | f(x + 1); }), __LINE__);
  begins(message_of([&] { Expr() + g(x); }), __LINE__);
}

}  // namespace
}  // namespace polyhalite::own_operators_test
