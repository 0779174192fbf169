// Stage::rfactor: the handle of the Func that partial results go to. What the directive does to the
// algorithm is said in schedule/rfactor.h; the definitions here are what its handle shows.
#include <set>

#include "lang/ir/algorithm.h"
#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/define.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/simplify/associative.h"
#include "polyhalite/func.h"

namespace polyhalite {

namespace {

// f(args) -> intermediate(args, vars)
class RedirectToPartial : public ExprRewriter {
 public:
  RedirectToPartial(const std::string &from, const std::string &to, const std::vector<Expr> &vars)
      : from_(from), to_(to), vars_(vars) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Func || c->name != from_) return r;
    std::vector<Expr> args = c->args;
    args.insert(args.end(), vars_.begin(), vars_.end());
    return make_func_call(c->type, to_, std::move(args), c->value_index);
  }

 private:
  const std::string &from_, &to_;
  const std::vector<Expr> &vars_;
};

// partial(args), all values
void define_view(FunctionContents &partial, const FunctionContents &f, int stage,
                 const AssociativeUpdate &update, const std::vector<std::string> &vars) {
  partial.types = update.types();
  partial.pure_args = f.pure_args;
  partial.pure_args.insert(partial.pure_args.end(), vars.begin(), vars.end());
  Definition pure;
  for (const std::string &a : partial.pure_args) {
    pure.args.push_back(make_variable(Int(32), VariableKind::Pure, a));
  }
  pure.values = update.identity;
  pure.where = partial.where;
  partial.pure = std::move(pure);

  std::vector<Expr> more;
  for (const std::string &v : vars) more.push_back(make_variable(Int(32), VariableKind::Pure, v));
  Definition d = f.updates[stage - 1];
  d.args.insert(d.args.end(), more.begin(), more.end());
  if (update.applied.empty()) {
    RedirectToPartial redirect(f.name, partial.name, more);
    for (Expr &v : d.values) v = redirect(v);
  } else {
    d.values =
        update.combine(make_func_calls(partial.types, partial.name, d.args), update.operands);
  }
  partial.updates.push_back(std::move(d));
}

}  // namespace

Func Stage::rfactor(const RVar &r, const Var &v, Here here) {
  return rfactor({{r, v}}, std::move(here));
}

Func Stage::rfactor(const std::vector<std::pair<RVar, Var>> &preserved, Here here) {
  FunctionContents &f = *func_;
  const std::string what = "cannot rfactor " + describe_stage(f, stage_);
  if (stage_ == 0) {
    user_error(what, "a pure definition has no reduction", "call it on an update", here.where);
  }
  std::vector<std::string> loops, vars;
  std::set<std::string> taken(f.pure_args.begin(), f.pure_args.end()), given;
  for (const auto &[r, v] : preserved) {
    if (!given.insert(r.name()).second) {
      user_error(what + ": " + quoted_name(r.name()) + " is preserved twice", "",
                 "name each reduction loop once", here.where);
    }
    if (!taken.insert(v.name()).second) {
      user_error(
          what + ": " + quoted_name(v.name()) + " names two dimensions of the partial results", "",
          "use a Var that is no argument of " + quoted_name(f.name), here.where);
    }
    loops.push_back(r.name());
    loops.push_back(v.name());
    vars.push_back(v.name());
  }
  std::string why;
  const auto update = prove_composable(definition_view(f, stage_), stage_, &why);
  if (!update) {
    user_error(what + ": it is not proven associative", why,
               "write it as f = f op e with +, *, min, max, &&, || or the like, or leave the "
               "reduction whole",
               here.where);
  }
  auto partial = std::make_shared<FunctionContents>();
  partial->name = unique_name(plain_name(f.name) + "_intm");
  partial->frozen = partial->is_partial = true;
  partial->made_of = &f;
  partial->where = here.where;
  define_view(*partial, f, stage_, *update, vars);
  f.frozen = true;
  record(*this, DirectiveKind::Rfactor, std::move(loops), {}, here.where).makes = partial->name;
  f.derived.push_back({DirectiveKind::Rfactor, {}, partial});
  return Func(std::shared_ptr<FunctionContents>(func_, partial.get()));
}

}  // namespace polyhalite
