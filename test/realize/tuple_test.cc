// Tuples and several outputs, compiled and run, against plain loops.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::tuple_test {
namespace {

TEST(RealizeTuple, EveryValueHasABuffer) {
  Func f("f");
  Var x("x"), y("y");
  f(x, y) = {x + y, cast<uint8_t>(x * y), 0.5f * x};
  f.vectorize(x, 8).parallel(y);
  Realization r = f.realize({37, 11});
  ASSERT_EQ(r.size(), 3u);
  Buffer<int> a = r[0];
  Buffer<uint8_t> b = r[1];
  Buffer<float> c = r[2];
  a.for_each_element([&](int i, int j) {
    ASSERT_EQ(a(i, j), i + j);
    ASSERT_EQ(b(i, j), static_cast<uint8_t>(i * j));
    ASSERT_EQ(c(i, j), 0.5f * i);
  });
}

// A literal 0 is a null pointer, too, which must not make the braces anything else.
TEST(RealizeTuple, BracesTakeZeros) {
  Func f("f"), g("g"), h("h");
  Var x("x");
  const Expr half = x / 2;
  f(x) = {x + 1, 0};
  g(x) = {half, 0};
  h(x) = {g(x)[0], 0};
  f(x) += {half, 0};
  f(x) = {f(x)[0], 0};
  h(x) = {f(x)[0] + h(x)[0], 0};
  const Realization r = h.realize({9});
  const Buffer<int> a = r[0], b = r[1];
  for (int i = 0; i < 9; i++) {
    EXPECT_EQ(a(i), i + 1 + i / 2 + i / 2);
    EXPECT_EQ(b(i), 0);
  }
}

TEST(RealizeTuple, ValuesAreReadBeforeAnyIsWritten) {
  Func f("f");
  Var x("x");
  f(x) = {x, 100 + x};
  f(x) = {f(x)[1], f(x)[0]};
  f(x) = {f(x)[1] + 1, f(x)[0] * 2};
  for (const bool vectors : {false, true}) {
    if (vectors) {
      f.vectorize(x, 4);
      f.update(0).vectorize(x, 4);
      f.update(1).vectorize(x, 4);
    }
    Realization r = f.realize({16});
    Buffer<int> a = r[0], b = r[1];
    for (int i = 0; i < 16; i++) {
      EXPECT_EQ(a(i), i + 1);
      EXPECT_EQ(b(i), 2 * (100 + i));
    }
  }
}

TEST(RealizeTuple, StagesBetweenKeepAllValues) {
  Func f("f"), g("g");
  Var x("x"), y("y"), xo("xo"), xi("xi");
  f(x, y) = {x * 3 + y, cast<float>(x - y)};
  f(x, y)[1] += 2.0f;
  g(x, y) = cast<float>(f(x, y)[0]) + f(x + 1, y)[1];
  g.split(x, xo, xi, 8);
  f.compute_at(g, xo);
  Buffer<float> r = g.realize({32, 8});
  r.for_each_element(
      [&](int i, int j) { ASSERT_EQ(r(i, j), (i * 3 + j) + (i + 1.0f - j) + 2.0f); });
}

TEST(RealizeTuple, ArgminAndArgmaxFindTheFirstPoint) {
  Buffer<int> data(10, 7);
  data.for_each_element([&](int i, int j) { data(i, j) = (i * 7 + j * 5) % 11; });
  RDom r(data);
  Func low("low"), high("high");
  low() = argmin(data(r.x, r.y));
  high() = argmax(r, data(r.x, r.y), "named");
  int best[2][3] = {{0, 0, data(0, 0)}, {0, 0, data(0, 0)}};
  for (int j = 0; j < 7; j++) {
    for (int i = 0; i < 10; i++) {
      if (data(i, j) < best[0][2]) best[0][0] = i, best[0][1] = j, best[0][2] = data(i, j);
      if (data(i, j) > best[1][2]) best[1][0] = i, best[1][1] = j, best[1][2] = data(i, j);
    }
  }
  Realization found[2] = {low.realize(), high.realize()};
  for (int k = 0; k < 2; k++) {
    for (int v = 0; v < 3; v++) EXPECT_EQ(Buffer<int>(found[k][v])(), best[k][v]) << k << v;
  }
}

TEST(RealizeTuple, BuffersOfOneFuncHaveOneShape) {
  Func f("f");
  Var x("x");
  f(x) = {x, x + 1};
  Buffer<int> a(10), b(9);
  EXPECT_NE(message_of([&] { f.realize({a, b}); }).find("'f.1'"), std::string::npos);
}

TEST(RealizeOutputs, SeveralFuncsOfDifferentShapesThatReadEachOther) {
  Func f("f"), g("g"), h("h");
  Var x("x"), y("y");
  f(x) = x;
  h(x) = {f(x) + 17, f(x) - 17};
  g(x, y) = {f(x + y) * 2, h(x)[0] * y};
  Buffer<int> f_out(100), g0(20, 20), g1(20, 20), h0(50), h1(50);
  Pipeline({h, g, f}).realize({h0, h1, g0, g1, f_out});
  for (int i = 0; i < 100; i++) EXPECT_EQ(f_out(i), i);
  for (int i = 0; i < 50; i++) EXPECT_EQ(h0(i) - h1(i), 34);
  g0.for_each_element([&](int i, int j) {
    ASSERT_EQ(g0(i, j), (i + j) * 2);
    ASSERT_EQ(g1(i, j), (i + 17) * j);
  });
}

TEST(RealizeInline, WhatDefinitionsShareStaysShared) {
  // As a tree, the last of these has more operations than there are atoms.
  Var x("x");
  std::vector<Func> chain(2);
  chain[0](x) = cast<uint32_t>(x);
  chain[1](x) = cast<uint32_t>(x);
  std::vector<Expr> values = {cast<uint32_t>(x), cast<uint32_t>(x)};
  uint32_t wanted[2] = {3, 3};
  for (int i = 2; i < 100; i++) {
    Func next;
    next(x) = chain[i - 1](x) + chain[i - 2](x);
    chain.push_back(next);
    values.push_back(values[i - 1] + values[i - 2]);
    wanted[i % 2] = wanted[0] + wanted[1];
  }
  Func direct;
  direct(x) = values.back();
  EXPECT_EQ(Buffer<uint32_t>(chain.back().realize({4}))(3), wanted[1]);
  EXPECT_EQ(Buffer<uint32_t>(direct.realize({4}))(3), wanted[1]);
}

TEST(RealizeOutputs, SizesServeEveryOutput) {
  Func f("f"), g("g");
  Var x("x");
  f(x) = cast<float>(100 * x);
  g(x) = Tuple(cast<uint8_t>(x), cast<int16_t>(x + 1));
  Realization r = Pipeline({f, g}).realize({100});
  ASSERT_EQ(r.size(), 3u);
  EXPECT_EQ(Buffer<float>(r[0])(99), 9900.0f);
  EXPECT_EQ(Buffer<uint8_t>(r[1])(99), 99);
  EXPECT_EQ(Buffer<int16_t>(r[2])(99), 100);
}

}  // namespace
}  // namespace polyhalite::tuple_test
