// The region engine's state, shared by the files that do its parts: scopes (surveyor_scope.cc),
// what is read (surveyor_needed.cc), Funcs' boxes (surveyor_funcs.cc), updates
// (surveyor_updates.cc), what is used (surveyor_used.cc), domains (surveyor_domain.cc), sliding
// windows (surveyor_slide.cc), stages' loops (surveyor_stages.cc), skewed nests
// (surveyor_skew.cc), extern stages (surveyor_extern.cc), what values say of indices
// (surveyor_values.cc), storage and inputs (surveyor_storage.cc). Use survey() of survey.h.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lang/abi/polyhalite_errors.h"
#include "lang/ir/visit.h"
#include "polyhedral/constant_bounds.h"
#include "polyhedral/interval.h"
#include "polyhedral/survey.h"

namespace polyhalite {

/// One access of a Func or an image, in terms of its stage's algorithm variables.
struct ReadSite {
  StageId stage;
  std::string callee;
  std::vector<Expr> args;
  std::vector<bool> by_value;  // per argument: its bounds rest on floats or on values of Funcs
  std::vector<Expr> room;      // per argument: so many cells more than one its steps reach over
  Expr where;                  // its value is used there only; null: always
};

/// A Func or an image that an extern stage takes, as C argument number `operand` of its function.
struct ExternRead {
  StageId stage;
  std::string callee;
  size_t operand;
};

/// Requirements of a dimension's splits on its extent.
struct ExtentNeed {
  int64_t at_least = 1;                       // tails that shift
  int64_t multiple = 1;                       // tails that round up
  bool leaves_rest = false;                   // a tail that leaves the rest of the last tile alone
  Expr symbolic_at_least, symbolic_multiple;  // of a factor that is no constant
  const Derivation *origin = nullptr;
};

/// How many cells are computed at once of a dimension that a window slides along.
struct NewTiles {
  int64_t at_least = 1, multiple = 1;
  bool are_points() const { return at_least == 1 && multiple == 1; }
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
  /// What variable v, in an expression of `stage` (or of none), is to `scope`, where a condition
  /// on the stage's domain holds.
  std::optional<Interval> resolve(const VariableNode &v, const StageId *stage, int scope,
                                  const Expr &domain);
  /// Bounds expressions of `stage` (or of none) over what `scope` sees, as long as nothing more is
  /// found out about either. Remembers what it has bounded.
  Bounder bounder_at(const StageId *stage, int scope, bool by_value = false);
  const std::vector<LimitedSum> &limited_sums_of(const StageId &s);
  Interval bound_at(const Expr &e, const StageId *stage, int scope, bool by_value = false);
  bool depends_on_visible_loop(const StageId &s, const Expr &value, int scope) const;
  /// The interval of a dimension of stage s, the loops outside `scope` fixed, where a condition on
  /// its domain holds.
  Interval dim_interval(const StageId &s, const std::string &dim, int scope, const Expr &domain);
  Interval unconditional_interval(const StageId &s, const std::string &dim, int scope);
  /// Which iterations count where intervals are asked for.
  enum class Reach : uint8_t {
    Used,      // those whose values somebody uses
    Computed,  // and, inside of loops that run whole tiles, all that these run
    Touched,   // all
  };
  /// What of the interval i of a stage's variable is within the reach that is asked for.
  Interval within_reach(const StageId &s, const std::string &variable, Interval i, int scope) const;
  /// What the condition of a stage's domain leaves of a variable, over the others:
  /// x < y && x >= 3  ->  [3, y - 1]. An end that it does not limit is null.
  static Interval limits_of(const Expr &predicate, const std::string &variable);
  /// The same of constant ranges, one comparison after the other.
  void narrow(const StageId &s);

  // Values.
  /// Of a Func's value, whatever its arguments are: over parameters alone.
  Interval value_interval(const CallNode &call);
  /// Does an index need what is known of values, floats among them, to be bounded well? Then
  /// accesses are held inside the box, `bound` being its interval by the form alone.
  static bool needs_values(const Expr &index, const Interval &bound);
  /// Of what a stage has been found to read by value.
  void ask_for_room(const StageId &s, size_t first_read, size_t first_held);
  void take_steps(const StageId &s, HeldIndex &held) const;
  /// So many cells more than one, at least. Never more than what is read around ordered ends.
  static Interval with_room(Interval read, const Expr &room);
  /// Of a box that is not made of what is read.
  void forget_room(const std::string &callee, size_t dimension);
  /// Fields of buffers that constraints fix are constants.
  static Expr constrained(const Expr &e);
  /// A field of the buffer of an output.
  Expr output_field(const FuncDef &f, const char *what, int dimension) const;

