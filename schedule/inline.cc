#include "schedule/inline.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "polyhalite/error.h"
#include "schedule/specialize.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

const CallNode *as_func_call(const Expr &e) {
  const CallNode *call = as_call(e);
  return call && call->kind == CallKind::Func ? call : nullptr;
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

// Distinct nodes; inlining doubles an expression each time a Func reads another at two places.
void require_compact(const FuncDef &f, int64_t *work) {
  constexpr int kMaxNodes = 100000;
  int nodes = 0;
  for (const StageDef &s : f.stages) {
    for_each_expr(s, [&](const Expr &e) { for_each_node(e, [&](const Expr &) { nodes++; }); });
    if (nodes <= kMaxNodes && (!work || nodes <= *work)) continue;
    if (work) *work = 0;
    user_error("the definition of '" + f.name + "' has " + std::to_string(nodes) +
                   " operations after its producers are inlined",
               "at most " + std::to_string(kMaxNodes) + " can be compiled in reasonable time",
               "give some of the Funcs that it is made of a compute_root() or compute_at()",
               s.where);
  }
  if (work) *work -= nodes;
}

void substitute_pure(Algorithm &a, const std::set<std::string> &inlined, int64_t *work) {
  std::vector<FuncDef> kept;
  kept.reserve(a.funcs.size());
  std::vector<std::unique_ptr<FuncDef>> substituted;
  std::map<std::string, const FuncDef *> bodies;
  for (FuncDef &f : a.funcs) {
    InlineCalls rewriter(bodies);
    for (StageDef &s : f.stages) rewrite_stage(s, rewriter);
    require_compact(f, work);
    // What fails outside of its branches has no value to put in the place of a call.
    const bool has_value = f.stages[0].fail.empty() && !is_extern_stage(f.stages[0]);
    if (f.num_definitions() == 1 && inlined.count(f.name) && has_value) {
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

// Which no Func has, nor a copy that is about to become one.
std::string unused_name(std::string name, const Algorithm &a, const std::vector<FuncDef> &copies) {
  auto is_used = [&] {
    return a.index_of(name) >= 0 ||
           std::any_of(copies.begin(), copies.end(),
                       [&](const FuncDef &copy) { return copy.name == name; });
  };
  while (is_used()) name += "$";
  return name;
}

std::string copy_name(const std::string &func, const std::string &caller, int stage) {
  return func + "$" + caller + (stage > 0 ? "$u" + std::to_string(stage - 1) : "");
}

// A copy of Func `index` for each stage that calls it; the first keeps the original. `serve` is
// told which copy serves which stage.
using Serve = std::function<void(const std::string &copy, const std::string &caller, int stage)>;

void copy_for_callers(Materialised &m, size_t index, const Serve &serve) {
  std::vector<FuncDef> &funcs = m.algorithm.funcs;
  const FuncDef original = funcs[index];
  std::vector<FuncDef> copies;
  bool first = true;
  for (size_t c = index + 1; c < funcs.size(); c++) {
    for (size_t s = 0; s < funcs[c].stages.size(); s++) {
      if (!called_funcs(funcs[c].stages[s]).count(original.name)) continue;
      const int stage = static_cast<int>(s);
      if (first) {
        first = false;
        serve(original.name, funcs[c].name, stage);
        continue;
      }
      FuncDef copy = original;
      copy.name = unused_name(copy_name(original.name, funcs[c].name, stage), m.algorithm, copies);
      RenameCalls rename(original.name, copy.name);
      for (StageDef &d : copy.stages) rewrite_stage(d, rename);
      rewrite_stage(funcs[c].stages[s], rename);
      m.origin[copy.name] = m.origin_of(original.name);
      serve(copy.name, funcs[c].name, stage);
      copies.push_back(std::move(copy));
    }
  }
  funcs.insert(funcs.begin() + index + 1, copies.begin(), copies.end());
}

// Consumers first: a copied Func's own callees then see the copy as one more caller.
void copy_per_caller(Materialised &m, const std::set<std::string> &inlined) {
  for (size_t i = m.algorithm.funcs.size(); i-- > 0;) {
    if (!inlined.count(m.algorithm.funcs[i].name)) continue;
    copy_for_callers(m, i, [](const std::string &, const std::string &, int) {});
  }
}

// The stage, or branch of one, (or a copy made for one) inside of whose nest something is computed.
struct Context {
  std::string func;
  int stage = 0;
  bool operator==(const Context &o) const { return func == o.func && stage == o.stage; }
};

class StageCopies {
 public:
  StageCopies(Materialised m, const std::set<std::string> &inlined, const ComputeTargets &targets)
      : m_(std::move(m)), inlined_(inlined), targets_(targets) {}

  Materialised run() {
    // Consumers first: they say which copies of their producers there are.
    for (size_t i = m_.algorithm.funcs.size(); i-- > 0;) split(i);
    return std::move(m_);
  }

 private:
  void split(size_t index) {
    const FuncDef original = m_.algorithm.funcs[index];
    const std::string &origin = m_.origin_of(original.name);
    if (inlined_.count(origin)) {
      // It stands where its caller does, of which there may be copies by now.
      copy_for_callers(m_, index,
                       [&](const std::string &copy, const std::string &caller, int stage) {
                         home_[copy] = {caller, stage};
                       });
      return;
    }
    const auto target = targets_.find(origin);
    if (target == targets_.end()) return;
    std::vector<FuncDef> copies;
    std::vector<std::pair<Context, std::string>> names;  // of the copy for a context
    for (size_t c = index + 1; c < m_.algorithm.funcs.size(); c++) {
      FuncDef &caller = m_.algorithm.funcs[c];
      for (size_t s = 0; s < caller.stages.size(); s++) {
        if (!called_funcs(caller.stages[s]).count(original.name)) continue;
        const int stage = static_cast<int>(s);
        const auto around = context({caller.name, stage}, target->second);
        if (!around) continue;
        auto known = std::find_if(names.begin(), names.end(),
                                  [&](const auto &n) { return n.first == *around; });
        if (known == names.end()) {
          std::string name = original.name;
          if (!names.empty()) {
            const bool is_branch = caller.definition_of(stage) != stage;
            name += "$" + caller.name +
                    (is_branch ? "$b"
                     : s == 0  ? ""
                               : "$u") +
                    (is_branch ? std::to_string(s)
                     : s == 0  ? ""
                               : std::to_string(s - 1));
            name = unused_name(name, m_.algorithm, copies);
            copies.push_back(original);
            copies.back().name = name;
            RenameCalls rename(original.name, name);
            for (StageDef &d : copies.back().stages) {
              rewrite_stage(d, [&](const Expr &e) { return rename(e); });
            }
            m_.origin[name] = m_.origin_of(original.name);
            m_.of_other_stages.insert(name);
          }
          home_[name] = {caller.name, stage};
          names.push_back({*around, name});
          known = names.end() - 1;
        }
        if (known->second == original.name) continue;
        RenameCalls rename(original.name, known->second);
        rewrite_stage(caller.stages[s], [&](const Expr &e) { return rename(e); });
      }
    }
    auto &funcs = m_.algorithm.funcs;
    funcs.insert(funcs.begin() + index + 1, copies.begin(), copies.end());
  }

  // Which part of `target` (or of its copies) a stage runs in; nullopt: in none.
  std::optional<Context> context(const Context &user, const std::string &target) const {
    if (m_.origin_of(user.func) == target) return user;
    const auto home = home_.find(user.func);
    if (home == home_.end()) return std::nullopt;
    return context(home->second, target);
  }

  Materialised m_;
  const std::set<std::string> &inlined_;
  const ComputeTargets &targets_;
  std::map<std::string, Context> home_;  // of Funcs inside of others: a stage that uses it there
};

}  // namespace

Materialised copy_per_stage(Materialised m, const std::set<std::string> &inlined,
                            const ComputeTargets &targets) {
  return StageCopies(std::move(m), inlined, targets).run();
}

std::set<std::string> needed_funcs(const Algorithm &a, const std::string &func) {
  std::set<std::string> found;
  std::vector<std::string> open = {func};
  while (!open.empty()) {
    const FuncDef &f = *a.find(open.back());
    open.pop_back();
    for (const StageDef &s : f.stages) {
      for (const std::string &name : called_funcs(s)) {
        if (name != func && found.insert(name).second) open.push_back(name);
      }
    }
  }
  return found;
}

std::set<std::string> called_funcs(const StageDef &stage) {
  std::set<std::string> names;
  for_each_expr(stage, [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      if (const CallNode *call = as_func_call(n)) names.insert(call->name);
    });
  });
  return names;
}

void inline_into_stage(Algorithm &a, int func, int stage, const std::set<std::string> &names) {
  // Producers first: each body is complete before the next one uses it.
  std::vector<std::unique_ptr<FuncDef>> inlined;
  std::map<std::string, const FuncDef *> bodies;
  for (int f = 0; f < func; f++) {
    if (!names.count(a.funcs[f].name)) continue;
    inlined.push_back(std::make_unique<FuncDef>(a.funcs[f]));
    InlineCalls rewriter(bodies);
    rewrite_stage(inlined.back()->stages[0], rewriter);
    bodies[inlined.back()->name] = inlined.back().get();
  }
  InlineCalls rewriter(bodies);
  rewrite_stage(a.funcs[func].stages[stage], rewriter);
  require_compact(a.funcs[func], nullptr);
}

Materialised inline_funcs(const Algorithm &algorithm, const std::set<std::string> &inlined,
                          int64_t *work) {
  Materialised m{algorithm, {}};
  substitute_pure(m.algorithm, inlined, work);
  for (FuncDef &f : m.algorithm.funcs) simplify_branches(f);
  drop_unused(m.algorithm);
  copy_per_caller(m, inlined);
  return m;
}

}  // namespace polyhalite
