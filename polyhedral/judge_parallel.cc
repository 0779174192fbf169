// (e) parallel and vector loops, and those of kernels, carry nothing: no two of their iterations
// touch one cell of the stage's Func, one of them writing. The licence to reorder a reduction does
// not help here: its iterations still read and write one cell at once.
#include <set>
#include <utility>

#include "lang/simplify/associative.h"
#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/lane_turns.h"
#include "polyhedral/model/survey_scope.h"

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

// A point that two tiles of a split have, the last being shifted.
struct TwiceVisited {
  bool never = false;                  // whole tiles, or one only
  std::optional<int64_t> point, tile;  // of the split's loop; the last tile, from 0
  std::vector<std::pair<std::string, int64_t>> parameters;
  std::string problem;  // where nothing is known
};

TwiceVisited find_shifted_tile(JudgeContext &c, StageId s, const Derivation &d, int64_t factor) {
  Problem problem;
  SharedAtoms shared;
  SurveyScope scope(problem, shared, c.tree, c.survey);
  for (int l : c.path_to(c.tree.placements[s.func].compute)) scope.enter_loop(l);
  const IndexRange &range = c.survey.stages[s.func][s.stage].ranges.at(d.a);
  Translator &t = scope.translator();
  const AffineRow last = t.row(range.max);
  const AffineRow tiles = problem.fresh(ModelVariable::Existential, "");
  const AffineRow rest = last - t.row(range.min) + AffineRow(1) - factor * tiles;
  problem.require_nonnegative(rest - AffineRow(1));
  problem.require_nonnegative(AffineRow(factor - 1) - rest);
  problem.require_nonnegative(tiles - AffineRow(1));
  const Solution solution = c.solver.solve(problem);
  TwiceVisited twice;
  twice.never = solution.answer == Solution::None;
  if (solution.answer == Solution::Unknown) twice.problem = solution.problem;
  if (solution.answer != Solution::Found) return twice;
  twice.point = last.evaluate(solution.values) - (factor - 1);
  twice.tile = tiles.evaluate(solution.values);
  twice.parameters = named_parameters(problem, solution.values);
  return twice;
}

// The coordinates that later splits and fusions make of this one, and itself.
std::set<std::string> descendants(const std::vector<Derivation> &derivations, size_t from,
                                  const std::string &coordinate) {
  std::set<std::string> all = {coordinate};
  for (size_t k = from; k < derivations.size(); k++) {
    const Derivation &d = derivations[k];
    if (d.kind == Derivation::Split && all.count(d.a)) all.insert({d.b, d.c});
    if (d.kind != Derivation::Split && (all.count(d.a) || all.count(d.b))) all.insert(d.c);
  }
  return all;
}

struct Blended {
  const Derivation *split = nullptr;
  TwiceVisited twice;
};

// The split of whose shifted and blended tiles iterations of this loop run points at once, if there
// is one: the loop runs over its tiles, or over places in a tile around a loop over the tiles.
// Tiles that round up share no points.
Blended blended_by(JudgeContext &c, StageId s, size_t position) {
  const StageNest &nest = c.tree.nest(s);
  const std::vector<Derivation> &derivations = nest.derivations;
  auto dim_at = [&](size_t l) -> const std::string & { return c.tree.loops[nest.loops[l]].dim; };
  for (size_t i = 0; i < derivations.size(); i++) {
    if (derivations[i].kind != Derivation::Split ||
        derivations[i].tail != TailStrategy::ShiftInwardsAndBlend) {
      continue;
    }
    const std::set<std::string> tiles = descendants(derivations, i + 1, derivations[i].b);
    if (!tiles.count(dim_at(position))) {
      if (!descendants(derivations, i + 1, derivations[i].c).count(dim_at(position))) continue;
      bool around_tiles = false;
      for (size_t l = position + 1; l < nest.loops.size(); l++) {
        around_tiles = around_tiles || tiles.count(dim_at(l)) > 0;
      }
      if (!around_tiles) continue;
    }
    int64_t factor;
    if (!is_const_int(derivations[i].factor, &factor)) {
      TwiceVisited unknown;
      unknown.problem = "the factor of the split of '" + derivations[i].a + "' is no constant";
      return {&derivations[i], unknown};
    }
    TwiceVisited twice = find_shifted_tile(c, s, derivations[i], factor);
    if (!twice.never) return {&derivations[i], std::move(twice)};
  }
  return {};
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
  if (update) {
    c.certify('e', about, Proof::Waiver, "atomic, and of equal operands any may be taken");
    return true;
  }
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

void refuse_blended(JudgeContext &c, StageId s, const LoopInfo &loop, const Blended &blended) {
  const Derivation &split = *blended.split;
  const TwiceVisited &twice = blended.twice;
  const std::string verb = loop.kind == LoopKind::Vector      ? "vectorize"
                           : loop.kind == LoopKind::GpuBlock  ? "run in blocks"
                           : loop.kind == LoopKind::GpuThread ? "run in threads"
                           : loop.kind == LoopKind::GpuLane   ? "run in lanes"
                                                              : "run in parallel";
  Refusal refusal{'e', twice.point ? Proof::Isl : Proof::Undecided, {}, {}, twice.parameters};
  std::string why = "tiles of the split of '" + split.a + "' with " +
                    tail_strategy_name(split.tail) + " read and write again points of other tiles";
  if (twice.point) {
    const Instance at{s, {{split.a, *twice.point}}};
    refusal.instances = {at, at};
    why += ": tiles " + std::to_string(*twice.tile - 1) + " and " + std::to_string(*twice.tile) +
           " both have " + split.a + "=" + std::to_string(*twice.point) +
           parameters_text(twice.parameters);
  } else {
    why += "; " + twice.problem;
  }
  refusal.diagnostic = {"cannot " + verb + " loop '" + loop.label + "' of " + c.tree.describe(s),
                        why, "use GuardWithIf for that split, or keep '" + loop.label + "' serial",
                        loop.where};
  c.refuse(std::move(refusal));
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
  if (Blended blended = blended_by(c, s, position); blended.split) {
    return refuse_blended(c, s, loop, blended);
  }
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
