#include "schedule/inline.h"

#include <algorithm>

#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

const CallNode *as_func_call(const Expr &e) {
  const CallNode *call = as_call(e);
  return call && call->kind == CallKind::Func ? call : nullptr;
}

template <typename F>
void for_each_expr(const StageDef &stage, F &&visit) {
  for (const Expr &e : stage.args) visit(e);
  for (const Expr &e : stage.values) visit(e);
  for (const ReductionVariable &r : stage.rvars) {
    visit(r.min);
    visit(r.extent);
  }
  if (stage.predicate.defined()) visit(stage.predicate);
}

void rewrite_stage(StageDef &stage, ExprRewriter &rewriter) {
  for (Expr &e : stage.args) e = rewriter(e);
  for (Expr &e : stage.values) e = rewriter(e);
  for (ReductionVariable &r : stage.rvars) {
    r.min = rewriter(r.min);
    r.extent = rewriter(r.extent);
  }
  if (stage.predicate.defined()) stage.predicate = rewriter(stage.predicate);
}

// f(x, y + 1)  ->  the body of f at (x, y + 1). Equal calls share one body.
class InlineCalls : public ExprRewriter {
 public:
  explicit InlineCalls(const std::map<std::string, const FuncDef *> &bodies) : bodies_(bodies) {}

 protected:
  Expr rewrite(const Expr &e) override {
    Expr result = rewrite_children(e);
    const CallNode *call = as_func_call(result);
    if (!call) return result;
    auto body = bodies_.find(call->name);
    if (body == bodies_.end()) return result;
    auto [known, is_new] = done_.emplace(result, Expr());
    if (is_new) {
      const FuncDef &f = *body->second;
      std::map<std::string, Expr> at;
      for (int d = 0; d < f.dimensions(); d++) {
        // f(x) of f(x) = e is e itself: what calls share stays shared.
        const VariableNode *v = as_variable(call->args[d]);
        const bool same = v && v->kind == VariableKind::Pure && v->name == f.args[d];
        if (!same) at[f.args[d]] = call->args[d];
      }
      const Expr &value = f.stages[0].values[call->value_index];
      known->second = at.empty() ? value : substitute(at, value);
    }
    return known->second;
  }

 private:
  const std::map<std::string, const FuncDef *> &bodies_;
  std::map<Expr, Expr, ExprLess> done_;
};

class RenameCalls : public ExprRewriter {
 public:
  RenameCalls(const std::string &from, const std::string &to) : from_(from), to_(to) {}

 protected:
  Expr rewrite(const Expr &e) override {
    Expr result = rewrite_children(e);
    const CallNode *call = as_func_call(result);
    if (!call || call->name != from_) return result;
    return make_func_call(call->type, to_, call->args, call->value_index);
  }

 private:
  const std::string &from_, &to_;
};

// Distinct nodes; inlining doubles an expression each time a Func reads another at two places.
void require_compact(const FuncDef &f) {
  constexpr int kMaxNodes = 100000;
  int nodes = 0;
  for (const StageDef &s : f.stages) {
    for_each_expr(s, [&](const Expr &e) { for_each_node(e, [&](const Expr &) { nodes++; }); });
    if (nodes <= kMaxNodes) continue;
    user_error("the definition of '" + f.name + "' has " + std::to_string(nodes) +
                   " operations after its producers are inlined",
               "at most " + std::to_string(kMaxNodes) + " can be compiled in reasonable time",
               "give some of the Funcs that it is made of a compute_root() or compute_at()",
               s.where);
  }
}

void substitute_pure(Algorithm &a, const std::set<std::string> &inlined) {
  std::vector<FuncDef> kept;
  kept.reserve(a.funcs.size());
  std::vector<std::unique_ptr<FuncDef>> substituted;
  std::map<std::string, const FuncDef *> bodies;
  for (FuncDef &f : a.funcs) {
    InlineCalls rewriter(bodies);
    for (StageDef &s : f.stages) rewrite_stage(s, rewriter);
    require_compact(f);
    if (f.stages.size() == 1 && inlined.count(f.name)) {
      substituted.push_back(std::make_unique<FuncDef>(std::move(f)));
      bodies[substituted.back()->name] = substituted.back().get();
    } else {
      kept.push_back(std::move(f));
    }
  }
  a.funcs = std::move(kept);
}

void drop_unused(Algorithm &a) {
  std::set<std::string> needed(a.outputs.begin(), a.outputs.end());
  for (size_t i = a.funcs.size(); i-- > 0;) {
    if (!needed.count(a.funcs[i].name)) continue;
    for (const StageDef &s : a.funcs[i].stages) {
      for (const std::string &name : called_funcs(s)) needed.insert(name);
    }
  }
  a.funcs.erase(std::remove_if(a.funcs.begin(), a.funcs.end(),
                               [&](const FuncDef &f) { return !needed.count(f.name); }),
                a.funcs.end());
}

std::string copy_name(const Algorithm &a, const std::string &func, const std::string &caller,
                      int stage) {
  std::string name = func + "$" + caller;
  if (stage > 0) name += "$u" + std::to_string(stage - 1);
  while (a.index_of(name) >= 0) name += "$";
  return name;
}

// Consumers first: a copied Func's own callees then see the copy as one more caller.
void copy_per_caller(Materialised &m, const std::set<std::string> &inlined) {
  std::vector<FuncDef> &funcs = m.algorithm.funcs;
  for (size_t i = funcs.size(); i-- > 0;) {
    if (!inlined.count(funcs[i].name)) continue;
    const FuncDef original = funcs[i];
    std::vector<FuncDef> copies;
    bool first = true;
    for (size_t c = i + 1; c < funcs.size(); c++) {
      for (size_t s = 0; s < funcs[c].stages.size(); s++) {
        if (!called_funcs(funcs[c].stages[s]).count(original.name)) continue;
        if (first) {
          first = false;
          continue;
        }
        FuncDef copy = original;
        copy.name = copy_name(m.algorithm, original.name, funcs[c].name, static_cast<int>(s));
        RenameCalls rename(original.name, copy.name);
        for (StageDef &d : copy.stages) rewrite_stage(d, rename);
        rewrite_stage(funcs[c].stages[s], rename);
        m.origin[copy.name] = original.name;
        copies.push_back(std::move(copy));
      }
    }
    funcs.insert(funcs.begin() + i + 1, copies.begin(), copies.end());
  }
}

}  // namespace

std::set<std::string> called_funcs(const StageDef &stage) {
  std::set<std::string> names;
  for_each_expr(stage, [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      if (const CallNode *call = as_func_call(n)) names.insert(call->name);
    });
  });
  return names;
}

Materialised inline_funcs(const Algorithm &algorithm, const std::set<std::string> &inlined) {
  Materialised m{algorithm, {}};
  substitute_pure(m.algorithm, inlined);
  drop_unused(m.algorithm);
  copy_per_caller(m, inlined);
  return m;
}

}  // namespace polyhalite
