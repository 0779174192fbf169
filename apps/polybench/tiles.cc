#include "apps/polybench/tiles.h"

namespace polyhalite_apps {

using namespace polyhalite;

Tile register_tile() {
  const Target target = get_jit_target_from_environment();
  Tile tile;
  tile.lanes = target.natural_vector_size(Float(64));
  if (target.has_feature(Target::AVX512_Skylake)) tile.rows = 10;
  return tile;
}

void tile_product(Func sum, const RVar &k, Func right) {
  const Tile tile = register_tile();
  const TailStrategy guard = TailStrategy::GuardWithIf;
  const Var x = sum.args()[0], y = sum.args()[1];
  Var xi("xi"), yi("yi");
  sum.vectorize(x, tile.lanes, guard);
  sum.update()
      .tile(x, y, xi, yi, tile.columns(), tile.rows, guard)
      .reorder(xi, yi, k, y, x)
      .vectorize(xi, tile.lanes)
      .unroll(xi)
      .unroll(yi)
      .parallel(x);
  Func strip = right.in(sum);
  strip.compute_at(sum, x).vectorize(strip.args()[0], tile.lanes, guard);
}

Func sum_along_rows(Func sum, const RVar &k) {
  // So many that their sums hide how long an addition takes.
  constexpr int kRows = 5;
  const int lanes = register_tile().lanes;
  const TailStrategy guard = TailStrategy::GuardWithIf;
  const Var x = sum.args()[0];
  Var rows("rows"), row("row"), lane("lane");
  RVar ko("ko"), ki("ki");
  sum.update().split(k, ko, ki, lanes);
  Func parts = sum.update().rfactor(ki, lane);
  sum.update().split(x, rows, row, kRows, guard).reorder(ki, row, rows).atomic().vectorize(ki);
  parts.compute_at(sum, rows).reorder_storage(lane, x).reorder(lane, x).vectorize(lane);
  parts.update()
      .split(x, x, row, kRows, guard)
      .reorder(lane, row, ko, x)
      .vectorize(lane)
      .unroll(row);
  return parts;
}

}  // namespace polyhalite_apps
