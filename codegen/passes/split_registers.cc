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

// A digit of a thread's coordinate that an index has: (coordinate / divisor) % count, times part.
struct Digit {
  size_t position = 0;  // of the coordinate: 0 is x
  int64_t divisor = 1, count = 1, part = 0;
  bool operator==(const Digit &o) const {
    return position == o.position && divisor == o.divisor && count == o.count && part == o.part;
  }
};

// How an index falls into digits of the thread, and what is left to each thread. Digits cover
// [part, part*count) of the places that a number has; what is left stands in the gaps between:
//   i = 16*ty + 8*e + tx/4       digits tx/4 (part 1, 8 of them), ty (part 16)      left: e
struct SharedIndex {
  std::vector<Digit> digits;  // smallest part first
  Expr left;
};

using Ranges = std::map<std::string, std::pair<int64_t, int64_t>>;

// Inclusive; of counters and their digits.
std::optional<std::pair<int64_t, int64_t>> range_of(const Expr &e, const Ranges &ranges) {
  if (const VariableNode *v = as_variable(e)) {
    const auto known = ranges.find(v->name);
    if (known == ranges.end()) return std::nullopt;
    return known->second;
  }
  int64_t c = 0;
  if ((e->op != Op::Div && e->op != Op::Mod) || !is_const_int(e->args[1], &c) || c < 1) {
    return std::nullopt;
  }
  const auto of = range_of(e->args[0], ranges);
  if (!of || of->first < 0) return std::nullopt;
  if (e->op == Op::Mod) return std::pair<int64_t, int64_t>(0, std::min(of->second, c - 1));
  return std::pair<int64_t, int64_t>(of->first / c, of->second / c);
}

// The threads' coordinates that are in scope.
struct Coordinates {
  std::map<std::string, size_t> positions;
  std::vector<Stmt> loops;  // x first

  bool are_in(const Expr &e) const {
    for (const std::string &v : free_variables(e)) {
      if (positions.count(v)) return true;
    }
    return false;
  }
  std::optional<Digit> digit(const Expr &e) const {
    if (const VariableNode *v = as_variable(e)) {
      Digit d;
      d.position = positions.at(v->name);
      if (!is_const_int(loops[d.position]->args[1], &d.count)) return std::nullopt;
      return d;
    }
    int64_t c = 0;
    if ((e->op != Op::Div && e->op != Op::Mod) || !is_const_int(e->args[1], &c) || c < 1) {
      return std::nullopt;
    }
    std::optional<Digit> d = are_in(e->args[0]) ? digit(e->args[0]) : std::nullopt;
    if (!d || d->count % c != 0) return std::nullopt;
    if (e->op == Op::Div) {
      d->divisor *= c;
      d->count /= c;
    } else {
      d->count = c;
    }
    return d;
  }
};

// The gaps between digits: multiples of `base` below `limit`, and where they go.
struct Gap {
  int64_t base = 1, limit = 0, goes_to = 1;
};

