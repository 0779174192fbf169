// Sliding windows: where a Func's storage outlives its production, an iteration computes only what
// the iteration before it did not.
//
//   store bx at by.y, compute it at by.yi           allocate bx [base - 1, base + 32]
//   for yi { compute bx over [yi - 1, yi + 1] }  -> for yi { compute bx over
//                                                     [yi == 0 ? yi - 1 : yi + 1, yi + 1] }
// and the storage folds to a ring of as many rows as the window has.
#include <algorithm>

#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

int64_t next_power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// Takes the branch of every select on `condition` that `holds` says.
//
//   select(yi <= 0, a, b) + c  ->  a + c, or b + c
class UnderCondition : public ExprRewriter {
 public:
  UnderCondition(const Expr &condition, bool holds) : condition_(condition), holds_(holds) {}

 protected:
  Expr rewrite(const Expr &e) override {
    if (e->op == Op::Select && equal(e->args[0], condition_)) {
      return (*this)(e->args[holds_ ? 1 : 2]);
    }
    return rewrite_children(e);
  }

 private:
  const Expr &condition_;
  bool holds_;
};

}  // namespace

Expr Surveyor::expand_within(const Expr &e, int outside) const {
  std::map<std::string, Expr> values;
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (!v || v->kind != VariableKind::Symbol) return;
    auto it = symbol_.find(v->name);
    if (it == symbol_.end() || visible(outside, symbol_owner_.at(v->name))) return;
    values[v->name] = expand_within(it->second.value, outside);
  });
  return substitute(values, e);
}

bool Surveyor::is_nondecreasing(const Expr &e, const std::string &loop) const {
  if (!uses_variable(e, loop)) return true;
  auto all = [&](size_t from) {
    for (size_t i = from; i < e->args.size(); i++) {
      if (!is_nondecreasing(e->args[i], loop)) return false;
    }
    return true;
  };
  int64_t k;
  switch (e->op) {
    case Op::Variable:
      return true;
    case Op::Min:
    case Op::Max:
      return all(0);
    case Op::Div:
      return is_const_int(e->args[1], &k) && k > 0 && is_nondecreasing(e->args[0], loop);
    case Op::Select: {
      // select(loop <= first, a, b) with b >= a: what slide_along makes of a nondecreasing a.
      const Expr &c = e->args[0], &first = e->args[1], &later = e->args[2];
      if (c->op != Op::Le || !as_variable(c->args[0]) || as_variable(c->args[0])->name != loop) {
        return false;
      }
      const bool max_of_first =
          later->op == Op::Max && (equal(later->args[0], first) || equal(later->args[1], first));
      return (max_of_first || constant_difference(later, first).value_or(-1) >= 0) &&
             is_nondecreasing(first, loop) && is_nondecreasing(later, loop);
    }
    default:
      break;
  }
  const Linear l = to_linear(e);
  if (l.terms.size() == 1 && l.constant == 0 && l.terms.begin()->second == 1) return false;
  for (const auto &[atom, c] : l.terms) {
    if (!uses_variable(atom, loop)) continue;
    if (c < 0 || !is_nondecreasing(atom, loop)) return false;
  }
  return true;
}

void Surveyor::slide(int f, int compute_scope) {
  const int store = tree_.placements[f].store;
  FuncSurvey &fs = out_.funcs[f];
  fs.fold.assign(fs.needed.size(), 0);
  fs.slides.assign(fs.needed.size(), false);
  const FuncDef &def = tree_.algorithm.funcs[f];
  if (store == compute_scope || def.stages.size() != 1) return;
  std::vector<int> inner;  // loops of the path inside the one that is tried
  std::set<size_t> slid;
  for (int l = compute_scope; l != store; inner.push_back(l), l = parent_[l]) {
    if (tree_.loops[l].kind != LoopKind::Serial) continue;
    if (auto d = sliding_dimension(f, l, inner); d && slid.insert(*d).second) {
      slide_along(f, *d, l, compute_scope);
      // A ring holds the last window alone: the next iteration of a loop further out finds nothing
      // of the one before it.
      if (fs.fold[*d] > 0) return;
    }
  }
}

