#include <set>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/define.h"
#include "lang/language/fixed_value.h"
#include "lang/language/loop_level.h"
#include "lang/language/loop_origins.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/language/stage_loops.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/func.h"
#include "polyhalite/stage.h"

namespace polyhalite {

namespace {

FunctionContents &defined_function(const Stage &s, const char *word, const VarOrRVar &loop) {
  FunctionContents &f = *s.function();
  if (!f.pure) {
    user_error(
        std::string("cannot ") + word + " " + quoted_name(loop.name) + " of " + quoted_name(f.name),
        "the Func is undefined, so it has no loops", "define the Func before its schedule",
        loop.where);
  }
  check_kind_of_name(f, s.index(), word, loop);
  return f;
}

// A split's factor as Int(32).
Expr checked_factor(const Stage &s, const char *word, const VarOrRVar &loop, Expr factor) {
  const std::string what = std::string("cannot ") + word + " " + quoted_name(loop.name) + " of " +
                           describe_stage(*s.function(), s.index());
  if (!factor.defined()) {
    user_error(what + " by an undefined factor", "an Expr that was never given a value has no type",
               "give a positive integer", loop.where);
  }
  if (!factor.type().is_int_or_uint()) {
    user_error(what + " by a factor of type " + factor.type().to_string(),
               "factors count iterations", "give a positive integer", loop.where);
  }
  if (factor.type().is_uint() && factor.type().bits() > 16) {
    user_error(what + " by a factor of type " + factor.type().to_string(),
               "it holds numbers that int32, which loops count in, does not", "cast it to int32",
               loop.where);
  }
  int64_t n;
  if (is_const_int(factor, &n) && n <= 0 && factor.type().is_int()) {
    user_error(what + " by " + std::to_string(n),
               "a split makes inner loops of `factor` iterations", "give a factor of at least 1",
               loop.where);
  }
  return detail::fixed_integer(std::move(factor), what + ": the factor", loop.where);
}

// The factor of a skew or the offset of a shift.
Expr checked_constant(const Stage &s, const char *word, const VarOrRVar &loop, Expr value) {
  if (value.defined()) value = simplify(value);
  int64_t n = 0;
  if (value.defined() && value.type().is_int_or_uint() && is_const_int(value, &n)) {
    return make_cast(Int(32), value);
  }
  user_error(std::string("cannot ") + word + " " + quoted_name(loop.name) + " of " +
                 describe_stage(*s.function(), s.index()) + " by what is no integer constant",
             "the order of its iterations would be known at run time only", "give a constant",
             loop.where);
}

void record_loop(const Stage &s, DirectiveKind kind, const VarOrRVar &loop) {
  defined_function(s, directive_name(kind), loop);
  record(s, kind, {loop.name}, {}, loop.where);
}

[[noreturn]] void refuse_blend_race(const FunctionContents &f, int stage, const VarOrRVar &blended,
                                    const std::string &parallel, const SourceLocation &where) {
  user_error(
      "cannot blend the tail of " + quoted_name(blended.name) + " of " + describe_stage(f, stage) +
          " beside the parallel loop " + quoted_name(parallel),
      "a blending tail reads and writes again points that another tile writes, so tiles must "
      "run one after the other",
      "use GuardWithIf, or run a loop over another dimension in parallel", where);
}

void record_split(const Stage &s, const VarOrRVar &old, const std::string &outer,
                  const std::string &inner, Expr factor, TailStrategy tail, const char *word) {
  FunctionContents &f = defined_function(s, word, old);
  factor = checked_factor(s, word, old, std::move(factor));
  if (outer == inner) {
    user_error(std::string("cannot split ") + quoted_name(old.name) + " of " +
                   describe_stage(f, s.index()) + " into two loops " + quoted_name(outer),
               "the outer and the inner loop need different names", "rename one of them",
               old.where);
  }
  const std::string what =
      std::string("cannot split ") + quoted_name(old.name) + " of " + describe_stage(f, s.index());
  if (tail == TailStrategy::ShiftInwards && s.index() > 0) {
    user_error(what + " with ShiftInwards",
               "shifting the last tile inwards computes values twice, which an update may not do",
               "use GuardWithIf or RoundUp", old.where);
  }
  const LoopOrigins origins(s);
  const bool predicates =
      tail == TailStrategy::PredicateLoads || tail == TailStrategy::PredicateStores;
  if (predicates && origins.is_inside(old.name)) {
    user_error(
        what + (tail == TailStrategy::PredicateLoads ? " with PredicateLoads"
                                                     : " with PredicateStores"),
        quoted_name(old.name) + " is the inner loop of another split, and has no range of its own",
        "split the outer loop with this tail, or use GuardWithIf", old.where);
  }
  const auto parallel = origins.parallel_beside(old.name);
  if (is_blending(tail) && parallel) refuse_blend_race(f, s.index(), old, *parallel, old.where);
  record(s, DirectiveKind::Split, {old.name, outer, inner}, {std::move(factor)}, old.where, tail);
}

void record_parallel(const Stage &s, const VarOrRVar &loop) {
  FunctionContents &f = defined_function(s, "parallel", loop);
  if (const auto blended = LoopOrigins(s).blended_beside(loop.name)) {
    refuse_blend_race(f, s.index(), VarOrRVar(Var::of_loop(*blended)), loop.name, loop.where);
  }
  record_loop(s, DirectiveKind::Parallel, loop);
}

// LOOP_SUFFIX, made unique within the stage.
std::string fresh_inner_name(const Stage &s, const std::string &loop, const char *suffix) {
  const FunctionContents &f = *s.function();
  std::set<std::string> taken(f.pure_args.begin(), f.pure_args.end());
  if (s.index() > 0) {
    const auto &domain = f.updates[s.index() - 1].domain;
    if (domain) {
      for (const ReductionVariable &v : domain->vars) taken.insert(plain_name(v.var));
    }
  }
  for (const Directive &d : f.directives) {
    if (d.stage != s.index() || d.kind == DirectiveKind::ComputeAt ||
        d.kind == DirectiveKind::StoreAt) {
      continue;
    }
    for (const std::string &name : d.loops) taken.insert(plain_name(name));
  }
  const std::string base = plain_name(loop) + suffix;
  std::string name = base;
  for (int i = 1; taken.count(name); i++) name = base + std::to_string(i);
  return name;
}

void record_split_and_mark(const Stage &s, DirectiveKind kind, const VarOrRVar &loop, Expr factor,
                           TailStrategy tail, const char *suffix) {
  const std::string inner = fresh_inner_name(s, loop.name, suffix);
  record_split(s, loop, loop.name, inner, std::move(factor), tail, directive_name(kind));
  if (kind == DirectiveKind::Parallel) {
    record_parallel(s, loop);
  } else {
    record(s, kind, {inner}, {}, loop.where);
  }
}

Directive &record_prefetch(const Stage &s, const std::string &target, const VarOrRVar &at,
                           const VarOrRVar &from, Expr offset, PrefetchBoundStrategy strategy) {
  FunctionContents &f = defined_function(s, "prefetch at", at);
  offset = detail::fixed_integer(std::move(offset),
                                 "the offset of the prefetch of " + quoted_name(target) + " in " +
                                     describe_stage(f, s.index()),
                                 at.where);
  Directive &d =
      record(s, DirectiveKind::Prefetch, {at.name, from.name}, {std::move(offset)}, at.where);
  d.option = prefetch_bound_name(strategy);
  d.target_func = target;
  return d;
}

void check_distinct(const Stage &s, const std::vector<VarOrRVar> &loops) {
  std::set<std::string> seen;
  for (const VarOrRVar &l : loops) {
    if (seen.insert(l.name).second) continue;
    user_error("cannot reorder " + describe_stage(*s.function(), s.index()) + ": " +
                   quoted_name(l.name) + " is named twice",
               "each loop has one place", "name it once", loops[0].where);
  }
}

std::vector<std::string> names_of(const std::vector<VarOrRVar> &loops) {
  std::vector<std::string> names;
  for (const VarOrRVar &l : loops) names.push_back(l.name);
  return names;
}

}  // namespace

template <typename Self>
Self &Schedulable<Self>::split(const VarOrRVar &old, const VarOrRVar &outer, const VarOrRVar &inner,
                               Expr factor, TailStrategy tail) {
  record_split(self().stage_to_schedule(), old, outer.name, inner.name, std::move(factor), tail,
               "split");
  return self();
}

template <typename Self>
Self &Schedulable<Self>::fuse(const VarOrRVar &inner, const VarOrRVar &outer,
                              const VarOrRVar &fused) {
  const Stage &s = self().stage_to_schedule();
  FunctionContents &f = defined_function(s, "fuse", inner);
  if (inner.name == outer.name) {
    user_error("cannot fuse " + quoted_name(inner.name) + " of " + describe_stage(f, s.index()) +
                   " with itself",
               "fuse joins two loops", "name two different loops", inner.where);
  }
  record(s, DirectiveKind::Fuse, {inner.name, outer.name, fused.name}, {}, inner.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::reorder(const std::vector<VarOrRVar> &loops) {
  if (loops.empty()) return self();
  const Stage &s = self().stage_to_schedule();
  defined_function(s, "reorder", loops[0]);
  check_distinct(s, loops);
  record(s, DirectiveKind::Reorder, names_of(loops), {}, loops[0].where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::rename(const VarOrRVar &old, const VarOrRVar &fresh) {
  const Stage &s = self().stage_to_schedule();
  defined_function(s, "rename", old);
  record(s, DirectiveKind::Rename, {old.name, fresh.name}, {}, old.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::skew(const VarOrRVar &loop, const VarOrRVar &by, const VarOrRVar &skewed,
                              Expr factor) {
  const Stage &s = self().stage_to_schedule();
  const FunctionContents &f = defined_function(s, "skew", loop);
  if (loop.name == by.name) {
    user_error("cannot skew " + quoted_name(loop.name) + " of " + describe_stage(f, s.index()) +
                   " by itself",
               "a skew adds another loop's counter", "name two different loops", loop.where);
  }
  factor = checked_constant(s, "skew", loop, std::move(factor));
  if (int64_t n; is_const_int(factor, &n) && n == 0) {
    user_error("cannot skew " + quoted_name(loop.name) + " of " + describe_stage(f, s.index()) +
                   " by 0 times " + quoted_name(by.name),
               "the loop would stay what it is", "give a factor other than 0", loop.where);
  }
  record(s, DirectiveKind::Skew, {loop.name, by.name, skewed.name}, {std::move(factor)},
         loop.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::reverse(const VarOrRVar &loop) {
  record_loop(self().stage_to_schedule(), DirectiveKind::Reverse, loop);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::shift(const VarOrRVar &loop, Expr offset) {
  const Stage &s = self().stage_to_schedule();
  defined_function(s, "shift", loop);
  offset = checked_constant(s, "shift", loop, std::move(offset));
  record(s, DirectiveKind::Shift, {loop.name}, {std::move(offset)}, loop.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::serial(const VarOrRVar &loop) {
  record_loop(self().stage_to_schedule(), DirectiveKind::Serial, loop);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::parallel(const VarOrRVar &loop) {
  record_parallel(self().stage_to_schedule(), loop);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::vectorize(const VarOrRVar &loop) {
  record_loop(self().stage_to_schedule(), DirectiveKind::Vectorize, loop);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::unroll(const VarOrRVar &loop) {
  record_loop(self().stage_to_schedule(), DirectiveKind::Unroll, loop);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::parallel(const VarOrRVar &loop, Expr size, TailStrategy tail) {
  record_split_and_mark(self().stage_to_schedule(), DirectiveKind::Parallel, loop, std::move(size),
                        tail, "_p");
  return self();
}

template <typename Self>
Self &Schedulable<Self>::vectorize(const VarOrRVar &loop, Expr factor, TailStrategy tail) {
  record_split_and_mark(self().stage_to_schedule(), DirectiveKind::Vectorize, loop,
                        std::move(factor), tail, "_v");
  return self();
}

template <typename Self>
Self &Schedulable<Self>::unroll(const VarOrRVar &loop, Expr factor, TailStrategy tail) {
  record_split_and_mark(self().stage_to_schedule(), DirectiveKind::Unroll, loop, std::move(factor),
                        tail, "_u");
  return self();
}

template <typename Self>
Self &Schedulable<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xo,
                              const VarOrRVar &yo, const VarOrRVar &xi, const VarOrRVar &yi,
                              Expr x_factor, Expr y_factor, TailStrategy tail) {
  return tile(std::vector<VarOrRVar>{x, y}, {xo, yo}, {xi, yi},
              {std::move(x_factor), std::move(y_factor)}, tail);
}

template <typename Self>
Self &Schedulable<Self>::tile(const VarOrRVar &x, const VarOrRVar &y, const VarOrRVar &xi,
                              const VarOrRVar &yi, Expr x_factor, Expr y_factor,
                              TailStrategy tail) {
  return tile(x, y, x, y, xi, yi, std::move(x_factor), std::move(y_factor), tail);
}

template <typename Self>
Self &Schedulable<Self>::tile(const std::vector<VarOrRVar> &previous,
                              const std::vector<VarOrRVar> &outers,
                              const std::vector<VarOrRVar> &inners,
                              const std::vector<Expr> &factors, TailStrategy tail) {
  return tile(previous, outers, inners, factors, std::vector<TailStrategy>(previous.size(), tail));
}

template <typename Self>
Self &Schedulable<Self>::tile(const std::vector<VarOrRVar> &previous,
                              const std::vector<VarOrRVar> &inners,
                              const std::vector<Expr> &factors, TailStrategy tail) {
  return tile(previous, previous, inners, factors, tail);
}

template <typename Self>
Self &Schedulable<Self>::tile(const std::vector<VarOrRVar> &previous,
                              const std::vector<VarOrRVar> &outers,
                              const std::vector<VarOrRVar> &inners,
                              const std::vector<Expr> &factors,
                              const std::vector<TailStrategy> &tails) {
  const Stage &s = self().stage_to_schedule();
  const size_t n = previous.size();
  if (n == 0 || outers.size() != n || inners.size() != n || factors.size() != n ||
      tails.size() != n) {
    user_error("cannot tile " + describe_stage(*s.function(), s.index()) + ": " +
                   std::to_string(n) + " loops, " + std::to_string(outers.size()) + " outer and " +
                   std::to_string(inners.size()) + " inner names, " +
                   std::to_string(factors.size()) + " factors" +
                   (tails.size() != n ? ", " + std::to_string(tails.size()) + " tails" : ""),
               "each tiled loop has one of each", "give lists of the same length",
               n == 0 ? SourceLocation{} : previous[0].where);
  }
  for (size_t i = 0; i < n; i++) {
    record_split(s, previous[i], outers[i].name, inners[i].name, factors[i], tails[i], "tile");
  }
  std::vector<VarOrRVar> order = inners;
  order.insert(order.end(), outers.begin(), outers.end());
  check_distinct(s, order);
  record(s, DirectiveKind::Reorder, names_of(order), {}, previous[0].where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::compute_with(
    const LoopLevel &level, const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
  const Stage &s = self().stage_to_schedule();
  VarOrRVar loop(level.contents()->loop, level.contents()->is_rvar);
  loop.where = level.contents()->where;
  FunctionContents &f = defined_function(s, "compute_with", loop);
  Directive &d =
      record_level(f, s.index(), DirectiveKind::ComputeWith, level, Here(level.contents()->where));
  for (const auto &[name, how] : align) {
    d.loops.push_back(name.name);
    d.aligns.push_back(how);
  }
  return self();
}

template <typename Self>
Self &Schedulable<Self>::partition(const VarOrRVar &loop, Partition policy) {
  const Stage &s = self().stage_to_schedule();
  defined_function(s, "partition", loop);
  record(s, DirectiveKind::Partition, {loop.name}, {}, loop.where).option = partition_name(policy);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::never_partition(const std::vector<VarOrRVar> &loops) {
  for (const VarOrRVar &l : loops) partition(l, Partition::Never);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::always_partition(const std::vector<VarOrRVar> &loops) {
  for (const VarOrRVar &l : loops) partition(l, Partition::Always);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::never_partition_all(Here here) {
  return partition_all(Partition::Never, here.where);
}

template <typename Self>
Self &Schedulable<Self>::always_partition_all(Here here) {
  return partition_all(Partition::Always, here.where);
}

template <typename Self>
Self &Schedulable<Self>::partition_all(Partition policy, const SourceLocation &where) {
  const Stage &s = self().stage_to_schedule();
  FunctionContents &f = *s.function();
  if (!f.pure) {
    user_error("cannot partition the loops of " + quoted_name(f.name),
               "the Func is undefined, so it has no loops", "define the Func before its schedule",
               where);
  }
  for (const CurrentLoop &loop : current_loops(f, s.index(), s.branch())) {
    record(s, DirectiveKind::Partition, {loop.name}, {}, where).option = partition_name(policy);
  }
  return self();
}

template <typename Self>
Self &Schedulable<Self>::compute_with(const LoopLevel &level, LoopAlignStrategy align) {
  if (align == LoopAlignStrategy::Auto) {
    return compute_with(level, std::vector<std::pair<VarOrRVar, LoopAlignStrategy>>{});
  }
  return compute_with(level, std::vector<std::pair<VarOrRVar, LoopAlignStrategy>>{
                                 {VarOrRVar(Var::of_loop(kSharedLoop)), align}});
}

template <typename Self>
Self &Schedulable<Self>::compute_with(
    const Stage &leader, const VarOrRVar &loop,
    const std::vector<std::pair<VarOrRVar, LoopAlignStrategy>> &align) {
  return compute_with(LoopLevel(Func(leader.function()), loop, leader.index()), align);
}

template <typename Self>
Self &Schedulable<Self>::compute_with(const Stage &leader, const VarOrRVar &loop,
                                      LoopAlignStrategy align) {
  return compute_with(LoopLevel(Func(leader.function()), loop, leader.index()), align);
}

template <typename Self>
Self &Schedulable<Self>::prefetch(const Func &f, const VarOrRVar &at, const VarOrRVar &from,
                                  Expr offset, PrefetchBoundStrategy strategy) {
  record_prefetch(self().stage_to_schedule(), f.name(), at, from, std::move(offset), strategy);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::prefetch_image(const std::shared_ptr<ParameterContents> &image,
                                        const VarOrRVar &at, const VarOrRVar &from, Expr offset,
                                        PrefetchBoundStrategy strategy) {
  record_prefetch(self().stage_to_schedule(), image->name, at, from, std::move(offset), strategy)
      .target_image = image;
  return self();
}

template class Schedulable<Func>;
template class Schedulable<Stage>;

}  // namespace polyhalite
