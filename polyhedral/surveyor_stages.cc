#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "lang/ir/expr_text.h"
#include "lang/ir/extern_stage.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/conditional_use.h"
#include "polyhedral/surveyor.h"
#include "schedule/derive.h"
#include "schedule/specialize.h"

namespace polyhalite {

namespace {

// Vectors and unrolled code beyond these sizes take LLVM minutes, or all memory.
constexpr int64_t kMaxLanes = 4096;
constexpr int64_t kMaxCopies = 16384;

// A condition as two, of which the first one reads no memory. It narrows what the other one reads,
// which is asked where it holds only:
//
//   in(r) > 0 && r < n   ->   r < n, in(r) > 0
std::vector<Expr> by_memory(const Expr &condition) {
  Expr plain, reading;
  std::function<void(const Expr &)> add = [&](const Expr &e) {
    if (e->op == Op::And) {
      for (const Expr &part : e->args) add(part);
      return;
    }
    Expr &all = reads_memory(e) ? reading : plain;
    all = all.defined() ? make_binary(Op::And, all, e) : e;
  };
  if (condition.defined()) add(condition);
  std::vector<Expr> both;
  for (const Expr &e : {plain, reading}) {
    if (e.defined()) both.push_back(e);
  }
  return both;
}

// The numbers of parameters and fields where a condition holds: p == 3 && ...
std::map<std::string, Expr> fixed_where(const Expr &condition) {
  std::map<std::string, Expr> fixed;
  std::function<void(const Expr &)> look = [&](const Expr &e) {
    if (e->op == Op::And) {
      for (const Expr &part : e->args) look(part);
    }
    if (e->op != Op::Eq) return;
    for (int i : {0, 1}) {
      const VariableNode *v = as_variable(e->args[i]);
      if (v && constant(e->args[1 - i])) fixed[v->name] = e->args[1 - i];
    }
  };
  if (condition.defined()) look(simplify(condition));
  return fixed;
}

}  // namespace

std::string Surveyor::stage_prefix(const LoopTree &t, const StageId &s) {
  return t.func(s).name + ".s" + std::to_string(s.stage);
}

std::string Surveyor::base_symbol_name(const StageId &s, const std::string &dim) const {
  return stage_prefix(tree_, s) + "." + dim + ".base";
}

// An end of a box that branches choose is the one that this branch chose.
Expr Surveyor::end_under(const Expr &end, const Expr &where) const {
  const VariableNode *v = as_variable(end);
  const auto named = v ? symbol_.find(v->name) : symbol_.end();
  if (named != symbol_.end() && named->second.value->op == Op::Select) {
    const Expr chosen = simplify_under(named->second.value, where);
    if (is_short_sum(chosen)) return chosen;
  }
  return simplify_under(end, where);
}

void Surveyor::survey_ranges(const StageId &s) {
  const FuncDef &def = tree_.func(s);
  const StageDef &stage = tree_.definition(s);
  StageSurvey &out = out_.stages[s.func][s.stage];
  for (int d = 0; d < def.dimensions(); d++) {
    out.ranges[def.args[d]] = out_.funcs[s.func].computed[d];
    if (ends_at_last(s, d)) out.ranges[def.args[d]].max = out_.funcs[s.func].last[d];
    if (auto part = stage_needs_.find(s); part != stage_needs_.end()) {
      const Interval &need = part->second[d];
      const std::string prefix = stage_prefix(tree_, s) + ".", suffix = "." + std::to_string(d);
      if (need.min.defined()) {
        const int scope = tree_.placements[s.func].compute;
        out.ranges[def.args[d]] = {name_end(scope, prefix + "lo" + suffix, need.min),
                                   name_end(scope, prefix + "hi" + suffix, need.max)};
      }
    }
    const IndexRange &used = out_.funcs[s.func].used[d];
    if (used.min.defined() || used.max.defined()) out.used[def.args[d]] = used;
  }
  for (const ReductionVariable &r : stage.rvars) {
    out.ranges[r.var] = {canonical(r.min), sum(sum(r.min, r.extent), -1)};
  }
  if (const Expr where = runs_where(def, s.stage); where.defined()) {
    for (auto &[name, r] : out.ranges) {
      r = {end_under(r.min, where), end_under(r.max, where)};
    }
  }
  assume_factors(s);
  derive_ranges(s, out);
  narrow(s);
  use_what_is_stored(s, out);
}

// One loop for the dimensions of several stages:
//
//   f over [a, b], g over [c, d], no alignment   for y in [min(a, c), max(b, d)]
//                                                  let f.y = max(min(y, b), a), f where a <= y <= b
// A stage's own value stays within its range where the loop goes beyond: its producers' boxes,
// which are computed there too, are then none that nobody needs.
void Surveyor::survey_shared(const std::vector<int> &funcs) {
  std::map<int, std::vector<StageId>> sharing;  // [loop], the leader first
  for (const LoopInfo &l : tree_.loops) {
    if (l.also.empty() || !std::count(funcs.begin(), funcs.end(), l.stage.func)) continue;
    sharing[l.id] = {l.stage};
    sharing[l.id].insert(sharing[l.id].end(), l.also.begin(), l.also.end());
  }
  auto range = [&](const StageId &s, size_t i) -> const IndexRange & {
    return out_.stages[s.func][s.stage].ranges.at(tree_.dim(s, i));
  };
  // A follower's leader may be a follower itself.
  std::function<Expr(const StageId &, size_t)> offset = [&](const StageId &s, size_t i) -> Expr {
    const StageNest &nest = tree_.nest(s);
    if (i >= nest.shared.size()) return make_int(Int(32), 0);
    const SharedLoop &shared = nest.shared[i];
    const Expr of_leader = offset(shared.leader, i);
    const IndexRange &own = range(s, i), &led = range(shared.leader, i);
    if (shared.align == LoopAlignStrategy::AlignStart) {
      return sum(of_leader, difference(led.min, own.min));
    }
    if (shared.align == LoopAlignStrategy::AlignEnd) {
      return sum(of_leader, difference(led.max, own.max));
    }
    return of_leader;
  };
  for (const auto &[l, stages] : sharing) {
    const std::vector<int> &path = tree_.nest(stages[0]).loops;
    const size_t i = std::find(path.begin(), path.end(), l) - path.begin();
    Expr min, max;
    for (const StageId &s : stages) {
      const Expr low = sum(range(s, i).min, offset(s, i)),
                 high = sum(range(s, i).max, offset(s, i));
      min = min.defined() ? smaller(min, low) : low;
      max = max.defined() ? larger(max, high) : high;
    }
    const std::string name = tree_.loops[l].name;
    const auto width = constant_difference(max, min);
    min = name_end(parent_[l], name + ".shared_lo", min);
    max = width ? sum(min, *width) : name_end(parent_[l], name + ".shared_hi", max);
    out_.loops[l].min = min;
    out_.loops[l].extent = simplify(extent_of({min, max}));
    const Expr counter = make_variable(Int(32), VariableKind::Loop, name);
    for (const StageId &s : stages) {
      const IndexRange &own = range(s, i);
      const Expr value = difference(counter, offset(s, i));
      StageSurvey &st = out_.stages[s.func][s.stage];
      const Expr first = sum(own.min, offset(s, i)), last = sum(own.max, offset(s, i));
      const bool whole =
          constant_difference(first, min) == 0 && constant_difference(last, max) == 0;
      const std::string &dim = tree_.dim(s, i);
      if (whole) {
        st.dims[dim] = value;
        continue;
      }
      const Expr clamped = make_binary(Op::Max, make_binary(Op::Min, value, own.max), own.min);
      st.dims[dim] =
          add_symbol(l, stage_prefix(tree_, s) + "." + dim + ".shared", clamped, own.min, own.max);
      st.guards.push_back({make_binary(Op::And, make_binary(Op::Ge, value, own.min),
                                       make_binary(Op::Le, value, own.max)),
                           tree_.loops[l].where});
    }
  }
}

void Surveyor::survey_stage(const StageId &s) {
  const FuncDef &def = tree_.func(s);
  const StageDef &stage = tree_.definition(s);
  const StageNest &nest = tree_.nest(s);
  StageSurvey &out = out_.stages[s.func][s.stage];
  int64_t lanes = 1, copies = 1;
  for (size_t i = 0; i < nest.loops.size(); i++) {
    const int l = nest.loops[i];
    const LoopInfo &info = tree_.loops[l];
    if (info.also.empty()) {
      const IndexRange &r = out.ranges.at(info.dim);
      out_.loops[l].min = r.min;
      out_.loops[l].extent = simplify(extent_of(r));
    }
    const bool compiles = errors_.attempt([&] {
      require_constant_extent(s, info, out_.loops[l]);
      if (info.kind == LoopKind::Vector) require_few(s, info, out_.loops[l], kMaxLanes, &lanes);
      if (info.kind == LoopKind::Unrolled) require_few(s, info, out_.loops[l], kMaxCopies, &copies);
    });
    // Any extent will do, since the survey only goes on to tell of others.
    if (!compiles) out_.loops[l].extent = make_int(Int(32), 1);
    if (info.also.empty()) {
      out.dims[info.dim] = make_variable(Int(32), VariableKind::Loop, info.name);
    }
  }
  if (is_extern_stage(stage)) {
    // The function's dimensions have no loops: from their first value on.
    for (const auto &[dim, range] : out.ranges) {
      if (!out.dims.count(dim)) out.dims[dim] = range.min;
    }
  }
  derive_values(s, out);
  guard_rest(s, out);
  note_reads_past(s, out);
  if (is_extern_stage(stage)) survey_extern_box(s, out);
  for (const std::string &a : def.args) fix_absent(out, a);
  for (const ReductionVariable &r : stage.rvars) fix_absent(out, r.var);
  for (const Expr &condition : by_memory(stage.predicate)) {
    out.guards.push_back({in_loops(out, condition), stage.where});
  }
  if (!nest.loops.empty() && is_skewed(nest.loops.back())) bound_loops(s, out);
  const size_t first_read = reads_.size(), first_held = out.held.size();
  record_reads(s);
  ask_for_room(s, first_read, first_held);
}

Expr Surveyor::canonical(const Expr &e) { return to_expr(to_linear(strip_hints(e))); }

void Surveyor::fix_absent(StageSurvey &out, const std::string &dim) {
  if (out.dims.count(dim)) return;
  out.ranges.erase(dim);
  out.used.erase(dim);
}

Expr Surveyor::in_loops(const StageSurvey &s, const Expr &e) { return substitute(s.dims, e); }

void Surveyor::derive_ranges(const StageId &s, StageSurvey &out) {
  const Expr zero = make_int(Int(32), 0);
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind == Derivation::Split) {
      const IndexRange &a = out.ranges.at(d.a);
      const auto e = constant(simplify(extent_of(a)));
      const auto k = constant(d.factor);
      if (e && k && *e < *k && is_shifting(d.tail)) {
        user_error(
            "split of '" + d.a + "' of '" + tree_.func(s).name + "' by " + std::to_string(*k) +
                " cannot shift inwards: the extent is " + std::to_string(*e),
            "the last tile would begin before the loop does",
            "use a factor of at most " + std::to_string(*e) + ", or TailStrategy::GuardWithIf",
            d.where);
      }
      out.ranges[d.b] = {zero, simplify(sum(ceil_div(extent_of(a), d.factor), -1))};
      out.ranges[d.c] = {zero, sum(d.factor, -1)};
    } else if (is_linear(d)) {
      out.ranges[d.c] = linear_range(d, out.ranges);
    } else {
      const Expr n =
          make_binary(Op::Mul, extent_of(out.ranges.at(d.a)), extent_of(out.ranges.at(d.b)));
      out.ranges[d.c] = {zero, sum(simplify(n), -1)};
    }
  }
}

