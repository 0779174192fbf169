#include "codegen/passes/share_storage.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "codegen/ir/visit.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// Is every access of the buffer inside of a serial or parallel loop on which its place depends?
class AccessedInLoops {
 public:
  explicit AccessedInLoops(const std::string &buffer)
      : buffer_(buffer), func_(func_of_buffer(buffer)) {}

  bool operator()(const Stmt &s) {
    const bool counts = s->kind == StmtKind::For &&
                        (s->loop_kind == LoopKind::Serial || s->loop_kind == LoopKind::Parallel);
    if (s->kind == StmtKind::Provide && is_buffer(s->name)) {
      const size_t dims = s->args.size() - static_cast<size_t>(s->value_count);
      if (!moves(s->args, dims)) return false;
    }
    for (const Expr &e : s->args) {
      bool all = true;
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (c && c->kind == CallKind::Func && is_buffer(c->name)) {
          all = all && moves(c->args, c->args.size());
        }
      });
      if (!all) return false;
    }
    const bool binds = counts || (s->kind == StmtKind::Let && uses_counter(s->args[0]));
    const bool fresh = binds && counters_.insert(s->name).second;
    bool all = true;
    for (const Stmt &b : s->body) all = all && (*this)(b);
    if (fresh) counters_.erase(s->name);
    return all;
  }

 private:
  bool is_buffer(const std::string &name) const { return name == buffer_ || name == func_; }

  bool uses_counter(const Expr &e) const {
    const auto names = free_variables(e);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string &n) { return counters_.count(n) > 0; });
  }

  bool moves(const std::vector<Expr> &indices, size_t count) const {
    return std::any_of(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](const Expr &i) { return uses_counter(i); });
  }

  const std::string &buffer_;
  const std::string func_;
  std::set<std::string> counters_;
};

// Is a at most b, wherever both have a value?
bool at_most(const Expr &a, const Expr &b) {
  if (equal(a, b)) return true;
  if (a->op == Op::Max && b->op == Op::Max && equal(a->args[1], b->args[1])) {
    return at_most(a->args[0], b->args[0]);
  }
  if (b->op == Op::Max) return at_most(a, b->args[0]) || at_most(a, b->args[1]);
  Linear difference = to_linear(b);
  difference.add(to_linear(a), -1);
  if (difference.is_constant()) return difference.constant >= 0;
  return is_true(simplify(make_binary(Op::Le, a, b)));
}

bool fits(const Stmt &small, const Stmt &large) {
  if (small->args.size() != large->args.size() || small->order != large->order) return false;
  for (size_t i = 1; i < small->args.size(); i += 2) {
    if (!at_most(small->args[i], large->args[i])) return false;
  }
  return true;
}

class ShareStorage : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    switch (s->kind) {
      case StmtKind::Block: {
        std::vector<Stmt> body;
        for (size_t i = 0; i < s->body.size(); i++) {
          const size_t outer = later_.size();
          later_.insert(later_.end(), s->body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                        s->body.end());
          body.push_back((*this)(s->body[i]));
          later_.resize(outer);
        }
        return with_parts(s, s->args, std::move(body));
      }
      case StmtKind::Let:
      case StmtKind::Place:
      case StmtKind::Produce:
        return rewrite_children(s);
      case StmtKind::Allocate:
        return allocate(s);
      default:
        return apart(s);
    }
  }

 private:
  struct Memory {
    Stmt allocation;
    std::vector<std::string> names;  // of the buffers that have had it
  };

  // What stands in a loop or a case shares with nothing outside: it runs again, or not at all.
  Stmt apart(const Stmt &s) {
    const auto outer = std::exchange(memory_, {});
    const auto later = std::exchange(later_, {});
    const Stmt out = rewrite_children(s);
    memory_ = outer;
    later_ = later;
    return out;
  }

  Stmt allocate(const Stmt &s) {
    if (!may_share(s)) return rewrite_children(s);
    const bool is_kept = is_memoized(s);  // a whole allocation then
    for (Memory &m : memory_) {
      if (is_kept) break;
      const Stmt a = m.allocation;  // memory_ moves below
      if (a->home != s->home || a->type != s->type || !fits(s, a) || is_needed(m, s)) continue;
      m.names.push_back(s->name);
      const Stmt body = (*this)(s->body[0]);
      return make_place(s->name, s->type, s->args, a->name, make_int(Int(64), 0), body, s->order);
    }
    memory_.push_back({s, {s->name}});
    const Stmt out = rewrite_children(s);
    memory_.pop_back();
    return out;
  }

  static bool may_share(const Stmt &s) {
    if (s->home != Home::Shared && s->home != Home::Stack) return false;
    bool has_places = false;
    for_each_stmt(s, [&](const Stmt &t) { has_places = has_places || t->inside == s->name; });
    return !has_places && (s->home == Home::Shared || AccessedInLoops(s->name)(s->body[0]));
  }

  static bool is_memoized(const Stmt &allocation) {
    bool found = false;
    for_each_stmt(allocation->body[0], [&](const Stmt &t) {
      found |= t->kind == StmtKind::Memoize &&
               std::count(t->buffers.begin(), t->buffers.end(), allocation->name) > 0;
    });
    return found;
  }

  bool is_needed(const Memory &m, const Stmt &from) {
    return std::any_of(m.names.begin(), m.names.end(), [&](const std::string &name) {
      return touches(from, name) || std::any_of(later_.begin(), later_.end(),
                                                [&](const Stmt &s) { return touches(s, name); });
    });
  }

  // Does s touch the buffer, or may it by a name that stands for all buffers of its Func?
  bool touches(const Stmt &s, const std::string &buffer) {
    auto [known, is_new] = accessed_.try_emplace(s.get());
    if (is_new) known->second = accessed_buffers(s);
    return known->second.count(buffer) > 0 || known->second.count(func_of_buffer(buffer)) > 0;
  }

  std::vector<Memory> memory_;  // of allocations around, in this loop body
  std::vector<Stmt> later_;     // what runs in this loop body behind the statement at hand
  // By statements of the function as it was, which are asked about once for every allocation.
  std::map<const StmtNode *, std::set<std::string>> accessed_;
};

}  // namespace

Function share_storage(const Function &f) {
  Function out = f;
  out.body = ShareStorage()(f.body);
  return out;
}

}  // namespace polyhalite
