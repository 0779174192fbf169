// Schedules of reductions: partial results in the lanes of vectors, vectors of results, rows of them
// from memory, parts that threads make.
#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "polyhalite/parameter.h"
#include "polyhalite/tuple.h"

namespace polyhalite::ops {

namespace {

// Of short reductions; longer ones are loops.
constexpr int64_t kMostUnrolledSteps = 4;

// Does an index move by one where the variable does?
bool steps_along(const Expr &e, const std::string &name) {
  // What an index was read from steps anyhow.
  if (const CallNode *call = as_call(e); call && call->kind != CallKind::Intrinsic) return false;
  switch (e->op) {
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
      return false;
    default:
      return is_variable(e, name) ||
             std::any_of(e->args.begin(), e->args.end(),
                         [&](const Expr &arg) { return steps_along(arg, name); });
  }
}

// What the update reads, by the first index of each read: whose elements lie side by side.
struct Reads {
  std::vector<RVar> rvars;  // that which runs along memory first
  bool along_reduction = false, along_points = false;
  size_t in_rows = 0;  // the first ones of them that stand alone, the first indices of each read
  bool dense = true;   // is it known how far apart the rows of what is read lie?

  bool is_across() const { return along_points && !along_reduction; }

  Reads(const Func &f, std::vector<RVar> variables) : rvars(std::move(variables)) {
    const std::vector<Var> points = f.args();
    std::vector<std::vector<Expr>> reads;
    const Tuple values = f.update_values(0);
    for (const Expr &value : values.as_vector()) {
      for_each_node(value, [&](const Expr &e) {
        const CallNode *call = as_call(e);
        if (!call || (call->kind != CallKind::Func && call->kind != CallKind::Image)) return;
        if (call->args.empty() || call->name == f.name()) return;
        reads.push_back(call->args);
        if (call->param && call->args.size() > 1)
          dense = dense && Parameter(call->param).stride_constraint(1).defined();
      });
    }
    const auto leads = [&](const std::string &name) {
      return std::any_of(reads.begin(), reads.end(),
                         [&](const std::vector<Expr> &at) { return steps_along(at[0], name); });
    };
    const auto first =
        std::find_if(rvars.begin(), rvars.end(), [&](const RVar &r) { return leads(r.name()); });
    along_reduction = first != rvars.end();
    along_points = !points.empty() && leads(points[0].name());
    if (along_reduction) std::rotate(rvars.begin(), first, first + 1);
    if (!along_reduction) return;
    in_rows = rvars.size();
    for (const std::vector<Expr> &at : reads) {
      if (!steps_along(at[0], rvars[0].name())) continue;
      size_t alone = 0;
      while (alone < in_rows && alone < at.size() && is_variable(at[alone], rvars[alone].name()))
        alone++;
      in_rows = alone;
    }
  }
};

// Lanes of partial results for one point after the other, joined at the end.
//
//   for points { for r/n { lanes of partial }; point }
void schedule_lanes(const Stage &s, const RVar &along, std::optional<int64_t> length, bool is_whole,
                    const LoopLevel *level, const Target &target, bool several) {
  Func f = s.func;
  const std::vector<Var> args = f.args();
  const int lanes = target.natural_vector_size(f.types()[0]);
  // Several vectors of partial results: an operation waits for the one before on its vector.
  const int64_t steps_at_most = length.value_or(4 * lanes);
  int vectors = 1;
  while (vectors < 4 && steps_at_most >= 4 * vectors * lanes) vectors *= 2;
  RVar outer("outer"), inner("inner");
  Var lane("lane");
  f.update().split(along, outer, inner, vectors * lanes);
  Func partial = f.update().rfactor(inner, lane);
  // In registers, for one point after the other.
  if (level && !several)
    partial.compute_at(*level);
  else if (args.empty())
    partial.compute_root();
  else
    partial.compute_at(f, args[0]);
  partial.vectorize(lane, lanes).update().vectorize(lane, lanes);
  // Short loops are left whole where nobody asks, and then mask each of their steps.
  const int64_t steps = length ? tiles(*length, vectors * lanes) : 0;
  if (length && is_whole && steps <= kMostUnrolledSteps) {
    partial.update().unroll(outer);
  } else if (length && *length % (vectors * lanes) != 0) {
    partial.update().always_partition(outer);
  }
  if (vectors > 1) {
    partial.unroll(lane);
    partial.update().unroll(lane);
  }
  f.update().atomic().vectorize(inner, vectors * lanes);
}

// Sums of blocks of terms, and the loops over the terms of a block and over blocks.
struct Blocks {
  Func sums;
  std::vector<RVar> terms, blocks;  // innermost first
  int64_t length;                   // of the first loop over terms
};

// Floats are added up in blocks of about the square root of their number: an error grows with the
// longest chain of additions. Of a mean over 160x120 points it was ten times onnxruntime's. None
// for an update that is not worth it.
std::optional<Blocks> sum_in_blocks(Func f) {
  constexpr int64_t kShortSum = 256, kLeastBlock = 32;
  if (f.outputs() > 1 || !f.types()[0].is_float() || f.update_value(0)->op != Op::Add)
    return std::nullopt;
  const auto extent_of = [&](const RVar &r) {
    return constant(r.extent()).value_or(4 * kShortSum);
  };
  int64_t all = 1, block = kLeastBlock, inner = 1;
  for (const RVar &r : f.rvars(0)) all *= extent_of(r);
  if (all <= kShortSum) return std::nullopt;
  while (block * block < all) block *= 2;
  std::vector<RVar> terms, blocks;
  std::vector<std::pair<RVar, Var>> kept;
  for (const RVar &r : f.rvars(0)) {
    RVar outer = r;
    if (blocks.empty() && inner * extent_of(r) <= 2 * block) {
      inner *= extent_of(r);
      terms.push_back(r);
      continue;
    }
    if (blocks.empty() && 4 * inner <= block) {
      RVar term(r.name() + "_term");
      outer = RVar(r.name() + "_block");
      f.update().split(r, outer, term, static_cast<int>(tiles(block, inner)));
      terms.push_back(term);
    }
    blocks.push_back(outer);
    kept.emplace_back(outer, Var(outer.name() + "_part"));
  }
  if (blocks.empty()) return std::nullopt;
  const int64_t length = f.rvars(0)[0].name() == terms[0].name() ? extent_of(terms[0]) : block;
  return Blocks{f.update().rfactor(kept), terms, blocks, length};
}

// Vectors of points, as many side by side as registers hold and divide a row: what a step of the
// reduction reads is then in one place. Returned is whether the update has them, which an update
// that writes anywhere has not.
//
//   for points/(vectors*lanes) { for r { vectors of lanes of points } }
//
// Of short rows and of open ones some points are beyond the last one, and are left out: loads under
// masks, where the processor has them, and where a row has few vectors.
bool schedule_vectors_of_points(Func f, int64_t extent, const Target &target) {
  constexpr int kMostVectors = 8, kVectorsOfOpen = 4, kFewSteps = 2;
  const std::vector<Var> args = f.args();
  const bool open = extent <= 0, one = f.outputs() == 1;
  const int natural = target.natural_vector_size(f.types()[0]);
  const bool masks = !open && target.has_feature(Target::AVX2) &&
                     f.types()[0].bits() >= 32 && is_variable(f.update_args(0)[0], args[0].name());
  int fit = lanes_for(std::max<int64_t>(extent, 0), natural);
  // Whole vectors whose last one is masked, rather than halves of vectors that leave some points.
  if (masks && extent > 2 &&
      ((extent < natural && fit < extent) || extent > kMostVectors * natural))
    fit = natural;
  if (fit <= 1) return false;
  int vectors = !one ? 1 : open ? kVectorsOfOpen : kMostVectors;
  TailStrategy tail = open ? TailStrategy::GuardWithIf : TailStrategy::Auto;
  const int64_t all = tiles(extent, fit), steps = tiles(all, kMostVectors);
  if (!open && (one || masks) && extent % fit != 0 && (masks || steps <= kFewSteps)) {
    vectors = one ? static_cast<int>(tiles(all, steps)) : 1;
    tail = masks ? TailStrategy::PredicateLoads : TailStrategy::GuardWithIf;
  } else {
    while (extent % (vectors * fit) != 0 && vectors > 1) vectors--;
  }
  f.vectorize(args[0], fit,
              tail == TailStrategy::PredicateLoads ? tail
              : open                               ? TailStrategy::GuardWithIf
                                                   : TailStrategy::Auto);
  if (!is_variable(f.update_args(0)[0], args[0].name())) return false;
  // One vector under a guard, as those of an open row's end, would be so in each block.
  const bool whole = tail == TailStrategy::Auto && extent % (vectors * fit) == 0;
  const bool masked = tail == TailStrategy::PredicateLoads;
  std::optional<Blocks> in_blocks;
  if (!open && (vectors > 1 || whole || masked)) in_blocks = sum_in_blocks(f);
  if (vectors == 1 && !in_blocks) {
    f.update().vectorize(args[0], fit, masked ? tail : TailStrategy::GuardWithIf);
    return true;
  }
  Var points("points");
  const auto points_inside = [&](polyhalite::Stage update, const std::vector<RVar> &rvars) {
    update.split(args[0], args[0], points, vectors * fit, tail);
    std::vector<VarOrRVar> order{points};
    order.insert(order.end(), rvars.begin(), rvars.end());
    order.emplace_back(args[0]);
    update.reorder(order).vectorize(points, fit).unroll(points);
    if (masked && steps > 1) update.always_partition(args[0]);
  };
  points_inside(f.update(), in_blocks ? in_blocks->blocks : f.rvars(0));
  if (!in_blocks) return true;
  Func sums = in_blocks->sums;
  sums.compute_at(f, in_blocks->blocks[0])
      .vectorize(args[0], fit, extent < fit ? tail : TailStrategy::Auto);
  if (whole) sums.unroll(args[0]);
  points_inside(sums.update(), in_blocks->terms);
  return true;
}

// 0 where not all sizes are known.
int64_t terms_of(const Stage &s) {
  int64_t terms = 1;
  for (const RVar &r : s.rvars) terms *= constant(r.extent()).value_or(0);
  return terms;
}

// Are all sizes of a reduction of one value known, and its terms more than the second cache holds?
bool goes_down_far_rows(const Stage &s, const Target &target) {
  const Func f = s.func;
  if (f.outputs() != 1 || f.num_update_definitions() != 1 || f.types()[0].bits() < 32) return false;
  if (!is_variable(f.update_args(0)[0], f.args()[0].name())) return false;
  const int64_t bytes = known_bytes(Loops(f, s.extents)) * terms_of(s);
  constexpr int64_t kWideRow = 8;
  return bytes > second_cache(target) &&
         *constant(s.extents[0]) >= kWideRow * target.natural_vector_size(f.types()[0]);
}

// Terms that no near cache holds: rows of points in the order in which they lie, some at a time,
// whose sums stay in the first cache; the next rows are asked for meanwhile. Vectors that go down
// the rows would wait for each of them.
//
//   for pieces { for r/n { for points/lanes { vector of points: n rows } } }
void schedule_rows_of_points(Func f, int64_t extent, const Target &target) {
  constexpr int64_t kRows = 8;
  const Var x = f.args()[0];
  const int lanes = target.natural_vector_size(f.types()[0]);
  const TailStrategy tail = extent % lanes == 0               ? TailStrategy::Auto
                            : target.has_feature(Target::AVX2) ? TailStrategy::PredicateLoads
                                                               : TailStrategy::GuardWithIf;
  const auto images = images_of(f.update_value(0));
  const auto in_blocks = sum_in_blocks(f);
  Func sums = in_blocks ? in_blocks->sums : f;
  polyhalite::Stage update = sums.update();
  std::vector<RVar> terms = in_blocks ? in_blocks->terms : f.rvars(0);
  std::vector<VarOrRVar> order;
  const Var lane("lane");
  const RVar row("row");
  int64_t rows = kRows;
  const int64_t length = in_blocks ? in_blocks->length : *constant(terms[0].extent());
  while (length % rows != 0) rows--;
  // In pieces, where the loop over them stands outside of all others.
  const int64_t piece = piece_of_row(extent, lanes);
  const Var points("points");
  const auto in_vectors = [&](polyhalite::Stage stage, bool in_pieces) {
    stage.split(x, x, lane, lanes, tail).vectorize(lane);
    if (!in_pieces) return x;
    stage.split(x, x, points, static_cast<int>(piece / lanes), TailStrategy::GuardWithIf);
    return points;
  };
  const bool pieces = piece < extent;
  const Var along = in_vectors(update, pieces && !in_blocks);
  order = {lane};
  if (rows > 1) {
    const RVar step("step");
    update.split(terms[0], step, row, static_cast<int>(rows)).unroll(row);
    terms[0] = step;
    order.emplace_back(row);
  }
  order.emplace_back(along);
  order.insert(order.end(), terms.begin(), terms.end());
  if (pieces && !in_blocks) order.emplace_back(x);
  update.reorder(order);
  fetch_ahead(update, images, along, terms[0]);
  f.vectorize(x, lanes, tail);
  if (in_blocks) {
    order = {lane, in_vectors(f.update(), pieces)};
    order.insert(order.end(), in_blocks->blocks.begin(), in_blocks->blocks.end());
    if (pieces) order.emplace_back(x);
    f.update().reorder(order);
    sums.compute_at(f, in_blocks->blocks[0]).vectorize(x, lanes, tail);
  }
  if (pieces) f.update().parallel(x);
}

// A few points of many terms, of which threads make parts: of the outermost reduction, which is
// the one along memory where it is alone.
//
//   parallel for piece { parts(piece) }; for part { point }
void schedule_parts(const Stage &s, const RVar &along, int64_t length, const RVar &outermost,
                    int64_t steps, const Target &target) {
  constexpr int64_t kParts = 16, kPage = 4096;
  Func f = s.func;
  const RVar part("part"), rest("rest");
  const Var piece("piece");
  const bool alone = outermost.name() == along.name();
  const int64_t size = alone ? tiles(tiles(steps, kParts), kPage) * kPage : tiles(steps, kParts);
  f.update().split(outermost, part, rest, static_cast<int>(size));
  Stage parts = s;
  parts.func = f.update().rfactor(part, piece);
  parts.func.compute_root().update().parallel(piece);
  schedule_lanes(parts, alone ? rest : along, alone ? size : length, true, nullptr, target, false);
}

}  // namespace

bool reduces_rows(const Stage &s) {
  const Func f = s.func;
  return !Reads(f, s.rvars.empty() ? f.rvars(0) : s.rvars).is_across();
}

void schedule_reduction(const Stage &s, const LoopLevel *level, const Target &target,
                        bool several) {
  Func f = s.func;
  const Reads reads(f, s.rvars.empty() ? f.rvars(0) : s.rvars);
  if (level)
    f.compute_at(*level);
  else
    f.compute_root();
  const std::vector<Var> args = f.args();
  const int lanes = target.natural_vector_size(f.types()[0]);
  int64_t operations = product_of(s.extents);
  bool along_reduction = false;
  bool scheduled = false;  // has the first update directives?
  if (!s.rvars.empty() && f.num_update_definitions() == 1 && f.outputs() == 1) {
    along_reduction = reads.along_reduction || !reads.along_points;
    if (along_reduction && reads.rvars.size() > 1) {
      f.update().reorder(std::vector<VarOrRVar>(reads.rvars.begin(), reads.rvars.end()));
      scheduled = true;
    }
    RVar along = reads.rvars[0];
    auto length = constant(along.extent());
    size_t joined = 1;
    // Rows that follow one another in memory are one, where they have few vectors or fill none. If
    // strides are open, vectors across rows are gathered.
    const auto is_short = [lanes, dense = reads.dense](int64_t n) {
      return n < 2 * lanes || (dense && n % lanes != 0 && n < 8 * lanes);
    };
    for (; joined < reads.in_rows && length && is_short(*length); joined++) {
      const auto rows = constant(reads.rvars[joined].extent());
      if (!rows) break;
      RVar all("all");
      f.update().fuse(along, reads.rvars[joined], all);
      along = all;
      length = *length * *rows;
    }
    operations *= length.value_or(4 * lanes);
    if (along_reduction && length.value_or(lanes) >= lanes) {
      const bool whole = joined == s.rvars.size();
      const RVar outermost = whole ? along : reads.rvars.back();
      const int64_t steps = whole ? length.value_or(0) : constant(outermost.extent()).value_or(0);
      constexpr int64_t kFewPoints = 8, kManyTerms = 1 << 20, kLeastSteps = 64;
      if (!level && product_of(s.extents) < kFewPoints && length && steps >= kLeastSteps &&
          terms_of(s) >= kManyTerms)
        return schedule_parts(s, along, *length, outermost, steps, target);
      schedule_lanes(s, along, length, whole, level, target, several);
      scheduled = true;
    }
  }
  const bool across = f.outputs() == 1 ? !along_reduction : reads.is_across();
  const bool vectors = across && !args.empty() && (!level || several);
  if (!level && vectors && goes_down_far_rows(s, target)) {
    schedule_rows_of_points(f, *constant(s.extents[0]), target);
    scheduled = true;
    operations *= 8;
  } else if (vectors) {
    scheduled = schedule_vectors_of_points(f, constant(s.extents[0]).value_or(0), target);
    operations *= 8;
  }
  // The outermost loop of several iterations, if it has no vectors.
  size_t outer = args.empty() ? 0 : args.size() - 1;
  while (outer > 0 && is_one(s.extents[outer])) outer--;
  const bool parallel = !level && operations >= kWorthThreads && !args.empty() &&
                        !is_one(s.extents[outer]) && (outer > 0 || !vectors);
  if (parallel && outer > 0) f.parallel(args[outer]);
  for (int u = 0; u < f.num_update_definitions(); u++) {
    // Where it is a loop of the update, too.
    if (parallel && is_variable(f.update_args(u)[outer], args[outer].name())) {
      f.update(u).parallel(args[outer]);
    } else if (u > 0 || !scheduled) {
      f.update(u).unscheduled();
    }
  }
}

}  // namespace polyhalite::ops
