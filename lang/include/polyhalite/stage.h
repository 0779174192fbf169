// Stage: one definition of a Func, to be scheduled.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/choices.h"
#include "polyhalite/device_schedule.h"
#include "polyhalite/tail_strategy.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct FunctionContents;
struct ParameterContents;
class Func;
class FuncVec;
struct FuncAt;

struct LoopLevelContents;

/// A place for compute_at and store_at: a loop of a Func's stage, or outside all loops. Copies
/// share the place, and set() gives all of them another one until a pipeline that has it is
/// compiled.
class LoopLevel {
 public:
  /// Undefined: to be set() before the pipeline is compiled.
  LoopLevel();
  /// `stage` is 0 for the pure definition, k for update k - 1; -1 finds the first stage that has
  /// the loop and uses the Func that is placed there.
  LoopLevel(const Func &func, const VarOrRVar &loop, int stage = -1);
  static LoopLevel root(Here here = Here());
  static LoopLevel inlined(Here here = Here());

  bool defined() const;
  /// CompileError where a pipeline has been compiled with this place.
  void set(const LoopLevel &other, Here here = Here());

  // What the place is, which is settled when a pipeline is compiled: CompileError before.
  bool is_root(Here here = Here()) const;
  bool is_inlined(Here here = Here()) const;
  /// Of a loop: "f", the loop, the stage as in the constructor.
  std::string func(Here here = Here()) const;
  VarOrRVar var(Here here = Here()) const;
  int stage_index(Here here = Here()) const;
  /// "f.x", "root", "inlined".
  std::string to_string(Here here = Here()) const;

  const std::shared_ptr<LoopLevelContents> &contents() const { return contents_; }

 private:
  std::shared_ptr<LoopLevelContents> contents_;
};

class Stage;

