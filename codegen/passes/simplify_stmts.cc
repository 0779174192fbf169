#include "codegen/passes/simplify_stmts.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "codegen/ir/visit.h"
#include "codegen/passes/facts.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

// Sums of this many plain variables cost no more than a name for them, and names hide them from
// linear forms.
constexpr size_t kInlinedTerms = 4;

bool is_plain(const Expr &atom) {
  return as_variable(atom) || (atom->op == Op::Cast && as_variable(atom->args[0]));
}

bool is_inlined(const Expr &value) {
  if (is_const(value) || as_variable(value)) return true;
  if (!value.type().is_affine() || !value.type().is_scalar()) return false;
  const Linear l = to_linear(value);
  if (l.terms.size() > kInlinedTerms) return false;
  for (const auto &[atom, coefficient] : l.terms) {
    if (!is_plain(atom)) return false;
  }
  return true;
}

// Parts a sum with one costly term, value = rest + factor*term, so that a name for the term alone
// leaves the rest to linear forms, and what a factor says of remainders to all who ask.
bool part_costly_term(const Expr &value, Expr *term, int64_t *factor, Linear *rest) {
  if (!value.type().is_affine() || !value.type().is_scalar()) return false;
  *rest = to_linear(value);
  for (const auto &[atom, coefficient] : rest->terms) {
    if (is_plain(atom)) continue;
    if (term->defined()) return false;
    *term = atom;
    *factor = coefficient;
  }
  if (!term->defined() || rest->terms.size() > kInlinedTerms) return false;
  rest->terms.erase(*term);
  return *factor != 1 || !rest->is_constant() || rest->constant != 0;
}

bool has_effect(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *call = as_call(n);
    found = found || (call && acts(*call));
  });
  return found;
}

// The variables that are numbers where the condition holds: n and 3 of n == 3 && m%2 == 0.
void add_known(const Expr &condition, std::vector<std::pair<Expr, Expr>> *known) {
  if (condition->op == Op::And) {
    add_known(condition->args[0], known);
    add_known(condition->args[1], known);
    return;
  }
  if (condition->op != Op::Eq || !condition->args[0].type().is_int_or_uint()) return;
  const Expr &a = condition->args[0], &b = condition->args[1];
  const bool turned = is_const(a);
  const Expr &variable = turned ? b : a, &value = turned ? a : b;
  const VariableNode *v = as_variable(variable);
  if (!v || !is_const(value)) return;
  const bool again = std::any_of(known->begin(), known->end(), [&](const auto &k) {
    return as_variable(k.first)->name == v->name;
  });
  if (!again) known->emplace_back(variable, value);
}

class StmtSimplifier : public StmtRewriter {
 protected:
  Expr rewrite_expr(const Expr &e) override { return noted(simplified(e)); }

