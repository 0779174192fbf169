// Functions on integers and 16-bit floats, evaluated by the plain interpreter and folded by the
// simplifier, against arithmetic in 128 bits.
#include "polyhalite/integer_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "lang/interpret/interpret.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::integer_functions_test {
namespace {

using Wide = __int128;

template <typename T>
Buffer<T> interpreted(Func f, int n) {
  Buffer<T> out(n);
  const FrozenPipeline frozen = freeze({f.function()});
  interpret(frozen.algorithm, {}, {}, {out.raw_buffer()});
  return out;
}

template <typename T>
T nearest(Wide v) {
  if (v > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  if (v < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  return static_cast<T>(v);
}

Wide floor_shift(Wide v, int by) { return by >= 0 ? v >> by : v << -by; }
Wide rounded_shift(Wide v, int by) { return by > 0 ? (v + (Wide{1} << (by - 1))) >> by : v << -by; }

// Pairs at the ends of the type and between.
template <typename T>
std::pair<Buffer<T>, Buffer<T>> pairs() {
  const T ends[] = {std::numeric_limits<T>::min(),
                    static_cast<T>(std::numeric_limits<T>::min() + 1),
                    static_cast<T>(-1),
                    0,
                    1,
                    2,
                    static_cast<T>(std::numeric_limits<T>::max() - 1),
                    std::numeric_limits<T>::max()};
  constexpr int kEnds = 8, kRandom = 200;
  Buffer<T> a(kEnds * kEnds + kRandom), b(kEnds * kEnds + kRandom);
  std::mt19937_64 random(7);
  for (int i = 0; i < kEnds * kEnds; i++) {
    a(i) = ends[i % kEnds];
    b(i) = ends[i / kEnds];
  }
  for (int i = kEnds * kEnds; i < kEnds * kEnds + kRandom; i++) {
    a(i) = static_cast<T>(random());
    b(i) = static_cast<T>(random());
  }
  return {a, b};
}

template <typename T, typename R = T>
void check(const char *name, const std::function<Expr(Expr, Expr)> &make,
           const std::type_identity_t<std::function<R(Wide, Wide)>> &reference) {
  const auto [a, b] = pairs<T>();
  Var x;
  Func f;
  const Expr value = make(a(x), b(x));
  ASSERT_EQ(value.type(), type_of<R>()) << name;
  f(x) = value;
  const Buffer<R> got = interpreted<R>(f, a.dim(0).extent());
  for (int i = 0; i < a.dim(0).extent(); i++) {
    const R wanted = reference(a(i), b(i));
    EXPECT_EQ(+got(i), +wanted) << name << " of " << type_of<T>().to_string() << ' ' << +a(i)
                                << ", " << +b(i);
    const Expr folded = simplify(make(Expr(a(i)), Expr(b(i))));
    EXPECT_TRUE(equal(folded, Expr(wanted))) << name << " folds to " << to_text(folded);
    if (::testing::Test::HasFailure()) return;
  }
}

template <typename T>
class IntegerFunctions : public ::testing::Test {};
using Integers =
    ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerFunctions, Integers);

TYPED_TEST(IntegerFunctions, SaturateAndHalve) {
  using T = TypeParam;
  check<T>(
      "saturating_add", [](Expr a, Expr b) { return saturating_add(a, b); },
      [](Wide a, Wide b) { return nearest<T>(a + b); });
  check<T>(
      "saturating_sub", [](Expr a, Expr b) { return saturating_sub(a, b); },
      [](Wide a, Wide b) { return nearest<T>(a - b); });
  check<T>(
      "halving_add", [](Expr a, Expr b) { return halving_add(a, b); },
      [](Wide a, Wide b) { return static_cast<T>((a + b) >> 1); });
  check<T>(
      "rounding_halving_add", [](Expr a, Expr b) { return rounding_halving_add(a, b); },
      [](Wide a, Wide b) { return static_cast<T>((a + b + 1) >> 1); });
  check<T>(
      "halving_sub", [](Expr a, Expr b) { return halving_sub(a, b); },
      [](Wide a, Wide b) { return static_cast<T>((a - b) >> 1); });
}

TYPED_TEST(IntegerFunctions, DivideTowardsZero) {
  using T = TypeParam;
  check<T>(
      "div_round_to_zero", [](Expr a, Expr b) { return div_round_to_zero(a, b); },
      [](Wide a, Wide b) { return b == 0 ? T(0) : static_cast<T>(a / b); });
  check<T>(
      "mod_round_to_zero", [](Expr a, Expr b) { return mod_round_to_zero(a, b); },
      [](Wide a, Wide b) { return b == 0 ? T(0) : static_cast<T>(a % b); });
}

TYPED_TEST(IntegerFunctions, RoundingShifts) {
  using T = TypeParam;
  for (int by = 0; by < static_cast<int>(8 * sizeof(T)); by++) {
    check<T>(
        "rounding_shift_right", [=](Expr a, Expr) { return rounding_shift_right(a, by); },
        [=](Wide a, Wide) { return nearest<T>(rounded_shift(a, by)); });
    // Int(32) and Int(64) do not wrap: those are made small before.
    constexpr bool kWraps = std::is_unsigned_v<T> || sizeof(T) <= 2;
    const auto small = [=](const Expr &a) { return kWraps ? a : a >> by; };
    const auto shifted = [=](Wide a, Wide) {
      return static_cast<T>((kWraps ? a : floor_shift(a, by)) * (Wide{1} << by));
    };
    check<T>(
        "rounding_shift_left", [=](Expr a, Expr) { return rounding_shift_left(small(a), by); },
        shifted);
    check<T>(
        "rounding_shift_right by less than 0",
        [=](Expr a, Expr) { return rounding_shift_right(small(a), cast<int8_t>(-by)); }, shifted);
  }
}

TYPED_TEST(IntegerFunctions, CountBits) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  check<T>(
      "popcount", [](Expr a, Expr) { return popcount(a); },
      [](Wide a, Wide) { return static_cast<T>(__builtin_popcountll(static_cast<U>(a))); });
  check<T>(
      "count_leading_zeros", [](Expr a, Expr) { return count_leading_zeros(a); },
      [](Wide a, Wide) {
        int n = 0;
        while (n < static_cast<int>(8 * sizeof(T)) &&
               !(static_cast<U>(a) >> (8 * sizeof(T) - 1 - n) & 1)) {
          n++;
        }
        return static_cast<T>(n);
      });
  check<T>(
      "count_trailing_zeros", [](Expr a, Expr) { return count_trailing_zeros(a); },
      [](Wide a, Wide) {
        int n = 0;
        while (n < static_cast<int>(8 * sizeof(T)) && !(static_cast<U>(a) >> n & 1)) n++;
        return static_cast<T>(n);
      });
}

template <typename T>
void check_products() {
  using Signed = std::conditional_t<sizeof(T) == 1, int16_t,
                                    std::conditional_t<sizeof(T) == 2, int32_t, int64_t>>;
  using Double = std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>;
  check<T, Double>(
      "widening_mul", [](Expr a, Expr b) { return widening_mul(a, b); },
      [](Wide a, Wide b) { return static_cast<Double>(a * b); });
  check<T, Double>(
      "widening_add", [](Expr a, Expr b) { return widening_add(a, b); },
      [](Wide a, Wide b) { return static_cast<Double>(a + b); });
  check<T, Signed>(
      "widening_sub", [](Expr a, Expr b) { return widening_sub(a, b); },
      [](Wide a, Wide b) { return static_cast<Signed>(a - b); });
  for (int q = 0; q < static_cast<int>(16 * sizeof(T)); q++) {
    check<T>(
        "mul_shift_right", [=](Expr a, Expr b) { return mul_shift_right(a, b, q); },
        [=](Wide a, Wide b) { return nearest<T>(floor_shift(a * b, q)); });
    // The product rounds in twice the width.
    check<T>(
        "rounding_mul_shift_right",
        [=](Expr a, Expr b) { return rounding_mul_shift_right(a, b, q); },
        [=](Wide a, Wide b) { return nearest<T>(rounded_shift(a * b, q)); });
  }
}

TEST(IntegerFunctions, ProductsInTwiceTheWidth) {
  check_products<int8_t>();
  check_products<uint8_t>();
  check_products<int16_t>();
  check_products<uint16_t>();
  check_products<int32_t>();
  check_products<uint32_t>();
}

template <typename T>
T lerp_in_parts(Wide a, Wide b, Wide w) {
  constexpr Wide m = std::numeric_limits<std::make_unsigned_t<T>>::max();
  const Wide sum = a * (m - w) + b * w;
  // m is odd: there are no halves.
  return static_cast<T>((2 * sum + m + (Wide{1} << 80) * 2 * m) / (2 * m) - (Wide{1} << 80));
}

template <typename T, typename W>
void check_lerp() {
  constexpr Wide m = std::numeric_limits<std::make_unsigned_t<T>>::max(),
                 parts = std::numeric_limits<W>::max();
  check<T>(
      "lerp", [](Expr a, Expr b) { return lerp(a, b, cast<W>(b)); },
      [](Wide a, Wide b) {
        const Wide w = static_cast<W>(b);
        return lerp_in_parts<T>(a, b, m > parts ? w * (m / parts) : w / (parts / m));
      });
}

TYPED_TEST(IntegerFunctions, LerpTakesWeightsInPartsOfTheWidth) {
  using T = TypeParam;
  if constexpr (sizeof(T) <= 4) {
    check_lerp<T, uint8_t>();
    check_lerp<T, uint16_t>();
    check_lerp<T, uint32_t>();
    // Rounded down.
    for (const float weight : {0.0f, 0.25f, 0.5f, 0.999f, 1.0f}) {
      constexpr Wide m = std::numeric_limits<std::make_unsigned_t<T>>::max();
      const Wide w = sizeof(T) < 4 ? static_cast<Wide>(static_cast<float>(m) * weight)
                                   : static_cast<Wide>(static_cast<double>(m) * weight);
      check<T>(
          "lerp by a float", [=](Expr a, Expr b) { return lerp(a, b, weight); },
          [=](Wide a, Wide b) { return lerp_in_parts<T>(a, b, w); });
    }
  }
}

TEST(IntegerFunctions, SaturatingCasts) {
  auto cast_of = [](double v, Type from, Type to) {
    return to_text(simplify(saturating_cast(to, make_float(from, v))));
  };
  EXPECT_EQ(cast_of(1e9, Float(32), Int(16)), "32767i16");
  EXPECT_EQ(cast_of(-1e9, Float(32), UInt(16)), "0u16");
  EXPECT_EQ(cast_of(3e9, Float(32), Int(32)), "2147483647");
  EXPECT_EQ(cast_of(1e30, Float(64), UInt(64)), "18446744073709551615u64");
  EXPECT_EQ(cast_of(-2.75, Float(64), Int(8)), "-2i8");
  EXPECT_EQ(cast_of(1e300, Float(64), Float(32)), "3.4028235e+38f");
  check<int32_t, uint8_t>(
      "saturating_cast", [](Expr a, Expr) { return saturating_cast<uint8_t>(a); },
      [](Wide a, Wide) { return nearest<uint8_t>(a); });
  check<uint64_t, int64_t>(
      "saturating_cast", [](Expr a, Expr) { return saturating_cast<int64_t>(a); },
      [](Wide a, Wide) { return nearest<int64_t>(a); });
  check<int64_t, uint64_t>(
      "saturating_cast", [](Expr a, Expr) { return saturating_cast<uint64_t>(a); },
      [](Wide a, Wide) { return nearest<uint64_t>(a); });
}

TEST(IntegerFunctions, BitsApartAndTogether) {
  const Expr word(uint32_t{0x44332211});
  EXPECT_EQ(to_text(simplify(extract_bits<uint8_t>(word, 16))), "51u8");
  EXPECT_EQ(to_text(simplify(extract_bits<int16_t>(word, 28))), "4i16");
  std::vector<Expr> bytes;
  for (int i = 1; i <= 4; i++) bytes.push_back(Expr(static_cast<uint8_t>(0x11 * i)));
  EXPECT_TRUE(equal(simplify(concat_bits(bytes)), word));
}

TEST(IntegerFunctions, BadOperands) {
  EXPECT_EQ(message_of([] { widening_mul(Expr(int64_t{1}), Expr(int64_t{2})); }),
            "error: 'widening_mul' of int64\n"
            "  why: there is no type of twice its width\n"
            "  fix: cast the operands");
  EXPECT_EQ(message_of([] { popcount(Expr(1.0f)); }),
            "error: 'popcount' of float32\n"
            "  why: it is defined for integers\n"
            "  fix: cast the operands");
  EXPECT_EQ(message_of([] { lerp(Expr(1), Expr(2), Expr(2.0f)); }),
            "error: the weight of 'lerp' is 2.000000\n"
            "  why: between integers weights are 0 to 1\n"
            "  fix: choose a weight between 0 and 1");
  EXPECT_EQ(message_of([] { mul_shift_right(Expr(1), Expr(2), Var("x")); }),
            "error: the shift of 'mul_shift_right' has type int32\n"
            "  why: the product is shifted right, by no negative amount\n"
            "  fix: give a constant, or cast the amount to an unsigned type");
}

TEST(Float16, RoundsToNearestEven) {
  // Each value, the middle to the next one, and just beside the middle.
  for (int bits = 0; bits < 0x7c00; bits++) {
    const float16_t h = float16_t::make_from_bits(static_cast<uint16_t>(bits));
    const float16_t next = float16_t::make_from_bits(static_cast<uint16_t>(bits + 1));
    const float a = float(h), b = bits + 1 == 0x7c00 ? 65536.0f : float(next);
    ASSERT_EQ(float16_t(a).to_bits(), bits);
    const float middle = (a + b) / 2;
    ASSERT_EQ(float16_t(middle).to_bits(), bits + (bits & 1)) << bits;
    ASSERT_EQ(float16_t(std::nextafter(middle, 0.0f)).to_bits(), bits);
    ASSERT_EQ(float16_t(std::nextafter(middle, 1e9f)).to_bits(), bits + 1);
    ASSERT_EQ(float16_t(-a).to_bits(), bits | 0x8000);
  }
  for (int bits = 0; bits < 0x7f7f; bits += 7) {
    const float a = float(bfloat16_t::make_from_bits(static_cast<uint16_t>(bits)));
    const float b = float(bfloat16_t::make_from_bits(static_cast<uint16_t>(bits + 1)));
    const auto middle = static_cast<float>((static_cast<double>(a) + b) / 2);
    ASSERT_EQ(bfloat16_t(a).to_bits(), bits);
    ASSERT_EQ(bfloat16_t(middle).to_bits(), bits + (bits & 1)) << bits;
  }
  EXPECT_TRUE(float16_t(std::nanf("")).is_nan());
  EXPECT_TRUE(bfloat16_t(std::nanf("")).is_nan());
  EXPECT_TRUE(float16_t(1e30f).is_infinity());
}

TEST(Types, WhatTheyHold) {
  EXPECT_TRUE(Float(16).can_represent(UInt(8)));
  EXPECT_FALSE(BFloat(16).can_represent(UInt(16)));
  EXPECT_FALSE(Float(16).can_represent(BFloat(16)));
  EXPECT_TRUE(Int(16).can_represent(UInt(8)));
  EXPECT_FALSE(Int(8).can_represent(UInt(8)));
  EXPECT_TRUE(UInt(8).can_represent(int64_t{255}));
  EXPECT_FALSE(UInt(8).can_represent(int64_t{256}));
  EXPECT_FALSE(Float(32).can_represent(int64_t{16777217}));
  EXPECT_TRUE(Float(32).can_represent(0.5));
  EXPECT_FALSE(Float(32).can_represent(0.1));
  EXPECT_TRUE(Int(8).is_min(int64_t{-128}));
  EXPECT_EQ(to_text(Int(64).min()), "-9223372036854775808i64");
  EXPECT_EQ(to_text(UInt(64).max()), "18446744073709551615u64");
  EXPECT_EQ(type_of<float16_t>(), Float(16));
  EXPECT_EQ(type_of<bfloat16_t>().to_string(), "bfloat16");
}

}  // namespace
}  // namespace polyhalite::integer_functions_test