  // Funcs: boxes at compute levels.
  /// The Funcs whose stages share loops, together; each group after all that consume it.
  std::vector<std::vector<int>> consumers_first() const;
  void survey_group(const std::vector<int> &funcs);
  void survey_box(int f);
  /// The hull of all surveyed reads of `callee`, at `scope`; of an input, a branch's count where it
  /// is taken. Empty ends where nothing reads.
  std::vector<Interval> needed(const std::string &callee, int dimensions, int scope,
                               Reach reach = Reach::Computed);
  /// An index in terms of a stage's fused loops where it follows them: y*n + x is p, of n values of
  /// x, for fuse(x, y, p).
  Expr over_fused(const StageId &s, const Expr &index) const;
  /// Does a surveyed stage read `callee`?
  bool is_read(const std::string &callee) const;
  // What is used: whole tiles compute more than that, out of producers' cells that may be anything.
  /// Do instances read `callee` whose values nobody uses?
  bool is_read_by_unused(const std::string &callee) const;
  /// Notes what of f is used, where that is less than what is computed: `asked` is the box before
  /// it grew to whole tiles, `grown` the one after.
  void note_used(int f, const std::vector<Interval> &used, const std::vector<Interval> &asked,
                 const std::vector<Interval> &grown, int scope);
  /// Of dimensions of which whole tiles are read and parts of them are stored.
  void note_reads_past(const StageId &s, StageSurvey &out);
  /// Notes what instances whose values nobody uses touch of f beyond what others read, and so,
  /// maybe, beyond the box.
  void note_beyond(int f, const std::vector<Interval> &touched, const std::vector<Interval> &read,
                   const std::vector<Interval> &box);
  /// Iterations of predicated stores that store nothing read what may be anything.
  void use_what_is_stored(const StageId &s, StageSurvey &out) const;
  /// All that is computed in dimension d is used.
  void use_all(int f, size_t d);
  /// The same for what iterations that slide leave to others: it is used as long as it is kept.
  void use_what_is_kept(int f, int compute_scope);
  /// Is a cell made of cells with the same index in dimension d, in every stage of f?
  bool keeps_rows_apart(int f, size_t d) const;
  /// Leaves out of what f computes what consumers read in the side of a select that they drop.
  void leave_out_unused(int f, int scope);
  // Extern stages: C functions are asked, with buffers without memory, what they read and make.
  /// What one asks for when its box is what is known of it at `scope`: symbols there.
  std::vector<Interval> asked(const ExternRead &r, int dimensions, int scope);
  /// The box of an extern stage grows to what its function says that it makes.
  void grow_as_asked(int f, std::vector<Interval> &box, int scope);
  /// Answers about buffer `operand` of the function, its own outputs included.
  std::vector<Interval> answers(const StageId &s, const std::string &what, size_t operand,
                                int dimensions, const std::vector<Interval> &box, int scope);
  void survey_extern_box(const StageId &s, StageSurvey &out);
  /// The last value of a dimension in one call.
  Expr last_of_call(const StageId &s, const std::string &dim, const StageSurvey &out) const;
  std::vector<Interval> at_scope(const Box &box, int scope);
  void check_bounded(const FuncDef &def, int d, const Interval &i);
  /// bound() fixes a dimension's range; that it covers what is needed is checked at entry.
  void apply_bounds(int f, std::vector<Interval> &box);
  /// bound_extent(), align_bounds(), align_extent(): of what consumers and updates need.
  void apply_extents(int f, std::vector<Interval> &box, int scope);
  /// bound_extent(): that no more is needed of the dimension is known, or checked at entry.
  void assume_extent_suffices(const BoundDirective &b, const FuncDef &def, const Interval &i);
  void align(const BoundDirective &b, size_t number, Interval &i, int scope);
  void assume_modulus(const BoundDirective &b);
  void assume(Expr condition, const std::string &func, int dimension, std::string text, Expr actual,
              Expr wanted, SourceLocation where,
              polyhalite_error_code_t code = polyhalite_error_code_requirement_failed);
  /// The same of what bound() or bound_extent() says, and what is needed.
  void assume_bounds(const Expr &condition, const BoundDirective &b, IndexRange given,
                     IndexRange required);
  // Updates touch cells at other places than their pure variables say (surveyor_updates.cc).
  /// Per dimension, where cells have an index of their own; else no ends.
  struct OwnCells {
    std::vector<Interval> touched, read;
    std::vector<Interval> beyond;  // all that is touched, where `touched` is what is used of it
  };
  /// What a stage touches of its own Func, its pure variables running over `over`. `conditional`:
  /// cells that are read where nothing uses them do not count.
  OwnCells own_cells(const StageId &s, const std::vector<Interval> &over, bool conditional);
  bool may_run_over_part(const StageId &s) const;
  /// The box takes these cells in; stages that need not run over all of it, do not.
  void include_own_updates(int f, std::vector<Interval> &box, int scope);
  void include_grown_updates(int f, const std::vector<Interval> &wanted,
                             const std::vector<Interval> &box);
  /// Memory for what they read beyond the box and nothing uses.
  void note_own_beyond(int f, const std::vector<Interval> &box);
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
  /// Of which number of cells the box must be a multiple, for the splits of these stages.
  int64_t needed_multiple(int f, int d, const std::vector<int> &stages, const Interval &box,
                          bool output) const;
  /// Grows a range to what the splits of stages need, a branch's where it is taken; an output's is
  /// the caller's to grow where it must be larger, which the entry checks.
  void apply_needs(int f, int d, Interval &i, bool output);
  void apply_needs(int f, int d, const std::vector<int> &stages, Interval &i, bool output);
  bool leaves_rest(int f, int d) const;
  /// The condition, as far as the stage or branch runs at all.
  Expr where_it_runs(const StageId &s, const Expr &condition) const;
  void assume_extent(const StageId &s, int d, const Expr &least, const Derivation &split);
  /// Ends that are not affine become symbols, so that what follows stays short.
  void name_box(int f, std::vector<Interval> &box, int scope);
  Expr with_known_ends(const Expr &e) const;
  Expr name_end(int scope, const std::string &name, const Expr &e);
  /// Of variables and their multiples: it needs no name.
  static bool is_short_sum(const Expr &e);
  Expr end_under(const Expr &end, const Expr &where) const;