void Surveyor::require_constant_extent(const StageId &s, const LoopInfo &l, LoopBounds &b) {
  const bool threads = is_thread_loop(l.kind);
  if (l.kind != LoopKind::Vector && l.kind != LoopKind::Unrolled && !threads) return;
  if (constant(b.extent)) return;
  // As many iterations as there ever are, those beyond the extent guarded.
  const std::map<std::string, Expr> fixed = fixed_where(runs_where(tree_.func(s), s.stage));
  const auto most = ConstantUpperBound([&](const VariableNode &v) {
    const auto f = fixed.find(v.name);
    return f == fixed.end() ? meaning(v) : ConstantUpperBound::Meaning{f->second, {}, {}};
  })(b.extent);
  if (most) {
    const Expr counter = make_variable(Int(32), VariableKind::Loop, l.name);
    StageSurvey &out = out_.stages[s.func][s.stage];
    out.guards.push_back({make_binary(Op::Lt, difference(counter, b.min), b.extent), l.where});
    guarded_.insert({s, l.dim});
    b.extent = make_int(Int(32), std::max<int64_t>(*most, 0));
    return;
  }
  if (threads) return;  // it may be known where the kernel is launched
  const char *permitted = std::getenv("HL_PERMIT_FAILED_UNROLL");
  if (l.kind == LoopKind::Unrolled && permitted && std::string(permitted) == "1") {
    b.stays_serial = true;
    return;
  }
  const std::string word = l.kind == LoopKind::Vector ? "vectorize" : "unroll";
  const auto &derivations = tree_.nest(s).derivations;
  const bool is_part = std::any_of(derivations.begin(), derivations.end(), [&](const auto &d) {
    return d.kind == Derivation::Split && d.c == l.dim && !constant(d.factor);
  });
  user_error("cannot " + word + " loop '" + l.label + "' of " + tree_.describe(s) +
                 ": its extent is not a constant",
             "the extent is " + to_text(b.extent) + (is_part ? ", the split's factor" : ""),
             is_part ? "split by a constant; specialize() for each of the factors that there are"
                     : word + "(" + l.label + ", N) splits by N first; or bound() '" + l.label +
                           "' to a constant extent",
             l.where);
}

