// (d) storage. A production writes every cell that is read before it is read, or, where a window
// slides, an iteration before it did: the surveyor slides only where the window moves one way, so
// that what is left out was computed and no ring that holds the whole window has reused its cells.
// So storage that several productions use one after the other delivers the intended values.
// Productions that run at once, in iterations of a parallel or vector loop inside the storage, must
// write cells of their own.
#include <utility>

#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/model/survey_scope.h"
#include "polyhedral/two_iterations.h"

namespace polyhalite {

namespace {

struct Overlap {
  Solution solution;
  int64_t first = 0, second = 0;  // iterations of the parallel loop
  std::vector<int64_t> cell,
      other;  // of the first and the second: equal, or at one place of a ring
  std::vector<std::pair<std::string, int64_t>> parameters;
  std::optional<std::string> inexact;
};

// Two iterations of path[at] whose productions of func f write to one place in memory.
Overlap find_overlap(JudgeContext &c, int f, const std::vector<int> &path, size_t at) {
  Problem problem;
  SharedAtoms shared;
  const Box &box = c.survey.funcs[f].needed;
  SurveyScope scopes[2] = {{problem, shared, c.tree, c.survey},
                           {problem, shared, c.tree, c.survey}};
  std::vector<AffineRow> cells[2];
  for (size_t d = 0; d < box.size(); d++) {
    cells[0].push_back(problem.fresh(ModelVariable::Coordinate, ""));
    cells[1].push_back(cells[0].back());
    const int64_t ring = c.survey.funcs[f].fold[d];
    if (ring > 0) cells[1].back().add(problem.fresh(ModelVariable::Existential, ""), ring);
  }
  AffineRow iteration[2];
  for (int i = 0; i < 2; i++) {
    for (size_t l = 0; l < path.size(); l++) {
      if (l < at) {
        scopes[i].enter_shared_loop(path[l]);
      } else {
        const AffineRow counter = scopes[i].enter_loop(path[l]);
        if (l == at) iteration[i] = counter;
      }
    }
    scopes[i].require_inside(cells[i], box);
  }
  problem.choices.push_back(
      lexicographically_less(scopes[0].order(path[at]), scopes[1].order(path[at])));
  Overlap o;
  o.solution = c.solver.solve(problem);
  o.inexact = scopes[0].translator().inexact();
  if (o.solution.answer != Solution::Found) return o;
  o.first = iteration[0].evaluate(o.solution.values);
  o.second = iteration[1].evaluate(o.solution.values);
  for (const AffineRow &r : cells[0]) o.cell.push_back(r.evaluate(o.solution.values));
  for (const AffineRow &r : cells[1]) o.other.push_back(r.evaluate(o.solution.values));
  o.parameters = named_parameters(problem, o.solution.values);
  return o;
}

// Iterations of a sliding loop, the first of which is `distance` before the second, or any distance
// where that is null. Loops outside are shared; those inside run alike, or on their own.
struct Iterations {
  Problem problem;
  SharedAtoms shared;
  std::vector<SurveyScope> scopes;
  std::vector<AffineRow> counters;

