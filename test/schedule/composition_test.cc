// rfactor of operators that algebra, trial of all orders or composition proves: each derived
// algorithm computes what the given one does.
#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"
#include "lang/simplify/associative.h"
#include "schedule/derived_values.h"

namespace polyhalite::composition_test {
namespace {

const std::string kParts = "f.update(0).split(r, ro, ri, 4)\nt = f.update(0).rfactor(ro, u)\n";

std::string of(const std::string &update, const std::string &type,
               const std::string &first = "in(x)") {
  return "image in: " + type + ", 1\nf(x) = " + first + "\nover r(0, 19): f(x) = " + update +
         "\noutput f\n";
}

void expect_same(const std::string &update, Type t, int low, int high,
                 const std::string &first = "in(x)") {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    expect_same_values(of(update, t.to_string(), first), kParts, {6},
                       mixed_numbers(t, 40, low, high, seed));
  }
}

TEST(composition, linear_recurrences) {
  expect_same("f(x)*(in(r) % 3) + in(x + r)", Int(32), -9, 9);
  expect_same("f(x)*in(r) + in(x + r)", UInt(8), 0, 255);
  expect_same("in(r) - f(x)", Int(32), -9, 9);
  expect_same("f(x) + f(x)", UInt(16), 0, 60000);
  expect_same("f(x)/2.0f + in(r)", Float(32), -8, 8);
  expect_same("select(in(r) > 0, in(r) - f(x), f(x))", Int(32), -9, 9);
}

TEST(composition, linear_recurrences_in_integers_of_every_width) {
  for (const Type t : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64)}) {
    const int low = t.is_int() ? -9 : 0;
    const std::string three = to_text(make_int(t, 3));
    expect_same("f(x)*(in(r) % " + three + ") + in(x + r)", t, low, 9);
    expect_same("in(r) - f(x)", t, low, 9);
  }
}

TEST(composition, remainders_of_linear_recurrences) {
  // Sums, products and the cell itself before the first step may be larger than the divisor.
  expect_same("(f(x)*in(r) + in(x + r)) % 61", Int(32), -900, 900);
  expect_same("(f(x)*in(r) - in(x + r)) % 46340", Int(32), -40000, 40000);
  expect_same("(f(x)*131i64 + in(r)) % 2147483647i64", Int(64), -2000000000, 2000000000);
  expect_same("(in(r) - f(x)) % 7i64", Int(64), -9, 9);
  expect_same("(f(x)*in(r) + 3u8) % 16u8", UInt(8), 0, 255);
  expect_same("(f(x)*in(r) + 3i16) % 64i16", Int(16), -30000, 30000);
  std::string why;
  const auto composes = [&](const std::string &update, const std::string &type) {
    const Algorithm a = parse_algorithm("algorithm 1\n" + of(update, type), "a");
    return prove_composable(a.funcs[0], 1, &why).has_value();
  };
  EXPECT_TRUE(composes("(f(x)*in(r) + 3) % 46340", "int32"));
  EXPECT_FALSE(composes("(f(x)*in(r) + 3) % 46341", "int32"));  // 46340 times itself overflows
  EXPECT_FALSE(composes("(f(x)*in(r) + 3u16) % 61u16", "uint16"));
  EXPECT_FALSE(composes("(f(x)*f(x) + 3) % 61", "int32"));
}

TEST(composition, linear_recurrences_of_several_values) {
  const std::string two = "{in(x), in(x + 1)}";
  expect_same("{f(x)*in(r), f(x).1*in(r) + in(r + 1)}", UInt(8), 0, 255, two);
  expect_same("{f(x).1, f(x) + f(x).1}", UInt(16), 0, 60000, two);
  expect_same("{f(x) + in(r), f(x).1 + f(x)}", Int(32), -9, 9, two);
  expect_same("{f(x) + f(x).2, f(x).1 - f(x)*in(r), in(r)}", UInt(32), 0, 60000,
              "{in(x), in(x + 1), in(x + 2)}");
}

TEST(composition, sums_that_saturate) {
  expect_same("saturating_add(f(x), in(r))", UInt(8), 0, 60);
  expect_same("saturating_sub(f(x), in(r)/64u8)", UInt(8), 0, 255);
  expect_same("saturating_add(f(x), in(r))", Int(8), -128, 127);
  expect_same("saturating_sub(f(x), in(r))", Int(16), -32768, 32767);
  expect_same("saturating_sub(saturating_add(f(x), in(r)), in(r + 1))", UInt(8), 0, 255);
  expect_same("uint8(min(uint16(f(x)) + uint16(in(r)), 255u16))", UInt(8), 0, 60);
  expect_same("min(max(f(x) + in(r), -20), 30)", Int(32), -9, 9);
}

TEST(composition, limits_from_both_sides) {
  expect_same("min(max(f(x), in(r)), in(r + 1))", Int(32), -9, 9);
  expect_same("max(min(f(x), in(r)), in(x + r))", Float(32), -80, 80);
  expect_same("select(in(r) > 0i8, max(f(x), in(r)), min(f(x), in(r + 1)))", Int(8), -128, 127);
}

TEST(composition, bits) {
  expect_same("bitwise_xor(f(x), in(r))", UInt(8), 0, 255);
  expect_same("bitwise_not(bitwise_xor(f(x), in(r)))", UInt(8), 0, 255);
}

TEST(composition, the_first_of_the_largest) {
  expect_same(
      "{max(f(x), in(r)), select(f(x) > in(r) || (f(x) == in(r) && f(x).1 < r), "
      "f(x).1, r)}",
      Int(32), -2, 2, "{in(x), 100}");
}

}  // namespace
}  // namespace polyhalite::composition_test
