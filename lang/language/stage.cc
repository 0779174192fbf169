#include "polyhalite/stage.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/define.h"
#include "lang/language/fixed_value.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/language/stage_loops.h"
#include "polyhalite/func.h"

namespace polyhalite {

Directive &record(FunctionContents &f, int stage, DirectiveKind kind,
                  std::vector<std::string> loops, std::vector<Expr> factors,
                  const SourceLocation &where, TailStrategy tail) {
  static std::atomic<uint64_t> count{0};
  Directive d;
  d.kind = kind;
  d.func = f.name;
  d.stage = stage;
  d.loops = std::move(loops);
  d.factors = std::move(factors);
  d.tail = tail;
  d.where = where;
  check_loops(f, d);
  d.order = ++count;
  f.directives.push_back(std::move(d));
  return f.directives.back();
}

namespace {

std::string quoted(const std::string &name) { return "'" + plain_name(name) + "'"; }

FunctionContents &defined_function(const Stage &s, const char *word, const VarOrRVar &loop) {
  FunctionContents &f = *s.function();
  if (!f.pure) {
    user_error(std::string("cannot ") + word + " " + quoted(loop.name) + " of " + quoted(f.name),
               "the Func is undefined, so it has no loops", "define the Func before its schedule",
               loop.where);
  }
  check_kind_of_name(f, s.index(), word, loop);
  return f;
}

// A split's factor as Int(32).
Expr checked_factor(const Stage &s, const char *word, const VarOrRVar &loop, Expr factor) {
  const std::string what = std::string("cannot ") + word + " " + quoted(loop.name) + " of " +
                           describe_stage(*s.function(), s.index());
  if (!factor.defined()) {
    user_error(what + " by an undefined factor", "an Expr that was never given a value has no type",
               "give a positive integer", loop.where);
  }
  if (!factor.type().is_int_or_uint()) {
    user_error(what + " by a factor of type " + factor.type().to_string(),
               "factors count iterations", "give a positive integer", loop.where);
  }
  int64_t n;
  if (is_const_int(factor, &n) && n <= 0 && factor.type().is_int()) {
    user_error(what + " by " + std::to_string(n),
               "a split makes inner loops of `factor` iterations", "give a factor of at least 1",
               loop.where);
  }
  return detail::fixed_integer(std::move(factor), what + ": the factor", loop.where);
}

void record_loop(const Stage &s, DirectiveKind kind, const VarOrRVar &loop) {
  record(defined_function(s, directive_name(kind), loop), s.index(), kind, {loop.name}, {},
         loop.where);
}

void record_split(const Stage &s, const VarOrRVar &old, const std::string &outer,
                  const std::string &inner, Expr factor, TailStrategy tail, const char *word) {
  FunctionContents &f = defined_function(s, word, old);
  factor = checked_factor(s, word, old, std::move(factor));
  if (outer == inner) {
    user_error(std::string("cannot split ") + quoted(old.name) + " of " +
                   describe_stage(f, s.index()) + " into two loops " + quoted(outer),
               "the outer and the inner loop need different names", "rename one of them",
               old.where);
  }
  if (tail == TailStrategy::ShiftInwards && s.index() > 0) {
    user_error(std::string("cannot split ") + quoted(old.name) + " of " +
                   describe_stage(f, s.index()) + " with ShiftInwards",
               "shifting the last tile inwards computes values twice, which an update may not do",
               "use GuardWithIf or RoundUp", old.where);
  }
  record(f, s.index(), DirectiveKind::Split, {old.name, outer, inner}, {std::move(factor)},
         old.where, tail);
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
  const bool outer_is_marked = kind == DirectiveKind::Parallel;
  record(*s.function(), s.index(), kind, {outer_is_marked ? loop.name : inner}, {}, loop.where);
}

void check_distinct(const Stage &s, const std::vector<VarOrRVar> &loops) {
  std::set<std::string> seen;
  for (const VarOrRVar &l : loops) {
    if (seen.insert(l.name).second) continue;
    user_error("cannot reorder " + describe_stage(*s.function(), s.index()) + ": " +
                   quoted(l.name) + " is named twice",
               "each loop has one place", "name it once", l.where);
  }
}

std::vector<std::string> names_of(const std::vector<VarOrRVar> &loops) {
  std::vector<std::string> names;
  for (const VarOrRVar &l : loops) names.push_back(l.name);
  return names;
}

}  // namespace

Stage::Stage(std::shared_ptr<FunctionContents> func, int stage)
    : func_(std::move(func)), stage_(stage) {}

std::string Stage::name() const {
  return stage_ == 0 ? func_->name : func_->name + ".update(" + std::to_string(stage_ - 1) + ")";
}

void Stage::unscheduled(Here here) {
  const bool scheduled =
      std::any_of(func_->directives.begin(), func_->directives.end(), [&](const Directive &d) {
        return d.stage == stage_ && concerns_loops(d.kind);
      });
  if (func_->unscheduled.insert(stage_).second && !scheduled) return;
  user_error("unscheduled() on " + describe_stage(*func_, stage_) +
                 (scheduled ? ", which has a schedule" : " for the second time"),
             "it says once, and in place of directives, that a stage has none",
             "drop it, or the directives", here.where);
}

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
    user_error("cannot fuse " + quoted(inner.name) + " of " + describe_stage(f, s.index()) +
                   " with itself",
               "fuse joins two loops", "name two different loops", inner.where);
  }
  record(f, s.index(), DirectiveKind::Fuse, {inner.name, outer.name, fused.name}, {}, inner.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::reorder(const std::vector<VarOrRVar> &loops) {
  if (loops.empty()) return self();
  const Stage &s = self().stage_to_schedule();
  FunctionContents &f = defined_function(s, "reorder", loops[0]);
  check_distinct(s, loops);
  record(f, s.index(), DirectiveKind::Reorder, names_of(loops), {}, loops[0].where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::rename(const VarOrRVar &old, const VarOrRVar &fresh) {
  const Stage &s = self().stage_to_schedule();
  record(defined_function(s, "rename", old), s.index(), DirectiveKind::Rename,
         {old.name, fresh.name}, {}, old.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::serial(const VarOrRVar &loop) {
  record_loop(self().stage_to_schedule(), DirectiveKind::Serial, loop);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::parallel(const VarOrRVar &loop) {
  record_loop(self().stage_to_schedule(), DirectiveKind::Parallel, loop);
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
  const Stage &s = self().stage_to_schedule();
  const size_t n = previous.size();
  if (n == 0 || outers.size() != n || inners.size() != n || factors.size() != n) {
    user_error("cannot tile " + describe_stage(*s.function(), s.index()) + ": " +
                   std::to_string(n) + " loops, " + std::to_string(outers.size()) + " outer and " +
                   std::to_string(inners.size()) + " inner names, " +
                   std::to_string(factors.size()) + " factors",
               "each tiled loop has one of each", "give lists of the same length",
               n == 0 ? SourceLocation{} : previous[0].where);
  }
  for (size_t i = 0; i < n; i++) {
    record_split(s, previous[i], outers[i].name, inners[i].name, factors[i], tail, "tile");
  }
  std::vector<VarOrRVar> order = inners;
  order.insert(order.end(), outers.begin(), outers.end());
  check_distinct(s, order);
  record(*s.function(), s.index(), DirectiveKind::Reorder, names_of(order), {}, previous[0].where);
  return self();
}

template class Schedulable<Func>;
template class Schedulable<Stage>;

}  // namespace polyhalite
