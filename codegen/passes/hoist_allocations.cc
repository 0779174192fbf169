#include "codegen/passes/hoist_allocations.h"

#include <map>
#include <set>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"

namespace polyhalite {

namespace {

// Takes the allocations out of a loop's body that may stand in front of the loop.
class TakeAllocations : public StmtRewriter {
 public:
  explicit TakeAllocations(const std::string &counter) : local_{counter} {}

  /// The loop with its allocations around it.
  Stmt around(Stmt loop) const {
    for (const Stmt &a : taken_) {
      loop = make_allocate(a->name, a->type, a->args, a->home, loop);
    }
    return loop;
  }

 protected:
  Stmt rewrite(const Stmt &s) override {
    switch (s->kind) {
      case StmtKind::Block:
      case StmtKind::Produce:
      case StmtKind::Memoize:
        return rewrite_children(s);
      case StmtKind::Let: {
        local_.insert(s->name);
        const Stmt out = rewrite_children(s);
        local_.erase(s->name);
        return out;
      }
      case StmtKind::Allocate: {
        const Stmt out = rewrite_children(s);
        return take(s) ? out->body[0] : out;
      }
      default:
        return s;  // what stands in loops inside has been taken out of them before
    }
  }

 private:
  bool take(const Stmt &s) {
    if (s->home != Home::Auto) return false;
    for (const std::string &name : free_variables(s->args[0])) {
      if (local_.count(name)) return false;
    }
    taken_.push_back(s);
    return true;
  }

  std::set<std::string> local_;
  std::vector<Stmt> taken_;
};

class Hoist : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    const Stmt r = rewrite_children(s);  // inner loops first: allocations climb loop by loop
    if (r->kind != StmtKind::For || r->loop_kind != LoopKind::Serial) return r;
    if (allocates_twice(r->body[0])) return r;
    TakeAllocations take(r->name);
    const Stmt body = take(r->body[0]);
    return take.around(with_parts(r, r->args, {body}));
  }

 private:
  // Taken out, one of several allocations of a name would surround the others.
  static bool allocates_twice(const Stmt &s) {
    std::map<std::string, int> count;
    bool twice = false;
    for_each_stmt(s, [&](const Stmt &t) {
      if (t->kind == StmtKind::Allocate) twice |= ++count[t->name] > 1;
    });
    return twice;
  }
};

}  // namespace

Function hoist_allocations(const Function &f) {
  Function out = f;
  out.body = Hoist()(f.body);
  return out;
}

}  // namespace polyhalite
