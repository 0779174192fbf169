// A program written against Halide's public names.
#include <gtest/gtest.h>

#include "halide/Halide.h"

namespace {

using namespace Halide;

TEST(HalideNames, AnAlgorithmAndItsSchedule) {
  ImageParam input(type_of<uint8_t>(), 3, "input");
  Var x("x"), y("y"), c("c"), xo("xo"), xi("xi");
  Func clamped = BoundaryConditions::repeat_edge(input);
  Func blurred("blurred");
  Expr e = cast<uint16_t>(clamped(x, y, c)) + clamped(x + 1, y, c);
  e = min(e, 255) >> 1;
  blurred(x, y, c) = cast<uint8_t>(e);
  blurred.split(x, xo, xi, 16, TailStrategy::GuardWithIf).reorder(xi, c, y, xo).unroll(c);
  clamped.compute_at(blurred, y).store_at(LoopLevel(blurred, xo));
  EXPECT_EQ(blurred.output_types()[0], UInt(8));
  EXPECT_EQ(blurred.args().size(), 3u);
}

// Builds bring a main() of their own for generators.
TEST(HalideNames, GeneratorsHaveTheKnownMain) {
  char program[] = "program", unknown[] = "--no-such-option";
  char *argv[] = {program, unknown, nullptr};
  testing::internal::CaptureStderr();
  EXPECT_EQ(Halide::Internal::generate_filter_main(2, argv), 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("--no-such-option"), std::string::npos);
}

TEST(HalideNames, RuntimeBuffersHaveTheKnownLayout) {
  Halide::Runtime::Buffer<int32_t> b(3, 2);
  b.for_each_element([&](int x, int y) { b(x, y) = x + 3 * y; });
  halide_buffer_t *raw = b;
  EXPECT_EQ(raw->type.bits, 32);
  EXPECT_EQ(raw->dim[1].stride, 3);
  EXPECT_EQ(offsetof(halide_buffer_t, host), 16u);
  EXPECT_EQ(offsetof(halide_buffer_t, dim), 40u);
  EXPECT_EQ(sizeof(halide_buffer_t), 56u);
}

// Overloads for coordinates and for names: numbers are no names, not even 0.
const char *kind_of(const std::vector<Expr> &) { return "numbers"; }
const char *kind_of(const std::vector<Var> &) { return "names"; }

TEST(HalideNames, ZeroNamesNoVar) {
  Var x("x"), y = "y";
  EXPECT_STREQ(kind_of({0, 0}), "numbers");
  EXPECT_STREQ(kind_of(std::vector<Var>{x, y}), "names");
  EXPECT_EQ(y.name(), "y");
}

}  // namespace
