#include "codegen/passes/stage_body.h"

#include <algorithm>

#include "codegen/passes/extern_stage_call.h"
#include "codegen/passes/held_indices.h"
#include "codegen/passes/storage_accesses.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/undef.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "lang/simplify/written_values.h"

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
    if (as_intrinsic(r, intrinsic::kTraceAccess)) return reported(r);
    if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return r;
    if ((c->kind == CallKind::Func && c->name == func_) != own_) return r;
    return make_intrinsic(r.type(), intrinsic::kGuarded, {condition_, r});
  }

 private:
  // What does not take place is not reported.
  Expr reported(const Expr &e) const {
    if (!as_intrinsic(e->args[0], intrinsic::kGuarded)) return e;
    std::vector<Expr> args = e->args;
    args[1] = is_true(args[1]) ? condition_ : make_binary(Op::And, args[1], condition_);
    return with_args(e, std::move(args));
  }

  const Expr &condition_;
  const std::string &func_;
  const bool own_;
};

/// Reads of these Funcs and images leave no trace in the caches.
class StreamedReads : public ExprRewriter {
 public:
  explicit StreamedReads(const std::vector<std::string> &names) : names_(names) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (names_.empty()) return e;
    const Expr r = rewrite_children(e);
    // What guards a read holds the read itself.
    const bool guarded = as_intrinsic(e, intrinsic::kGuarded) != nullptr;
    if (guarded && as_intrinsic(r->args[1], intrinsic::kStream)) {
      const Expr read =
          make_intrinsic(r.type(), intrinsic::kGuarded, {r->args[0], as_call(r->args[1])->args[0]});
      return make_intrinsic(r.type(), intrinsic::kStream, {read});
    }
    const CallNode *c = as_call(r);
    if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return r;
    if (!std::binary_search(names_.begin(), names_.end(), c->name)) return r;
    return make_intrinsic(r.type(), intrinsic::kStream, {r});
  }

 private:
  const std::vector<std::string> &names_;
};

// A Provide, or statements around some.
Stmt streamed_provide(const Stmt &s) {
  if (s->kind == StmtKind::Provide) return with_streams(s, true);
  std::vector<Stmt> body;
  for (const Stmt &b : s->body) body.push_back(streamed_provide(b));
  return with_parts(s, s->args, std::move(body));
}

Expr with_guard(const Expr &a, const Expr &b) {
  return a.defined() ? make_binary(Op::And, a, b) : b;
}

// Where iterations of an atomic update that run at once may meet in one cell.
struct SharedBy {
  bool lanes = false, threads = false;
  bool any() const { return lanes || threads; }
};

SharedBy shared_by(const LoopTree &tree, const StageId &s) {
  const StageNest &nest = tree.nest(s);
  SharedBy by;
  for (int l : nest.loops) {
    const LoopInfo &loop = tree.loops[l];
    if (!nest.atomic || !loop.is_reduction || !runs_at_once(loop.kind)) continue;
    (loop.kind == LoopKind::Vector ? by.lanes : by.threads) = true;
  }
  return by;
}

// Gives a value that is computed in front of a statement a name.
void name_value(Lets &lets, Expr &e, const std::string &symbol) {
  lets.emplace_back(symbol, e);
  e = make_variable(e.type(), VariableKind::Symbol, symbol);
}

// Accesses that are reported get names, so that they take place once and in the order of the text,
// whatever becomes of the expression:
//   f(x + 1)*2 + f(x)  ->  let a = trace_access(f(x + 1)), let b = trace_access(f(x)), a*2 + b
class NamedReads : public ExprRewriter {
 public:
  NamedReads(Lets &lets, std::string prefix) : lets_(lets), prefix_(std::move(prefix)) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (e->op == Op::Let) return e;  // its body's names have no meaning in front of it
    Expr r = rewrite_children(e);
    if (!as_intrinsic(r, intrinsic::kTraceAccess)) return r;
    for (size_t i = 0; i < lets_.size(); i++) {
      const auto &[symbol, value] = lets_[i];
      if (i >= first_ && equal(value, r))
        return make_variable(r.type(), VariableKind::Symbol, symbol);
    }
    name_value(lets_, r, prefix_ + std::to_string(lets_.size()));
    return r;
  }

 private:
  Lets &lets_;
  const size_t first_ = lets_.size();  // what stands there already is another event
  const std::string prefix_;
};

