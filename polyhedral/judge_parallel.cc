// (e) parallel and vector loops, and those of kernels, carry nothing: no two of their iterations
// touch one cell of the stage's Func, one of them writing. The licence to reorder a reduction does
// not help here: its iterations still read and write one cell at once.
#include <utility>

#include "lang/simplify/associative.h"
#include "polyhedral/blended_tiles.h"
#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/lane_turns.h"

namespace polyhalite {

namespace {

// The coordinates of the nest outside of `loop` are equal, and those of `loop` come first for the
// first instance.
void different_iterations(Problem &p, const StageInstance &first, const StageInstance &second,
                          int loop) {
  std::vector<AffineRow> a, b;
  for (size_t i = 0; i < first.time.size(); i++) {
    if (first.time[i].loop == loop) {
      a.push_back(first.time[i].row);
      b.push_back(second.time[i].row);
    } else if (a.empty()) {
      p.require_zero(first.time[i].row - second.time[i].row);
    }
  }
  p.choices.push_back(lexicographically_less(a, b));
}

std::string legal_instead(const LoopTree &tree, StageId s, const LoopInfo &loop) {
  const bool vector = loop.kind == LoopKind::Vector;
  std::string fix;
  // The outermost pure loop to run in parallel, the innermost one to vectorize.
  for (size_t i = 0; i < tree.nest(s).loops.size(); i++) {
    const int l = tree.nest(s).loops[i];
    if (tree.is_reduction(s, i) || tree.loops[l].kind != LoopKind::Serial) continue;
    fix = (vector ? "vectorize '" : "run '") + tree.loops[l].label +
          (vector ? "' instead, or " : "' in parallel instead, or ");
    if (!vector) break;
  }
  fix += "keep '" + loop.label + "' serial";
  if (is_reduction_update(tree.func(s), s.stage)) {
    fix += std::string("; a reduction ") + (vector ? "across lanes" : "in parallel") +
           " needs atomic or rfactor";
  }
  return fix;
}

std::string why_text(const std::string &func, const Conflict &k) {
  const bool may = k.depends_on_data || k.inexact;
  const std::string cell = cell_text(func, k.cell);
  const Instance &writer = k.kind == Conflict::Anti ? k.second : k.first;
  const Instance &other = k.kind == Conflict::Anti ? k.first : k.second;
  std::string why = func + " at ";
  if (k.kind == Conflict::Output) {
    why += instance_text(writer) + " and " + instance_text(other) +
           (may ? " may both write " : " both write ") + cell;
  } else {
    why += instance_text(other) + (may ? " may read " : " reads ") + cell + ", which " +
           instance_text(writer) + " writes";
  }
  return why + parameters_text(k.parameters);
}

ConflictAnswer conflict_at(JudgeContext &c, StageId s, const LoopInfo &loop) {
  return find_conflict(c, s,
                       [&](Problem &p, const StageInstance &first, const StageInstance &second) {
                         different_iterations(p, first, second, loop.id);
                       });
}

// What atomic and allow_race_conditions say of a loop; false: nothing. `answer` is set where it was
// asked for.
bool judge_promise(JudgeContext &c, StageId s, const LoopInfo &loop, const std::string &about,
                   std::optional<ConflictAnswer> &answer) {
  const StageNest &nest = c.tree.nest(s);
  if (nest.allow_races) {
    c.certify('e', about, Proof::Waiver, "allow_race_conditions");
    return true;
  }
  if (!nest.atomic) return false;
  std::string why;
  const auto update = prove_associative(c.tree.func(s), s.stage, &why);
  if (update && update->commutative) {
    c.certify('e', about, Proof::Structural, "atomic updates with a commutative operator");
    return true;
  }
  if (nest.any_order) {
    c.certify('e', about, Proof::Waiver, "atomic, and its order is promised not to matter");
    return true;
  }
  // Only loops of reductions make updates that take turns (codegen/passes/stage_body).
  const bool has_turns = loop.kind == LoopKind::Vector && loop.is_reduction;
  const ConflictAnswer swapped = has_turns ? find_swapped_lanes(c, s, loop) : ConflictAnswer();
  if (has_turns && !swapped.unknown && !swapped.conflict) {
    c.certify('e', about, Proof::Isl, "atomic, and lanes take turns in the algorithm's order");
    return true;
  }
  if (update && update->choices_alone) {
    c.certify('e', about, Proof::Waiver, "atomic, and of equal operands any may be taken");
    return true;
  }
  if (update)
    why = "the operator is associative, but not commutative: operands would change places";
  answer = conflict_at(c, s, loop);
  if (!answer->unknown && !answer->conflict) return false;
  if (swapped.conflict && !swapped.conflict->inexact) {
    why += "; where lanes take turns, " + short_text(swapped.conflict->second) +
           " would run before " + short_text(swapped.conflict->first);
  }
  Refusal refusal{'e', Proof::Undecided, {}, {}, {}};
  if (answer->conflict) {
    refusal.instances = {answer->conflict->first, answer->conflict->second};
    refusal.parameters = answer->conflict->parameters;
    why = why_text(c.tree.func(s).name, *answer->conflict) + "; " + why;
  }
  refusal.diagnostic = {
      "cannot prove that updates of " + c.tree.describe(s) + " may run atomically in any order",
      why, "promise it by atomic(true), or keep '" + loop.label + "' serial", loop.where};
  c.refuse(std::move(refusal));
  return true;
}

// Iterations that write back what others write at once. False where there may be such.
bool judge_blended(JudgeContext &c, StageId s, size_t position, const LoopInfo &loop,
                   const std::string &about) {
  if (!blends_tiles(c.tree, s)) return true;
  const auto twice = find_blended_twice(c, s, position);
  if (!twice) {
    c.certify('e', about, Proof::Isl,
              "no iteration writes back a point of a shifted tile that another one has");
    return true;
  }
  const std::string verb = loop.kind == LoopKind::Vector      ? "vectorize"
                           : loop.kind == LoopKind::GpuBlock  ? "run in blocks"
                           : loop.kind == LoopKind::GpuThread ? "run in threads"
                           : loop.kind == LoopKind::GpuLane   ? "run in lanes"
                                                              : "run in parallel";
  const bool found = twice->solution.answer == Solution::Found, may = twice->inexact.has_value();
  Refusal refusal{'e', found && !may ? Proof::Isl : Proof::Undecided, {}, {}, twice->parameters};
  std::string why = "tiles of the split of '" + twice->split->a + "' with " +
                    tail_strategy_name(twice->split->tail) +
                    " read and write again points of other tiles";
  if (found) {
    refusal.instances = {twice->point, twice->point};
    why += ": iterations " + loop.label + "=" + std::to_string(twice->blends) + " and " +
           loop.label + "=" + std::to_string(twice->writes) +
           (may ? " may both have " : " both have ") + instance_text(twice->point) +
           parameters_text(twice->parameters);
  } else {
    why += "; " + twice->solution.problem;
  }
  if (may) why += "; " + *twice->inexact + " is not affine";
  refusal.diagnostic = {"cannot " + verb + " loop '" + loop.label + "' of " + c.tree.describe(s),
                        why, "use GuardWithIf for that split, or keep '" + loop.label + "' serial",
                        loop.where};
  c.refuse(std::move(refusal));
  return false;
}

void judge_loop(JudgeContext &c, StageId s, size_t position) {
  const LoopInfo &loop = c.tree.loops[c.tree.nest(s).loops[position]];
  const bool vector = loop.kind == LoopKind::Vector;
  const std::string stage = c.tree.describe(s);
  const std::string kind = is_gpu_loop(loop.kind) ? loop_kind_name(loop.kind)
                           : vector               ? "vector"
                                                  : "parallel";
  const std::string about = kind + " loop '" + loop.label + "' of " + stage;
  int64_t extent;
  if (is_const_int(c.survey.loops[loop.id].extent, &extent) && extent <= 1) {
    c.certify('e', about, Proof::Structural, "it has one iteration");
    return;
  }
  if (!judge_blended(c, s, position, loop, about)) return;
  if (!c.tree.is_update(s)) {
    c.certify('e', about, Proof::Structural, "a pure definition reads nothing of its own");
    return;
  }
  if (!c.tree.is_reduction(s, position) && is_pure_in_its_variables(c.tree, s)) {
    c.certify('e', about, Proof::Structural, "iterations touch cells of their own");
    return;
  }
  if (writes_one_value(c.tree, s)) {
    c.certify('e', about, Proof::Structural, "iterations that write one cell write one value");
    return;
  }
  std::optional<ConflictAnswer> asked;
  if (judge_promise(c, s, loop, about, asked)) return;
  const std::string what = vector ? "vectorize loop '" + loop.label + "' of " + stage
                                  : "run loop '" + loop.label + "' of " + stage +
                                        (loop.kind == LoopKind::GpuBlock    ? " in blocks"
                                         : loop.kind == LoopKind::GpuThread ? " in threads"
                                         : loop.kind == LoopKind::GpuLane   ? " in lanes"
                                                                            : " in parallel");
  ConflictAnswer answer = asked ? *asked : conflict_at(c, s, loop);
  if (answer.unknown) {
    c.undecided('e', "cannot prove that it is legal to " + what, *answer.unknown,
                legal_instead(c.tree, s, loop), loop.where);
    return;
  }
  if (!answer.conflict) {
    c.certify('e', about, Proof::Isl, "no two iterations touch one cell");
    return;
  }
  Conflict &k = *answer.conflict;
  // An update that reads the cell that it writes: two writes say it more plainly.
  const bool own_cell = k.kind == Conflict::Flow && is_reduction_update(c.tree.func(s), s.stage);
  if (own_cell) k.kind = Conflict::Output;
  Refusal refusal{
      'e', k.inexact ? Proof::Undecided : Proof::Isl, {}, {k.first, k.second}, k.parameters};
  refusal.diagnostic.what = (k.inexact ? "cannot prove that it is legal to " : "cannot ") + what;
  refusal.diagnostic.why = why_text(c.tree.func(s).name, k);
  if (k.inexact) refusal.diagnostic.why += "; " + *k.inexact + " is not affine";
  refusal.diagnostic.fix = legal_instead(c.tree, s, loop);
  refusal.diagnostic.where = loop.where;
  c.refuse(std::move(refusal));
}

}  // namespace

void judge_parallel(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    for (size_t i = 0; i < c.tree.nest(s).loops.size(); i++) {
      const LoopInfo &loop = c.tree.loops[c.tree.nest(s).loops[i]];
      if (!runs_at_once(loop.kind)) continue;
      if (c.refused()) return;
      judge_loop(c, s, i);
    }
  }
}

}  // namespace polyhalite
