// infer_input_bounds, and calls with buffers without memory.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::bounds_query_test {
namespace {

struct Stencil {
  ImageParam in{Int(32), 2, "in"};
  Func f{"f"};
  Var x{"x"}, y{"y"};
  Stencil() { f(x, y) = in(x - 1, y) + in(x + 3, y + 2); }
};

TEST(InferInputBounds, AllocatesWhatTheOutputsNeed) {
  Stencil s;
  s.f.infer_input_bounds({10, 20});
  const Buffer<int> in = s.in.get();
  EXPECT_EQ(in.min(0), -1);
  EXPECT_EQ(in.extent(0), 14);
  EXPECT_EQ(in.min(1), 0);
  EXPECT_EQ(in.extent(1), 22);
  EXPECT_EQ(in.stride(0), 1);
  EXPECT_EQ(in.stride(1), 14);
  Buffer<int>(in).fill(2);
  EXPECT_TRUE(Buffer<int>(s.f.realize({10, 20})).all_equal(4));
}

TEST(InferInputBounds, FollowsTheOutputsCoordinates) {
  Stencil s;
  Buffer<int> out(4, 4);
  out.set_min(100, -50);
  s.f.infer_input_bounds(out);
  EXPECT_EQ(s.in.get().min(0), 99);
  EXPECT_EQ(s.in.get().min(1), -50);
}

// Of each step 16 indices are divided by one number: at most 16 quotients, which one vector holds.
TEST(InferInputBounds, QuotientsByAParameterStayTogether) {
  ImageParam in(Float(32), 1, "in");
  Param<int> divisor("divisor"), count("count");
  Var x("x"), xi("xi");
  RDom r(0, count, "r");
  RVar ro("ro"), ri("ri");
  Func scaled("scaled"), spread("spread"), sum("sum");
  scaled(x) = in(x) * 2;
  spread(x) += scaled(x / divisor);
  sum(x) += spread(r) * x;
  sum.update().reorder(x, r).split(r, ro, ri, 16);
  spread.bound_extent(x, 16).compute_at(sum, ro);
  scaled.compute_at(sum, ro).split(x, x, xi, 16, TailStrategy::RoundUp).vectorize(xi);
  divisor.set(1);
  count.set(32);
  sum.infer_input_bounds({4});
  EXPECT_EQ(in.get().min(0), 0);
  EXPECT_EQ(in.get().extent(0), 32);
}

TEST(InferInputBounds, LeavesBoundInputsAlone) {
  Stencil s;
  Buffer<int> mine(50, 50);
  s.in.set(mine);
  s.f.infer_input_bounds({10, 10});
  EXPECT_TRUE(s.in.get().same_as(mine));
}

TEST(InferInputBounds, KeepsConstraints) {
  Stencil s;
  s.in.dim(0).set_min(-8).set_stride(2);
  s.in.dim(1).set_extent(s.in.dim(1).extent() / 8 * 8 + 8);
  s.in.dim(1).set_stride(s.in.dim(0).extent() * 2);
  s.f.infer_input_bounds({10, 20});
  const Buffer<int> in = s.in.get();
  EXPECT_EQ(in.min(0), -8);
  EXPECT_EQ(in.extent(0), 21);
  EXPECT_EQ(in.stride(0), 2);
  EXPECT_EQ(in.extent(1), 24);
}

TEST(InferInputBounds, ReachesThroughStages) {
  Stencil s;
  Func g("g");
  g(s.x, s.y) = s.f(s.x + 5, s.y) + s.f(s.x, s.y + 7);
  s.f.compute_root();
  g.infer_input_bounds({8, 8});
  EXPECT_EQ(s.in.get().extent(0), 8 + 5 + 4);
  EXPECT_EQ(s.in.get().extent(1), 8 + 7 + 2);
}

TEST(InferInputBounds, ReportsMissingParams) {
  Stencil s;
  Param<int> p("p");
  Func g("g");
  g(s.x, s.y) = s.in(s.x + p, s.y);
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { g.infer_input_bounds({4, 4}); }),
            at(line) +
                "error: Param 'p' has no value\n"
                "  why: the pipeline reads it, and no value was set\n"
                "  fix: call set(value) before realize");
  p.set(30);
  g.infer_input_bounds({4, 4});
  EXPECT_EQ(s.in.get().min(0), 30);
}

TEST(Realize, CropsOutputsThatTheScheduleRoundsUp) {
  Func f("f");
  Var x("x"), y("y"), xi("xi");
  f(x, y) = x + 100 * y;
  f.split(x, x, xi, 16, TailStrategy::RoundUp).vectorize(xi);
  const Buffer<int> b = f.realize({30, 3});
  EXPECT_EQ(b.extent(0), 30);
  EXPECT_EQ(b.stride(1), 32);
  EXPECT_EQ(b(29, 2), 229);
}

TEST(Realize, CropsOutputsThatUpdatesScatterBeyond) {
  Func f("f");
  Var x("x");
  RDom r(0, 50, "r");
  f(x) = 0;
  f(r) = r + 1;
  const Buffer<int> b = f.realize({10});
  EXPECT_EQ(b.extent(0), 10);
  EXPECT_EQ(b(9), 10);
}

TEST(Realize, RefusesInputsWithoutMemory) {
  Stencil s;
  s.in.set(Buffer<int>(static_cast<int *>(nullptr), std::vector<int>{20, 30}));
  const int line = __LINE__ + 1;
  EXPECT_EQ(message_of([&] { s.f.realize({4, 4}); }),
            at(line) +
                "error: ImageParam 'in' is bound to a Buffer without memory\n"
                "  why: its host pointer is null\n"
                "  fix: allocate the Buffer, or let infer_input_bounds() choose one");
}

// Without memory on the host, but with some on a device, it is no query.
TEST(BoundsQuery, BuffersOfADevice) {
  Stencil s;
  const Callable c = s.f.compile_to_callable({s.in});
  for (const int side : {0, 1}) {
    Buffer<int> in(14, 22), out(10, 20);
    in.set_min(-1, 0);
    in.fill(1);
    for (const bool dirty : {false, true}) {
      Buffer<int> &changed = side == 0 ? in : out;
      polyhalite_buffer_t *raw = changed.raw_buffer();
      uint8_t *const host = raw->host;
      if (dirty) {
        raw->set_device_dirty(true);
      } else {
        raw->host = nullptr;
      }
      raw->device = 0x1234;
      const std::string message = message_of([&] { c(in, out); });
      raw->host = host;
      raw->device = 0;
      raw->set_device_dirty(false);
      const std::string wanted = std::string("f: buffer '") + (side == 0 ? "in" : "f") +
                                 (dirty ? "' was last written on a device (device_dirty is set)"
                                        : "' has no memory (host is null)");
      EXPECT_NE(message.find(wanted), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace polyhalite::bounds_query_test