class StageBody {
 public:
  StageBody(const LoopTree &tree, const Survey &survey, const Tracer &tracer, const StageId &s)
      : tree_(tree),
        tracer_(tracer),
        stage_(s),
        func_(tree.func(s)),
        at_(survey.stages[s.func][s.stage]),
        held_(tree, survey, s),
        in_storage_(tree, survey) {}

  Stmt make() {
    Expr stores, loads;  // of PredicateStores and PredicateLoads
    std::vector<Expr> blends;
    for (const Guard &g : at_.guards) {
      const Expr c = condition(g);
      if (g.rest == Guard::Loads) stores = with_guard(stores, c);
      if (g.rest == Guard::Stores) loads = with_guard(loads, c);
      if (g.rest == Guard::Blends) blends.push_back(c);
    }
    // What the stage reads of itself lies in boxes that its predicated stores do not grow.
    GuardedReads guarded_own(stores, func_.name, true), guarded(loads, func_.name, false);
    const StageNest &nest = tree_.nest(stage_);
    StreamedReads streamed(nest.stream_loads);
    std::vector<CellWrite> writes = cell_writes(tree_.definition(stage_));
    const std::string prefix = func_.name + ".s" + std::to_string(stage_.stage);
    Lets lets;
    bool has_undef = false;
    std::vector<Expr> written_where;  // of the values of one cell; none: always
    for (CellWrite &w : writes) {
      written_where.clear();
      for (WrittenValue &v : written_values(func_.name, tree_.definition(stage_), w)) {
        w.values[written_where.size()] = v.value;
        written_where.push_back(v.where);
      }
      for (Expr &e : w.cell) e = substitute(at_.dims, e);
      std::vector<Expr> cell;
      for (const Expr &e : w.cell) cell.push_back(held_(e));
      held_.hold(func_.name, cell, w.cell);
      NamedReads index(lets, prefix + ".read.");
      for (size_t d = 0; d < cell.size(); d++) w.cell[d] = index(reported(cell[d]));
      for (size_t v = 0; v < w.values.size(); v++) {
        Expr &value = w.values[v];
        value = placed(value);
        has_undef = has_undef || split_undef(value).condition.defined();
        for (const Expr &c : blends) {
          const Expr old = read_own(value.type(), w.cell, static_cast<int>(v));
          value = make_select(c, make_intrinsic(value.type(), intrinsic::kLikely, {value}),
                              make_intrinsic(old.type(), intrinsic::kGuarded, {make_not(c), old}));
        }
        value = streamed(guarded(guarded_own(value)));
      }
      NamedReads reads(lets, prefix + ".read.");
      for (Expr &e : w.values) e = reads(e);
    }
    const bool in_parts = std::any_of(written_where.begin(), written_where.end(),
                                      [](const Expr &where) { return where.defined(); });
    // Predicated stores evaluate outside of their condition; what iterations share is read inside.
    const SharedBy shared = shared_by(tree_, stage_);
    const bool evaluates_outside =
        stores.defined() && writes.size() == 1 && !has_undef && !in_parts && !shared.any();
    for (size_t v = 0; evaluates_outside && v < writes[0].values.size(); v++) {
      name_value(lets, writes[0].values[v], prefix + ".value." + std::to_string(v));
    }
    Stmt body = writes.size() == 1 ? provide_parts(writes[0], std::move(written_where))
                                   : provide_together(std::move(writes));
    if (nest.stream_stores) body = streamed_provide(body);
    if (!evaluates_outside) body = make_let_stmts(lets, body);
    if (shared.any()) body = make_atomic(body, !shared.threads);
    if (stores.defined()) body = make_if(stores, body);
    if (evaluates_outside) body = make_let_stmts(lets, body);
    for (auto it = at_.guards.rbegin(); it != at_.guards.rend(); ++it) {
      if (it->rest == Guard::Nothing) body = make_if(condition(*it), body);
    }
    return body;
  }

 private:
  Expr reported(const Expr &e) { return in_storage_(tracer_.with_loads(e)); }
  // What the definition says, at the loops' place.
  Expr placed(const Expr &e) { return reported(held_(substitute(at_.dims, e))); }
  // Conditions are over loops and symbols already.
  Expr condition(const Guard &g) { return reported(held_(g.condition)); }

  std::vector<Expr> stored_at(std::vector<Expr> cell) const {
    in_storage_.place(stage_.func, cell);
    return cell;
  }
  Expr read_own(Type t, const std::vector<Expr> &cell, int value_index) const {
    return make_func_call(t, func_.name, stored_at(cell), value_index);
  }

