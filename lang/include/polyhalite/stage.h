// Stage: one definition of a Func, to be scheduled.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "polyhalite/device_schedule.h"
#include "polyhalite/tail_strategy.h"
#include "polyhalite/var.h"

namespace polyhalite {

struct FunctionContents;
class Func;

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
  /// The opposite: one loop over inner and outer.
  Self &fuse(const VarOrRVar &inner, const VarOrRVar &outer, const VarOrRVar &fused);
  /// Innermost first; loops that are not named keep their places.
  Self &reorder(const std::vector<VarOrRVar> &loops);
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<Args, VarOrRVar> && ...)>>
  Self &reorder(const VarOrRVar &x, const VarOrRVar &y, Args &&...more) {
    return reorder(std::vector<VarOrRVar>{x, y, VarOrRVar(std::forward<Args>(more))...});
  }
  Self &rename(const VarOrRVar &old, const VarOrRVar &fresh);

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

 protected:
  ~Schedulable() = default;

 private:
  Self &self() { return static_cast<Self &>(*this); }
};

class Stage : public Schedulable<Stage> {
 public:
  Stage(std::shared_ptr<FunctionContents> func, int stage);
  /// "f" or "f.update(2)".
  std::string name() const;
  /// Says that the stage has no schedule on purpose: no warning that it was forgotten. CompileError
  /// where it has one, or where that has been said before.
  void unscheduled(Here here = Here());
  const Stage &stage_to_schedule() const { return *this; }

  const std::shared_ptr<FunctionContents> &function() const { return func_; }
  int index() const { return stage_; }

 private:
  std::shared_ptr<FunctionContents> func_;
  int stage_;
};

}  // namespace polyhalite
