#include "codegen/passes/skip_stages.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "codegen/ir/visit.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// Conditions; an undefined one never holds.

Expr either(const Expr &a, const Expr &b) {
  if (!a.defined() || is_true(b)) return b;
  if (!b.defined() || is_true(a) || equal(a, b)) return a;
  return make_binary(Op::Or, a, b);
}

Expr both(const Expr &a, const Expr &b) {
  if (!a.defined() || !b.defined()) return Expr();
  if (is_true(a)) return b;
  return is_true(b) ? a : make_binary(Op::And, a, b);
}

// Where a statement reads a Func, in terms of conditions that the production can ask.
class Needs {
 public:
  using CanAsk = std::function<bool(const Expr &condition)>;

  Needs(const std::string &func, CanAsk can_ask) : func_(func), can_ask_(std::move(can_ask)) {}

  Expr of(const Stmt &s) {
    if (s->kind == StmtKind::Produce && s->name == func_) return Expr();
    Expr need;
    if (s->kind == StmtKind::If) {
      // What a guard protects from being read is not read in front of it either.
      const Expr then_case = without_reads(of(s->body[0]));
      const Expr else_case = s->body.size() > 1 ? without_reads(of(s->body[1])) : Expr();
      need = where(s->args[0], then_case, else_case);
    } else {
      for (const Stmt &b : s->body) need = either(need, of(b));
      for (const Expr &e : s->args) need = either(need, of(e));
    }
    // An event of a trace names its Func and needs nothing of it.
    const bool event = s->kind == StmtKind::Evaluate && as_intrinsic(s->args[0], intrinsic::kTrace);
    const bool by_name = (s->kind == StmtKind::Evaluate && !event) || s->kind == StmtKind::Assert;
    return by_name && names_func(s) ? make_true() : need;
  }

 private:
  Expr of(const Expr &e) {
    auto known = memo_.find(e.get());
    if (known != memo_.end()) return known->second;
    Expr need;
    const CallNode *call = as_call(e);
    if (call && call->kind == CallKind::Func && call->name == func_) {
      need = make_true();
    } else if (e->op == Op::Select) {
      need = where(e->args[0], of(e->args[1]), of(e->args[2]));
    } else {
      for (const Expr &a : e->args) need = either(need, of(a));
    }
    return memo_[e.get()] = need;
  }

  // Of `condition`, and of what is done where it holds and where it does not.
  Expr where(const Expr &condition, const Expr &then_case, const Expr &else_case) {
    const Expr always = of(condition);
    if (!then_case.defined() && !else_case.defined()) return always;
    if (!can_ask_(condition)) return either(always, either(then_case, else_case));
    return either(always, either(both(condition, then_case), both(make_not(condition), else_case)));
  }

  static Expr without_reads(const Expr &need) {
    bool reads = false;
    if (need.defined()) {
      for_each_node(need, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        reads = reads || (c && (c->kind == CallKind::Func || c->kind == CallKind::Image));
      });
    }
    return reads ? make_true() : need;
  }

  // Other forms of access know a buffer by its name.
  bool names_func(const Stmt &s) const {
    bool found = false;
    for_each_operand(s, [&](const Expr &operand) {
      for_each_node(operand, [&](const Expr &n) {
        const ImmNode *text = n->op == Op::StringImm ? as_imm(n) : nullptr;
        const VariableNode *v = as_variable(n);
        const std::string &name = text ? text->s : v ? v->name : std::string();
        found = found || name == func_ || name.compare(0, func_.size() + 1, func_ + ".") == 0;
      });
    });
    return found;
  }

  const std::string &func_;
  const CanAsk can_ask_;
  std::unordered_map<const ExprNode *, Expr> memo_;
};

std::set<std::string> provided_funcs(const Stmt &s) {
  std::set<std::string> names;
  for_each_stmt(s, [&](const Stmt &t) {
    if (t->kind == StmtKind::Provide) names.insert(t->name);
  });
  return names;
}

// Also all that extern stages are told of: what they write is among it.
std::set<std::string> written_funcs(const Stmt &s) {
  std::set<std::string> names = provided_funcs(s);
  for_each_stmt(s, [&](const Stmt &t) {
    if (t->kind != StmtKind::Evaluate) return;
    for_each_node(t->args[0], [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (c && c->kind == CallKind::Func) names.insert(c->name);
    });
  });
  return names;
}

// The productions of a Func below its allocation.
class Productions {
 public:
  Productions(const Stmt &s, const std::string &func) : func_(func) { find(s, true); }

  bool found() const { return count_ > 0; }
  /// False where one may not be left out: it does more than write the Func, another task waits for
  /// it, or it is part of a statement that counts on it.
  bool can_be_skipped() const { return simple_; }

 private:
  void find(const Stmt &s, bool simple) {
    switch (s->kind) {
      case StmtKind::Block:
      case StmtKind::Let:
      case StmtKind::For:
      case StmtKind::If:
      case StmtKind::Allocate:
      case StmtKind::Produce:
      case StmtKind::Profile:
        break;
      default:
        simple = false;
    }
    if (s->kind == StmtKind::Produce && s->name == func_) {
      count_++;
      simple_ = simple_ && simple && writes_only_func(s) && !meets_others(s);
      return;
    }
    for (const Stmt &b : s->body) find(b, simple);
  }

