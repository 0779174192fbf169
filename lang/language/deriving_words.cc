// eager_inline, fission, change_type and hoist_invariants: the words. What they do to the algorithm
// is said in the headers of these names in schedule/; the definitions here are what handles show.
#include <functional>
#include <set>
#include <utility>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/define.h"
#include "lang/language/derivation.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/simplify/distribute.h"
#include "polyhalite/func.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;

void require_defined(const FunctionContents &f, const std::string &what, const Here &here) {
  if (f.pure) return;
  user_error(what, quoted_name(f.name) + " is undefined", "define it first", here.where);
}

// Keeps the last directive of `f`, and what it made, where the definitions can be derived with it.
void check_derivation(const FuncPtr &f, size_t made) {
  try {
    derive_so_far(f);
  } catch (...) {
    f->directives.pop_back();
    f->derived.resize(f->derived.size() - made);
    throw;
  }
}

// f(args) -> made(args)
class RedirectToDerived : public ExprRewriter {
 public:
  RedirectToDerived(std::string from, std::string to, Type type)
      : from_(std::move(from)), to_(std::move(to)), type_(type) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Func || c->name != from_) return r;
    return make_cast(e.type(), make_func_call(type_, to_, c->args));
  }

 private:
  const std::string from_, to_;
  const Type type_;
};

FuncPtr make_partial(FunctionContents &f, DirectiveKind kind, const std::string &name,
                     const Here &here) {
  auto made = std::make_shared<FunctionContents>();
  made->name = name;
  made->pure_args = f.pure_args;
  made->frozen = made->is_partial = true;
  made->made_of = &f;
  made->where = here.where;
  f.frozen = true;
  f.derived.push_back({kind, {}, made});
  return made;
}

Definition pure_definition(const FunctionContents &f, Expr value, const Here &here) {
  Definition d;
  for (const std::string &a : f.pure_args) {
    d.args.push_back(make_variable(Int(32), VariableKind::Pure, a));
  }
  d.values = {std::move(value)};
  d.where = here.where;
  return d;
}

}  // namespace

template <typename Self>
Self &Schedulable<Self>::eager_inline(const std::vector<Func> &funcs, Here here) {
  const Stage &s = self().stage_to_schedule();
  const FuncPtr &f = s.function();
  const std::string into = " into " + describe_stage(*f, s.index());
  require_defined(*f, "cannot inline" + into, here);
  if (funcs.empty()) return self();
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Func &g : funcs) {
    require_defined(*g.function(), "cannot inline " + quoted_name(g.name()) + into, here);
    if (seen.insert(g.name()).second) names.push_back(g.name());
  }
  record(s, DirectiveKind::EagerInline, {}, {}, here.where).funcs = std::move(names);
  check_derivation(f, 0);
  return self();
}

Stage &Stage::fission(const VarOrRVar &part) {
  require_defined(*func_, "cannot fission " + describe_stage(*func_, stage_), Here(part.where));
  record(*this, DirectiveKind::Fission, {part.name}, {}, part.where);
  check_derivation(func_, 0);
  return *this;
}

Stage &Stage::fission(const VarOrRVar &around, const VarOrRVar &part) {
  require_defined(*func_, "cannot fission " + describe_stage(*func_, stage_), Here(around.where));
  record(*this, DirectiveKind::Fission, {around.name, part.name}, {}, around.where);
  check_derivation(func_, 0);
  return *this;
}

Func Func::change_type(const Type &type, bool unproven, Here here) {
  FunctionContents &f = *contents_;
  require_defined(f, "cannot change the type of " + quoted_name(f.name), here);
  const std::string name = unique_name(plain_name(f.name) + "_" + type.to_string());
  Directive &d = record(f, 0, DirectiveKind::ChangeType, {},
                        {unproven ? make_true() : make_false()}, here.where);
  d.type = type;
  d.makes = name;
  const FuncPtr made = make_partial(f, DirectiveKind::ChangeType, name, here);
  made->types = {type};
  RedirectToDerived own(f.name, name, type);
  Definition pure = *f.pure;
  for (Expr &v : pure.values) v = make_cast(type, v);
  made->pure = std::move(pure);
  for (Definition u : f.updates) {
    for (Expr &v : u.values) v = make_cast(type, own(v));
    made->updates.push_back(std::move(u));
  }
  check_derivation(contents_, 1);
  return Func(FuncPtr(contents_, made.get()));
}

FuncVec Stage::hoist_invariants(Here here) {
  FunctionContents &f = *func_;
  const std::string what = "cannot hoist invariants of " + describe_stage(f, stage_);
  require_defined(f, what, here);
  if (stage_ == 0) {
    user_error(what, "a pure definition has no reduction", "call it on an update", here.where);
  }
  const DerivedSoFar now = derive_so_far(func_);
  const FuncDef &def = now.definition();
  int stage = stage_;
  for (const Expr &condition : branch_) {
    for (const int b : def.branches_of(stage)) {
      if (equal(def.stages[static_cast<size_t>(b)].when, condition)) stage = b;
    }
  }
  std::string why = "a directive has changed its type, so that it is a cast of another Func";
  const auto terms =
      stage < static_cast<int>(def.stages.size())
          ? reduction_terms(def, stage, constant_ranges(def, stage, now.pipeline.directives), &why)
          : std::nullopt;
  if (!terms) user_error(what, why, "leave the reduction as it is", here.where);

  Directive &d = record(*this, DirectiveKind::HoistInvariants, {}, {}, here.where);
  std::vector<FuncPtr> made;
  const Definition update = f.updates[static_cast<size_t>(stage_) - 1];
  for (size_t i = 0; i < terms->size(); i++) {
    const std::string suffix = terms->size() > 1 ? "_intm" + std::to_string(i) : "_intm";
    const std::string name = unique_name(plain_name(f.name) + suffix);
    (i == 0 ? d.makes : d.makes_more.emplace_back()) = name;
    made.push_back(make_partial(f, DirectiveKind::HoistInvariants, name, here));
    const auto value = static_cast<size_t>((*terms)[i].value);
    const Type t = f.types[value];
    made[i]->types = {t};
    made[i]->pure = pure_definition(f, identity_of((*terms)[i].outer, t), here);
    Definition u = update;
    u.values = {RedirectToDerived(f.name, name, t)(update.values[value])};
    made[i]->updates.push_back(std::move(u));
  }
  check_derivation(func_, made.size());
  std::vector<Func> funcs;
  for (const FuncPtr &m : made) funcs.emplace_back(FuncPtr(func_, m.get()));
  return FuncVec(std::move(funcs));
}

FuncVec::FuncVec(const std::string &name, size_t count, Here here) {
  reserve(count);
  for (size_t i = 0; i < count; i++) {
    emplace_back(count == 1 ? name : name + std::to_string(i), here);
  }
}

FuncVec::operator Func() const {
  require_size(1, Here(SourceLocation()));
  return front();
}

void FuncVec::require_size(size_t n, const Here &here) const {
  if (size() == n) return;
  std::string names;
  for (const Func &f : *this) names += (names.empty() ? "" : ", ") + quoted_name(f.name());
  user_error("a FuncVec of size " + std::to_string(size()) + " is used as " +
                 (n == 1 ? "one Func" : std::to_string(n) + " Funcs"),
             empty() ? "it has no Func" : "it has " + names, "take the Funcs by their indices",
             here.where);
}

template Func &Schedulable<Func>::eager_inline(const std::vector<Func> &, Here);
template Stage &Schedulable<Stage>::eager_inline(const std::vector<Func> &, Here);

}  // namespace polyhalite