  Iterations(JudgeContext &c, int f, int loop, bool alike) {
    scopes.reserve(2);
    const std::vector<int> path = c.path_to(c.tree.placements[f].compute);
    std::vector<AffineRow> inner[2];
    for (int i = 0; i < 2; i++) {
      scopes.emplace_back(problem, shared, c.tree, c.survey);
      bool inside = false;
      for (int l : path) {
        if (l != loop && !inside) {
          scopes[i].enter_shared_loop(l);
          continue;
        }
        const AffineRow counter = scopes[i].enter_loop(l);
        if (inside) inner[i].push_back(counter);
        if (l == loop) counters.push_back(counter);
        inside = true;
      }
    }
    for (size_t l = 0; alike && l < inner[0].size(); l++) {
      problem.require_zero(inner[0][l] - inner[1][l]);
    }
  }
  /// A cell of the box's dimension that iteration i has.
  AffineRow cell(int i, const IndexRange &range) {
    const AffineRow x = problem.fresh(ModelVariable::Coordinate, "");
    scopes[i].require_inside({x}, {range});
    return x;
  }
  AffineRow row(int i, const Expr &e) { return scopes[i].translator().row(e); }
  bool inexact() { return scopes[0].translator().inexact() || scopes[1].translator().inexact(); }
};

// What sliding relies on, asked of isl where boxes are affine. nullopt: it gave no answer; the
// refusal gets the iterations where it does not hold.
//  - What an iteration leaves out, the one before it needed; the first leaves out nothing.
//  - No cell that an iteration needs lies a ring's size before one that an earlier iteration
//  needed.
std::optional<bool> slides_exactly(JudgeContext &c, int f, size_t d, Refusal &refusal) {
  const FuncSurvey &boxes = c.survey.funcs[f];
  const Slide slide = *boxes.slides[d];
  const IndexRange &needed = boxes.needed[d], &computed = boxes.computed[d];
  const AffineRow one(1);
  auto ask = [&](Iterations &i) -> std::optional<bool> {
    const Solution s = c.solver.solve(i.problem);
    if (s.answer == Solution::None) return true;
    if (s.answer == Solution::Unknown || i.inexact()) return std::nullopt;
    const LoopInfo &loop = c.tree.loops[slide.loop];
    refusal.parameters = named_parameters(i.problem, s.values);
    for (const AffineRow &counter : i.counters) {
      refusal.instances.push_back({loop.stage, {{loop.label, counter.evaluate(s.values)}}});
    }
    const auto text = [&](int n) {
      return loop.label + "=" + std::to_string(refusal.instances[n].at[0].second);
    };
    refusal.diagnostic.why =
        "iterations " + text(0) + " and " + text(1) + parameters_text(refusal.parameters);
    return false;
  };
  auto leave_out = [&](Iterations &i, const AffineRow &cell) {
    i.problem.require_nonnegative(slide.down ? cell - i.row(1, computed.max) - one
                                             : i.row(1, computed.min) - cell - one);
  };
  Iterations later(c, f, slide.loop, true);
  later.problem.require_zero(later.counters[1] - later.counters[0] - one);
  const AffineRow cell = later.cell(1, needed);
  leave_out(later, cell);
  Conjunction below, above;
  below.nonnegative.push_back(later.row(0, needed.min) - cell - one);
  above.nonnegative.push_back(cell - later.row(0, needed.max) - one);
  later.problem.choices.push_back({below, above});
  const auto kept = ask(later);
  if (!kept || !*kept) return kept;

  Iterations first(c, f, slide.loop, true);
  first.problem.require_zero(first.counters[1] - first.counters[0]);
  first.problem.require_zero(first.counters[1] - first.row(1, c.survey.loops[slide.loop].min));
  leave_out(first, first.cell(1, needed));
  const auto whole = ask(first);
  // A ring that the user asks for is judged as such.
  const bool ours = boxes.fold[d] > 0 && c.tree.storage[f].dims[d].fold == 0;
  if (!whole || !*whole || !ours) return whole;

  Iterations ring(c, f, slide.loop, false);
  ring.problem.require_nonnegative(ring.counters[1] - ring.counters[0]);
  const AffineRow early = ring.cell(0, needed), late = ring.cell(1, needed);
  ring.problem.require_nonnegative((slide.down ? late - early : early - late) -
                                   AffineRow(boxes.fold[d]));
  return ask(ring);
}

// Iterations that run at once would have their storages in one memory.
bool judge_hoist(JudgeContext &c, int f) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const FuncPlacement &placement = c.tree.placements[f];
  if (!placement.hoist) return true;
  const std::vector<int> path = c.path_to(placement.store);
  const size_t inside = path.size() - c.path_between(*placement.hoist, placement.store).size();
  for (size_t at = inside; at < path.size(); at++) {
    const LoopInfo &loop = c.tree.loops[path[at]];
    if (!runs_at_once(loop.kind)) continue;
    // Storages of a ring meet in iterations that have one place of it.
    const Expr place = placement.ring.defined() ? c.survey.funcs[f].hoisted->slot : Expr();
    const TwoIterations two = find_two_iterations(c, path, at, place);
    if (two.solution.answer == Solution::None) continue;
    Refusal refusal = two.refusal('d', loop);
    const bool proven = refusal.proof == Proof::Isl;
    Diagnostic &d = refusal.diagnostic;
    d.what = std::string(proven ? "cannot" : "cannot prove that it is legal to") +
             " hoist the storage of '" + func.name + "' out of the " + loop_kind_name(loop.kind) +
             " loop '" + loop.label + "' of " + c.tree.describe(loop.stage);
    d.why = two.text(loop) + " at once, and each needs storage of its own" +
            (placement.ring.defined() ? "; a ring's storages are taken in turn" : "") +
            parameters_text(two.parameters);
    d.fix =
        "hoist it to loop '" + loop.label + "' or inside it, or keep '" + loop.label + "' serial";
    d.where = placement.hoist_where;
    c.refuse(std::move(refusal));
    return false;
  }
  const bool shared = c.survey.funcs[f].hoisted->owner != f;
  c.certify('d', "hoisted storage of '" + func.name + "'", Proof::Structural,
            shared ? "storages in one memory live one after the other, or in cases of one branch"
                   : "storages in one memory live one after the other");
  return true;
}

void judge_func(JudgeContext &c, int f) {
  const FuncDef &func = c.tree.algorithm.funcs[f];
  const FuncPlacement &placement = c.tree.placements[f];
  const std::string about = "storage of '" + func.name + "'";
  if (!judge_hoist(c, f)) return;
  if (c.tree.storage[f].memoized) {
    c.certify('d', "kept values of '" + func.name + "'", Proof::Structural,
              "they follow from the box and from the inputs in their key");
  }
  if (placement.store == placement.compute) {
    c.certify('d', about, Proof::Structural, "each production has storage of its own");
    return;
  }
  // What encloses the storage is shared; the path begins at the root, so that bounds are known.
  const std::vector<int> path = c.path_to(placement.compute);
  const size_t inside = path.size() - c.path_between(placement.store, placement.compute).size();
  bool at_once = false;
  for (size_t at = inside; at < path.size(); at++) {
    const LoopInfo &loop = c.tree.loops[path[at]];
    if (!runs_at_once(loop.kind)) continue;
    at_once = true;
    const std::string kind = loop_kind_name(loop.kind);
    const std::string of = "'" + loop.label + "' of " + c.tree.describe(loop.stage);
    const std::string fix = "store '" + func.name + "' at loop '" + loop.label +
                            "' or inside it, or keep '" + loop.label + "' serial";
    Overlap o = find_overlap(c, f, path, at);
    if (o.solution.answer == Solution::None) continue;
    const std::string what =
        "compute '" + func.name + "' inside the " + kind + " loop " + of + " and store it outside";
    if (o.solution.answer == Solution::Unknown) {
      c.undecided('d', "cannot prove that it is legal to " + what, o.solution.problem, fix,
                  placement.compute_where);
      return;
    }
    Refusal refusal{'d', o.inexact ? Proof::Undecided : Proof::Isl, {}, {}, o.parameters};
    for (int64_t i : {o.first, o.second}) {
      refusal.instances.push_back({loop.stage, {{loop.label, i}}});
    }
    Diagnostic &d = refusal.diagnostic;
    d.what = (o.inexact ? "cannot prove that it is legal to " : "cannot ") + what;
    d.why =
        "iterations " + loop.label + "=" + std::to_string(o.first) + " and " + loop.label + "=" +
        std::to_string(o.second) +
        (o.cell == o.other
             ? (o.inexact ? " may both write " : " both write ") + cell_text(func.name, o.cell)
             : (o.inexact ? " may write " : " write ") + cell_text(func.name, o.cell) + " and " +
                   cell_text(func.name, o.other) + ", which lie at one place of the ring") +
        parameters_text(o.parameters);
    d.fix = fix;
    d.where = placement.compute_where;
    c.refuse(std::move(refusal));
    return;
  }
  const FuncSurvey &boxes = c.survey.funcs[f];
  for (size_t d = 0; d < boxes.slides.size(); d++) {
    if (!boxes.slides[d]) continue;
    const std::string ring =
        boxes.fold[d] > 0 ? ", in a ring of " + std::to_string(boxes.fold[d]) + " that holds it"
                          : "";
    std::optional<bool> proven;
    Refusal refusal{'d', Proof::Isl, {}, {}, {}};
    if (c.options.exact) proven = slides_exactly(c, f, d, refusal);
    if (proven && !*proven) {
      refusal.diagnostic.what =
          "the window over '" + func.args[d] + "' of '" + func.name + "' leaves out what is needed";
      refusal.diagnostic.fix = "store it where it is computed";
      refusal.diagnostic.where = placement.store_where;
      c.refuse(std::move(refusal));
      return;
    }
    c.certify('d', about, proven ? Proof::Isl : Proof::Structural,
              "the window over " + func.args[d] + " slides one way" +
                  (boxes.slides[d]->down ? ", down" : "") + ring);
  }
  if (at_once) {
    c.certify('d', about, Proof::Isl, "iterations that run at once write cells of their own");
  } else {
    c.certify(
        'd', about, Proof::Structural,
        "each production writes every cell before it reads it, one production after the other");
  }
}

}  // namespace

void judge_storage(JudgeContext &c) {
  for (size_t f = 0; f < c.tree.algorithm.funcs.size(); f++) {
    if (c.refused()) return;
    if (c.tree.algorithm.is_output(c.tree.algorithm.funcs[f].name)) continue;
    judge_func(c, static_cast<int>(f));
  }
}

}  // namespace polyhalite
