#include "codegen/passes/cut_selects.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "codegen/ir/visit.h"
#include "codegen/passes/copy_body.h"
#include "codegen/passes/elimination.h"
#include "codegen/passes/steady_state.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

// Cuts make no more of a loop's body than this, nodes in all.
constexpr size_t kMaxPiecesSize = 20000;
// A loop falls into no more pieces than this many cuts of cuts make.
constexpr int kMostCuts = 3;

// Iterations x of a loop with   x < below: the comparison is `low`;   x >= above: it is `high`.
struct Cut {
  Expr below, above;  // equal where no iteration has both cases
  bool low = false, high = false;
  bool point = false;  // x == below is the only one between, and neither
};

bool same(const Cut &a, const Cut &b) {
  return a.low == b.low && a.high == b.high && a.point == b.point && equal(a.below, b.below) &&
         equal(a.above, b.above);
}

// Does a block do nothing but write cells of one Func, under conditions: one phase after another?
bool is_phases(const Stmt &block) {
  std::set<std::string> written;
  bool only_writes = true;
  for_each_stmt(block, [&](const Stmt &s) {
    if (s->kind == StmtKind::Provide) written.insert(s->name);
    only_writes &= s->kind == StmtKind::Provide || s->kind == StmtKind::Block ||
                   s->kind == StmtKind::For || s->kind == StmtKind::Let || s->kind == StmtKind::If;
  });
  return only_writes && written.size() == 1;
}

// Selects, and comparisons in their conditions, become what is known of them.
class Decide : public DecideSelects {
 public:
  Decide(const StmtNode *stmt, const Replacements &r) : stmt_(stmt), replacements_(r) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const auto known = replacements_.find({stmt_, e.get()});
    if (known != replacements_.end()) return known->second;
    return e->op == Op::Select ? rewrite_select(e) : rewrite_children(e);
  }

 private:
  const StmtNode *stmt_;
  const Replacements &replacements_;
};

class DecidedBody : public StmtRewriter {
 public:
  explicit DecidedBody(const Replacements &r) : replacements_(r) {}

 protected:
  Stmt rewrite(const Stmt &s) override {
    std::vector<Expr> args;
    for (const Expr &e : s->args) args.push_back(Decide(s.get(), replacements_)(e));
    if (s->kind == StmtKind::If && !args[0].same_as(s->args[0])) {
      args[0] = simplify(args[0]);
      if (is_true(args[0])) return (*this)(s->body[0]);
      if (is_false(args[0])) return s->body.size() > 1 ? (*this)(s->body[1]) : make_block({});
    }
    std::vector<Stmt> body;
    for (const Stmt &b : s->body) body.push_back((*this)(b));
    return with_parts(s, std::move(args), std::move(body));
  }

 private:
  const Replacements &replacements_;
};

// Finds a comparison to cut a loop for, and all that the cut decides.
class Finder {
 public:
  explicit Finder(const Stmt &loop)
      : name_(loop->name), counter_(make_variable(Int(32), VariableKind::Loop, loop->name)) {
    visit(loop->body[0]);
  }

  const std::optional<Cut> &cut() const { return cut_; }
  const Replacements &decided(bool value) const { return value ? true_ : false_; }

 private:
  void visit(const Stmt &s) {
    for (const Expr &e : s->args) {
      bool names_values = false;  // that are unknown in front of the loop
      for_each_node(e, [&](const Expr &n) { names_values |= n->op == Op::Let; });
      if (names_values) continue;
      for_each_node(e, [&](const Expr &n) {
        if (n->op != Op::Select || !n->args[0].type().is_scalar()) return;
        if (is_likely(n->args[1]) != is_likely(n->args[2])) return;
        if (is_costly(n->args[1], s) || is_costly(n->args[2], s)) conditions(n->args[0], s);
      });
    }
    if (s->kind == StmtKind::If) {
      if (in_phase_) {
        conditions(s->args[0], s);
      } else {
        exceptions(s->args[0], s);
      }
    }
    const bool loop = s->kind == StmtKind::For, let = s->kind == StmtKind::Let;
    if (loop) binders_.push_back({s->name, Expr(), s->args[0], s->args[1], may_be_cut(s)});
    if (let) binders_.push_back({s->name, s->args[0], Expr(), Expr()});
    const bool outer = in_phase_;
    if (s->kind == StmtKind::Block) in_phase_ = is_phases(s);
    for (const Stmt &b : s->body) visit(b);
    in_phase_ = outer;
    if (loop || let) binders_.pop_back();
  }

