// The checking interpreter computes, and finds what is planted for it.
#include "codegen/oracle/interpret_ir.h"

#include <gtest/gtest.h>

#include "codegen/ir/text.h"
#include "polyhalite/error.h"
#include "test/codegen/test_buffer.h"

namespace polyhalite::interpret_ir_test {
namespace {

// Runs `body` with in = {1, 2, ..., 8} at -1..6 and an output of 8 elements at 0..7.
std::vector<int32_t> run(const std::string &body, ParallelOrder order = ParallelOrder::Forward) {
  const Function f = parse_function(
      "func f(in: input int32[1], k: int32, out: output int32[1]) {\n" + body + "\n}\n");
  TestBuffer in(Int(32), {{-1, 8}}), out(Int(32), {{0, 8}});
  for (int i = 0; i < 8; i++) in.elements<int32_t>()[i] = i + 1;
  IrArguments args;
  args.buffers = {{"in", in.raw()}, {"out", out.raw()}};
  args.scalars = {{"k", Expr(5)}};
  interpret_ir(f, args, {order, 1, {}});
  return {out.elements<int32_t>(), out.elements<int32_t>() + 8};
}

std::string problem(const std::string &body) {
  try {
    run(body);
  } catch (const Error &e) {
    return e.diagnostic().what;
  }
  return "none";
}

using Row = std::vector<int32_t>;

TEST(InterpretIr, RunsBothLevels) {
  EXPECT_EQ(run("for x in (0, 8) { if x < k { out(x) = in(x - 1)*2 } else { out(x) = x } }"),
            (Row{2, 4, 6, 8, 10, 5, 6, 7}));
  EXPECT_EQ(run("allocate t: int32(2, 3) for x in (2, 3) { t(x) = x } out(0) = t(4) + t(2)"),
            (Row{6, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(run("let v = in[ramp(7i64, -1i64, 8)] out[ramp(0i64, 1i64, 8)] = v*broadcast(k, 8)"),
            (Row{40, 35, 30, 25, 20, 15, 10, 5}));
}

// {1, 2 | 3, 4} by the columns {1, 2} and {3, 4}, and by the rows {1, 3} and {2, 4} of pairs.
TEST(InterpretIr, MultipliesMatrices) {
  const std::string of =
      "out[ramp(0i64, 1i64, 4)] = intrinsic<int32x4>(sum_matrix_products, "
      "broadcast(k, 4), in[ramp(0i64, 1i64, 4)], in[ramp(0i64, 1i64, 4)], 2, ";
  EXPECT_EQ(run(of + "2)"), (Row{10, 16, 16, 30, 0, 0, 0, 0}));
  EXPECT_EQ(run(of + "1)"), (Row{12, 15, 20, 27, 0, 0, 0, 0}));
}

TEST(InterpretIr, MasksSkipLanes) {
  EXPECT_EQ(run("out[ramp(6i64, 1i64, 4) if ramp(6, 1, 4) < broadcast(8, 4)] = broadcast(3, 4)"),
            (Row{0, 0, 0, 0, 0, 0, 3, 3}));
  EXPECT_EQ(run("out[ramp(0i64, 1i64, 8)] = in[ramp(4i64, 1i64, 8) if ramp(4, 1, 8) < "
                "broadcast(8, 8)]"),
            (Row{5, 6, 7, 8, 0, 0, 0, 0}));
}

TEST(InterpretIr, RampsOfVectorsRepeatTheirBase) {
  EXPECT_EQ(run("out[ramp(0i64, 1i64, 8)] = ramp(ramp(0, 1, 4), broadcast(10, 4), 2)"),
            (Row{0, 1, 2, 3, 10, 11, 12, 13}));
  EXPECT_EQ(
      run("out[ramp(0i64, 1i64, 4)] = shuffle({broadcast(k, 2), ramp(0, 1, 2)}, {3, 0, 2, 1})"),
      (Row{1, 5, 0, 5, 0, 0, 0, 0}));
}

TEST(InterpretIr, ParallelLoopsRunInTheOrderAskedFor) {
  const std::string races = "for x in (0, 4) parallel { out(0) = out(0)*10 + x + 1 }";
  EXPECT_EQ(run(races)[0], 1234);
  EXPECT_EQ(run(races, ParallelOrder::Reverse)[0], 4321);
  const int32_t shuffled = run(races, ParallelOrder::Shuffled)[0];
  EXPECT_EQ(run(races, ParallelOrder::Shuffled)[0], shuffled);
}

TEST(InterpretIr, FindsAccessesOutside) {
  EXPECT_EQ(problem("out(8) = 1"), "access of 'out' at 8 in dimension 0, which has [0, 7]");
  EXPECT_EQ(problem("out(0) = in(-2)"), "access of 'in' at -2 in dimension 0, which has [-1, 6]");
  EXPECT_EQ(problem("out[8i64] = 1"), "access of 'out' at element 8, which has [0, 7]");
  EXPECT_EQ(problem("allocate t: int32[4i64] t[-1i64] = 1"),
            "access of 't' at element -1, which has [0, 3]");
}

TEST(InterpretIr, FindsReadsOfWhatNobodyWrote) {
  EXPECT_EQ(problem("allocate t: int32[4i64] t[1i64] = 1 out[0i64] = t[2i64]"),
            "read of 't' at element 2, which nobody wrote");
  // The next iteration's allocation is a new one.
  EXPECT_EQ(problem("for x in (0, 2) { allocate t: int32[1i64] if x == 0 { t[0i64] = 1 } "
                    "out[0i64] = t[0i64] }"),
            "read of 't' at element 0, which nobody wrote");
}

TEST(InterpretIr, WhatIsMadeOfNothingIsNothing) {
  const std::string begin = "allocate t: int32[4i64] ";
  EXPECT_EQ(run(begin + "t[1i64] = select(k == 0, 3, t[1i64]) t[1i64] = 7 out[0i64] = t[1i64]")[0],
            7);
  EXPECT_EQ(run(begin + "let v = select(k == 0, 3, t[1i64]) t[1i64] = v t[1i64] = 7 "
                        "out[0i64] = t[1i64]")[0],
            7);
  EXPECT_EQ(problem(begin + "t[1i64] = select(k == 0, 3, t[1i64]) out[0i64] = t[1i64]"),
            "read of 't' at element 1, which nobody wrote");
  EXPECT_EQ(run(begin + "t[1i64] = t[1i64] + 1 t[1i64] = 7 out[0i64] = t[1i64]")[0], 7);
  EXPECT_EQ(problem(begin + "t[1i64] = t[1i64] + 1 out[0i64] = t[1i64]"),
            "read of 't' at element 1, which nobody wrote");
  EXPECT_EQ(problem(begin + "t[0i64] = 1 t[ramp(0i64, 1i64, 2)] = "
                            "broadcast(t[1i64], 2) + t[ramp(0i64, 1i64, 2)]"),
            "read of 't' at element 1, which nobody wrote");
  EXPECT_EQ(problem(begin + "let v = t[1i64] out[0i64] = v"),
            "read of 't' at element 1, which nobody wrote");
}

TEST(InterpretIr, FailedAssertionsTellTheirCall) {
  EXPECT_EQ(problem("assert k == 4 else extern<int32>(polyhalite_error_x, \"f\", k, in.extent.0)"),
            "polyhalite_error_x(\"f\", 5, 8)");
}

TEST(InterpretIr, ArithmeticIsThatOfTheLanguage) {
  EXPECT_EQ(run("out(0) = -7/2 out(1) = -7%2 out(2) = k/(k - 5) out(3) = k%(k - 5) "
                "out(4) = int32(uint8(300)) out(5) = int32(-1.75f) out(6) = int32(int8(200)) "
                "out(7) = int32(abs(-3))"),
            (Row{-4, 1, 0, 0, 44, -1, -56, 3}));
}

}  // namespace
}  // namespace polyhalite::interpret_ir_test