void Surveyor::require_few(const StageId &s, const LoopInfo &l, const LoopBounds &b, int64_t most,
                           int64_t *count) {
  const int64_t extent = constant(b.extent).value_or(1);
  *count *= std::max<int64_t>(extent, 1);
  if (*count <= most) return;
  const bool vector = l.kind == LoopKind::Vector;
  const std::string word = vector ? "vectorize" : "unroll";
  user_error("cannot " + word + " loop '" + l.label + "' of " + tree_.describe(s) + " with its " +
                 std::to_string(extent) + " iterations",
             (vector ? "the stage's vectors would have " : "the stage's code would stand there ") +
                 std::to_string(*count) + (vector ? " lanes" : " times") + ", and at most " +
                 std::to_string(most) + " can be compiled in reasonable time",
             word + "(" + l.label + ", N) with a small N", l.where);
}

// Splits by an expression rest on its value, which is known at run time only.
void Surveyor::assume_factors(const StageId &s) {
  const FuncDef &def = tree_.func(s);
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind != Derivation::Split || constant(d.factor)) continue;
    const auto at = std::find(def.args.begin(), def.args.end(), d.a);
    const int dimension = at == def.args.end() ? 0 : static_cast<int>(at - def.args.begin());
    const Expr least = make_int(Int(32), 1), most = make_int(Int(32), kMaxFactor);
    const std::string text =
        "the factor " + to_text(d.factor) + " of the split of '" + d.a + "' must be ";
    assume(where_it_runs(s, make_binary(Op::Ge, d.factor, least)), def.name, dimension,
           text + "positive", d.factor, least, d.where,
           polyhalite_error_code_split_factor_not_positive);
    assume(where_it_runs(s, make_binary(Op::Le, d.factor, most)), def.name, dimension,
           text + "at most " + std::to_string(kMaxFactor), d.factor, most, d.where);
  }
}

