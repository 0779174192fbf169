#include "lang/language/define.h"

#include <algorithm>
#include <set>

#include "lang/ir/expr_text.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "lang/language/match_types.h"
#include "lang/language/names.h"
#include "lang/language/random.h"
#include "polyhalite/var.h"

namespace polyhalite {

namespace {

bool is_pure_var(const Expr &e) {
  const VariableNode *v = as_variable(e);
  return v && v->kind == VariableKind::Pure;
}

// The calls of f inside its own definition must not keep f alive: neither directly, nor through the
// predicate of the domain that its reduction variables belong to.
class DropSelf : public ExprRewriter {
 public:
  explicit DropSelf(const FunctionContents *self) : self_(self) {}

  /// From here on, variables of `from` belong to `to`, which may be null.
  void move_variables(std::shared_ptr<const ReductionDomain> from,
                      std::shared_ptr<const ReductionDomain> to) {
    from_ = std::move(from);
    to_ = std::move(to);
    forget();
  }

 protected:
  Expr rewrite(const Expr &e) override {
    if (const VariableNode *v = as_variable(e); v && from_ && v->domain == from_) {
      auto copy = std::make_shared<VariableNode>(*v);
      copy->domain = to_;
      return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
    }
    const CallNode *c = as_call(e);
    if (!c || c->func.get() != self_) return rewrite_children(e);
    auto copy = std::make_shared<CallNode>(static_cast<const CallNode &>(*rewrite_children(e)));
    copy->func = nullptr;
    return Expr(std::shared_ptr<const ExprNode>(std::move(copy)));
  }

 private:
  const FunctionContents *self_;
  std::shared_ptr<const ReductionDomain> from_, to_;
};

// What a definition mentions.
struct Mentions {
  std::vector<std::string> pure;  // in order of first mention
  std::shared_ptr<const ReductionDomain> domain;
  bool two_domains = false;
  bool calls_self = false;
  std::vector<std::shared_ptr<FunctionContents>> callees;
};

void collect(const Expr &e, const FunctionContents *self, Mentions *m);

void collect_domain(const std::shared_ptr<const ReductionDomain> &domain,
                    const FunctionContents *self, Mentions *m) {
  if (!domain || m->domain == domain) return;
  if (m->domain) {
    m->two_domains = true;
    return;
  }
  m->domain = domain;
  for (const ReductionVariable &v : domain->vars) {
    collect(v.min, self, m);
    collect(v.extent, self, m);
  }
  if (domain->predicate.defined()) collect(domain->predicate, self, m);
}

void collect(const Expr &e, const FunctionContents *self, Mentions *m) {
  for_each_node(e, [&](const Expr &n) {
    if (const VariableNode *v = as_variable(n)) {
      if (v->kind == VariableKind::Pure &&
          std::find(m->pure.begin(), m->pure.end(), v->name) == m->pure.end()) {
        m->pure.push_back(v->name);
      }
      collect_domain(v->domain, self, m);
    } else if (const CallNode *c = as_call(n)) {
      if (c->kind != CallKind::Func) return;
      if (c->func.get() == self) {
        m->calls_self = true;
      } else if (c->func) {
        m->callees.push_back(c->func);
      }
    }
  });
}

std::string list_names(const std::vector<std::string> &names) {
  std::string s;
  for (const std::string &n : names) s += (s.empty() ? "" : ", ") + plain_name(n);
  return s.empty() ? "none" : s;
}

// Signed arithmetic of 32 and 64 bits that overflows has no value.
bool overflows(const Expr &e) {
  if (e->args.size() != 2 || !e->type.is_affine()) return false;
  int64_t a, b, r = 0;
  if (!is_const_int(e->args[0], &a) || !is_const_int(e->args[1], &b)) return false;
  bool over = false;
  switch (e->op) {
    case Op::Add:
      over = __builtin_add_overflow(a, b, &r);
      break;
    case Op::Sub:
      over = __builtin_sub_overflow(a, b, &r);
      break;
    case Op::Mul:
      over = __builtin_mul_overflow(a, b, &r);
      break;
    default:
      return false;
  }
  return over || (e->type.bits() == 32 && r != static_cast<int32_t>(r));
}

void check_overflow(const FunctionContents &f, int stage, const Expr &value,
                    const SourceLocation &where) {
  for_each_node(value, [&](const Expr &e) {
    if (!overflows(e)) return;
    user_error("constant arithmetic in the definition of " + describe_stage(f, stage) +
                   " overflows " + e->type.to_string() + ": " + to_text(e),
               "signed overflow has no defined value", "compute in a wider or an unsigned type",
               where);
  });
}

void check_values(const FunctionContents &f, int stage, const std::vector<Expr> &values,
                  const SourceLocation &where) {
  for (const Expr &v : values) {
    if (!v.defined()) {
      user_error("the definition of " + describe_stage(f, stage) + " is an undefined Expr",
                 "an Expr that was never given a value has no type",
                 "assign the Expr before it is used", where);
    }
    check_overflow(f, stage, v, where);
  }
}

std::string list_types(const std::vector<Type> &types) {
  std::string s;
  for (const Type &t : types) s += (s.empty() ? "" : ", ") + t.to_string();
  return types.size() == 1 ? s : "(" + s + ")";
}

// What the Func's constructor promised.
void check_requirements(const FunctionContents &f, size_t dimensions,
                        const std::vector<Expr> &values, const SourceLocation &where) {
  std::vector<Type> types;
  for (const Expr &v : values) types.push_back(v.type());
  if (!f.required_types.empty() && types != f.required_types) {
    user_error("Func " + quoted_name(f.name) + " is defined with type " + list_types(types),
               "it was constructed for type " + list_types(f.required_types),
               "cast the value, or construct the Func for its type", where);
  }
  const int required = f.required_dimensions;
  if (required >= 0 && dimensions != static_cast<size_t>(required)) {
    user_error("Func " + quoted_name(f.name) + " is defined with " + std::to_string(dimensions) +
                   " dimensions",
               "it was constructed for " + std::to_string(required), "give it that many arguments",
               where);
  }
}

bool has_scatter_gather(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    found = found || as_intrinsic(n, intrinsic::kScatterGather) != nullptr;
  });
  return found;
}

