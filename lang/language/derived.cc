// Func::in and clone_in: Funcs between a Func and its consumers.
#include <algorithm>

#include "lang/ir/function.h"
#include "lang/ir/node.h"
#include "lang/ir/unowned.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "polyhalite/func.h"
#include "polyhalite/param.h"

namespace polyhalite {

namespace {

using FuncPtr = std::shared_ptr<FunctionContents>;

std::string list(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &n : names) text += (text.empty() ? "" : ", ") + quoted_name(n);
  return text;
}

std::vector<std::string> names_of(const std::vector<Func> &consumers) {
  std::vector<std::string> names;
  for (const Func &f : consumers) names.push_back(f.name());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The Func that the same request made before, or null.
FuncPtr existing(const std::vector<DerivedFunc> &derived, const std::string &of, DirectiveKind kind,
                 const std::vector<std::string> &consumers, const Here &here) {
  for (const DerivedFunc &d : derived) {
    if (d.kind != DirectiveKind::In && d.kind != DirectiveKind::CloneIn) continue;
    if (d.kind == kind && d.consumers == consumers) return d.func;
    for (const std::string &c : consumers) {
      if (!std::count(d.consumers.begin(), d.consumers.end(), c)) continue;
      user_error(std::string("cannot make ") + quoted_name(of) + "." + directive_name(kind) + "(" +
                     list(consumers) + ")",
                 quoted_name(c) + " reads " + quoted_name(of) + " through " +
                     quoted_name(d.func->name) + " already",
                 "ask for the same consumers again, or for others: " + list(d.consumers) +
                     " have " + quoted_name(d.func->name),
                 here.where);
    }
  }
  return nullptr;
}

std::string derived_name(const std::string &of, DirectiveKind kind,
                         const std::vector<std::string> &consumers) {
  const std::string base = plain_name(of);
  const bool clone = kind == DirectiveKind::CloneIn;
  if (consumers.empty()) return unique_name(base + "_global_wrapper");
  if (consumers.size() > 1) return unique_name(base + (clone ? "_clone" : "_wrapper"));
  return unique_name(base + (clone ? "_clone_in_" : "_in_") + plain_name(consumers[0]));
}

// Of the Func or image that owns `directives` and `derived`.
FuncPtr add_derived(std::vector<Directive> &directives, std::vector<DerivedFunc> &derived,
                    const std::string &of, DirectiveKind kind, std::vector<std::string> consumers,
                    const Here &here) {
  auto f = std::make_shared<FunctionContents>();
  f->name = derived_name(of, kind, consumers);
  f->frozen = true;
  f->where = here.where;
  Directive d = stamped(of, 0, kind, {}, {}, here.where);
  d.consumers = consumers;
  d.makes = f->name;
  directives.push_back(std::move(d));
  derived.push_back({kind, std::move(consumers), f});
  return f;
}

void define_as_copy(FunctionContents &f, const std::vector<std::string> &args,
                    std::vector<Expr> values, const Here &here) {
  f.pure_args = args;
  Definition d;
  for (const std::string &a : args) d.args.push_back(make_variable(Int(32), VariableKind::Pure, a));
  for (const Expr &v : values) f.types.push_back(v.type());
  d.values = std::move(values);
  d.where = here.where;
  f.pure = std::move(d);
}

// Calls of one Func's own cells become those of its clone.
class OwnCalls : public ExprRewriter {
 public:
  OwnCalls(const std::string &from, const std::string &to) : from_(from), to_(to) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Func || c->name != from_) return r;
    auto copy = std::make_shared<CallNode>(*c);
    copy->name = to_;
    copy->func = nullptr;
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

 private:
  const std::string &from_, &to_;
};

void define_as_clone(FunctionContents &f, const FunctionContents &of) {
  f.pure_args = of.pure_args;
  f.types = of.types;
  f.pure = of.pure;
  OwnCalls own(of.name, f.name);
  for (Definition d : of.updates) {
    for (Expr &e : d.args) e = own(e);
    for (Expr &e : d.values) e = own(e);
    if (d.domain && d.domain->predicate.defined()) {
      auto domain = std::make_shared<ReductionDomain>(*d.domain);
      domain->predicate = own(domain->predicate);
      d.domain = std::move(domain);
    }
    f.updates.push_back(std::move(d));
  }
}

Func derive_func(const FuncPtr &of, DirectiveKind kind, const std::vector<Func> &consumers,
                 const Here &here) {
  const std::string what =
      std::string("cannot make ") + quoted_name(of->name) + "." + directive_name(kind);
  if (!of->pure) {
    user_error(what, "the Func is undefined", "define it first", here.where);
  }
  const std::vector<std::string> names = names_of(consumers);
  if (std::count(names.begin(), names.end(), of->name)) {
    user_error(what + "(" + quoted_name(of->name) + ")",
               "a Func's own updates read the Func itself", "name another Func that reads it",
               here.where);
  }
  FuncPtr f = existing(of->derived, of->name, kind, names, here);
  // Of a later definition nobody would know whether it reads the Func or what stands between.
  for (const Func &consumer : consumers) consumer.function()->frozen = true;
  if (!f) {
    f = add_derived(of->directives, of->derived, of->name, kind, names, here);
    of->frozen = true;
    if (kind == DirectiveKind::CloneIn) {
      define_as_clone(*f, *of);
    } else {
      std::vector<Expr> args, values;
      for (const std::string &a : of->pure_args) {
        args.push_back(make_variable(Int(32), VariableKind::Pure, a));
      }
      for (size_t i = 0; i < of->types.size(); i++) {
        auto call = std::make_shared<CallNode>(of->types[i], CallKind::Func, of->name, args);
        call->value_index = static_cast<int>(i);
        call->func = unowned(of);
        values.push_back(Expr(std::shared_ptr<const ExprNode>(std::move(call))));
      }
      define_as_copy(*f, of->pure_args, std::move(values), here);
    }
  }
  return Func(FuncPtr(of, f.get()));
}

Func derive_image(const std::shared_ptr<ParameterContents> &of, const std::vector<Func> &consumers,
                  const Here &here) {
  const std::vector<std::string> names = names_of(consumers);
  FuncPtr f = existing(of->derived, of->name, DirectiveKind::In, names, here);
  for (const Func &consumer : consumers) consumer.function()->frozen = true;
  if (!f) {
    f = add_derived(of->directives, of->derived, of->name, DirectiveKind::In, names, here);
    std::vector<std::string> args;
    std::vector<Expr> at;
    for (int d = 0; d < of->dimensions; d++) {
      args.push_back(Var::implicit(d).name());
      at.push_back(make_variable(Int(32), VariableKind::Pure, args.back()));
    }
    auto call = std::make_shared<CallNode>(of->type, CallKind::Image, of->name, at);
    call->param = unowned(of);
    define_as_copy(*f, args, {Expr(std::shared_ptr<const ExprNode>(std::move(call)))}, here);
  }
  return Func(FuncPtr(of, f.get()));
}

void require_consumers(const std::string &of, const std::vector<Func> &consumers,
                       const Here &here) {
  if (!consumers.empty()) return;
  user_error("cannot make " + quoted_name(of) + ".in({})", "the list of consumers is empty",
             "name the Funcs that read it, or use in() for all of them", here.where);
}

}  // namespace

Func Func::in(const Func &consumer, Here here) {
  return derive_func(contents_, DirectiveKind::In, {consumer}, here);
}

Func Func::in(const std::vector<Func> &consumers, Here here) {
  require_consumers(name(), consumers, here);
  return derive_func(contents_, DirectiveKind::In, consumers, here);
}

Func Func::in(Here here) { return derive_func(contents_, DirectiveKind::In, {}, here); }

Func Func::clone_in(const Func &consumer, Here here) {
  return derive_func(contents_, DirectiveKind::CloneIn, {consumer}, here);
}

Func Func::clone_in(const std::vector<Func> &consumers, Here here) {
  require_consumers(name(), consumers, here);
  return derive_func(contents_, DirectiveKind::CloneIn, consumers, here);
}

Func ImageParam::in(const Func &consumer, Here here) {
  defined_parameter(here);
  return derive_image(param_, {consumer}, here);
}

Func ImageParam::in(const std::vector<Func> &consumers, Here here) {
  defined_parameter(here);
  require_consumers(name(), consumers, here);
  return derive_image(param_, consumers, here);
}

Func ImageParam::in(Here here) {
  defined_parameter(here);
  return derive_image(param_, {}, here);
}

}  // namespace polyhalite