  bool writes_only_func(const Stmt &s) const {
    std::set<std::string> own = {func_};
    for_each_stmt(s, [&](const Stmt &t) {
      if (t->kind == StmtKind::Allocate) own.insert(func_of_buffer(t->name));
    });
    const std::set<std::string> written = provided_funcs(s);
    return std::includes(own.begin(), own.end(), written.begin(), written.end());
  }

  // Does it wait for a task that goes on elsewhere, or let one go on?
  static bool meets_others(const Stmt &s) {
    std::set<std::string> own;
    bool meets = false;
    for_each_stmt(s, [&](const Stmt &t) {
      if (t->kind == StmtKind::Fork) own.insert(t->semaphores.begin(), t->semaphores.end());
      const bool waits = t->kind == StmtKind::Acquire || t->kind == StmtKind::Release;
      meets = meets || (waits && !own.count(t->name));
    });
    return meets;
  }

  const std::string &func_;
  int count_ = 0;
  bool simple_ = true;
};

class GuardProductions : public StmtRewriter {
 public:
  GuardProductions(const std::string &func, Expr condition)
      : func_(func), condition_(std::move(condition)) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (is_guarded(s)) return s;
    if (s->kind == StmtKind::Produce && s->name == func_) return make_if(condition_, s);
    return rewrite_children(s);
  }

 private:
  bool is_guarded(const Stmt &s) const {
    return s->kind == StmtKind::If && s->body.size() == 1 &&
           s->body[0]->kind == StmtKind::Produce && s->body[0]->name == func_ &&
           equal(s->args[0], condition_);
  }

  const std::string &func_;
  const Expr condition_;
};

class SkipStages : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    switch (s->kind) {
      case StmtKind::For: {
        const bool vector = s->loop_kind == LoopKind::Vector;
        bound_.insert(s->name);
        depth_++;
        vectors_ += vector;
        const Stmt out = rewrite_children(s);
        vectors_ -= vector;
        depth_--;
        bound_.erase(s->name);
        return out;
      }
      case StmtKind::Let: {
        bound_.insert(s->name);
        const Stmt out = rewrite_children(s);
        bound_.erase(s->name);
        return out;
      }
      case StmtKind::Allocate: {
        const std::string func = func_of_buffer(s->name);
        const bool outermost = depth_of_.emplace(func, depth_).second;
        // What stands inside first: where a consumer does not run, it needs nothing.
        const Stmt out = rewrite_children(s);
        if (!outermost) return out;
        depth_of_.erase(func);
        return guarded(out, func);
      }
      case StmtKind::Fork:
        return tasks(s);
      case StmtKind::Kernel:  // its barriers stand where all threads come by
        return s;
      default:
        return rewrite_children(s);
    }
  }

 private:
  // What one task writes, another one knows only behind the semaphore that it waits for.
  Stmt tasks(const Stmt &fork) {
    std::vector<Stmt> bodies;
    for (const Stmt &task : fork->body) {
      const std::set<std::string> around = elsewhere_;
      for (const Stmt &other : fork->body) {
        if (!other.same_as(task)) elsewhere_.merge(written_funcs(other));
      }
      bodies.push_back((*this)(task));
      elsewhere_ = around;
    }
    return with_parts(fork, fork->args, std::move(bodies));
  }

  Stmt guarded(const Stmt &allocation, const std::string &func) const {
    const Stmt &body = allocation->body[0];
    const Productions productions(body, func);
    // Lanes differ in what they need.
    if (vectors_ > 0 || !productions.found() || !productions.can_be_skipped()) return allocation;
    const std::set<std::string> written = written_funcs(body);
    Needs needs(func, [&](const Expr &e) { return is_fixed(e, written); });
    Expr condition = needs.of(body);
    if (!condition.defined()) return allocation;
    condition = simplify(condition);
    if (is_true(condition)) return allocation;
    return with_parts(allocation, allocation->args, {GuardProductions(func, condition)(body)});
  }

  // Is e known at the allocation, and the same until its end?
  bool is_fixed(const Expr &e, const std::set<std::string> &written) const {
    bool fixed = true;
    for_each_node(e, [&](const Expr &n) {
      if (const VariableNode *v = as_variable(n)) {
        const bool input = v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
        fixed = fixed && (input || bound_.count(v->name));
      }
      const CallNode *c = as_call(n);
      if (!c) return;
      if (c->kind == CallKind::Extern) fixed = false;
      if (c->kind != CallKind::Func) return;
      // Stored by a loop further out: what stands beside the production may come after it.
      const auto stored = depth_of_.find(c->name);
      fixed = fixed && stored != depth_of_.end() && stored->second < depth_ &&
              !written.count(c->name) && !elsewhere_.count(c->name);
    });
    return fixed;
  }

  std::set<std::string> bound_;          // counters and symbols around
  std::set<std::string> elsewhere_;      // Funcs that other tasks write
  std::map<std::string, int> depth_of_;  // loops around the allocations of Funcs
  int depth_ = 0, vectors_ = 0;          // loops around, and those of them that are vectors
};

}  // namespace

Function skip_stages(const Function &f) {
  // A stage that is skipped may have been the last one to need others, wherever those are stored.
  constexpr int kMostRounds = 8;
  Function out = f;
  for (int i = 0; i < kMostRounds; i++) {
    const Stmt before = out.body;
    out.body = SkipStages()(before);
    if (out.body.same_as(before)) break;
  }
  return out;
}

}  // namespace polyhalite
