#include "codegen/passes/steady_state.h"

#include <algorithm>
#include <set>

#include "codegen/ir/visit.h"
#include "codegen/passes/elimination.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/constant_bounds.h"

namespace polyhalite {

namespace {

// Cutting a loop of fewer iterations costs more than its conditions do.
constexpr int64_t kShortLoop = 16;
// Loops that are known to have no more iterations than this are left to the loops outside, as far
// as those can be cut: a radius that a Param limits is mostly less than what it may be.
constexpr int64_t kShortAtMost = 32;

bool runs_in_turn(const Stmt &loop) {
  return loop->partition != Partition::Never &&
         (loop->loop_kind == LoopKind::Serial || loop->loop_kind == LoopKind::Parallel);
}

// Is it known that the loop has few iterations, whatever the parameters are?
bool is_known_short(const Stmt &loop) {
  if (loop->partition == Partition::Always || is_const(loop->args[1])) return false;
  const auto most = constant_interval(loop->args[1]).max;
  return most && *most <= kShortAtMost;
}

// One condition at one place: a conjunction of "linear form >= 0".
struct Condition {
  std::vector<Linear> inequalities;
  Replacements replacements;
  bool is_clamp = false;
  const StmtNode *guard = nullptr;  // an If that is wholly decided
};

// Splits `condition == wanted` into inequalities. Each comparison that is understood is noted with
// its value; false where some part is not.
bool split(const Expr &condition, bool wanted, Condition *out,
           std::vector<std::pair<const ExprNode *, bool>> *decided) {
  if (const CallNode *likely = as_intrinsic(condition, intrinsic::kLikely)) {
    return split(likely->args[0], wanted, out, decided);
  }
  if (condition->op == Op::Not) return split(condition->args[0], !wanted, out, decided);
  if (condition->op == (wanted ? Op::And : Op::Or)) {
    const bool a = split(condition->args[0], wanted, out, decided);
    return split(condition->args[1], wanted, out, decided) && a;
  }
  if (!add_inequalities(condition, wanted, &out->inequalities)) return false;
  decided->emplace_back(condition.get(), wanted);
  return true;
}

// The steady value of what is likely, and when it has it; null where that is not understood.
Expr steady_value(const Expr &e, Condition *out) {
  if (const CallNode *call = as_intrinsic(e, intrinsic::kLikely))
    return strip_likely(call->args[0]);
  if (e->op == Op::Select) {
    const bool wanted = is_likely(e->args[1]);
    std::vector<std::pair<const ExprNode *, bool>> decided;
    if (!split(e->args[0], wanted, out, &decided)) return Expr();
    return steady_value(e->args[wanted ? 1 : 2], out);
  }
  const int side = is_likely(e->args[0]) ? 0 : 1;
  const Expr chosen = steady_value(e->args[side], out), other = strip_likely(e->args[1 - side]);
  if (!chosen.defined()) return chosen;
  out->inequalities.push_back(e->op == Op::Min ? linear_difference(other, chosen)
                                               : linear_difference(chosen, other));
  return chosen;
}

// Collects the conditions that a loop should be cut for.
class Collector {
 public:
  Collector(const Stmt &loop, bool guards_only)
      : counter_(make_variable(Int(32), VariableKind::Loop, loop->name)),
        name_(loop->name),
        guards_only_(guards_only),
        is_short_(!may_be_cut(loop)) {}

  void visit(const Stmt &s) {
    for (const Expr &e : s->args) {
      if (!guards_only_) visit_operand(s, e);
    }
    if (s->kind == StmtKind::If && s->body.size() == 1) visit_guard(s);
    const bool loop = s->kind == StmtKind::For, let = s->kind == StmtKind::Let;
    if (loop) {
      const bool is_to_cut = may_be_cut(s) && !is_known_short(s);
      binders_.push_back({s->name, Expr(), s->args[0], s->args[1], is_to_cut});
    }
    if (let) binders_.push_back({s->name, s->args[0], Expr(), Expr()});
    for (const Stmt &b : s->body) visit(b);
    if (loop || let) binders_.pop_back();
  }

  SteadyState result() {
    SteadyState s;
    if (replacements_.empty()) return s;
    std::vector<Linear> lower, upper;
    for (const Linear &l : inequalities_) {
      auto it = l.terms.find(counter_);
      if (it == l.terms.end()) {
        const Expr holds = make_binary(Op::Ge, to_expr(l), Expr(0));
        if (is_true(simplify(holds))) continue;
        s.invariant = s.invariant.defined() ? make_binary(Op::And, s.invariant, holds) : holds;
        continue;
      }
      const bool from_below = it->second > 0;
      keep(from_below ? lower : upper, bound_of(l, counter_), from_below);
    }
    s.first = combined(Op::Max, lower);
    s.end = combined(Op::Min, upper);
    s.replacements = replacements_;
    if (guards_.size() == 1 && replacements_from_guards_) s.only_guard = *guards_.begin();
    return s;
  }

