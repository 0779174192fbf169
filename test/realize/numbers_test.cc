// Compiled arithmetic: integer functions and 16-bit floats equal to the interpreter's, mathematical
// functions close to the C library's, effects where and as often as they should be.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::numbers_test {
namespace {

// Machines whose code this one may run: with and without instructions for halves, for instance.
std::vector<Target> targets() {
  std::vector<Target> all = {get_host_target()};
  if (all[0].arch == Target::X86) all.emplace_back("x86-64-linux-sse41");
  return all;
}

template <typename T>
Buffer<T> random_numbers(int n, uint32_t seed) {
  Buffer<T> b(n);
  std::mt19937_64 random(seed);
  for (int i = 0; i < n; i++) {
    if constexpr (std::is_integral_v<T>) {
      b(i) = static_cast<T>(random());
    } else {
      // Any bits: denormals, infinities and NaNs among them.
      b(i) = T::make_from_bits(static_cast<uint16_t>(random()));
    }
  }
  return b;
}

template <typename T>
uint64_t bits_of(const T &v) {
  uint64_t bits = 0;
  std::memcpy(&bits, &v, sizeof v);
  return bits;
}

// The pipeline's output, compiled with vectors of 1, 8 and 16, has the interpreter's bits.
template <typename R>
void expect_as_interpreted(const char *name, const std::function<Expr(Expr)> &make, int n) {
  for (const Target &target : targets()) {
    for (const int lanes : {1, 8, 16}) {
      Var x("x");
      Func f("f");
      f(x) = make(x);
      Buffer<R> wanted(n);
      interpret(freeze({f.function()}).algorithm, {}, {}, {wanted.raw_buffer()});
      if (lanes > 1) f.vectorize(x, lanes);
      const Buffer<R> got = f.realize({n}, target);
      for (int i = 0; i < n; i++) {
        ASSERT_EQ(bits_of(got(i)), bits_of(wanted(i)))
            << name << " at " << i << ", " << lanes << " lanes, " << target.to_string();
      }
    }
  }
}

template <typename T>
void check_integer_functions() {
  constexpr int kSize = 500;
  Buffer<T> a = random_numbers<T>(kSize, 1), b = random_numbers<T>(kSize, 2);
  a(0) = b(0) = std::numeric_limits<T>::lowest();
  a(1) = b(1) = std::numeric_limits<T>::max();
  using Make = std::function<Expr(Expr, Expr)>;
  const std::vector<std::pair<const char *, Make>> functions = {
      {"saturating_add", [](Expr p, Expr q) { return saturating_add(p, q); }},
      {"saturating_sub", [](Expr p, Expr q) { return saturating_sub(p, q); }},
      {"halving_add", [](Expr p, Expr q) { return halving_add(p, q); }},
      {"halving_sub", [](Expr p, Expr q) { return halving_sub(p, q); }},
      {"rounding_halving_add", [](Expr p, Expr q) { return rounding_halving_add(p, q); }},
      {"rounding_shift_right", [](Expr p, Expr q) { return rounding_shift_right(p, q & 7); }},
      {"rounding_shift_left", [](Expr p, Expr q) { return rounding_shift_left(p, q & 3); }},
      {"shift", [](Expr p, Expr q) { return (p << (q % 5)) ^ (p >> (q % 7)); }},
      {"popcount", [](Expr p, Expr) { return popcount(p); }},
      {"count_leading_zeros", [](Expr p, Expr q) { return count_leading_zeros(p & q); }},
      {"count_trailing_zeros", [](Expr p, Expr q) { return count_trailing_zeros(p & q); }},
      {"div_round_to_zero", [](Expr p, Expr q) { return div_round_to_zero(p, q % 5); }},
      {"mod_round_to_zero", [](Expr p, Expr q) { return mod_round_to_zero(p, q % 7); }},
  };
  for (const auto &[name, make] : functions) {
    expect_as_interpreted<T>(name, [&, make = make](Expr x) { return make(a(x), b(x)); }, kSize);
  }
  if constexpr (sizeof(T) <= 4) {
    for (const int q :
         {0, 3, static_cast<int>(8 * sizeof(T) - 1), static_cast<int>(8 * sizeof(T))}) {
      expect_as_interpreted<T>(
          "mul_shift_right", [&](Expr x) { return mul_shift_right(a(x), b(x), q); }, kSize);
      expect_as_interpreted<T>(
          "rounding_mul_shift_right",
          [&](Expr x) { return rounding_mul_shift_right(a(x), b(x), q); }, kSize);
    }
    expect_as_interpreted<T>(
        "lerp", [&](Expr x) { return lerp(a(x), b(x), cast<uint8_t>(x * 5)); }, kSize);
  }
}

TEST(Numbers, IntegerFunctions8) {
  check_integer_functions<int8_t>();
  check_integer_functions<uint8_t>();
}
TEST(Numbers, IntegerFunctions16) {
  check_integer_functions<int16_t>();
  check_integer_functions<uint16_t>();
}
TEST(Numbers, IntegerFunctions32) {
  check_integer_functions<int32_t>();
  check_integer_functions<uint32_t>();
}
TEST(Numbers, IntegerFunctions64) {
  check_integer_functions<int64_t>();
  check_integer_functions<uint64_t>();
}

template <typename T>
void check_float16() {
  constexpr int kSize = 3000;
  const Buffer<T> a = random_numbers<T>(kSize, 3), b = random_numbers<T>(kSize, 4);
  // A NaN's sign and payload differ between machines.
  auto without_nan = [](const Expr &e) { return select(is_nan(e), cast(e.type(), 7), e); };
  expect_as_interpreted<T>("+", [&](Expr x) { return without_nan(a(x) + b(x)); }, kSize);
  expect_as_interpreted<T>("-", [&](Expr x) { return without_nan(a(x) - b(x)); }, kSize);
  expect_as_interpreted<T>("*", [&](Expr x) { return without_nan(a(x) * b(x)); }, kSize);
  expect_as_interpreted<T>("/", [&](Expr x) { return without_nan(a(x) / b(x)); }, kSize);
  expect_as_interpreted<T>(
      "sqrt", [&](Expr x) { return without_nan(cast<T>(sqrt(abs(a(x))))); }, kSize);
  expect_as_interpreted<T>(
      "min", [&](Expr x) { return without_nan(cast<T>(min(floor(a(x)), b(x)))); }, kSize);
  expect_as_interpreted<float>(
      "to float32", [&](Expr x) { return without_nan(cast<float>(a(x))); }, kSize);
  expect_as_interpreted<bool>("<", [&](Expr x) { return a(x) < b(x); }, kSize);
  expect_as_interpreted<T>("from int", [&](Expr x) { return cast<T>(x * 37 - 20000); }, kSize);
}

TEST(Numbers, Float16) { check_float16<float16_t>(); }
TEST(Numbers, BFloat16) { check_float16<bfloat16_t>(); }

TEST(Numbers, Float16ConversionsOfEveryKind) {
  constexpr int kSize = 1 << 16;
  Buffer<uint32_t> bits(kSize);
  std::mt19937 random(5);
  for (int i = 0; i < kSize; i++) {
    // Exponents around those of float16, its denormals and beyond both ends.
    bits(i) = (random() & 0x807fffffU) | (95 + random() % 52) << 23;
    if (i % 64 == 0) bits(i) = random();
    if (i % 3 == 0) bits(i) &= 0xfffff000U;  // halves
  }
  for (const Target &target : targets()) {
    Var x("x");
    Func half("half"), brain("brain");
    half(x) = reinterpret<uint16_t>(cast<float16_t>(reinterpret<float>(bits(x))));
    brain(x) = reinterpret<uint16_t>(cast<bfloat16_t>(reinterpret<float>(bits(x))));
    half.vectorize(x, 8);
    brain.vectorize(x, 8);
    const Buffer<uint16_t> h = half.realize({kSize}, target), b = brain.realize({kSize}, target);
    for (int i = 0; i < kSize; i++) {
      float v;
      std::memcpy(&v, &bits(i), 4);
      if (std::isnan(v)) {
        EXPECT_TRUE(float16_t::make_from_bits(h(i)).is_nan());
        continue;
      }
      ASSERT_EQ(h(i), float16_t(v).to_bits()) << v << ' ' << target.to_string();
      ASSERT_EQ(b(i), bfloat16_t(v).to_bits()) << v;
    }
  }
}

// -- Mathematical functions

struct MathCase {
  const char *name;
  Expr (*make)(Expr);
  double (*reference)(double);
  double low, high;
  double units;     // allowed error in units in the last place of float32
  double absolute;  // or absolutely
};

void check_math(const MathCase &c) {
  constexpr int kSize = 20000;
  Buffer<float> in(kSize);
  for (int i = 0; i < kSize; i++) {
    in(i) = static_cast<float>(c.low + (c.high - c.low) * i / (kSize - 1));
  }
  for (const Target &target : targets()) {
    for (const int lanes : {1, 8}) {
      Var x("x");
      Func f("f");
      f(x) = c.make(in(x));
      if (lanes > 1) f.vectorize(x, lanes);
      const Buffer<float> out = f.realize({kSize}, target);
      double worst = 0;
      float where = 0;
      for (int i = 0; i < kSize; i++) {
        const double wanted = c.reference(in(i));
        if (static_cast<float>(wanted) == out(i) || (std::isnan(wanted) && std::isnan(out(i)))) {
          continue;
        }
        const double error = std::fabs(out(i) - wanted);
        if (error <= c.absolute) continue;
        const double unit = std::max(std::fabs(wanted) * 0x1p-24, 0x1p-149);
        if (!(error / unit <= worst)) {
          worst = error / unit;
          where = in(i);
        }
      }
      EXPECT_LE(worst, c.units) << c.name << "(" << where << "), " << lanes << " lanes, "
                                << target.to_string();
    }
  }
}

TEST(Numbers, MathematicalFunctions) {
  constexpr double kMax = 3.4e38;
  const MathCase cases[] = {
      {"exp", exp, std::exp, -110, 90, 4, 0},
      {"exp", exp, std::exp, -1, 1, 4, 0},
      {"log", log, std::log, 0, 4, 4, 1e-9},
      {"log", log, std::log, 1e-40, kMax, 4, 0},
      {"log", log, std::log, -1, 0, 4, 0},
      {"sin", sin, std::sin, -30, 30, 6, 3e-8},
      {"sin", sin, std::sin, -8000, 8000, 6, 3e-7},
      {"cos", cos, std::cos, -30, 30, 6, 3e-8},
      {"cos", cos, std::cos, 8000, 1e9, 6, 3e-7},
      {"tan", tan, std::tan, -1.5, 1.5, 8, 3e-8},
      {"atan", atan, std::atan, -10, 10, 6, 1e-9},
      {"tanh", tanh, std::tanh, -10, 10, 6, 1e-9},
      {"asin", asin, std::asin, -1, 1, 3, 0},
      {"sinh", sinh, std::sinh, -20, 20, 3, 0},
      {"erf", erf, std::erf, -4, 4, 3, 0},
      {"fast_exp", fast_exp, std::exp, -80, 80, 1024, 0},
      {"fast_log", fast_log, std::log, 1e-30, 100, 1024, 1e-6},
      {"fast_sin", fast_sin, std::sin, -1000, 1000, 0, 2e-6},
      {"fast_cos", fast_cos, std::cos, -1000, 1000, 0, 2e-6},
      {"fast_inverse", fast_inverse, [](double v) { return 1 / v; }, 0.1, 100, 1024, 0},
      {"fast_inverse_sqrt", fast_inverse_sqrt, [](double v) { return 1 / std::sqrt(v); }, 0.1, 100,
       1024, 0},
  };
  for (const MathCase &c : cases) check_math(c);
}

TEST(Numbers, PowersAndAngles) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  std::vector<float> values = {0,      -0.0f, 1,   -1,   2,   -2,     0.5f, -0.5f, 3,  -3,
                               1e-30f, 1e30f, inf, -inf, nan, 1e-42f, 2.5f, 100,   -7, 0.001f};
  std::mt19937 random(6);
  for (int i = 0; i < 60; i++) {
    values.push_back(static_cast<float>(random() % 20000) / 1000 - 8);
  }
  const int n = static_cast<int>(values.size());
  Buffer<float> v(values.data(), n);
  for (const Target &target : targets()) {
    for (const int lanes : {1, 8}) {
      Var x("x"), y("y");
      Func power("power"), angle("angle");
      power(x, y) = pow(v(x), v(y));
      angle(x, y) = atan2(v(x), v(y));
      if (lanes > 1) {
        power.vectorize(x, lanes);
        angle.vectorize(x, lanes);
      }
      const Buffer<float> p = power.realize({n, n}, target), a = angle.realize({n, n}, target);
      auto close = [](float got, double wanted) {
        if (std::isnan(wanted)) return std::isnan(got);
        if (static_cast<float>(wanted) == got) return true;
        return std::fabs(got - wanted) <= std::max(std::fabs(wanted) * 4 * 0x1p-24, 0x1p-148);
      };
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
          EXPECT_TRUE(close(p(i, j), std::pow(static_cast<double>(v(i)), v(j))))
              << "pow(" << v(i) << ", " << v(j) << ") = " << p(i, j);
          EXPECT_TRUE(close(a(i, j), std::atan2(static_cast<double>(v(i)), v(j))))
              << "atan2(" << v(i) << ", " << v(j) << ") = " << a(i, j);
        }
      }
    }
  }
}

