#include "schedule/memoize.h"

#include <algorithm>
#include <functional>
#include <set>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"
#include "schedule/inline.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

// Is e one value for the whole run?
bool is_fixed(const Expr &e) {
  bool fixed = true;
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (v) fixed &= v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
    const CallNode *c = as_call(n);
    if (c) fixed &= c->kind != CallKind::Func && c->kind != CallKind::Image;
  });
  return fixed;
}

class KeyBuilder {
 public:
  KeyBuilder(const Algorithm &a, int func, const SourceLocation &where)
      : a_(a), name_(a.funcs[func].name), where_(where) {
    func_values(func);
  }
  std::vector<Expr> take() { return std::move(key_); }

 private:
  void func_values(int func) {
    if (func < 0 || !seen_.insert(func).second) return;
    for (const StageDef &s : a_.funcs[func].stages) {
      for (const Expr &e : s.args) value(e);
      for (const Expr &e : s.values) value(e);
      for (const ReductionVariable &r : s.rvars) {
        value(r.min);
        value(r.extent);
      }
      value(s.predicate);
      value(s.when);
    }
  }

  void value(const Expr &e) {
    if (!e.defined() || !visited_.insert(e.get()).second) return;
    kept_.push_back(e);  // no later expression gets its address
    if (const CallNode *tag = as_intrinsic(e, intrinsic::kMemoizeTag)) {
      if (tag->args.size() > 1) {
        for (size_t i = 1; i < tag->args.size(); i++) named(tag->args[i]);
        return;
      }
      if (is_fixed(tag->args[0]) && !tag->type.is_handle()) return add(tag->args[0]);
    }
    if (const VariableNode *v = as_variable(e)) return variable(e, *v);
    if (const CallNode *c = as_call(e)) {
      if (c->kind == CallKind::Image) {
        refuse("it reads '" + c->name + "', whose elements may differ in the next run");
      }
      if (c->kind == CallKind::Func) func_values(a_.index_of(c->name));
    }
    for (const Expr &arg : e->args) value(arg);
  }

  void variable(const Expr &e, const VariableNode &v) {
    if (v.kind == VariableKind::BufferField && v.image) return;  // of a constant
    if (v.kind != VariableKind::Param && v.kind != VariableKind::BufferField) return;
    if (v.type.is_handle()) {
      refuse("it depends on the handle '" + v.name + "', and what that points to may change");
    }
    add(e);
  }

  // A key that memoize_tag gives.
  void named(const Expr &e) {
    if (is_fixed(e)) return add(e);
    user_error("cannot memoize '" + name_ + "': a key of memoize_tag() is no scalar of the run",
               "keys are compared once for each production", "use Params, shapes and constants",
               where_);
  }

  void add(const Expr &e) {
    const bool known =
        std::any_of(key_.begin(), key_.end(), [&](const Expr &k) { return equal(k, e); });
    if (!known && !is_const(e)) key_.push_back(e);
  }

  [[noreturn]] void refuse(const std::string &why) const {
    user_error("cannot memoize '" + name_ + "'", why,
               "say with memoize_tag(value, keys...) what stands for it", where_);
  }

  const Algorithm &a_;
  const std::string &name_;
  const SourceLocation &where_;
  std::set<int> seen_;
  std::set<const ExprNode *> visited_;
  std::vector<Expr> kept_;
  std::vector<Expr> key_;
};

bool same_values(const FuncDef &a, const FuncDef &b) {
  if (a.types != b.types || a.args != b.args || a.num_definitions() != b.num_definitions()) {
    return false;
  }
  RenameCalls renamed(b.name, a.name);
  auto same = [&](const Expr &x, const Expr &y) {
    if (!x.defined() || !y.defined()) return x.defined() == y.defined();
    return equal(x, renamed(y));
  };
  auto same_lists = [&](const std::vector<Expr> &x, const std::vector<Expr> &y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  };
  for (int i = 0; i < a.num_definitions(); i++) {
    const StageDef &s = a.stages[i], &t = b.stages[i];
    if (!same_lists(s.args, t.args) || !same_lists(s.values, t.values) ||
        !same(s.predicate, t.predicate) || s.rvars.size() != t.rvars.size()) {
      return false;
    }
    for (size_t r = 0; r < s.rvars.size(); r++) {
      if (s.rvars[r].var != t.rvars[r].var || !same(s.rvars[r].min, t.rvars[r].min) ||
          !same(s.rvars[r].extent, t.rvars[r].extent)) {
        return false;
      }
    }
  }
  return true;
}

// The kinds of the loops around the place.
bool is_in_vector_loop(const LoopTree &t, int level) {
  std::function<bool(const std::vector<Tree> &, bool)> look = [&](const std::vector<Tree> &nodes,
                                                                  bool vector) {
    for (const Tree &n : nodes) {
      const bool is_vector =
          vector || (n->kind == TreeNode::Loop && t.loops[n->loop].kind == LoopKind::Vector);
      if (n->kind == TreeNode::Loop && n->loop == level) return is_vector;
      if (look(n->children, is_vector) || look(n->otherwise, is_vector)) return true;
    }
    return false;
  };
  return level != kRoot && look(t.roots, false);
}

