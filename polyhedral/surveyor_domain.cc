// What the condition of a stage's domain (RDom::where) leaves of its variables' ranges.
#include <algorithm>
#include <cstdlib>

#include "lang/simplify/simplify.h"
#include "polyhedral/limited_sums.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

bool reads_memory(const Linear &l) {
  bool found = false;
  for (const auto &[atom, c] : l.terms) {
    for_each_node(atom, [&](const Expr &n) {
      const CallNode *call = as_call(n);
      found = found || n->op == Op::Load || (call && call->kind != CallKind::Intrinsic);
    });
  }
  return found;
}

}  // namespace

Interval Surveyor::limits_of(const Expr &predicate, const std::string &variable) {
  Interval limits;
  for (const Expr &e : comparisons_in(predicate)) {
    // variable * c + rest OP 0
    Linear rest = to_linear(e->args[0]);
    rest.add(to_linear(e->args[1]), -1);
    int64_t c = 0;
    for (auto term = rest.terms.begin(); term != rest.terms.end(); ++term) {
      const VariableNode *v = as_variable(term->first);
      if (!v || v->name != variable ||
          (v->kind != VariableKind::Pure && v->kind != VariableKind::Reduction)) {
        continue;
      }
      c = term->second;
      rest.terms.erase(term);
      break;
    }
    if (c == 0 || reads_memory(rest)) continue;
    bool below = e->op == Op::Eq, above = e->op == Op::Eq;  // where the variable may not lie
    if (e->op == Op::Lt || e->op == Op::Le) (c > 0 ? above : below) = true;
    if (e->op == Op::Gt || e->op == Op::Ge) (c > 0 ? below : above) = true;
    const int64_t strict = e->op == Op::Lt || e->op == Op::Gt ? 1 : 0;
    // The value where both sides are the same is at / k.
    const Expr at = to_expr(rest.scale(c > 0 ? -1 : 1)), k = make_int(Int(32), std::abs(c));
    if (above) {
      const Expr max = simplify(make_binary(Op::Div, sum(at, -strict), k));
      limits.max = limits.max.defined() ? smaller(limits.max, max) : max;
    }
    if (below) {
      const Expr min = ceil_div(sum(at, strict), k);
      limits.min = limits.min.defined() ? larger(limits.min, min) : min;
    }
  }
  return limits;
}

namespace {

// sum of factors * variables + constant <= 0
struct Inequality {
  std::vector<std::pair<std::string, int64_t>> terms;
  int64_t constant = 0;
};

struct Range {
  int64_t min, max;
};

// Tightens the ranges of i's variables; true where one became smaller.
bool tighten(const Inequality &i, std::map<std::string, Range> &ranges) {
  for (const auto &[name, c] : i.terms) {
    if (!ranges.count(name)) return false;
  }
  bool changed = false;
  for (const auto &[name, c] : i.terms) {
    int64_t most = -i.constant;  // of c * name
    for (const auto &[other, k] : i.terms) {
      const Range &r = ranges.at(other);
      if (other != name) most -= k * (k > 0 ? r.min : r.max);
    }
    Range &r = ranges.at(name);
    const Range before = r;
    auto floor_div = [](int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
    if (c > 0) r.max = std::min(r.max, floor_div(most, c));
    if (c < 0) r.min = std::max(r.min, -floor_div(most, -c));
    changed = changed || before.min != r.min || before.max != r.max;
  }
  return changed;
}

}  // namespace

//   x in [0, 99], y in [0, 99], 2*x + 30 < y, y >= 100 - x   ->   x in [1, 34], y in [66, 99]
void Surveyor::narrow(const StageId &s) {
  if (limited_sums_of(s).empty()) return;
  std::map<std::string, Range> ranges;
  for (const auto &[name, r] : out_.stages[s.func][s.stage].ranges) {
    const auto min = constant(simplify(r.min)), max = constant(simplify(r.max));
    // What is read beyond a range is beyond what the range says of others.
    if (min && max && *min <= *max && !overshoots(s, name)) ranges[name] = {*min, *max};
  }
  std::vector<Inequality> known;
  for (const LimitedSum &sum : limited_sums_of(s)) {
    for (const bool is_max : {false, true}) {
      const Expr &end = is_max ? sum.within.max : sum.within.min;
      const auto limit = end.defined() ? constant(end) : std::nullopt;
      if (!limit) continue;
      const int64_t sign = is_max ? 1 : -1;
      Inequality i{{}, -sign * *limit};
      for (const auto &[atom, c] : sum.sum.terms) {
        const VariableNode *v = as_variable(atom);
        i.terms.push_back({v ? v->name : "", sign * c});
      }
      known.push_back(std::move(i));
    }
  }
  const std::map<std::string, Range> first = ranges;
  constexpr int kMostRounds = 8;
  bool changed = true;
  for (int round = 0; changed && round < kMostRounds; round++) {
    changed = false;
    for (const Inequality &i : known) changed |= tighten(i, ranges);
  }
  for (const auto &[name, r] : ranges) {
    const Range &whole = first.at(name);
    if (r.min > r.max) return;  // it never runs
    if (r.min == whole.min && r.max == whole.max) continue;
    narrowed_[s][name] = {make_int(Int(32), r.min), make_int(Int(32), r.max)};
  }
}

}  // namespace polyhalite