TEST(Numbers, StrictFloatIsNeverContracted) {
  constexpr int kSize = 4096;
  Var x("x");
  Func f("f");
  const Expr a = cast<float>(x) * 0.1f + 1.0f, b = cast<float>(x) * 0.3f - 7.0f;
  f(x) = strict_float(a * b + b);
  f.vectorize(x, 8);
  const Buffer<float> out = f.realize({kSize});
  for (int i = 0; i < kSize; i++) {
    const volatile float scaled = static_cast<float>(i) * 0.1f, more = scaled + 1.0f;
    const volatile float other = static_cast<float>(i) * 0.3f, less = other - 7.0f;
    const volatile float product = more * less;
    ASSERT_EQ(out(i), product + less) << i;
  }
}

TEST(Numbers, RandomNumbersDependOnPlaceSeedAndDefinition) {
  Var x("x"), y("y");
  Param<int> seed("seed");
  Func f("f"), g("g"), seeded("seeded");
  const Expr r = random_float();
  f(x, y) = r - r + random_uint() % 1000;
  g(x, y) = cast<float>(random_uint() % 1000);
  seeded(x) = random_int(seed);
  Func again("again");
  again(x, y) = f(x, y);
  again.vectorize(x, 8).parallel(y);
  const Buffer<float> one = f.realize({64, 64}), two = again.realize({64, 64});
  const Buffer<float> other = g.realize({64, 64});
  int equal_to_other = 0;
  for (int i = 0; i < 64; i++) {
    for (int j = 0; j < 64; j++) {
      EXPECT_EQ(one(i, j), two(i, j));
      equal_to_other += one(i, j) == other(i, j);
    }
  }
  EXPECT_LT(equal_to_other, 20);
  seed.set(1);
  const Buffer<int> s1 = seeded.realize({8}), s1_again = seeded.realize({8});
  seed.set(2);
  const Buffer<int> s2 = seeded.realize({8});
  for (int i = 0; i < 8; i++) {
    EXPECT_EQ(s1(i), s1_again(i));
    EXPECT_NE(s1(i), s2(i));
  }
}

