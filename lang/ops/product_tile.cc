#include "lang/ops/product_tile.h"

#include <algorithm>
#include <limits>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_operands.h"

namespace polyhalite::ops {

namespace {

// Cycles of a step of the reduction in a register tile: a multiply-add for each vector, of which a
// processor begins one or two while each takes four; loads of a row's element, which wants half a
// load, beside loads of the operand's vectors. Elements of rows lie further apart than vectors do,
// and miss the first cache more often: with AVX2 tiles of 3x4 vectors gain 4% over those of 2x6.
double cycles_of_step(int vectors, int rows, const Target &target) {
  constexpr double kVector = 0.1;
  const double row = vector_registers(target) <= 16 ? 0.3 : 0.2;
  // A Zen 4 begins one of the widest in a cycle. Of several rows four would do there, but what else
  // a step takes tells beside so few.
  const bool one_at_once = rows == 1 && is_zen_4(target);
  const double latency = one_at_once ? 5 : sums_in_flight(target), loads = vectors + 0.5 * rows;
  return std::max({static_cast<double>(vectors * rows), latency, loads}) + kVector * vectors +
         row * rows;
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
  const auto most_columns = static_cast<int>(open_columns.most);
  best.lanes = most_columns > 0 ? std::min(most_columns, natural)
                                : lanes_for(columns == 0 ? open_columns.least : columns, natural);
  // Vectors wider than the columns, with lanes to spare, rather than several narrow ones.
  if (masks && columns > best.lanes && columns < natural) best.lanes *= 2;
  double steps = 1;
  for (const RVar &k : s.rvars) steps *= static_cast<double>(constant(k.extent()).value_or(64));
  if (dot) steps /= dot->terms;
  const bool widens = dot && dot->widens;
  const int others = dot && dot->adds ? 2 : 1;  // registers beside sums and vectors
  constexpr double kWorthStrips = 16 * kWorthThreads;
  const double operations = steps * static_cast<double>(columns * rows);
  // A strip that the first cache does not hold comes from the second one for each tile of rows, 32
  // bytes in the time of a multiply-add: tiles of two rows wait for that.
  constexpr double kFirstCache = 24 << 10, kVectorFromSecond = 2.5;
  const auto fetching = [&](int lanes, int v, int r) {
    const double strip = steps * v * lanes * type.bytes();
    const int64_t several = rows == 0 ? open_rows.typical : rows;
    return several > r && strip > kFirstCache ? kVectorFromSecond * v * lanes / natural : 0;
  };
  const auto try_lanes = [&](int lanes, bool one_tile, const auto &cycles) {
    for (int v = 1; v <= 8; v++) {
      const bool all = masks && columns > 0 && columns <= v * lanes;
      if (one_tile && v * lanes < columns) continue;
      if (columns > 0 && v * lanes > columns && !all) break;
      if (most_columns > 0 && v * lanes > most_columns) break;
      // Dot products read what is packed, and what one thread packs is dirty in its caches where
      // another one reads it: two strips, where they cost little.
      if (dot && !one_tile && v > 2 && v * lanes == columns && operations >= kWorthStrips) continue;
      if (columns == 0 && most_columns == 0 && v > 1 && open_columns.typical > 0 &&
          v * lanes > std::max<int64_t>(open_columns.least, 1))
        break;
      // Strips of a matrix begin at lines of the cache.
      if (!all && v > 4 && v < 8) continue;
      for (int r = 1; r <= 14 && (r + 1) * v + others <= registers; r++) {
        if (rows > 0 && r > rows) break;
        if (widens && !fits_widened(v, r, registers)) break;
        // An open number of rows may be small, and tiles compute all of theirs.
        if (rows == 0 && r > std::max<int64_t>(open_rows.least, 4)) break;
        if (rows == 0 && open_rows.typical > 0 && r > std::max<int64_t>(open_rows.least, 1)) break;
        // Of open rows the last tile computes half of its own twice.
        const double typical = static_cast<double>(open_rows.typical);
        const double again = typical > 0 ? (r - 1) / 2.0 / typical : 0;
        const int64_t planned = columns == 0 ? most_columns : columns;
        const double count =
            (planned == 0 ? 1.0 / v : static_cast<double>(tiles(planned, v * lanes))) *
            (rows == 0 ? (1 + again) / r : static_cast<double>(tiles(rows, r)));
        // To set up a tile and to write it costs a few cycles for each vector.
        const double step = std::max(cycles(v, r), fetching(lanes, v, r));
        const double cost = count * (steps * step + 2 * v * r + 10);
        if (best.cycles == 0 || cost < best.cycles) best = {lanes, v, r, all, cost};
      }
      if (all) break;
    }
  };
  const int lanes = best.lanes;
  // A Zen 4 makes two narrow vectors in the time of one.
  const bool halves = !dot && 2 * lanes <= natural && is_zen_4(target);
  try_lanes(lanes, one_strip, [&](int v, int r) {
    if (halves) return cycles_of_step(v, r, target) / 2;
    return widens ? cycles_of_widened_step(v, r) : cycles_of_step(v, r, target);
  });
  // Fewer lanes without a column, where they are one tile: narrow strips of a large matrix miss
  // more.
  if (masks && lanes == natural && columns > 0 && columns % lanes != 0 && is_zen_4(target)) {
    constexpr double kRow = 0.2;
    try_lanes(lanes / 2, true,
              [&](int v, int r) { return (cycles_of_step(v, r, target) + kRow * r) / 2; });
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
  const double lanes = is_zen_4(target) ? 5 : 8;  // to add up those of a sum
  ProductTile best;
  for (int c = 1; c <= 8 && c <= most_columns; c++) {
    for (int r = 1; r <= 8 && r <= most_rows && (r + 1) * c + 1 <= registers; r++) {
      const double count = static_cast<double>(tiles(columns, c) * tiles(rows, r));
      const double cost = count * (steps * std::max<double>(cycles_of_step(c, r, target), r + c) +
                                   lanes * c * r + 10);
      const bool all = known_columns && c == columns;
      if (best.cycles == 0 || cost < best.cycles) best = {1, c, r, all, cost};
    }
  }
  return best;
}

int64_t rows_worth_packing(int64_t rows, int64_t row_bytes, int64_t steps, const ProductTile &tile,
                           const Target &target) {
  // A strip whose steps are pages apart, or lie on more pages than the processor keeps track of, is
  // fetched again for each tile of rows: lines a multiple of half a page apart share a few sets of
  // each cache.
  constexpr int64_t kPage = 4096, kManyPages = 1536, kManySteps = 64, kLine = 64;
  const bool scattered = steps >= kManySteps &&
                         (row_bytes % (kPage / 2) == 0 || steps * row_bytes > kManyPages * kPage);
  if (rows > 0 && (scattered || is_zen_5(target) || vector_registers(target) <= 16))
    return 4 * tile.rows;
  // Vectors of rows that begin inside of lines lie in two lines each.
  return row_bytes % kLine != 0 ? 192 : 512;
}

namespace {

// The largest divisor of n of those from `least` to `most`; 0: there is none.
int64_t divisor_between(int64_t n, int64_t least, int64_t most) {
  for (int64_t d = most; d >= std::max<int64_t>(least, 1); d--) {
    if (n % d == 0) return d;
  }
  return 0;
}

// Parts of an extent of whole units, at most `most`, as equal as can be and none larger than all:
// the last one is moved inwards.
int64_t equal_parts(int64_t extent, int64_t most, int64_t unit) {
  const int64_t units = tiles(extent, unit);
  const int64_t parts = tiles(units, std::max<int64_t>(most / unit, 1));
  const int64_t size = tiles(units, parts) * unit;
  return size <= extent ? size : tiles(units, parts + 1) * unit;
}

// The register tile with the most rows of those that divide `rows`; its vectors are a power of two,
// and `least_vectors` or more. Without a row where there is none.
ProductTile tile_of_few_rows(int64_t rows, int lanes, int least_vectors, const Target &target) {
  constexpr int kMostVectors = 8;
  const int registers = vector_registers(target);
  ProductTile best{lanes, least_vectors, 0, false, 0};
  // Beside one vector each multiply-add waits for the load of a row's element, beside two it does
  // not.
  const auto worth = [](int v, int r) { return std::min(v, 2) * r; };
  for (int v = least_vectors; v <= kMostVectors; v *= 2) {
    for (int r = 1; r <= rows && (r + 1) * v + 1 <= registers; r++) {
      if (rows % r == 0 && worth(v, r) >= worth(best.vectors, best.rows))
        best = {lanes, v, r, false, 0};
    }
  }
  return best;
}

// From how many bytes on such an operand is read as it lies.
int64_t streamed_bytes(int64_t rows, bool dots, const Target &target) {
  constexpr int64_t kMebibyte = 1 << 20, kNever = std::numeric_limits<int64_t>::max();
  // Bytes come from memory in shorter pieces: a strip of four vectors is a line of them. They are
  // quickly packed, too.
  if (dots) return rows <= (is_zen_4(target) || is_zen_5(target) ? 16 : 32) ? kMebibyte : kNever;
  if (vector_registers(target) > 16) return 0;
  if (rows >= kFewestRowsOfPanels) return kNever;
  // A Zen 3's second cache is small: 3x2048x512 in f64 8.5 to 15.7 GFLOP/s.
  return (rows <= 8 ? 4 : rows <= 16 ? 16 : 8) * kMebibyte;
}

int terms_of_streams(int64_t rows, int64_t terms, int of_step, bool fetches_strips) {
  constexpr int64_t kFewest = 128, kTerms = 256, kMost = 384;
  // More rows write and read more sums for each block.
  if (!fetches_strips) return of_step * (rows <= 16 ? 16 : 32);
  // Lines a page apart leave room for a few hundred in the second cache.
  if (of_step > 1) return kFewest;
  const int64_t divisor = divisor_between(terms, kFewest, kMost);
  return static_cast<int>(divisor != 0 ? divisor : tiles(terms, tiles(terms, kTerms)));
}

int columns_of_streams(int64_t columns, const ProductTile &tile) {
  constexpr int64_t kMost = 1024;  // a page of them
  const int64_t half = tiles(tiles(columns, tile.columns()), 2) * tile.columns();
  return static_cast<int>(equal_parts(columns, std::min(half, kMost), tile.columns()));
}

// Has a tile of all rows or of some of them enough sums?
bool keeps_busy(const ProductTile &tile, int64_t rows) {
  return tile.rows == rows || (tile.rows >= 4 && tile.rows * tile.vectors >= 8);
}

}  // namespace

std::optional<StreamedOperand> streamed_operand(int64_t rows, int64_t columns, int64_t terms,
                                                int64_t bytes, int lanes, int of_step,
                                                const Target &target) {
  constexpr int64_t kFar = 4 << 20;
  constexpr int kLine = 4;  // vectors of bytes
  const bool dots = of_step > 1;
  const int64_t all = terms * columns * bytes;
  if (all < streamed_bytes(rows, dots, target)) return std::nullopt;
  StreamedOperand s;
  s.fetches_strips = vector_registers(target) > 16;
  if (dots && s.fetches_strips) {
    // Strips are whole lines then, which the rows of a tile have to be worth.
    s.tile = tile_of_few_rows(rows, lanes, kLine, target);
    s.fetches_strips = all >= kFar && keeps_busy(s.tile, rows);
  }
  if (!dots || !s.fetches_strips) s.tile = tile_of_few_rows(rows, lanes, 1, target);
  if (!keeps_busy(s.tile, rows)) return std::nullopt;
  s.terms = terms_of_streams(rows, terms, of_step, s.fetches_strips);
  s.columns = columns_of_streams(columns, s.tile);
  return s;
}

int64_t terms_of_block(int64_t rows, int64_t steps, int64_t bytes, const ProductTile &tile,
                       const Target &target) {
  constexpr int64_t kBlock = 128 << 10;
  const int64_t cache = second_cache(target), step = tile.columns() * bytes;
  // The left operand goes through the cache beside the strip.
  const int64_t strip = steps * step, both = strip + steps * rows * bytes;
  if (strip <= cache / 4 || both <= cache) return 0;
  const int64_t most = kBlock / step;
  return divisor_between(steps, most / 4, most);
}

ProductPanels product_panels(int64_t rows, int64_t columns, int64_t steps, int64_t bytes,
                             int64_t sum_bytes, const ProductTile &tile) {
  constexpr int64_t kFewestTerms = 16, kFewRows = 64, kMostRows = 512;
  constexpr int64_t kStrip = 16 << 10, kBlock = 64 << 10, kPanel = 288 << 10, kSums = 128 << 10;
  ProductPanels p;
  if (steps == 0) return p;
  int64_t terms = kStrip / (tile.columns() * bytes), width = 0;
  if (rows <= kFewRows) {
    // Memory is read in long rows, as long as the sums stay near.
    width = equal_parts(columns, kSums / (rows * sum_bytes), tile.columns());
    const int64_t most = std::min(terms, kPanel / (width * bytes));
    terms = divisor_between(steps, most / 2, most);
  } else {
    terms = divisor_between(steps, terms / 2, terms);
    width = equal_parts(columns, kPanel / (std::max<int64_t>(terms, 1) * bytes), tile.columns());
  }
  if (terms < kFewestTerms) return p;
  const int64_t height = equal_parts(rows, kMostRows, tile.rows);
  p.block = static_cast<int>(equal_parts(height, kBlock / (terms * bytes), tile.rows));
  p.rows = static_cast<int>(tiles(height, p.block) * p.block);
  p.columns = static_cast<int>(width);
  if (p.rows <= rows && p.columns <= columns) p.terms = static_cast<int>(terms);
  return p;
}

}  // namespace polyhalite::ops
