// DoubleMath against the C library's long double, run on the processor: the code is the same
// arithmetic.
#include "codegen/llvm/double_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/support/compiled_functions.h"

namespace polyhalite::double_math_test {
namespace {

using Binary = CompiledFunctions<double>::Binary;

const std::vector<std::string> kNames = {"exp",  "log",   "pow",   "sin",   "cos",  "tan",
                                         "atan", "atan2", "asin",  "acos",  "sinh", "cosh",
                                         "tanh", "asinh", "acosh", "atanh", "erf"};

Binary compiled(const std::string &name) {
  static CompiledFunctions<double> functions(
      kNames, [](llvm::IRBuilder<> &builder, const std::string &function, llvm::Value *x,
                 llvm::Value *y) { return DoubleMath(builder).emit_double(function, {x, y}); });
  return functions.find(name);
}

// |a - b| in units of b's last place; small numbers have that of the smallest normal one.
double units(double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1e9;
  const auto wanted = static_cast<double>(b);
  if (a == wanted) return 0;
  if (std::isinf(wanted) || std::isinf(a)) return 1e9;
  const double size = std::max(std::fabs(wanted), std::numeric_limits<double>::min());
  const long double unit = std::ldexp(1.0L, std::ilogb(size) - 52);
  return static_cast<double>(std::fabs(static_cast<long double>(a) - b) / unit);
}

using Reference = long double (*)(long double);

void expect_near(const char *name, Reference reference, double from, double to, double most_units) {
  const Binary f = compiled(name);
  constexpr int kSteps = 20000;
  double worst = 0, at = from;
  for (int i = 0; i <= kSteps; i++) {
    const double x = from + (to - from) * i / kSteps;
    const double u = units(f(x, 0), reference(x));
    if (u > worst) {
      worst = u;
      at = x;
    }
  }
  EXPECT_LE(worst, most_units) << name << "(" << at << ") = " << f(at, 0) << ", not "
                               << static_cast<double>(reference(at));
}

TEST(DoubleMath, ExponentialsAndLogarithms) {
  expect_near("exp", std::exp, -745, 710, 1);
  expect_near("exp", std::exp, -1, 1, 1);
  expect_near("log", std::log, 0x1p-1074, 0x1p-1000, 1);
  expect_near("log", std::log, 0.5, 2, 1);
  expect_near("log", std::log, 1e-3, 1e6, 1);
  expect_near("log", std::log, 1, 1e300, 1);
}

TEST(DoubleMath, Angles) {
  for (const double to : {1.0, 100.0, 1e5, 0x1p30}) {
    expect_near("sin", std::sin, -to, to, 1.5);
    expect_near("cos", std::cos, -to, to, 1.5);
    expect_near("tan", std::tan, -to, to, 8);
  }
  expect_near("atan", std::atan, -4, 4, 2);
  expect_near("atan", std::atan, -1e10, 1e10, 2);
  expect_near("asin", std::asin, -1, 1, 8);
  expect_near("acos", std::acos, -1, 1, 8);
}

TEST(DoubleMath, ManyTurns) {
  const Binary sine = compiled("sin"), cosine = compiled("cos");
  for (double x = 0x1p30; x < 0x1p50; x *= 1.37) {
    EXPECT_NEAR(sine(x, 0), static_cast<double>(std::sin(static_cast<long double>(x))), 0x1p-50);
    EXPECT_NEAR(cosine(-x, 0), static_cast<double>(std::cos(static_cast<long double>(x))), 0x1p-50);
  }
}

TEST(DoubleMath, HyperbolicFunctionsAndTheErrorFunction) {
  for (const double to : {1e-5, 1.0, 30.0, 710.0}) {
    expect_near("sinh", std::sinh, -to, to, 8);
    expect_near("cosh", std::cosh, -to, to, 8);
    expect_near("tanh", std::tanh, -to, to, 4);
    expect_near("asinh", std::asinh, -to, to, 8);
    expect_near("erf", std::erf, -to, to, 8);
  }
  expect_near("asinh", std::asinh, -1e200, 1e200, 8);
  expect_near("erf", std::erf, -6, 6, 8);
  expect_near("acosh", std::acosh, 1, 1.01, 8);
  expect_near("acosh", std::acosh, 1, 1e200, 8);
  expect_near("atanh", std::atanh, -0.999999, 0.999999, 8);
  expect_near("atanh", std::atanh, -1e-5, 1e-5, 8);
}

TEST(DoubleMath, Powers) {
  const Binary power = compiled("pow");
  uint64_t state = 1;
  auto draw = [&](double low, double high) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * static_cast<double>(state >> 11) * 0x1p-53;
  };
  double worst = 0;
  std::string at;
  for (int i = 0; i < 100000; i++) {
    const double x = std::exp2(draw(-40, 40)), y = draw(-25, 25);
    const double u = units(power(x, y), std::pow(static_cast<long double>(x), y));
    if (u <= worst) continue;
    worst = u;
    at = std::to_string(x) + "^" + std::to_string(y);
  }
  EXPECT_LE(worst, 4) << at;
  EXPECT_EQ(power(-2, 3), -8);
  EXPECT_EQ(power(-2, 4), 16);
  EXPECT_TRUE(std::isnan(power(-2, 0.5)));
  EXPECT_EQ(power(10, 400), std::numeric_limits<double>::infinity());
  EXPECT_EQ(power(10, -400), 0);
}

TEST(DoubleMath, NumbersThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double numbers[] = {-kInfinity, -3, -2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 3, kInfinity, nan};
  const Binary power = compiled("pow"), angle = compiled("atan2");
  for (double x : numbers) {
    for (double y : numbers) {
      const double p = std::pow(x, y);
      EXPECT_LE(units(power(x, y), p), 1) << "pow(" << x << ", " << y << ") = " << power(x, y);
      const double a = std::atan2(x, y);
      EXPECT_LE(units(angle(x, y), a), 2) << "atan2(" << x << ", " << y << ") = " << angle(x, y);
    }
  }
  const std::pair<const char *, Reference> functions[] = {
      {"exp", std::exp},   {"log", std::log},     {"sin", std::sin},   {"cos", std::cos},
      {"tan", std::tan},   {"atan", std::atan},   {"sinh", std::sinh}, {"cosh", std::cosh},
      {"tanh", std::tanh}, {"asinh", std::asinh}, {"erf", std::erf},   {"asin", std::asin}};
  for (const auto &[name, reference] : functions) {
    for (double x : {-kInfinity, -0.0, 0.0, kInfinity, nan}) {
      const double found = compiled(name)(x, 0);
      EXPECT_EQ(units(found, reference(x)), 0) << name << "(" << x << ") = " << found;
      if (x == 0 && reference(x) == 0) {
        EXPECT_EQ(std::signbit(found), std::signbit(x)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::double_math_test
