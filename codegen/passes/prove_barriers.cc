#include "codegen/passes/prove_barriers.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/thread_accesses.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

// How many groups of copies were committed and have arrived, at a place of the block; undefined:
// nobody knows. A `wait_copies 0` in a loop (or a block) whose body itself commits nothing counts
// anew: what pipelines inside committed has arrived, however long they were.
struct CopyCounts {
  Expr committed = Expr(0);
  Expr arrived = Expr(0);  // known to the thread that copied
  Expr visible = Expr(0);  // known to all threads, behind a barrier
};

// What a block does, as a graph of steps: accesses, or a barrier, and what may come next.
class KernelSteps {
 public:
  explicit KernelSteps(const Stmt &kernel) : memory_(kernel) {
    const Stmt body = block_nest(kernel).body;
    commits_itself_ = commits_itself(body);
    add(body, {});
  }

  struct Edge {
    size_t to;
    std::string next_of;  // the loop whose next iteration `to` begins; empty: none's
    bool operator<(const Edge &o) const { return to != o.to ? to < o.to : next_of < o.next_of; }
  };
  struct Step {
    enum Kind { Accesses, Barrier, AllArrived } kind;
    std::vector<ThreadAccess> accesses;
    std::vector<std::string> loops;  // around it, outermost first
    CopyCounts copies;
    std::set<Edge> next;
  };

  const std::vector<Step> &all() const { return steps_; }
  const KernelMemory &memory() const { return memory_; }

  /// A step that may come behind `from`, and how far behind in the loops that both stand in.
  struct Reached {
    size_t step;
    Distances distances;
    bool all_arrived;  // behind a `wait_copies 0`
    auto operator<=>(const Reached &) const = default;
  };

  /// The steps that `from` may run ahead to, or back to, without a barrier.
  std::set<Reached> reached(size_t from) const { return search(from, false); }
  /// Those without a barrier behind a `wait_copies 0`.
  std::set<Reached> reached_by_copies(size_t from) const { return search(from, true); }

 private:
  using Ends = std::set<size_t>;

  std::set<Reached> search(size_t from, bool by_copies) const {
    std::set<Reached> seen;
    Distances here;
    for (const std::string &l : steps_[from].loops) here[l] = 0;
    std::vector<Reached> open = {{from, here, false}};
    while (!open.empty()) {
      const auto [at, distances, all_arrived] = open.back();
      open.pop_back();
      for (const Edge &e : steps_[at].next) {
        const Step &step = steps_[e.to];
        if (step.kind == Step::Barrier && (all_arrived || !by_copies)) continue;
        Distances then;
        bool outside = false;  // of a loop that was left, or goes on
        for (const std::string &l : step.loops) {
          const auto known = distances.find(l);
          if (outside || known == distances.end()) break;
          then[l] = l == e.next_of ? 1 : known->second;
          outside = l == e.next_of;
        }
        const Reached next{e.to, then, all_arrived || step.kind == Step::AllArrived};
        if (seen.insert(next).second) open.push_back(next);
      }
    }
    return seen;
  }

  size_t step(Step s, const Ends &before) {
    for (const Stmt &l : around_) {
      if (l->kind == StmtKind::For) s.loops.push_back(l->name);
    }
    s.copies = copies_;
    steps_.push_back(std::move(s));
    for (size_t b : before) steps_[b].next.insert({steps_.size() - 1, ""});
    return steps_.size() - 1;
  }

