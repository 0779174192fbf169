#include "codegen/passes/stage_body.h"

#include "codegen/passes/extern_stage_call.h"
#include "codegen/passes/ring_accesses.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/undef.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

/// Reads of Funcs and images take place where a condition holds only: those of `func`, or of all
/// others.
class GuardedReads : public ExprRewriter {
 public:
  GuardedReads(const Expr &condition, const std::string &func, bool own)
      : condition_(condition), func_(func), own_(own) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (!condition_.defined()) return e;
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return r;
    if ((c->kind == CallKind::Func && c->name == func_) != own_) return r;
    return make_intrinsic(r.type(), intrinsic::kGuarded, {condition_, r});
  }

 private:
  const Expr &condition_;
  const std::string &func_;
  const bool own_;
};

Expr both(const Expr &a, const Expr &b) { return a.defined() ? make_binary(Op::And, a, b) : b; }

/// May iterations that run at once update one cell?
bool is_shared(const LoopTree &tree, const StageId &s) {
  const StageNest &nest = tree.nest(s);
  if (!nest.atomic) return false;
  for (int l : nest.loops) {
    const LoopInfo &loop = tree.loops[l];
    const bool at_once = loop.kind == LoopKind::Parallel || loop.kind == LoopKind::Vector;
    if (at_once && loop.is_reduction) return true;
  }
  return false;
}

bool reads_func(const Expr &e, const std::string &name) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    found = found || (c && c->kind == CallKind::Func && c->name == name);
  });
  return found;
}

// Where a value is undef, nothing is written; of several values those keep what they are.
Stmt provide(const std::string &name, std::vector<Expr> indices, std::vector<Expr> values) {
  std::vector<Expr> conditions;
  bool all_alike = true, somewhere = false;
  for (Expr &v : values) {
    const PartlyDefined p = split_undef(v);
    v = p.value;
    conditions.push_back(p.condition.defined() ? p.condition : make_true());
    all_alike = all_alike && equal(conditions.back(), conditions[0]);
    somewhere = somewhere || !is_false(conditions.back());
  }
  if (!somewhere) return make_block({});
  if (all_alike) {
    const Stmt body = make_provide(name, std::move(indices), std::move(values));
    return is_true(conditions[0]) ? body : make_if(conditions[0], body);
  }
  for (size_t i = 0; i < values.size(); i++) {
    if (is_true(conditions[i])) continue;
    const Expr old = make_func_call(values[i].type(), name, indices, static_cast<int>(i));
    values[i] = is_false(conditions[i]) ? old : make_select(conditions[i], values[i], old);
  }
  return make_provide(name, std::move(indices), std::move(values));
}

// All indices and values are known before the first cell is written: they may read what is
// overwritten.
Stmt provide_together(const std::string &name, std::vector<CellWrite> writes) {
  std::vector<std::pair<std::string, Expr>> lets;
  auto bind = [&](Expr &e, const std::string &suffix) {
    if (is_const(e) || as_variable(e)) return;
    const std::string symbol = name + ".scattered." + suffix;
    lets.emplace_back(symbol, e);
    e = make_variable(e.type(), VariableKind::Symbol, symbol);
  };
  std::vector<Stmt> provides;
  for (size_t i = 0; i < writes.size(); i++) {
    const std::string which = std::to_string(i);
    for (size_t v = 0; v < writes[i].values.size(); v++) {
      PartlyDefined p = split_undef(writes[i].values[v]);
      bind(p.value, which + ".value." + std::to_string(v));
      if (p.condition.defined()) {
        bind(p.condition, which + ".written." + std::to_string(v));
        p.value = make_select(p.condition, p.value,
                              make_intrinsic(p.value.type(), intrinsic::kUndef, {}));
      }
      writes[i].values[v] = p.value;
    }
    for (size_t d = 0; d < writes[i].cell.size(); d++) {
      if (reads_func(writes[i].cell[d], name)) {
        bind(writes[i].cell[d], which + ".index." + std::to_string(d));
      }
    }
    provides.push_back(provide(name, writes[i].cell, writes[i].values));
  }
  Stmt out = make_block(std::move(provides));
  for (auto it = lets.rbegin(); it != lets.rend(); ++it) {
    out = make_let_stmt(it->first, it->second, out);
  }
  return out;
}

}  // namespace

Stmt stage_body(const LoopTree &tree, const Survey &survey, const StageId &s) {
  const StageDef &def = tree.definition(s);
  if (const CallNode *call = as_extern_stage(def)) {
    return extern_stage_call(tree, survey, s.func, *call);
  }
  const StageSurvey &st = survey.stages[s.func][s.stage];
  RingAccesses in_rings(tree, survey);
  const FuncDef &func = tree.func(s);
  Expr stores, loads;  // of PredicateStores and PredicateLoads
  std::vector<Expr> blends;
  for (const Guard &g : st.guards) {
    const Expr c = in_rings(g.condition);
    if (g.rest == Guard::Loads) stores = both(stores, c);
    if (g.rest == Guard::Stores) loads = both(loads, c);
    if (g.rest == Guard::Blends) blends.push_back(c);
  }
  // What the stage reads of itself lies in boxes that its predicated stores do not grow.
  GuardedReads guarded_own(stores, func.name, true), guarded(loads, func.name, false);
  std::vector<CellWrite> writes = cell_writes(def);
  bool has_undef = false;
  for (CellWrite &w : writes) {
    for (Expr &e : w.cell) e = in_rings(substitute(st.dims, e));
    for (Expr &e : w.values) e = in_rings(substitute(st.dims, e));
    in_rings.fold(s.func, w.cell);
    for (size_t v = 0; v < w.values.size(); v++) {
      Expr &value = w.values[v];
      has_undef = has_undef || split_undef(value).condition.defined();
      for (const Expr &c : blends) {
        const Expr old = make_func_call(value.type(), func.name, w.cell, static_cast<int>(v));
        value = make_select(c, make_intrinsic(value.type(), intrinsic::kLikely, {value}),
                            make_intrinsic(old.type(), intrinsic::kGuarded, {make_not(c), old}));
      }
      value = guarded(guarded_own(value));
    }
  }
  // Predicated stores evaluate outside of their condition.
  std::vector<std::pair<std::string, Expr>> lets;
  if (stores.defined() && writes.size() == 1 && !has_undef) {
    for (size_t v = 0; v < writes[0].values.size(); v++) {
      Expr &value = writes[0].values[v];
      const std::string symbol =
          func.name + ".s" + std::to_string(s.stage) + ".value." + std::to_string(v);
      lets.emplace_back(symbol, value);
      value = make_variable(value.type(), VariableKind::Symbol, symbol);
    }
  }
  Stmt body = writes.size() == 1 ? provide(func.name, writes[0].cell, writes[0].values)
                                 : provide_together(func.name, std::move(writes));
  if (is_shared(tree, s)) body = make_atomic(body);
  if (stores.defined()) body = make_if(stores, body);
  for (const auto &[symbol, value] : lets) body = make_let_stmt(symbol, value, body);
  for (auto it = st.guards.rbegin(); it != st.guards.rend(); ++it) {
    if (it->rest == Guard::Nothing) body = make_if(in_rings(it->condition), body);
  }
  return body;
}

}  // namespace polyhalite
