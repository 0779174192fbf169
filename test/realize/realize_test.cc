// Pipelines compiled and run in process, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::realize_test {
namespace {

Buffer<uint16_t> test_image(int width, int height) {
  Buffer<uint16_t> b(width, height);
  b.for_each_element([&](int x, int y) { b(x, y) = static_cast<uint16_t>(x * 7 + y * 13); });
  return b;
}

struct Blur {
  ImageParam input{UInt(16), 2, "input"};
  Param<int> bias{"bias", 3};
  Func rows{"rows"}, output{"blurred"};
  Var x{"x"}, y{"y"};
  Blur() {
    rows(x, y) = (input(x, y) + input(x + 1, y) + input(x + 2, y)) / 3;
    output(x, y) = cast<uint16_t>((rows(x, y) + rows(x, y + 1) + rows(x, y + 2)) / 3 + bias);
  }
};

int wrong_pixels(const Buffer<uint16_t> &in, const Buffer<uint16_t> &out, int bias) {
  int wrong = 0;
  out.for_each_element([&](int x, int y) {
    int rows[3];
    for (int j = 0; j < 3; j++) {
      rows[j] = (in(x, y + j) + in(x + 1, y + j) + in(x + 2, y + j)) / 3;
    }
    wrong += out(x, y) != (rows[0] + rows[1] + rows[2]) / 3 + bias;
  });
  return wrong;
}

TEST(Realize, WithAndWithoutASchedule) {
  const Buffer<uint16_t> in = test_image(66, 50);
  Blur b;
  b.input.set(in);
  EXPECT_EQ(wrong_pixels(in, b.output.realize({64, 48}), 3), 0);
  Var xi, yi;
  b.output.tile(b.x, b.y, xi, yi, 16, 8).vectorize(xi, 8).parallel(b.y);
  b.rows.compute_at(b.output, b.x).vectorize(b.x, 8);
  EXPECT_EQ(wrong_pixels(in, b.output.realize({64, 48}), 3), 0);
}

TEST(Realize, ParamsAreReadAtEachCall) {
  const Buffer<uint16_t> in = test_image(18, 18);
  Blur b;
  b.input.set(in);
  EXPECT_EQ(wrong_pixels(in, b.output.realize({16, 16}), 3), 0);
  b.bias.set(100);
  EXPECT_EQ(wrong_pixels(in, b.output.realize({16, 16}), 100), 0);
}

TEST(Realize, IntoABufferWithAnotherOrigin) {
  const Buffer<uint16_t> in = test_image(40, 40);
  Blur b;
  b.input.set(in);
  Buffer<uint16_t> out(8, 8);
  out.set_min(20, 10);
  b.output.realize(out);
  EXPECT_EQ(wrong_pixels(in, out, 3), 0);
}

TEST(Realize, FromManyThreads) {
  const Buffer<uint16_t> in = test_image(66, 50);
  Blur b;
  b.input.set(in);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, -1);
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&, i] { wrong[i] = wrong_pixels(in, b.output.realize({64, 48}), 3); });
  }
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Realize, HistogramOfAConstantBuffer) {
  const Buffer<uint16_t> in = test_image(30, 20);
  Var x("x");
  Func histogram("histogram");
  RDom r(in);
  histogram(x) = 0;
  histogram(cast<int>(in(r.x, r.y)) % 16) += 1;
  const Buffer<int> counts = histogram.realize({16});
  std::vector<int> expected(16, 0);
  in.for_each_element([&](int i, int j) { expected[in(i, j) % 16]++; });
  for (int i = 0; i < 16; i++) EXPECT_EQ(counts(i), expected[i]) << i;
}

TEST(Realize, InlineReductionOverARepeatedEdge) {
  const Buffer<uint16_t> in = test_image(9, 7);
  ImageParam image(UInt(16), 2, "image");
  image.set(in);
  Var x("x"), y("y");
  RDom r(-1, 3, -1, 3);
  Func edge = BoundaryConditions::repeat_edge(image), sums("sums"), most("most");
  sums(x, y) = sum(cast<int>(edge(x + r.x, y + r.y)));
  most(x, y) = maximum(edge(x + r.x, y + r.y));
  const Buffer<int> s = sums.realize({9, 7});
  const Buffer<uint16_t> m = most.realize({9, 7});
  s.for_each_element([&](int i, int j) {
    int total = 0;
    uint16_t top = 0;
    for (int dy = -1; dy <= 1; dy++) {
      for (int dx = -1; dx <= 1; dx++) {
        const uint16_t v = in(std::clamp(i + dx, 0, 8), std::clamp(j + dy, 0, 6));
        total += v;
        top = std::max(top, v);
      }
    }
    EXPECT_EQ(s(i, j), total);
    EXPECT_EQ(m(i, j), top);
  });
}