// -- Effects

std::vector<std::string> printed;
void collect(void *, const char *text) { printed.emplace_back(text); }

TEST(Numbers, PrintsEveryValueOnce) {
  const auto before = polyhalite_set_custom_print(collect);
  for (const int lanes : {1, 4}) {
    printed.clear();
    Var x("x");
    Func f("f");
    f(x) = print_when(x % 2 == 1, x * 10, "is", cast<float>(x) / 2, cast<double>(x), x > 2,
                      cast<uint8_t>(x), cast<float16_t>(0.5f));
    if (lanes > 1) f.vectorize(x, lanes, TailStrategy::GuardWithIf);
    f.realize({6});
    EXPECT_EQ(printed, (std::vector<std::string>{
                           "10 is 0.500000 1.000000e+00 false 1 0.500000\n",
                           "30 is 1.500000 3.000000e+00 true 3 0.500000\n",
                           "50 is 2.500000 5.000000e+00 true 5 0.500000\n",
                       }))
        << lanes << " lanes";
  }
  polyhalite_set_custom_print(before);
}

TEST(Numbers, RequireEndsThePipelineWithItsMessage) {
  Var x("x");
  Param<int> p("p");
  Func f("f");
  f(x) = require(p == 3, x * p, "p must be", 3, "and is", p);
  f.vectorize(x, 4);
  p.set(3);
  const Buffer<int> good = f.realize({8});
  EXPECT_EQ(good(5), 15);
  p.set(4);
  EXPECT_NE(message_of([&] {
              f.realize({8});
            }).find("f: requirement failed: broadcast(p == 3, 4): p must be 3 and is 4"),
            std::string::npos)
      << message_of([&] { f.realize({8}); });
}