// Does `holds` hold of one of the nodes, or of one below them?
bool any_node(const std::vector<Tree> &nodes, const std::function<bool(const TreeNode &)> &holds) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const Tree &n) {
    return holds(*n) || any_node(n->children, holds) || any_node(n->otherwise, holds);
  });
}

// An async Func that is produced inside loops of func number `func` by a task around them, -1 where
// there is none.
int async_inside(const LoopTree &t, int func) {
  int found = -1;
  any_node(t.roots, [&](const TreeNode &fork) {
    if (fork.kind != TreeNode::Fork || fork.stage.func == func) return false;
    const int async = fork.stage.func;
    const bool inside = any_node(fork.children, [&](const TreeNode &n) {
      if (n.kind != TreeNode::Loop || t.loops[n.loop].stage.func != func) return false;
      return any_node(n.children, [&](const TreeNode &s) {
        return s.kind == TreeNode::Stage && s.stage.func == async;
      });
    });
    if (inside) found = async;
    return inside;
  });
  return found;
}

bool shares_loops(const LoopTree &t, int func) {
  for (const auto &stages : t.nests) {
    for (const StageNest &nest : stages) {
      for (const SharedLoop &s : nest.shared) {
        if (s.leader.func == func) return true;
      }
    }
  }
  return std::any_of(t.nests[func].begin(), t.nests[func].end(),
                     [](const StageNest &n) { return !n.shared.empty(); });
}

void check_memoized(const LoopTree &t, int f) {
  const FuncDef &def = t.algorithm.funcs[f];
  const FuncStorage &storage = t.storage[f];
  const FuncPlacement &place = t.placements[f];
  const std::string what = "cannot memoize '" + def.name + "'";
  if (t.algorithm.is_output(def.name)) {
    user_error(what + ": it is an output of the pipeline", "an output's memory is the caller's",
               "memoize a Func that the output copies", storage.memoize_where);
  }
  if (place.compute != place.store) {
    user_error(what + ": it is stored at another level than it is computed",
               "what is kept is a whole storage, as one production leaves it",
               "drop store_at or store_root", storage.memoize_where);
  }
  if (place.hoist) {
    user_error(what + ": its storage's memory is hoisted",
               "what is kept is a whole storage, as one production leaves it",
               "drop hoist_storage and ring_buffer", storage.memoize_where);
  }
  for (const StorageDimension &d : storage.dims) {
    if (d.fold == 0) continue;
    user_error(what + ": its storage is folded",
               "what is kept is a whole storage, as one production leaves it", "drop fold_storage",
               storage.memoize_where);
  }
  if (shares_loops(t, f)) {
    user_error(what + ": it is computed with another Func",
               "where the values are kept, its loops do not run, and the other's must",
               "drop compute_with", storage.memoize_where);
  }
  if (is_in_vector_loop(t, place.compute)) {
    user_error(what + ": it is computed inside a vector loop",
               "lanes have no productions of their own",
               "compute it at a loop around the vector loop", storage.memoize_where);
  }
  for (const StageDef &s : def.stages) {
    for (const std::string &producer : called_funcs(s)) {
      const int p = t.algorithm.index_of(producer);
      if (p < 0 || p == f || !t.placements[p].async) continue;
      user_error(what + ": it reads '" + producer + "', which is async",
                 "what waits for that runs also where the values are kept",
                 "drop async of '" + producer + "'", storage.memoize_where);
    }
  }
  if (const int p = async_inside(t, f); p >= 0) {
    const std::string producer = "'" + t.algorithm.funcs[p].name + "'";
    user_error(what + ": a task around it computes " + producer + " inside of it",
               "where the values are kept, neither task may wait for the other",
               "drop async of " + producer + ", or store it inside a loop of '" + def.name + "'",
               storage.memoize_where);
  }
  memoization_key(t.algorithm, f, storage.memoize_where);
}

}  // namespace

std::vector<Expr> memoization_key(const Algorithm &a, int func, const SourceLocation &where) {
  return KeyBuilder(a, func, where).take();
}

int memoized_as(const LoopTree &t, int func) {
  for (int f = 0; f < func; f++) {
    if (t.storage[f].memoized && same_values(t.algorithm.funcs[f], t.algorithm.funcs[func])) {
      return f;
    }
  }
  return func;
}

void check_memoized(const LoopTree &t) {
  ErrorList errors;
  for (size_t f = 0; f < t.storage.size(); f++) {
    if (t.storage[f].memoized) errors.attempt([&] { check_memoized(t, static_cast<int>(f)); });
  }
  errors.raise();
}

}  // namespace polyhalite
