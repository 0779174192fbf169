// (b) every value needed is produced: the region engine makes each Func's box the hull of all reads
// and of its updates' accesses. isl looks for an access outside of the box where an update reads
// its Func beside its pure variables (each read may need another one), and everywhere in exact
// judging.
#include <algorithm>
#include <utility>

#include "lang/ir/cxx_symbol.h"
#include "lang/ir/extern_stage.h"
#include "polyhedral/conflict.h"
#include "polyhedral/judge_context.h"
#include "polyhedral/model/stage_accesses.h"
#include "polyhedral/model/stage_model.h"
#include "polyhedral/model/survey_scope.h"

namespace polyhalite {

namespace {

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

bool uses_part(const FuncSurvey &f) {
  return std::any_of(f.used.begin(), f.used.end(),
                     [](const IndexRange &r) { return r.min.defined() || r.max.defined(); });
}

// What an access must not go beyond: the box, and the part of it that is used.
struct Limit {
  bool below;
  Expr end;
};

std::vector<Limit> limits(const JudgeContext &c, StageId s, const StageAccess &access, size_t d) {
  const int f = c.tree.algorithm.index_of(access.func);
  const FuncDef &def = c.tree.algorithm.funcs[f];
  const bool own = f == s.func;
  const IndexRange box = box_of(c, f)[d], &used = c.survey.funcs[f].used[d];
  std::vector<Limit> all = {{true, box.min}, {false, box.max}};
  if (!own && used.min.defined()) all.push_back({true, used.min});
  if (!own && used.max.defined()) all.push_back({false, used.max});
  // Updates before the read that run over a part of the box. Writes may go anywhere inside.
  const int end = own ? def.definition_of(s.stage) : def.num_definitions();
  // The entry check holds all that an output needs inside of what every update runs over.
  const bool checked = c.tree.algorithm.is_output(access.func);
  for (int t = 1; access.reads && !checked && t < end; t++) {
    if (!has_pure_variable(c.tree, {f, t}, static_cast<int>(d))) continue;
    // A definition that fails where no branch is taken is what its branches are.
    const int runs = def.stages[t].fail.empty() ? t : def.branches_of(t).front();
    const auto found = c.survey.stages[f][runs].ranges.find(def.args[d]);
    if (found == c.survey.stages[f][runs].ranges.end()) continue;
    const IndexRange &range = found->second;
    const IndexRange &whole = c.survey.funcs[f].computed[d];
    if (!equal(range.min, whole.min)) all.push_back({true, range.min});
    if (!equal(range.max, whole.max)) all.push_back({false, range.max});
  }
  return all;
}

void judge_access(JudgeContext &c, StageId s, const StageAccess &access) {
  const int f = c.tree.algorithm.index_of(access.func);
  const bool own = access.func == c.tree.func(s).name;
  for (size_t d = 0; d < access.cell.size(); d++) {
    if (is_held(c.survey, s, access, d)) continue;
    for (const Limit &limit : limits(c, s, access, d)) {
      Problem problem;
      SharedAtoms shared;
      SurveyScope scope(problem, shared, c.tree, c.survey);
      for (int l : c.path_to(c.tree.placements[s.func].compute)) scope.enter_loop(l);
      for (int l : c.tree.nest(s).loops) scope.enter_loop(l);
      scope.enter_stage(s, own ? SurveyScope::Instances : SurveyScope::Reads);
      // What is not used may lie where nothing was computed, but inside of the storage; so may what
      // an update touches in rows that are not used.
      const FuncSurvey &of = c.survey.funcs[f];
      if (!own || of.partial[d]) scope.enter_used(s);
      Translator &t = scope.translator();
      if (of.partial[d]) t.assume(access.where);
      const AffineRow at = t.row(access.cell[d]);
      const AffineRow end = t.row(limit.end);
      problem.require_nonnegative((limit.below ? end - at : at - end) - AffineRow(1));
      const Solution out = c.solver.solve(problem);
      if (out.answer == Solution::None || t.inexact()) continue;
      if (c.options.exact && scope.has_intervals()) continue;
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
      if (out.answer == Solution::Found) refusal.instances.push_back(std::move(i));
      c.refuse(std::move(refusal));
      return;
    }
  }
}

}  // namespace

void judge_coverage(JudgeContext &c) {
  for (const StageId &s : c.stages()) {
    const bool own = !is_pure_in_its_variables(c.tree, s) || touches_other_rows(c.tree, s);
    if (!own && !c.options.exact) continue;
    if (!c.tree.definition(s).fail.empty()) continue;  // it has no instances
    for (const StageAccess &a : stage_accesses(c.tree, s)) {
      if (c.refused()) return;
      if (c.options.exact || a.func == c.tree.func(s).name) judge_access(c, s, a);
    }
  }
  if (c.refused()) return;
  for (const FuncDef &f : c.tree.algorithm.funcs) {
    if (const CallNode *stage = extern_stage_of(f)) {
      c.certify('b', "reads of extern stage '" + f.name + "'", Proof::Structural,
                "the boxes are what '" + readable_symbol(extern_function(*stage)) +
                    "' asks for; that it reads no more is its promise");
    }
    const int index = c.tree.algorithm.index_of(f.name);
    if (uses_part(c.survey.funcs[index])) {
      c.certify('b', "what is used of '" + f.name + "'",
                c.options.exact ? Proof::Isl : Proof::Structural,
                "of whole tiles, what lies beyond it is made of cells that may be anything");
    }
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
