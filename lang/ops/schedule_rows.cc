// What the schedule of reduced rows rests on: which loops they are made in, how many at a time,
// which ones are asked for ahead.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"

namespace polyhalite::ops {

namespace {

// The loop of an output, its dimensions in this order, with whose iterations a Reduce can run:
// where its points are all dimensions but the innermost ones.
std::optional<size_t> row_loop(const Stage &s, const std::vector<Expr> &extents,
                               const std::vector<int> &order) {
  // Vectors of points have no place where there is one point.
  if (!reduces_rows(s)) return std::nullopt;
  std::set<size_t> places;
  for (int d : s.dims) {
    if (d < 0) continue;
    const auto place =
        static_cast<size_t>(std::find(order.begin(), order.end(), d) - order.begin());
    if (!is_one(extents[place])) places.insert(place);
  }
  if (places.empty() || *places.begin() == 0) return std::nullopt;
  for (size_t p = *places.begin(); p < order.size(); p++) {
    if (!places.count(p) && !is_one(extents[p])) return std::nullopt;
  }
  return *places.begin();
}

}  // namespace

std::vector<std::optional<size_t>> row_loops(const std::vector<Stage> &stages,
                                             const std::vector<Expr> &extents,
                                             const std::vector<int> &order) {
  std::vector<std::optional<size_t>> loops(stages.size());
  size_t outermost = 0;  // of those behind
  for (size_t i = stages.size(); i-- > 0;) {
    if (stages[i].kind != Stage::Reduce) continue;
    const std::optional<size_t> loop = row_loop(stages[i], extents, order);
    if (loop && *loop >= outermost) loops[i] = loop;
    outermost = std::max(outermost, loops[i].value_or(order.size()));
  }
  return loops;
}

int rows_together(const Loops &out, const std::vector<Stage> &stages,
                  const std::vector<std::optional<size_t>> &loops_of_rows,
                  const std::vector<int> &order, const Target &target) {
  constexpr int64_t kMostVectors = 16, kFewVectors = 2;
  std::optional<size_t> loop;
  for (size_t i = 0; i < stages.size(); i++) {
    if (!loops_of_rows[i]) continue;
    const std::vector<int> &dims = stages[i].dims;
    if (loop.value_or(*loops_of_rows[i]) != *loops_of_rows[i] || dims.empty() ||
        dims[0] != order[*loops_of_rows[i]])
      return 1;
    loop = loops_of_rows[i];
  }
  if (!loop) return 1;
  int64_t length = 1;
  for (size_t d = 0; d < *loop; d++) length *= out.extent(d);
  const int64_t vectors = tiles(length, natural_lanes(out.func, target));
  const int rows = vectors <= kFewVectors ? 8 : 4;
  const int64_t all = out.extent(*loop);
  if (vectors < 1 || vectors > kMostVectors || (all != 0 && all < rows)) return 1;
  Func(out.func).split(out.vars[*loop], out.vars[*loop], Var("each"), rows,
                       all == 0 ? TailStrategy::GuardWithIf : TailStrategy::Auto);
  return rows;
}

std::map<std::string, std::shared_ptr<ParameterContents>> images_of(const Expr &e) {
  std::map<std::string, std::shared_ptr<ParameterContents>> images;
  for_each_node(e, [&](const Expr &part) {
    const CallNode *call = as_call(part);
    if (call && call->param) images[call->name] = call->param;
  });
  return images;
}

void fetch_ahead(polyhalite::Stage stage,
                 const std::map<std::string, std::shared_ptr<ParameterContents>> &images,
                 const VarOrRVar &at, const VarOrRVar &from) {
  constexpr int kAhead = 2;
  for (const auto &[name, image] : images)
    stage.prefetch(ImageParam(image), at, from, kAhead, PrefetchBoundStrategy::NonFaulting);
}

int64_t piece_of_row(int64_t extent, int lanes) {
  constexpr int64_t kLeast = 1024, kMost = 4096, kParts = 8;
  if (extent < 2 * kLeast) return extent;
  for (int64_t parts = tiles(extent, kMost); parts <= extent / kLeast; parts++) {
    const bool enough = parts >= kParts || extent / (parts + 1) < kLeast;
    if (enough && extent % (parts * lanes) == 0) return extent / parts;
  }
  return extent < kMost ? extent : kLeast;
}

// Steps that only compute leave the memory idle else, and a processor that fetches ahead by itself
// begins anew with each row.
void fetch_rows_ahead(const Loops &l, const Var &around) {
  if (known_bytes(l) < kManyBytes) return;
  Func f = l.func;
  auto images = images_of(f.value());
  // Others are not read a row at a time.
  for (auto i = images.begin(); i != images.end();) {
    const auto dims = static_cast<size_t>(ImageParam(i->second).dimensions());
    i = dims == l.vars.size() ? std::next(i) : images.erase(i);
  }
  if (images.empty()) return;
  // The loop around is meant, not f's own over one row.
  for (const Var &v : f.args()) {
    if (v.name() == around.name()) f.rename(v, Var("own_" + v.name()));
  }
  fetch_ahead(f, images, l.vars[0], around);
}

bool in_masked_vectors(const Loops &l, const Target &target) {
  constexpr int64_t kMostVectors = 16;
  const int64_t n = l.extent(0);
  const int lanes = natural_lanes(l.func, target);
  if (n < lanes || tiles(n, lanes) > kMostVectors || !target.has_feature(Target::AVX512_Skylake))
    return false;
  Func f = l.func;
  f.bound(l.vars[0], 0, static_cast<int>(n))
      .vectorize(l.vars[0], lanes, TailStrategy::Predicate)
      .unroll(l.vars[0]);
  return true;
}

}  // namespace polyhalite::ops
