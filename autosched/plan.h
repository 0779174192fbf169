// A complete schedule as the search sees it: where each Func is computed, and how the loops of
// those that are computed in full are tiled. Small, and cheap to copy and compare.
//
// A *group* is a Func at root, its host, with those computed inside its loops. The host's loops:
//
//   for y, x in tiles              outer loops, in the order of `outer`; the first is parallel
//     for yi                       row: the outermost loop inside of the tile
//       for xi by lanes
//         for yu                   rows that are unrolled, if any: then the row's loop steps over
//                                  as many
//
// Levels of a group are numbered from outside: level l is inside outer loop l; the last is the
// row's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "autosched/machine.h"
#include "autosched/model.h"

namespace polyhalite::autosched {

enum class Where : uint8_t { Inline, Root, At };

/// The innermost loops of a stage: `lanes` of dimension 0 in a vector, `across` such vectors and
/// `down` iterations of dimension 1 unrolled. Updates run their reduction around these.
/// `whole`: dimensions 0 and 1 have no other iterations; what is computed for such a block in a
/// block of its own stays in registers.
struct Nest {
  int lanes = 1, across = 1, down = 1;
  bool whole = false;
  bool operator==(const Nest &o) const {
    return lanes == o.lanes && across == o.across && down == o.down && whole == o.whole;
  }
};

struct OuterLoop {
  int dim = 0;
  int64_t tile = 1;  // 1: the dimension's own loop
  bool operator==(const OuterLoop &o) const { return dim == o.dim && tile == o.tile; }
};

struct FuncPlan {
  Where where = Where::Root;
  int host = -1;                 // At: the group
  int level = 0;                 // At: of the group
  bool slides = false;           // At the row: stored at the level outside, so that rows are kept
  std::vector<OuterLoop> outer;  // Root: outermost first, the first is parallel
  std::vector<Nest> nests;       // by stage; unused where inlined
  bool operator==(const FuncPlan &o) const {
    return where == o.where && host == o.host && level == o.level && slides == o.slides &&
           outer == o.outer && nests == o.nests;
  }
};

/// The plans of all Funcs. Copies share them: a search holds thousands that differ in a few.
class FuncPlans {
 public:
  size_t size() const { return plans_.size(); }
  const FuncPlan &operator[](size_t f) const { return plans_[f]->plan; }
  uint64_t hash(size_t f) const { return plans_[f]->hash; }
  bool same(size_t f, const FuncPlans &o) const;
  bool operator==(const FuncPlans &o) const;
  void set(size_t f, FuncPlan p);
  void push_back(FuncPlan p);

 private:
  struct Hashed {
    FuncPlan plan;
    uint64_t hash;
  };
  std::vector<std::shared_ptr<const Hashed>> plans_;
};

struct Plan {
  FuncPlans funcs;
};

/// The stage of a host whose loops are tiled and have levels: the last, which every run ends with.
int host_stage(const FuncModel &f);
/// The dimensions that have loops inside of the outer ones, outermost first: the Func's own order,
/// but short ones (channels) stand just outside of dimension 0, so that what all of them read is
/// there.
std::vector<int> inner_dimensions(const PipelineModel &m, int func, const FuncPlan &plan);
/// The dimension that the row loop of a host runs over; -1 where it has none that is free.
int row_dimension(const PipelineModel &m, int host, const FuncPlan &plan);
/// How far the row loop steps.
int row_step(const PipelineModel &m, int host, const FuncPlan &plan);
/// Levels of a group: its outer loops, and the row where it has one and is tiled.
int level_count(const PipelineModel &m, int host, const FuncPlan &plan);

/// Every Func in full, in parallel strips and vectors; pointwise ones inlined: what the search
/// starts from, and what is left where nothing else is legal.
Plan template_plan(const PipelineModel &m, const Machine &machine);
/// The same for one Func at root.
FuncPlan root_plan(const PipelineModel &m, int func, const Machine &machine);
/// Vectors and unrolling for the stages of a Func that is computed over boxes like `box`.
std::vector<Nest> default_nests(const PipelineModel &m, int func, const NumberBox &box,
                                const Machine &machine);

/// The same for a member of a group: small boxes are unrolled whole.
std::vector<Nest> member_nests(const PipelineModel &m, int func, const NumberBox &box,
                               const Machine &machine);
/// Makes a host's tile one block where it is small enough for registers, and else shrinks the
/// blocks of a host's tiled stage to what divides its tiles.
void fit_nests(const PipelineModel &m, int func, FuncPlan *plan);

/// The Funcs that read `func` and are computed, directly or through inlined ones.
std::vector<int> materialised_consumers(const PipelineModel &m, const Plan &plan, int func);

/// "inlined", "root, y by 32 parallel", "at level 1 of 'out'", for the report.
std::string describe(const PipelineModel &m, const Plan &plan, int func);

}  // namespace polyhalite::autosched