  Stmt rewrite(const Stmt &s) override {
    switch (s->kind) {
      case StmtKind::For:
        return rewrite_for(s);
      case StmtKind::Let:
        return rewrite_let(s);
      case StmtKind::If:
        return rewrite_if(s);
      case StmtKind::Allocate: {
        used_.erase(s->name);
        const Stmt out = rewrite_children(s);
        return used_.erase(s->name) ? out : out->body[0];
      }
      case StmtKind::Place: {
        used_.erase(s->name);
        const Stmt out = rewrite_children(s);
        if (!used_.erase(s->name)) return out->body[0];
        used_.insert(s->inside);
        return out;
      }
      case StmtKind::Provide:
        use_buffers(s);
        return rewrite_children(s);
      case StmtKind::Store: {
        const Stmt out = rewrite_children(s);
        if (out->args.size() > 2) {
          if (is_false(out->args[2])) return make_block({});
          if (is_true(out->args[2])) {
            return written_as(s, make_store(s->name, out->args[0], out->args[1]));
          }
        }
        used_.insert(s->name);
        return out;
      }
      case StmtKind::Assert: {
        const Stmt out = rewrite_children(s);
        if (is_true(out->args[0])) return make_block({});
        const Expr &c = out->args[0];
        if (c->op == Op::Eq && as_variable(c->args[0]) && as_variable(c->args[1])) {
          equal_.emplace_back(c->args[0], c->args[1]);
        }
        return out;
      }
      case StmtKind::Evaluate: {
        const Expr &e = s->args[0];
        if (const CallNode *c = as_intrinsic(e, intrinsic::kRequire)) {
          return is_true(c->args[0]) ? make_block({}) : rewrite_children(s);
        }
        const bool stays = has_effect(e) || as_intrinsic(e, intrinsic::kPrefetch) ||
                           as_intrinsic(e, intrinsic::kStreamFence);
        return stays ? rewrite_children(s) : make_block({});
      }
      case StmtKind::Memoize: {
        const Stmt out = rewrite_children(s);
        if (is_no_op(out->body[0])) return out->body[0];
        used_.insert(s->buffers.begin(), s->buffers.end());
        return out;
      }
      case StmtKind::Produce:
      case StmtKind::Profile:
      case StmtKind::Atomic: {
        const Stmt out = rewrite_children(s);
        return is_no_op(out->body[0]) ? out->body[0] : out;
      }
      case StmtKind::Kernel: {
        const Stmt out = rewrite_children(s);
        return out->body[0]->kind == StmtKind::For ? out : make_block({});
      }
      case StmtKind::Collective:
        used_.insert(s->buffers.begin(), s->buffers.end());
        return rewrite_children(s);
      case StmtKind::Transfer:
        used_.insert(s->name);
        return s;
      case StmtKind::Barrier:
      case StmtKind::CommitCopies:
      case StmtKind::WaitCopies:
      case StmtKind::Block:
      case StmtKind::Fork:
      case StmtKind::Acquire:
      case StmtKind::Release:
        return rewrite_children(s);
    }
    return s;
  }

 private:
  void use_buffers(const Stmt &provide) {
    used_.insert(provide->name);
    for (int i = 0; provide->value_count > 1 && i < provide->value_count; i++) {
      used_.insert(provide->name + "." + std::to_string(i));
    }
  }

  // e itself, its names noted: it stands in the result.
  const Expr &noted(const Expr &e) {
    for (const std::string &name : free_variables(e)) used_.insert(name);
    for_each_node(e, [&](const Expr &n) {
      if (const LoadNode *load = as_load(n)) used_.insert(load->buffer);
      const CallNode *call = as_call(n);
      if (!call || call->kind != CallKind::Func) return;
      used_.insert(call->name);
      used_.insert(call->name + "." + std::to_string(call->value_index));
    });
    return e;
  }

  Expr simplified(const Expr &e) {
    const Expr first = simplify(substitute(inlined_, e), facts_.bounds());
    const Expr second = facts_.apply(first);
    return second.same_as(first) ? first : simplify(second, facts_.bounds());
  }

  // s with `name` replaced. The replacement is simplified, and may hold `name` itself with its new
  // meaning: nothing may be simplified twice.
  Stmt with_inlined(const std::string &name, const Expr &value, const Stmt &s) {
    inlined_[name] = value;
    Stmt out = (*this)(s);
    inlined_.erase(name);
    return out;
  }

