// The printed form of loop IR reads back.
#include "codegen/ir/text.h"

#include <gtest/gtest.h>

#include "polyhalite/buffer_contents.h"
#include "polyhalite/error.h"

namespace polyhalite::text_test {
namespace {

void expect_round_trip(const std::string &text) { EXPECT_EQ(to_text(parse_function(text)), text); }

std::string error_of(const std::string &text) {
  try {
    parse_function(text, "blur.ir");
  } catch (const CompileError &e) {
    return e.what();
  }
  return "no error";
}

TEST(LoopIrText, MultiDimensionalReadsBack) {
  expect_round_trip(R"(func blur(in: input uint16[2], k: float32, out: output uint16[2]) {
  assert in.stride.0 == 1 else extern<int32>(polyhalite_error_generic, "blur", in.stride.0)
  let y0 = min(out.min.1, 3)
  for blur_x.s0.y in (y0, out.extent.1) parallel {
    allocate blur_x: uint16(out.min.0, out.extent.0, blur_x.s0.y, 1) stack
    produce blur_x {
      for x in (out.min.0, out.extent.0) {
        blur_x(x, blur_x.s0.y) = in(x, blur_x.s0.y) + in(x + 1, blur_x.s0.y)
      }
    }
    for xo in (0, 8) vector {
      if xo < 7 {
        out(xo, blur_x.s0.y) = blur_x(xo, blur_x.s0.y)
      } else {
        out(xo, blur_x.s0.y) = uint16(k)
      }
    }
    for c in (0, 3) unrolled {
      evaluate extern<int32>(tick, c)
    }
  }
}
)");
}

TEST(LoopIrText, MemoizeReadsBack) {
  expect_round_trip(R"(func f(k: int32, out: output int32[1]) {
  allocate f.0: int32(0, k)
  allocate f.1: uint8(0, k)
  produce f {
    memoize "out/f" of f.0, f.1 evict 7 by (0, k) {
      for x in (0, k) {
        f(x) = {x, uint8(x)}
      }
    }
  }
}
)");
  expect_round_trip(R"(func f(k: int32, out: output int32[1]) {
  allocate t: int32[64i64]
  memoize "t" of t[256i64] by () {
    t[0i64] = 1
  }
}
)");
}

TEST(LoopIrText, ProfilesAndTraceEventsReadBack) {
  expect_round_trip(R"(func f(in: input float32[1], out: output float32[1]) {
  profile {
    let trace = intrinsic<int32>(trace, "f", 8, 0, 0, "")
    for profile in (out.min.0, out.extent.0) {
      out(profile) = intrinsic<float32>(trace_access, in(profile), true, "in", 0, trace, 0, profile)
    }
    evaluate intrinsic<int32>(trace, "f", 9, trace, 0, "")
  }
}
)");
}

TEST(LoopIrText, FlatReadsBack) {
  expect_round_trip(R"(func f(in: input float32[1], out: output float32[1]) {
  allocate t: float32[64i64] stack
  for x in (0, 8) {
    let i = int64(x)*8i64
    let v = in[ramp(i, 1i64, 8) if ramp(i, 1i64, 8) < broadcast(9i64, 8)]
    t[ramp(i, 1i64, 8)] = v*broadcast(2.0f, 8)
    out[ramp(i, 2i64, 8) if ramp(x, 1, 8) < broadcast(4, 8)] = shuffle({v}, {1, 0, 3, 2, 5, 4, 7, 6})
  }
}
)");
}

TEST(LoopIrText, ScopesThatEndEarlyStandInBraces) {
  expect_round_trip(R"(func f(out: output int32[0]) {
  {
    let a = 1
    out() = a
  }
  {
    allocate t: int32()
    t() = 2
    let b = t()
    out() = b
  }
  let a = 3
  out() = a
}
)");
}

TEST(LoopIrText, ConstantsCarryTheirValues) {
  const std::string text = R"(func f(out: output uint8[1]) {
  constant lut: uint8[(-1, 2, 1), (0, 2, 2)] = {1u8, 2u8, 3u8, 255u8}
  constant w: float32[(0, 2, 1)] = {0.5f, -1.0f}
  constant s: int16[] = {-7i16}
  out(0) = lut(0, 1)
}
)";
  expect_round_trip(text);
  const Function f = parse_function(text);
  ASSERT_EQ(f.constants.size(), 3u);
  EXPECT_EQ(f.constants[0]->raw().host[3], 255);
  EXPECT_EQ(reinterpret_cast<const float *>(f.constants[1]->raw().host)[1], -1.0f);
}

TEST(LoopIrText, NamesThatBeginOtherStatementsAreQuoted) {
  expect_round_trip(R"(func `for`(`let`: input uint8[1], `produce`: output uint8[1]) {
  for `else` in (0, 4) {
    `produce`(else) = `let`(else)
  }
}
)");
}

TEST(LoopIrText, SeveralValuesAreProvidedTogether) {
  expect_round_trip(R"(func f(out: output int32[1]) {
  allocate t.0: int32(0, 4)
  allocate t.1: int32(0, 4)
  t(2) = {1, 5}
  out(0) = t(2) + t(2).1
}
)");
}

TEST(LoopIrText, AnEmptyBodyIsABlock) { expect_round_trip("func f(out: output int32[1]) {\n}\n"); }

TEST(LoopIrText, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("func f(out: output int32[1]) {\n  for x in (0) {\n  }\n}\n"),
            "blur.ir:2: error: a loop's range is (min, extent)");
  EXPECT_EQ(error_of("func f(out: output int32[1]) {\n  out 3\n}\n"),
            "blur.ir:2: error: expected '(' or '[' after the name of what is written, found '3'");
  EXPECT_EQ(error_of("func f(out: int33) {\n}\n"), "blur.ir:1: error: 'int33' is no type");
  EXPECT_EQ(error_of("func f() {\n  constant c: uint8[(0, 1, 1)] = {300}\n}\n"),
            "blur.ir:2: error: a value of constant 'c' is no constant uint8");
}

}  // namespace
}  // namespace polyhalite::text_test
