// How much is asked of C functions, which say their regions.
#include <gtest/gtest.h>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace {
int extern_calls = 0;
}

extern "C" {

// out = in, in boxes whose first extent is a multiple of 8.
__attribute__((visibility("default"))) int ph_regions_eights(polyhalite_buffer_t *in,
                                                             polyhalite_buffer_t *out) {
  if (out->is_bounds_query()) out->dim[0].extent = (out->dim[0].extent + 7) / 8 * 8;
  if (in->is_bounds_query()) {
    in->dim[0].min = out->dim[0].min;
    in->dim[0].extent = out->dim[0].extent;
    return 0;
  }
  if (out->dim[0].extent % 8 != 0) return -1;
  for (int x = out->dim[0].min; x < out->dim[0].min + out->dim[0].extent; x++) {
    *reinterpret_cast<int *>(out->address_of(&x)) = *reinterpret_cast<int *>(in->address_of(&x));
  }
  return 0;
}

// x + y and x - y, in boxes that it counts.
__attribute__((visibility("default"))) int ph_regions_pair(polyhalite_buffer_t *sum,
                                                           polyhalite_buffer_t *difference) {
  if (sum->is_bounds_query()) return 0;
  extern_calls++;
  for (int y = sum->dim[1].min; y < sum->dim[1].min + sum->dim[1].extent; y++) {
    for (int x = sum->dim[0].min; x < sum->dim[0].min + sum->dim[0].extent; x++) {
      const int at[] = {x, y};
      *reinterpret_cast<int *>(sum->address_of(at)) = x + y;
      *reinterpret_cast<int *>(difference->address_of(at)) = x - y;
    }
  }
  return 0;
}

// out(x, y) = in(x + 2, y) * 10, of boxes at most 4 wide.
__attribute__((visibility("default"))) int ph_regions_shifted(polyhalite_buffer_t *in,
                                                              polyhalite_buffer_t *out) {
  if (in->is_bounds_query()) {
    for (int d = 0; d < 2; d++) {
      in->dim[d].min = out->dim[d].min + (d == 0 ? 2 : 0);
      in->dim[d].extent = out->dim[d].extent;
    }
    return 0;
  }
  extern_calls++;
  if (out->dim[0].extent > 4) return -1;
  for (int y = out->dim[1].min; y < out->dim[1].min + out->dim[1].extent; y++) {
    for (int x = out->dim[0].min; x < out->dim[0].min + out->dim[0].extent; x++) {
      const int to[] = {x, y}, from[] = {x + 2, y};
      *reinterpret_cast<int *>(out->address_of(to)) =
          10 * *reinterpret_cast<int *>(in->address_of(from));
    }
  }
  return 0;
}

}  // extern "C"

namespace polyhalite::extern_regions_test {
namespace {

class ExternRegions : public ::testing::Test {
 protected:
  ExternRegions() { extern_calls = 0; }
  Var x{"x"}, y{"y"}, xo{"xo"}, xi{"xi"};
  Func f{"f"}, g{"g"}, h{"h"};
};

TEST_F(ExternRegions, MakeMoreThanIsAsked) {
  f(x) = x * x;
  g.define_extern("ph_regions_eights", {f}, Int(32), {x});
  h(x) = g(x) + 1;
  h.split(x, xo, xi, 5, TailStrategy::GuardWithIf);
  f.compute_root();
  g.compute_at(h, xo);
  Buffer<int> out = h.realize({19});
  for (int i = 0; i < 19; i++) EXPECT_EQ(out(i), i * i + 1);
}

TEST_F(ExternRegions, OfSeveralValues) {
  g.define_extern("ph_regions_pair", {}, {Int(32), Int(32)}, {x, y});
  h(x, y) = g(x, y)[0] * 100 + g(x, y)[1];
  g.compute_at(h, y);
  Buffer<int> out = h.realize({6, 4});
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < 6; i++) EXPECT_EQ(out(i, j), (i + j) * 100 + i - j);
  }
  EXPECT_EQ(extern_calls, 4);
}

TEST_F(ExternRegions, RunInTiles) {
  f(x, y) = x + y;
  g.define_extern("ph_regions_shifted", {f}, Int(32), {x, y});
  g.compute_root().split(x, xo, xi, 4).reorder(xi, y, xo).serial(y);
  f.compute_at(g, y);
  Buffer<int> out = g.realize({10, 3});
  for (int j = 0; j < 3; j++) {
    for (int i = 0; i < 10; i++) EXPECT_EQ(out(i, j), 10 * (i + 2 + j));
  }
  EXPECT_EQ(extern_calls, 3 * 3);
}

TEST_F(ExternRegions, KeepTheirLoopsInnermost) {
  f(x, y) = x + y;
  g.define_extern("ph_regions_shifted", {f}, Int(32), {x, y});
  g.compute_root().serial(x);
  f.compute_root();
  EXPECT_NE(message_of([&] {
              g.compile_jit();
            }).find("cannot run loop 'x' of extern stage 'g' inside 'y'"),
            std::string::npos);
}

TEST_F(ExternRegions, AreAskedForImages) {
  ImageParam in(Int(32), 2, "in");
  g.define_extern("ph_regions_shifted", {in}, Int(32), {x, y});
  g.infer_input_bounds({4, 3});
  EXPECT_EQ(in.get().dim(0).min(), 2);
  EXPECT_EQ(in.get().dim(0).extent(), 4);
  EXPECT_EQ(in.get().dim(1).extent(), 3);
}

// What is asked for a part stays inside what is asked for all.
TEST_F(ExternRegions, LetTheirInputsBeStoredOutside) {
  f(x, y) = x + y;
  g.define_extern("ph_regions_shifted", {f}, Int(32), {x, y});
  h(x, y) = g(x, y);
  g.compute_at(h, y);
  f.store_root().compute_at(h, y);
  Buffer<int> out = h.realize({4, 5});
  EXPECT_EQ(out(3, 4), 90);
}

}  // namespace
}  // namespace polyhalite::extern_regions_test