TEST(Realize, InlineReductionsInVectorsAskForNoMoreOfTheInput) {
  for (TailStrategy tail : {TailStrategy::GuardWithIf, TailStrategy::Predicate,
                            TailStrategy::ShiftInwards, TailStrategy::Auto}) {
    for (int n : {8, 10, 17}) {
      Buffer<int32_t> in(n + 3, 5);
      in.fill([](int x, int y) { return x * x + 7 * y; });
      Func f("f");
      Var x("x"), y("y");
      RDom r(0, 4);
      f(x, y) = sum(in(x + r, y)) + maximum(in(x + r, y));
      f.vectorize(x, 8, tail);
      const Buffer<int32_t> out = f.realize({n, 5});
      int wrong = 0;
      out.for_each_element([&](int i, int j) {
        int total = 0, most = in(i, j);
        for (int k = 0; k < 4; k++) {
          total += in(i + k, j);
          most = std::max(most, in(i + k, j));
        }
        wrong += out(i, j) != total + most;
      });
      EXPECT_EQ(wrong, 0) << n;
    }
  }
}

TEST(Realize, ConstantExteriorIsTheConstantOutside) {
  Buffer<float> in(4);
  in.fill(2.0f);
  Var x("x");
  Func f("f");
  f(x) = BoundaryConditions::constant_exterior(in, 7.0f)(x - 2);
  const Buffer<float> out = f.realize({8});
  const std::vector<float> expected{7, 7, 2, 2, 2, 2, 7, 7};
  for (int i = 0; i < 8; i++) EXPECT_EQ(out(i), expected[i]) << i;
}

TEST(Realize, SeveralOutputs) {
  Var x("x");
  Func common("common"), doubled("doubled"), tripled("tripled");
  common(x) = x + 1;
  doubled(x) = common(x) * 2;
  tripled(x) = cast<float>(common(x) * 3);
  common.compute_root();
  Realization r = Pipeline(std::vector<Func>{doubled, tripled}).realize({5});
  ASSERT_EQ(r.size(), 2u);
  const Buffer<int> two = r[0];
  const Buffer<float> three = r[1];
  EXPECT_EQ(two(4), 10);
  EXPECT_EQ(three(4), 15.0f);
}

TEST(Realize, UnboundInputIsNamed) {
  Blur b;
  EXPECT_EQ(message_of([&] { b.output.realize({4, 4}); }),
            at(__LINE__ - 1) +
                "error: ImageParam 'input' is not bound\n"
                "  why: the pipeline reads it, and no Buffer was set\n"
                "  fix: call set(buffer) before realize");
}

TEST(Realize, WrongNumberOfSizesIsRefused) {
  Blur b;
  EXPECT_EQ(message_of([&] { b.output.realize({4}); }),
            at(__LINE__ - 1) +
                "error: realize() of 'blurred' got 1 sizes\n"
                "  why: it has 2 dimensions\n"
                "  fix: give one extent for each dimension");
}

TEST(Realize, InputThatIsTooSmallIsARuntimeError) {
  Blur b;
  b.input.set(test_image(10, 66));
  try {
    b.output.realize({64, 48});
    FAIL() << "no error";
  } catch (const RuntimeError &e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("input"), std::string::npos) << text;
    EXPECT_NE(text.find("65"), std::string::npos) << text;
    EXPECT_NE(text.find("9"), std::string::npos) << text;
  }
}

TEST(Realize, ConstraintsOnAnOutputAfterARunCount) {
  Var x("x");
  Func f("f");
  f(x) = x;
  Buffer<int> every_other(8);
  every_other.fill(-1);
  polyhalite_dimension_t shape{0, 4, 2};
  Buffer<int> out(every_other.data(), 1, &shape);
  EXPECT_THROW(f.realize(out), RuntimeError);
  f.output_buffer().dim(0).set_stride(Expr());
  f.realize(out);
  for (int i = 0; i < 8; i++) EXPECT_EQ(every_other(i), i % 2 ? -1 : i / 2);
}

TEST(Realize, MistypedOutputIsARuntimeError) {
  Blur b;
  b.input.set(test_image(10, 10));
  Buffer<float> out(4, 4);
  EXPECT_THROW(b.output.realize(out), RuntimeError);
}

}  // namespace
}  // namespace polyhalite::realize_test
