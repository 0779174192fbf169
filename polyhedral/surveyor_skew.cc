// Skewed, reversed and shifted loops: dimensions that are sums of others. A skew's points fill no
// rectangle, so that the conditions of a skewed nest become bounds of its loops, each in terms of
// those outside of it:
//
//   for t in [0, T) { for xs in [0, N + T) {         for t in [0, T) { for xs in [t, t + N) {
//     if xs - t >= 0 && xs - t < N { S } } }     ->    S } }
//
// A condition bounds the innermost loop that it speaks of, exactly. What conditions say of the
// loops further outside, for some iteration inside to be left, bounds these too (Fourier-Motzkin),
// so that hardly a loop over tiles begins one that is empty.
#include <algorithm>
#include <numeric>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

// What follows from others is left out beyond these numbers, of a nest and of one end of a loop.
constexpr size_t kMaxRows = 64, kMaxProjected = 3;

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// One inequality: form >= 0.
struct Row {
  Linear form;
  int conjunct = -1;       // that it is a part of; -1: of none
  bool projected = false;  // it follows from others, and may be left out
};

// A condition that is a conjunction's part.
struct Conjunct {
  Expr condition;
  size_t guard;
  size_t rows = 0, bounding = 0;  // forms_of_bounds that it is; those that became bounds
};

void add_conjuncts(const Expr &e, size_t guard, std::vector<Conjunct> &out) {
  if (e->op == Op::And) {
    add_conjuncts(e->args[0], guard, out);
    add_conjuncts(e->args[1], guard, out);
    return;
  }
  out.push_back({e, guard});
}

// The forms_of_bounds that a comparison is; none where it is something else.
std::vector<Linear> forms_of_bounds(const Expr &e) {
  if (!is_comparison(e->op) || e->op == Op::Ne || e->args[0].type() != Int(32)) return {};
  auto above = [&](int high, int low, int64_t strict) {
    Linear l = to_linear(e->args[high]);
    l.add(to_linear(e->args[low]), -1);
    l.constant -= strict;
    return l;
  };
  switch (e->op) {
    case Op::Lt:
      return {above(1, 0, 1)};
    case Op::Le:
      return {above(1, 0, 0)};
    case Op::Gt:
      return {above(0, 1, 1)};
    case Op::Ge:
      return {above(0, 1, 0)};
    default:
      return {above(1, 0, 0), above(0, 1, 0)};
  }
}

// All coefficients of variables divided by what they have in common; so is the constant, down to
// the next integer, which no integer point notices.
Linear reduced(Linear l) {
  int64_t common = 0;
  for (const auto &[atom, c] : l.terms) common = std::gcd(common, c);
  if (common <= 1) return l;
  for (auto &[atom, c] : l.terms) c /= common;
  l.constant = floor_div(l.constant, common);
  return l;
}

// The loops of a nest, as far as their bounds may change.
class NestBounds {
 public:
  struct Loop {
    Expr counter, min, max;  // min, max: over what is outside of the nest
    bool fixed = false;      // as many iterations as it has: a vector, or shared with other stages
  };

  NestBounds(std::vector<Loop> loops, std::vector<Row> rows, std::vector<Conjunct> &conjuncts)
      : loops_(std::move(loops)), rows_(std::move(rows)), conjuncts_(conjuncts) {}

  /// The loops with their bounds, innermost ones first.
  std::vector<Loop> run() {
    std::vector<Loop> bounded = loops_;
    for (size_t i = loops_.size(); i-- > 0;) bounded[i] = take_out(i);
    return bounded;
  }

 private:
  static Linear difference_of(const Expr &a, const Expr &b) {
    Linear l = to_linear(a);
    return l.add(to_linear(b), -1);
  }

  // Is the form at least 0 wherever the loops are within their first bounds? `lenient`: where these
  // leave something, each.
  bool holds_anyway(Linear l, bool lenient) const {
    for (const Loop &loop : loops_) {
      const auto it = l.terms.find(loop.counter);
      if (it == l.terms.end()) continue;
      const int64_t c = it->second;
      l.terms.erase(it);
      l.add(to_linear(c > 0 ? loop.min : loop.max), c);
    }
    for (size_t i = 0; lenient && i < loops_.size(); i++) {
      const Linear width = difference_of(loops_[i].max, loops_[i].min);
      for (const auto &[atom, c] : width.terms) {
        const auto it = l.terms.find(atom);
        if (it == l.terms.end() || it->second / c <= 0) continue;
        l.add(width, -(it->second / c));
        break;
      }
    }
    return l.is_constant() && l.constant >= 0;
  }

  // Do all points within the bound `a` of the counter have the bound `b` of the same side?
  bool implies(const Row &a, const Row &b, const Expr &counter) const {
    const int64_t of_a = std::abs(a.form.terms.at(counter)),
                  of_b = std::abs(b.form.terms.at(counter));
    Linear l = b.form;
    l.scale(of_a);
    l.add(a.form, -of_b);
    return holds_anyway(std::move(l), b.projected);
  }

