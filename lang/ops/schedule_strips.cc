// Schedules of convolutions with kernels in strips.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/dots.h"
#include "lang/ops/tile_schedule.h"
#include "polyhalite/operators.h"

namespace polyhalite::ops {

namespace {

class StripSchedule : TileSchedule {
 public:
  StripSchedule(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                const Stage *border, int lanes, int vectors, const Target &target)
      : TileSchedule(to, place, s, border, lanes, vectors, target,
                     s.parts.empty() ? kMostColumns : kMostOfSums) {}

  void run() {
    if (!s_.parts.empty()) {
      tile_output(StripLoop::Outermost);
      return sum_blocks();
    }
    // Where there is no border, all strips of a tile are computed one after the other, so that
    // results are written, and what is added to them is read, in one stream.
    constexpr int64_t kStream = 256 << 10, kStay = 640 << 10;
    const int64_t kernels = steps_of(s_) * width_ * s_.groups * sums_.types()[0].bytes();
    tile_output(kernels > kStay                ? StripLoop::Outermost
                : border_ || kernels > kStream ? StripLoop::InRow
                                               : StripLoop::Innermost);
    tile_sums();
  }

 private:
  // Beside their own sums registers hold those of a block.
  static constexpr int kMostOfSums = 7;

  //   for blocks { for groups { dots }; sums += scaled dots }
  void sum_blocks() {
    sums_.bound(args_[0], 0, width_);
    in_registers(sums_.operator polyhalite::Stage());
    order_update(sums_.update(), s_.rvars, {}, false);
    Func dots = s_.parts[0];
    const std::vector<Var> args = dots.args();
    const std::vector<RVar> k = dots.rvars(0);  // in a word, in a byte, groups
    dots.compute_at(sums_, s_.rvars[0]).bound(args[0], 0, width_);
    in_registers(dots.operator polyhalite::Stage(), args);
    polyhalite::Stage update = dots.update();
    const std::optional<Dot> dot =
        dots.types()[0] == Int(32) ? dot_for(dots, lanes_, target_) : std::nullopt;
    if (dot) {
      Var sum("sum");
      update.split(args[0], args[0], sum, dot->sums);
      update.reorder(k[0], sum, args[0], args[1], k[1], k[2], args[2], args[3]);
      update.tensorize(sum, k[0], dot->name);
      if (width_ > dot->sums) update.unroll(args[0]);
      if (tile_ > 1) update.unroll(args[1]);
    } else {
      update.reorder(args[0], args[1], k[0], k[1], k[2], args[2], args[3]).unroll(k[0]);
      in_registers(update, args);
    }
    update.unroll(k[1]);
  }

  void tile_sums() {
    constexpr int64_t kUnrolled = 4;
    // Also of a strip that has results beyond the last one.
    sums_.bound(args_[0], 0, width_);
    in_registers(sums_.operator polyhalite::Stage());
    // Loops of one iteration stand outside, where they do nothing.
    std::vector<RVar> rvars, ones;
    for (const RVar &r : s_.rvars) (is_one(r.extent()) ? ones : rvars).push_back(r);
    if (rvars.empty()) return order_update(sums_.update(), ones, {});
    const bool unrolled = constant(rvars[0].extent()).value_or(kUnrolled + 1) <= kUnrolled;
    // For the sake of rounding. The more often kernels' elements are fetched, the less it costs.
    const int64_t most = is_one_row() ? 128 : 256;
    const int size = block_of_terms(rvars, most, 3 * most / 2, most / 4);
    steps_ = size != 0 && rvars.size() == 1 ? size : constant(rvars[0].extent()).value_or(1);
    if (const int chains = chains_of_row(rvars)) return sum_in_chains(rvars[0], ones, size, chains);
    const auto with_ones = [&] {
      std::vector<RVar> all = rvars;
      all.insert(all.end(), ones.begin(), ones.end());
      return all;
    };
    if (size == 0) {
      order_update(sums_.update(), with_ones(), {});
      if (unrolled) sums_.update().unroll(rvars[0]);
      return;
    }
    RVar blocks("blocks"), term("term");
    Var part("part");
    sums_.update().split(rvars.back(), blocks, term, size);
    Func partial = sums_.update().rfactor(blocks, part);
    partial.compute_at(sums_, blocks);
    in_registers(partial.operator polyhalite::Stage());
    rvars.back() = term;
    order_update(partial.update(), with_ones(), {part});
    if (unrolled) partial.update().unroll(rvars[0]);
    order_update(sums_.update(), {blocks}, {}, false);
  }