/// The words that schedule the loops of one stage, shared by Func and Stage. Each call adds
/// directives and returns the handle. Errors that need no other directive are raised at the call:
/// factors that are not positive, names given twice, an undefined Func.
template <typename Self>
class Schedulable : public DeviceSchedulable<Self> {
 public:
  /// old -> outer * factor + inner. `outer` or `inner` may repeat the name of `old`.
  Self &split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner, Expr factor,
              TailStrategy tail = TailStrategy::Auto);
  /// The opposite: one loop over inner and outer, which runs as `inner` does.
  Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
  /// Innermost first; loops that are not named keep their places.
  Self &reorder(const std::vector<VarOrRVar> &loops);
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...)>>
  Self &reorder(const VarOrRVar &x, const VarOrRVar &y, Args &&...more) {
    return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(std::forward<Args>(more))...});
  }
  Self &rename(const VarOrRVar &old, const VarOrRVar &fresh);
  /// Counts `loop` by skewed = loop + factor*by, `by` being another loop of the stage, which stays.
  /// The order of the stage's iterations only changes with a reorder, split or kind that follows:
  /// a stencil's loops over space, skewed by its loop over time, may be tiled and run in
  /// wavefronts.
  ///
  ///   for t in [0, T) { for x in [0, N) { S(t, x) } }
  ///   -> for t in [0, T) { for x in [2*t, 2*t + N) { S(t, x - 2*t) } }       f.skew(x, t, 2)
  ///
  /// CompileError unless the factor is an integer constant other than 0. `skewed` may repeat the
  /// name of `loop`, which it does where it is left out.
  Self &skew(const VarOrRVar &loop, const VarOrRVar &by, const VarOrRVar &skewed, Expr factor);
  Self &skew(const VarOrRVar &loop, const VarOrRVar &by, Expr factor) {
    return skew(loop, by, loop, std::move(factor));
  }
  /// Runs the loop's iterations in the opposite order.
  Self &reverse(const VarOrRVar &loop);
  /// Counts `loop` from another number on, so that its tiles begin elsewhere: loop + offset.
  /// CompileError unless the offset is an integer constant.
  Self &shift(const VarOrRVar &loop, Expr offset);

  Self &serial(const VarOrRVar &loop);
  Self &parallel(const VarOrRVar &loop);
  Self &vectorize(const VarOrRVar &loop);
  Self &unroll(const VarOrRVar &loop);
  /// Splits off tasks of `size` iterations and runs the tasks in parallel.
  Self &parallel(const VarOrRVar &loop, Expr size, TailStrategy tail = TailStrategy::Auto);
  /// Splits by `factor` and vectorizes or unrolls the inner loop; the outer keeps the name.
  Self &vectorize(const VarOrRVar &loop, Expr factor, TailStrategy tail = TailStrategy::Auto);
  Self &unroll(const VarOrRVar &loop, Expr factor, TailStrategy tail = TailStrategy::Auto);

  /// Splits x and y and orders the four loops xi, yi, xo, yo, innermost first.
  Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo, const VarOrRVar &yo,
             const VarOrRVar &xi, const VarOrRVar &yi, Expr x_factor, Expr y_factor,
             TailStrategy tail = TailStrategy::Auto);
  /// The outer loops keep the names x and y.
  Self &tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi, const VarOrRVar &yi,
             Expr x_factor, Expr y_factor, TailStrategy tail = TailStrategy::Auto);
  /// Any number of dimensions.
  Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
             const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
             TailStrategy tail = TailStrategy::Auto);
  /// The outer loops keep the names.
  Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &inners,
             const std::vector<Expr> &factors, TailStrategy tail = TailStrategy::Auto);
  /// A tail for each dimension.
  Self &tile(const std::vector<VarOrRVar> &previous, const std::vector<VarOrRVar> &outers,
             const std::vector<VarOrRVar> &inners, const std::vector<Expr> &factors,
             const std::vector<TailStrategy> &tails);

  /// Is the loop cut where guards and clamps inside it hold in its middle? See Partition.
  Self &partition(const VarOrRVar &loop, Partition policy);
  Self &never_partition(const std::vector<VarOrRVar> &loops);
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...)>>
  Self &never_partition(const VarOrRVar &x, Args &&...more) {
    return never_partition(std::vector<VarOrRVar>{x, VarOrRVar(std::forward<Args>(more))...});
  }
  Self &always_partition(const std::vector<VarOrRVar> &loops);
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...)>>
  Self &always_partition(const VarOrRVar &x, Args &&...more) {
    return always_partition(std::vector<VarOrRVar>{x, VarOrRVar(std::forward<Args>(more))...});
  }
  /// All loops that the stage has by then.
  Self &never_partition_all(Here here = Here());
  Self &always_partition_all(Here here = Here());

  /// At the top of loop `at`, asks the caches for what iteration `from` + `offset` will read of f:
  ///
  ///     for y { for x { g(x, y) = f(x, y) } }
  ///  -> for y { prefetch f(all x, y + 2); for x { ... } }     g.prefetch(f, y, y, 2)
  ///
  /// `from` is `at` or a loop around it, of this stage or of what it is computed for. Of a loop around
  /// it f goes to the second cache, since what is done until then would lose it from the first one.
  /// The values do not depend on it.
  Self &prefetch(const Func &f, const VarOrRVar &at, const VarOrRVar &from, Expr offset = 1,
                 PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf);
  template <typename Image, typename = std::enable_if_t<!std::is_base_of_v<Func, Image>>,
            typename = decltype(std::declval<const Image &>().parameter().contents())>
  Self &prefetch(const Image &image, const VarOrRVar &at, const VarOrRVar &from, Expr offset = 1,
                 PrefetchBoundStrategy strategy = PrefetchBoundStrategy::GuardWithIf) {
    return prefetch_image(image.parameter().contents(), at, from, std::move(offset), strategy);
  }

  /// Runs this stage in the loops of another one, from the outermost down to `loop`; both have
  /// loops of the same names and kinds there. Neither Func needs the other, in any definition.
  /// `align` says how ranges that differ meet; where the loop goes beyond the stage's own, the
  /// stage does nothing.
  ///
  ///   f.compute_with(g, y)     for y { for x { g } }           for y { for x { g }
  ///                            for y { for x { f } }     ->            for x { f } }
  Self &compute_with(const Stage &leader, const VarOrRVar &loop,
                     const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
  Self &compute_with(const Stage &leader, const VarOrRVar &loop,
                     LoopAlignStrategy align = LoopAlignStrategy::Auto);
  Self &compute_with(const LoopLevel &level,
                     const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align);
  Self &compute_with(const LoopLevel &level, LoopAlignStrategy align = LoopAlignStrategy::Auto);
  /// A branch of the stage for runs where `condition` over Params and shapes holds: the first of
  /// the conditions that does decides.
  ///   for x {S}  ->  if condition { for x {S} } else { for x {S} }
  /// The branch starts with the directives given so far, but for other specializations; the
  /// returned handle schedules it, and later directives of this handle speak of the other runs.
  /// The same condition again gives the same branch.
  Stage specialize(const Expr &condition, Here here = Here());
  /// Runs where no branch's condition holds end with an error that carries `message`.
  void specialize_fail(const std::string &message, Here here = Here());
  /// Runs each update of a cell as one atomic step, so that parallel and vector loops over
  /// reduction variables may update it in any order. CompileError unless the update is associative
  /// or `override_associativity_test` promises that the order does not matter.
  Self &atomic(bool override_associativity_test = false, Here here = Here());
  /// Promises that iterations of parallel and vector loops that touch one cell do no harm.
  Self &allow_race_conditions(Here here = Here());

  /// The stage's stores go past the caches, which pays where what it writes is large and not read
  /// again soon. CompileError where the stage reads values of its own that it may have written so.
  ///   for x { f[x] = v }  ->  for x { stream f[x] = v }; fence
  Self &stream_stores(Here here = Here());
  /// The stage's reads of other Funcs and of images, or of those named, leave no trace in the
  /// caches: for what is read once.
  ///   for x { f[x] = g[x] + h[x] }  ->  for x { f[x] = stream(g[x]) + h[x] }   f.stream_loads({g})
  Self &stream_loads(Here here = Here());
  Self &stream_loads(const std::vector<Func> &funcs, Here here = Here());

  /// Puts the definitions of pure Funcs in the place of the stage's calls of them, so that later
  /// directives see what they are made of; the Funcs themselves stay as they are.
  ///   g(x) = h(x) + 1;  f(x) = g(x)*2   ->   f(x) = (h(x) + 1)*2        f.eager_inline({g})
  Self &eager_inline(const std::vector<Func> &funcs, Here here = Here());
  Self &eager_inline(const Func &func, Here here = Here());
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, Func> && ...)>>
  Self &eager_inline(const Func &first, const FuncAt &second, Args &&...more);

 protected:
  ~Schedulable() = default;

 private:
  Self &prefetch_image(const std::shared_ptr<ParameterContents> &image, const VarOrRVar &at,
                       const VarOrRVar &from, Expr offset, PrefetchBoundStrategy strategy);
  Self &partition_all(Partition policy, const SourceLocation &where);
  Self &self() { return static_cast<Self &>(*this); }
};

