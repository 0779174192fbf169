// Every tail, and the words for storage, bounds, prefetches and partition, give the values that the
// algorithm has.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>

#include "polyhalite/polyhalite.h"

namespace polyhalite::schedule_words_test {
namespace {

TEST(Levels, AreThoseOfEachStageThatUsesTheFunc) {
  Var x("x"), y("y");
  RDom r(0, 5, "r");
  auto result = [&](int scheduled) {
    Func producer("producer"), further("further"), consumer("consumer");
    further(x, y) = 3 * x - y;
    producer(x, y) = further(x, y) * 17 + further(x + 1, y);
    producer(x, y) += 1;
    consumer(x, y) = 170 - producer(x, y);
    consumer(x, y) += producer(x, y + 1) / 2;
    consumer(x, y) += producer(x + r, y);
    if (scheduled > 0) producer.compute_at(consumer, y);
    if (scheduled > 1) further.compute_at(consumer, y);
    const Buffer<int> out = consumer.realize({9, 7});
    return out;
  };
  const Buffer<int> plain = result(0);
  for (int scheduled : {1, 2}) {
    const Buffer<int> out = result(scheduled);
    int wrong = 0;
    out.for_each_element([&](int i, int j) { wrong += out(i, j) != plain(i, j); });
    EXPECT_EQ(wrong, 0) << scheduled;
  }
}

// Each lane has productions and storage of its own, of what its sums need as well.
TEST(Levels, InsideOfVectorLoops) {
  Var x("x"), y("y"), yo("yo"), yi("yi");
  auto sums = [&](auto &&schedule) {
    Func in("in"), sum("sum"), out("out");
    RDom r(-2, 5, -1, 3, "r");
    in(x, y) = 2 * x + 5 * y * y;
    sum(x, y) += in(x + r.x, y + r.y);
    out(x, y) = sum(x, y) / 3;
    schedule(in, sum, out);
    return Buffer<int>(out.realize({7, 12}));
  };
  const Buffer<int> expected = sums([](Func &, Func &, Func &) {});
  for (int i = 0; i < 4; i++) {
    const Buffer<int> got = sums([&](Func &in, Func &sum, Func &out) {
      out.split(y, yo, yi, 4, i % 2 ? TailStrategy::RoundUp : TailStrategy::GuardWithIf);
      out.vectorize(yi).reorder(x, yo, yi);
      in.compute_at(out, i < 2 ? yi : x);
      if (i == 3) in.vectorize(x, 2);
    });
    got.for_each_element([&](int u, int v) { ASSERT_EQ(got(u, v), expected(u, v)) << i; });
  }
}

TEST(Levels, FusedLoopsRunAsTheInnerOne) {
  Var x("x"), y("y"), xy("xy");
  Func f("f");
  f(x, y) = x + 10 * y;
  f.parallel(y).fuse(x, y, xy);
  Func g("g");
  g(x, y) = x + 10 * y;
  g.bound(x, 0, 4).bound(y, 0, 3).vectorize(x).fuse(x, y, xy);
  for (Func &func : {std::ref(f), std::ref(g)}) {
    Buffer<int> out = func.realize({4, 3});
    out.for_each_element([&](int i, int j) { ASSERT_EQ(out(i, j), i + 10 * j); });
  }
}

TEST(Levels, MayNameFuncsThatAreDefinedLater) {
  Var x("x");
  Func producer("producer"), consumer("consumer"), elsewhere("elsewhere");
  producer(x) = x;
  producer.compute_at(consumer, x);
  consumer(x) = producer(x) + producer(x + 1);
  const Buffer<int> result = consumer.realize({10});
  EXPECT_EQ(result(9), 19);
  Func g("g");
  g(x) = producer(x);
  producer.compute_at(elsewhere, x);
  EXPECT_THROW(g.compile_jit(), CompileError);
}

constexpr TailStrategy kTails[] = {TailStrategy::RoundUp,
                                   TailStrategy::GuardWithIf,
                                   TailStrategy::Predicate,
                                   TailStrategy::PredicateLoads,
                                   TailStrategy::PredicateStores,
                                   TailStrategy::ShiftInwards,
                                   TailStrategy::ShiftInwardsAndBlend,
                                   TailStrategy::RoundUpAndBlend,
                                   TailStrategy::Auto};

void expect(const Buffer<int> &got, const std::function<int(int)> &wanted,
            const std::string &what) {
  for (int x = 0; x < got.width(); x++) {
    ASSERT_EQ(got(x), wanted(x)) << what << " at " << x;
  }
}

Buffer<int> squares() {
  Buffer<int> in(100);
  for (int i = 0; i < 100; i++) in(i) = i * i % 37;
  return in;
}

// f and its update are split by 8 over extents that 8 divides and does not.
TEST(tails, every_tail_on_every_stage_serial_unrolled_and_vectorized) {
  const Buffer<int> in = squares();
  auto f_at = [&](int x) { return in(x) + x + 2 * in(x + 1); };
  for (TailStrategy tail : kTails) {
    for (const bool update : {false, true}) {
      if (update && tail == TailStrategy::ShiftInwards) continue;
      for (const int how : {0, 1, 2}) {
        for (const int n : {13, 23, 61}) {
          Func f("f"), g("g");
          Var x("x"), xo("xo"), xi("xi");
          f(x) = in(x) + x;
          f(x) += 2 * in(x + 1);
          g(x) = f(x) + f(x + 3);
          f.compute_root();
          Stage s = update ? f.update() : Stage(f);
          s.split(x, xo, xi, 8, tail);
          if (how == 1) s.vectorize(xi);
          if (how == 2) s.unroll(xi);
          expect(
              g.realize({n}), [&](int i) { return f_at(i) + f_at(i + 3); },
              "tail " + std::to_string(static_cast<int>(tail)) + " how " + std::to_string(how));
        }
      }
    }
  }
}

TEST(tails, producers_in_tiles_of_consumers) {
  auto f_at = [](int x) { return 6 * x + 3; };
  for (TailStrategy outer : kTails) {
    for (TailStrategy inner : kTails) {
      Func in("in"), f("f"), g("g");
      Var x("x"), xo("xo"), xi("xi");
      in(x) = x * 3;
      f(x) = in(x) + in(x + 1);
      g(x) = f(x) * 2 + f(x + 2);
      in.compute_root();
      g.split(x, xo, xi, 32, outer);
      f.compute_at(g, xo).vectorize(x, 8, inner);
      expect(g.realize({96}), [&](int i) { return f_at(i) * 2 + f_at(i + 2); }, "nested");
    }
  }
}

TEST(words, order_and_alignment_of_storage_change_no_value) {
  Func f("f"), g("g");
  Var x("x"), y("y"), c("c");
  f(x, y, c) = x + y * 100 + c * 10000;
  g(x, y, c) = f(x, y, c) + f(x, y + 1, c) + f(x + 1, y, c);
  f.compute_root().reorder_storage(c, x, y).align_storage(x, 32).vectorize(x, 8);
  g.vectorize(x, 8).bound(c, 0, 3).unroll(c);
  const Buffer<int> r = g.realize({50, 20, 3});
  for (int k = 0; k < 3; k++) {
    for (int j = 0; j < 20; j++) {
      for (int i = 0; i < 50; i++) ASSERT_EQ(r(i, j, k), 3 * (i + j * 100 + k * 10000) + 101);
    }
  }
}

TEST(words, packed_storage_changes_no_value) {
  for (const int what : {0, 1, 2, 3, 4}) {
    Func f("f"), g("g");
    Var x("x"), y("y"), c("c"), xi("xi"), yi("yi");
    f(x, y, c) = x + y * 100 + c * 10000;
    g(x, y, c) = f(x, y, c) + f(x, y + 1, c) + f(x + 1, y, c);
    if (what < 2) f.compute_root().pack(x, 8).vectorize(x, 8);
    if (what == 1) f.pack(y, 3).reorder_storage(c, y).parallel(y);
    if (what == 2) f.compute_at(g, y).pack(x, 5).pack(y, 2).vectorize(x, 8);
    if (what == 3) f.store_root().compute_at(g, y).pack(y, 4).pack(x, 4).fold_storage(y, 3);
    if (what == 4) {
      g.tile(x, y, xi, yi, 16, 4, TailStrategy::GuardWithIf);
      f.compute_at(g, x).hoist_storage_root().pack(x, 4).vectorize(x, 4);
      g.vectorize(xi, 8);
    }
    const Buffer<int> r = g.realize({50, 20, 3});
    for (int k = 0; k < 3; k++) {
      for (int j = 0; j < 20; j++) {
        for (int i = 0; i < 50; i++) {
          ASSERT_EQ(r(i, j, k), 3 * (i + j * 100 + k * 10000) + 101) << what;
        }
      }
    }
  }
}

// A product of packed factors, in blocks of 6 rows and of 16 columns: what its inner loops read is
// found without a division.
TEST(words, packed_factors_of_a_product) {
  const int n = 64, rows = 60;
  Buffer<float> left(n, rows, "left"), right(n, n, "right");
  left.for_each_element(
      [&](int k, int i) { left(k, i) = static_cast<float>((k * 3 + i * 5) % 7); });
  right.for_each_element([&](int j, int k) { right(j, k) = static_cast<float>((j + k * 2) % 9); });
  ImageParam a(Float(32), 2, "a"), b(Float(32), 2, "b");
  Func c("c"), out("out");
  Var i("i"), j("j"), ii("ii"), ji("ji");
  RDom k(0, n, "k");
  c(j, i) += a(k, i) * b(j, k);
  out(j, i) = c(j, i);
  out.tile(j, i, ji, ii, 16, 6, TailStrategy::GuardWithIf).vectorize(ji, 8);
  c.compute_at(out, j).bound_extent(i, 6).bound_extent(j, 16).vectorize(j, 8).unroll(i);
  c.update().reorder(j, i, k).vectorize(j, 8).unroll(j).unroll(i);
  Func packed_a = a.in(c), packed_b = b.in(c);
  packed_a.compute_root().pack(packed_a.args()[1], 6);
  packed_b.compute_root()
      .pack(packed_b.args()[0], 16)
      .reorder_storage(packed_b.args()[1], packed_b.args()[0]);
  packed_b.split(packed_b.args()[0], packed_b.args()[0], ji, 8, TailStrategy::RoundUp)
      .vectorize(ji);
  std::istringstream loops(out.emit_text(Emit::stmt));
  int products = 0, copies = 0;
  for (std::string line; std::getline(loops, line);) {
    if (line.find("*b_in_c[ramp(") != std::string::npos) {
      products++;
      for (const char *place : {"a_in_c[int64(c.s1.k)*6i64 + int64(out.s0.i)*384i64",
                                "b_in_c[ramp(int64(c.s1.k)*16i64 + int64(out.s0.j)*1024i64"}) {
        EXPECT_NE(line.find(place), std::string::npos) << line;
      }
      EXPECT_EQ(line.find_first_of("/%"), std::string::npos) << line;
    }
    if (line.find("  b_in_c[ramp(") != std::string::npos) {
      copies++;
      EXPECT_NE(line.find(", 1i64, 8)] = b[ramp("), std::string::npos)
          << "a vector of 8 fills a half of a block of 16: " << line;
    }
  }
  EXPECT_GT(products, 0);
  EXPECT_GT(copies, 0);
  a.set(left);
  b.set(right);
  const Buffer<float> r = out.realize({n, rows});
  for (int y = 0; y < rows; y++) {
    for (int x = 0; x < n; x++) {
      float sum = 0;
      for (int z = 0; z < n; z++) sum += left(z, y) * right(x, z);
      ASSERT_EQ(r(x, y), sum) << x << ", " << y;
    }
  }
}

TEST(words, loops_of_bounded_extent_unroll_and_vectorize) {
  for (const bool vector : {false, true}) {
    Func f("f"), g("g");
    Var x("x"), xo("xo"), xi("xi");
    f(x) = x * 3;
    g(x) = f(x) * 2;
    g.split(x, xo, xi, 8, TailStrategy::GuardWithIf).unroll(xi);
    f.compute_at(g, xo).store_in(MemoryType::Stack);
    vector ? f.vectorize(x) : f.unroll(x);
    expect(g.realize({23}), [](int i) { return i * 6; }, "bounded");
  }
}

TEST(words, prefetches_and_partition_change_no_value) {
  for (PrefetchBoundStrategy s : {PrefetchBoundStrategy::Clamp, PrefetchBoundStrategy::GuardWithIf,
                                  PrefetchBoundStrategy::NonFaulting}) {
    for (Partition p : {Partition::Auto, Partition::Never, Partition::Always}) {
      ImageParam in(Int(32), 1, "in");
      in.set(squares());
      Func f("f"), g("g");
      Var x("x");
      f(x) = BoundaryConditions::repeat_edge(in)(x - 1) + 1;
      g(x) = f(x) + f(x + 1);
      f.compute_root().prefetch(in, x, x, 16, s).partition(x, p);
      g.prefetch(f, x, x, 8, s);
      const Buffer<int> data = squares();
      auto f_at = [&](int i) { return data(std::min(std::max(i - 1, 0), 99)) + 1; };
      expect(g.realize({120}), [&](int i) { return f_at(i) + f_at(i + 1); }, "prefetch");
    }
  }
}

// Pairs of a's and b's: quotients and rests of vector indices are lanes of shorter vectors.
TEST(words, interleaved_selects_and_stores) {
  Func a("a"), b("b"), f("f"), rgb("rgb");
  Var x("x"), c("c");
  a(x) = x * 5;
  b(x) = x * 7 + 1;
  f(x) = select(x % 2 == 0, a(x / 2), b(x / 2));
  rgb(x, c) = f(x) + c;
  a.compute_root();
  b.compute_root();
  f.compute_root().align_bounds(x, 2).vectorize(x, 8);
  rgb.reorder(c, x).bound(c, 0, 3).unroll(c).vectorize(x, 8);
  rgb.output_buffer().dim(0).set_stride(3);
  rgb.output_buffer().dim(1).set_stride(1);
  Buffer<int> out = Buffer<int>::make_interleaved(37, 1, 3).sliced(1, 0);
  rgb.realize(out);
  for (int i = 0; i < 37; i++) {
    for (int k = 0; k < 3; k++) {
      ASSERT_EQ(out(i, k), (i % 2 ? i / 2 * 7 + 1 : i / 2 * 5) + k) << i << " " << k;
    }
  }
}

}  // namespace
}  // namespace polyhalite::schedule_words_test
