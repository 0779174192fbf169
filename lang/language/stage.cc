#include "polyhalite/stage.h"

#include <algorithm>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/language/define.h"
#include "lang/language/names.h"
#include "lang/language/stage_loops.h"

namespace polyhalite {

Stage::Stage(std::shared_ptr<FunctionContents> func, int stage, std::vector<Expr> branch)
    : func_(std::move(func)), stage_(stage), branch_(std::move(branch)) {}

std::string Stage::name() const {
  return stage_ == 0 ? func_->name : func_->name + ".update(" + std::to_string(stage_ - 1) + ")";
}

void Stage::unscheduled(Here here) {
  const bool scheduled =
      std::any_of(func_->directives.begin(), func_->directives.end(),
                  [&](const Directive &d) { return d.stage == stage_ && concerns_loops(d.kind); });
  if (func_->unscheduled.insert(stage_).second && !scheduled) return;
  user_error("unscheduled() on " + describe_stage(*func_, stage_) +
                 (scheduled ? ", which has a schedule" : " for the second time"),
             "it says once, and in place of directives, that a stage has none",
             "drop it, or the directives", here.where);
}

StageSchedule Stage::get_schedule() const {
  const FunctionContents &f = *func_;
  if (!f.pure) return StageSchedule({});
  std::vector<StageSchedule::Dim> dims;
  for (const CurrentLoop &l : current_loops(f, stage_, branch_)) {
    dims.push_back({l.name, l.is_reduction});
  }
  return StageSchedule(std::move(dims));
}

std::string Stage::dump_argument_list() const {
  const FunctionContents &f = *func_;
  std::vector<std::string> loops;  // innermost first
  if (f.pure) {
    const Definition &d = stage_ == 0 ? *f.pure : f.updates[stage_ - 1];
    for (size_t k = 0; d.domain && k < d.domain->vars.size(); k++) {
      loops.push_back(d.domain->vars[k].var);
    }
    for (size_t i = 0; i < d.args.size(); i++) {
      const VariableNode *v = as_variable(d.args[i]);
      if (v && v->name == f.pure_args[i]) loops.push_back(v->name);
    }
  }
  auto find = [&](const std::string &name) { return std::find(loops.begin(), loops.end(), name); };
  for (const Directive &d : f.directives) {
    if (d.stage != stage_ || (!d.branch.empty() && d.branch.size() != branch_.size())) continue;
    if (d.kind == DirectiveKind::Fission && d.loops.size() == 1) loops.push_back(d.loops[0]);
    const auto at = d.loops.empty() ? loops.end() : find(d.loops[0]);
    if (at == loops.end()) continue;
    if (d.kind == DirectiveKind::Split) {
      *at = d.loops[1];
      loops.insert(at, d.loops[2]);
    } else if (d.kind == DirectiveKind::Rename) {
      *at = d.loops[1];
    } else if (d.kind == DirectiveKind::Skew) {
      *at = d.loops[2];
    } else if (d.kind == DirectiveKind::Fission && d.loops.size() > 1) {
      loops.insert(at, d.loops[1]);
    } else if (d.kind == DirectiveKind::Fuse) {
      *at = d.loops[2];
      if (const auto outer = find(d.loops[1]); outer != loops.end()) loops.erase(outer);
    } else if (d.kind == DirectiveKind::Reorder) {
      std::vector<std::ptrdiff_t> places;
      for (const std::string &name : d.loops) {
        if (const auto l = find(name); l != loops.end()) places.push_back(l - loops.begin());
      }
      std::vector<std::string> names;
      for (const std::ptrdiff_t p : places) names.push_back(loops[p]);
      std::sort(places.begin(), places.end());
      for (size_t i = 0; i < places.size(); i++) loops[places[i]] = names[i];
    }
  }
  std::string text = "Vars:";
  for (const std::string &l : loops) text += " " + plain_name(l);
  return text + "\n";
}

std::vector<VarOrRVar> Stage::split_vars(Here here) const {
  std::vector<VarOrRVar> vars;
  auto add = [&](const std::string &loop, bool is_reduction) {
    VarOrRVar v(loop, is_reduction);
    v.where = here.where;
    vars.push_back(std::move(v));
  };
  if (func_->pure) {
    for (const CurrentLoop &l : current_loops(*func_, stage_, branch_)) add(l.name, l.is_reduction);
  }
  add(Var::outermost().name(), false);
  return vars;
}

}  // namespace polyhalite
