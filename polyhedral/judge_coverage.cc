// (b) every value needed is produced: the region engine makes each Func's box the hull of all reads
// and of its updates' accesses. isl looks for an access outside of the box where an update reads
// its Func beside its pure variables (each read may need another one), and everywhere in exact
// judging.
#include <algorithm>
#include <utility>

#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "polyhedral/conditional_use.h"
#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/model/stage_model.h"
#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

namespace {

struct Access {
  std::string func;
  std::vector<Expr> cell;
  Expr where;  // its value is used there only; null: always
};

std::vector<Access> accesses(const LoopTree &tree, StageId s) {
  const StageDef &def = tree.definition(s);
  std::vector<Access> found;
  if (is_extern_stage(def)) return found;  // its reads are its promise
  for (const CellWrite &w : cell_writes(def)) {
    if (tree.is_update(s)) found.push_back({tree.func(s).name, w.cell, Expr()});
  }
  auto collect = [&](const Expr &e) {
    for_each_use(e, [&](const CallNode &call, const Expr &where) {
      if (call.kind == CallKind::Func) found.push_back({call.name, call.args, where});
    });
  };
  for (const Expr &e : def.args) collect(e);
  for (const Expr &e : def.values) collect(e);
  if (def.predicate.defined()) collect(def.predicate);
  return found;
}

// Of an output, what the pipeline itself touches beyond what the caller wants is checked at entry.
// Where a window slides, what the iterations before computed is there too.
Box box_of(const JudgeContext &c, int f) {
  const auto it = c.survey.inputs.find(c.tree.algorithm.funcs[f].name);
  if (it != c.survey.inputs.end()) return it->second;
  const FuncSurvey &fs = c.survey.funcs[f];
  Box box = fs.computed;
  for (size_t d = 0; d < box.size(); d++) {
    if (fs.slides[d]) box[d] = fs.needed[d];
  }
  return box;
}

bool is_held(const JudgeContext &c, StageId s, const Access &access, size_t d) {
  const std::vector<HeldIndex> &held = c.survey.stages[s.func][s.stage].held;
  return std::any_of(held.begin(), held.end(), [&](const HeldIndex &h) {
    return h.callee == access.func && h.dimension == d && equal(h.index, access.cell[d]);
  });
}

void judge_access(JudgeContext &c, StageId s, const Access &access) {
  const int f = c.tree.algorithm.index_of(access.func);
  const Box box = box_of(c, f);
  for (size_t d = 0; d < box.size(); d++) {
    if (is_held(c, s, access, d)) continue;
    for (const bool below : {true, false}) {
      Problem problem;
      SharedAtoms shared;
      SurveyScope scope(problem, shared, c.tree, c.survey);
      for (int l : c.path_to(c.tree.placements[s.func].compute)) scope.enter_loop(l);
      for (int l : c.tree.nest(s).loops) scope.enter_loop(l);
      const bool own = access.func == c.tree.func(s).name;
      scope.enter_stage(s, own ? SurveyScope::Instances : SurveyScope::Reads);
      Translator &t = scope.translator();
      // What is not used may lie where nothing was computed, but inside of the storage.
      const FuncSurvey &of = c.survey.funcs[f];
      if (of.partial[d]) t.assume(access.where);
      const AffineRow at = t.row(access.cell[d]);
      problem.require_nonnegative((below ? t.row(box[d].min) - at : at - t.row(box[d].max)) -
                                  AffineRow(1));
      const Solution out = c.solver.solve(problem);
      if (out.answer == Solution::None || t.inexact()) continue;
      Refusal refusal{
          'b', out.answer == Solution::Unknown ? Proof::Undecided : Proof::Isl, {}, {}, {}};
      Instance i{s, {}};
      std::vector<int64_t> cell;
      if (out.answer == Solution::Found) {
        for (const auto &[name, value] : c.survey.stages[s.func][s.stage].dims) {
          const AffineRow r = t.row(make_variable(Int(32), VariableKind::Pure, name));
          i.at.push_back({name, r.evaluate(out.values)});
        }
        refusal.parameters = named_parameters(problem, out.values);
      }
      refusal.diagnostic = {
          "'" + access.func + "' is not produced where " + c.tree.describe(s) + " needs it",
          out.answer == Solution::Unknown
              ? out.problem
              : c.tree.func(s).name + " at " + instance_text(i) + " touches " + access.func +
                    " at " + std::to_string(at.evaluate(out.values)) + " in dimension " +
                    std::to_string(d) + parameters_text(refusal.parameters),
          access.func == c.tree.func(s).name ? "use a reduction variable for the dimension" : "",
          c.tree.definition(s).where};
      refusal.instances.push_back(std::move(i));
      c.refuse(std::move(refusal));
      return;
    }
  }
}

}  // namespace

void judge_coverage(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    const bool own = !is_pure_in_its_variables(c.tree, s);
    if (!own && !c.options.exact) continue;
    for (const Access &a : accesses(c.tree, s)) {
      if (c.refused()) return;
      if (c.options.exact || a.func == c.tree.func(s).name) judge_access(c, s, a);
    }
  }
  if (c.refused()) return;
  for (const FuncDef &f : c.tree.algorithm.funcs) {
    if (const CallNode *stage = as_extern_stage(f.stages[0])) {
      c.certify('b', "reads of extern stage '" + f.name + "'", Proof::Structural,
                "the boxes are what '" + extern_function(*stage) +
                    "' asks for; that it reads no more is its promise");
    }
    const int index = c.tree.algorithm.index_of(f.name);
    for (size_t stage = 0; stage < f.stages.size(); stage++) {
      const StageId s{index, static_cast<int>(stage)};
      if (c.survey.stages[index][stage].held.empty()) continue;
      c.certify('b', "indices of " + c.tree.describe(s) + " by values", Proof::Structural,
                "they are clamped to the boxes that values of floats and Funcs give");
    }
    c.certify('b', "coverage of '" + f.name + "'", c.options.exact ? Proof::Isl : Proof::Structural,
              c.tree.algorithm.is_output(f.name)
                  ? "the caller's buffer is the box; what is touched beyond it is checked at entry"
                  : "the box is the hull of all reads and of the updates' accesses");
  }
}

}  // namespace polyhalite