void define_pure(FunctionContents &f, const std::vector<Expr> &args, std::vector<Expr> values,
                 const SourceLocation &where) {
  std::vector<std::string> names;
  for (size_t i = 0; i < args.size(); i++) {
    if (!args[i].defined() || !is_pure_var(args[i])) {
      user_error(
          "argument " + std::to_string(i) + " of the first definition of " + quoted_name(f.name) +
              " is no Var",
          "the first definition gives every point a value, so its arguments are free variables",
          "define " + quoted_name(f.name) + " over Vars first, then update it", where);
    }
    const std::string &name = as_variable(args[i])->name;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      user_error("Var " + quoted_name(name) + " occurs twice among the arguments of " +
                     quoted_name(f.name),
                 "each dimension needs a variable of its own", "use different Vars", where);
    }
    names.push_back(name);
  }
  Mentions m;
  for (const Expr &v : values) {
    collect(v, &f, &m);
    if (!has_scatter_gather(v)) continue;
    user_error("the first definition of " + quoted_name(f.name) + " uses scatter() or gather()",
               "only updates write several cells at once",
               "define " + quoted_name(f.name) + " first, then update it", where);
  }
  for (const std::string &name : m.pure) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    user_error(
        "Var " + quoted_name(name) + " in the definition of " + quoted_name(f.name) + " is unknown",
        "it is no argument of " + quoted_name(f.name) + " (they are: " + list_names(names) + ")",
        "make it an argument, or use an argument in its place", where);
  }
  if (m.domain) {
    user_error("the first definition of " + quoted_name(f.name) + " uses the reduction variable " +
                   quoted_name(m.domain->vars[0].var),
               "only updates run over a reduction domain",
               "define " + quoted_name(f.name) + " first, then update it, or use sum()", where);
  }
  check_requirements(f, names.size(), values, where);
  for (const auto &callee : m.callees) callee->frozen = true;
  f.pure_args = std::move(names);
  for (const Expr &v : values) f.types.push_back(v.type());
  f.pure = Definition{args, std::move(values), nullptr, where};
}

