#include "codegen/passes/thread_accesses.h"

#include <algorithm>
#include <array>
#include <functional>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "polyhedral/model/translate.h"

namespace polyhalite {

namespace {

class AccessCollector {
 public:
  AccessCollector(std::vector<Stmt> around, std::vector<bool> branches)
      : around_(std::move(around)), branches_(std::move(branches)) {}

  std::vector<ThreadAccess> found;

  void collect(const Stmt &s) {
    writing_ = s->kind == StmtKind::Provide ? s->name : "";
    for (const Expr &e : s->args) reads(e);
    if (s->kind == StmtKind::Provide) {
      const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
      const std::vector<Expr> cell(s->args.begin(), s->args.begin() + dims);
      return add(s->name, cell, true, s->is_async ? s->args.back() : Expr());
    }
    const bool scope =
        s->kind == StmtKind::For || s->kind == StmtKind::Let || s->kind == StmtKind::If;
    const bool atomic = atomic_;
    atomic_ = atomic_ || (s->kind == StmtKind::Atomic && !s->lanes_only);
    for (size_t i = 0; i < s->body.size(); i++) {
      if (scope) around_.push_back(s);
      if (s->kind == StmtKind::If) branches_.push_back(i == 0);
      collect(s->body[i]);
      if (s->kind == StmtKind::If) branches_.pop_back();
      if (scope) around_.pop_back();
    }
    atomic_ = atomic;
  }

  void reads(const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      if (!c || (c->kind != CallKind::Func && c->kind != CallKind::Image)) return;
      add(c->name, c->args, false);
    });
  }

 private:
  void add(const std::string &func, const std::vector<Expr> &cell, bool writes,
           const Expr &copied = Expr()) {
    ThreadAccess a;
    a.func = func;
    a.cell = cell;
    a.writes = writes;
    a.atomic = atomic_;
    a.is_async = copied.defined();
    a.copied = copied;
    a.around = around_;
    a.branches = branches_;
    a.by_all = std::none_of(around_.begin(), around_.end(),
                            [](const Stmt &s) { return is_thread_loop(s); });
    a.by_warp = !writes && func != writing_ &&
                std::any_of(around_.begin(), around_.end(), [](const Stmt &s) {
                  return s->kind == StmtKind::For && !s->instruction.empty();
                });
    const bool known = std::any_of(found.begin(), found.end(), [&](const ThreadAccess &o) {
      if (o.func != a.func || o.writes != a.writes || o.atomic != a.atomic) return false;
      if (o.around.size() != a.around.size() || o.branches != a.branches) return false;
      for (size_t i = 0; i < o.around.size(); i++) {
        if (!o.around[i].same_as(a.around[i])) return false;
      }
      for (size_t d = 0; d < cell.size(); d++) {
        if (!equal(o.cell[d], a.cell[d])) return false;
      }
      return true;
    });
    if (!known) found.push_back(std::move(a));
  }

  std::vector<Stmt> around_;
  std::vector<bool> branches_;
  bool atomic_ = false;
  std::string writing_;  // the Func whose values are collected
};

// An instance of an access: its rows, and the thread that makes it.
struct AccessInstance {
  Translator scope;
  std::vector<AffineRow> thread;                            // x, y, z
  std::vector<std::pair<std::string, AffineRow>> counters;  // of loops run by all, outermost first

  AccessInstance(Problem &problem, SharedAtoms &shared, const ThreadAccess &a)
      : scope(problem, shared), thread(3) {
    std::vector<Stmt> phase;  // outermost first
    for (const Stmt &s : a.around) {
      if (is_thread_loop(s)) phase.push_back(s);
    }
    size_t branch = 0, at = 0;
    for (const Stmt &s : a.around) {
      if (s->kind == StmtKind::Let) {
        if (s->args[0].type().is_affine() && s->args[0].type().is_scalar()) {
          scope.define(s->name, s->args[0]);
        }
        continue;
      }
      if (s->kind == StmtKind::If) {
        scope.assume(a.branches[branch++] ? s->args[0] : make_not(s->args[0]));
        continue;
      }
      const AffineRow counter = problem.fresh(ModelVariable::Coordinate, s->name);
      const AffineRow min = scope.row(s->args[0]), extent = scope.row(s->args[1]);
      problem.require_nonnegative(counter - min);
      problem.require_nonnegative(min + extent - counter - AffineRow(1));
      scope.bind(s->name, counter);
      if (is_thread_loop(s)) {
        thread[phase.size() - 1 - at++] = counter;
      } else if (at == 0) {
        counters.emplace_back(s->name, counter);
      }
    }
  }
};