  // Stages: ranges, loops and values of dimensions.
  static std::string stage_prefix(const LoopTree &t, const StageId &s);
  std::string base_symbol_name(const StageId &s, const std::string &dim) const;
  void survey_ranges(const StageId &s);
  void survey_stage(const StageId &s);
  /// The range of a loop that stages share: the hull of theirs, aligned.
  void survey_shared(const std::vector<int> &funcs);
  static Expr canonical(const Expr &e);
  /// A pure variable that an update fixes (f(0, y) += ...) has no loop and no value there.
  static void fix_absent(StageSurvey &out, const std::string &dim);
  static Expr in_loops(const StageSurvey &s, const Expr &e);
  void derive_ranges(const StageId &s, StageSurvey &out);
  void assume_factors(const StageId &s);
  void require_few(const StageId &s, const LoopInfo &l, const LoopBounds &b, int64_t most,
                   int64_t *count);
  void require_constant_extent(const StageId &s, const LoopInfo &l, LoopBounds &b);
  Expr split_base(const StageId &s, const Derivation &d, const Expr &outer) const;
  static bool divides(const Derivation &d, const IndexRange &a);
  void derive_values(const StageId &s, StageSurvey &out);
  void split_value(const StageId &s, const Derivation &d, StageSurvey &out);
  /// Guards of tails that leave the rest of a grown range alone.
  void guard_rest(const StageId &s, StageSurvey &out);
  /// Do reads of this dimension go beyond its range, in iterations that store nothing?
  bool overshoots(const StageId &s, const std::string &dim) const;
  /// The last value that reads reach then.
  Expr overshoot_end(const StageId &s, const std::string &dim) const;
  bool follows_a_rest(const StageId &s, int d) const;
  /// Does the stage run to the last needed cell of dimension d only, though the box has grown?
  bool ends_at_last(const StageId &s, int d) const;
  /// The last value of the dimension for which reads take place, where guards say so; or null.
  Expr read_limit(const StageId &s, const std::string &dim) const;
  /// Does a guard cut iterations of this dimension, or of what it was split and fused into?
  bool is_guarded(const StageId &s, const std::string &dim) const;
  void fuse_value(const StageId &s, const Derivation &d, StageSurvey &out);
  // Skewed, reversed and shifted dimensions (surveyor_skew.cc).
  /// The range of what a skew, reverse or shift makes.
  static IndexRange linear_range(const Derivation &d,
                                 const std::map<std::string, IndexRange> &ranges);
  void linear_value(const StageId &s, const Derivation &d, StageSurvey &out);
  /// Of a dimension that a skew, reverse or shift took: its interval out of those that are left.
  Interval linear_interval(const StageId &s, const Derivation &d, int scope);
  /// Was the dimension, or one that it was split into, taken by a derivation of this kind?
  bool has_part(const StageId &s, const std::string &dim, Derivation::Kind kind) const;
  /// Do iterations that a guard cuts lie before the dimension's first one? A skew's points fill no
  /// rectangle, and the rest of what runs backwards comes first.
  bool may_precede(const StageId &s, const std::string &dim) const;
  /// Conditions of a skewed nest become bounds of its loops.
  void bound_loops(const StageId &s, StageSurvey &out);
  bool has_given_bounds(const std::string &func, size_t dimension) const;
  void record_reads(const StageId &s);

