#include "codegen/passes/fence_streams.h"

#include <algorithm>
#include <vector>

#include "lang/ir/intrinsics.h"

namespace polyhalite {

namespace {

// Does the thread that runs s stream anything in it?
bool streams(const Stmt &s) {
  if (s->streams) return true;
  if (s->kind == StmtKind::Fork) return false;
  if (s->kind == StmtKind::For && s->loop_kind == LoopKind::Parallel) return false;
  return std::any_of(s->body.begin(), s->body.end(), streams);
}

Stmt fence() { return make_evaluate(make_intrinsic(Bool(), intrinsic::kStreamFence, {})); }

// Walks in the order of execution, with what is known of the thread that runs it.
class Fences {
 public:
  Stmt task(const Stmt &s) {
    const bool outside = open_;
    open_ = false;
    Stmt body = stmt(s);
    if (open_) body = make_block({body, fence()});
    open_ = outside;
    return body;
  }

 private:
  // Other threads may read what has been streamed from here on.
  Stmt published(const Stmt &s) {
    if (!open_) return s;
    open_ = false;
    return make_block({fence(), s});
  }

  Stmt stmt(const Stmt &s) {
    switch (s->kind) {
      case StmtKind::Provide:
      case StmtKind::Store:
        open_ |= s->streams;
        return s;
      case StmtKind::For:
        if (s->loop_kind == LoopKind::Parallel) {
          return published(with_parts(s, s->args, {task(s->body[0])}));
        }
        // An iteration comes behind those before it.
        open_ |= streams(s->body[0]);
        return inner(s);
      case StmtKind::If: {
        const bool before = open_;
        bool after = s->body.size() < 2 && before;
        std::vector<Stmt> body;
        for (const Stmt &b : s->body) {
          open_ = before;
          body.push_back(stmt(b));
          after |= open_;
        }
        open_ = after;
        return with_parts(s, s->args, std::move(body));
      }
      case StmtKind::Fork:
        return published(with_parts(s, s->args, {task(s->body[0]), task(s->body[1])}));
      case StmtKind::Release:
        return published(s);
      case StmtKind::Evaluate:
        return is_extern_call(s->args[0]) ? published(s) : s;
      default:
        return inner(s);
    }
  }

  Stmt inner(const Stmt &s) {
    std::vector<Stmt> body;
    for (const Stmt &b : s->body) body.push_back(stmt(b));
    return with_parts(s, s->args, std::move(body));
  }

  static bool is_extern_call(const Expr &e) {
    const CallNode *c = as_call(e);
    return c && c->kind == CallKind::Extern;
  }

  bool open_ = false;  // has the thread streamed anything since its last fence?
};

}  // namespace

Function fence_streams(const Function &f, const Target &target) {
  if (target.arch != Target::X86 || !f.body.defined()) return f;
  Function out = f;
  out.body = Fences().task(f.body);
  return out;
}

}  // namespace polyhalite