Expr Surveyor::split_base(const StageId &s, const Derivation &d, const Expr &outer) const {
  const IndexRange &a = out_.stages[s.func][s.stage].ranges.at(d.a);
  const auto k = constant(d.factor);
  const Expr scaled = k ? product(outer, *k) : make_binary(Op::Mul, outer, d.factor);
  const Expr base = sum(a.min, scaled);
  if (!is_shifting(d.tail) || divides(d, a)) return base;
  return smaller(base, sum(difference(a.max, d.factor), 1));
}

bool Surveyor::divides(const Derivation &d, const IndexRange &a) {
  const auto k = constant(d.factor), e = constant(simplify(extent_of(a)));
  return k && e && *e % *k == 0;
}

void Surveyor::derive_values(const StageId &s, StageSurvey &out) {
  const auto &derivations = tree_.nest(s).derivations;
  for (auto it = derivations.rbegin(); it != derivations.rend(); ++it) {
    const Derivation &d = *it;
    if (d.kind == Derivation::Split) {
      split_value(s, d, out);
    } else if (is_linear(d)) {
      linear_value(s, d, out);
    } else {
      fuse_value(s, d, out);
    }
  }
}

void Surveyor::split_value(const StageId &s, const Derivation &d, StageSurvey &out) {
  const IndexRange &a = out.ranges.at(d.a);
  const Expr outer = out.dims.at(d.b), inner = out.dims.at(d.c);
  Expr base = split_base(s, d, outer);
  const Linear l = to_linear(base);
  bool affine = true;
  for (const auto &[atom, c] : l.terms) affine = affine && as_variable(atom);
  if (!affine) {
    if (may_precede(s, d.b)) base = larger(base, a.min);
    const Expr last = sum(difference(a.max, d.factor), 1);
    const bool shifts = is_shifting(d.tail);
    base = add_symbol(innermost_owner(base), base_symbol_name(s, d.a), base, a.min,
                      shifts ? last : Expr());
  }
  out.dims[d.a] = sum(base, inner);
  const bool rounded = is_rounding(d.tail);
  if (divides(d, a)) return;
  const Expr inside = make_binary(Op::Le, out.dims[d.a], a.max);
  if (is_guarding(d.tail)) {
    guarded_.insert({s, d.a});
    // What a skew has made ends where what it was made of does.
    const auto &made = tree_.nest(s).derivations;
    const bool ends_anyway = std::any_of(made.begin(), made.end(), [&](const Derivation &v) {
      return v.kind == Derivation::Skew && v.c == d.a;
    });
    if (!ends_anyway) out.guards.push_back({inside, d.where});
  } else if (d.tail == TailStrategy::PredicateStores) {
    out.guards.push_back({inside, d.where, Guard::Loads});
  } else if (d.tail == TailStrategy::ShiftInwardsAndBlend) {
    // What lies before the tile's own place belongs to the tile before.
    const auto k = constant(d.factor);
    const Expr scaled = k ? product(outer, *k) : make_binary(Op::Mul, outer, d.factor);
    out.guards.push_back(
        {make_binary(Op::Ge, out.dims[d.a], sum(a.min, scaled)), d.where, Guard::Blends});
  }
  if (rounded && constant(d.factor) && constant(simplify(extent_of(a)))) {
    user_error("split of '" + d.a + "' of '" + tree_.func(s).name + "' by " +
                   std::to_string(*constant(d.factor)) + " cannot round up: the extent is " +
                   std::to_string(*constant(simplify(extent_of(a)))),
               "'" + d.a + "' cannot grow beyond what surrounds it",
               "use a factor that divides the extent, or TailStrategy::GuardWithIf", d.where);
  }
}