void check_update_types(const FunctionContents &f, int stage, const std::vector<Expr> &values,
                        const SourceLocation &where) {
  if (values.size() != f.types.size()) {
    user_error(describe_stage(f, stage) + " has " + std::to_string(values.size()) + " values",
               "the first definition has " + std::to_string(f.types.size()),
               "give the same number of values", where);
  }
  for (size_t i = 0; i < values.size(); i++) {
    if (values[i].type() == f.types[i]) continue;
    user_error(describe_stage(f, stage) + " has type " + values[i].type().to_string(),
               "the first definition has type " + f.types[i].to_string(),
               "cast the value to " + f.types[i].to_string(), where);
  }
}

// e with each scatter() and gather() replaced by its part number `i`.
class TakePart : public ExprRewriter {
 public:
  explicit TakePart(size_t i) : i_(i) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (as_intrinsic(e, intrinsic::kScatterGather)) return (*this)(e->args[i_]);
    return rewrite_children(e);
  }

 private:
  size_t i_;
};

// Brings scatter() and gather() to the top of every index and value.
//   f(x, scatter(a, b)) = f(x, gather(b, a)) + 1
//   ->  f(x, scatter(a, b)) = gather(f(x, b) + 1, f(x, a) + 1)
void raise_scatter_gather(const FunctionContents &f, int stage, std::vector<Expr> *args,
                          std::vector<Expr> *values, const SourceLocation &where) {
  size_t parts = 0;
  for (const auto *list : {args, values}) {
    for (const Expr &e : *list) {
      for_each_node(e, [&](const Expr &n) {
        if (!as_intrinsic(n, intrinsic::kScatterGather)) return;
        if (parts == 0) parts = n->args.size();
        if (parts == n->args.size()) return;
        user_error(describe_stage(f, stage) + " has scatter() or gather() of " +
                       std::to_string(parts) + " and of " + std::to_string(n->args.size()) +
                       " operands",
                   "each operand belongs to one of the cells that the update writes",
                   "give all of them the same number of operands", where);
      });
    }
  }
  if (parts == 0) return;
  for (auto *list : {args, values}) {
    for (Expr &e : *list) {
      std::vector<Expr> all;
      for (size_t i = 0; i < parts; i++) all.push_back(TakePart(i)(e));
      const bool same = std::all_of(all.begin(), all.end(),
                                    [&](const Expr &other) { return equal(all[0], other); });
      const Type t = all[0].type();
      e = same ? all[0] : make_intrinsic(t, intrinsic::kScatterGather, std::move(all));
    }
  }
}

void define_update(FunctionContents &f, std::vector<Expr> args, std::vector<Expr> values,
                   const SourceLocation &where) {
  const int stage = static_cast<int>(f.updates.size()) + 1;
  if (f.frozen) {
    user_error(
        quoted_name(f.name) + " cannot be given another definition",
        "another Func uses it, in() or clone_in() names it as a consumer, or it has been realized",
        "move this definition before the first use", where);
  }
  check_update_types(f, stage, values, where);
  raise_scatter_gather(f, stage, &args, &values, where);

  std::set<std::string> free;  // pure variables in their own places
  for (size_t i = 0; i < args.size(); i++) {
    if (is_pure_var(args[i]) && as_variable(args[i])->name == f.pure_args[i]) {
      free.insert(f.pure_args[i]);
    }
  }
  Mentions m;
  for (const Expr &a : args) collect(a, &f, &m);
  for (const Expr &v : values) collect(v, &f, &m);
  for (const std::string &name : m.pure) {
    if (free.count(name)) continue;
    const bool argument =
        std::find(f.pure_args.begin(), f.pure_args.end(), name) != f.pure_args.end();
    user_error("Var " + quoted_name(name) + " in " + describe_stage(f, stage) +
                   (argument ? " is not in its place" : " is unknown"),
               "a Var of an update stands alone, where the first definition has it: " +
                   plain_name(f.name) + "(" + list_names(f.pure_args) + ")",
               "use the Var in its place on the left, or a reduction variable", where);
  }
  if (m.domain && m.domain->predicate.defined() && has_scatter_gather(m.domain->predicate)) {
    user_error("the condition of the domain of " + describe_stage(f, stage) +
                   " uses scatter() or gather()",
               "it holds or fails for all cells of an instance at once",
               "use them in indices and values only", where);
  }
  if (m.two_domains) {
    user_error(describe_stage(f, stage) + " uses two reduction domains",
               "an update is one loop nest over one RDom", "make one RDom of all the dimensions",
               where);
  }
  for (const auto &callee : m.callees) callee->frozen = true;
  if (free.size() == args.size() && !m.domain && !m.calls_self) {
    user_warning(describe_stage(f, stage) + " hides every definition before it",
                 "it gives all points values that do not depend on the old ones",
                 "leave the earlier ones out, or give this Func another name", where);
  }

  Definition d;
  DropSelf drop_self(&f);
  if (m.domain) {
    auto domain = std::make_shared<ReductionDomain>(*m.domain);
    if (domain->predicate.defined()) domain->predicate = drop_self(domain->predicate);
    d.domain = std::move(domain);
    drop_self.move_variables(m.domain, d.domain);
  }
  for (const Expr &a : args) d.args.push_back(drop_self(a));
  for (const Expr &v : values) d.values.push_back(drop_self(v));
  d.where = where;
  f.updates.push_back(std::move(d));
}