TEST(Numbers, UndefWritesNothing) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = undef<int>();
  f(3) = 5;
  Buffer<int> out(8);
  out.fill(17);
  f.realize(out);
  for (int i = 0; i < 8; i++) EXPECT_EQ(out(i), i == 3 ? 5 : 17);
  g(x) = select(x % 2 == 0, x, undef<int>());
  g.vectorize(x, 4);
  out.fill(17);
  g.realize(out);
  for (int i = 0; i < 8; i++) EXPECT_EQ(out(i), i % 2 == 0 ? i : 17);
}

TEST(Numbers, PromisesBoundRegions) {
  Var x("x");
  Param<int> offset("offset");
  offset.set(2);
  Func table("table"), f("f");
  table(x) = x * x;
  table.compute_root();
  f(x) = table(unsafe_promise_clamped(x + offset, 0, 15));
  const Buffer<int> out = f.realize({10});
  for (int i = 0; i < 10; i++) EXPECT_EQ(out(i), (i + 2) * (i + 2));
}

// No operation that is written overflows; algebra may not make one that does.
TEST(CompiledNumbers, KeepTheirValueNearTheEndsOfTheirType) {
  constexpr int kMost = std::numeric_limits<int>::max(), kLeast = std::numeric_limits<int>::min();
  const int n = 33;
  Buffer<int> low(n), high(n), few(n);
  for (int i = 0; i < n; i++) {
    low(i) = kLeast + i;
    high(i) = kMost - i;
    few(i) = i % 7 - 3;
  }
  Param<int> least("least", kLeast), most("most", kMost);
  const std::function<Expr(Expr)> cases[] = {
      [&](Expr x) { return select(few(x) - 4 < high(0), 1, 2); },
      [&](Expr x) { return select(few(x) + 4 < low(0), 1, 2); },
      [&](Expr x) { return select(few(x) - few(x / 2) < high(0), 1, 2); },
      [&](Expr x) { return select(cast<int64_t>(few(x)) - 4 < cast<int64_t>(high(x)), 1, 2); },
      [&](Expr x) { return select(few(x) - 4 < most, 1, 2); },
      [&](Expr x) { return select(x - 4 < most, 1, 2); },
      [&](Expr x) { return select(x + 4 < least, 1, 2); },
      [&](Expr x) { return max(low(x) + 100 + (few(x) - 60), 0); },
      [&](Expr x) { return max(low(0) + (16384 + few(x)) + (few(x / 2) - 16000), 0); },
      [&](Expr x) { return (low(0) + (16384 + few(x)) + (few(x / 2) - 16000)) / 1000; },
      [&](Expr x) { return (high(x) - 9) / 8; },
      [&](Expr x) { return (high(x) - 9) % 7; },
      [&](Expr x) { return (high(x) / 4 + 1) / 8; },
      [&](Expr x) { return select(few(x) < 0, few(x) / (high(x) - kMost + 3), -1); },
  };
  for (const auto &make : cases) expect_as_interpreted<int>("near the ends", make, n);
}