bool Surveyor::is_guarded(const StageId &s, const std::string &dim) const {
  std::set<std::string> parts = {dim};
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind == Derivation::Split && parts.count(d.a)) {
      parts.insert({d.b, d.c});
    } else if (d.kind != Derivation::Split && (parts.count(d.a) || parts.count(d.b))) {
      parts.insert(d.c);
      if (d.kind == Derivation::Skew) parts.insert(d.b);
    }
  }
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string &p) { return guarded_.count({s, p}) > 0; });
}

Expr Surveyor::read_limit(const StageId &s, const std::string &dim) const {
  const StageSurvey &st = out_.stages[s.func][s.stage];
  if (reads_to_last_.count({s, dim})) return st.last.at(dim);
  if (!is_guarded(s, dim)) return Expr();
  const bool cut = guarded_.count({s, dim}) > 0 || !overshoots(s, dim);
  return cut ? st.ranges.at(dim).max : overshoot_end(s, dim);
}

Expr Surveyor::overshoot_end(const StageId &s, const std::string &dim) const {
  const StageSurvey &st = out_.stages[s.func][s.stage];
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind != Derivation::Split || d.a != dim || !overshoots(s, dim)) continue;
    return sum(sum(split_base(s, d, overshoot_end(s, d.b)), d.factor), -1);
  }
  return st.ranges.at(dim).max;
}

