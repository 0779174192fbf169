#include "codegen/passes/partition_loops.h"

#include <set>
#include <utility>

#include "codegen/ir/visit.h"
#include "codegen/passes/elimination.h"
#include "codegen/passes/steady_state.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Larger bodies are not copied.
constexpr size_t kMaxLoopCopied = 20000;

class ReplaceNodes : public ExprRewriter {
 public:
  ReplaceNodes(const StmtNode *stmt, const Replacements &r) : stmt_(stmt), replacements_(r) {}

 protected:
  Expr rewrite(const Expr &e) override {
    auto it = replacements_.find({stmt_, e.get()});
    // What stands instead may hold nodes that are replaced as well.
    if (it != replacements_.end()) return (*this)(it->second);
    return rewrite_children(e);
  }

 private:
  const StmtNode *stmt_;
  const Replacements &replacements_;
};

// A loop's body in the steady state.
class SteadyBody : public StmtRewriter {
 public:
  explicit SteadyBody(const Replacements &r) : replacements_(r) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    std::vector<Expr> args;
    for (const Expr &e : s->args) args.push_back(ReplaceNodes(s.get(), replacements_)(e));
    if (s->kind == StmtKind::If && is_true(args[0])) return (*this)(s->body[0]);
    std::vector<Stmt> body;
    for (const Stmt &b : s->body) body.push_back((*this)(b));
    return with_parts(s, std::move(args), std::move(body));
  }

 private:
  const Replacements &replacements_;
};

class WithoutLikely : public StmtRewriter {
 protected:
  Expr rewrite_expr(const Expr &e) override { return strip_likely(e); }
};

// likely_if_innermost(e) is likely(e) where no loop is inside of the one around it, else e.
class ResolveInnermost : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind != StmtKind::For) return rewrite_children(s);
    bool has_loop = false;
    for_each_stmt(s->body[0], [&](const Stmt &t) { has_loop |= t->kind == StmtKind::For; });
    const bool outside = innermost_;
    innermost_ = !has_loop;
    const Stmt r = rewrite_children(s);
    innermost_ = outside;
    return r;
  }

  Expr rewrite_expr(const Expr &e) override { return Resolve(innermost_)(e); }

 private:
  class Resolve : public ExprRewriter {
   public:
    explicit Resolve(bool innermost) : innermost_(innermost) {}

   protected:
    Expr rewrite(const Expr &e) override {
      const Expr r = rewrite_children(e);
      const CallNode *c = as_intrinsic(r, intrinsic::kLikelyIfInnermost);
      if (!c) return r;
      if (!innermost_) return c->args[0];
      return make_intrinsic(r.type(), intrinsic::kLikely, {c->args[0]});
    }

   private:
    bool innermost_;
  };
  bool innermost_ = false;
};

// A loop's body with one If left out.
class WithoutGuard : public StmtRewriter {
 public:
  explicit WithoutGuard(const StmtNode *guard) : guard_(guard) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    return s.get() == guard_ ? make_block({}) : rewrite_children(s);
  }

 private:
  const StmtNode *guard_;
};

// Is there nothing but loops, symbols and empty blocks?
bool does_nothing(const Stmt &s) {
  bool found = false;
  for_each_stmt(s, [&](const Stmt &t) {
    found |= t->kind == StmtKind::Provide || t->kind == StmtKind::Store ||
             t->kind == StmtKind::Evaluate || t->kind == StmtKind::Assert ||
             t->kind == StmtKind::Acquire || t->kind == StmtKind::Release;
  });
  return !found;
}

Expr plain_sum(const Expr &a, const Expr &b) { return make_binary(Op::Add, a, b); }
Expr minus(const Expr &a, const Expr &b) { return make_binary(Op::Sub, a, b); }
Expr loop_symbol(const std::string &name) {
  return make_variable(Int(32), VariableKind::Symbol, name);
}

