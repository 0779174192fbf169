// What lowering makes of pipelines that are traced, measured or run in tasks.
#include "codegen/passes/lower.h"

#include <gtest/gtest.h>

#include "codegen/ir/text.h"
#include "codegen/ir/verify.h"
#include "lang/ir/freeze.h"
#include "polyhalite/polyhalite.h"
#include "polyhedral/judge.h"

namespace polyhalite::lower_test {
namespace {

// The lowered body from its first line that begins with `word` on.
std::string lowered(const Func &f, const std::string &word, bool profile = false) {
  const FrozenPipeline frozen = freeze({f.function()});
  const Judged judged = build_and_judge(frozen.algorithm, frozen.directives);
  LowerOptions options;
  options.bounds_queries = false;
  options.profile = profile;
  const Function function = lower("p", judged.tree, judged.survey, options);
  const auto wrong = verify(function, IrLevel::MultiDimensional);
  EXPECT_FALSE(wrong) << wrong->to_string();
  const std::string text = to_text(function);
  return text.substr(text.find("\n  " + word) + 1);
}

TEST(Lower, TracedRealizationsEncloseProductionsAndUses) {
  Var x("x");
  Func f("f"), g("g");
  f(x) = x;
  g(x) = f(x);
  f.compute_root().trace_realizations().trace_loads();
  g.trace_stores();
  EXPECT_EQ(lowered(g, "let trace "), R"(  let trace = intrinsic<int32>(trace, "p", 8, 0, 0, "")
  evaluate intrinsic<int32>(trace, "f", 10, trace, 0, "func_type_and_dim: 1 0 32 1 1", g.min.0, g.extent.0)
  evaluate intrinsic<int32>(trace, "g", 10, trace, 0, "func_type_and_dim: 1 0 32 1 1", g.min.0, g.extent.0)
  {
    allocate f: int32(g.min.0, max(g.extent.0 + g.min.0 - 1 - g.min.0 + 1, 0))
    let f.trace = intrinsic<int32>(trace, "f", 2, trace, 0, "", g.min.0, g.extent.0 + g.min.0 - 1 - g.min.0 + 1)
    produce f {
      let f.trace.produce = intrinsic<int32>(trace, "f", 4, f.trace, 0, "", g.min.0, g.extent.0 + g.min.0 - 1 - g.min.0 + 1)
      for f.s0.x in (g.min.0, g.extent.0) {
        f(f.s0.x) = f.s0.x
      }
      evaluate intrinsic<int32>(trace, "f", 5, f.trace.produce, 0, "", g.min.0, g.extent.0 + g.min.0 - 1 - g.min.0 + 1)
    }
    {
      let f.trace.consume = intrinsic<int32>(trace, "f", 6, f.trace, 0, "", g.min.0, g.extent.0 + g.min.0 - 1 - g.min.0 + 1)
      produce g {
        for g.s0.x in (g.min.0, g.extent.0) {
          let g.s0.read.0 = intrinsic<int32>(trace_access, f(g.s0.x), true, "f", 0, f.trace.consume, 0, g.s0.x)
          g(g.s0.x) = intrinsic<int32>(trace_access, g.s0.read.0, true, "g", 1, 0, 0, g.s0.x)
        }
      }
      evaluate intrinsic<int32>(trace, "f", 7, f.trace.consume, 0, "", g.min.0, g.extent.0 + g.min.0 - 1 - g.min.0 + 1)
    }
    evaluate intrinsic<int32>(trace, "f", 3, f.trace, 0, "", g.min.0, g.extent.0 + g.min.0 - 1 - g.min.0 + 1)
  }
  evaluate intrinsic<int32>(trace, "p", 9, trace, 0, "")
}
)");
}

TEST(Lower, AProfileIsBehindTheChecks) {
  Var x("x");
  Func f("f");
  f(x) = x;
  EXPECT_EQ(lowered(f, "profile", true), R"(  profile {
    produce f {
      for f.s0.x in (f.min.0, f.extent.0) {
        f(f.s0.x) = f.s0.x
      }
    }
  }
}
)");
}

int count_of(const std::string &word, const std::string &text) {
  int n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) n++;
  return n;
}

TEST(Lower, AnAsyncProductionIsDoneOnceThoughAWaitCutsIt) {
  Var x("x"), y("y");
  Func f("f"), g("g"), h("h");
  f(x, y) = x + y;
  g(x, y) = f(x, y);
  g(x, y) += x;
  h(x, y) = g(x, y);
  f.compute_at(h, y).store_root().async();
  g.compute_at(h, y).store_root().async();
  const std::string text = lowered(h, "fork");
  EXPECT_EQ(count_of("release g.ready.0", text), 1) << text;
  EXPECT_GT(text.find("release g.ready.0"), text.find("g.s1.x in")) << text;
}