// The program's product may overflow where nobody wants its quotient.
TEST(CompiledNumbers, DivideByWhatOverflowsToZero) {
  Buffer<int> a(16), b(16);
  a.fill(100);
  for (int i = 0; i < 16; i++) b(i) = i % 2 == 0 ? 1 << 30 : std::numeric_limits<int>::min();
  for (const int lanes : {1, 8}) {
    Var x("x");
    Func f("f");
    f(x) = select(b(x) < 1000 && b(x) > 0, a(x) / (b(x) * 4) + a(x) % (b(x) * 4), -1);
    if (lanes > 1) f.vectorize(x, lanes);
    EXPECT_TRUE(Buffer<int>(f.realize({16})).all_equal(-1));
  }
}

TEST(CompiledNumbers, ArgminAndArgmaxOfSums) {
  Buffer<int> a(8);
  for (int i = 0; i < 8; i++) a(i) = (i * 5 + 3) % 8;
  RDom r(0, 8, "r");
  Func least("least"), most("most");
  least() = argmin(a(r) - 7);
  most() = argmax(a(r) + 7);
  const Realization low = least.realize(), high = most.realize();
  EXPECT_EQ(Buffer<int>(low[0])(), 1);
  EXPECT_EQ(Buffer<int>(low[1])(), -7);
  EXPECT_EQ(Buffer<int>(high[0])(), 4);
  EXPECT_EQ(Buffer<int>(high[1])(), 14);
}

