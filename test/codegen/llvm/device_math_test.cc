// DeviceMath against the C library, run on the processor: the code is the same arithmetic.
#include "codegen/llvm/device_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/support/compiled_functions.h"

namespace polyhalite::device_math_test {
namespace {

using Binary = CompiledFunctions<float>::Binary;

Binary compiled(const std::string &name) {
  static CompiledFunctions<float> functions(
      {"sin", "cos", "tan", "pow", "atan2"},
      [](llvm::IRBuilder<> &builder, const std::string &function, llvm::Value *x, llvm::Value *y) {
        return DeviceMath(builder).emit_rest(function, {x, y});
      });
  return functions.find(name);
}

// |a - b| in units of b's last place; small numbers have that of the smallest normal one.
double units(float a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1e9;
  const auto wanted = static_cast<float>(b);
  if (a == wanted) return 0;
  if (std::isinf(wanted)) return 1e9;
  const float size = std::max(std::fabs(wanted), std::numeric_limits<float>::min());
  const double unit = std::ldexp(1.0, std::ilogb(size) - 23);
  return std::fabs(a - b) / unit;
}

TEST(DeviceMath, ManyTurns) {
  for (const auto &[name, reference] :
       {std::pair<const char *, double (*)(double)>{"sin", std::sin}, {"cos", std::cos}}) {
    const Binary f = compiled(name);
    for (float x = 8192; x < 1e14f; x *= 1.37f) {
      EXPECT_NEAR(f(x, 0), reference(static_cast<double>(x)), 3e-7) << name << "(" << x << ")";
      EXPECT_NEAR(f(-x, 0), reference(static_cast<double>(-x)), 3e-7) << name << "(-" << x << ")";
    }
  }
}

TEST(DeviceMath, NumbersThatAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float numbers[] = {-kInfinity, -3, -2, -1, -0.5f, -0.0f, 0, 0.5f, 1, 2, 3, kInfinity, nan};
  const Binary power = compiled("pow"), angle = compiled("atan2");
  for (float x : numbers) {
    for (float y : numbers) {
      if (std::isfinite(x) && std::isfinite(y)) continue;
      const double p = std::pow(static_cast<double>(x), static_cast<double>(y));
      EXPECT_EQ(units(power(x, y), p), 0) << "pow(" << x << ", " << y << ") = " << power(x, y);
      const double a = std::atan2(static_cast<double>(x), static_cast<double>(y));
      EXPECT_LE(units(angle(x, y), a), 3) << "atan2(" << x << ", " << y << ") = " << angle(x, y);
    }
  }
}

}  // namespace
}  // namespace polyhalite::device_math_test
