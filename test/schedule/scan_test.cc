// scan: blocks of a scan, what is no scan, and that values stay.
#include "schedule/scan.h"

#include <gtest/gtest.h>

#include "lang/ir/expr_text.h"
#include "schedule/build.h"
#include "schedule/derived_values.h"

namespace polyhalite::scan_test {
namespace {

std::string of(const std::string &update, const std::string &type = "int32",
               const std::string &over = "over r(1, 19): ") {
  const bool tuple = update.find("= {") != std::string::npos;
  return "image in: " + type + ", 1\nf(x) = " + (tuple ? "{in(x), in(x + 1)}" : "in(x)") + "\n" +
         over + update + "\noutput f\n";
}

const std::string kBlocks = "f.update(0).split(r, ro, ri, 4)\nt = f.update(0).scan(ro, u)\n";

TEST(scan, each_block_starts_from_what_those_before_make) {
  EXPECT_EQ(derived(of("f(r) = f(r - 1) + in(r)"), kBlocks), R"(image in: int32, 1
t(u) = 0
over ri(0, 4) where 0 < u: t(u) = t(u) + in(ri + max(min(u, 4), 1)*4 - 3)
over ro(2, 3): t(ro) = t(ro - 1) + t(ro)
f(x) = in(x)
over r(1, 19): f(r) = select((r - 1)%4 != 0, f(r - 1), f(0) + t((r - 1)/4)) + in(r)
output f
)");
}

TEST(scan, the_loops_stay) {
  EXPECT_EQ(tree(of("f(r) = f(r - 1) + in(r)"),
                 kBlocks + "t.compute_root()\nt.update(0).parallel(u)\nf.update(0).parallel(ro)\n"),
            R"(allocate t
  for t.s0.u serial
    t.s0
  for t.s1.u parallel
    for t.s1.ri serial reduction
      t.s1
  for t.s2.ro serial reduction
    t.s2
  for f.s0.x serial
    f.s0
  for f.s1.ro parallel reduction
    for f.s1.ri serial reduction
      f.s1: r -> ro, ri by 4 GuardWithIf
)");
}

TEST(scan, values_stay) {
  const Buffer<> whole = mixed_numbers(Int(32), 60, -9, 9);
  for (const char *update :
       {"f(r) = f(r - 1) + in(r)", "f(r) = f(r) + f(r - 1)", "f(r) = max(f(r - 1), in(r)*r)",
        "f(r) = f(r - 1)*(in(r) % 2) + in(r + 1)", "f(r) = min(max(f(r - 1), in(r)), in(r + 2))",
        "f(r) = in(r) - f(r - 1)", "f(20 - r) = f(21 - r) + in(r)", "f(2*r) = f(2*r - 2) - in(r)",
        "f(r) = select(in(r) > 0, f(r - 1) + in(r), f(r - 1))",
        "f(r) = {f(r - 1) + in(r), f(r - 1).1 + f(r - 1)}",
        "f(r) = {f(r - 1)*(in(r) % 2) - f(r - 1).1, f(r - 1) + f(r - 1).1*(in(r) % 2)}"}) {
    expect_same_values(of(update), kBlocks, {40}, whole);
  }
  // Blocks that the size is a multiple of, and extents of a param.
  expect_same_values(of("f(r) = f(r - 1) + in(r)", "int32", "over r(1, 16): "), kBlocks, {20},
                     whole);
  const Buffer<> bytes = mixed_numbers(UInt(8), 40, 0, 255);
  for (const char *update :
       {"f(r) = saturating_add(f(r - 1), in(r))", "f(r) = saturating_sub(f(r - 1), in(r)/16u8)",
        "f(r) = saturating_sub(saturating_add(f(r - 1), in(r)), in(r + 1))",
        "f(r) = f(r - 1)*in(r) + in(r + 1)"}) {
    expect_same_values(of(update, "uint8"), kBlocks, {20}, bytes);
  }
  for (const Type t : {Int(8), Int(16), Int(64), UInt(16), UInt(32), UInt(64)}) {
    const std::string three = to_text(make_int(t, 3));
    expect_same_values(of("f(r) = f(r - 1)*(in(r) % " + three + ") + in(r + 1)", t.to_string()),
                       kBlocks, {20}, mixed_numbers(t, 40, 0, 9));
  }
  expect_same_values(of("f(r) = (f(r - 1)*131i64 + in(r)) % 1000003i64", "int64"), kBlocks, {20},
                     mixed_numbers(Int(64), 40, -2000000000, 2000000000));
  const Buffer<> small = mixed_numbers(Int(8), 40, -128, 127);
  expect_same_values(of("f(r) = saturating_add(f(r - 1), in(r))", "int8"), kBlocks, {20}, small);
  const Buffer<> reals = mixed_numbers(Float(32), 40, -8, 8);
  expect_same_values(of("f(r) = f(r - 1)*0.75f + in(r)", "float32"), kBlocks, {20}, reals);
}

TEST(scan, rows_of_their_own) {
  const Buffer<> in = mixed_numbers(Int(32), 60, -9, 9);
  expect_same_values(
      "image in: int32, 1\nf(x, y) = in(x + 2*y)\n"
      "over r(1, 19): f(r, y) = f(r, y) + f(r - 1, y)\noutput f\n",
      kBlocks, {20, 6}, in);
  expect_same_values(
      "image in: int32, 1\nf(x, y) = in(x + 2*y)\n"
      "over r(1, 5): f(x, r) = max(f(x, r), f(x, r - 1) - 1)\noutput f\n",
      "f.update(0).split(r, ro, ri, 2)\nt = f.update(0).scan(ro, u)\n", {20, 6}, in);
  // One row only.
  expect_same_values(
      "image in: int32, 1\nf(x, y) = in(x + 2*y)\n"
      "over r(1, 19): f(r, 3) = f(r, 3) + f(r - 1, 3)\noutput f\n",
      kBlocks, {20, 6}, in);
}

std::string refused(const std::string &update, const std::string &directives = kBlocks,
                    const std::string &over = "over r(1, 19): ") {
  const std::string text = derived(of(update, "int32", over), directives);
  const size_t why = text.find("  why: ");
  return why == std::string::npos ? text : text.substr(why + 7, text.find('\n', why) - why - 7);
}

TEST(scan, refusals_say_what_stands_against_it) {
  EXPECT_EQ(derived(of("f(r) = f(r - 1)/2 + in(r)"), kBlocks),
            "s.txt:2: error: cannot scan update 0 of 'f' in blocks\n"
            "  why: a op b = a/2 + b is not associative: (2 op 0) op 0 is 0, 2 op (0 op 0) is 1\n"
            "  fix: leave the loop whole\n");
  EXPECT_EQ(
      refused("f(r) = f(r - 2) + in(r)"),
      "it reads f(r - 2), which is neither the cell that it writes nor the one written before "
      "it");
  EXPECT_EQ(refused("f(r) = in(r)"), "it does not read the cell written before");
  EXPECT_EQ(refused("f(r) = f(r - 1) + in(r)", "t = f.update(0).scan(ro, u)\n"),
            "it has no loop 'ro'");
  EXPECT_EQ(refused("f(r) = f(r - 1) + in(r)",
                    "f.update(0).split(r, ro, ri, 4)\nt = f.update(0).scan(ri, u)\n"),
            "'ri' is not the outer part of a split of 'r'");
  EXPECT_EQ(refused("f(r) = f(r - 1) + in(r)",
                    "f.update(0).split(r, ro, ri, 32)\nt = f.update(0).scan(ro, u)\n"),
            "'ro' has one iteration, as a block is the whole scan");
  EXPECT_EQ(refused("f(r) = f(r - 1) + in(r)", kBlocks, "over r(1, 19) where in(r) > 0: "),
            "its domain has a condition");
  EXPECT_EQ(refused("f(r) = f(r - 1) + s", kBlocks, "over r(1, 19), s(0, 2): "),
            "it has 2 reduction variables; a scan has one");
}

}  // namespace
}  // namespace polyhalite::scan_test