// The last gap has no limit. nullopt: digits cover each other.
std::optional<std::vector<Gap>> gaps_of(const std::vector<Digit> &digits) {
  std::vector<Gap> gaps = {{1, 0, 1}};
  for (const Digit &d : digits) {
    if (d.part % gaps.back().base != 0) return std::nullopt;
    gaps.back().limit = d.part;
    const int64_t next = gaps.back().goes_to * (d.part / gaps.back().base);
    gaps.push_back({d.part * d.count, 0, next});
  }
  return gaps;
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
  Coordinates threads;
  Ranges ranges;
  for (const Stmt &s : around) {
    if (is_thread_loop(s)) threads.loops.insert(threads.loops.begin(), s);
    int64_t first = 0, extent = 0;
    if (s->kind == StmtKind::For && is_const_int(s->args[0], &first) &&
        is_const_int(s->args[1], &extent)) {
      ranges[s->name] = {first, first + extent - 1};
    }
  }
  for (size_t i = 0; i < threads.loops.size(); i++) threads.positions[threads.loops[i]->name] = i;

  const Linear offset =
      to_linear(simplify(over_counters(make_binary(Op::Sub, index, min), around)));
  SharedIndex out;
  for (const auto &[atom, coefficient] : offset.terms) {
    if (!threads.are_in(atom)) continue;
    std::optional<Digit> d = threads.digit(atom);
    if (!d || coefficient < 1) return std::nullopt;
    d->part = coefficient;
    if (d->count > 1) out.digits.push_back(*d);
  }
  std::sort(out.digits.begin(), out.digits.end(),
            [](const Digit &a, const Digit &b) { return a.part < b.part; });
  const auto gaps = gaps_of(out.digits);
  if (!gaps) return std::nullopt;
  std::vector<Linear> left(gaps->size());
  std::vector<std::pair<int64_t, int64_t>> reach(gaps->size(), {0, 0});
  auto gap_of = [&](int64_t n) {
    size_t g = gaps->size() - 1;
    while (n % (*gaps)[g].base != 0) g--;
    return g;
  };
  for (const auto &[atom, coefficient] : offset.terms) {
    if (threads.are_in(atom)) continue;
    const size_t g = gap_of(coefficient);
    left[g].terms[atom] = coefficient / (*gaps)[g].base;
    if (g + 1 == gaps->size()) continue;
    const auto range = range_of(atom, ranges);
    if (!range) return std::nullopt;
    reach[g].first += std::min(coefficient * range->first, coefficient * range->second);
    reach[g].second += std::max(coefficient * range->first, coefficient * range->second);
  }
  int64_t constant = offset.constant;
  for (size_t g = gaps->size(); g-- > 0;) {
    const int64_t base = (*gaps)[g].base;
    const int64_t times = (constant - ((constant % base) + base) % base) / base;
    left[g].constant = times;
    reach[g].first += times * base;
    reach[g].second += times * base;
    constant -= times * base;
  }
  Linear sum;
  for (size_t g = 0; g < gaps->size(); g++) {
    const bool last = g + 1 == gaps->size();
    if (!last && (reach[g].first < 0 || reach[g].second >= (*gaps)[g].limit)) return std::nullopt;
    sum.add(left[g], (*gaps)[g].goes_to);
  }
  out.left = to_expr(sum);
  return out;
}

using Shares = std::vector<std::vector<Digit>>;  // of each dimension

// Accesses of one Func in phases, their cells shared out.
class Rename : public StmtRewriter {
 public:
  Rename(std::string func, const Stmt &allocation, std::vector<Stmt> around)
      : func_(std::move(func)), box_(allocation->args), around_(std::move(around)) {}

  /// How the dimensions are shared out; nullopt where accesses do not agree.
  std::optional<Shares> shares(const std::vector<ThreadAccess> &accesses) const {
    std::optional<Shares> found;
    for (const ThreadAccess &a : accesses) {
      Shares of;
      for (size_t d = 0; d < a.cell.size(); d++) {
        const auto part = share_out(a.cell[d], box_[2 * d], a.around);
        if (!part) return std::nullopt;
        of.push_back(part->digits);
      }
      if (found && !(*found == of)) return std::nullopt;
      found = std::move(of);
    }
    return found;
  }

  std::vector<Expr> box(const Shares &shares) const {
    std::vector<Expr> box;
    for (size_t d = 0; d < shares.size(); d++) {
      int64_t extent = 1;
      is_const_int(box_[2 * d + 1], &extent);
      const Gap last = gaps_of(shares[d])->back();
      extent = (extent + last.base - 1) / last.base * last.goes_to;
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
    const std::optional<Shares> shares = known->second;
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
  std::map<std::string, std::optional<Shares>> shares_;
  Solver solver_{JudgeOptions().isl_operations};
};

}  // namespace

Function split_registers(const Function &f) {
  Function out = f;
  out.body = SplitRegisters()(f.body);
  return out;
}

}  // namespace polyhalite