// Of one node on many ways each is looked at once.
TEST(CompiledNumbers, DeepSharedExpressions) {
  for (const bool selects : {true, false}) {
    Var x("x");
    Expr e = x;
    for (int i = 0; i < 40; i++) e = selects ? select(e > 5, e - 1, e + 2) : e * e + 1;
    Func f("f");
    f(x) = e % 1000;
    const Buffer<int> out = f.realize({4});
    for (int i = 0; i < 4; i++) {
      uint32_t v = static_cast<uint32_t>(i);
      for (int k = 0; k < 40; k++)
        v = !selects ? v * v + 1 : static_cast<int>(v) > 5 ? v - 1 : v + 2;
      if (selects) {
        EXPECT_EQ(out(i), static_cast<int>(v) % 1000);
      }
    }
  }
}

// One condition may choose between vectors, one of which is all true.
TEST(CompiledNumbers, OneConditionChoosesBetweenVectorsOfConditions) {
  RDom r(0, 2, 0, 16, 0, 4, "r");
  r.where(select(r.z == 3, r.x >= 1, r.y < 13));
  Func u("u");
  Var x("x");
  u(x) = x;
  u(r.y) += 1;
  u.update().vectorize(r.y, 8).unroll(r.x);
  const Buffer<int> out = u.realize({16});
  for (int i = 0; i < 16; i++) EXPECT_EQ(out(i), i + (i < 13 ? 6 : 0) + 1) << i;
}

}  // namespace
}  // namespace polyhalite::numbers_test