// Definitions before this one's, or branches of them, leave cells beyond the last needed one
// unwritten.
bool Surveyor::follows_a_rest(const StageId &s, int d) const {
  if (!out_.funcs[s.func].last[d].defined()) return false;
  const FuncDef &def = tree_.func(s);
  for (int other = 0; other < static_cast<int>(def.stages.size()); other++) {
    if (def.definition_of(other) >= def.definition_of(s.stage)) continue;
    const StageNest &nest = tree_.nest({s.func, other});
    if (need_of(nest, def.args[d]).leaves_rest) return true;
  }
  return false;
}

bool Surveyor::ends_at_last(const StageId &s, int d) const {
  if (!follows_a_rest(s, d)) return false;
  const ExtentNeed own = need_of(tree_.nest(s), tree_.func(s).args[d]);
  return own.at_least == 1 && own.multiple == 1 && !own.symbolic_at_least.defined() &&
         !own.symbolic_multiple.defined();
}

bool Surveyor::overshoots(const StageId &s, const std::string &dim) const {
  const StageSurvey &st = out_.stages[s.func][s.stage];
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind != Derivation::Split || d.a != dim) continue;
    const bool here = d.tail == TailStrategy::PredicateStores && !divides(d, st.ranges.at(d.a));
    return here || overshoots(s, d.b);
  }
  return false;
}

void Surveyor::guard_rest(const StageId &s, StageSurvey &out) {
  const FuncDef &def = tree_.func(s);
  for (int v = 0; v < def.dimensions(); v++) {
    const Expr &last = out_.funcs[s.func].last[v];
    if (!last.defined() || !out.dims.count(def.args[v])) continue;
    const size_t before = out.guards.size();
    // The chain of splits of the variable and of its outer parts.
    std::string dim = def.args[v];
    for (const Derivation &d : tree_.nest(s).derivations) {
      if (d.kind != Derivation::Split || d.a != dim) continue;
      dim = d.b;
      const bool loads = d.tail == TailStrategy::PredicateLoads;
      // A cell that is found by reading: an instance that reads nothing has none. One that the
      // variable moves along other dimensions has memory in the variable's own alone.
      bool has_no_cell = false;
      const std::vector<Expr> &cell = tree_.definition(s).args;
      for (size_t at = 0; at < cell.size(); at++) {
        has_no_cell |= at != static_cast<size_t>(v) && uses_variable(cell[at], def.args[v]);
        for_each_node(cell[at], [&](const Expr &n) {
          has_no_cell |= as_call(n) && !as_call(n)->args.empty();
        });
      }
      if (!loads && d.tail != TailStrategy::RoundUpAndBlend) continue;
      out.last[def.args[v]] = last;
      out.guards.push_back({make_binary(Op::Le, out.dims.at(def.args[v]), last), d.where,
                            !loads        ? Guard::Loads
                            : has_no_cell ? Guard::Nothing
                                          : Guard::Stores});
      if (loads) reads_to_last_.insert({s, def.args[v]});
    }
    if (out.guards.size() == before && follows_a_rest(s, v) && !ends_at_last(s, v)) {
      out.last[def.args[v]] = last;
      out.guards.push_back(
          {make_binary(Op::Le, out.dims.at(def.args[v]), last), tree_.definition(s).where});
      reads_to_last_.insert({s, def.args[v]});
    }
  }
}

