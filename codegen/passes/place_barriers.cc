#include "codegen/passes/place_barriers.h"

#include <algorithm>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/thread_accesses.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

using Accesses = std::vector<ThreadAccess>;

// What threads may have accessed since the last barrier, and in which iterations of the loops
// around the statement at hand: in this one, or one before.
struct Pending {
  ThreadAccess access;
  Distances ago;
};

// Walks the statements of a block with what threads have accessed since the last barrier.
class BlockWalk {
 public:
  BlockWalk(const Stmt &kernel, Solver &solver)
      : kernel_(kernel), solver_(solver), memory_(kernel) {}

  Stmt run(const Stmt &body) { return walk(body); }

 private:
  Stmt walk(const Stmt &s) {
    if (is_thread_loop(s)) return make_block({before(accesses_of(s)), s});
    switch (s->kind) {
      case StmtKind::Barrier:
        pending_.clear();
        return s;
      case StmtKind::Block: {
        std::vector<Stmt> out;
        for (const Stmt &b : s->body) out.push_back(walk(b));
        return with_parts(s, {}, std::move(out));
      }
      case StmtKind::For:
        return loop(s);
      case StmtKind::If:
        return branch(s);
      default: {
        const Stmt barrier = before(operands_of(s));
        std::vector<Stmt> body;
        if (s->kind == StmtKind::Let) around_.push_back(s);
        for (const Stmt &b : s->body) body.push_back(walk(b));
        if (s->kind == StmtKind::Let) around_.pop_back();
        return make_block({barrier, with_parts(s, s->args, std::move(body))});
      }
    }
  }

  // An iteration may meet what the ones before did.
  Stmt loop(const Stmt &s) {
    const Stmt barrier = before(operands_of(s));
    const std::vector<Pending> first = pending_;
    around_.push_back(s);
    Stmt body = s->body[0];
    for (bool done = false; !done;) {
      const std::vector<Pending> start = pending_;
      const Stmt next = walk(body);
      const std::vector<Pending> end = std::move(pending_);
      pending_.clear();
      merge(first);
      for (Pending p : end) {
        const auto ago = p.ago.find(s->name);
        if (ago != p.ago.end()) ago->second = 1;
        merge({std::move(p)});
      }
      done = next.same_as(body) && contains(start, pending_);
      if (!done) merge(start);
      body = next;
    }
    around_.pop_back();
    const std::vector<Pending> last = std::move(pending_);
    pending_.clear();
    for (Pending p : last) {
      p.ago.erase(s->name);
      merge({std::move(p)});
    }
    return make_block({barrier, with_parts(s, s->args, {body})});
  }

  Stmt branch(const Stmt &s) {
    const Stmt barrier = before(operands_of(s));
    const std::vector<Pending> first = pending_;
    std::vector<Pending> ends = s->body.size() < 2 ? first : std::vector<Pending>();
    std::vector<Stmt> body;
    for (size_t i = 0; i < s->body.size(); i++) {
      pending_ = first;
      around_.push_back(s);
      branches_.push_back(i == 0);
      body.push_back(walk(s->body[i]));
      branches_.pop_back();
      around_.pop_back();
      std::swap(ends, pending_);
      merge(ends);
      std::swap(ends, pending_);
    }
    pending_ = std::move(ends);
    return make_block({barrier, with_parts(s, s->args, std::move(body))});
  }

  // A barrier, if what comes next depends on what is pending; it is pending from here on.
  Stmt before(const Accesses &next) {
    const bool waits = std::any_of(next.begin(), next.end(), [&](const ThreadAccess &b) {
      return std::any_of(pending_.begin(), pending_.end(), [&](const Pending &a) {
        return depend(a.access, b) &&
               find_thread_conflict(solver_, kernel_, a.access, b, memory_.telling(b.func, a.ago));
      });
    });
    if (waits) pending_.clear();
    Distances now;
    for (const Stmt &s : around_) {
      if (s->kind == StmtKind::For) now[s->name] = 0;
    }
    for (const ThreadAccess &a : next) merge({{a, now}});
    return waits ? make_barrier() : Stmt();
  }

  void merge(const std::vector<Pending> &more) {
    for (const Pending &a : more) {
      if (!contains(pending_, {a})) pending_.push_back(a);
    }
  }

  static bool contains(const std::vector<Pending> &all, const std::vector<Pending> &some) {
    return std::all_of(some.begin(), some.end(), [&](const Pending &a) {
      return std::any_of(all.begin(), all.end(), [&](const Pending &p) {
        return p.ago == a.ago && same(p.access, a.access);
      });
    });
  }

  static bool same(const ThreadAccess &a, const ThreadAccess &b) {
    if (a.func != b.func || a.writes != b.writes || a.atomic != b.atomic ||
        a.around.size() != b.around.size() || a.branches != b.branches) {
      return false;
    }
    for (size_t i = 0; i < a.around.size(); i++) {
      const StmtNode &s = *a.around[i], &t = *b.around[i];
      if (s.name != t.name || s.kind != t.kind) return false;
      for (size_t k = 0; k < s.args.size(); k++) {
        if (!equal(s.args[k], t.args[k])) return false;
      }
    }
    for (size_t d = 0; d < a.cell.size(); d++) {
      if (!equal(a.cell[d], b.cell[d])) return false;
    }
    return true;
  }

  Accesses accesses_of(const Stmt &s) const {
    return shared(thread_accesses(s, around_, branches_));
  }

  Accesses operands_of(const Stmt &s) const {
    Accesses all;
    for (const Expr &e : s->args) {
      for (ThreadAccess &a : thread_accesses(make_evaluate(e), around_, branches_)) {
        all.push_back(std::move(a));
      }
    }
    return shared(std::move(all));
  }

  Accesses shared(Accesses all) const {
    all.erase(std::remove_if(all.begin(), all.end(),
                             [&](const ThreadAccess &a) { return memory_.is_private(a.func); }),
              all.end());
    for (ThreadAccess &a : all) a.by_all = a.by_all || a.by_warp;
    return all;
  }

  const Stmt &kernel_;
  Solver &solver_;
  const KernelMemory memory_;
  std::vector<Stmt> around_;
  std::vector<bool> branches_;
  std::vector<Pending> pending_;
};

class PlaceBarriers : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind != StmtKind::Kernel) return rewrite_children(s);
    const Nest blocks = block_nest(s);
    Stmt body = BlockWalk(s, solver_).run(blocks.body);
    for (const Stmt &l : blocks.loops) body = with_parts(l, l->args, {body});
    return with_parts(s, s->args, {body});
  }

 private:
  Solver solver_{JudgeOptions().isl_operations};
};

}  // namespace

Function place_barriers(const Function &f) {
  Function out = f;
  out.body = PlaceBarriers()(f.body);
  return out;
}

}  // namespace polyhalite
