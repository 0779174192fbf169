// What a stage computes and reads with the inlined Funcs in their places, counted without building
// expressions: accesses compose as affine maps.
//
//   g(x) = f(x) + f(x + 1),  f(x) = in(x) * in(x + 2), inlined
//   ->   g: 3 operations and in at x, x + 1, x + 2, x + 3
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "autosched/model.h"
#include "autosched/plan.h"
#include "autosched/row_sharing.h"

namespace polyhalite::autosched {

/// All that is read of one Func or image.
struct Read {
  int callee = -1;
  std::vector<std::vector<double>> slope;  // [dim][var], the steepest
  std::vector<double> spread;              // [dim] between the accesses' offsets
  std::vector<uint32_t> found_by;          // [dim] by reading along these variables
  bool shifts = false;                     // by several offsets along dimension 0
};

/// Accesses that cost the same: how they move with dimension 0 and the first reduction variable.
struct LoadKind {
  int callee = -1;
  double slope = 0;         // of index 0 along dimension 0
  bool found = false;       // an index is found by reading
  bool gathers = false;     // differently along dimension 0
  bool scattered = false;   // index 0 is: neighbours may be far from each other
  bool moves = false;       // with dimension 0, by whatever index
  bool across_dim = false;  // by an index other than 0
  bool steps_rows = false;  // the first reduction variable moves an index other than 0
  RowSharing elements;      // a point
};

struct ExpandedStage {
  double operations = 0;                 // a point that is computed alone
  RowSharing row_operations, row_bytes;  // with rows at once; bytes: each times its type's
  int widest = 1;
  std::vector<Access> accesses;  // of Funcs that are computed, and of images
  std::vector<Read> reads;       // the same by callee
  std::vector<LoadKind> loads;   // the same by cost
  bool too_large = false;        // more than code should be made for
};

class Expander {
 public:
  explicit Expander(const PipelineModel &model) : model_(model), marked_(model.funcs.size()) {}
  /// Remembered by what is inlined.
  const ExpandedStage &operator()(const Plan &plan, int func, int stage);

 private:
  ExpandedStage expand(const Plan &plan, int func, int stage) const;

  const PipelineModel &model_;
  std::unordered_map<uint64_t, ExpandedStage> memo_;
  std::vector<char> marked_;  // scratch of operator()
};

}  // namespace polyhalite::autosched
