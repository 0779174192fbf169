// Memoized Funcs: what is kept between runs, what is computed again, and what may not be kept.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "lang/abi/polyhalite_memoize.h"
#include "lang/interpret/interpret.h"
#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::memoize_test {
namespace {

std::atomic<int> calls{0};

// value, and says that it was computed.
int counted(int value) {
  calls++;
  return value;
}

Expr count(const Expr &e) { return extern_call(Int(32), "ph_counted", {e}, {Int(32)}); }

class Memoize : public testing::Test {
 protected:
  Memoize() {
    polyhalite_memoization_cache_set_size(1 << 20);
    polyhalite_memoization_cache_cleanup();
    calls = 0;
  }
  ~Memoize() override {
    polyhalite_memoization_cache_set_size(0);
    polyhalite_memoization_cache_cleanup();
  }
  static const std::map<std::string, JITExtern> &externs() {
    static const std::map<std::string, JITExtern> map = {{"ph_counted", JITExtern(counted)}};
    return map;
  }

  // f(x) = x * k, memoized, in out(x) = f(x) + f(x + 1).
  struct Products {
    Func f{"f"}, out{"out"};
    Var x{"x"};
    Param<int> k{"k"};
    Products() {
      f(x) = count(x * k);
      out(x) = f(x) + f(x + 1);
      out.set_jit_externs(externs());
      f.compute_root();
    }
    void expect_right(int value) {
      k.set(value);
      const Buffer<int> b = out.realize({20});
      for (int i = 0; i < 20; i++) ASSERT_EQ(b(i), (2 * i + 1) * value) << i;
    }
  };
};

TEST_F(Memoize, TakesWhatIsKept) {
  Products p;
  p.f.memoize();
  p.expect_right(3);
  EXPECT_EQ(calls, 21);
  p.expect_right(3);
  EXPECT_EQ(calls, 21);
}

TEST_F(Memoize, ComputesForOtherInputsAndOtherBoxes) {
  Products p;
  p.f.memoize();
  p.expect_right(3);
  p.expect_right(4);
  EXPECT_EQ(calls, 42);
  p.expect_right(3);
  EXPECT_EQ(calls, 42);
  p.out.realize({5});
  EXPECT_EQ(calls, 48);
}

TEST_F(Memoize, ProducersInputsCount) {
  Func f("f"), g("g"), out("out");
  Var x("x");
  Param<int> k("k"), unused("unused");
  RDom r(0, k, "r");
  g(x) = x;
  g(r) += k;
  f(x) = count(g(x));
  out(x) = f(x) + unused;
  g.compute_root();
  f.compute_root().memoize();
  out.set_jit_externs(externs());
  k.set(2);
  unused.set(1);
  EXPECT_EQ(Buffer<int>(out.realize({6}))(1), 4);
  unused.set(5);
  EXPECT_EQ(Buffer<int>(out.realize({6}))(1), 8);
  EXPECT_EQ(calls, 6);
  k.set(3);
  EXPECT_EQ(Buffer<int>(out.realize({6}))(1), 9);
  EXPECT_EQ(calls, 12);
}

TEST_F(Memoize, ImagesCountByTheirShape) {
  ImageParam in(Int(32), 1, "in");
  Func f("f"), out("out");
  f() = count(in.dim(0).extent());
  out() = f();
  f.compute_root().memoize();
  out.set_jit_externs(externs());
  for (int extent : {4, 4, 7}) {
    Buffer<int> b(extent);
    in.set(b);
    EXPECT_EQ(Buffer<int>(out.realize())(), extent);
  }
  EXPECT_EQ(calls, 2);
}

TEST_F(Memoize, TagsStandForValues) {
  ImageParam in(Int(32), 1, "in");
  Param<int> version("version");
  Param<float> scale("scale");
  Func f("f"), out("out");
  Var x("x");
  f(x) = count(memoize_tag(in(x), version) * memoize_tag(cast<int>(scale)));
  out(x) = f(x);
  f.compute_root().memoize();
  out.set_jit_externs(externs());
  Buffer<int> b(4);
  b.fill(5);
  in.set(b);
  version.set(1);
  scale.set(2.25f);
  EXPECT_EQ(Buffer<int>(out.realize({4}))(0), 10);
  scale.set(2.75f);
  b.fill(6);
  EXPECT_EQ(Buffer<int>(out.realize({4}))(0), 10);  // as the tags say
  version.set(2);
  EXPECT_EQ(Buffer<int>(out.realize({4}))(0), 12);
  EXPECT_EQ(calls, 8);
}

TEST_F(Memoize, AllValuesOfATuple) {
  Func f("f"), out("out");
  Var x("x"), y("y");
  f(x, y) = Tuple(count(x + y), cast<uint8_t>(x), cast<double>(y));
  out(x, y) = Tuple(f(x, y)[0], f(x, y)[1], f(x, y)[2]);
  f.compute_root().memoize().reorder_storage(y, x).align_storage(y, 8);
  out.set_jit_externs(externs());
  for (int run = 0; run < 2; run++) {
    Realization r = out.realize({5, 3});
    const Buffer<int> sums = r[0];
    const Buffer<uint8_t> xs = r[1];
    const Buffer<double> ys = r[2];
    for (int j = 0; j < 3; j++) {
      for (int i = 0; i < 5; i++) {
        ASSERT_EQ(sums(i, j), i + j);
        ASSERT_EQ(xs(i, j), i);
        ASSERT_EQ(ys(i, j), j);
      }
    }
  }
  EXPECT_EQ(calls, 15);
}

TEST_F(Memoize, AtLoopsAndInParallel) {
  Func f("f"), out("out");
  Var x("x"), y("y"), yo("yo"), yi("yi");
  f(x, y) = count(x * x);
  f(x, y) += y % 4;
  out(x, y) = f(x, y % 4) + f(x + 1, y % 4);
  out.bound(x, 0, 16).split(y, yo, yi, 4).parallel(yo);
  f.compute_at(out, yi).memoize();
  out.set_jit_externs(externs());
  const Buffer<int> b = out.realize({16, 64});
  for (int j = 0; j < 64; j++) {
    for (int i = 0; i < 16; i++) {
      ASSERT_EQ(b(i, j), i * i + (i + 1) * (i + 1) + 2 * (j % 4));
    }
  }
  EXPECT_LT(calls, 17 * 64);  // four boxes at least once, by each thread at most
}

// Both points of out ask for a storage of [0, 1]; the update runs where out reads it.
TEST_F(Memoize, PartsThatUpdatesReachCount) {
  Func f("f"), out("out");
  Var x("x");
  f(x) = 1;
  f(1) = f(0) + 1;
  f(x) += 10;
  out(x) = f(x);
  f.compute_at(out, x).memoize();
  for (int run = 0; run < 2; run++) {
    const Buffer<int> b = out.realize({2});
    EXPECT_EQ(b(0), 11) << run;
    EXPECT_EQ(b(1), 12) << run;
  }
}

// Storage around one stage parts the production; each part is kept as it leaves the values.
TEST_F(Memoize, PartsOfAProductionAreKeptApart) {
  Func f("f"), sum("sum"), out("out");
  Var x("x");
  RDom r(0, 3, "r");
  Param<int> k("k");
  sum(x) += count(x + r + k) * 2;
  f(x) = sum(x);
  f(x) += k;
  out(x) = f(x) + 1;
  out.bound(x, 0, 8).set_jit_externs(externs());
  f.compute_root().memoize(k);
  sum.compute_at(f, x);
  Func made = sum.update().hoist_invariants()[0];
  made.compute_at(sum, x).store_root();
  const std::string text = out.emit_text(Emit::stmt, {k});
  EXPECT_NE(text.find("memoize \"out/f.s0\" of f"), std::string::npos) << text;
  EXPECT_NE(text.find("memoize \"out/f\" of f"), std::string::npos) << text;
  for (const int computed : {24, 0}) {
    for (const int value : {3, 4}) {
      calls = 0;
      k.set(value);
      const Buffer<int> b = out.realize({8});
      for (int i = 0; i < 8; i++) EXPECT_EQ(b(i), 2 * (3 * i + 3 + 3 * value) + value + 1) << i;
      EXPECT_EQ(calls, computed);
    }
  }
}

// A production that is kept does not run, and leaves nothing of its producers to the next one.
TEST_F(Memoize, WindowsDoNotSlideFromOneProductionToTheNext) {
  Func g("g"), f("f"), out("out");
  Var x("x"), y("y");
  g(x, y) = x + 10 * y;
  f(x, y) = g(x, y) + g(x, y + 1);
  out(x, y) = f(x, y);
  f.compute_at(out, y).memoize();
  g.compute_at(f, y).store_root();
  Buffer<int> rows(4, 3), all(4, 10);
  rows.set_min(0, 3);
  out.realize(rows);
  out.realize(all);
  all.for_each_element(
      [&](int i, int j) { EXPECT_EQ(all(i, j), 2 * i + 20 * j + 10) << i << " " << j; });
}

TEST_F(Memoize, ClonesShareWhatTheyKeep) {
  Func f("f"), g("g"), h("h");
  Var x("x"), y("y");
  f(x, y) = count(x + y);
  g(x, y) = f(x, y) * 2;
  h(x, y) = f(x, y) + g(x, y);
  g.compute_root();
  f.clone_in(h).compute_at(h, y).memoize();
  f.compute_at(g, y).memoize();
  h.bound(x, 0, 64).bound(y, 0, 8);
  h.set_jit_externs(externs());
  const Buffer<int> b = h.realize({64, 8});
  EXPECT_EQ(b(7, 5), 36);
  EXPECT_EQ(calls, 64 * 8);
}

TEST_F(Memoize, EvictsByKey) {
  Func one("one"), two("two"), three("three"), out("out");
  Param<void *> handle("handle");
  one() = count(1);
  two() = count(2);
  three() = count(3);
  out() = one() + two() + three();
  one.compute_root().memoize(EvictionKey(-7));
  two.compute_root().memoize(EvictionKey(handle));
  three.compute_root().memoize();
  out.set_jit_externs(externs());
  handle.set(static_cast<void *>(&calls));
  auto run = [&] {
    calls = 0;
    EXPECT_EQ(Buffer<int>(out.realize())(), 6);
    return calls.load();
  };
  EXPECT_EQ(run(), 3);
  EXPECT_EQ(run(), 0);
  polyhalite_memoization_cache_evict(nullptr, 7);
  EXPECT_EQ(run(), 0);
  polyhalite_memoization_cache_evict(nullptr, static_cast<uint64_t>(int64_t{-7}));
  EXPECT_EQ(run(), 1);
  polyhalite_memoization_cache_evict(nullptr, reinterpret_cast<uintptr_t>(&calls));
  EXPECT_EQ(run(), 1);
  polyhalite_memoization_cache_evict(nullptr, 0);
  EXPECT_EQ(run(), 0);
  polyhalite_memoization_cache_cleanup();
  EXPECT_EQ(run(), 3);
}

TEST_F(Memoize, KeepsNoMoreThanItsSize) {
  Products p;
  p.f.memoize();
  polyhalite_memoization_cache_set_size(2 * 21 * 4);
  for (int k : {1, 2, 3}) p.expect_right(k);
  EXPECT_EQ(calls, 63);
  p.expect_right(2);
  p.expect_right(3);
  EXPECT_EQ(calls, 63);
  p.expect_right(1);  // was dropped; now 2 is
  EXPECT_EQ(calls, 84);
  p.expect_right(3);
  EXPECT_EQ(calls, 84);
  polyhalite_memoization_cache_set_size(20 * 4);  // too small for any
  p.expect_right(3);
  p.expect_right(3);
  EXPECT_EQ(calls, 126);
}

TEST_F(Memoize, FailedProductionsAreNotKept) {
  Func f("f"), out("out");
  Var x("x");
  Param<int> k("k"), limit("limit");
  f(x) = count(require(x < memoize_tag(limit, 0), x, "too many"));
  out(x) = f(x) + k;
  f.compute_root().memoize();
  out.set_jit_externs(externs());
  k.set(0);
  limit.set(3);
  EXPECT_NE(message_of([&] { out.realize({5}); }).find("too many"), std::string::npos);
  limit.set(5);
  const Buffer<int> b = out.realize({5});
  for (int i = 0; i < 5; i++) EXPECT_EQ(b(i), i);
}

TEST_F(Memoize, WhatIsNotProducedIsNotKept) {
  Func f("f"), out("out");
  Var x("x");
  Param<bool> use("use");
  f(x) = count(x + 1);
  out(x) = select(use, f(x), -1);
  f.compute_root().memoize();
  out.set_jit_externs(externs());
  for (bool b : {false, true, false, true}) {
    use.set(b);
    const Buffer<int> result = out.realize({9});
    for (int i = 0; i < 9; i++) ASSERT_EQ(result(i), b ? i + 1 : -1);
  }
  EXPECT_EQ(calls, 9);
}

TEST_F(Memoize, OtherPipelinesHaveOtherValues) {
  for (int k : {1, 2}) {
    Func f("f"), out("out");
    Var x("x");
    f(x) = x * k;
    out(x) = f(x);
    f.compute_root().memoize();
    EXPECT_EQ(Buffer<int>(out.realize({4}))(3), 3 * k);
  }
}

TEST_F(Memoize, ManyThreads) {
  Products p;
  p.f.memoize();
  polyhalite_memoization_cache_set_size(5 * 301 * 4);
  p.k.set(1);
  const Callable c = p.out.compile_to_callable({p.k});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; i++) {
        const int k = (i * 7 + t) % 9;
        Buffer<int> b(300);
        c(k, b);
        for (int x = 0; x < 300; x++) wrong += b(x) != (2 * x + 1) * k;
        if (i % 50 == 0) polyhalite_memoization_cache_cleanup();
      }
    });
  }
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(Memoize, SchedulesThatCannotKeep) {
  Func f("f"), g("g"), out("out");
  Var x("x"), y("y");
  ImageParam in(Int(32), 1, "in");
  Param<void *> handle("handle");
  auto refused = [&](const std::function<void()> &schedule) {
    f = Func("f");
    g = Func("g");
    out = Func("out");
    f(x, y) = x + y;
    g(x, y) = x - y;
    out(x, y) = f(x, y) + f(x, y + 1) + g(x, y);
    g.compute_root();
    const std::string message = message_of([&] {
      schedule();
      out.compile_jit();
    });
    return message.substr(message.find("error"));
  };
  EXPECT_EQ(refused([&] { out.memoize(); }),
            "error: cannot memoize 'out': it is an output of the pipeline\n"
            "  why: an output's memory is the caller's\n"
            "  fix: memoize a Func that the output copies");
  EXPECT_EQ(refused([&] { f.memoize(); }),
            "error: cannot memoize 'f': it is computed inline\n"
            "  why: only a Func with a compute level has storage and productions of its own\n"
            "  fix: add compute_root or compute_at, or drop memoize");
  EXPECT_EQ(refused([&] {
              Func h("h"), part("part");
              h(x, y) = x + y;
              part(x, y) = h(x, y) + h(x, y + 1);
              f = Func("f");
              f(x, y) = part(x, y);
              out = Func("out");
              out(x, y) = f(x, y);
              f.compute_root().memoize();
              part.compute_at(f, y);
              h.compute_at(f, y).store_root().async();
            }),
            "error: cannot memoize 'f': a task around it computes 'h' inside of it\n"
            "  why: where the values are kept, neither task may wait for the other\n"
            "  fix: drop async of 'h', or store it inside a loop of 'f'");
  EXPECT_EQ(refused([&] { g.compute_at(out, x).store_at(out, y).memoize(); }),
            "error: cannot memoize 'g': it is stored at another level than it is computed\n"
            "  why: what is kept is a whole storage, as one production leaves it\n"
            "  fix: drop store_at or store_root");
  EXPECT_EQ(refused([&] {
              f.compute_root();
              g.compute_with(f, y);
              f.memoize();
            }),
            "error: cannot memoize 'f': it is computed with another Func\n"
            "  why: where the values are kept, its loops do not run, and the other's must\n"
            "  fix: drop compute_with");
  EXPECT_EQ(refused([&] {
              f = Func("f");
              f(x, y) = in(x);
              out = Func("out");
              out(x, y) = f(x, y);
              f.compute_root().memoize();
            }),
            "error: cannot memoize 'f'\n"
            "  why: it reads 'in', whose elements may differ in the next run\n"
            "  fix: say with memoize_tag(value, keys...) what stands for it");
  EXPECT_EQ(refused([&] {
              f = Func("f");
              f(x, y) = extern_call(Int(32), "ph_no_such", {handle}, {Handle()});
              out = Func("out");
              out(x, y) = f(x, y);
              f.compute_root().memoize();
            }),
            "error: cannot memoize 'f'\n"
            "  why: it depends on the handle 'handle', and what that points to may change\n"
            "  fix: say with memoize_tag(value, keys...) what stands for it");
  EXPECT_EQ(refused([&] { f.compute_root().memoize(1).memoize(2); }),
            "error: 'f' is memoized under another eviction key already\n"
            "  why: what a Func keeps has one\n"
            "  fix: call memoize() once");
  EXPECT_EQ(refused([&] { f.compute_root().memoize(1.5f); }),
            "error: the eviction key of 'f' has type float32\n"
            "  why: entries are known by a number of 64 bits\n"
            "  fix: give an integer or a handle");
}

TEST_F(Memoize, InterpretsAsItRuns) {
  Products p;
  p.f.memoize();
  p.k.set(5);
  p.out.realize({30});
  const Buffer<int> kept = p.out.realize({30});
  Func f("f"), out("out");
  f(p.x) = p.x * p.k;
  out(p.x) = f(p.x) + f(p.x + 1);
  Buffer<int> expected(30);
  interpret(freeze({out.function()}).algorithm, {}, {}, {expected.raw_buffer()});
  int differences = 0;
  kept.for_each_value([&](int a, int b) { differences += a != b; }, expected);
  EXPECT_EQ(differences, 0);
}

TEST_F(Memoize, LoopIrSaysWhatIsKept) {
  Func f("f"), out("out");
  Var x("x");
  Param<int> k("k");
  f(x) = x + k;
  out(x) = f(x);
  out.bound(x, 0, 8);
  f.compute_root().memoize(k);
  const std::string text = out.emit_text(Emit::stmt, {k});
  EXPECT_NE(
      text.find("memoize \"out/f\" of f[32i64] evict k by (0, 7, 0, 7, 0, 7, 0, 7, 0, 7, k) {"),
      std::string::npos)
      << text;
}

}  // namespace
}  // namespace polyhalite::memoize_test
