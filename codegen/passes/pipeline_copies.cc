#include "codegen/passes/pipeline_copies.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"

namespace polyhalite {

namespace {

Expr binary(Op op, const Expr &a, const Expr &b) { return simplify(make_binary(op, a, b)); }

// Funcs whose memory the kernel has itself, and those that it writes.
struct KernelFuncs {
  std::set<std::string> own, written;

  explicit KernelFuncs(const Stmt &kernel) {
    for_each_stmt(kernel, [&](const Stmt &s) {
      if (s->kind == StmtKind::Allocate) own.insert(func_of_buffer(s->name));
      if (s->kind == StmtKind::Provide) written.insert(s->name);
    });
  }
};

// Cells of a Func become cells of the iteration's place in the ring:
//   t(x, y)  ->  t(x - min.0, y - min.1, slot)
class InRing : public StmtRewriter {
 public:
  InRing(const Stmt &allocation, Expr slot)
      : func_(func_of_buffer(allocation->name)), box_(allocation->args), slot_(std::move(slot)) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    const Stmt r = rewrite_children(s);
    if (r->kind != StmtKind::Provide || r->name != func_) return r;
    std::vector<Expr> cell = placed({r->args.begin(), r->args.end() - r->value_count});
    return written_as(
        r, make_provide(r->name, std::move(cell), {r->args.end() - r->value_count, r->args.end()}));
  }
  Expr rewrite_expr(const Expr &e) override { return Reads(*this)(e); }

 private:
  class Reads : public ExprRewriter {
   public:
    explicit Reads(const InRing &of) : of_(of) {}

   protected:
    Expr rewrite(const Expr &e) override {
      const Expr r = rewrite_children(e);
      const CallNode *c = as_call(r);
      if (!c || c->kind != CallKind::Func || c->name != of_.func_) return r;
      return make_func_call(c->type, c->name, of_.placed(c->args), c->value_index);
    }

   private:
    const InRing &of_;
  };

  std::vector<Expr> placed(std::vector<Expr> cell) const {
    for (size_t d = 0; d < cell.size(); d++) cell[d] = binary(Op::Sub, cell[d], box_[2 * d]);
    cell.push_back(slot_);
    return cell;
  }

  const std::string func_;
  const std::vector<Expr> box_;
  const Expr slot_;
};

// Marks the writes of a production as asynchronous.
class Asynchronous : public StmtRewriter {
 public:
  Asynchronous(const std::string &func, const std::string &kernel, const KernelFuncs &funcs)
      : func_(func), kernel_(kernel), funcs_(funcs) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Allocate || s->kind == StmtKind::Atomic) refuse("it computes more");
    if (s->kind != StmtKind::Provide) return rewrite_children(s);
    const Expr &value = s->args.back();
    const CallNode *source = as_call(value);
    if (!source || (source->kind != CallKind::Func && source->kind != CallKind::Image)) {
      refuse("it computes " + to_text(value));
    }
    if (source->kind == CallKind::Func && funcs_.own.count(source->name)) {
      refuse("'" + source->name + "' is the kernel's own");
    }
    if (funcs_.written.count(source->name)) {
      refuse("the kernel writes '" + source->name + "' too");
    }
    return with_async(s);
  }

 private:
  [[noreturn]] void refuse(const std::string &why) const {
    user_error("cannot produce '" + func_ + "' asynchronously in kernel '" + kernel_ + "'",
               "asynchronous copies move elements of buffers of the device as they are, and " + why,
               "stage an input as it is, as in().compute_at() does, and compute where it is used; "
               "or drop async");
  }

  const std::string &func_, &kernel_;
  const KernelFuncs &funcs_;
};

struct Ring {
  Stmt allocation;
  std::vector<Stmt> productions;
};

// Takes rings and their productions out of a loop's body.
class TakeRings : public StmtRewriter {
 public:
  std::vector<Ring> rings;

 protected:
  Stmt rewrite(const Stmt &s) override {
    switch (s->kind) {
      case StmtKind::Let: {
        lets_.emplace_back(s->name, s->args[0]);
        const Stmt out = rewrite_children(s);
        lets_.pop_back();
        return out;
      }
      case StmtKind::Allocate:
        if (s->ring == 0) return rewrite_children(s);
        rings.push_back({s, {}});
        return (*this)(s->body[0]);
      case StmtKind::Block:
        return rewrite_children(s);
      case StmtKind::Produce:
        for (Ring &r : rings) {
          if (func_of_buffer(r.allocation->name) != s->name) continue;
          r.productions.push_back(make_let_stmts(lets_, s->body[0]));
          return make_block({});
        }
        return s;
      default:
        return s;
    }
  }

