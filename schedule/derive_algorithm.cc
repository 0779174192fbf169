#include "schedule/derive_algorithm.h"

#include <algorithm>
#include <utility>

#include "lang/ir/expr_text.h"
#include "polyhalite/error.h"
#include "schedule/change_type.h"
#include "schedule/derive.h"
#include "schedule/eager_inline.h"
#include "schedule/fission.h"
#include "schedule/hoist_invariants.h"
#include "schedule/rfactor.h"
#include "schedule/scan.h"
#include "schedule/specialize.h"
#include "schedule/wrap.h"

namespace polyhalite {

namespace {

class Deriver {
 public:
  explicit Deriver(const Algorithm &a) : a_(a) {}

  DerivedAlgorithm run(const std::vector<Directive> &directives) {
    for (const Directive &d : directives) apply(d);
    for (const auto &[from, to] : retyped_) {
      if (!a_.is_output(from) && !is_placed(from)) read_through_casts(a_, from, to);
    }
    for (FuncDef &f : a_.funcs) {
      for (StageDef &stage : f.stages) {
        if (!stage.fail.empty()) empty_out(f, stage);
      }
    }
    return {std::move(a_), std::move(list_)};
  }

 private:
  void apply(Directive d) {
    if (d.kind == DirectiveKind::In && a_.index_of(d.func) < 0 && is_image(d.func)) {
      a_ = wrap(std::move(a_), d, global_);
      return;
    }
    check_subject(d);
    find_stage(d);
    switch (d.kind) {
      case DirectiveKind::In:
        a_ = wrap(std::move(a_), d, global_);
        return;
      case DirectiveKind::CloneIn:
        a_ = clone(std::move(a_), d, global_);
        return;
      case DirectiveKind::Rfactor:
        return factor(d);
      case DirectiveKind::Scan:
        a_ = scan(std::move(a_), d, directives_of(d.func, d.stage));
        return;
      case DirectiveKind::Fission:
        return part(d);
      case DirectiveKind::Specialize:
        return specialize(d);
      case DirectiveKind::SpecializeFail:
        return fail(d);
      case DirectiveKind::EagerInline:
        a_ = eager_inline(std::move(a_), d, list_);
        return;
      case DirectiveKind::ChangeType:
        return retype(d);
      case DirectiveKind::HoistInvariants:
        return hoist(d);
      default:
        list_.push_back(std::move(d));
    }
  }

  bool is_image(const std::string &name) const {
    return std::any_of(a_.inputs.begin(), a_.inputs.end(), [&](const AlgorithmInput &i) {
      return i.param->is_buffer && i.param->name == name;
    });
  }

  FuncDef &func(const Directive &d) { return a_.funcs[a_.index_of(d.func)]; }

  void check_subject(const Directive &d) {
    const std::string what = std::string("cannot ") + directive_verb(d.kind) + " ";
    const FuncDef *f = a_.find(d.func);
    if (!f) {
      std::string names;
      for (const FuncDef &g : a_.funcs) names += (names.empty() ? "" : ", ") + g.name;
      user_error(what + "'" + d.func + "': the pipeline has no such Func", "",
                 "name one of: " + names, d.where);
    }
    const int definitions = f->num_definitions();
    if (d.stage >= 0 && d.stage < definitions) return;
    user_error(what + describe_stage(d.func, d.stage) + ": there is no such update", "",
               "'" + d.func + "' has " + std::to_string(definitions - 1) + " of them", d.where);
  }

  // A directive on a branch becomes one on the branch's stage.
  void find_stage(Directive &d) {
    const FuncDef &f = func(d);
    const std::string text = describe_stage(d.func, d.stage);
    for (const Expr &condition : d.branch) {
      d.stage = find_branch(f, d.stage, condition);
      if (d.stage >= 0) continue;
      user_error(std::string("cannot ") + directive_verb(d.kind) + " " + text +
                     ": it has no branch for " + to_text(condition),
                 "", "specialize it for that condition first", d.where);
    }
    d.branch.clear();
  }

  std::vector<Directive> directives_of(const std::string &func, int stage) const {
    std::vector<Directive> found;
    for (const Directive &d : list_) {
      if (d.func == func && d.stage == stage && is_of_stage(d.kind)) found.push_back(d);
    }
    return found;
  }

