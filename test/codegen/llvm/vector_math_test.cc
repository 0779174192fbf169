// The mathematical functions of float32 against the C library's of double, in units in the last
// place: on a sample of all operands, or, with PH_MATH_STRIDE=1 in the environment, on all 2^32.
#include <gtest/gtest.h>
#include <polyhalite/ops.h>
#include <polyhalite/polyhalite.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

namespace polyhalite::vector_math_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Function {
  const char *name;
  Expr (*make)(Expr);
  double (*reference)(double);
  double units;  // the stated bound
  float limit;   // of |x|
};

// Of a promise that the operand is not positive, which has shorter code.
Expr exp_of_promised(Expr x) {
  return exp(unsafe_promise_clamped(-abs(x), Expr(-kInfinity), Expr(0.0f)));
}

const Function kFunctions[] = {
    {"exp", exp, std::exp, 1.2, kInfinity},
    {"exp_of_promised", exp_of_promised, [](double x) { return std::exp(-std::fabs(x)); }, 1.2,
     kInfinity},
    {"log", log, std::log, 1, kInfinity},
    {"tanh", tanh, std::tanh, 1.9, kInfinity},
    {"erf", erf, std::erf, 1.9, kInfinity},
    {"sigmoid", ops::point::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 2, kInfinity},
    {"sin", sin, std::sin, 1.6, 1e4f},
    {"cos", cos, std::cos, 1.6, 1e4f},
    {"tan", tan, std::tan, 3, 1e4f},
    {"atan", atan, std::atan, 3, kInfinity},
    {"sinh", sinh, std::sinh, 1.7, kInfinity},
    {"cosh", cosh, std::cosh, 1.5, kInfinity},
    {"asin", asin, std::asin, 2, kInfinity},
    {"acos", acos, std::acos, 1.5, kInfinity},
    {"asinh", asinh, std::asinh, 4, kInfinity},
    {"acosh", acosh, std::acosh, 4, kInfinity},
    {"atanh", atanh, std::atanh, 4, kInfinity},
};

uint32_t bits_of(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
float float_of(uint32_t bits) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  return v;
}

// Denormal numbers have the unit of the smallest normal one, and infinity stands for 2^128.
double units_between(float got, double wanted) {
  if (std::isnan(got) || std::isnan(wanted)) {
    return std::isnan(got) && std::isnan(wanted) ? 0 : HUGE_VAL;
  }
  if (std::signbit(got) != std::signbit(wanted)) return HUGE_VAL;
  const auto finite = [](double v) { return std::min(std::fabs(v), 0x1p128); };
  const int exponent = wanted == 0 ? -126 : std::max(std::ilogb(finite(wanted)), -126);
  return std::fabs(finite(got) - finite(wanted)) / std::ldexp(1.0, exponent - 23);
}

struct Form {
  Target target;
  int lanes;
  Callable run;
};

std::vector<Target> machines() {
  std::vector<Target> all = {get_host_target()};
  if (all[0].arch != Target::X86) return all;
  all.emplace_back("x86-64-linux-sse41");
  if (all[0].has_feature(Target::AVX2) && all[0].has_feature(Target::FMA)) {
    all.emplace_back("x86-64-linux-avx2-fma");
  }
  return all;
}

// Scalar and vector code for each machine.
std::vector<Form> forms_of(const Function &function) {
  std::vector<Form> forms;
  for (const Target &target : machines()) {
    for (const int lanes : {1, target.natural_vector_size(Float(32))}) {
      ImageParam in(Float(32), 1, "in");
      Var x("x");
      Func f("f");
      f(x) = function.make(in(x));
      if (lanes > 1) f.vectorize(x, lanes, TailStrategy::GuardWithIf);
      forms.push_back({target, lanes, f.compile_to_callable({in}, target)});
    }
  }
  return forms;
}

bool fuses(const Target &t) { return t.arch != Target::X86 || t.has_feature(Target::FMA); }

