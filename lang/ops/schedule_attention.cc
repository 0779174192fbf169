// The schedule of attention: blocks of queries with all of their scores, which stay in the second
// cache, and products in register tiles.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

// Products of which a tile of `vectors` x `rows` sums stays in registers.
struct Tile {
  int lanes, vectors, rows;
  int columns() const { return lanes * vectors; }
};

Tile tile_for(int64_t columns, int64_t rows, const Target &target) {
  Tile t;
  t.lanes = lanes_for(columns, target.natural_vector_size(Float(32)));
  const int most = target.has_feature(Target::AVX512_Skylake) ? 4 : 2;
  t.vectors = 1;
  while (t.vectors < most && 2 * t.vectors * t.lanes <= columns) t.vectors *= 2;
  const bool has_enough = t.vectors * 4 >= sums_in_flight(target);
  t.rows = static_cast<int>(!has_enough && rows % 6 == 0 ? 6 : std::min<int64_t>(rows, 4));
  return t;
}

// As many queries as share what is read of the keys: tiles of four rows, or of six, where four are
// too few sums, unless many queries would be computed twice.
int queries_at_once(int64_t queries, const Target &target) {
  constexpr int64_t kOfFour = 32, kOfSix = 24;
  const bool six =
      sums_in_flight(target) > 8 && tiles(queries, kOfSix) * kOfSix * 20 <= queries * 21;
  return static_cast<int>(std::min(queries, six ? kOfSix : kOfFour));
}

// A Func's loops over tiles, and its producer's sums inside of them.
//
//   for columns/tile { for rows/tile { sums in registers; f } }
Var tile(Func f, Func sums, const Var &column, const Var &row, const RVar &along, const Tile &t,
         const std::vector<Var> &outer) {
  Var columns("columns"), rows("rows"), x("x"), y("y");
  f.split(column, columns, x, t.columns()).split(row, rows, y, t.rows);
  std::vector<VarOrRVar> order{x, y, rows, columns};
  for (const Var &v : outer) order.emplace_back(v);
  f.reorder(order).vectorize(x, t.lanes).unroll(x).unroll(y);
  const Var of_sums = sums.args()[0], row_of_sums = sums.args()[1];
  sums.compute_at(f, rows).vectorize(of_sums, t.lanes).unroll(of_sums).unroll(row_of_sums);
  sums.update()
      .reorder(of_sums, row_of_sums, along)
      .vectorize(of_sums, t.lanes)
      .unroll(of_sums)
      .unroll(row_of_sums);
  return rows;
}

}  // namespace

void schedule_attention(const Loops &to, const Stage &s, const Target &target) {
  Func out = to.func;
  Func turned = s.parts[0], scores = s.parts[1], seen = s.parts[2], peak = s.parts[3];
  Func weights = s.parts[4], total = s.parts[5], sums = s.parts[6];
  const int64_t size = constant(s.rvars[0].extent()).value_or(0);
  const int64_t keys = constant(s.rvars[1].extent()).value_or(0);
  const int64_t queries = to.extent(1), columns = to.extent(0);
  const int lanes = target.natural_vector_size(Float(32));
  const Var c = to.vars[0], row = to.vars[1], head = to.vars[2], image = to.vars[3];
  if (size == 0 || keys < lanes || queries == 0 || columns < lanes) {
    for (Func f : {turned, scores, seen, peak, weights, total, sums}) f.compute_root();
    return;
  }
  const int block = queries_at_once(queries, target);
  Var query("query"), member("member");
  out.split(row, row, query, block);
  std::vector<Var> outer{row};
  if (s.groups > 1) {
    out.split(head, head, member, s.groups);
    outer.push_back(member);
  }
  outer.push_back(head);
  outer.push_back(image);
  const LoopLevel level(out, row);
  tile(out, sums, c, query, s.rvars[3], tile_for(columns, block, target), outer);
  const auto reduction = [&](const Func &f, const RVar &along) {
    Stage one;
    one.func = f;
    one.rvars = {along};
    one.extents = {Expr(block), Expr(1), Expr(1)};
    schedule_reduction(one, &level, target, block > 1);
  };
  weights.compute_at(level).vectorize(weights.args()[0], lanes);
  reduction(total, s.rvars[2]);
  reduction(peak, s.rvars[1]);
  seen.compute_at(level);
  const Var key = seen.args()[0];
  if (block >= 4) {
    turned.compute_at(LoopLevel(out, head));
    const Tile key_tile = tile_for(keys, block, target);
    const Loops packed(turned, {Expr(static_cast<int>(keys)), Expr(static_cast<int>(size)), 1, 1});
    // A tile's keys are one stream: rows of all keys lie pages apart.
    turned.pack(turned.args()[0], key_tile.columns())
        .reorder_storage(turned.args()[1], turned.args()[0]);
    if (!schedule_transpose(packed, false, target)) turned.vectorize(turned.args()[0], lanes);
    tile(seen, scores, key, seen.args()[1], s.rvars[0], key_tile, {seen.args()[2], seen.args()[3]});
  } else {
    // Few queries read each key once: products along it.
    seen.vectorize(key, lanes);
    scores.compute_at(level).vectorize(scores.args()[0], lanes);
    scores.update().reorder(s.rvars[0], scores.args()[0]);
    if (size % lanes == 0) {
      scores.update().atomic().vectorize(s.rvars[0],
                                         static_cast<int>(std::min<int64_t>(size, 256)));
    }
  }
  std::vector<int64_t> counts{(queries + block - 1) / block};
  if (s.groups > 1) counts.push_back(s.groups);
  counts.push_back(to.extent(2) / s.groups);
  counts.push_back(to.extent(3));
  make_parallel(to, outer, counts);
}

}  // namespace polyhalite::ops