  // Is e no trifle to compute beside what is chosen?
  static bool is_costly(const Expr &e, const Stmt &s) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) {
      const CallNode *c = as_call(n);
      found =
          found || (n->op == Op::Div && n.type().is_float()) || (c && c->kind == CallKind::Math) ||
          (c && c->kind == CallKind::Func && s->kind == StmtKind::Provide && c->name == s->name);
    });
    return found;
  }

  void conditions(const Expr &e, const Stmt &s) {
    if (e->op == Op::And || e->op == Op::Or || e->op == Op::Not) {
      for (const Expr &part : e->args) conditions(part, s);
      return;
    }
    if (is_comparison(e->op)) add(cut_of(e), e, s);
  }

  // Of a guard that leaves single iterations out: among lanes, that no others are masked.
  void exceptions(const Expr &e, const Stmt &s) {
    if (e->op == Op::And) {
      for (const Expr &part : e->args) exceptions(part, s);
    } else if (e->op == Op::Ne) {
      const std::optional<Cut> cut = cut_of(e);
      if (cut && !cut->point) add(cut, e, s);
    }
  }

  void add(const std::optional<Cut> &cut, const Expr &e, const Stmt &s) {
    if (!cut || (cut_ && !same(*cut_, *cut))) return;
    cut_ = cut;
    true_[{s.get(), e.get()}] = make_true();
    false_[{s.get(), e.get()}] = make_false();
  }

  std::optional<Cut> cut_of(const Expr &comparison) const {
    const bool equality = comparison->op == Op::Eq || comparison->op == Op::Ne;
    std::vector<Linear> holds, fails;
    if (!add_inequalities(comparison, comparison->op != Op::Ne, &holds)) return std::nullopt;
    if (!equality && !add_inequalities(comparison, false, &fails)) return std::nullopt;
    const std::set<std::string> names = dependences(holds, binders_);
    if (!names.count(name_)) return std::nullopt;
    for (const Binder &b : binders_) {
      if (b.may_be_cut && names.count(b.name)) return std::nullopt;
    }
    if (!equality) return halves_of(holds, fails);
    const bool differ = comparison->op == Op::Ne;
    const std::optional<Cut> point = point_of(holds, differ);
    return point ? point : sides_of(holds[0], differ);
  }

  // Cut where x < below, or x >= above, makes the comparison true and the other one false.
  std::optional<Cut> halves_of(const std::vector<Linear> &holds,
                               const std::vector<Linear> &fails) const {
    bool exact = true;
    const std::optional<Linear> yes = reduced(holds[0], &exact), no = reduced(fails[0], &exact);
    if (!yes || !no) return std::nullopt;
    const bool yes_above = yes->terms.at(counter_) > 0;
    if (yes_above == (no->terms.at(counter_) > 0)) return std::nullopt;
    const Expr of_yes = to_expr(bound_of(*yes, counter_)), of_no = to_expr(bound_of(*no, counter_));
    Cut cut;
    cut.low = !yes_above;
    cut.high = yes_above;
    cut.below = yes_above ? of_no : of_yes;
    cut.above = yes_above ? of_yes : of_no;
    return cut;
  }

  // x == below: where the counter itself is compared with what no loop inside changes.
  std::optional<Cut> point_of(const std::vector<Linear> &equal_zero, bool differ) const {
    bool exact = true;
    std::optional<Linear> l = reduced(equal_zero[0], &exact);
    if (!l || !exact) return std::nullopt;
    const int64_t c = l->terms.at(counter_);
    if (c != 1 && c != -1) return std::nullopt;
    l->terms.erase(counter_);
    l->scale(-c);
    Cut cut;
    cut.below = to_expr(*l);
    cut.above = to_expr(l->add(Linear{{}, 1}));
    cut.low = cut.high = differ;
    cut.point = true;
    return cut;
  }

  // Where l == 0 for some iterations of loops inside, lanes say: before and behind, for none.
  std::optional<Cut> sides_of(const Linear &l, bool differ) const {
    bool exact = true;
    Linear negative = l, positive = l;
    negative.scale(-1).add(Linear{{}, -1});
    positive.add(Linear{{}, -1});
    const std::optional<Linear> a = reduced(negative, &exact), b = reduced(positive, &exact);
    if (!a || !b) return std::nullopt;
    const bool a_above = a->terms.at(counter_) > 0;
    if (a_above == (b->terms.at(counter_) > 0)) return std::nullopt;
    Cut cut;
    cut.below = to_expr(bound_of(a_above ? *b : *a, counter_));
    cut.above = to_expr(bound_of(a_above ? *a : *b, counter_));
    cut.low = cut.high = differ;
    return cut;
  }

  // One inequality of the counter that implies l >= 0.
  std::optional<Linear> reduced(const Linear &l, bool *exact) const {
    std::vector<Linear> out;
    Elimination elimination(name_, binders_);
    if (!elimination.reduce(l, &out) || out.size() != 1) return std::nullopt;
    if (!out[0].terms.count(counter_)) return std::nullopt;
    *exact = *exact && elimination.exact();
    return out[0];
  }

  const std::string name_;
  const Expr counter_;
  std::vector<Binder> binders_;
  bool in_phase_ = false;
  std::optional<Cut> cut_;
  Replacements true_, false_;
};

