// What the library's schedules share: a Func's dimensions, sizes of vectors and tails.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/ir/visit.h"
#include "polyhalite/ops.h"

namespace polyhalite::ops {

/// Fewer operations than this are not worth a second thread.
constexpr int64_t kWorthThreads = 1 << 15;

/// A task of more multiply-adds is worth tasks of its own inside.
constexpr int64_t kWorthTasksInside = 1 << 22;

/// Of an operand or a result that comes from memory, and goes there, each time.
constexpr int64_t kManyBytes = 32 << 20;

/// A Func's dimensions as a schedule sees them, innermost first.
struct Loops {
  Func func;
  std::vector<Var> vars;
  std::vector<Expr> extents;
  polyhalite::Stage stage;  // whose loops they are: func's, or those of a branch of it

  explicit Loops(const Func &f, std::vector<Expr> sizes)
      : func(f), vars(f.args()), extents(std::move(sizes)), stage(Func(f)) {}
  /// 0 where it is known at run time only.
  int64_t extent(size_t i) const;
};

/// Unknown sizes count as 256.
int64_t product_of(const std::vector<Expr> &extents);
TailStrategy tail_for(int64_t extent, int64_t factor);
/// Vectors of at most `lanes` that an extent can fill; 1: none. An extent that is not known (0) may
/// be anything.
int lanes_for(int64_t extent, int lanes);

/// Of a vector of f's values: as many as two vectors of float32 have, at most.
int natural_lanes(const Func &f, const Target &target);
/// Of points along the innermost dimension; a few points are not worth vectors.
int point_lanes(const Loops &l, int64_t operations, const Target &target);

/// A Zen 4 makes its widest vectors in two halves.
inline bool is_zen_4(const Target &target) { return target.processor_tune == Target::ZnVer4; }

/// What is told of a Zen 5 in these files was measured on one (EPYC, two multiply-adds of 512 bits
/// in a cycle, a second cache of 1 MiB).
inline bool is_zen_5(const Target &target) { return target.processor_tune == Target::ZnVer5; }

/// How many multiply-adds of float32 with operands near by take as long as a point elsewhere: as
/// many as the processor makes at once.
int64_t products_of_point(const Target &target);

/// Bytes of the second cache, which schedules share between operands: what most processors with the
/// target's instructions have at least.
int64_t second_cache(const Target &target);

/// Terms of the outermost reduction (the last) that make a partial sum of `most` terms at most,
/// where there are `worth` in all: what is lost by rounding grows with the number of terms that are
/// added one after the other. 0: one sum, also where no part of `least` terms divides them.
int block_of_terms(const std::vector<RVar> &rvars, int64_t most, int64_t worth, int64_t least);

inline bool is_variable(const Expr &e, const std::string &name) {
  const VariableNode *node = as_variable(e);
  return node && node->name == name;
}

/// How many vectors a register tile's sums and operands share.
int vector_registers(const Target &target);

/// How many sums a register tile has at least, for multiply-adds not to wait for each other.
int sums_in_flight(const Target &target);

/// Of `size` each, the last one perhaps beyond the extent.
inline int64_t tiles(int64_t extent, int64_t size) { return (extent + size - 1) / size; }

/// Does the last argument of a product's sums count along the first one's dimension?
inline bool is_split(const Stage &s) { return s.kind == Stage::Strips || s.groups > 1; }

/// What is promised of the size of argument i of a stage.
inline OpenSize open_size(const Stage &s, size_t i) {
  return i < s.open.size() ? s.open[i] : OpenSize{};
}

/// Has e few enough nodes that the tile of which it is a point may be unrolled?
bool is_small(const Expr &e);

/// Copies of a tile of sums at a level, vectors of the first argument. For what loops over them:
/// sums that a loop reads lie in memory, also while they are added up.
Func hold_tile(Func sums, const LoopLevel &level, int lanes);

/// Puts the loops of an update in order: those `inside` of its reductions, these, arguments that no
/// tile has (from the third on), and further ones.
void order_around_sums(polyhalite::Stage update, std::vector<VarOrRVar> inside,
                       const std::vector<RVar> &reduced, const std::vector<Var> &args,
                       const std::vector<Var> &further);

/// Of a Func's loops, from the outermost (the last) inwards, as many run in parallel as give tasks
/// enough; `counts`: their extents, 0 where that is known at run time only.
void make_parallel(const Loops &l, const std::vector<Var> &outer,
                   const std::vector<int64_t> &counts);

/// Can a Reduce run for one point after the other: does what it reads lie along the reduction?
bool reduces_rows(const Stage &s);

/// A reduction: partial results in the lanes of vectors where it runs along memory, else vectors of
/// its points. At a level, where there is one point or `several`, or, for null, on its own.
void schedule_reduction(const Stage &s, const LoopLevel *level, const Target &target,
                        bool several = false);

/// Of each Reduce the loop of an output, its dimensions in this order, with whose iterations it can
/// run. One that others may read runs no further inside than they do.
std::vector<std::optional<size_t>> row_loops(const std::vector<Stage> &stages,
                                             const std::vector<Expr> &extents,
                                             const std::vector<int> &order);

/// Short rows are made a few at a time, each step for all of them: the reductions of one wait for
/// each other, and a processor does not see as far as the next row. How many, 1 for long rows or
/// where not all reductions are of the same rows; the loop over them is split.
///
///   for rows/n { for each { largest }; for each { scaled }; for each { total }; for each { out } }
int rows_together(const Loops &out, const std::vector<Stage> &stages,
                  const std::vector<std::optional<size_t>> &loops_of_rows,
                  const std::vector<int> &order, const Target &target);

/// Short rows as vectors of which the last one is under a mask. Shifted ones would read what two
/// others have stored of a held row, which a processor waits for. False, and nothing is done, for
/// other rows, and where masks are dear.
bool in_masked_vectors(const Loops &l, const Target &target);

/// An InPlace: its loops, vectors of what lies along memory; it may be the output.
void schedule_in_place(const Stage &s, const Target &target);

/// An Attention whose result `to` is or copies: its loops are those of the result, innermost first.
///
///   for images, heads { turned; for queries/block { seen; peak; weights; total; sums; to } }
void schedule_attention(const Loops &to, const Stage &s, const Target &target);

/// A Fourier: blocks of rows, all passes of a block in one place, or passes one after the other.
///
///   for rows/lanes { passes; for k { lanes of spectrum } }
void schedule_fourier(const Stage &s, const Target &target);

/// Loop d of l, which is that of `given`, becomes one with those behind it, before `end`, until it
/// fills vectors, where all of them count along one piece of f's own memory and of all that f
/// reads. How many those are. Sizes become bounds, so that the last vector may shift inwards.
size_t join_until_full(Loops *l, const Loops &given, size_t d, size_t end, int lanes);

/// A Func whose innermost dimension strides through what it reads, while another one runs along
/// it: vectors of both, as squares. False, and nothing is done, where f reads in another way.
///
///   for others { for y/lanes { for x/lanes { lanes rows of the operand; lanes rows of f } } }
///
/// `may_join`: loops that lie as one in memory may become one, so that `l` is theirs no longer.
bool schedule_transpose(const Loops &l, bool parallel, const Target &target, bool may_join = false);

/// A Border of which other loops compute so many rows at a time, in one thread: in squares where
/// its channels lie apart in what it reads.
void schedule_rows_inside(const Stage &border, int64_t rows, const Target &target);

/// A Product whose sums stay in registers for a tile of `to`, whose dimensions `place` are those of
/// the sums' arguments, through the whole reduction; its operands, which the vectors run along.
///
///   for columns/tile { pack operand { for others { for rows/tile { sums; to } } } }
///
///   pack operand; for others { for columns/tile { for rows/tile { sums; to } } }
void schedule_product(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                      const std::vector<Func> &operands, const Target &target);

/// Is a Product's operand a large matrix, each element of which is used once?
bool reads_once(const Loops &to, const Stage &s, const Func &operand);

/// One row times such a matrix: its rows are read from their begin to their end, a few at a time;
/// each thread sums some of them.
///
///   parallel for parts { for k/8 { for x { sums(x) of this part, 8 steps } } }; add up the parts
void schedule_row_product(const Loops &to, const Stage &s, int lanes, const Target &target);

/// e, of so many points, where what follows from one byte and takes long is looked up in tables:
/// Funcs of all 256 values.
Expr tabulated(const Expr &e, int64_t points, const Target &target);

/// Values that are kept: all of them, or at a level those that it needs.
void schedule_held(const Stage &s, const LoopLevel *level, const Target &target);

/// Of a Func's points; 0 where not all of its sizes are known.
int64_t known_bytes(const Loops &l);

/// The ImageParams that an expression reads, by name.
std::map<std::string, std::shared_ptr<ParameterContents>> images_of(const Expr &e);

/// At each iteration of `at`, asks for what a stage reads of images two iterations of `from` later.
void fetch_ahead(polyhalite::Stage stage,
                 const std::map<std::string, std::shared_ptr<ParameterContents>> &images,
                 const VarOrRVar &at, const VarOrRVar &from);

/// Points of the pieces of a long row that threads share, each of which goes down all rows: a page
/// of them or more, but no more than the first cache has room for.
int64_t piece_of_row(int64_t extent, int lanes);

/// What the rows of l read, one of which is computed for each iteration of a loop `around` it, is
/// asked for two iterations before, where it is so much that it comes from memory. A loop of l that
/// has the same name gets another one.
void fetch_rows_ahead(const Loops &l, const Var &around);

/// Of what is computed as a whole, and known to be more than caches hold, stores go past them,
/// unless many rows end inside of lines: parts of lines take several times as long.
void stream_if_large(const Loops &l);

/// Every point on its own: vectors along the innermost dimension and, where they may, threads along
/// the outer ones. `alone`: nothing is computed inside of its loops; `whole`: no fewer than all of
/// its points are asked for; `inside`: operations for each point that its loops compute beside it.
void schedule_points(const Loops &l, bool alone, bool threads, const Target &target,
                     bool whole = false, int64_t inside = 0);

/// A Product in strips, whose sums stay in registers for a tile of `to`: all results of a strip,
/// some columns. `place` as above, without the strip; `border` is what it reads, or null.
///
///   for strips { for rows { for columns/tile { sums; to } } }
void schedule_strips(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                     const Stage *border, const Target &target);

/// A Depthwise product, whose sums stay in registers for a tile of `to`: a vector of channels, some
/// columns.
///
///   for rows { row of border; for channels/lanes { for columns/tile { sums; to } } }
void schedule_depthwise(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                        const Stage *border, const Target &target);

/// A Winograd whose results `to` is made of: its loops are those of the results, innermost first.
///
///   for images, blocks of rows { tiles; for strips { products { sums }; for tiles { to } } }
void schedule_winograd(const Loops &to, const Stage &s, const Stage *border, const Target &target);

/// Columns of a register tile of `vectors` vectors of sums that waste the least of so many columns.
constexpr int kMostColumns = 14;
int register_tile_columns(int vectors, int64_t columns, const Target &target,
                          int most_columns = kMostColumns);

}  // namespace polyhalite::ops