  // Sums that a result of one row is made of, since each multiply-add waits for the one before it:
  // of every so many-th term. 0: enough results are made at once, or terms are few.
  int chains_of_row(const std::vector<RVar> &rvars) const {
    constexpr int kEnough = 8, kManySteps = 8;
    if (!is_one_row() || rvars.size() != 1 || !sums_.types()[0].is_float()) return 0;
    int chains = 1;
    while (chains * width_ / lanes_ < kEnough) chains *= 2;
    while (chains > 1 && (steps_ % chains != 0 || steps_ < kManySteps * chains)) chains /= 2;
    return chains > 1 ? chains : 0;
  }

  //   for blocks { for terms/chains { chains of sums }; add them up }
  void sum_in_chains(RVar k, const std::vector<RVar> &ones, int size, int chains) {
    constexpr int kTogether = 2;
    RVar blocks("blocks"), term("term"), chain("chain"), together("together");
    Var part("part"), own("own");
    std::vector<std::pair<RVar, Var>> kept{{chain, own}};
    if (size != 0) {
      sums_.update().split(k, blocks, term, size);
      kept.emplace_back(blocks, part);
      k = term;
    }
    sums_.update().split(k, k, chain, chains);
    Func partial = sums_.update().rfactor(kept);
    if (size != 0) {
      partial.compute_at(sums_, blocks);
    } else {
      partial.compute_at(level_);
    }
    in_registers(partial.operator polyhalite::Stage());
    partial.unroll(own);
    std::vector<VarOrRVar> inner{args_[0]}, outer;
    if (args_.size() > 1) inner.emplace_back(args_[1]);
    for (const RVar &r : ones) outer.emplace_back(r);
    for (size_t i = 2; i < args_.size(); i++) outer.emplace_back(args_[i]);
    const auto ordered = [&](polyhalite::Stage stage, const std::vector<VarOrRVar> &middle,
                             const std::vector<VarOrRVar> &last) {
      std::vector<VarOrRVar> order = inner;
      order.insert(order.end(), middle.begin(), middle.end());
      order.insert(order.end(), outer.begin(), outer.end());
      order.insert(order.end(), last.begin(), last.end());
      stage.reorder(order);
      in_registers(stage);
    };
    const bool unrolled = steps_ / chains % kTogether == 0;
    if (unrolled) partial.update().split(k, k, together, kTogether);
    std::vector<VarOrRVar> middle{own}, last;
    if (unrolled) middle.emplace_back(together);
    middle.emplace_back(k);
    if (size != 0) last.emplace_back(part);
    ordered(partial.update(), middle, last);
    partial.update().unroll(own);
    if (unrolled) partial.update().unroll(together);
    outer.erase(outer.begin(), outer.begin() + static_cast<ptrdiff_t>(ones.size()));
    middle = {chain};
    if (size != 0) middle.emplace_back(blocks);
    ordered(sums_.update(), middle, {});
    sums_.update().unroll(chain);
  }
};

}  // namespace

int block_strip_width(const Target &target) { return 2 * target.natural_vector_size(Float(32)); }

void schedule_strips(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                     const Stage *border, const Target &target) {
  const int width = static_cast<int>(constant(s.extents[0]).value_or(1));
  int lanes = target.natural_vector_size(s.func.types()[0]);
  while (width % lanes != 0) lanes /= 2;
  StripSchedule(to, place, s, border, lanes, width / lanes, target).run();
}

}  // namespace polyhalite::ops
