// The region engine's state, shared by the files that do its parts: scopes (surveyor_scope.cc),
// Funcs' boxes (surveyor_funcs.cc), sliding windows (surveyor_slide.cc), stages' loops
// (surveyor_stages.cc), storage and inputs (surveyor_storage.cc). Use survey() of survey.h.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lang/ir/visit.h"
#include "polyhedral/interval.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// One access of a Func or an image, in terms of its stage's algorithm variables.
struct ReadSite {
  StageId stage;
  std::string callee;
  std::vector<Expr> args;
};

/// Requirements of a dimension's splits on its extent.
struct ExtentNeed {
  int64_t at_least = 1;                       // ShiftInwards
  int64_t multiple = 1;                       // RoundUp
  Expr symbolic_at_least, symbolic_multiple;  // of a factor that is no constant
  const Derivation *origin = nullptr;
};

class Surveyor {
 public:
  explicit Surveyor(const LoopTree &tree);
  Survey run();

 private:
  // Scopes: what the body of a loop sees, and intervals there.
  void find_parents(const TreeNode &n, int enclosing);
  /// Is something that belongs to loop `owner` seen in the body of loop `scope`?
  bool visible(int scope, int owner) const;
  int owner_of(const VariableNode &v) const;
  /// The innermost loop that e depends on.
  int innermost_owner(const Expr &e) const;
  Expr add_symbol(int owner, const std::string &name, Expr value, Expr lower = {}, Expr upper = {});
  /// What variable v, in an expression of `stage` (or of none), is to `scope`.
  std::optional<Interval> resolve(const VariableNode &v, const StageId *stage, int scope);
  Interval bound_at(const Expr &e, const StageId *stage, int scope);
  bool depends_on_visible_loop(const StageId &s, const Expr &value, int scope) const;
  /// The interval of a dimension of stage s, the loops outside `scope` fixed.
  Interval dim_interval(const StageId &s, const std::string &dim, int scope);
  Interval unconditional_interval(const StageId &s, const std::string &dim, int scope);
  /// What the condition of a stage's domain leaves of a variable, over the others:
  /// x < y && x >= 3  ->  [3, y - 1]. An end that it does not limit is null.
  static Interval limits_of(const Expr &predicate, const std::string &variable);

  // Funcs: boxes at compute levels.
  void survey_func(int f);
  /// The hull of all surveyed reads of `callee`, at `scope`. Empty ends where nothing reads.
  std::vector<Interval> needed(const std::string &callee, int dimensions, int scope);
  void check_bounded(const FuncDef &def, int d, const Interval &i);
  /// bound() fixes a dimension's range; that it covers what is needed is checked at entry.
  void apply_bounds(int f, std::vector<Interval> &box);
  void assume(Expr condition, const std::string &func, int dimension, std::string text, Expr actual,
              Expr wanted, SourceLocation where);
  /// Updates touch cells at other places than their pure variables say: the box takes them in.
  void include_own_updates(int f, std::vector<Interval> &box);
  template <typename Visit>
  static void for_each_call(const StageDef &stage, Visit visit) {
    auto walk = [&](const Expr &e) {
      for_each_node(e, [&](const Expr &n) {
        if (const CallNode *c = as_call(n)) visit(*c);
      });
    };
    for (const Expr &e : stage.args) walk(e);
    for (const Expr &e : stage.values) walk(e);
    walk(stage.predicate);
  }
  ExtentNeed need_of(const StageNest &nest, const std::string &dim) const;
  /// Grows a range to what the splits of all stages need; an output's is the caller's to grow where
  /// it must be larger, which the entry checks.
  void apply_needs(int f, int d, Interval &i, bool output);
  void assume_extent(int f, int d, const Expr &least, const Derivation &split);
  /// Ends that are not affine become symbols, so that what follows stays short.
  void name_box(int f, std::vector<Interval> &box, int scope);
  Expr name_end(int scope, const std::string &name, const Expr &e);

  // Stages: ranges, loops and values of dimensions.
  static std::string stage_prefix(const LoopTree &t, const StageId &s);
  std::string base_symbol_name(const StageId &s, const std::string &dim) const;
  void survey_stage(const StageId &s);
  static Expr canonical(const Expr &e);
  /// A pure variable that an update fixes (f(0, y) += ...) has no loop and no value there.
  static void fix_absent(StageSurvey &out, const std::string &dim);
  static Expr in_loops(const StageSurvey &s, const Expr &e);
  void derive_ranges(const StageId &s, StageSurvey &out);
  void assume_factors(const StageId &s);
  void require_few(const StageId &s, const LoopInfo &l, const LoopBounds &b, int64_t most,
                   int64_t *count);
  void require_constant_extent(const StageId &s, const LoopInfo &l, LoopBounds &b);
  Expr split_base(const StageId &s, const Derivation &d, const Expr &outer);
  static bool divides(const Derivation &d, const IndexRange &a);
  void derive_values(const StageId &s, StageSurvey &out);
  void split_value(const StageId &s, const Derivation &d, StageSurvey &out);
  /// Does a guard cut iterations of this dimension, or of what it was split and fused into?
  bool is_guarded(const StageId &s, const std::string &dim) const;
  void fuse_value(const StageId &s, const Derivation &d, StageSurvey &out);
  void record_reads(const StageId &s);

  // Sliding windows.
  /// e with every symbol that the body of `outside` does not see replaced by its value.
  Expr expand_within(const Expr &e, int outside) const;
  /// Does e never fall while the loop's counter grows?
  bool is_nondecreasing(const Expr &e, const std::string &loop) const;
  void slide(int f, int compute_scope);
  /// The dimension along which func f's window moves with `loop`, if there is just one and what the
  /// iteration before computed stays valid. `inner`: the loops between `loop` and the production.
  std::optional<size_t> sliding_dimension(int f, int loop, const std::vector<int> &inner) const;
  void slide_along(int f, size_t d, int loop, int compute_scope);

  // Storage and inputs.
  ConstantUpperBound::Meaning meaning(const VariableNode &v);
  void survey_storage(int f, int compute_scope);
  void survey_inputs();

  const LoopTree &tree_;
  Survey out_;
  std::vector<int> parent_;
  std::map<std::string, int> loop_by_name_;
  std::map<std::string, int> symbol_owner_;
  std::map<std::string, Symbol> symbol_;
  std::vector<ReadSite> reads_;
  std::set<std::pair<StageId, std::string>> guarded_;
  std::map<int, std::vector<Interval>> touched_;  // outputs: beyond what the caller wants
};

/// Int(32) expressions that the engine makes.
Expr buffer_field(const std::string &buffer, const char *what, int dimension);
Expr extent_of(const IndexRange &r);
Expr ceil_div(const Expr &a, const Expr &b);
std::optional<int64_t> constant(const Expr &e);

}  // namespace polyhalite