std::optional<size_t> Surveyor::sliding_dimension(int f, int loop,
                                                  const std::vector<int> &inner) const {
  const FuncSurvey &fs = out_.funcs[f];
  const FuncDef &def = tree_.algorithm.funcs[f];
  const std::string &name = tree_.loops[loop].name;
  // The loops inside must run the same iterations each time.
  for (int m : inner) {
    for (const Expr &e : {out_.loops[m].min, out_.loops[m].extent}) {
      if (uses_variable(expand_within(e, parent_[loop]), name)) return std::nullopt;
    }
  }
  std::optional<size_t> found;
  for (size_t d = 0; d < fs.needed.size(); d++) {
    const Expr min = expand_within(fs.needed[d].min, parent_[loop]);
    const Expr max = expand_within(fs.needed[d].max, parent_[loop]);
    if (!uses_variable(min, name) && !uses_variable(max, name)) continue;
    if (found || !is_nondecreasing(min, name) || !is_nondecreasing(max, name)) return std::nullopt;
    for (int m : inner) {
      const std::string &other = tree_.loops[m].name;
      if (uses_variable(min, other) || uses_variable(max, other)) return std::nullopt;
    }
    // Windows that never overlap have nothing to keep.
    const Expr next =
        make_binary(Op::Add, make_variable(Int(32), VariableKind::Loop, name), Expr(1));
    const auto gap = constant_difference(substitute(name, next, min), max);
    if (gap && *gap > 0) return std::nullopt;
    found = d;
  }
  if (!found) return std::nullopt;
  // The rows that are left to compute vary in number: no split, vector or thread takes them.
  const StageNest &nest = tree_.nest({f, 0});
  for (const Derivation &derivation : nest.derivations) {
    const std::string &arg = def.args[*found];
    if (derivation.a == arg || (derivation.kind == Derivation::Fuse && derivation.b == arg)) {
      return std::nullopt;
    }
  }
  for (int l : nest.loops) {
    const LoopInfo &info = tree_.loops[l];
    if (info.dim == def.args[*found] && info.kind != LoopKind::Serial) return std::nullopt;
  }
  return found;
}

void Surveyor::slide_along(int f, size_t d, int loop, int compute_scope) {
  FuncSurvey &fs = out_.funcs[f];
  const std::string &name = tree_.loops[loop].name;
  const Expr counter = make_variable(Int(32), VariableKind::Loop, name);
  const Expr min = expand_within(fs.needed[d].min, parent_[loop]);
  const Expr max = expand_within(fs.needed[d].max, parent_[loop]);
  const Expr before = substitute(name, make_binary(Op::Sub, counter, Expr(1)), max);
  // Consumers that slide along the same loop have bounds with the same condition: each branch keeps
  // theirs, so that a chain's bounds stay as short as its first stage's.
  const Expr at_first = make_binary(Op::Le, counter, out_.loops[loop].min);
  const Expr later = make_binary(Op::Max, UnderCondition(at_first, false)(min), sum(before, 1));
  const Expr rest =
      make_select(at_first, UnderCondition(at_first, true)(min), simplify(later));
  const FuncDef &def = tree_.algorithm.funcs[f];
  const std::string symbol = def.name + ".new." + std::to_string(d);
  fs.computed[d].min = add_symbol(compute_scope, symbol, rest, fs.needed[d].min);
  fs.slides[d] = true;
  // Dimension 0 stays whole: vectors run along it. Iterations that run at once share no ring.
  if (d == 0) return;
  for (int l = parent_[loop]; l != tree_.placements[f].store; l = parent_[l]) {
    const LoopKind kind = tree_.loops[l].kind;
    if (kind == LoopKind::Parallel || kind == LoopKind::Vector) return;
  }
  const Expr width = difference(fs.needed[d].max, fs.needed[d].min);
  const auto most = ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(width);
  if (most) fs.fold[d] = next_power_of_two(*most + 1);
}

}  // namespace polyhalite