  // A value that stays what it is is no store: another iteration may write it meanwhile.
  Stmt store(const std::vector<Expr> &cell, std::vector<Expr> values) const {
    for (size_t v = 0; tracer_.traces_stores(stage_.func) && v < values.size(); v++) {
      const int index = static_cast<int>(v);
      if (equal(values[v], read_own(values[v].type(), cell, index))) continue;
      values[v] = tracer_.stored(stage_.func, index, values[v], cell);
    }
    return make_provide(func_.name, stored_at(cell), std::move(values));
  }

  // Values that are written under conditions of their own, these being what the definition says:
  //   {a where p == 0, b where p != 0}  ->  if p == 0 { f(i) = {a, f(i).1} }
  //                                         else { f(i) = {f(i).0, b} }
  Stmt provide_parts(CellWrite write, std::vector<Expr> where) {
    for (size_t v = 0; v < where.size(); v++) {
      if (!where[v].defined() || is_const(where[v])) continue;
      const Expr condition = where[v], negated = simplify(make_not(condition));
      std::vector<Expr> then_where = where, else_where = where;
      for (size_t u = v; u < where.size(); u++) {
        if (!where[u].defined()) continue;
        if (equal(where[u], condition) || equal(where[u], negated)) {
          const bool same = equal(where[u], condition);
          then_where[u] = same ? make_true() : make_false();
          else_where[u] = same ? make_false() : make_true();
        } else if (condition->op == Op::Eq && is_const(condition->args[1])) {
          if (const VariableNode *variable = as_variable(condition->args[0])) {
            then_where[u] = simplify(substitute(variable->name, condition->args[1], where[u]));
          }
        }
      }
      const Stmt then = provide_parts(write, std::move(then_where));
      const Stmt otherwise = provide_parts(std::move(write), std::move(else_where));
      return make_if(placed(condition), then, otherwise);
    }
    bool any = false;
    for (size_t v = 0; v < where.size(); v++) {
      if (where[v].defined() && is_false(where[v])) {
        write.values[v] = read_own(write.values[v].type(), write.cell, static_cast<int>(v));
      } else {
        any = true;
      }
    }
    return any ? provide(write) : make_block({});
  }

  // Where a value is undef, nothing is written; of several values those keep what they are.
  Stmt provide(const CellWrite &write) const {
    std::vector<Expr> values = write.values, conditions;
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
      const Stmt body = store(write.cell, std::move(values));
      return is_true(conditions[0]) ? body : make_if(conditions[0], body);
    }
    for (size_t i = 0; i < values.size(); i++) {
      if (is_true(conditions[i])) continue;
      const Expr old = read_own(values[i].type(), write.cell, static_cast<int>(i));
      values[i] = is_false(conditions[i]) ? old : make_select(conditions[i], values[i], old);
    }
    return store(write.cell, std::move(values));
  }

  // All indices and values are known before the first cell is written: they may read what is
  // overwritten.
  Stmt provide_together(std::vector<CellWrite> writes) const {
    Lets lets;
    auto bind = [&](Expr &e, const std::string &suffix) {
      if (!is_const(e) && !as_variable(e)) name_value(lets, e, func_.name + ".scattered." + suffix);
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
        if (calls_func(writes[i].cell[d], func_.name)) {
          bind(writes[i].cell[d], which + ".index." + std::to_string(d));
        }
      }
      provides.push_back(provide(writes[i]));
    }
    return make_let_stmts(lets, make_block(std::move(provides)));
  }

  const LoopTree &tree_;
  const Tracer &tracer_;
  const StageId stage_;
  const FuncDef &func_;
  const StageSurvey &at_;
  HeldIndices held_;
  StorageAccesses in_storage_;
};

}  // namespace

Stmt stage_body(const LoopTree &tree, const Survey &survey, const Tracer &tracer,
                const StageId &s) {
  if (const CallNode *call = as_extern_stage(tree.definition(s))) {
    const StageSurvey &at = survey.stages[s.func][s.stage];
    Stmt body = extern_stage_call(tree, survey, s.func, *call, at.box);
    for (auto it = at.guards.rbegin(); it != at.guards.rend(); ++it) {
      body = make_if(it->condition, body);
    }
    return body;
  }
  return StageBody(tree, survey, tracer, s).make();
}

}  // namespace polyhalite
