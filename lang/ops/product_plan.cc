#include "lang/ops/product_plan.h"

#include <algorithm>

namespace polyhalite::ops {

namespace {

constexpr int64_t kStreamedColumns = 1024;       // a page of them
constexpr int64_t kMostRowsOfStreams = 64;       // packed columns serve more
constexpr int64_t kRowsWorthPackingAhead = 256;  // where next strips are fetched

}  // namespace

ProductPlan::ProductPlan(const Loops &to, const std::vector<size_t> &place, const Stage &s,
                         const std::optional<Dot> &dot, const Target &target)
    : to_(to),
      place_(place),
      s_(s),
      target_(target),
      sums_(s.func),
      args_(sums_.args()),
      has_rest_(s.kind == Stage::Product && sums_.num_update_definitions() > 1),
      grouped_(s.groups > 1 && place.size() < s.extents.size()),
      dot_(dot),
      has_idle_columns_(!grouped_ && constant(s.extents[0]).value_or(0) > to.extent(place[0]) &&
                        to.extent(place[0]) > 0),
      tile_(product_tile(s, dot_, !grouped_ && place.size() > 1, has_idle_columns_, target)),
      columns_(constant(s.extents[0]).value_or(0)),
      rows_(s.extents.size() > 1 ? constant(s.extents[1]).value_or(0) : 1),
      least_columns_(columns_ == 0 ? open_size(s, 0).least : columns_),
      least_rows_(rows_ == 0 ? open_size(s, 1).least : rows_),
      masked_(columns_ == 0 && open_size(s, 0).most > 0),
      few_registers_(vector_registers(target) <= 16),
      loads_under_masks_(target.has_feature(Target::AVX2)),
      lanes_(target.natural_vector_size(s.func.types()[0])),
      may_sum_along_depth_(s.extents.size() > 1 && s.rvars.size() == 1 && !grouped_ &&
                           place.size() > 1 && least_columns_ > 0 && least_rows_ > 0),
      along_depth_(may_sum_along_depth_ ? tile_along_depth(s, target) : ProductTile{}),
      columns_inside_(shares_others()) {}

bool ProductPlan::shares_others() const {
  constexpr int64_t kManyTasks = 8;
  if (!dot_ || columns_ == 0 || place_.size() < 2) return false;
  int64_t others = 1;
  for (size_t i = 0; i < to_.vars.size(); i++) {
    if (i != place_[0] && i != place_[1]) others *= to_.extent(i);
  }
  int64_t bytes = columns_ * s_.groups;
  for (const RVar &r : s_.rvars) bytes *= constant(r.extent()).value_or(0);
  return others >= kManyTasks && bytes > 0 && bytes <= second_cache(target_) / 2;
}

bool ProductPlan::is_one_strip() const { return tile_.all_columns || has_idle_columns_; }

bool ProductPlan::is_one_matrix() const {
  return s_.rvars.size() == 1 && s_.extents.size() == 2 && place_.size() == 2 &&
         to_.vars.size() == 2 && !s_.when.defined() && !has_rest_;
}

bool ProductPlan::streams_for_few_rows(const Func &operand) const {
  if (rows_ < 2 || rows_ > kMostRowsOfStreams || columns_ < kStreamedColumns || !is_one_matrix() ||
      place_[0] != 0)
    return false;
  const CallNode *image = image_of(operand);
  if (!image || has_idle_columns_ || fetches_strips(image)) return false;
  return streamed(image).has_value();
}

std::optional<StreamedOperand> ProductPlan::streamed(const CallNode *image) const {
  return streamed_operand(rows_, columns_, constant(s_.rvars[0].extent()).value_or(0),
                          image->type.bytes(), tile_.lanes, dot_ ? dot_->terms : 1, target_);
}

ProductTile ProductPlan::tile_of_panels() const {
  constexpr int64_t kFewestRows = 4, kFewRows = 64;
  ProductTile tile = tile_;
  if (rows_ > kFewRows) return tile;
  while (tile.rows > kFewestRows && rows_ % tile.rows != 0) tile.rows--;
  return rows_ % tile.rows == 0 ? tile : tile_;
}

ProductPanels ProductPlan::panels(int64_t term_bytes) const {
  return product_panels(rows_, columns_, constant(s_.rvars[0].extent()).value_or(0), term_bytes,
                        s_.func.types()[0].bytes(), tile_of_panels());
}

bool ProductPlan::gains_by_panels(const Func &operand) const {
  constexpr int64_t kLarge = 8 << 20, kFewRows = 64;
  if (lanes_ * s_.func.types()[0].bytes() != 32 || tile_.lanes != lanes_ || is_one_strip() ||
      !is_one_matrix() || place_[0] != 0)
    return false;
  const int64_t bytes = operand.types()[0].bytes();
  const int64_t step = constant(s_.rvars[0].extent()).value_or(0) * bytes;
  if (rows_ < kFewestRowsOfPanels || std::max(rows_, columns_) * step < kLarge) return false;
  // Strips that stay near are as quick in many rows, and so are all of bytes.
  const bool stays_near = dot_ || step * tile_.columns() <= second_cache(target_) / 4;
  if (rows_ > kFewRows && stays_near) return false;
  return dense_image(operand.value(), operand.args()[0].name()) && panels(bytes).terms != 0;
}

bool ProductPlan::gains_along_depth(const Func &operand) const {
  // To add up a vector's lanes costs more than a vector of columns gains, where sums are short.
  constexpr int64_t kFewColumns = 4, kMoreColumns = 12, kLongSum = 48, kManyRows = 16;
  if (!may_sum_along_depth_ || has_idle_columns_) return false;
  const int64_t vectors = constant(s_.rvars[0].extent()).value_or(kLongSum * lanes_) / lanes_;
  if (vectors < 2) return false;
  const std::string depth = s_.rvars[0].name();
  if (!dense_factor(sums_, depth)) return false;
  const bool dense = dense_image(operand.value(), operand.args()[1].name()) != nullptr;
  // Of open sizes costs are not known: a class is made for vectors along the reduction, or is one
  // of rows that are too few to turn the operand for.
  if (columns_ == 0 || rows_ == 0) {
    return open_size(s_, 0).typical == 1 ||
           (dense && planned_rows() < rows_worth_packing(operand.types()[0]));
  }
  if (dense) return rows_ < 4 * tile_.rows || along_depth_.cycles < tile_.cycles;
  const bool adds_quickly = vectors >= kLongSum || is_zen_4(target_);
  return columns_ <= (adds_quickly ? kMoreColumns : kFewColumns) && rows_ >= kManyRows &&
         along_depth_.cycles < tile_.cycles;
}

bool ProductPlan::fetches_strips(const CallNode *image) const {
  constexpr int64_t kFewRows = 4, kLarge = 4 << 20;
  if (dot_ || few_registers_ || is_one_strip() || columns_inside_ || masked_) return false;
  const int64_t steps = constant(s_.rvars[0].extent()).value_or(0), bytes = image->type.bytes();
  if (columns_ == 0 || rows_ == 0 || steps == 0) return columns_ == 0 && rows_ == 0;
  return columns_ > tile_.columns() && (rows_ > kFewRows || steps * columns_ * bytes >= kLarge) &&
         steps * tile_.columns() * bytes <= second_cache(target_) / 4;
}

bool ProductPlan::lies_well(const CallNode *image) const {
  const int64_t rows = planned_rows();
  return (!dot_ && columns_ > 0 && columns_ <= tile_.columns()) ||
         rows < rows_worth_packing(image->type) ||
         (fetches_strips(image) && rows < kRowsWorthPackingAhead);
}

int64_t ProductPlan::planned_rows() const {
  const int64_t typical = open_size(s_, 1).typical;
  return rows_ != 0 ? rows_ : typical > 0 ? typical : 64;
}

int64_t ProductPlan::rows_worth_packing(const Type &type) const {
  // What dot products read lies side by side only where it is packed.
  if (dot_) return 2 * tile_.rows;
  const int64_t steps = s_.rvars.size() == 1 ? constant(s_.rvars[0].extent()).value_or(0) : 0;
  return ops::rows_worth_packing(rows_, columns_ * type.bytes(), steps, tile_, target_);
}

}  // namespace polyhalite::ops