  // s where the condition holds: with the numbers that it says its variables have, and those that
  // asserts say are equal to them.
  Stmt with_known(const Expr &condition, const Stmt &s) {
    std::vector<std::pair<Expr, Expr>> known;
    add_known(condition, &known);
    for (size_t i = 0; i < known.size(); i++) {
      for (const auto &[a, b] : equal_) {
        for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)}) {
          if (equal(one, known[i].first))
            add_known(make_binary(Op::Eq, other, known[i].second), &known);
        }
      }
    }
    for (const auto &[variable, value] : known) {
      inlined_[as_variable(variable)->name] = value;
      facts_.push_value(variable, value);
    }
    const Stmt out = (*this)(s);
    for (const auto &[variable, value] : known) {
      inlined_.erase(as_variable(variable)->name);
      facts_.pop();
    }
    return out;
  }

  Stmt rewrite_for(const Stmt &s) {
    const Expr min = simplified(s->args[0]), extent = simplified(s->args[1]);
    int64_t n;
    if (is_const_int(extent, &n) && n <= 0) return make_block({});
    if (is_const_int(extent, &n) && n == 1 && !is_gpu_loop(s->loop_kind)) {
      if (is_inlined(min)) return with_inlined(s->name, min, s->body[0]);
      return (*this)(make_let_stmt(
          s->name, s->args[0],
          substitute(s->name, make_variable(Int(32), VariableKind::Symbol, s->name), s->body[0])));
    }
    const Expr counter = make_variable(Int(32), VariableKind::Loop, s->name);
    // Copies of the body differ by constants alone where these loops count from zero.
    const bool expands = s->loop_kind == LoopKind::Vector || s->loop_kind == LoopKind::Unrolled;
    const bool shifts = expands && !is_zero(min) && is_inlined(min);
    const Expr first = shifts ? Expr(0) : min;
    facts_.push_range(counter, first, extent);
    const Stmt body = shifts ? with_inlined(s->name, make_binary(Op::Add, min, counter), s->body[0])
                             : (*this)(s->body[0]);
    facts_.pop();
    if (is_no_op(body)) return body;
    return with_parts(s, {noted(first), noted(extent)}, {body});
  }

  Stmt rewrite_let(const Stmt &s) {
    const Expr value = simplified(s->args[0]);
    if (is_inlined(value)) return with_inlined(s->name, value, s->body[0]);
    Expr symbol = make_variable(value.type(), VariableKind::Symbol, s->name);
    Expr term, bound = value;
    int64_t factor = 1;
    Linear rest;
    const bool parts = part_costly_term(value, &term, &factor, &rest);
    if (parts) bound = term;
    // A symbol around that has the value already is as good, and shows where values are equal.
    const auto known = named_.find(bound);
    if (known != named_.end()) symbol = known->second;
    if (parts) rest.add(to_linear(symbol), factor);
    const Expr inlined = parts ? to_expr(rest) : symbol;
    if (known != named_.end()) return with_inlined(s->name, inlined, s->body[0]);
    const bool is_number = bound.type().is_affine() && bound.type().is_scalar();
    const bool names = is_number && !reads_memory(bound) && !has_effect(bound);
    if (names) named_[bound] = symbol;
    facts_.push_value(symbol, bound);
    used_.erase(s->name);
    const Stmt body = parts ? with_inlined(s->name, inlined, s->body[0]) : (*this)(s->body[0]);
    facts_.pop();
    if (names) named_.erase(bound);
    if (!used_.erase(s->name) || is_no_op(body)) return body;
    return with_parts(s, {noted(bound)}, {body});
  }

  Stmt rewrite_if(const Stmt &s) {
    const Expr condition = simplified(s->args[0]);
    if (is_true(condition)) return (*this)(s->body[0]);
    if (is_false(condition)) return s->body.size() > 1 ? (*this)(s->body[1]) : make_block({});
    facts_.push_condition(condition);
    const Stmt then_case = with_known(condition, s->body[0]);
    facts_.pop();
    Stmt else_case;
    if (s->body.size() > 1) {
      facts_.push_condition(condition, false);
      else_case = (*this)(s->body[1]);
      facts_.pop();
      if (is_no_op(else_case)) else_case = Stmt();
    }
    if (is_no_op(then_case)) {
      if (!else_case.defined()) return then_case;
      return make_if(noted(simplify(make_not(condition))), else_case);
    }
    if (s->body.size() == 1 || else_case.defined()) {
      std::vector<Stmt> body = {then_case};
      if (else_case.defined()) body.push_back(else_case);
      return with_parts(s, {noted(condition)}, std::move(body));
    }
    return make_if(noted(condition), then_case);
  }

  Facts facts_;
  std::map<std::string, Expr> inlined_;
  std::map<Expr, Expr, ExprLess> named_;      // costly values and the symbols around that have them
  std::vector<std::pair<Expr, Expr>> equal_;  // variables, by asserts, which stand in front
  std::set<std::string> used_;  // names of variables and buffers in what has been rewritten
};

}  // namespace

Stmt simplify_stmts(const Stmt &s) { return StmtSimplifier()(s); }

Function simplify_stmts(const Function &f) {
  Function out = f;
  out.body = simplify_stmts(f.body);
  return out;
}

}  // namespace polyhalite