  // Where s may end that begins behind the steps `before`.
  Ends add(const Stmt &s, Ends before) {
    if (s->kind == StmtKind::CommitCopies) {
      copies_.committed = plus(copies_.committed, Expr(1));
      return before;
    }
    if (s->kind == StmtKind::WaitCopies) return wait(s, before);
    if (s->kind == StmtKind::Barrier) {
      copies_.visible = copies_.arrived;
      return {step({Step::Barrier, {}, {}, {}, {}}, before)};
    }
    if (is_thread_loop(s)) return {step({Step::Accesses, accesses(s), {}, {}, {}}, before)};
    if (!s->args.empty()) {
      std::vector<Stmt> operands;
      for (const Expr &e : s->args) operands.push_back(make_evaluate(e));
      before = {
          step({Step::Accesses, accesses(make_block(std::move(operands))), {}, {}, {}}, before)};
    }
    if (s->kind == StmtKind::Block) {
      for (const Stmt &b : s->body) before = add(b, std::move(before));
      return before;
    }
    if (s->kind == StmtKind::For) return add_loop(s, before);
    Ends ends = s->kind == StmtKind::If && s->body.size() < 2 ? before : Ends();
    const bool scope = s->kind == StmtKind::Let || s->kind == StmtKind::If;
    const bool counts = commits(s) && *commits(s) == 0 && !counts_anew(s);
    for (size_t i = 0; i < s->body.size(); i++) {
      if (scope) around_.push_back(s);
      if (s->kind == StmtKind::If) branches_.push_back(i == 0);
      const CopyCounts at_start = copies_;
      const Ends last = add(s->body[i], before);
      ends.insert(last.begin(), last.end());
      // What one case learns the other does not know.
      if (s->kind == StmtKind::If) copies_ = counts ? at_start : CopyCounts{{}, {}, {}};
      if (s->kind == StmtKind::If) branches_.pop_back();
      if (scope) around_.pop_back();
    }
    return ends;
  }

  // Iterations commit equally often; what has arrived in front of the loop has arrived in it.
  Ends add_loop(const Stmt &s, const Ends &before) {
    const std::optional<int64_t> each = commits(s->body[0]);
    const bool anew = counts_anew(s->body[0]);
    const CopyCounts outside = copies_;
    const Expr counter = make_variable(Int(32), VariableKind::Loop, s->name);
    auto after = [&](const Expr &iterations) {
      if (!each || anew) return Expr();
      return plus(outside.committed, make_binary(Op::Mul, iterations, make_int(Int(32), *each)));
    };
    copies_.committed = after(make_binary(Op::Sub, counter, s->args[0]));
    if (anew) copies_ = is_settled(outside) ? CopyCounts() : CopyCounts{{}, {}, {}};
    const bool outer = std::exchange(commits_itself_, commits_itself(s->body[0]));
    around_.push_back(s);
    const size_t first = steps_.size();
    const Ends last = add(s->body[0], before);
    if (steps_.size() > first) {
      for (size_t e : last) steps_[e].next.insert({first, s->name});
    }
    around_.pop_back();
    commits_itself_ = outer;
    if (anew) {
      if (!is_settled(copies_)) copies_ = {{}, {}, {}};
    } else {
      copies_ = outside;
      copies_.committed = is_const_int(s->args[1]) ? after(s->args[1]) : Expr();
    }
    Ends ends = before;
    ends.insert(last.begin(), last.end());
    return ends;
  }

  Ends wait(const Stmt &s, const Ends &before) {
    int64_t n = 0;
    is_const_int(s->args[0], &n);
    if (n > 0 || commits_itself_) {
      if (copies_.committed.defined()) {
        copies_.arrived = plus(copies_.committed, make_int(Int(32), -n));
      }
      return before;
    }
    copies_ = {};
    return {step({Step::AllArrived, {}, {}, {}, {}}, before)};
  }

  static Expr plus(const Expr &a, const Expr &b) {
    return a.defined() && b.defined() ? simplify(make_binary(Op::Add, a, b)) : Expr();
  }

  static bool is_settled(const CopyCounts &c) {
    return c.committed.defined() && is_zero(c.committed);
  }

  // Does s commit, other than in loops of its own?
  static bool commits_itself(const Stmt &s) {
    if (s->kind == StmtKind::CommitCopies) return true;
    return s->kind != StmtKind::For && std::any_of(s->body.begin(), s->body.end(), commits_itself);
  }

  static bool counts_anew(const Stmt &body) {
    const bool commits = commits_itself(body);
    std::function<bool(const Stmt &)> find = [&](const Stmt &s) {
      if (s->kind == StmtKind::For) return counts_anew(s->body[0]);
      if (s->kind == StmtKind::WaitCopies) return !commits && is_zero(s->args[0]);
      return std::any_of(s->body.begin(), s->body.end(), find);
    };
    return find(body);
  }

  // How many groups s commits, each time that it runs; nullopt: it depends.
  static std::optional<int64_t> commits(const Stmt &s) {
    if (s->kind == StmtKind::CommitCopies) return 1;
    int64_t sum = 0;
    for (const Stmt &b : s->body) {
      const std::optional<int64_t> in_body = commits(b);
      if (!in_body) return std::nullopt;
      sum += *in_body;
    }
    if (sum == 0 || s->kind == StmtKind::Block || s->kind == StmtKind::Let ||
        s->kind == StmtKind::Allocate || s->kind == StmtKind::Produce) {
      return sum;
    }
    int64_t times = 0;
    if (s->kind != StmtKind::For || !is_const_int(s->args[1], &times)) return std::nullopt;
    return sum * std::max<int64_t>(times, 0);
  }