// Blocks are the same for both: their counters stay what both share.
void assume_blocks(Problem &problem, SharedAtoms &shared, const Stmt &kernel) {
  Translator common(problem, shared);
  for (const Stmt &l : block_nest(kernel).loops) {
    const Expr counter = make_variable(Int(32), VariableKind::Loop, l->name);
    common.assume(make_binary(Op::Ge, counter, Expr(0)));
    common.assume(make_binary(Op::Lt, counter, l->args[1]));
  }
}

std::vector<AffineRow> require_one_cell(Problem &problem, const ThreadAccess &a,
                                        AccessInstance &first, const ThreadAccess &b,
                                        AccessInstance &second) {
  std::vector<AffineRow> cell;
  for (size_t d = 0; d < a.cell.size(); d++) {
    cell.push_back(first.scope.row(a.cell[d]));
    problem.require_zero(cell[d] - second.scope.row(b.cell[d]));
  }
  return cell;
}

// Copies from one place bring one value, whoever makes them: they only meet where the places
// differ. False where they cannot.
bool require_another_value(Problem &problem, const ThreadAccess &a, AccessInstance &first,
                           const ThreadAccess &b, AccessInstance &second) {
  const CallNode *from = a.is_async ? as_call(a.copied) : nullptr;
  const CallNode *other = b.is_async ? as_call(b.copied) : nullptr;
  if (!from || !other || from->name != other->name) return true;
  Choice differ;
  for (size_t d = 0; d < from->args.size(); d++) {
    const AffineRow apart = first.scope.row(from->args[d]) - second.scope.row(other->args[d]);
    for (const int64_t sign : {1, -1}) {
      const AffineRow beyond = sign * apart - AffineRow(1);
      if (beyond.is_constant() && beyond.constant < 0) continue;
      differ.push_back({{beyond}, {}});
    }
  }
  if (differ.empty()) return false;
  problem.choices.push_back(std::move(differ));
  return true;
}

// Which threads meet, and where, if the solver says so; nullopt where there are none.
std::optional<ThreadConflict> conflict_of(const Solution &s, const AccessInstance &first,
                                          const AccessInstance &second,
                                          const std::vector<AffineRow> &cell) {
  if (s.answer == Solution::None) return std::nullopt;
  ThreadConflict conflict;
  if (s.answer != Solution::Found) return conflict;
  for (size_t d = 0; d < 3; d++) {
    conflict.first.push_back(first.thread[d].evaluate(s.values));
    conflict.second.push_back(second.thread[d].evaluate(s.values));
  }
  for (const AffineRow &r : cell) conflict.cell.push_back(r.evaluate(s.values));
  conflict.certain = !first.scope.inexact() && !second.scope.inexact() &&
                     !first.scope.data_dependent() && !second.scope.data_dependent();
  return conflict;
}

std::string numbers(const std::vector<int64_t> &v) {
  std::string text = "(";
  for (size_t i = 0; i < v.size(); i++) text += (i ? ", " : "") + std::to_string(v[i]);
  return text + ")";
}

}  // namespace

KernelMemory::KernelMemory(const Stmt &kernel) {
  std::set<std::string> loops;
  visit(block_nest(kernel).body, loops);
}

void KernelMemory::visit(const Stmt &s, std::set<std::string> &loops) {
  if (s->kind == StmtKind::Allocate) {
    const std::string func = func_of_buffer(s->name);
    if (s->home == Home::Thread) private_.insert(func);
    loops_[func].insert(loops.begin(), loops.end());
  }
  const bool is_new = s->kind == StmtKind::For && loops.insert(s->name).second;
  for (const Stmt &b : s->body) visit(b, loops);
  if (is_new) loops.erase(s->name);
}

