#include "codegen/passes/drop_atomics.h"

#include <set>
#include <utility>

#include "codegen/ir/visit.h"

namespace polyhalite {

namespace {

bool runs_at_once(const Stmt &s) {
  if (s->kind == StmtKind::Fork || s->kind == StmtKind::Kernel) return true;
  return s->kind == StmtKind::For && s->loop_kind != LoopKind::Serial &&
         s->loop_kind != LoopKind::Unrolled && s->loop_kind != LoopKind::Vector;
}

class DropAtomics : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (runs_at_once(s)) {
      const bool outside = std::exchange(among_others_, true);
      const std::set<std::string> around = std::exchange(own_, {});
      Stmt r = rewrite_children(s);
      among_others_ = outside;
      own_ = around;
      return r;
    }
    if (s->kind == StmtKind::Allocate) {
      const bool is_new = own_.insert(s->name).second;
      Stmt r = rewrite_children(s);
      if (is_new) own_.erase(s->name);
      return r;
    }
    if (s->kind == StmtKind::Atomic && is_alone(s)) return s->body[0];
    return rewrite_children(s);
  }

 private:
  bool is_alone(const Stmt &atomic) const {
    bool alone = true;
    for_each_stmt(atomic, [&](const Stmt &s) {
      if (s->kind == StmtKind::Store) alone = alone && (!among_others_ || own_.count(s->name) > 0);
    });
    return alone;
  }

  bool among_others_ = false;  // other threads run beside this one
  std::set<std::string> own_;  // buffers that are this thread's
};

}  // namespace

Function drop_atomics(const Function &f) {
  Function out = f;
  out.body = DropAtomics()(f.body);
  return out;
}

}  // namespace polyhalite
