#include "lang/ops/product_tile.h"

#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_operands.h"

namespace polyhalite::ops {

namespace {

// Cycles of a step of the reduction in a register tile: a multiply-add for each vector, of which a
// processor begins one or two while each takes four; loads of a row's element, which wants half a
// load, beside loads of the operand's vectors. Elements of rows lie further apart than vectors do,
// and miss the first cache more often.
double cycles_of_step(int vectors, int rows, double latency) {
  constexpr double kVector = 0.1, kRow = 0.2;
  const double loads = vectors + 0.5 * rows;
  return std::max({static_cast<double>(vectors * rows), latency, loads}) + kVector * vectors +
         kRow * rows;
}

// The same where bytes are widened to pairs of 16 bits, of which a vector's and a row's have two
// registers each: four instructions for each vector of sums, three for each operand.
double cycles_of_widened_step(int vectors, int rows) {
  return (4 * vectors * rows + 3 * (vectors + rows)) / 4.0;
}
bool fits_widened(int vectors, int rows, int registers) {
  return (rows + 2) * vectors + 2 <= registers;
}

bool has_dot_kernels(const Stage &s, const Dot &dot) {
  for (const Expr &term : Func(s.func).update_value()->args) {
    if (term->op == Op::Mul) return lies_in_dots(term->args[1], s.rvars[0].name(), dot.terms);
  }
  return false;
}

}  // namespace

std::optional<Dot> dot_of(const Stage &s, const Target &target) {
  const int64_t columns = constant(s.extents[0]).value_or(open_size(s, 0).least);
  if (columns == 0) return std::nullopt;
  const std::optional<Dot> dot = dot_for(s.func, columns, target);
  if (!dot) return std::nullopt;
  // Of a matrix a copy is made that lies so; kernels do, or nothing makes them.
  if ((s.rvars.size() != 1 || s.groups > 1) && !has_dot_kernels(s, *dot)) return std::nullopt;
  const auto terms = constant(s.rvars[0].extent());
  const bool fits =
      terms ? *terms >= dot->terms : open_size(s, s.extents.size()).multiple % dot->terms == 0;
  return fits ? dot : std::nullopt;
}

ProductTile product_tile(const Stage &s, const std::optional<Dot> &dot, bool may_mask,
                         bool one_strip, const Target &target) {
  const Type type = s.func.types()[0];
  const int natural = dot ? dot->sums : target.natural_vector_size(type);
  const int registers = vector_registers(target);
  const int64_t columns = constant(s.extents[0]).value_or(0);
  const int64_t rows = s.extents.size() > 1 ? constant(s.extents[1]).value_or(0) : 1;
  const OpenSize open_columns = open_size(s, 0), open_rows = open_size(s, 1);
  const bool masks = may_mask && !dot && target.has_feature(Target::AVX2);
  ProductTile best;
  const bool one_vector = open_columns.most > 0;
  best.lanes = one_vector ? static_cast<int>(open_columns.most)
                          : lanes_for(columns == 0 ? open_columns.least : columns, natural);
  // Vectors wider than the columns, with lanes to spare, rather than several narrow ones.
  if (masks && columns > best.lanes && columns < natural) best.lanes *= 2;
  double steps = 1;
  for (const RVar &k : s.rvars) steps *= static_cast<double>(constant(k.extent()).value_or(64));
  if (dot) steps /= dot->terms;
  const bool widens = dot && dot->widens;
  constexpr double kWorthStrips = 16 * kWorthThreads;
  const double operations = steps * static_cast<double>(columns * rows);
  const auto try_lanes = [&](int lanes, bool one_tile, const auto &cycles) {
    for (int v = 1; v <= 8; v++) {
      const bool all = masks && columns > 0 && columns <= v * lanes;
      if (one_tile && v * lanes < columns) continue;
      if (columns > 0 && v * lanes > columns && !all) break;
      if (one_vector && v > 1) break;
      // Dot products read what is packed, and what one thread packs is dirty in its caches where
      // another one reads it: two strips, where they cost little.
      if (dot && !one_tile && v > 2 && v * lanes == columns && operations >= kWorthStrips) continue;
      if (columns == 0 && v > 1 && open_columns.typical > 0 &&
          v * lanes > std::max<int64_t>(open_columns.least, 1))
        break;
      // Strips of a matrix begin at lines of the cache.
      if (!all && v > 4 && v < 8) continue;
      for (int r = 1; r <= 14 && (r + 1) * v + 1 <= registers; r++) {
        if (rows > 0 && r > rows) break;
        if (widens && !fits_widened(v, r, registers)) break;
        // An open number of rows may be small, and tiles compute all of theirs.
        if (rows == 0 && r > std::max<int64_t>(open_rows.least, 4)) break;
        if (rows == 0 && open_rows.typical > 0 && r > std::max<int64_t>(open_rows.least, 1)) break;
        const double count = static_cast<double>(columns == 0 ? 1 : tiles(columns, v * lanes)) *
                             static_cast<double>(rows == 0 ? 1 : tiles(rows, r)) /
                             (columns == 0 ? v : 1) / (rows == 0 ? r : 1);
        // To set up a tile and to write it costs a few cycles for each vector.
        const double cost = count * (steps * cycles(v, r) + 2 * v * r + 10);
        if (best.cycles == 0 || cost < best.cycles) best = {lanes, v, r, all, cost};
      }
      if (all) break;
    }
  };
  const int lanes = best.lanes;
  const double latency = sums_in_flight(target);
  try_lanes(lanes, one_strip, [&](int v, int r) {
    return widens ? cycles_of_widened_step(v, r) : cycles_of_step(v, r, latency);
  });
  // Fewer lanes without a column, where they are one tile: narrow strips of a large matrix miss
  // more.
  if (masks && lanes == natural && columns > 0 && columns % lanes != 0 && is_zen_4(target)) {
    constexpr double kRow = 0.2;
    try_lanes(lanes / 2, true,
              [&](int v, int r) { return (cycles_of_step(v, r, latency) + kRow * r) / 2; });
  }
  return best;
}

ProductTile tile_of_few_rows(int64_t rows, int lanes, const Target &target) {
  constexpr int kMostVectors = 8;
  const int registers = vector_registers(target);
  ProductTile best;
  // Beside one vector each multiply-add waits for the load of a row's element, beside two it does
  // not.
  const auto worth = [](int v, int r) { return std::min(v, 2) * r; };
  for (int v = 1; v <= kMostVectors; v *= 2) {
    for (int r = 1; r <= rows && (r + 1) * v + 1 <= registers; r++) {
      if (rows % r == 0 && worth(v, r) >= worth(best.vectors, best.rows))
        best = {lanes, v, r, false, 0};
    }
  }
  return best;
}

ProductTile tile_along_depth(const Stage &s, const Target &target) {
  const int natural = target.natural_vector_size(s.func.types()[0]);
  const int registers = vector_registers(target);
  const auto known_columns = constant(s.extents[0]), known_rows = constant(s.extents[1]);
  const int64_t columns = known_columns.value_or(open_size(s, 0).typical);
  const int64_t rows = known_rows.value_or(open_size(s, 1).typical);
  const int64_t most_columns = known_columns.value_or(open_size(s, 0).least);
  const int64_t most_rows = known_rows.value_or(open_size(s, 1).least);
  const int64_t depth = constant(s.rvars[0].extent()).value_or(256);
  const double steps = static_cast<double>(tiles(depth, natural));
  ProductTile best;
  for (int c = 1; c <= 8 && c <= most_columns; c++) {
    for (int r = 1; r <= 8 && r <= most_rows && (r + 1) * c + 1 <= registers; r++) {
      const double count = static_cast<double>(tiles(columns, c) * tiles(rows, r));
      const double cost =
          count * (steps * std::max<double>(cycles_of_step(c, r, sums_in_flight(target)), r + c) +
                   8 * c * r + 10);
      const bool all = known_columns && c == columns;
      if (best.cycles == 0 || cost < best.cycles) best = {1, c, r, all, cost};
    }
  }
  return best;
}

}  // namespace polyhalite::ops