 private:
  Lets lets_;
};

class PipelineCopies : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) {
      const KernelFuncs funcs(s);
      funcs_ = &funcs;
      kernel_ = s->name;
      const Stmt out = rewrite_children(s);
      funcs_ = nullptr;
      for_each_stmt(out, [&](const Stmt &t) {
        if (t->kind != StmtKind::Allocate || t->ring == 0) return;
        user_error("cannot produce '" + func_of_buffer(t->name) + "' asynchronously in kernel '" +
                       kernel_ + "'",
                   "it is produced in a branch of the loop that its ring is filled ahead of",
                   "drop async, or the branch");
      });
      return out;
    }
    const Stmt r = rewrite_children(s);
    if (!funcs_ || r->kind != StmtKind::For || r->loop_kind != LoopKind::Serial) return r;
    TakeRings take;
    const Stmt rest = take(r->body[0]);
    return take.rings.empty() ? r : pipelined(r, rest, take.rings);
  }

 private:
  Stmt pipelined(const Stmt &loop, Stmt uses, const std::vector<Ring> &rings) const {
    const int stages = rings[0].allocation->ring, ahead = stages - 1;
    for (const Ring &r : rings) {
      if (r.allocation->ring == stages) continue;
      user_error("cannot fill the rings of '" + rings[0].allocation->name + "' and '" +
                     r.allocation->name + "' ahead of loop '" + loop->name + "'",
                 "they have " + std::to_string(stages) + " and " +
                     std::to_string(r.allocation->ring) +
                     " places, and one wait in an iteration is for the copies of both",
                 "give both the same ring_buffer()");
    }
    const Expr counter = make_variable(Int(32), VariableKind::Loop, loop->name);
    const Expr &min = loop->args[0], &extent = loop->args[1];
    const Expr slot = binary(Op::Mod, binary(Op::Sub, counter, min), Expr(stages));
    const Expr end = binary(Op::Add, min, extent);
    std::vector<Stmt> productions;
    for (const Ring &r : rings) {
      const std::string func = func_of_buffer(r.allocation->name);
      for (const Stmt &p : r.productions) {
        productions.push_back(InRing(r.allocation, slot)(Asynchronous(func, kernel_, *funcs_)(p)));
      }
      uses = InRing(r.allocation, slot)(uses);
    }
    const Stmt all = make_block(std::move(productions));
    auto copies = [&](const Expr &iteration) {
      return make_block(
          {make_if(binary(Op::Lt, iteration, end), substitute(loop->name, iteration, all)),
           make_commit_copies()});
    };
    const std::string first = loop->name + ".ahead";
    const Stmt prologue = make_for(first, min, Expr(ahead), LoopKind::Serial,
                                   copies(make_variable(Int(32), VariableKind::Loop, first)));
    const Stmt body = make_block({make_wait_copies(ahead - 1), make_barrier(),
                                  copies(binary(Op::Add, counter, Expr(ahead))), uses});
    Stmt out = make_block({prologue, with_parts(loop, loop->args, {body}), make_wait_copies(0)});
    for (auto r = rings.rbegin(); r != rings.rend(); ++r) out = allocated(*r, out);
    return out;
  }

  // The ring's places beside each other in memory.
  static Stmt allocated(const Ring &r, const Stmt &body) {
    const Stmt &a = r.allocation;
    std::vector<Expr> box;
    for (size_t d = 0; d < a->args.size(); d += 2) {
      box.push_back(Expr(0));
      box.push_back(a->args[d + 1]);
    }
    std::vector<int> order = a->order;
    if (!order.empty()) order.push_back(static_cast<int>(order.size()));
    box.push_back(Expr(0));
    box.push_back(Expr(a->ring));
    return make_allocate(a->name, a->type, std::move(box), a->home, body, std::move(order));
  }

  const KernelFuncs *funcs_ = nullptr;
  std::string kernel_;
};

}  // namespace

Function pipeline_copies(const Function &f) {
  Function out = f;
  out.body = PipelineCopies()(f.body);
  return out;
}

}  // namespace polyhalite
