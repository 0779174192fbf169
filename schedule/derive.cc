#include "schedule/derive.h"

#include "lang/ir/extern_stage.h"

#include <algorithm>
#include <set>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "schedule/tail.h"

namespace polyhalite {

namespace {

std::string on(const StageDimensions &s) { return describe_stage(s.func, s.stage); }

size_t find_loop(const StageDimensions &s, const std::string &label, const Directive &d) {
  for (size_t i = 0; i < s.loops.size(); i++) {
    if (s.loops[i].label == label) return i;
  }
  user_error(std::string("cannot ") + directive_verb(d.kind) + " '" + label + "': " + on(s) +
                 " has no such loop",
             "", "its loops are, outermost first: " + loop_list(s), d.where);
}

// The name under which derivations know a new dimension.
std::string fresh_name(const StageDimensions &s, const std::string &label) {
  std::set<std::string> taken;
  for (const LoopDimension &l : s.loops) taken.insert(l.name);
  for (const Derivation &d : s.derivations) taken.insert({d.a, d.b, d.c});
  taken.erase("");
  if (!taken.count(label)) return label;
  for (int i = 1;; i++) {
    std::string name = label + "." + std::to_string(i);
    if (!taken.count(name)) return name;
  }
}

void check_label(const StageDimensions &s, const std::string &label,
                 const std::vector<size_t> &replaced, const Directive &d) {
  for (size_t i = 0; i < s.loops.size(); i++) {
    if (s.loops[i].label != label || std::count(replaced.begin(), replaced.end(), i)) continue;
    user_error(std::string("cannot ") + directive_verb(d.kind) + ": " + on(s) +
                   " already has a loop '" + label + "'",
               "", "give the new loop a name other than: " + loop_list(s), d.where);
  }
}

Expr checked_factor(const StageDimensions &s, const Directive &d) {
  std::string what = "cannot split '" + d.loops[0] + "' of " + on(s);
  Expr factor = d.factors[0];
  if (!factor.defined() || !factor.type().is_int_or_uint() || factor.type().is_bool()) {
    user_error(what + ": the factor is not an integer", "",
               "give a constant or an expression of Params of type int32", d.where);
  }
  factor = simplify(factor);
  int64_t value;
  if (is_const_int(factor, &value)) {
    if (value <= 0 && factor.type().is_int()) {
      user_error(what + " by " + std::to_string(value), "a split needs a factor of at least 1", "",
                 d.where);
    }
    if (value <= 0 || value > kMaxFactor) {
      user_error(what + " by " + (value > 0 ? std::to_string(value) : "such a large factor"),
                 "extents rounded up to a multiple of the factor must fit int32",
                 "use a factor of at most " + std::to_string(kMaxFactor), d.where);
    }
  }
  factor = simplify(make_cast(Int(32), factor));
  if (is_const_int(factor)) return factor;
  for_each_node(factor, [&](const Expr &e) {
    const VariableNode *v = as_variable(e);
    bool varies = v ? v->kind != VariableKind::Param && v->kind != VariableKind::BufferField
                    : as_call(e) && as_call(e)->kind != CallKind::Intrinsic;
    if (!varies) return;
    user_error(what + ": the factor uses '" + (v ? v->name : as_call(e)->name) + "'",
               "a factor is fixed before the loops run",
               "give a constant or an expression of Params", d.where);
  });
  return factor;
}

StageDimensions split(StageDimensions s, const Directive &d) {
  size_t at = find_loop(s, d.loops[0], d);
  const std::string &outer_label = d.loops[1], &inner_label = d.loops[2];
  if (outer_label == inner_label) {
    user_error("cannot split '" + d.loops[0] + "' of " + on(s) +
                   ": outer and inner loop are both '" + inner_label + "'",
               "", "give the two loops different names", d.where);
  }
  check_label(s, outer_label, {at}, d);
  check_label(s, inner_label, {at}, d);

  const LoopDimension old = s.loops[at];
  Derivation der{Derivation::Split, old.name, "", "", checked_factor(s, d), d.tail, d.where};
  der.tail = resolve_tail(s, old, der.factor, d);
  int64_t factor = 0;
  bool constant = is_const_int(der.factor, &factor);

  if (old.is_extern && der.tail != TailStrategy::ShiftInwards &&
      der.tail != TailStrategy::RoundUp && !is_guarding(der.tail)) {
    user_error("cannot split '" + old.label + "' of extern stage " + on(s) + " with " +
                   tail_strategy_name(der.tail),
               "a C function computes whole boxes", "use ShiftInwards, GuardWithIf or RoundUp",
               d.where);
  }
  LoopDimension outer = old, inner = old;
  outer.is_extern = false;
  outer.label = outer_label;
  inner.label = inner_label;
  outer.is_variable = inner.is_variable = false;
  inner.is_inside = true;
  inner.is_predicated =
      der.tail == TailStrategy::PredicateLoads || der.tail == TailStrategy::PredicateStores;
  outer.where = inner.where = d.where;
  outer.extent = inner.extent = outer.bound = inner.bound = std::nullopt;
  if (constant) {
    inner.extent = factor;
    if (old.extent) outer.extent = (*old.extent + factor - 1) / factor;
  }
  der.b = outer.name = fresh_name(s, outer_label);
  s.derivations.push_back(der);
  s.derivations.back().c = inner.name = fresh_name(s, inner_label);
  s.loops[at] = outer;
  s.loops.insert(s.loops.begin() + at + 1, inner);
  return s;
}

StageDimensions fuse(StageDimensions s, const Directive &d) {
  size_t inner_at = find_loop(s, d.loops[0], d), outer_at = find_loop(s, d.loops[1], d);
  if (inner_at == outer_at) {
    user_error("cannot fuse '" + d.loops[0] + "' of " + on(s) + " with itself", "",
               "name two different loops of: " + loop_list(s), d.where);
  }
  check_label(s, d.loops[2], {inner_at, outer_at}, d);
  const LoopDimension inner = s.loops[inner_at], outer = s.loops[outer_at];
  // The fused loop runs as the inner one does, which says nothing of a reduction's.
  if (inner.kind != outer.kind && (inner.is_reduction || outer.is_reduction)) {
    user_error("cannot fuse '" + inner.label + "' (" + loop_kind_name(inner.kind) + ") with '" +
                   outer.label + "' (" + loop_kind_name(outer.kind) + ") of " + on(s),
               "the fused loop would have two kinds",
               "fuse first, then say how the fused loop runs", d.where);
  }
  LoopDimension fused = inner;
  fused.label = d.loops[2];
  fused.name = fresh_name(s, fused.label);
  fused.is_reduction = inner.is_reduction || outer.is_reduction;
  fused.is_variable = fused.is_extern = false;
  fused.is_fused = true;
  fused.is_inside = inner.is_inside || outer.is_inside;
  fused.where = d.where;
  fused.extent = std::nullopt;
  if (inner.extent && outer.extent) fused.extent = *inner.extent * *outer.extent;
  fused.bound = std::nullopt;
  if (inner.bound && outer.bound) fused.bound = *inner.bound * *outer.bound;
  s.derivations.push_back(
      {Derivation::Fuse, outer.name, inner.name, fused.name, Expr(), TailStrategy::Auto, d.where});
  // At the inner loop's place, as in Halide.
  s.loops[inner_at] = fused;
  s.loops.erase(s.loops.begin() + outer_at);
  return s;
}

StageDimensions reorder(StageDimensions s, const Directive &d) {
  std::vector<size_t> places;
  for (const std::string &label : d.loops) {
    size_t at = find_loop(s, label, d);
    if (std::count(places.begin(), places.end(), at)) {
      user_error("cannot reorder " + on(s) + ": '" + label + "' is named twice", "",
                 "name each loop once, innermost first", d.where);
    }
    places.push_back(at);
  }
  std::vector<size_t> sorted = places;
  std::sort(sorted.rbegin(), sorted.rend());  // innermost place first, as the names are
  std::vector<LoopDimension> old = s.loops;
  for (size_t i = 0; i < places.size(); i++) s.loops[sorted[i]] = old[places[i]];
  return s;
}

StageDimensions rename(StageDimensions s, const Directive &d) {
  size_t at = find_loop(s, d.loops[0], d);
  check_label(s, d.loops[1], {at}, d);
  s.loops[at].label = d.loops[1];
  s.loops[at].where = d.where;
  return s;
}

// The constant of a skew or a shift.
Expr checked_constant(const StageDimensions &s, const Directive &d) {
  const bool skews = d.kind == DirectiveKind::Skew;
  const std::string what =
      std::string("cannot ") + directive_verb(d.kind) + " '" + d.loops[0] + "' of " + on(s);
  const char *why = skews ? "a loop has one slope, which is known when it is compiled"
                          : "a loop is moved by a number that is known when it is compiled";
  const Expr factor = d.factors[0].defined() ? simplify(d.factors[0]) : Expr();
  int64_t value = 0;
  if (!factor.defined() || !factor.type().is_int_or_uint() || !is_const_int(factor, &value)) {
    user_error(what + (skews ? ": the factor is no integer constant"
                             : ": the offset is no integer constant"),
               why, "give a constant", d.where);
  }
  if (skews && value == 0) {
    user_error(what + " by 0 times '" + d.loops[1] + "'", "the loop would stay what it is",
               "give a factor other than 0", d.where);
  }
  if (value > kMaxSkew || value < -kMaxSkew) {
    user_error(what + " by " + std::to_string(value), "sums of counters must fit int32",
               "use at most " + std::to_string(kMaxSkew), d.where);
  }
  return make_int(Int(32), value);
}

// The dimension that a skew, reverse or shift puts in the place of loop `at`.
StageDimensions replace(StageDimensions s, size_t at, Derivation made, const std::string &label,
                        const Directive &d) {
  LoopDimension &l = s.loops[at];
  if (l.is_extern) {
    user_error(std::string("cannot ") + directive_verb(d.kind) + " '" + l.label +
                   "' of extern stage " + on(s),
               "its C function runs the loop", "leave the directive out", d.where);
  }
  made.a = l.name;
  made.where = d.where;
  made.c = fresh_name(s, label);
  l.name = made.c;
  l.label = label;
  l.is_variable = false;
  l.is_inside = true;
  l.where = d.where;
  s.derivations.push_back(std::move(made));
  return s;
}

StageDimensions skew(StageDimensions s, const Directive &d) {
  const size_t at = find_loop(s, d.loops[0], d), by = find_loop(s, d.loops[1], d);
  if (at == by) {
    user_error("cannot skew '" + d.loops[0] + "' of " + on(s) + " by itself", "",
               "name two different loops of: " + loop_list(s), d.where);
  }
  if (s.loops[by].is_extern) {
    user_error(
        "cannot skew '" + d.loops[0] + "' of extern stage " + on(s) + " by '" + d.loops[1] + "'",
        "its C function runs '" + d.loops[1] + "'", "leave the directive out", d.where);
  }
  check_label(s, d.loops[2], {at}, d);
  Derivation made{Derivation::Skew, "", s.loops[by].name, "", checked_constant(s, d)};
  s.loops[at].is_reduction = s.loops[at].is_reduction || s.loops[by].is_reduction;
  s.loops[at].extent = s.loops[at].bound = std::nullopt;
  return replace(std::move(s), at, std::move(made), d.loops[2], d);
}

StageDimensions reverse(StageDimensions s, const Directive &d) {
  const size_t at = find_loop(s, d.loops[0], d);
  return replace(std::move(s), at, {Derivation::Reverse, "", "", "", Expr()}, d.loops[0], d);
}

StageDimensions shift(StageDimensions s, const Directive &d) {
  const size_t at = find_loop(s, d.loops[0], d);
  Derivation made{Derivation::Shift, "", "", "", checked_constant(s, d)};
  return replace(std::move(s), at, std::move(made), d.loops[0], d);
}

StageDimensions mark(StageDimensions s, const Directive &d, LoopKind kind) {
  for (const std::string &label : d.loops) {
    size_t at = find_loop(s, label, d);
    if (s.loops[at].is_extern && kind == LoopKind::Vector) {
      user_error("cannot vectorize '" + label + "' of extern stage " + on(s),
                 "its C function computes it", "leave the directive out", d.where);
    }
    s.loops[at].is_extern = false;
    s.loops[at].kind = kind;
    s.loops[at].where = d.where;
  }
  return s;
}

StageDimensions partition(StageDimensions s, const Directive &d) {
  size_t at = find_loop(s, d.loops[0], d);
  for (Partition p : {Partition::Auto, Partition::Never, Partition::Always}) {
    if (d.option == partition_name(p)) s.loops[at].partition = p;
  }
  return s;
}

}  // namespace

StageDimensions default_dimensions(const FuncDef &func, int stage) {
  const StageDef &def = func.stages[stage];
  StageDimensions s;
  s.func = func.name;
  s.stage = func.definition_of(stage);
  s.in_place = !def.in_place.empty();
  auto add = [&](const std::string &name, bool reduction, std::optional<int64_t> extent) {
    LoopDimension d;
    d.name = d.label = name;
    d.is_reduction = reduction;
    d.is_variable = true;
    d.is_extern = is_extern_stage(def);
    d.extent = extent;
    d.where = def.where;
    s.loops.push_back(d);
  };
  for (size_t i = func.args.size(); i-- > 0;) {
    const VariableNode *v = as_variable(def.args[i]);
    if (v && v->kind == VariableKind::Pure && v->name == func.args[i]) {
      add(func.args[i], false, std::nullopt);
    }
  }
  for (size_t i = def.rvars.size(); i-- > 0;) {
    int64_t extent;
    bool constant = is_const_int(simplify(def.rvars[i].extent), &extent);
    add(def.rvars[i].var, true, constant ? std::optional<int64_t>(extent) : std::nullopt);
  }
  return s;
}

StageDimensions derive(const StageDimensions &dims, const Directive &d) {
  switch (d.kind) {
    case DirectiveKind::Split:
      return split(dims, d);
    case DirectiveKind::Fuse:
      return fuse(dims, d);
    case DirectiveKind::Reorder:
      return reorder(dims, d);
    case DirectiveKind::Rename:
      return rename(dims, d);
    case DirectiveKind::Skew:
      return skew(dims, d);
    case DirectiveKind::Reverse:
      return reverse(dims, d);
    case DirectiveKind::Shift:
      return shift(dims, d);
    case DirectiveKind::Parallel:
      return mark(dims, d, LoopKind::Parallel);
    case DirectiveKind::Vectorize:
      return mark(dims, d, LoopKind::Vector);
    case DirectiveKind::Unroll:
      return mark(dims, d, LoopKind::Unrolled);
    case DirectiveKind::Serial:
      return mark(dims, d, LoopKind::Serial);
    case DirectiveKind::Partition:
      return partition(dims, d);
    case DirectiveKind::GpuBlocks:
      return mark(dims, d, LoopKind::GpuBlock);
    case DirectiveKind::GpuThreads:
      return mark(dims, d, LoopKind::GpuThread);
    case DirectiveKind::GpuLanes:
      return mark(dims, d, LoopKind::GpuLane);
    case DirectiveKind::Tensorize:
    case DirectiveKind::Hexagon:
      for (const std::string &label : d.loops) find_loop(dims, label, d);
      return dims;
    default:
      return dims;  // levels and bounds concern the whole Func
  }
}

std::optional<Diagnostic> why_broken(const StageDimensions &s) {
  const LoopDimension *vector = nullptr, *of_function = nullptr;
  for (const LoopDimension &l : s.loops) {
    if (l.is_extern) of_function = &l;
    if (!l.is_extern && of_function) {
      return Diagnostic{"cannot run loop '" + l.label + "' of extern stage " + on(s) + " inside '" +
                            of_function->label + "'",
                        "its C function runs '" + of_function->label + "'",
                        "reorder '" + l.label + "' outside of '" + of_function->label +
                            "', or make '" + of_function->label + "' serial",
                        l.where};
    }
    if (l.kind == LoopKind::Vector) vector = &l;
    if (l.kind != LoopKind::Parallel || !vector) continue;
    return Diagnostic{"cannot run '" + l.label + "' of " + on(s) +
                          " in parallel: it is inside the "
                          "vector loop '" +
                          vector->label + "'",
                      "", "reorder '" + l.label + "' outside '" + vector->label + "'", l.where};
  }
  return std::nullopt;
}

bool is_of_stage(DirectiveKind kind) {
  return concerns_loops(kind) || kind == DirectiveKind::Partition ||
         kind == DirectiveKind::Prefetch || kind == DirectiveKind::Atomic ||
         kind == DirectiveKind::AllowRaceConditions || kind == DirectiveKind::StreamLoads ||
         kind == DirectiveKind::StreamStores;
}

const char *directive_verb(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::Parallel:
      return "parallelize";
    case DirectiveKind::Serial:
      return "serialize";
    case DirectiveKind::ComputeRoot:
    case DirectiveKind::ComputeInline:
    case DirectiveKind::ComputeAt:
      return "compute";
    case DirectiveKind::StoreRoot:
    case DirectiveKind::StoreAt:
    case DirectiveKind::StoreIn:
      return "store";
    case DirectiveKind::HoistStorage:
    case DirectiveKind::HoistStorageRoot:
      return "hoist";
    case DirectiveKind::RingBuffer:
      return "ring-buffer";
    case DirectiveKind::Async:
      return "run asynchronously";
    case DirectiveKind::BoundExtent:
      return "bound the extent of";
    case DirectiveKind::AlignBounds:
      return "align the bounds of";
    case DirectiveKind::AlignExtent:
      return "align the extent of";
    case DirectiveKind::ReorderStorage:
      return "reorder the storage of";
    case DirectiveKind::AlignStorage:
      return "align the storage of";
    case DirectiveKind::Pack:
      return "pack";
    case DirectiveKind::FoldStorage:
      return "fold the storage of";
    case DirectiveKind::BoundStorage:
      return "bound the storage of";
    case DirectiveKind::EagerInline:
      return "inline into";
    case DirectiveKind::InPlace:
      return "compute in place";
    case DirectiveKind::ChangeType:
      return "change the type of";
    case DirectiveKind::HoistInvariants:
      return "hoist invariants of";
    case DirectiveKind::StreamLoads:
      return "stream loads of";
    case DirectiveKind::StreamStores:
      return "stream stores of";
    case DirectiveKind::SmeStreaming:
      return "stream";
    default:
      return directive_name(kind);
  }
}

std::string loop_list(const StageDimensions &s) {
  std::string text;
  for (const LoopDimension &l : s.loops) text += (text.empty() ? "" : ", ") + l.label;
  return text.empty() ? "none" : text;
}

}  // namespace polyhalite