// The variables of a definition's loops: pure ones of its arguments, then those of its RDom.
std::vector<Expr> loop_variables(const std::vector<Expr> &args, const std::vector<Expr> &values) {
  std::vector<Expr> variables;
  Mentions m;
  for (const Expr &a : args) {
    if (!a.defined()) continue;
    if (is_pure_var(a)) variables.push_back(a);
    collect(a, nullptr, &m);
  }
  for (const Expr &v : values) collect(v, nullptr, &m);
  if (!m.domain) return variables;
  for (const auto &r : m.domain->vars) {
    auto node = std::make_shared<VariableNode>(Int(32), VariableKind::Reduction, r.var);
    node->domain = m.domain;
    variables.push_back(Expr(std::shared_ptr<const ExprNode>(std::move(node))));
  }
  return variables;
}

}  // namespace

FuncDef definition_view(const FunctionContents &f, int stage) {
  FuncDef def;
  def.name = f.name;
  def.args = f.pure_args;
  def.types = f.types;
  def.stages.resize(static_cast<size_t>(stage) + 1);
  const Definition &d = stage == 0 ? *f.pure : f.updates[static_cast<size_t>(stage) - 1];
  StageDef &s = def.stages.back();
  s.args = d.args;
  s.values = d.values;
  s.where = d.where;
  if (d.domain) {
    s.rvars = d.domain->vars;
    s.predicate = d.domain->predicate;
  }
  return def;
}

std::string describe_stage(const FunctionContents &f, int stage) {
  if (stage == 0) return quoted_name(f.name);
  return "update " + std::to_string(stage - 1) + " of " + quoted_name(f.name);
}

int define(const std::shared_ptr<FunctionContents> &f, const std::vector<Expr> &args,
           std::vector<Expr> values, const SourceLocation &where) {
  const int stage = f->pure ? static_cast<int>(f->updates.size()) + 1 : 0;
  check_values(*f, stage, values, where);
  // Calls differ by their numbers; the name that makes f unique in this process is another one when
  // the program defines it again.
  const std::string name = plain_name(f->name) + "." + std::to_string(stage);
  const std::vector<Expr> variables = loop_variables(args, values);
  std::vector<Expr> places;
  for (const Expr &a : args) places.push_back(resolve_random(a, name, variables));
  for (Expr &v : values) v = resolve_random(v, name, variables);
  if (stage == 0) {
    define_pure(*f, places, std::move(values), where);
  } else {
    define_update(*f, places, std::move(values), where);
  }
  return stage;
}

void define_base_case(const std::shared_ptr<FunctionContents> &f, const std::vector<Expr> &args,
                      std::vector<Expr> values, const SourceLocation &where) {
  std::vector<Expr> pure;
  std::set<std::string> used;
  for (const Expr &a : args) {
    if (a.defined() && is_pure_var(a) && used.insert(as_variable(a)->name).second) {
      pure.push_back(a);
    } else {
      pure.push_back(Var());
    }
  }
  define_pure(*f, pure, std::move(values), where);
}

}  // namespace polyhalite
