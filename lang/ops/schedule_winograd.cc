// The schedule of Winograd's form of convolutions: blocks of rows of tiles, whose transformed tiles
// and products stay in the second cache.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

int64_t count_of(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

// Rows of tiles in a block, as many as the second cache holds; if it can be, blocks have equal
// sizes.
int64_t rows_of_block(int64_t rows, int64_t bytes_of_row) {
  constexpr int64_t kCache = 1280 << 10;
  const int64_t most = std::clamp<int64_t>(kCache / std::max<int64_t>(bytes_of_row, 1), 1, rows);
  for (int64_t n = most; 2 * n > most; n--) {
    if (rows % n == 0) return n;
  }
  return most;
}

TailStrategy exact_tail(int64_t extent, int64_t factor) {
  return extent % factor == 0 ? TailStrategy::Auto : TailStrategy::GuardWithIf;
}

}  // namespace

void schedule_winograd(const Loops &to, const Stage &s, const Stage *border, const Target &target) {
  Func out = to.func, tiles = s.parts[0], sums = s.parts[1], products = s.parts[2];
  const int64_t channels = constant(s.rvars[0].extent()).value_or(0);
  const int64_t results = to.extent(0), columns = to.extent(1), rows = to.extent(2);
  if (channels == 0 || results == 0 || columns == 0 || rows == 0) {
    if (border) Func(border->func).compute_root();
    for (Func f : {tiles, sums, products}) f.compute_root();
    return;
  }
  const int width = s.groups, size = s.tile + 2;
  int lanes = target.natural_vector_size(sums.types()[0]);
  while (width % lanes != 0) lanes /= 2;
  const int64_t across = count_of(columns, s.tile), down = count_of(rows, s.tile);
  // Of transformed tiles, and of a strip's products.
  const int64_t bytes = across * size * size * (channels + width) * sums.types()[0].bytes();
  const int64_t block_rows = rows_of_block(down, bytes);

  // for image, block of rows of tiles {
  //   transformed tiles
  //   for strips { products; for rows, columns of tiles { results of a tile, lanes at once } } }
  const Var channel = to.vars[0], x = to.vars[1], y = to.vars[2], image = to.vars[3];
  Var strip("strip"), result("result"), vector("vector"), column("column"), right("right");
  Var block("block"), row("row"), below("below");
  if (results % width != 0) out.bound(channel, 0, static_cast<int>(results));
  out.split(channel, strip, result, width, exact_tail(results, width))
      .split(result, result, vector, lanes)
      .split(x, column, right, s.tile, exact_tail(columns, s.tile))
      .split(y, row, below, s.tile, exact_tail(rows, s.tile))
      .split(row, block, row, static_cast<int>(block_rows), exact_tail(down, block_rows))
      .reorder({vector, right, below, result, column, row, strip, block, image})
      .vectorize(vector)
      .unroll(right)
      .unroll(below);
  // Where one block is all there is, strips are the tasks.
  const bool large = product_of(to.extents) * channels >= kWorthThreads;
  if (large) {
    out.parallel(image).parallel(block);
    if (count_of(down, block_rows) * std::max<int64_t>(to.extent(3), 1) < 4) out.parallel(strip);
  }
  const LoopLevel of_block(out, block);
  if (border) {
    Func f = border->func;
    f.compute_at(of_block);
    schedule_points(Loops(f, border->extents), false, false, target);
  }
  const std::vector<Var> of_tiles = tiles.args();  // channel, column, j, i, row, image
  Var lane("lane");
  const int own_lanes = lanes_for(channels, target.natural_vector_size(tiles.types()[0]));
  tiles.compute_at(of_block)
      .split(of_tiles[0], of_tiles[0], lane, own_lanes)
      .reorder({lane, of_tiles[2], of_tiles[3], of_tiles[0], of_tiles[1], of_tiles[4], of_tiles[5]})
      .vectorize(lane)
      .unroll(of_tiles[2])
      .unroll(of_tiles[3]);

  // A register tile of results of a strip by columns of tiles, for one place (i, j) after the
  // other, so that the place's kernels stay in the first caches.
  const std::vector<Var> p = products.args();  // result, column, j, i, row, image, strip
  const int at_once = register_tile_columns(width / lanes, across, target);
  Var member("member");
  products.compute_at(out, strip)
      .bound(p[0], 0, width)
      .split(p[1], p[1], member, at_once, tail_for(across, at_once))
      .reorder({p[0], member, p[1], p[4], p[2], p[3], p[5], p[6]})
      .vectorize(p[0], lanes)
      .unroll(p[0])
      .unroll(member);
  const std::vector<Var> a = sums.args();
  sums.compute_at(products, p[1]).bound(a[0], 0, width).vectorize(a[0], lanes).unroll(a[0]);
  sums.unroll(a[1]);
  sums.update()
      .reorder({a[0], a[1], s.rvars[0], a[2], a[3], a[4], a[5], a[6]})
      .vectorize(a[0], lanes)
      .unroll(a[0])
      .unroll(a[1]);
}

}  // namespace polyhalite::ops
