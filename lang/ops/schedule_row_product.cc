// The schedule of one row times a large matrix, each element of which is used once.
#include <algorithm>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_operands.h"

namespace polyhalite::ops {

bool reads_once(const Loops &to, const Stage &s, const Func &operand) {
  constexpr int64_t kSecondCache = 512 << 10, kFewColumns = 256;
  const int64_t rows = s.extents.size() > 1 ? constant(s.extents[1]).value_or(0) : 1;
  const int64_t columns = constant(s.extents[0]).value_or(0);
  const int64_t least_columns = columns == 0 ? open_size(s, 0).least : columns;
  if (rows != 1 || least_columns < kFewColumns || s.rvars.size() != 1) return false;
  const CallNode *image = image_of(operand);
  if (!image || to.vars.size() > 2 || s.extents.size() > 2) return false;
  const auto steps = constant(s.rvars[0].extent());
  // Of open sizes the condition of a choice says so.
  if (!steps || columns == 0) return s.when.defined();
  return *steps * columns * image->type.bytes() > kSecondCache;
}

void schedule_row_product(const Loops &to, const Stage &s, int lanes, const Target &target) {
  constexpr int kSeveral = 8, kFew = 4;
  constexpr int64_t kWideRow = 32 << 10;
  Func sums = s.func;
  const std::vector<Var> args = sums.args();
  const int64_t columns = constant(s.extents[0]).value_or(open_size(s, 0).typical);
  // A Zen 5 fetches one row after the other faster, where their sums leave room in the first cache;
  // a Zen 4 fewer of them at a time, where that holds no row.
  const int64_t row_bytes = columns * sums.types()[0].bytes();
  const bool near = columns > 0 && row_bytes <= kNearSums, wide = row_bytes >= kWideRow;
  const int rows = is_zen_5(target) && near ? 1 : is_zen_4(target) && wide ? kFew : kSeveral;
  const TailStrategy tail = TailStrategy::GuardWithIf;
  RVar step("step"), together("together"), k = s.rvars[0];
  Var several("several"), part("part");
  std::vector<VarOrRVar> order{several, together, args[0], step};
  order.insert(order.end(), args.begin() + 1, args.end());
  Func adding = sums;
  // In a branch: other sizes need no memory for it.
  const LoopLevel level =
      s.when.defined() ? LoopLevel(Func(to.func), to.vars.back()) : LoopLevel::root();
  sums.compute_at(level).vectorize(args[0], lanes, tail);
  const auto steps = constant(k.extent());
  // From memory a Zen 4 fetches best where each of the rows is asked for one line after the other.
  constexpr int64_t kFar = 6 << 20;
  const bool far = !steps || *steps * columns * sums.types()[0].bytes() >= kFar;
  const int vectors = is_zen_4(target) && far ? 1 : 4;
  int64_t part_steps = steps ? (*steps + 7) / 8 : 512;
  while (steps && *steps % part_steps != 0) part_steps++;
  if (!steps || part_steps < *steps) {
    RVar parts("parts"), term("term");
    sums.update().split(k, parts, term, static_cast<int>(part_steps));
    adding = sums.update().rfactor(parts, part);
    adding.compute_at(level).vectorize(args[0], lanes, tail).parallel(part);
    adding.update().parallel(part);
    sums.update().reorder(args[0], parts).vectorize(args[0], lanes, tail);
    k = term;
    order.emplace_back(part);
  }
  adding.update()
      .split(k, step, together, rows)
      .split(args[0], args[0], several, vectors * lanes, tail)
      .reorder(order)
      .vectorize(several, lanes)
      .unroll(several)
      .unroll(together);
  polyhalite::Stage loops = to.stage;
  loops.vectorize(to.vars[0], lanes, tail);
}

}  // namespace polyhalite::ops
