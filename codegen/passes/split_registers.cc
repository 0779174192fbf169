#include "codegen/passes/split_registers.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/ir/kernel.h"
#include "codegen/ir/visit.h"
#include "codegen/passes/thread_accesses.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "polyhedral/judge.h"

namespace polyhalite {

namespace {

// How a dimension's index i falls into the thread's coordinate t and what is left:
//   i = part*t + part*threads*m + r,  0 <= r < part     left: part*m + r
// A dimension without threads is left whole: part = 0.
struct Share {
  int64_t part = 0, threads = 0;
  size_t position = 0;  // of the coordinate: 0 is x
  bool operator==(const Share &o) const {
    return part == o.part && threads == o.threads && position == o.position;
  }
};

struct SharedIndex {
  Share share;
  Expr left;
};

bool uses_any(const Expr &e, const std::map<std::string, size_t> &names) {
  for (const std::string &v : free_variables(e)) {
    if (names.count(v)) return true;
  }
  return false;
}

// An index over counters alone: symbols that are sums are put in.
Expr over_counters(Expr e, const std::vector<Stmt> &around) {
  for (auto s = around.rbegin(); s != around.rend(); ++s) {
    if ((*s)->kind == StmtKind::Let) e = substitute((*s)->name, (*s)->args[0], e);
  }
  return e;
}

// index - min, shared out. nullopt: it is of another form.
std::optional<SharedIndex> share_out(const Expr &index, const Expr &min,
                                     const std::vector<Stmt> &around) {
  std::map<std::string, size_t> threads;  // counter -> place in `loops`
  std::vector<Stmt> loops;                // x first
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  for (const Stmt &s : around) {
    if (is_thread_loop(s)) loops.insert(loops.begin(), s);
    int64_t first = 0, extent = 0;
    if (s->kind == StmtKind::For && is_const_int(s->args[0], &first) &&
        is_const_int(s->args[1], &extent)) {
      ranges[s->name] = {first, first + extent - 1};
    }
  }
  for (size_t i = 0; i < loops.size(); i++) threads[loops[i]->name] = i;

  const Linear offset =
      to_linear(simplify(over_counters(make_binary(Op::Sub, index, min), around)));
  SharedIndex out;
  for (const auto &[atom, coefficient] : offset.terms) {
    if (!uses_any(atom, threads)) continue;
    const VariableNode *v = as_variable(atom);
    if (!v || out.share.part != 0 || coefficient < 1) return std::nullopt;
    out.share.position = threads.at(v->name);
    out.share.part = coefficient;
    if (!is_const_int(loops[out.share.position]->args[1], &out.share.threads)) return std::nullopt;
  }
  const int64_t part = out.share.part, step = part * out.share.threads;
  if (part == 0) {
    out.left = to_expr(offset);
    return out;
  }
  Linear m, r;
  int64_t least = 0, most = 0;
  for (const auto &[atom, coefficient] : offset.terms) {
    const VariableNode *v = as_variable(atom);
    if (v && threads.count(v->name)) continue;
    if (coefficient % step == 0) {
      m.terms[atom] = coefficient / step * part;
      continue;
    }
    r.terms[atom] = coefficient;
    if (!v || !ranges.count(v->name)) return std::nullopt;
    const auto [low, high] = ranges.at(v->name);
    least += std::min(coefficient * low, coefficient * high);
    most += std::max(coefficient * low, coefficient * high);
  }
  r.constant = ((offset.constant % step) + step) % step;
  m.constant = (offset.constant - r.constant) / step * part;
  if (least + r.constant < 0 || most + r.constant >= part) return std::nullopt;
  m.add(r);
  out.left = to_expr(m);
  return out;
}

// Accesses of one Func in phases, their cells shared out.
class Rename : public StmtRewriter {
 public:
  Rename(std::string func, const Stmt &allocation, std::vector<Stmt> around)
      : func_(std::move(func)), box_(allocation->args), around_(std::move(around)) {}

  /// How the dimensions are shared out; nullopt where accesses do not agree.
  std::optional<std::vector<Share>> shares(const std::vector<ThreadAccess> &accesses) const {
    std::optional<std::vector<Share>> found;
    for (const ThreadAccess &a : accesses) {
      std::vector<Share> of;
      for (size_t d = 0; d < a.cell.size(); d++) {
        const auto part = share_out(a.cell[d], box_[2 * d], a.around);
        if (!part) return std::nullopt;
        of.push_back(part->share);
      }
      if (found && !(*found == of)) return std::nullopt;
      found = std::move(of);
    }
    return found;
  }

