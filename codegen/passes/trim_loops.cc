#include "codegen/passes/trim_loops.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/ir/visit.h"
#include "codegen/passes/elimination.h"
#include "codegen/passes/steady_state.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// What a loop's counter must be for a guard to let some iteration inside through.
class Needed {
 public:
  explicit Needed(const Stmt &loop)
      : name_(loop->name), counter_(make_variable(Int(32), VariableKind::Loop, loop->name)) {
    for (Stmt s = loop->body[0]; s.defined(); s = inside(s)) {
      if (s->kind == StmtKind::For) {
        binders_.push_back({s->name, Expr(), s->args[0], s->args[1], may_be_cut(s)});
      } else if (s->kind == StmtKind::Let) {
        binders_.push_back({s->name, s->args[0], Expr(), Expr()});
      } else if (s->kind == StmtKind::If && s->body.size() == 1) {
        require(s->args[0]);
      }
    }
  }

  Expr first, end;         // null: no such limit
  bool by_counter = true;  // the counter alone decides

 private:
  // The only statement of s; undefined where there is none, or s does more.
  static Stmt inside(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::For:
      case StmtKind::Let:
      case StmtKind::Produce:
      case StmtKind::Atomic:
        return s->body[0];
      case StmtKind::If:
        return s->body.size() == 1 ? s->body[0] : Stmt();
      default:
        return Stmt();
    }
  }

  void require(const Expr &condition) {
    if (condition->op == Op::And) {
      require(condition->args[0]);
      require(condition->args[1]);
      return;
    }
    std::vector<Linear> holds;
    if (!add_inequalities(condition, true, &holds)) return;
    const std::set<std::string> names = dependences(holds, binders_);
    if (!names.count(name_)) return;
    for (const Binder &b : binders_) {
      if (b.may_be_cut && names.count(b.name)) return;
    }
    for (const Linear &l : holds) require_nonnegative(l);
  }

  // l >= 0 for some counters inside: not where l <= -1 for all of them.
  void require_nonnegative(Linear l) {
    l.scale(-1);
    l.constant -= 1;
    std::vector<Linear> fails;
    Elimination elimination(name_, binders_);
    if (!elimination.reduce(std::move(l), &fails)) return;
    if (fails.size() != 1 || !fails[0].terms.count(counter_)) return;
    by_counter = by_counter && elimination.exact();
    Linear holds = fails[0].scale(-1);
    holds.constant -= 1;
    const bool from_below = holds.terms.at(counter_) > 0;
    const Expr bound = to_expr(bound_of(holds, counter_));
    Expr &limit = from_below ? first : end;
    limit = limit.defined() ? make_binary(from_below ? Op::Max : Op::Min, limit, bound) : bound;
  }

  const std::string name_;
  const Expr counter_;
  std::vector<Binder> binders_;
};

class Trim : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;
    const bool may = s->kind == StmtKind::For && s->loop_kind == LoopKind::Serial &&
                     s->instruction.empty() && may_be_cut(s);
    if (!may) return rewrite_children(s);
    const Needed needed(s);
    if (needed.by_counter) return rewrite_children(s);
    Expr first = s->args[0], end = make_binary(Op::Add, s->args[0], s->args[1]);
    if (needed.first.defined()) first = simplify(make_binary(Op::Max, first, needed.first));
    if (needed.end.defined()) end = make_binary(Op::Min, end, needed.end);
    const std::string first_name = s->name + ".trim.min", end_name = s->name + ".trim.end";
    auto symbol = [](const std::string &name) {
      return make_variable(Int(32), VariableKind::Symbol, name);
    };
    const Expr extent = make_binary(Op::Sub, symbol(end_name), symbol(first_name));
    const Stmt loop = make_for(s->name, symbol(first_name), extent, s->loop_kind,
                               (*this)(s->body[0]), s->partition);
    return make_let_stmt(first_name, first, make_let_stmt(end_name, simplify(end), loop));
  }
};

}  // namespace

Function trim_loops(const Function &f) {
  Function out = f;
  out.body = Trim()(f.body);
  return out;
}

}  // namespace polyhalite
