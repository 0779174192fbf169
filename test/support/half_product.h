// A product of float16 matrices on the matrix units of a GPU: tiles of 128 x 128 by four warps,
// steps of 32 staged in memory of the block by asynchronous copies four steps deep, fragments
// loaded by ldmatrix, sums in registers. What the tests assemble, run on the CPU in small, and time
// where there is a card.
#pragma once

#include <functional>

#include "polyhalite/polyhalite.h"

namespace polyhalite {

/// Multiples of what the instruction has, m 16, n 8, k 16.
struct ProductTiles {
  int m = 128, n = 128, k = 32;  // of a block
  int warp_m = 64, warp_n = 64;  // of a warp
  int stages = 4;                // of the ring; 1: nothing is asynchronous
  int pad = 8;                   // elements that a row has more in memory of the block
};

/// c(x, y) = sum over k of a(k, y) * b(x, k), n x m in size, which the tiles must divide.
struct HalfProduct {
  using Input = std::function<Expr(Expr, Expr)>;
  Func a{"a"}, b{"b"}, acc{"acc"}, c{"c"};

  HalfProduct(const Input &in_a, const Input &in_b, int k) : k_(0, k, "k") {
    a(x_, y_) = in_a(x_, y_);
    b(x_, y_) = in_b(x_, y_);
    acc(x_, y_) = 0.0f;
    acc(x_, y_) += cast<float>(a(k_, y_)) * cast<float>(b(x_, k_));
    c(x_, y_) = acc(x_, y_);
  }

  void schedule(int m, int n, const ProductTiles &t) {
    constexpr const char *kMma = "mma_m16n8k16_f16_f32";
    Var xo("xo"), yo("yo"), xi("xi"), yi("yi"), wx("wx"), wy("wy"), mt("mt"), mi("mi"), nt("nt"),
        ni("ni");
    RVar ko("ko"), ki("ki"), kt("kt");
    const int warps_x = t.n / t.warp_n, warps_y = t.m / t.warp_m;
    c.bound(x_, 0, n).bound(y_, 0, m);
    c.tile(x_, y_, xo, yo, xi, yi, t.n, t.m).gpu_blocks(xo, yo);
    auto in_warps = [&](auto &stage, const Var &x, const Var &y) -> auto & {
      return stage.split(x, wx, x, t.warp_n)
          .split(x, nt, ni, 8)
          .split(y, wy, y, t.warp_m)
          .split(y, mt, mi, 16)
          .unroll(nt)
          .unroll(mt);
    };
    in_warps(c, xi, yi).reorder(ni, mi, nt, mt, wx, wy).gpu_threads(wx, wy);
    c.tensorize(mi, ni, kMma);
    acc.compute_at(c, xo).store_in(MemoryType::Register);
    in_warps(acc, x_, y_).reorder(ni, mi, nt, mt, wx, wy).gpu_threads(wx, wy);
    acc.tensorize(mi, ni, kMma);
    Stage update = acc.update();
    in_warps(update, x_, y_)
        .split(k_.x, ko, ki, t.k)
        .split(ki, ki, kt, 16)
        .reorder(kt, ni, mi, nt, mt, ki, wx, wy, ko)
        .unroll(ki)
        .gpu_threads(wx, wy)
        .tensorize(mi, ni, kt, kMma);
    stage(a, ko, t.k, t.m, xo, t, warps_x, warps_y);
    stage(b, ko, t.n, t.k, xo, t, warps_x, warps_y);
  }

 private:
  // Rows of `width`, moved 8 elements at once, by all threads of the block.
  void stage(Func &f, const RVar &ko, int width, int height, const Var &block,
             const ProductTiles &t, int warps_x, int warps_y) {
    Var xc("xc"), xv("xv"), all("all"), lane("lane"), sx("sx"), sy("sy"), turn("turn");
    const int pieces = width / 8 * height, threads = 32 * warps_x * warps_y;
    f.compute_at(acc, ko).store_in(MemoryType::GPUShared).align_storage(x_, width + t.pad);
    if (t.stages > 1) f.hoist_storage(c, block).async().ring_buffer(t.stages);
    f.split(x_, xc, xv, 8)
        .vectorize(xv)
        .fuse(xc, y_, all)
        .split(all, all, lane, 32)
        .split(all, turn, all, warps_x * warps_y)
        .split(all, sy, sx, warps_x)
        .reorder(xv, turn, lane, sx, sy)
        .gpu_threads(lane, sx, sy);
    if (pieces > threads) f.unroll(turn);
  }

  Var x_{"x"}, y_{"y"};
  RDom k_;
};

}  // namespace polyhalite