TEST(Lower, AnAsyncProductionIsDoneOnceThoughStorageCutsIt) {
  Var x("x"), y("y");
  Func f("f"), g("g"), h("h");
  f(x) = x;
  g(x, y) = f(x - 1) + f(x);
  g(x, y) += f(x - 2);
  h(x, y) = g(x, y) + g(x + 1, y);
  f.compute_at(g, x).store_root();
  g.compute_root().async();
  const std::string text = lowered(h, "fork");
  EXPECT_EQ(count_of("release g.ready.0", text), 1) << text;
  EXPECT_GT(text.find("release g.ready.0"), text.find("g.s1.x in")) << text;
}

// A loop between the window's and what is new of it asks again and again.
TEST(Lower, WindowsThatALoopInsideComputesMoveOnMostly) {
  Var x("x"), y("y");
  for (const bool inside : {true, false}) {
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x, y + 1);
    f.store_root().compute_at(g, inside ? x : y);
    const std::string text = lowered(g, "for");
    EXPECT_EQ(count_of("let f.new.1 = select(g.s0.y <= g.min.1, g.s0.y, likely(g.s0.y + 1))", text),
              inside ? 1 : 0)
        << text;
    EXPECT_EQ(count_of("let f.new.1 = select(g.s0.y <= g.min.1, g.s0.y, g.s0.y + 1)", text),
              inside ? 0 : 1)
        << text;
  }
}

// Rows that begin inside of a line end in one line more.
TEST(Lower, APrefetchAsksForTheLineThatARowEndsIn) {
  Var x("x"), y("y"), strip("strip");
  for (const bool whole : {true, false}) {
    ImageParam in(Float(32), 2, "in");
    in.dim(0).set_bounds(0, whole ? 96 : 97);
    in.dim(1).set_min(0).set_stride(whole ? 96 : 97);
    Func f("f");
    f(x, y) = in(x, y);
    f.output_buffer().dim(0).set_bounds(0, 96);
    f.split(x, strip, x, 32).reorder(x, y, strip);
    f.prefetch(in, y, y, 2, PrefetchBoundStrategy::NonFaulting);
    const std::string text = lowered(f, "produce");
    EXPECT_EQ(count_of(whole ? "in.prefetch.0.0 in (0, 2)" : "in.prefetch.0.0 in (0, 3)", text), 1)
        << text;
    EXPECT_EQ(count_of("prefetch, in(min(", text), whole ? 0 : 1) << text;
  }
}

// What the next strip of the consumer will need goes to the second cache.
TEST(Lower, APrefetchFromAConsumersLoop) {
  Var x("x"), y("y"), strip("strip");
  for (const bool far : {true, false}) {
    ImageParam in(Float(32), 2, "in");
    Func f("f"), g("g");
    f(x, y) = in(x, y) + 1.0f;
    g(x, y) = f(x, y) * 2.0f;
    g.output_buffer().dim(0).set_bounds(0, 96);
    g.split(x, strip, x, 32).reorder(x, y, strip);
    f.compute_at(g, strip).prefetch(in, y, far ? strip : y, 1, PrefetchBoundStrategy::NonFaulting);
    const std::string text = lowered(g, "produce");
    EXPECT_EQ(count_of(far ? "g.s0.strip*32 + 63)" : "f.s0.y + 1", text), 1) << text;
    EXPECT_EQ(count_of(far ? ", 2)\n" : ", 1)\n", text), 1) << text;
  }
}

// What a later row will need goes there, too, where each of this one's points asks for its own.
TEST(Lower, APrefetchFromALoopAroundItsOwn) {
  Var x("x"), y("y");
  for (const bool far : {true, false}) {
    ImageParam in(Float(32), 2, "in");
    Func f("f");
    f(x, y) = in(x, y) + 1.0f;
    f.prefetch(in, x, far ? y : x, 2, PrefetchBoundStrategy::NonFaulting);
    const std::string text = lowered(f, "produce");
    EXPECT_GE(count_of(far ? "f.s0.y + 2" : "f.s0.x + 2", text), 1) << text;
    EXPECT_EQ(count_of(far ? ", 2)\n" : ", 1)\n", text), 1) << text;
  }
}

}  // namespace
}  // namespace polyhalite::lower_test