  std::vector<ThreadAccess> accesses(const Stmt &s) const {
    std::vector<ThreadAccess> all = thread_accesses(s, around_, branches_);
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const ThreadAccess &a) { return memory_.is_private(a.func); }),
              all.end());
    for (ThreadAccess &a : all) a.by_all = a.by_all || a.by_warp;
    return all;
  }

  const KernelMemory memory_;
  std::vector<Step> steps_;
  std::vector<Stmt> around_;
  std::vector<bool> branches_;
  CopyCounts copies_;
  bool commits_itself_ = false;  // the body of the loop at hand, or of the block
};

// What is not proven.
struct Doubt {
  std::string text;
  std::string copied;  // by a copy that nobody may have waited for: the Func; else empty
  bool certain = true;
};

// An access of what a copy may not have brought yet.
std::optional<Doubt> early_access(const Stmt &kernel, Solver &solver, const KernelSteps &steps,
                                  size_t from) {
  const KernelSteps::Step &copying = steps.all()[from];
  const bool copies = std::any_of(copying.accesses.begin(), copying.accesses.end(),
                                  [](const ThreadAccess &a) { return a.is_async; });
  if (!copies) return std::nullopt;
  for (const auto &[to, distances, all_arrived] : steps.reached_by_copies(from)) {
    const KernelSteps::Step &later = steps.all()[to];
    for (const ThreadAccess &a : copying.accesses) {
      for (const ThreadAccess &b : later.accesses) {
        if (!a.is_async || a.func != b.func) continue;
        std::optional<ThreadConflict> conflict = ThreadConflict();
        if (all_arrived) {
          conflict =
              find_thread_conflict(solver, kernel, a, b, steps.memory().telling(a.func, distances));
        } else if (copying.copies.committed.defined() && later.copies.visible.defined()) {
          conflict = find_early_access(solver, kernel, a, copying.copies.committed, b,
                                       later.copies.visible, from < to);
        }
        if (conflict) {
          return Doubt{conflict->text(a.func) + ", the first by a copy that nobody has waited for",
                       a.func, conflict->certain};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<Doubt> problem_in(const Stmt &kernel, Solver &solver) {
  const KernelSteps steps(kernel);
  for (size_t from = 0; from < steps.all().size(); from++) {
    for (const auto &[to, distances, all_arrived] : steps.reached(from)) {
      for (const ThreadAccess &a : steps.all()[from].accesses) {
        for (const ThreadAccess &b : steps.all()[to].accesses) {
          if (!depend(a, b)) continue;
          const auto conflict =
              find_thread_conflict(solver, kernel, a, b, steps.memory().telling(a.func, distances));
          if (conflict)
            return Doubt{conflict->text(a.func) + ", and no barrier is between", "", true};
        }
      }
    }
    if (auto problem = early_access(kernel, solver, steps, from)) return problem;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> missing_barrier(const Function &f) {
  Solver solver(JudgeOptions().isl_operations);
  std::optional<std::string> problem;
  for_each_stmt(f.body, [&](const Stmt &s) {
    if (problem || s->kind != StmtKind::Kernel) return;
    if (const auto doubt = problem_in(s, solver)) problem = doubt->text;
  });
  return problem;
}

Function prove_barriers(const Function &f) {
  Solver solver(JudgeOptions().isl_operations);
  for_each_stmt(f.body, [&](const Stmt &s) {
    if (s->kind != StmtKind::Kernel) return;
    const auto doubt = problem_in(s, solver);
    if (!doubt) return;
    if (doubt->certain || doubt->copied.empty()) throw InternalError({doubt->text, "", "", {}});
    // Barriers stand wherever they may be needed; a wait has its place, and may come too late.
    user_error("cannot produce '" + doubt->copied + "' asynchronously in kernel '" + s->name + "'",
               "it is not proven that all wait for it: " + doubt->text,
               "stage what is read at sums of coordinates, or drop async");
  });
  return f;
}

}  // namespace polyhalite