class CutSelects : public StmtRewriter {
 protected:
  Stmt rewrite(const Stmt &s) override {
    if (s->kind == StmtKind::Kernel) return s;  // its threads do not diverge for long
    if (s->kind != StmtKind::For) return rewrite_children(s);
    if (!s->instruction.empty()) return s;  // an instruction runs whole
    const bool may = s->loop_kind == LoopKind::Serial && may_be_cut(s);
    const size_t size = may && depth_ < kMostCuts ? size_of(s->body[0]) : 0;
    if (size > 0 && copied_ + size <= kMaxPiecesSize) {
      const Finder finder(s);
      if (finder.cut()) {
        copied_ += size;
        return cut(s, *finder.cut(), finder);
      }
    }
    const int depth = std::exchange(depth_, 0);
    const Stmt out = rewrite_children(s);
    depth_ = depth;
    return out;
  }

 private:
  Stmt cut(const Stmt &s, const Cut &cut, const Finder &finder) {
    const int number = named_[s->name]++;
    const std::string name = s->name + ".cut" + (number ? "." + std::to_string(number) : "");
    const Expr end = sum(s->args[0], s->args[1]);
    const bool two_cuts = !equal(cut.below, cut.above);
    const Expr first = symbol(name), second = two_cuts ? symbol(name + ".end") : first;
    // Who asked for a cut has it.
    const Partition rest = s->partition == Partition::Always ? Partition::Auto : s->partition;
    auto piece = [&](const Expr &from, const Expr &to, const Stmt &body) {
      return make_for(s->name, from, simplify(make_binary(Op::Sub, to, from)), s->loop_kind, body,
                      rest);
    };
    auto decided = [&](const Expr &from, const Expr &to, bool value) {
      depth_++;
      const Stmt out = (*this)(piece(from, to, DecidedBody(finder.decided(value))(s->body[0])));
      depth_--;
      return out;
    };
    std::vector<Stmt> pieces = {decided(s->args[0], first, cut.low)};
    if (cut.point) {
      pieces.push_back(decided(first, second, !cut.low));
    } else if (two_cuts) {
      const int depth = std::exchange(depth_, 0);
      pieces.push_back(rewrite_children(piece(first, second, s->body[0])));
      depth_ = depth;
    }
    pieces.push_back(decided(second, end, cut.high));
    Stmt out = make_block(std::move(pieces));
    // Each is held to what is left of the loop, so that the ranges are the loop's.
    auto held = [&](const Expr &at, const Expr &from) {
      return simplify(make_binary(Op::Max, make_binary(Op::Min, at, end), from));
    };
    if (two_cuts) out = make_let_stmt(name + ".end", held(cut.above, first), out);
    return make_let_stmt(name, held(cut.below, s->args[0]), out);
  }

  static Expr sum(const Expr &a, const Expr &b) { return make_binary(Op::Add, a, b); }
  static Expr symbol(const std::string &name) {
    return make_variable(Int(32), VariableKind::Symbol, name);
  }

  int depth_ = 0;  // cuts of the loop so far
  size_t copied_ = 0;
  std::map<std::string, int> named_;
};

}  // namespace

Function cut_selects(const Function &f) {
  Function out = f;
  out.body = CutSelects()(f.body);
  return out;
}

}  // namespace polyhalite