  void factor(const Directive &d) {
    const std::string text = describe_stage(d.func, func(d).definition_of(d.stage));
    if (!func(d).is_update(d.stage)) {
      user_error("cannot rfactor " + text, "a pure definition has no reduction",
                 "call it on an update", d.where);
    }
    Factored f = rfactor(std::move(a_), d, directives_of(d.func, d.stage));
    a_ = std::move(f.algorithm);
    drop_directives_of(d);
    list_.insert(list_.end(), f.directives.begin(), f.directives.end());
  }

  void hoist(const Directive &d) {
    if (!func(d).is_update(d.stage)) {
      user_error("cannot hoist invariants of " + describe_stage(d.func, d.stage),
                 "a pure definition has no reduction", "call it on an update", d.where);
    }
    Hoisted h = hoist_invariants(std::move(a_), d, list_);
    a_ = std::move(h.algorithm);
    drop_directives_of(d);
    list_.insert(list_.end(), h.directives.begin(), h.directives.end());
  }

  void part(const Directive &d) {
    Fissioned f = fission(std::move(a_), d, directives_of(d.func, d.stage));
    a_ = std::move(f.algorithm);
    list_.insert(list_.end(), f.directives.begin(), f.directives.end());
  }

  // The new Func has the loops, and so what was said of them. Bounds hold for both.
  void retype(const Directive &d) {
    const bool proven = is_false(d.factors[0]);
    // Sums of a narrow type may wrap.
    if (proven && func(d).stages.size() == 1) retyped_.emplace_back(d.func, d.makes);
    a_ = change_type(std::move(a_), d);
    std::vector<Directive> bounds;
    for (Directive &o : list_) {
      if (names_level(o.kind) && o.target_func == d.func) o.target_func = d.makes;
      if (o.func != d.func) continue;
      const bool is_bound =
          o.kind == DirectiveKind::Bound || o.kind == DirectiveKind::BoundExtent ||
          o.kind == DirectiveKind::AlignBounds || o.kind == DirectiveKind::AlignExtent;
      if (is_bound) bounds.push_back(o);
      o.func = d.makes;
    }
    list_.insert(list_.end(), bounds.begin(), bounds.end());
  }

  // Does it have memory of its own?
  bool is_placed(const std::string &func) const {
    return std::any_of(list_.begin(), list_.end(), [&](const Directive &d) {
      return d.func == func &&
             (d.kind == DirectiveKind::ComputeRoot || d.kind == DirectiveKind::ComputeAt ||
              d.kind == DirectiveKind::StoreRoot || d.kind == DirectiveKind::StoreAt);
    });
  }

  void specialize(const Directive &d) {
    if (find_branch(func(d), d.stage, d.factors[0]) >= 0) return;
    const int branch = add_branch(func(d), d.stage, d.factors[0], d.where);
    for (Directive o : directives_of(d.func, d.stage)) {
      o.stage = branch;
      list_.push_back(std::move(o));
    }
  }

  void fail(const Directive &d) {
    func(d).stages[d.stage].fail = as_imm(d.factors[0])->s;
    drop_directives_of(d);
  }

  // A stage that fails stays as a place for its branches; nothing of it runs. Later directives may
  // have made copies of what it was.
  static void empty_out(const FuncDef &f, StageDef &s) {
    s.args.clear();
    for (const std::string &a : f.args) {
      s.args.push_back(make_variable(Int(32), VariableKind::Pure, a));
    }
    s.values.clear();
    for (const Type &t : f.types) s.values.push_back(make_zero(t));
    s.rvars.clear();
    s.predicate = Expr();
  }

  void drop_directives_of(const Directive &d) {
    list_.erase(std::remove_if(list_.begin(), list_.end(),
                               [&](const Directive &o) {
                                 return o.func == d.func && o.stage == d.stage &&
                                        is_of_stage(o.kind);
                               }),
                list_.end());
  }

  Algorithm a_;
  std::vector<std::pair<std::string, std::string>> retyped_;  // from, to
  std::vector<Directive> list_;
  GlobalWrappers global_;
};

}  // namespace

DerivedAlgorithm derive_algorithm(const Algorithm &algorithm,
                                  const std::vector<Directive> &directives) {
  return Deriver(algorithm).run(directives);
}

}  // namespace polyhalite