 private:
  // Adds a bound, but keeps only the tighter one of two that differ by a constant.
  static void keep(std::vector<Linear> &bounds, const Linear &bound, bool is_lower) {
    for (Linear &b : bounds) {
      Linear gap = bound;
      gap.add(b, -1);
      if (!gap.is_constant()) continue;
      if ((gap.constant > 0) == is_lower) b = bound;
      return;
    }
    bounds.push_back(bound);
  }

  static Expr combined(Op op, const std::vector<Linear> &bounds) {
    Expr e;
    for (const Linear &b : bounds) {
      e = e.defined() ? make_binary(op, e, to_expr(b)) : to_expr(b);
    }
    return e;
  }

  void visit_operand(const Stmt &s, const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      Condition c;
      if ((n->op == Op::Min || n->op == Op::Max) && n.type() == Int(32) && is_likely(n)) {
        c.is_clamp = true;
        const Expr value = steady_value(n, &c);
        if (!value.defined()) return;
        c.replacements[{s.get(), n.get()}] = value;
        add(c);
      } else if (const CallNode *guarded = as_intrinsic(n, intrinsic::kGuarded)) {
        std::vector<std::pair<const ExprNode *, bool>> decided;
        if (!split(guarded->args[0], true, &c, &decided)) return;
        c.replacements[{s.get(), n.get()}] = guarded->args[1];
        add(c);
      } else if (n->op == Op::Select && is_likely(n->args[1]) != is_likely(n->args[2])) {
        const bool wanted = is_likely(n->args[1]);
        std::vector<std::pair<const ExprNode *, bool>> decided;
        if (!split(n->args[0], wanted, &c, &decided)) return;
        c.replacements[{s.get(), n.get()}] = n->args[wanted ? 1 : 2];
        add(c);
      }
    });
  }

  void visit_guard(const Stmt &s) {
    Condition c;
    std::vector<std::pair<const ExprNode *, bool>> decided;
    if (split(s->args[0], true, &c, &decided)) c.guard = s.get();
    for (const auto &[node, value] : decided) {
      c.replacements[{s.get(), node}] = value ? make_true() : make_false();
    }
    if (!decided.empty()) add(c);
  }

  void add(const Condition &c) {
    const std::set<std::string> names = dependences(c.inequalities, binders_);
    if (!names.count(name_)) return;
    bool again = false;  // is it asked in each iteration of a longer loop inside?
    for (const Binder &b : binders_) {
      if (b.may_be_cut && (c.is_clamp || names.count(b.name))) return;
      again = again || b.may_be_cut;
    }
    if (is_short_ && !again) return;
    std::vector<Linear> reduced;
    Elimination elimination(name_, binders_);
    for (const Linear &l : c.inequalities) {
      if (!elimination.reduce(l, &reduced)) return;
    }
    const bool moves = std::any_of(reduced.begin(), reduced.end(),
                                   [&](const Linear &l) { return l.terms.count(counter_) > 0; });
    if (!moves) return;
    inequalities_.insert(inequalities_.end(), reduced.begin(), reduced.end());
    replacements_.insert(c.replacements.begin(), c.replacements.end());
    if (c.guard && elimination.exact()) {
      guards_.insert(c.guard);
    } else {
      replacements_from_guards_ = false;
    }
  }

  const Expr counter_;
  const std::string name_;
  const bool guards_only_, is_short_;
  std::vector<Binder> binders_;
  std::vector<Linear> inequalities_;
  Replacements replacements_;
  std::set<const StmtNode *> guards_;  // decided exactly
  bool replacements_from_guards_ = true;
};

}  // namespace

bool is_likely(const Expr &e) {
  if (as_intrinsic(e, intrinsic::kLikely)) return true;
  const size_t first = e->op == Op::Select ? 1 : 0;
  return (e->op == Op::Min || e->op == Op::Max || e->op == Op::Select) &&
         is_likely(e->args[first]) != is_likely(e->args[first + 1]);
}

bool may_be_cut(const Stmt &loop) {
  int64_t n;
  const bool is_short = is_const_int(loop->args[1], &n) && n < kShortLoop;
  return (!is_short || loop->partition == Partition::Always) && runs_in_turn(loop);
}

SteadyState steady_state(const Stmt &loop, bool guards_only) {
  if (!runs_in_turn(loop)) return {};
  Collector c(loop, guards_only);
  c.visit(loop->body[0]);
  return c.result();
}

}  // namespace polyhalite