/// The loops that a stage has after all directives so far.
class StageSchedule {
 public:
  struct Dim {
    std::string var;
    bool reduction = false;
    bool is_rvar() const { return reduction; }
    bool is_pure() const { return !reduction; }
  };
  explicit StageSchedule(std::vector<Dim> dims) : dims_(std::move(dims)) {}
  /// Innermost first.
  std::vector<Dim> dims() const { return dims_; }  // a copy: a loop over it outlives this

 private:
  std::vector<Dim> dims_;
};

class Stage : public Schedulable<Stage> {
 public:
  /// `branch`: the conditions of the specializations that it is inside of, outermost first.
  Stage(std::shared_ptr<FunctionContents> func, int stage, std::vector<Expr> branch = {});
  /// "f" or "f.update(2)".
  std::string name() const;
  /// Says that the stage has no schedule on purpose: no warning that it was forgotten. CompileError
  /// where it has one, or where that has been said before.
  void unscheduled(Here here = Here());
  /// "Vars: x y": the loops that the stage has after all directives so far, innermost first.
  std::string dump_argument_list() const;
  StageSchedule get_schedule() const;
  /// These loops, and Var::outermost() behind them.
  std::vector<VarOrRVar> split_vars(Here here = Here()) const;

  /// Splits an associative update into partial results and their merging. Each `preserved`
  /// reduction loop becomes a dimension, of the new Var, of the Func that holds partial results:
  ///   f(x) += g(x, r, s)   ->   f_intm(x, u) = 0;  f_intm(x, u) += g(x, r, u);
  ///                             f(x) += f_intm(x, s)
  /// Returns that Func. CompileError where associativity is not proven, or commutativity where the
  /// new order needs it.
  Func rfactor(const std::vector<std::pair<RVar, Var>> &preserved, Here here = Here());
  Func rfactor(const RVar &r, const Var &v, Here here = Here());

  /// Takes the values of a Tuple's update apart: inside of loop `around`, or outside of all loops,
  /// a new loop `part` runs the loops once for each of them.
  ///   for t { for x { f(x) = {a, b} } }
  ///   -> for t { for x { f(x).0 = a };  for x { f(x).1 = b } }        f.update().fission(t, part)
  /// Values that need what each other had, in one instance, stay one part. `part` is unrolled,
  /// until another directive says how it runs. CompileError where there is one part only.
  Stage &fission(const VarOrRVar &part);
  Stage &fission(const VarOrRVar &around, const VarOrRVar &part);

  /// Runs a scan in blocks: each cell is made of the one before it, by an operator that is
  /// associative. Loop `blocks`, the outer part of a split, becomes independent:
  ///   over r: f(r) = f(r - 1) + g(r)           split(r, ro, ri, 8).scan(ro, u)
  ///   -> over ri: f_intm(u) = f_intm(u) + g(8*u + ri);  over ro: f_intm(ro) += f_intm(ro - 1)
  ///      over ri, ro: f(r) = (ri > 0 ? f(r - 1) : f(first) + f_intm(ro - 1)) + g(r)
  /// Returns the Func of the blocks' totals. CompileError where associativity is not proven.
  Func scan(const VarOrRVar &blocks, const Var &v);

  /// Takes factors that are the same in all steps of a reduction out of it:
  ///   over r: f(x) = f(x) + s(x)*g(x, r)   ->   over r: f_intm(x) = f_intm(x) + g(x, r)
  ///                                             f(x) = f(x) + s(x)*f_intm(x)
  /// likewise sums under min and max, of floats and of integers that do not wrap; && under ||, and
  /// || under &&. Each term of a sum (or min, ...) gets a Func of its own; returns these Funcs.
  /// Floats count as real numbers, as in rfactor. CompileError where there is nothing to take out.
  FuncVec hoist_invariants(Here here = Here());
  /// The same for N terms: auto [a, b] = f.update().hoist_invariants<2>();
  template <size_t N>
  auto hoist_invariants(Here here = Here());

  const Stage &stage_to_schedule() const { return *this; }

  const std::shared_ptr<FunctionContents> &function() const { return func_; }
  int index() const { return stage_; }
  const std::vector<Expr> &branch() const { return branch_; }

 private:
  std::shared_ptr<FunctionContents> func_;
  int stage_;
  std::vector<Expr> branch_;
};

}  // namespace polyhalite