void Surveyor::fuse_value(const StageId &s, const Derivation &d, StageSurvey &out) {
  const IndexRange &outer = out.ranges.at(d.a), &inner = out.ranges.at(d.b);
  const Expr fused = out.dims.at(d.c), n = simplify(extent_of(inner));
  // Of constants it shows where indices are those of the fused loop: y*n + x.
  if (constant(n) && constant(outer.min) && constant(inner.min) && !is_guarded(s, d.c)) {
    out.dims[d.a] = simplify(sum(outer.min, make_binary(Op::Div, fused, n)));
    out.dims[d.b] = simplify(sum(inner.min, make_binary(Op::Mod, fused, n)));
    return;
  }
  // A fused loop of one iteration is a constant, and the ranges may be those of loops around.
  int owner = innermost_owner(fused);
  for (const Expr &end : {outer.min, outer.max, inner.min, inner.max}) {
    const int o = innermost_owner(end);
    if (!visible(owner, o)) owner = o;
  }
  const std::string prefix = stage_prefix(tree_, s) + ".";
  Expr outer_value = sum(outer.min, make_binary(Op::Div, fused, n));
  // Iterations that a guard cuts still compute producers: these stay inside their boxes.
  if (is_guarded(s, d.c)) {
    outer_value = smaller(outer_value, outer.max);
    if (may_precede(s, d.c)) outer_value = larger(outer_value, outer.min);
  }
  out.dims[d.a] = add_symbol(owner, prefix + d.a + ".of_fused", outer_value, outer.min, outer.max);
  out.dims[d.b] = add_symbol(owner, prefix + d.b + ".of_fused",
                             sum(inner.min, make_binary(Op::Mod, fused, n)), inner.min, inner.max);
}

bool Surveyor::has_given_bounds(const std::string &func, size_t dimension) const {
  return std::any_of(tree_.bounds.begin(), tree_.bounds.end(), [&](const BoundDirective &b) {
    return b.min.defined() && tree_.algorithm.funcs[b.func].name == func &&
           static_cast<size_t>(b.dimension) == dimension;
  });
}

void Surveyor::record_reads(const StageId &s) {
  Bounder at_root = bounder_at(&s, kRoot);
  auto record = [&](const CallNode &c, const Expr &where) {
    if (c.kind == CallKind::Func && c.name == tree_.func(s).name) return;
    ReadSite site{s, c.name, {}, {}, {}, where};
    for (size_t d = 0; d < c.args.size(); d++) {
      Expr a = constrained(strip_hints(c.args[d]));
      const Interval bound = at_root(a);
      // Loops that run as far as values say may lead out of a box that is given.
      const bool open = !bound.min.defined() || !bound.max.defined();
      const bool by_value = needs_values(a, bound) || (open && has_given_bounds(c.name, d));
      if (by_value) {
        out_.stages[s.func][s.stage].held.push_back({c.name, d, c.args[d], {}, {}, {}, {}});
        a = with_strict_floats(a);
      }
      site.args.push_back(std::move(a));
      site.by_value.push_back(by_value);
    }
    reads_.push_back(std::move(site));
  };
  const StageDef &def = tree_.definition(s);
  if (const CallNode *stage = as_extern_stage(def)) {
    const std::vector<ExternOperand> operands = extern_operands(*stage);
    for (size_t i = 0; i < operands.size(); i++) {
      const CallNode *b = operands[i].buffer;
      if (b) {
        extern_reads_.push_back({s, b->name, i});
      } else {
        for_each_use(operands[i].scalar, record);
      }
    }
    return;
  }
  for (const Expr &e : def.args) for_each_use(e, record);
  for (const Expr &e : def.values) for_each_use(e, record);
  if (def.predicate.defined()) for_each_use(def.predicate, record);
}

}  // namespace polyhalite
