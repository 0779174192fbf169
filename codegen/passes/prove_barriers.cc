#include "codegen/passes/prove_barriers.h"

#include <algorithm>
#include <set>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/thread_accesses.h"
#include "polyhalite/error.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

// What a block does, as a graph of steps: accesses, or a barrier, and what may come next.
class Steps {
 public:
  explicit Steps(const Stmt &kernel) {
    for_each_stmt(kernel, [&](const Stmt &s) {
      if (s->kind == StmtKind::Allocate && s->home == Home::Thread) {
        private_.insert(func_of_buffer(s->name));
      }
    });
    add(block_nest(kernel).body, {});
  }

  struct Step {
    bool is_barrier = false;
    std::vector<ThreadAccess> accesses;
    std::set<size_t> next;
  };

  const std::vector<Step> &all() const { return steps_; }

  /// The steps that `from` may run ahead to, or back to, without a barrier.
  std::set<size_t> reached(size_t from) const {
    std::set<size_t> seen;
    std::vector<size_t> open(steps_[from].next.begin(), steps_[from].next.end());
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (steps_[at].is_barrier || !seen.insert(at).second) continue;
      open.insert(open.end(), steps_[at].next.begin(), steps_[at].next.end());
    }
    return seen;
  }

 private:
  using Ends = std::set<size_t>;

  size_t step(Step s, const Ends &before) {
    steps_.push_back(std::move(s));
    for (size_t b : before) steps_[b].next.insert(steps_.size() - 1);
    return steps_.size() - 1;
  }

  // Where s may end that begins behind the steps `before`.
  Ends add(const Stmt &s, Ends before) {
    if (s->kind == StmtKind::Barrier) return {step({true, {}, {}}, before)};
    if (is_thread_loop(s)) return {step({false, accesses(s), {}}, before)};
    if (!s->args.empty()) {
      std::vector<Stmt> operands;
      for (const Expr &e : s->args) operands.push_back(make_evaluate(e));
      before = {step({false, accesses(make_block(std::move(operands))), {}}, before)};
    }
    if (s->kind == StmtKind::Block) {
      for (const Stmt &b : s->body) before = add(b, std::move(before));
      return before;
    }
    Ends ends = s->kind == StmtKind::For || (s->kind == StmtKind::If && s->body.size() < 2)
                    ? before
                    : Ends();
    const bool scope =
        s->kind == StmtKind::For || s->kind == StmtKind::Let || s->kind == StmtKind::If;
    for (size_t i = 0; i < s->body.size(); i++) {
      if (scope) around_.push_back(s);
      if (s->kind == StmtKind::If) branches_.push_back(i == 0);
      const size_t first = steps_.size();
      const Ends last = add(s->body[i], before);
      if (s->kind == StmtKind::For && steps_.size() > first) {
        for (size_t e : last) steps_[e].next.insert(first);  // the next iteration
      }
      ends.insert(last.begin(), last.end());
      if (s->kind == StmtKind::If) branches_.pop_back();
      if (scope) around_.pop_back();
    }
    return ends;
  }

  std::vector<ThreadAccess> accesses(const Stmt &s) const {
    std::vector<ThreadAccess> all = thread_accesses(s, around_, branches_);
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const ThreadAccess &a) { return private_.count(a.func) > 0; }),
              all.end());
    return all;
  }

  std::set<std::string> private_;
  std::vector<Step> steps_;
  std::vector<Stmt> around_;
  std::vector<bool> branches_;
};

std::optional<std::string> problem_in(const Stmt &kernel, Solver &solver) {
  const Steps steps(kernel);
  for (size_t from = 0; from < steps.all().size(); from++) {
    for (size_t to : steps.reached(from)) {
      for (const ThreadAccess &a : steps.all()[from].accesses) {
        for (const ThreadAccess &b : steps.all()[to].accesses) {
          if (!depend(a, b)) continue;
          const auto conflict = find_thread_conflict(solver, kernel, a, b);
          if (conflict) return conflict->text(a.func) + ", and no barrier is between";
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> missing_barrier(const Function &f) {
  Solver solver(JudgeOptions().isl_operations);
  std::optional<std::string> problem;
  for_each_stmt(f.body, [&](const Stmt &s) {
    if (!problem && s->kind == StmtKind::Kernel) problem = problem_in(s, solver);
  });
  return problem;
}

Function prove_barriers(const Function &f) {
  if (auto problem = missing_barrier(f)) throw InternalError({*problem, "", "", {}});
  return f;
}

}  // namespace polyhalite
