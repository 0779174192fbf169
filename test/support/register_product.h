// The schedule of a float32 product on a card: tiles of blocks, in which each thread has 4 by 4
// sums in registers.
#pragma once

#include "polyhalite/polyhalite.h"

namespace polyhalite {

/// f(x, y) = p(x, y), and p sums over k. Blocks have tiles of `tile` by `tile` results.
inline void schedule_in_registers(Func f, Func p, const RDom &k, int tile) {
  const std::vector<Var> args = f.args();
  const Var x = args[0], y = args[1];
  Var xi("xi"), yi("yi"), xt("xt"), yt("yt");
  f.tile(x, y, xi, yi, tile, tile)
      .tile(xi, yi, xt, yt, xi, yi, 4, 4)
      .gpu_blocks(x, y)
      .gpu_threads(xt, yt)
      .unroll(xi)
      .unroll(yi);
  p.compute_at(f, xt).unroll(x).unroll(y);
  p.update().reorder(x, y, k).unroll(x).unroll(y);
}

}  // namespace polyhalite