// Every form within the bound, and all that have fused products equal to the bit, as those that
// have none.
void check(const Function &function, const std::vector<Form> &forms,
           const std::vector<float> &operands) {
  const int n = static_cast<int>(operands.size());
  Buffer<float> in(n);
  std::copy(operands.begin(), operands.end(), in.data());
  std::vector<double> wanted(operands.size());
  std::vector<float> rounded(operands.size());
  for (size_t i = 0; i < operands.size(); i++) {
    wanted[i] = function.reference(operands[i]);
    rounded[i] = static_cast<float>(wanted[i]);
  }
  Buffer<float> first[2];
  for (const Form &form : forms) {
    Buffer<float> out(n);
    ASSERT_EQ(form.run(in, out), 0);
    const auto text = [&](int i) {
      char line[160];
      std::snprintf(line, sizeof line, "%s(%a) = %a, wanted %a, %d lanes, ", function.name, in(i),
                    out(i), wanted[static_cast<size_t>(i)], form.lanes);
      return line + form.target.to_string();
    };
    double worst = 0;
    int at = 0;
    for (int i = 0; i < n; i++) {
      // Correctly rounded: off by half a unit at most.
      if (bits_of(out(i)) == bits_of(rounded[static_cast<size_t>(i)])) continue;
      const double units = units_between(out(i), wanted[static_cast<size_t>(i)]);
      if (units > worst) {
        worst = units;
        at = i;
      }
    }
    ASSERT_LE(worst, function.units) << text(at);
    Buffer<float> &same = first[fuses(form.target)];
    if (!same.defined()) {
      same = out;
      continue;
    }
    if (std::memcmp(out.data(), same.data(), out.size_in_bytes()) == 0) continue;
    for (int i = 0; i < n; i++) {
      const bool equal =
          bits_of(out(i)) == bits_of(same(i)) || (std::isnan(out(i)) && std::isnan(same(i)));
      ASSERT_TRUE(equal) << text(i) << ", by other code " << same(i);
    }
  }
}

struct VectorMath : testing::TestWithParam<Function> {};

TEST_P(VectorMath, errors_are_within_the_bound) {
  const char *given = std::getenv("PH_MATH_STRIDE");
  const uint64_t stride = given ? std::strtoull(given, nullptr, 10) : 4099;
  constexpr size_t kAtOnce = 1 << 16;
  const std::vector<Form> forms = forms_of(GetParam());
  std::vector<float> operands;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride) {
    const float x = float_of(static_cast<uint32_t>(bits));
    if (!(std::fabs(x) > GetParam().limit)) operands.push_back(x);
    if (operands.size() == kAtOnce) {
      check(GetParam(), forms, operands);
      if (HasFatalFailure()) return;
      operands.clear();
    }
  }
  check(GetParam(), forms, operands);
}

// Zeros, the ends of all ranges, and the neighbours of where code changes its form.
TEST_P(VectorMath, special_values) {
  std::vector<float> operands;
  for (const float v : {0.0f,        0x1p-149f,   0x1p-126f,
                        1.0f,        0.5f,        0.625f,
                        0.84375f,    0.70710678f, 4.0f,
                        9.0f,        10.0f,       87.33654f,
                        89.41599f,   90.0f,       88.72284f,
                        89.0f,       103.97208f,  104.0f,
                        0.75f,       3.14159274f, 0.34657359f,
                        1.57079637f, 6.28318548f, 10000.0f,
                        10001.0f,    1e10f,       std::numeric_limits<float>::max(),
                        kInfinity}) {
    for (const float near : {std::nextafter(v, 0.0f), v, std::nextafter(v, kInfinity)}) {
      operands.push_back(near);
      operands.push_back(-near);
    }
  }
  operands.push_back(std::numeric_limits<float>::quiet_NaN());
  operands.push_back(float_of(0xffffffffU));
  operands.push_back(float_of(0x7f800001U));
  check(GetParam(), forms_of(GetParam()), operands);
}

TEST(VectorMath, a_promise_changes_no_result) {
  const Function plain{"exp(-abs(x))", [](Expr x) { return exp(-abs(x)); }, nullptr, 0, 0};
  const Function promised{"exp_of_promised", exp_of_promised, nullptr, 0, 0};
  const std::vector<Form> forms = forms_of(plain), shorter = forms_of(promised);
  Buffer<float> in(1 << 16), a(1 << 16), b(1 << 16);
  for (int i = 0; i < in.width(); i++) in(i) = float_of(static_cast<uint32_t>(i) << 15 | 0x1234);
  for (size_t k = 0; k < forms.size(); k++) {
    ASSERT_EQ(forms[k].run(in, a), 0);
    ASSERT_EQ(shorter[k].run(in, b), 0);
    for (int i = 0; i < in.width(); i++) {
      ASSERT_TRUE(bits_of(a(i)) == bits_of(b(i)) || (std::isnan(a(i)) && std::isnan(b(i))))
          << in(i) << " " << a(i) << " " << b(i) << " " << forms[k].target.to_string();
    }
  }
}

// Below -87 it vanishes early, above there is no limit.
TEST(VectorMath, swish) {
  const Function swish{"swish", [](Expr x) { return ops::point::swish(std::move(x)); },
                       [](double x) { return x / (1 + std::exp(-x)); }, 3, 87};
  std::vector<float> operands;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 40009) {
    const float x = float_of(static_cast<uint32_t>(bits));
    if (!(x < -swish.limit)) operands.push_back(x);
  }
  check(swish, forms_of(swish), operands);
}

INSTANTIATE_TEST_SUITE_P(all, VectorMath, testing::ValuesIn(kFunctions),
                         [](const auto &info) { return std::string(info.param.name); });

}  // namespace
}  // namespace polyhalite::vector_math_test
