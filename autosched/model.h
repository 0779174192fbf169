// The pipeline as numbers: what every stage computes and reads a point, and programs that turn a
// consumer's box into its producers'. Made once; the search and the cost model ask nothing else.
//
//   blur(x, y) = in(x - 1, y) + in(x + 1, y)      1 operation; accesses of in: (x - 1, y), (x + 1,
//   y)
//                                                 box of in: [lo.x - 1, hi.x + 1] x [lo.y, hi.y]
//
// The programs come from the region engine's symbolic intervals (polyhedral/interval.h), over two
// slots for each variable of the stage: 2*v its smallest value, 2*v + 1 its largest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "autosched/estimates.h"
#include "autosched/number_program.h"
#include "lang/ir/algorithm.h"

namespace polyhalite::autosched {

/// Cycles that a point waits for what the point before it has computed, in an update that reads its
/// own Func.
constexpr double kOwnValueCycles = 5;

/// One index of an access: how far it moves with each variable of the stage.
struct IndexModel {
  std::vector<double> slope;
  int64_t offset = 0;
  uint64_t shape = 0;    // of indices that are not affine: what distinguishes them; else 0
  // Found by reading, so that neighbours may be anywhere: along which variables, a bit each.
  uint32_t found_by = 0;
};

/// The bit of a variable in `found_by`.
inline uint32_t bit_of(size_t var) { return uint32_t{1} << (var < 31 ? var : 31); }

struct Access {
  int callee = -1;  // a Func, or an image behind all Funcs
  std::vector<IndexModel> index;
};

/// The box of a callee that a stage over a box of its variables reads.
struct Footprint {
  int callee = -1;
  struct Dimension {
    std::vector<NumberProgram> lo, hi;  // the smallest, and the largest, of these
    bool unbounded = false;             // as much as there is
  };
  std::vector<Dimension> dims;
};

/// The loops of a stage that the search leaves as they are (recurrences.h).
struct FixedNest {
  std::vector<Directive> directives;
  double speedup = 1;                             // over one point after the other
  std::vector<std::pair<int, int64_t>> together;  // dimensions, and how far blocks go along them
  bool parallel = false;
  std::string what;  // for the report
};

struct StageModel {
  std::vector<std::string> vars;  // the Func's arguments, then reduction variables
  std::vector<bool> has_loop;     // [var] arguments that stand alone at their place, and rvars
  std::vector<NumberRange> rvars;
  double share = 1;              // of the reduction's points, those that the predicate lets pass
  double operations = 0;         // a point, as if each were one instruction
  double operation_bytes = 0;    // the same, each times the bytes of its type
  int widest = 1;                // bytes of the widest type that it computes with
  std::vector<Access> accesses;  // distinct ones, not of its own Func
  std::vector<Footprint> footprints;
  bool reads_itself = false;
  bool accumulates = false;  // an update with an associative operator whose cell is pure
  bool associative = false;  // an update with an associative operator
  bool scatters = false;     // an index of the cell is no variable of its own
  bool reordered = false;    // directives that derive it give its loops an order of their own
  std::optional<FixedNest> nest;
};

struct FuncModel {
  std::string name;
  int bytes = 1;  // a point, all values
  std::vector<StageModel> stages;
  NumberBox whole;             // all that the outputs need of it
  std::vector<int> consumers;  // Funcs
  bool is_output = false;
  bool is_extern = false, feeds_extern = false;
  bool can_inline = false;  // pure, no output, every value
  // What the user said: it stays.
  bool fixed_place = false, fixed_loops = false;
  bool is_host = false;      // its loops are levels of others in the user's directives
  bool user_inline = false;  // the algorithm inlines it unless a directive places it
  // What the judge refused of its stages, with all Funcs at root.
  bool no_vectors = false, no_tiles = false;
  /// May the loops of the last stage run in strips or tiles?
  bool may_strip() const { return !no_tiles && !stages.back().nest; }
  int dimensions() const { return static_cast<int>(whole.size()); }
};

struct ImageModel {
  std::string name;
  int bytes = 1;
  NumberBox whole;  // what is read
};

struct PipelineModel {
  Algorithm algorithm;  // after the user's deriving directives
  std::vector<FuncModel> funcs;
  std::vector<ImageModel> images;
  std::vector<int> outputs;

  bool is_func(int callee) const { return callee < static_cast<int>(funcs.size()); }
  const NumberBox &whole(int callee) const {
    return is_func(callee) ? funcs[static_cast<size_t>(callee)].whole
                           : images[static_cast<size_t>(callee) - funcs.size()].whole;
  }
  int bytes(int callee) const {
    return is_func(callee) ? funcs[static_cast<size_t>(callee)].bytes
                           : images[static_cast<size_t>(callee) - funcs.size()].bytes;
  }
};

/// How an index of an access moves with `vars`.
IndexModel read_index(const Expr &index, const std::vector<std::string> &vars);

/// What `stage` of `func` reads of each callee where its arguments run over `box`, joined into
/// `needs` (by callee; empty: nothing yet).
void add_needs(const PipelineModel &model, const StageModel &stage, const NumberBox &box,
               std::vector<NumberBox> *needs);

/// `deriving`: directives of ours that follow the user's; what they make is open. Fields of inputs
/// that the estimates lack are concluded from what is read, and added to them.
PipelineModel build_model(const FrozenPipeline &pipeline, const std::vector<Directive> &deriving,
                          Estimates *estimates);

}  // namespace polyhalite::autosched