  std::vector<Expr> box(const std::vector<Share> &shares) const {
    std::vector<Expr> box;
    for (size_t d = 0; d < shares.size(); d++) {
      int64_t extent = 1;
      is_const_int(box_[2 * d + 1], &extent);
      const int64_t step = shares[d].part * shares[d].threads;
      if (step > 0) extent = (extent + step - 1) / step * shares[d].part;
      box.push_back(Expr(0));
      box.push_back(make_int(Int(32), extent));
    }
    return box;
  }

 protected:
  Stmt rewrite(const Stmt &s) override {
    const bool scope = s->kind == StmtKind::For || s->kind == StmtKind::Let;
    if (s->kind == StmtKind::Provide && s->name == func_) {
      std::vector<Expr> args;
      const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
      for (size_t i = 0; i < s->args.size(); i++) {
        args.push_back(i < dims ? left(i, s->args[i]) : rewrite_expr(s->args[i]));
      }
      return with_parts(s, std::move(args), {});
    }
    std::vector<Expr> args;
    for (const Expr &e : s->args) args.push_back(rewrite_expr(e));
    if (scope) around_.push_back(s);
    std::vector<Stmt> body;
    for (const Stmt &b : s->body) body.push_back((*this)(b));
    if (scope) around_.pop_back();
    return with_parts(s, std::move(args), std::move(body));
  }

  Expr rewrite_expr(const Expr &e) override { return Reads(*this)(e); }

 private:
  class Reads : public ExprRewriter {
   public:
    explicit Reads(Rename &of) : of_(of) {}

   protected:
    Expr rewrite(const Expr &e) override {
      const Expr r = rewrite_children(e);
      const CallNode *c = as_call(e);
      if (!c || c->kind != CallKind::Func || c->name != of_.func_) return r;
      std::vector<Expr> cell;
      for (size_t d = 0; d < c->args.size(); d++) cell.push_back(of_.left(d, c->args[d]));
      return make_func_call(c->type, c->name, std::move(cell), c->value_index);
    }

   private:
    Rename &of_;
  };

  Expr left(size_t d, const Expr &index) const {
    return share_out(index, box_[2 * d], around_)->left;
  }

  const std::string func_;
  const std::vector<Expr> box_;
  std::vector<Stmt> around_;
};

class SplitRegisters : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) {
      kernel_ = s;
      const Stmt out = rewrite_children(s);
      kernel_ = Stmt();
      return out;
    }
    if (is_thread_loop(s)) return s;
    if (kernel_.defined() && s->kind == StmtKind::Allocate && s->home == Home::Thread) {
      return allocation(s);
    }
    const bool scope =
        kernel_.defined() && (s->kind == StmtKind::Let ||
                              (s->kind == StmtKind::For && s->loop_kind != LoopKind::GpuBlock));
    if (scope) around_.push_back(s);
    const Stmt out = rewrite_children(s);
    if (scope) around_.pop_back();
    return out;
  }

 private:
  Stmt allocation(const Stmt &s) {
    const std::string func = func_of_buffer(s->name);
    std::vector<ThreadAccess> accesses;
    for (ThreadAccess &a : thread_accesses(s->body[0], around_, {})) {
      if (a.func == func) accesses.push_back(std::move(a));
    }
    prove(func, accesses);
    // Buffers of further values of the Func stand inside; the first one finds the shares.
    Rename rename(func, s, around_);
    auto known = shares_.find(func);
    const bool first = known == shares_.end();
    if (first) known = shares_.emplace(func, rename.shares(accesses)).first;
    const std::optional<std::vector<Share>> shares = known->second;
    Stmt body = rewrite_children(s)->body[0];
    if (first) shares_.erase(func);
    if (!shares) return with_parts(s, s->args, {body});
    if (first) body = rename(body);
    return make_allocate(s->name, s->type, rename.box(*shares), s->home, body, s->order);
  }

  void prove(const std::string &func, const std::vector<ThreadAccess> &accesses) {
    for (const ThreadAccess &a : accesses) {
      for (const ThreadAccess &b : accesses) {
        if (!a.writes) continue;
        const auto conflict = find_thread_conflict(solver_, kernel_, a, b);
        if (!conflict) continue;
        user_error("cannot keep '" + func + "' in registers of the threads of kernel '" +
                       kernel_->name + "'",
                   conflict->text(func) + ", and a thread does not see another one's registers",
                   "use store_in(MemoryType::GPUShared), or loops over threads in which each "
                   "element of '" +
                       func + "' is one thread's");
      }
    }
  }

  Stmt kernel_;
  std::vector<Stmt> around_;
  std::map<std::string, std::optional<std::vector<Share>>> shares_;
  Solver solver_{JudgeOptions().isl_operations};
};

}  // namespace

Function split_registers(const Function &f) {
  Function out = f;
  out.body = SplitRegisters()(f.body);
  return out;
}

}  // namespace polyhalite
