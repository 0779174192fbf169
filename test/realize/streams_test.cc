// Loads and stores past the caches, compiled and run: values are those of ordinary ones.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::streams_test {
namespace {

class Streams : public testing::Test {
 protected:
  Var x{"x"}, y{"y"}, yo{"yo"};
  ImageParam in{UInt(16), 2, "in"};
  Func f{"f"}, g{"g"};
  Streams() {
    f(x, y) = in(x, y) * 3 + in(x + 1, y);
    g(x, y) = f(x, y) + f(x, y + 1) + in(x, y);
  }
  // Of several widths: rows begin at all alignments.
  void expect_right() {
    for (const int width : {5, 16, 64, 67}) {
      constexpr int kHeight = 19;
      Buffer<uint16_t> image(width + 1, kHeight + 1);
      image.for_each_element(
          [&](int i, int j) { image(i, j) = static_cast<uint16_t>(i * 7 + j * 131); });
      in.set(image);
      Buffer<uint16_t> out = g.realize({width, kHeight});
      auto value = [&](int i, int j) { return image(i, j) * 3 + image(i + 1, j); };
      int wrong = 0;
      out.for_each_element([&](int i, int j) {
        wrong += out(i, j) != static_cast<uint16_t>(value(i, j) + value(i, j + 1) + image(i, j));
      });
      EXPECT_EQ(wrong, 0) << width;
    }
  }
};

TEST_F(Streams, BetweenParallelLoops) {
  f.compute_root().stream_stores().parallel(y).vectorize(x, 16, TailStrategy::GuardWithIf);
  g.stream_loads().stream_stores().parallel(y).vectorize(x, 32, TailStrategy::GuardWithIf);
  expect_right();
}

TEST_F(Streams, FromASerialLoopToAParallelOne) {
  f.compute_root().stream_stores().vectorize(x, 8, TailStrategy::GuardWithIf);
  g.split(y, yo, y, 4).parallel(yo).stream_loads({f, in});
  expect_right();
}

TEST_F(Streams, InsideATask) {
  g.split(y, yo, y, 4).parallel(yo).vectorize(x, 8, TailStrategy::GuardWithIf);
  f.compute_at(g, yo).stream_stores().stream_loads({in}).vectorize(x, 8, TailStrategy::GuardWithIf);
  expect_right();
}

TEST_F(Streams, BetweenAsynchronousTasks) {
  f.store_root().compute_at(g, y).stream_stores().async().vectorize(x, 8,
                                                                    TailStrategy::GuardWithIf);
  g.stream_loads({f});
  expect_right();
}

TEST_F(Streams, OfABranchOnly) {
  f.compute_root();
  g.specialize(in.dim(0).extent() > 20).stream_stores().vectorize(x, 16);
  expect_right();
}

TEST(StreamWords, AnUpdateOfEachCell) {
  Var x("x"), y("y");
  Func f("f"), g("g");
  f(x, y) = x + y;
  f(x, y) += x * y;
  g(x, y) = f(x, y) + f(x, y + 1);
  f.compute_root().vectorize(x, 8);
  f.update().stream_stores().vectorize(x, 8).parallel(y);
  Buffer<int32_t> out = g.realize({32, 8});
  int wrong = 0;
  out.for_each_element(
      [&](int i, int j) { wrong += out(i, j) != i + j + i * j + i + (j + 1) + i * (j + 1); });
  EXPECT_EQ(wrong, 0);
}

TEST(StreamWords, RefusedAtTheCall) {
  Var x("x");
  ImageParam indices(Int(32), 1, "indices");
  RDom r(0, 100, "r");
  Func hist("hist"), undefined("undefined");
  hist(x) = 0;
  hist(indices(r)) += 1;
  EXPECT_EQ(message_of([&] { hist.update(0).stream_stores(); }),
            at(__LINE__ - 1) +
                "error: cannot stream the stores of update 0 of 'hist'\n"
                "  why: its steps along the reduction variable 'r' may write one "
                "cell in turn\n"
                "  fix: stream the stores of a definition that writes each cell once");
  EXPECT_EQ(message_of([&] { hist.update(0).stream_loads({hist}); }),
            at(__LINE__ - 1) +
                "error: cannot stream loads of 'hist' in update 0 of 'hist'\n"
                "  why: what a Func reads of itself it has just written\n"
                "  fix: name other Funcs, and images");
  EXPECT_EQ(message_of([&] { undefined.stream_stores(); }),
            at(__LINE__ - 1) +
                "error: cannot stream the stores of 'undefined'\n"
                "  why: the Func is undefined\n"
                "  fix: define the Func before its schedule");
  hist.stream_stores().stream_loads(std::vector<Func>{});
}

TEST(StreamWords, SmeIsNotAvailable) {
  Var x("x");
  Func f("f");
  f(x) = x;
  f.sme_streaming();
  EXPECT_EQ(message_of([&] { f.compile_jit(); }),
            at(__LINE__ - 2) +
                "error: cannot sme_streaming on 'f': the streaming mode of SME is not "
                "available\n"
                "  why: code is made for the processor only\n"
                "  fix: leave the directive out");
}

TEST(StageHandles, ListTheirLoops) {
  Var x("x"), xo("xo"), xi("xi");
  RDom r(0, 4, "r");
  Func f("f");
  f(x) = 0;
  f(x) += r;
  f.update().split(x, xo, xi, 4);
  const auto vars = f.update().split_vars();
  ASSERT_EQ(vars.size(), 4u);
  EXPECT_TRUE(vars[0].is_rvar);
  EXPECT_EQ(vars[1].name, "xi");
  EXPECT_FALSE(vars[1].is_rvar);
  EXPECT_EQ(vars[2].name, "xo");
  EXPECT_EQ(vars[3].name, Var::outermost().name());
  EXPECT_EQ(f.split_vars()[0].name, "x");
  f.host(x).host();
  EXPECT_EQ(message_of([&] { f.update().host(x); }),
            at(__LINE__ - 1) +
                "error: cannot host 'x': update 0 of 'f' has no such loop\n"
                "  fix: its loops are, outermost first: xo, xi, r");
}

}  // namespace
}  // namespace polyhalite::streams_test