Distances KernelMemory::telling(const std::string &func, const Distances &distances) const {
  const auto around = loops_.find(func);
  if (around == loops_.end()) return distances;
  Distances out;
  for (const auto &[loop, distance] : distances) {
    if (!around->second.count(loop)) out[loop] = distance;
  }
  return out;
}

std::vector<ThreadAccess> thread_accesses(const Stmt &s, const std::vector<Stmt> &around,
                                          const std::vector<bool> &branches) {
  AccessCollector c(around, branches);
  c.collect(s);
  return std::move(c.found);
}

std::string ThreadConflict::text(const std::string &func) const {
  if (first.empty()) return "two threads may access one element of " + func;
  return "threads " + numbers(first) + " and " + numbers(second) +
         (certain ? " both access " : " may both access ") + func + numbers(cell);
}

std::optional<ThreadConflict> find_thread_conflict(Solver &solver, const Stmt &kernel,
                                                   const ThreadAccess &a, const ThreadAccess &b,
                                                   const Distances &distances) {
  Problem problem;
  SharedAtoms shared;
  assume_blocks(problem, shared, kernel);
  AccessInstance first(problem, shared, a), second(problem, shared, b);
  const std::vector<AffineRow> cell = require_one_cell(problem, a, first, b, second);
  for (size_t l = 0; l < std::min(first.counters.size(), second.counters.size()); l++) {
    if (first.counters[l].first != second.counters[l].first) break;
    const auto known = distances.find(first.counters[l].first);
    if (known == distances.end()) continue;
    const AffineRow apart = second.counters[l].second - first.counters[l].second;
    if (known->second == 0) {
      problem.require_zero(apart);
    } else {
      problem.require_nonnegative(apart - AffineRow(1));
    }
  }
  Choice differ;
  for (size_t d = 0; d < first.thread.size(); d++) {
    for (const int64_t sign : {1, -1}) {
      const AffineRow ahead = sign * (first.thread[d] - second.thread[d]) - AffineRow(1);
      if (ahead.is_constant() && ahead.constant < 0) continue;
      differ.push_back({{ahead}, {}});
    }
  }
  if (differ.empty() && !a.by_all && !b.by_all) return std::nullopt;  // one thread
  if (!a.by_all && !b.by_all) problem.choices.push_back(std::move(differ));
  if (!require_another_value(problem, a, first, b, second)) return std::nullopt;
  return conflict_of(solver.solve(problem), first, second, cell);
}

std::optional<ThreadConflict> find_early_access(Solver &solver, const Stmt &kernel,
                                                const ThreadAccess &copy, const Expr &group,
                                                const ThreadAccess &later, const Expr &visible,
                                                bool copy_first) {
  Problem problem;
  SharedAtoms shared;
  assume_blocks(problem, shared, kernel);
  AccessInstance first(problem, shared, copy), second(problem, shared, later);
  const std::vector<AffineRow> cell = require_one_cell(problem, copy, first, later, second);
  problem.require_nonnegative(first.scope.row(group) - second.scope.row(visible));
  // The copy is in front: in an earlier iteration of a common loop, or in the same of all.
  std::vector<AffineRow> apart;
  for (size_t l = 0; l < std::min(first.counters.size(), second.counters.size()); l++) {
    if (first.counters[l].first != second.counters[l].first) break;
    apart.push_back(second.counters[l].second - first.counters[l].second);
  }
  Choice in_front;
  for (size_t l = 0; l < apart.size(); l++) {
    in_front.push_back({{apart[l] - AffineRow(1)},
                        {apart.begin(), apart.begin() + static_cast<std::ptrdiff_t>(l)}});
  }
  if (copy_first) in_front.push_back({{}, apart});
  if (in_front.empty()) return std::nullopt;
  problem.choices.push_back(std::move(in_front));
  if (!require_another_value(problem, copy, first, later, second)) return std::nullopt;
  return conflict_of(solver.solve(problem), first, second, cell);
}

bool depend(const ThreadAccess &a, const ThreadAccess &b) {
  if (a.func != b.func || !(a.writes || b.writes)) return false;
  return !(a.atomic && b.atomic);
}

}  // namespace polyhalite
