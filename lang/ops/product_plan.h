// What a product's sizes, operands and processor are, and which form it takes by them. The directives
// are those of schedule_product.cc.
#pragma once

#include <optional>

#include "lang/ops/common.h"
#include "lang/ops/loops.h"
#include "lang/ops/product_operands.h"
#include "lang/ops/product_tile.h"

namespace polyhalite::ops {

class ProductPlan {
 public:
  ProductPlan(const Loops &to, const std::vector<size_t> &place, const Stage &s,
              const std::optional<Dot> &dot, const Target &target);

 protected:
  // Does each of enough others, an image's rows say, take all columns? Threads that share narrow
  // columns write to the same lines of the cache.
  bool shares_others() const;

  // Is there no loop over columns? The output may have fewer of them than the sums.
  bool is_one_strip() const;

  // Is it one product of two matrices, of one schedule and along one reduction?
  bool is_one_matrix() const;

  // Is the operand a matrix that is fetched from memory for few rows, which cannot hide that?
  bool streams_for_few_rows(const Func &operand) const;
  std::optional<StreamedOperand> streamed(const CallNode *image) const;

  // A few rows are whole tiles: of a rest there would be a panel of its own, which packs again.
  ProductTile tile_of_panels() const;
  ProductPanels panels(int64_t term_bytes) const;
  bool gains_by_panels(const Func &operand) const;

  // Are vectors along the reduction quicker than vectors of columns? Both operands lie along it, or
  // the right one has few columns and is laid out so for many rows.
  bool gains_along_depth(const Func &operand) const;

  // Is the next strip of columns fetched while one is used, since the second cache holds both? Of
  // open sizes it may not. What that cache holds as a whole is for few rows best fetched from
  // there.
  bool fetches_strips(const CallNode *image) const;

  // Is the image, which is the operand, read where it is?
  bool lies_well(const CallNode *image) const;
  int64_t planned_rows() const;
  int64_t rows_worth_packing(const Type &type) const;

  const Loops &to_;
  const std::vector<size_t> &place_;
  const Stage &s_;
  const Target &target_;
  Func sums_;
  const std::vector<Var> args_;
  const bool has_rest_;  // a second update adds the last terms
  const bool grouped_;   // the groups are a dimension of a Func of the sums' own arguments
  const std::optional<Dot> dot_;
  const bool has_idle_columns_;  // those that the right operand has beside the output's
  ProductTile tile_;
  const int64_t columns_, rows_;              // 0 where they are known at run time only
  const int64_t least_columns_, least_rows_;  // 0 where nothing is known
  const bool masked_;         // an open number of columns, of which a tile has lanes for the most
  const bool few_registers_;  // and vectors of at most 256 bits
  const bool loads_under_masks_;
  const int lanes_;  // of the target's vectors
  const bool may_sum_along_depth_;
  const ProductTile along_depth_;
  const bool columns_inside_;  // of the loops over others
};

}  // namespace polyhalite::ops
