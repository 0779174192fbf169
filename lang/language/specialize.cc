// Branches of a stage, and what a stage may do without proof.
#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/define.h"
#include "lang/language/fixed_value.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "polyhalite/func.h"

namespace polyhalite {

namespace {

void require_defined_func(const Stage &s, const char *word, const Here &here) {
  const FunctionContents &f = *s.function();
  if (f.pure) return;
  user_error(std::string("cannot ") + word + " '" + plain_name(f.name) + "'",
             "the Func is undefined", "define the Func before its schedule", here.where);
}

bool same_branch(const std::vector<Expr> &a, const std::vector<Expr> &b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

// The directive of this kind for the stage or branch, or null.
const Directive *find(const Stage &s, DirectiveKind kind, const Expr &condition = {}) {
  for (const Directive &d : s.function()->directives) {
    if (d.kind != kind || d.stage != s.index() || !same_branch(d.branch, s.branch())) continue;
    if (!condition.defined() || equal(d.factors[0], condition)) return &d;
  }
  return nullptr;
}

}  // namespace

template <typename Self>
Stage Schedulable<Self>::specialize(const Expr &condition, Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined_func(s, "specialize", here);
  const std::string what =
      "the condition of specialize() of " + describe_stage(*s.function(), s.index());
  if (!condition.defined() || !condition.type().is_bool()) {
    user_error(what + (condition.defined() ? " has type " + condition.type().to_string()
                                           : " is undefined"),
               "a branch is taken where its condition is true",
               "give a comparison, or a bool Param", here.where);
  }
  detail::require_fixed(condition, what, here.where);
  std::vector<Expr> branch = s.branch();
  branch.push_back(condition);
  if (!find(s, DirectiveKind::Specialize, condition)) {
    if (find(s, DirectiveKind::SpecializeFail)) {
      user_error("cannot specialize " + describe_stage(*s.function(), s.index()) +
                     " after specialize_fail()",
                 "the branch would never be reached", "specialize before specialize_fail()",
                 here.where);
    }
    record(s, DirectiveKind::Specialize, {}, {condition}, here.where);
  }
  return Stage(s.function(), s.index(), std::move(branch));
}

template <typename Self>
void Schedulable<Self>::specialize_fail(const std::string &message, Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined_func(s, "specialize", here);
  const std::string stage = describe_stage(*s.function(), s.index());
  if (message.empty()) {
    user_error("specialize_fail() of " + stage + " has no message", "",
               "say which runs the pipeline does not support", here.where);
  }
  if (find(s, DirectiveKind::SpecializeFail)) {
    user_error("specialize_fail() of " + stage + " is given twice", "",
               "give it once, after the last specialize()", here.where);
  }
  record(s, DirectiveKind::SpecializeFail, {}, {make_string(message)}, here.where);
}

template <typename Self>
Self &Schedulable<Self>::atomic(bool override_associativity_test, Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined_func(s, "make atomic", here);
  const FunctionContents &f = *s.function();
  const Definition &definition = s.index() == 0 ? *f.pure : f.updates[s.index() - 1];
  for (const Expr &index : definition.args) {
    if (!calls_func(index, f.name)) continue;
    user_error("cannot make " + describe_stage(f, s.index()) + " atomic",
               "which cell it updates depends on other cells of '" + plain_name(f.name) +
                   "', which may change meanwhile",
               "read them from another Func", here.where);
  }
  record(s, DirectiveKind::Atomic, {}, {override_associativity_test ? make_true() : make_false()},
         here.where);
  return self();
}

template <typename Self>
Self &Schedulable<Self>::allow_race_conditions(Here here) {
  const Stage &s = self().stage_to_schedule();
  require_defined_func(s, "allow race conditions of", here);
  record(s, DirectiveKind::AllowRaceConditions, {}, {}, here.where);
  return self();
}

template Stage Schedulable<Func>::specialize(const Expr &, Here);
template Stage Schedulable<Stage>::specialize(const Expr &, Here);
template void Schedulable<Func>::specialize_fail(const std::string &, Here);
template void Schedulable<Stage>::specialize_fail(const std::string &, Here);
template Func &Schedulable<Func>::atomic(bool, Here);
template Stage &Schedulable<Stage>::atomic(bool, Here);
template Func &Schedulable<Func>::allow_race_conditions(Here);
template Stage &Schedulable<Stage>::allow_race_conditions(Here);

}  // namespace polyhalite