  // Bounds of one side, without those that others imply.
  std::vector<Row> tightest(const std::vector<Row> &bounds, const Expr &counter) const {
    std::vector<Row> kept;
    size_t projected = 0;
    for (const Row &r : bounds) {
      const bool implied = std::any_of(kept.begin(), kept.end(),
                                       [&](const Row &k) { return implies(k, r, counter); });
      if (implied || (r.projected && projected == kMaxProjected)) continue;
      kept.erase(std::remove_if(kept.begin(), kept.end(),
                                [&](const Row &k) { return implies(r, k, counter); }),
                 kept.end());
      kept.push_back(r);
      projected += r.projected;
    }
    return kept;
  }

  // c*k + rest >= 0 with c > 0: k >= ceil(-rest / c); with c < 0: k <= floor(rest / -c).
  static Expr end_of(Linear l, const Expr &counter) {
    const int64_t c = l.terms.at(counter), magnitude = std::abs(c);
    l.terms.erase(counter);
    if (c > 0) {
      l.scale(-1);
      l.constant += c - 1;
    }
    if (magnitude == 1) return to_expr(l);
    return simplify(make_binary(Op::Div, to_expr(l), make_int(Int(32), magnitude)));
  }

  // Bounds loop i, and says what is left for the loops outside of it.
  Loop take_out(size_t i) {
    Loop loop = loops_[i];
    const Expr &counter = loop.counter;
    std::vector<Row> low = {{difference_of(counter, loop.min)}},
                     high = {{difference_of(loop.max, counter)}};
    std::vector<Row> rest;
    for (const Row &r : rows_) {
      const auto it = r.form.terms.find(counter);
      if (it == r.form.terms.end()) {
        rest.push_back(r);
        continue;
      }
      (it->second > 0 ? low : high).push_back(r);
      if (!loop.fixed && r.conjunct >= 0) conjuncts_[r.conjunct].bounding++;
    }
    low = tightest(low, counter);
    high = tightest(high, counter);
    rows_ = std::move(rest);
    for (const Row &l : low) {
      for (const Row &h : high) {
        Linear both = l.form;
        both.scale(-h.form.terms.at(counter));
        both.add(h.form, l.form.terms.at(counter));
        follows(reduced(std::move(both)));
      }
    }
    if (loop.fixed) return loop;
    Expr min, max;
    for (const Row &l : low) {
      const Expr end = end_of(l.form, counter);
      min = min.defined() ? larger(min, end) : end;
    }
    for (const Row &h : high) {
      const Expr end = end_of(h.form, counter);
      max = max.defined() ? smaller(max, end) : end;
    }
    loop.min = min;
    loop.max = max;
    return loop;
  }

  void follows(Linear l) {
    const bool of_nest = std::any_of(loops_.begin(), loops_.end(), [&](const Loop &loop) {
      return l.terms.count(loop.counter) > 0;
    });
    if (!of_nest || rows_.size() >= kMaxRows || holds_anyway(l, true)) return;
    for (Row &r : rows_) {
      Linear gap = l;
      gap.add(r.form, -1);
      if (!gap.is_constant()) continue;
      if (gap.constant >= 0) return;
      if (r.projected) {
        r.form = std::move(l);
        return;
      }
    }
    rows_.push_back({std::move(l), -1, true});
  }

  std::vector<Loop> loops_;
  std::vector<Row> rows_;
  std::vector<Conjunct> &conjuncts_;
};

}  // namespace

IndexRange Surveyor::linear_range(const Derivation &d,
                                  const std::map<std::string, IndexRange> &ranges) {
  const LinearStep step = linear_step(d);
  const IndexRange &a = ranges.at(d.a);
  IndexRange made = a;
  if (step.sign < 0) made = {product(a.max, -1), product(a.min, -1)};
  if (step.skew != 0) {
    const IndexRange &b = ranges.at(d.b);
    made.min = sum(made.min, product(step.skew > 0 ? b.min : b.max, step.skew));
    made.max = sum(made.max, product(step.skew > 0 ? b.max : b.min, step.skew));
  }
  return {sum(made.min, step.offset), sum(made.max, step.offset)};
}

void Surveyor::linear_value(const StageId &s, const Derivation &d, StageSurvey &out) {
  const LinearStep step = linear_step(d);
  Expr value = sum(out.dims.at(d.c), -step.offset);
  if (step.skew != 0) value = sum(value, product(out.dims.at(d.b), -step.skew));
  out.dims[d.a] = product(value, step.sign);
  if (d.kind != Derivation::Skew) return;
  const IndexRange &a = out.ranges.at(d.a);
  guarded_.insert({s, d.a});
  out.guards.push_back({make_binary(Op::And, make_binary(Op::Ge, out.dims[d.a], a.min),
                                    make_binary(Op::Le, out.dims[d.a], a.max)),
                        d.where});
}