  // Sliding windows.
  /// e with every symbol that the body of `outside` does not see replaced by its value.
  Expr expand_within(const Expr &e, int outside) const;
  Expr expand_within(const Expr &e, int outside, std::map<std::string, Expr> &values) const;
  bool runs_once(int loop) const;
  /// Is it in a nest with a skew, where loops run as many iterations as those outside leave them?
  bool is_skewed(int loop) const;
  void slide(int f, int compute_scope);
  /// Of a Func whose window slides: updates that need not run over all of its box.
  void keep_steady_parts(const StageId &s);
  /// Does each stage of f compute a row of dimension d out of this row alone, in loops that may
  /// run a varying number of times?
  bool has_rows_of_its_own(int f, size_t d) const;
  bool may_vary(const StageId &s, size_t d) const;
  struct Direction {
    size_t dimension;
    bool down;
    bool whole = false;  // do loops inside pass over other parts, which all have to be kept?
  };
  bool keeps_rings(int f, const Direction &along, const std::vector<int> &inner) const;
  /// The dimension along which func f's window moves with `loop`, if there is just one and what the
  /// iteration before computed stays valid; where none moves, one that nothing else slides along.
  /// `inner`: the loops between `loop` and the production.
  std::optional<Direction> sliding_dimension(int f, int loop, const std::vector<int> &inner) const;
  NewTiles tiles_of(int f, size_t d, const std::vector<int> &stages) const;
  void slide_along(int f, const Direction &along, int loop, int compute_scope);
  /// Do vectors of f, or of what reads it, run along dimension d?
  bool meets_vectors(int f, size_t d) const;
  /// Makes dimension d, whose window moves with `loop`, a ring where its size is known.
  void fold(int f, size_t d, int loop);

  void fold_as_asked(int f);
  void assume_ring_suffices(int f, size_t d);
  /// Is there a number that e never exceeds?
  bool has_limit(const Expr &e);
  /// The limit of the window that slides along dimension d, in the first iteration or in later
  /// ones.
  std::optional<int64_t> most_cells(int f, size_t d, bool first);
  /// C functions get boxes as they lie in memory: a ring must not break them in two, which is
  /// asked at entry where the caller's sizes decide it.
  void keep_box_whole(int f, size_t d);
  int64_t ring_for(int f, size_t d, int64_t asked);

  // Storage, prefetches and inputs.
  void survey_prefetches();
  void bound_storage(int f, int d, IndexRange &r, std::optional<int64_t> &extent);
  ConstantUpperBound::Meaning meaning(const VariableNode &v);
  void survey_storage(int f, int compute_scope);
  void survey_hoisted(int f);
  /// Copies that share their memory have what either needs.
  void share_hoisted();
  bool counts_evenly(const FuncPlacement &p) const;
  void survey_async(int f);
  void survey_inputs();

  const LoopTree &tree_;
  Survey out_;
  std::vector<int> parent_;
  std::map<std::string, int> loop_by_name_;
  std::map<std::string, int> symbol_owner_;
  std::map<std::string, Symbol> symbol_;
  std::vector<ReadSite> reads_;
  std::vector<ExternRead> extern_reads_;
  std::set<std::pair<StageId, std::string>> guarded_, reads_to_last_, reads_past_;
  std::set<StageId> tight_;  // stages whose loops visit their points only, without conditions
  Expr where_;               // a condition that holds while intervals are asked for; null: none
  Reach reach_ = Reach::Computed;
  std::map<StageId, std::map<std::string, Interval>> narrowed_;  // ends: constants
  std::map<StageId, std::vector<LimitedSum>> limited_;  // by conditions of domains, as far as asked
  ErrorList errors_;  // of loops that cannot be compiled as they are asked for
  std::map<StageId, std::vector<Interval>> stage_needs_;  // of updates; no ends: the whole box
  std::map<int, std::vector<IndexRange>> asked_;     // [func] `needed` without its own whole tiles
  std::map<int, std::vector<Interval>> beyond_;      // [func] what is touched, where that is more
  std::map<int, std::vector<Interval>> own_beyond_;  // [func] what its updates touch, used or not
  std::map<std::pair<std::string, int>, Interval> values_;  // of Funcs, as far as asked for
  std::map<int, std::vector<Interval>> touched_;            // outputs: beyond what the caller wants
};

bool same_ends(const Interval &a, const Interval &b);

/// Int(32) expressions that the engine makes.
Expr buffer_field(const std::string &buffer, const char *what, int dimension);
Expr extent_of(const IndexRange &r);
Expr ceil_div(const Expr &a, const Expr &b);
std::optional<int64_t> constant(const Expr &e);

}  // namespace polyhalite
