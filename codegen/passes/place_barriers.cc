#include "codegen/passes/place_barriers.h"

#include <algorithm>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/thread_accesses.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

using Accesses = std::vector<ThreadAccess>;

// Walks the statements of a block with what threads have accessed since the last barrier.
class BlockWalk {
 public:
  BlockWalk(const Stmt &kernel, Solver &solver) : kernel_(kernel), solver_(solver) {
    for_each_stmt(kernel, [&](const Stmt &s) {
      if (s->kind != StmtKind::Allocate || s->home != Home::Thread) return;
      private_.push_back(func_of_buffer(s->name));
    });
  }

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

  // An iteration may meet what the one before did.
  Stmt loop(const Stmt &s) {
    const Stmt barrier = before(operands_of(s));
    const Accesses first = pending_;
    around_.push_back(s);
    Stmt body = s->body[0];
    size_t known = 0;
    for (bool done = false; !done;) {
      const Stmt next = walk(body);
      merge(first);
      done = next.same_as(body) && pending_.size() <= known;
      known = pending_.size();
      body = next;
    }
    around_.pop_back();
    return make_block({barrier, with_parts(s, s->args, {body})});
  }

  Stmt branch(const Stmt &s) {
    const Stmt barrier = before(operands_of(s));
    const Accesses first = pending_;
    Accesses ends = s->body.size() < 2 ? first : Accesses();
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
  Stmt before(Accesses next) {
    const bool waits = std::any_of(next.begin(), next.end(), [&](const ThreadAccess &b) {
      return std::any_of(pending_.begin(), pending_.end(), [&](const ThreadAccess &a) {
        return depend(a, b) && find_thread_conflict(solver_, kernel_, a, b);
      });
    });
    if (waits) pending_.clear();
    merge(next);
    return waits ? make_barrier() : Stmt();
  }

  void merge(const Accesses &more) {
    for (const ThreadAccess &a : more) {
      const bool known = std::any_of(pending_.begin(), pending_.end(),
                                     [&](const ThreadAccess &p) { return same(p, a); });
      if (!known) pending_.push_back(a);
    }
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
                             [&](const ThreadAccess &a) {
                               return std::count(private_.begin(), private_.end(), a.func) > 0;
                             }),
              all.end());
    return all;
  }

  const Stmt &kernel_;
  Solver &solver_;
  std::vector<std::string> private_;  // Funcs of which each thread has elements of its own
  std::vector<Stmt> around_;
  std::vector<bool> branches_;
  Accesses pending_;
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
