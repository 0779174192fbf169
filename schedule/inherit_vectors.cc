#include "schedule/inherit_vectors.h"

#include <optional>

#include "lang/ir/node.h"
#include "lang/ir/visit.h"
#include "schedule/inline.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

struct VectorOf {
  std::string variable;  // of the stage, that lanes count in steps of one
  Expr lanes;            // undefined: all that the variable's dimension has
};

// The one vector loop, where it is a variable's or the inner part of a split of one.
std::optional<VectorOf> vector_of(const StageDimensions &s) {
  std::optional<VectorOf> found;
  for (const LoopDimension &l : s.loops) {
    if (l.kind != LoopKind::Vector) continue;
    if (found) return std::nullopt;
    std::string name = l.name;
    Expr lanes;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const Derivation &d : s.derivations) {
        if (d.kind != Derivation::Split && d.c == name) return std::nullopt;
        if (d.kind != Derivation::Split || (d.c != name && d.b != name)) continue;
        if (d.b == name) return std::nullopt;
        if (!lanes.defined()) lanes = d.factor;
        name = d.a;
        goes_on = true;
        break;
      }
    }
    if (lanes.defined() && !is_const(lanes)) return std::nullopt;
    found = VectorOf{name, lanes};
  }
  return found;
}

bool is_pure(const Expr &e, const std::string &name) {
  const VariableNode *v = as_variable(e);
  return v && v->kind == VariableKind::Pure && v->name == name;
}

// The argument that is `variable` in every call of `callee` in the stage; -1 where there is none.
int argument_with(const StageDef &stage, const std::string &callee, const std::string &variable) {
  int found = -1;
  bool always = true;
  for_each_expr(stage, [&](const Expr &root) {
    for_each_node(root, [&](const Expr &e) {
      const CallNode *c = as_call(e);
      if (!c || c->kind != CallKind::Func || c->name != callee) return;
      int here = -1;
      for (size_t i = 0; i < c->args.size(); i++) {
        if (is_pure(c->args[i], variable)) here = here < 0 ? static_cast<int>(i) : -2;
      }
      always = always && here >= 0 && (found < 0 || found == here);
      found = here;
    });
  });
  return always ? found : -1;
}

}  // namespace

std::vector<Directive> inherited_vectors(const FuncDef &func, const std::string &user_name,
                                         const FuncDef &user, int stage,
                                         const StageDimensions &caller) {
  const auto vector = vector_of(caller);
  if (!vector) return {};
  const int argument =
      argument_with(user.stages[static_cast<size_t>(stage)], func.name, vector->variable);
  if (argument < 0) return {};
  const std::string &x = func.args[static_cast<size_t>(argument)];
  const std::string lanes = vector->lanes.defined() ? x + "$v" : x;
  std::vector<Directive> list;
  for (size_t s = 0; s < func.stages.size(); s++) {
    const StageDef &def = func.stages[s];
    // Lanes must not meet: the stage's cell and what it reads of its own stand at its own index.
    if (!is_pure(def.args[static_cast<size_t>(argument)], x)) return {};
    const bool reads_itself = called_funcs(def).count(func.name) > 0;
    if (reads_itself && argument_with(def, func.name, x) != argument) return {};
    if (def.instead_of >= 0 || !def.fail.empty()) return {};
    auto add = [&](DirectiveKind kind, std::vector<std::string> loops) -> Directive & {
      Directive d;
      d.kind = kind;
      d.func = user_name;
      d.stage = static_cast<int>(s);
      d.loops = std::move(loops);
      d.where = def.where;
      list.push_back(std::move(d));
      return list.back();
    };
    if (vector->lanes.defined()) {
      Directive &split = add(DirectiveKind::Split, {x, x, lanes});
      split.factors = {vector->lanes};
      split.tail = TailStrategy::GuardWithIf;  // asks for no more of what the stage reads
    }
    std::vector<std::string> order = {lanes};
    for (const ReductionVariable &r : def.rvars) order.push_back(r.var);
    if (order.size() > 1) add(DirectiveKind::Reorder, order);
    add(DirectiveKind::Vectorize, {lanes});
  }
  return list;
}

}  // namespace polyhalite