Interval Surveyor::linear_interval(const StageId &s, const Derivation &d, int scope) {
  const LinearStep step = linear_step(d);
  const auto &ranges = out_.stages[s.func][s.stage].ranges;
  const IndexRange &own = ranges.at(d.a), &whole = ranges.at(d.c);
  const Interval c = dim_interval(s, d.c, scope, Expr());
  // All that the new dimension counts is all that there is.
  const bool from_start = equal(c.min, whole.min), to_end = equal(c.max, whole.max);
  if (from_start && to_end) return {own.min, own.max};
  Interval a = {sum(c.min, -step.offset), sum(c.max, -step.offset)};
  if (step.skew != 0) {
    const Interval b = dim_interval(s, d.b, scope, Expr());
    a.min = difference(a.min, product(step.skew > 0 ? b.max : b.min, step.skew));
    a.max = difference(a.max, product(step.skew > 0 ? b.min : b.max, step.skew));
  }
  if (step.sign < 0) a = {product(a.max, -1), product(a.min, -1)};
  if (step.skew == 0) return a;
  auto inside = [&](const Expr &e) { return larger(smaller(e, own.max), own.min); };
  return {inside(a.min), inside(a.max)};
}

bool Surveyor::has_part(const StageId &s, const std::string &dim, Derivation::Kind kind) const {
  std::set<std::string> parts = {dim};
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (!parts.count(d.a)) continue;
    if (d.kind == kind) return true;
    parts.insert(d.c);
    if (d.kind == Derivation::Split) parts.insert(d.b);
  }
  return false;
}

bool Surveyor::may_precede(const StageId &s, const std::string &dim) const {
  return has_part(s, dim, Derivation::Skew) ||
         (is_guarded(s, dim) && has_part(s, dim, Derivation::Reverse));
}

bool Surveyor::is_skewed(int loop) const {
  const std::vector<Derivation> &made = tree_.nest(tree_.loops[loop].stage).derivations;
  return std::any_of(made.begin(), made.end(),
                     [](const Derivation &d) { return d.kind == Derivation::Skew; });
}

void Surveyor::bound_loops(const StageId &s, StageSurvey &out) {
  const StageNest &nest = tree_.nest(s);
  std::vector<NestBounds::Loop> loops;
  for (size_t i = 0; i < nest.loops.size(); i++) {
    const LoopInfo &info = tree_.loops[nest.loops[i]];
    const LoopBounds &b = out_.loops[nest.loops[i]];
    NestBounds::Loop loop;
    loop.counter = make_variable(Int(32), VariableKind::Loop, info.name);
    loop.min = b.min;
    loop.max = sum(sum(b.min, b.extent), -1);
    loop.fixed = i < nest.shared.size() || !info.also.empty() ||
                 (info.kind != LoopKind::Serial && info.kind != LoopKind::Parallel);
    loops.push_back(std::move(loop));
  }
  auto is_of_nest = [&](const Expr &e) {
    const int owner = innermost_owner(e);
    return std::count(nest.loops.begin(), nest.loops.end(), owner) > 0;
  };
  std::vector<Conjunct> conjuncts;
  for (size_t g = 0; g < out.guards.size(); g++) {
    if (out.guards[g].rest == Guard::Nothing) {
      add_conjuncts(out.guards[g].condition, g, conjuncts);
    }
  }
  std::vector<Row> rows;
  for (size_t i = 0; i < conjuncts.size(); i++) {
    if (reads_memory(conjuncts[i].condition)) continue;
    const std::vector<Linear> forms = forms_of_bounds(conjuncts[i].condition);
    bool affine = !forms.empty(), of_nest = false;
    for (const Linear &l : forms) {
      for (const auto &[atom, c] : l.terms) {
        const VariableNode *v = as_variable(atom);
        const bool inside = is_of_nest(atom);
        of_nest = of_nest || inside;
        if (inside && !(v && v->kind == VariableKind::Loop)) affine = false;
      }
    }
    if (!affine || !of_nest) continue;
    conjuncts[i].rows = forms.size();
    for (const Linear &l : forms) rows.push_back({l, static_cast<int>(i)});
  }
  const std::vector<NestBounds::Loop> bounded = NestBounds(loops, std::move(rows), conjuncts).run();
  for (size_t i = 0; i < bounded.size(); i++) {
    if (bounded[i].fixed) continue;
    LoopBounds &b = out_.loops[nest.loops[i]];
    b.min = bounded[i].min;
    b.extent = extent_of({bounded[i].min, bounded[i].max});
  }
  // What is no bound by now stays a condition.
  std::vector<Guard> left;
  for (size_t g = 0; g < out.guards.size(); g++) {
    Guard guard = out.guards[g];
    if (guard.rest == Guard::Nothing) {
      guard.condition = Expr();
      for (const Conjunct &c : conjuncts) {
        if (c.guard != g || (c.rows > 0 && c.bounding == c.rows)) continue;
        guard.condition = guard.condition.defined()
                              ? make_binary(Op::And, guard.condition, c.condition)
                              : c.condition;
      }
    }
    if (guard.condition.defined()) left.push_back(std::move(guard));
  }
  out.guards = std::move(left);
  const bool conditions = std::any_of(out.guards.begin(), out.guards.end(),
                                      [](const Guard &g) { return g.rest == Guard::Nothing; });
  if (!conditions) tight_.insert(s);
}

}  // namespace polyhalite