class CutLoops : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;  // its threads do not diverge for long
    if (s->kind != StmtKind::For) return rewrite_children(s);
    if (!s->instruction.empty()) return s;  // an instruction runs whole
    const bool always = s->partition == Partition::Always;
    if (always) asked_.insert(s->name);
    const SteadyState steady = steady_state(s, in_edge_ && !always);
    if (steady.replacements.empty()) return rewrite_children(s);
    Stmt edge;
    if (steady.only_guard) edge = WithoutGuard(steady.only_guard)(s->body[0]);
    const bool shortens = edge.defined() && does_nothing(edge);
    const bool too_large = in_edge_ || size_of(s->body[0]) > kMaxLoopCopied;
    if (!shortens && too_large && !always) return rewrite_children(s);
    cut_.insert(s->name);
    const Stmt body = (*this)(SteadyBody(steady.replacements)(s->body[0]));
    if (shortens) {
      edge = Stmt();
    } else {
      if (!edge.defined()) edge = s->body[0];
      const bool outer = std::exchange(in_edge_, true);
      edge = (*this)(always ? edge : WithoutLikely()(edge));
      in_edge_ = outer;
    }
    return cut(s, steady, body, edge);
  }

 public:
  /// Every loop that is to be cut always was cut somewhere.
  void check() const {
    for (const std::string &loop : asked_) {
      if (cut_.count(loop)) continue;
      // In words that programs which expect this error look for.
      user_error("Loop Partition Policy is set to Always for " + loop +
                     ", but no loop partitioning was performed.",
                 "no guard, clamp or boundary condition in it holds throughout its middle",
                 "use Partition::Auto");
    }
  }

 private:
  // The loop s with `body` in its steady state and `edge` around it; an undefined edge does
  // nothing.
  static Stmt cut(const Stmt &s, const SteadyState &steady, const Stmt &body, const Stmt &edge) {
    const std::string first_name = s->name + ".steady.min", end_name = s->name + ".steady.end";
    const Expr min = s->args[0], end = plain_sum(min, s->args[1]);
    const Expr first = loop_symbol(first_name), last = loop_symbol(end_name);
    Expr begins = steady.first.defined() ? steady.first : min;
    if (steady.invariant.defined()) begins = make_select(steady.invariant, begins, end);
    // The end is held to the beginning, so that the three ranges are the loop's.
    begins = make_binary(Op::Max, make_binary(Op::Min, begins, end), min);
    Expr ends = steady.end.defined() ? make_binary(Op::Min, steady.end, end) : end;
    ends = make_binary(Op::Max, ends, first);

    const Expr counter = make_variable(Int(32), VariableKind::Loop, s->name);
    const bool has_prologue = steady.first.defined() || steady.invariant.defined();
    const bool has_epilogue = steady.end.defined();
    Stmt out;
    if (s->loop_kind == LoopKind::Parallel) {
      const Expr inside = make_binary(Op::And, make_binary(Op::Ge, counter, first),
                                      make_binary(Op::Lt, counter, last));
      out = make_for(s->name, min, s->args[1], s->loop_kind, make_if(inside, body, edge));
    } else {
      const Stmt middle = make_for(s->name, first, minus(last, first), s->loop_kind, body);
      auto around = [&](const Expr &from, const Expr &to) {
        return make_for(s->name, from, minus(to, from), s->loop_kind, edge);
      };
      if (!edge.defined()) {
        out = middle;
      } else if (has_prologue && has_epilogue) {
        const std::string part_name = s->name + ".edge";
        const Expr part = make_variable(Int(32), VariableKind::Loop, part_name);
        const Expr is_first = make_binary(Op::Eq, part, Expr(0));
        const Stmt edges =
            around(make_select(is_first, min, last), make_select(is_first, first, end));
        out = make_for(part_name, 0, 2, LoopKind::Serial,
                       make_block({edges, make_if(is_first, middle)}));
      } else {
        out = has_prologue ? make_block({around(min, first), middle})
                           : make_block({middle, around(last, end)});
      }
    }
    return make_let_stmt(first_name, begins, make_let_stmt(end_name, ends, out));
  }

  bool in_edge_ = false;
  std::set<std::string> asked_, cut_;  // loops
};

}  // namespace

Function partition_loops(const Function &f) {
  Function out = f;
  CutLoops pass;
  out.body = WithoutLikely()(pass(ResolveInnermost()(f.body)));
  pass.check();
  return out;
}

}  // namespace polyhalite
