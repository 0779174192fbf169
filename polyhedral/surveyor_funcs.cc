#include <algorithm>
#include <numeric>
#include <utility>

#include "lang/ir/extern_stage.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/branch_cases.h"
#include "polyhedral/surveyor.h"
#include "schedule/derive.h"
#include "schedule/specialize.h"

namespace polyhalite {

std::vector<std::vector<int>> Surveyor::consumers_first() const {
  const int n = static_cast<int>(tree_.algorithm.funcs.size());
  std::vector<int> leader(n);
  std::iota(leader.begin(), leader.end(), 0);
  for (const LoopInfo &l : tree_.loops) {
    for (const StageId &s : l.also) {
      const int from = leader[s.func], to = leader[l.stage.func];
      std::replace(leader.begin(), leader.end(), from, to);
    }
  }
  auto refuse = [&](const LoopInfo &l, const std::string &why, const std::string &fix) {
    const StageId follower = l.also[0];
    user_error("cannot compute " + tree_.describe(follower) + " with " + tree_.describe(l.stage),
               why, fix, tree_.nest(follower).shared[0].where);
  };
  std::vector<std::set<int>> consumers(n);  // [group] groups that read its Funcs
  for (int f = 0; f < n; f++) {
    for (const StageDef &s : tree_.algorithm.funcs[f].stages) {
      for_each_call(s, [&](const CallNode &c) {
        const int callee = c.kind == CallKind::Func ? tree_.algorithm.index_of(c.name) : -1;
        if (callee < 0 || callee == f) return;
        if (leader[callee] != leader[f]) consumers[leader[callee]].insert(leader[f]);
        // Boxes of Funcs that share loops are found together, before what their stages read.
        for (const LoopInfo &l : tree_.loops) {
          if (leader[callee] != leader[f] || l.also.empty() || leader[l.stage.func] != leader[f]) {
            continue;
          }
          refuse(l, "'" + tree_.algorithm.funcs[f].name + "' reads '" + c.name + "'",
                 "compute stages with each other whose Funcs do not read each other");
        }
      });
    }
  }
  std::vector<std::vector<int>> order;
  std::set<int> done;
  for (bool found = true; found;) {
    found = false;
    for (int f = n - 1; f >= 0 && !found; f--) {
      const std::set<int> &c = consumers[leader[f]];
      if (done.count(leader[f]) || !std::includes(done.begin(), done.end(), c.begin(), c.end())) {
        continue;
      }
      found = true;
      done.insert(leader[f]);
      order.emplace_back();
      for (int g = n - 1; g >= 0; g--) {
        if (leader[g] == leader[f]) order.back().push_back(g);
      }
    }
  }
  for (const LoopInfo &l : tree_.loops) {
    if (l.also.empty() || done.count(leader[l.stage.func])) continue;
    refuse(l, "a Func between them needs the one and is needed by the other",
           "compute stages with each other that no other Func separates");
  }
  return order;
}

void Surveyor::survey_group(const std::vector<int> &funcs) {
  auto for_each_stage = [&](auto visit) {
    for (int f : funcs) {
      const int stages = static_cast<int>(tree_.nests[f].size());
      for (int s = 0; s < stages; s++) visit(StageId{f, s});
    }
  };
  for (int f : funcs) survey_box(f);
  for_each_stage([&](const StageId &s) { survey_ranges(s); });
  survey_shared(funcs);
  for_each_stage([&](const StageId &s) { survey_stage(s); });
  for (int f : funcs) {
    survey_storage(f, tree_.placements[f].compute);
    survey_hoisted(f);
    survey_async(f);
  }
}

void Surveyor::survey_box(int f) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const int scope = tree_.placements[f].compute;
  const bool output = tree_.algorithm.is_output(def.name);
  std::vector<Interval> box = needed(def.name, def.dimensions(), scope);
  for (size_t d = 0; d < box.size(); d++) {
    const bool given = std::any_of(tree_.bounds.begin(), tree_.bounds.end(), [&](const auto &b) {
      return b.func == f && static_cast<size_t>(b.dimension) == d;
    });
    if (output || given) forget_room(def.name, d);
  }
  std::vector<Interval> used = box, touched = box;
  if (is_read_by_unused(def.name)) {
    used = needed(def.name, def.dimensions(), scope, Reach::Used);
    touched = needed(def.name, def.dimensions(), scope, Reach::Touched);
  }
  if (output) {
    // The caller's buffer says what is wanted; consumers inside the pipeline may touch more.
    if (is_read(def.name)) {
      for (int d = 0; d < def.dimensions(); d++) check_bounded(def, d, touched[d]);
    }
    touched_[f] = touched;
    for (int d = 0; d < def.dimensions(); d++) {
      const Expr min = output_field(def, "min", d), extent = output_field(def, "extent", d);
      box[d] = {min, sum(sum(min, extent), -1)};
    }
  }
  const std::vector<Interval> read = box;
  apply_bounds(f, box);
  for (int d = 0; d < def.dimensions(); d++) check_bounded(def, d, box[d]);
  include_own_updates(f, box, scope);
  apply_extents(f, box, scope);
  if (!output && extern_stage_of(def)) grow_as_asked(f, box, scope);
  // What else is computed, directives and updates ask for.
  for (int d = 0; d < def.dimensions(); d++) {
    if (!same_ends(read[d], box[d])) used[d] = box[d];
  }
  const std::vector<Interval> wanted = box;
  for (int d = 0; d < def.dimensions(); d++) apply_needs(f, d, box[d], output);
  include_grown_updates(f, wanted, box);
  name_box(f, box, scope);
  for (int d = 0; d < def.dimensions(); d++) {
    const bool grew = leaves_rest(f, d) && !equal(wanted[d].max, box[d].max);
    out_.funcs[f].last.push_back(
        grew ? name_end(scope, def.name + ".last." + std::to_string(d), wanted[d].max) : Expr());
  }
  out_.funcs[f].computed = out_.funcs[f].needed;
  out_.funcs[f].partial.assign(out_.funcs[f].needed.size(), false);
  note_used(f, used, wanted, box, scope);
  if (!output) note_beyond(f, touched, read, box);
  if (!output) note_own_beyond(f, box);
  leave_out_unused(f, scope);
  slide(f, scope);
  if (!output) fold_as_asked(f);
}

// Of Funcs whose loops may run over any range, and whose storage lasts for one production.
void Surveyor::leave_out_unused(int f, int scope) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const FuncPlacement &placement = tree_.placements[f];
  const bool plain = def.num_definitions() == 1 && def.stages.size() == 1 &&
                     !extern_stage_of(def) && !tree_.algorithm.is_output(def.name) &&
                     placement.store == scope && !placement.async;
  bool conditional = false;
  for (const ReadSite &r : reads_) conditional |= r.callee == def.name && r.where.defined();
  for (const ExternRead &r : extern_reads_) conditional &= r.callee != def.name;
  for (const BoundDirective &b : tree_.bounds) conditional &= b.func != f;
  if (!plain || !conditional) return;
  FuncSurvey &fs = out_.funcs[f];
  for (int d = 0; d < def.dimensions(); d++) {
    const std::vector<Derivation> &made = tree_.nest({f, 0}).derivations;
    const bool whole = std::any_of(made.begin(), made.end(), [&](const Derivation &v) {
      return v.a == def.args[d] || (v.kind != Derivation::Split && v.b == def.args[d]);
    });
    if (whole || !may_vary({f, 0}, static_cast<size_t>(d)) || fs.last[d].defined()) continue;
    if (fs.used[d].min.defined() || fs.used[d].max.defined()) continue;
    Interval all, used;
    bool first = true;
    for (const ReadSite &r : reads_) {
      if (r.callee != def.name) continue;
      const Interval i = bound_at(r.args[d], &r.stage, scope, r.by_value[d]);
      where_ = r.where;
      const Interval u = bound_at(r.args[d], &r.stage, scope, r.by_value[d]);
      where_ = Expr();
      all = first ? i : hull(all, i);
      used = first ? u : hull(used, u);
      first = false;
    }
    const std::string suffix = "." + std::to_string(d);
    IndexRange &computed = fs.computed[d];
    if (!equal(all.min, used.min)) {
      fs.partial[d] = true;
      computed.min =
          name_end(scope, def.name + ".used_lo" + suffix, larger(computed.min, used.min));
    }
    if (!equal(all.max, used.max)) {
      fs.partial[d] = true;
      computed.max =
          name_end(scope, def.name + ".used_hi" + suffix, smaller(computed.max, used.max));
    }
  }
}

bool Surveyor::is_read(const std::string &callee) const {
  auto reads_it = [&](const auto &r) { return r.callee == callee; };
  return std::any_of(reads_.begin(), reads_.end(), reads_it) ||
         std::any_of(extern_reads_.begin(), extern_reads_.end(), reads_it);
}

void Surveyor::check_bounded(const FuncDef &def, int d, const Interval &i) {
  if (i.min.defined() && i.max.defined()) return;
  user_error(
      "the region of '" + def.name + "' that is needed in dimension " + std::to_string(d) + " (" +
          def.args[d] + ") is unbounded",
      "an index of a read of '" + def.name + "' comes from data, and nothing limits its values",
      "clamp the index, as in " + def.name + "(clamp(i, 0, n - 1)), or give '" + def.name +
          "' a bound()",
      def.where);
}

void Surveyor::apply_bounds(int f, std::vector<Interval> &box) {
  for (const BoundDirective &b : tree_.bounds) {
    if (b.func != f || !b.min.defined()) continue;
    Interval &i = box[b.dimension];
    const Expr max = sum(sum(b.min, b.extent), -1);
    // By values, too: floats of loops may say where one reads.
    const Interval at_root = {i.min.defined() ? bound_at(i.min, nullptr, kRoot, true).min : Expr(),
                              i.max.defined() ? bound_at(i.max, nullptr, kRoot, true).max : Expr()};
    const bool has_min = at_root.min.defined(), has_max = at_root.max.defined();
    const IndexRange given = {b.min, simplify(max)},
                     required = {has_min ? simplify(at_root.min) : given.min,
                                 has_max ? simplify(at_root.max) : given.max};
    if (has_min) assume_bounds(make_binary(Op::Ge, at_root.min, b.min), b, given, required);
    if (has_max) assume_bounds(make_binary(Op::Le, at_root.max, max), b, given, required);
    i = {b.min, max};
  }
}

void Surveyor::apply_extents(int f, std::vector<Interval> &box, int scope) {
  for (size_t number = 0; number < tree_.bounds.size(); number++) {
    const BoundDirective &b = tree_.bounds[number];
    if (b.func != f || b.min.defined()) continue;
    Interval &i = box[b.dimension];
    if (b.modulus.defined()) {
      align(b, number, i, scope);
    } else if (i.min.defined() && i.max.defined()) {
      // What updates touch and nobody uses has its memory there, too.
      if (auto own = own_beyond_.find(f); own != own_beyond_.end()) {
        Interval &beyond = own->second[static_cast<size_t>(b.dimension)];
        if (beyond.min.defined()) i = hull(i, beyond);
        beyond = {};
      }
      assume_extent_suffices(b, tree_.algorithm.funcs[f], i);
      i.max = sum(i.min, sum(b.extent, -1));
    }
  }
}

// A limit that the extent never exceeds holds the ends' distance together,
// min(16*o + 15, n) - 16*o <= 15, where the ends by themselves do not.
void Surveyor::assume_extent_suffices(const BoundDirective &b, const FuncDef &def,
                                      const Interval &i) {
  const Expr needed = extent_of({i.min, i.max});
  const auto limit = ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(needed);
  const auto promised = constant(b.extent);
  if (limit && promised && *limit <= *promised) return;
  Expr most = bound_at(needed, nullptr, kRoot).max;
  if (!most.defined()) {
    const Expr max = bound_at(i.max, nullptr, kRoot).max;
    const Expr min = bound_at(i.min, nullptr, kRoot).min;
    if (!max.defined() || !min.defined()) check_bounded(def, b.dimension, {});
    most = sum(difference(max, min), 1);
  }
  Expr first = bound_at(i.min, nullptr, kRoot).min;
  if (!first.defined()) first = make_int(Int(32), 0);
  auto range_of = [&](const Expr &extent) -> IndexRange {
    return {first, simplify(sum(first, sum(extent, -1)))};
  };
  assume_bounds(make_binary(Op::Le, most, b.extent), b, range_of(b.extent), range_of(most));
}

// Of a modulus that is none a region would have no points, and nothing would be computed.
void Surveyor::assume_modulus(const BoundDirective &b) {
  if (constant(b.modulus)) return;
  const FuncDef &def = tree_.algorithm.funcs[b.func];
  const Expr least = make_int(Int(32), 1), most = make_int(Int(32), kMaxFactor);
  const std::string text = "the modulus " + to_text(b.modulus) + " of the alignment of '" +
                           def.args[b.dimension] + "' must be ";
  assume(make_binary(Op::Ge, b.modulus, least), def.name, b.dimension, text + "positive", b.modulus,
         least, b.where);
  assume(make_binary(Op::Le, b.modulus, most), def.name, b.dimension,
         text + "at most " + std::to_string(kMaxFactor), b.modulus, most, b.where);
}

// Quotients get names of their own, so that ends stay sums: that they are multiples is seen.
void Surveyor::align(const BoundDirective &b, size_t number, Interval &i, int scope) {
  if (!i.min.defined() || !i.max.defined()) return;
  assume_modulus(b);
  const std::string prefix = tree_.algorithm.funcs[b.func].name + ".aligned_",
                    suffix = "." + std::to_string(number);
  auto multiple = [&](const char *end, const Expr &quotient) {
    const Expr q = name_end(scope, prefix + end + suffix, quotient);
    const auto k = constant(b.modulus);
    return k ? product(q, *k) : simplify(make_binary(Op::Mul, q, b.modulus));
  };
  if (!b.remainder.defined()) {
    const Expr tiles = ceil_div(extent_of({i.min, i.max}), b.modulus);
    i.max = sum(i.min, sum(multiple("extent", tiles), -1));
    return;
  }
  const Expr first = make_binary(Op::Div, difference(i.min, b.remainder), b.modulus);
  const Expr end = ceil_div(sum(difference(i.max, b.remainder), 1), b.modulus);
  i.min = sum(multiple("lo", simplify(first)), b.remainder);
  i.max = sum(sum(multiple("hi", end), b.remainder), -1);
}

void Surveyor::assume(Expr condition, const std::string &func, int dimension, std::string text,
                      Expr actual, Expr wanted, SourceLocation where,
                      polyhalite_error_code_t code) {
  condition = simplify(condition);
  if (is_true(condition)) return;
  for (const Assumption &a : out_.assumptions) {
    if (equal(a.condition, condition)) return;
  }
  out_.assumptions.push_back({condition, func, dimension, std::move(text), simplify(actual),
                              simplify(wanted), where, code, std::nullopt});
}

void Surveyor::assume_bounds(const Expr &condition, const BoundDirective &b, IndexRange given,
                             IndexRange required) {
  const FuncDef &def = tree_.algorithm.funcs[b.func];
  const size_t before = out_.assumptions.size();
  assume(condition, def.name, b.dimension, "the bounds given for '" + def.args[b.dimension] + "'",
         required.max, given.max, b.where);
  if (out_.assumptions.size() == before) return;
  out_.assumptions.back().bounds = {def.args[b.dimension], std::move(given), std::move(required)};
}

// What a split's outer part needs in whole tiles, the split dimension needs in points:
//   at least n tiles of k points   ->   at least (n - 1)*k + 1 points
ExtentNeed Surveyor::need_of(const StageNest &nest, const std::string &dim) const {
  ExtentNeed need;
  for (const Derivation &d : nest.derivations) {
    if (d.kind != Derivation::Split || d.a != dim) continue;
    const ExtentNeed outer = need_of(nest, d.b);
    need.origin = outer.origin;
    const auto k = constant(d.factor);
    need.leaves_rest = outer.leaves_rest || d.tail == TailStrategy::PredicateLoads ||
                       d.tail == TailStrategy::RoundUpAndBlend;
    const bool rounds = is_rounding(d.tail), shifts = is_shifting(d.tail);
    if (rounds || shifts) need.origin = &d;
    const bool symbolic_least = outer.symbolic_at_least.defined(),
               symbolic_multiple = outer.symbolic_multiple.defined();
    auto in_points = [&](const Expr &tiles) {
      return simplify(sum(make_binary(Op::Mul, sum(tiles, -1), d.factor), 1));
    };
    if (symbolic_least) need.symbolic_at_least = in_points(outer.symbolic_at_least);
    if (symbolic_multiple) {
      need.symbolic_multiple = simplify(make_binary(Op::Mul, outer.symbolic_multiple, d.factor));
    }
    if (k) {
      need.at_least = (outer.at_least - 1) * *k + 1;
      if (outer.multiple > 1) need.multiple = outer.multiple * *k;
      if (rounds) need.multiple = std::max(need.multiple, *k);
      if (shifts) need.at_least = std::max(need.at_least, *k);
      const int64_t most = std::max(need.at_least, need.multiple);
      if (most > kMaxFactor) {
        user_error("splits of '" + d.a + "' make tiles of " + std::to_string(most) + " iterations",
                   "whole tiles are computed, and extents are int32",
                   "use factors whose product is at most " + std::to_string(kMaxFactor) +
                       ", or TailStrategy::GuardWithIf",
                   d.where);
      }
      return need;
    }
    auto both = [](const Expr &a, const Expr &b) { return a.defined() ? larger(a, b) : b; };
    if (outer.at_least > 1) {
      need.symbolic_at_least =
          both(need.symbolic_at_least, in_points(make_int(Int(32), outer.at_least)));
    }
    if (shifts) need.symbolic_at_least = both(need.symbolic_at_least, d.factor);
    if (outer.multiple > 1) {
      const Expr whole = make_int(Int(32), outer.multiple);
      need.symbolic_multiple = simplify(
          make_binary(Op::Mul, symbolic_multiple ? need.symbolic_multiple : d.factor, whole));
    } else if (rounds && !symbolic_multiple) {
      need.symbolic_multiple = d.factor;
    }
    return need;
  }
  return need;
}

bool Surveyor::leaves_rest(int f, int d) const {
  for (const StageNest &nest : tree_.nests[f]) {
    if (need_of(nest, tree_.algorithm.funcs[f].args[d]).leaves_rest) return true;
  }
  return false;
}

namespace {

// The last index of the whole tiles of `size` that hold the interval. What the size divides stays
// outside of the quotient, so that tiles of consumers are seen to be whole:
//   [8*x, min(8*x + 7, n - 1)], 4  ->  min(8*x + 7, 4*((n + 3)/4) - 1)
Expr end_of_tiles(const Interval &i, int64_t size) {
  if (i.max->op == Op::Min || i.max->op == Op::Max) {
    const Expr a = end_of_tiles({i.min, i.max->args[0]}, size),
               b = end_of_tiles({i.min, i.max->args[1]}, size);
    return i.max->op == Op::Min ? smaller(a, b) : larger(a, b);
  }
  Linear rest = to_linear(extent_of({i.min, i.max})), whole;
  for (auto term = rest.terms.begin(); term != rest.terms.end();) {
    if (term->second % size != 0) {
      ++term;
      continue;
    }
    whole.terms.insert(*term);
    term = rest.terms.erase(term);
  }
  const Expr tiles = product(ceil_div(to_expr(rest), make_int(Int(32), size)), size);
  return sum(sum(i.min, sum(to_expr(whole), tiles)), -1);
}

// Does the condition say that the extent is a multiple of k, as out.extent.0%16 == 0 does for 8?
bool says_multiple(const Expr &condition, const Expr &extent, int64_t k) {
  const auto &args = condition->args;
  if (condition->op == Op::And) {
    return says_multiple(args[0], extent, k) || says_multiple(args[1], extent, k);
  }
  if (condition->op != Op::Eq || !is_zero(args[1]) || args[0]->op != Op::Mod) return false;
  const auto m = constant(args[0]->args[1]);
  return m && *m > 0 && *m % k == 0 && equal(simplify(args[0]->args[0]), extent);
}

}  // namespace

int64_t Surveyor::needed_multiple(int f, int d, const std::vector<int> &stages, const Interval &box,
                                  bool output) const {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const Expr extent = simplify(extent_of({box.min, box.max}));
  int64_t multiple = 1, all = 1;
  bool grows = false;          // in other ways, after which the conditions speak of another extent
  std::vector<int64_t> given;  // what branches need and their conditions say
  for (const int s : stages) {
    const ExtentNeed n = need_of(tree_.nests[f][s], def.args[d]);
    const Expr where = runs_where(def, s);
    grows = grows || n.symbolic_multiple.defined() ||
            (!output && (n.at_least > 1 || n.symbolic_at_least.defined()));
    all = std::lcm(all, n.multiple);
    if (n.multiple > 1 && where.defined() && says_multiple(where, extent, n.multiple)) {
      given.push_back(n.multiple);
    } else {
      multiple = std::lcm(multiple, n.multiple);
    }
  }
  // Growing for other stages keeps whole tiles whole where those of others are parts of these.
  for (const int64_t k : given) grows = grows || k % multiple != 0;
  return grows ? all : multiple;
}

// A branch's splits make a box larger where the branch is taken.
void Surveyor::apply_needs(int f, int d, Interval &i, bool output) {
  const std::vector<BranchCase> cases = branch_cases(tree_.algorithm.funcs[f]);
  Interval all;
  for (auto c = cases.rbegin(); c != cases.rend(); ++c) {
    Interval there = i;
    apply_needs(f, d, c->stages, there, output);
    auto choose = [&](const Expr &end, const Expr &otherwise) {
      if (!otherwise.defined()) return end;
      const auto apart = constant(simplify_under(difference(end, otherwise), c->where));
      return apart == 0 ? otherwise : make_select(c->where, end, otherwise);
    };
    all = {choose(there.min, all.min), choose(there.max, all.max)};
  }
  i = all;
}

void Surveyor::apply_needs(int f, int d, const std::vector<int> &stages, Interval &i, bool output) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const int64_t multiple = needed_multiple(f, d, stages, i, output);
  int64_t at_least = 1;
  std::vector<Expr> symbolic_multiples;  // no two alike
  for (const int s : stages) {
    const ExtentNeed n = need_of(tree_.nests[f][s], def.args[d]);
    const auto is_same = [&](const Expr &m) { return equal(m, n.symbolic_multiple); };
    if (n.symbolic_multiple.defined() &&
        std::none_of(symbolic_multiples.begin(), symbolic_multiples.end(), is_same)) {
      symbolic_multiples.push_back(n.symbolic_multiple);
    }
    if (n.symbolic_at_least.defined()) {
      if (output) {
        assume_extent({f, s}, d, n.symbolic_at_least, *n.origin);
      } else {
        i.min = smaller(i.min, sum(difference(i.max, n.symbolic_at_least), 1));
      }
    }
    if (output && n.at_least > 1) {
      assume_extent({f, s}, d, make_int(Int(32), n.at_least), *n.origin);
    }
    at_least = std::max(at_least, n.at_least);
  }
  if (!output && at_least > 1) {
    // What is computed too lies before the region, where tiles of consumers have been already.
    const Expr e = extent_of({i.min, i.max});
    const auto k = constant(e);
    const Expr first = sum(i.max, 1 - at_least);
    if (!k) i.min = smaller(i.min, first);
    if (k && *k < at_least) i.min = first;
  }
  // Whole tiles last: what grows after them would leave a part of one.
  if (!symbolic_multiples.empty()) {
    Expr all = make_int(Int(32), multiple);
    for (const Expr &m : symbolic_multiples) all = simplify(make_binary(Op::Mul, all, m));
    const Expr tiles = ceil_div(extent_of({i.min, i.max}), all);
    i.max = sum(i.min, sum(make_binary(Op::Mul, tiles, all), -1));
  } else if (multiple > 1) {
    const Expr distance = difference(i.max, i.min);
    const auto limit =
        ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(distance);
    i.max = end_of_tiles(i, multiple);
    // The ends of loops outside tell the most of each end, not of the distance between them.
    if (limit && *limit >= 0 && !constant(distance)) {
      i.max = smaller(i.max, sum(i.min, *limit / multiple * multiple + multiple - 1));
    }
  }
}

Expr Surveyor::where_it_runs(const StageId &s, const Expr &condition) const {
  const Expr runs = runs_where(tree_.func(s), s.stage);
  return runs.defined() ? make_binary(Op::Or, make_not(runs), condition) : condition;
}

void Surveyor::assume_extent(const StageId &s, int d, const Expr &least, const Derivation &split) {
  const FuncDef &def = tree_.func(s);
  const Expr extent = buffer_field(def.buffer_name(0), "extent", d);
  assume(where_it_runs(s, make_binary(Op::Ge, extent, least)), def.name, d,
         "a split of '" + def.args[d] +
             "' with tail ShiftInwards needs an extent of at least its factor (GuardWithIf "
             "needs no such thing)",
         extent, least, split.where, polyhalite_error_code_access_out_of_bounds);
}

// An end that a symbol stands for already is that symbol's, so that the hull of one point, which
// consumers named and did not name, is one point:
//
//   max(g.lo.0, min(4*y + i, n - 1)), where g.lo.0 = min(4*y + i, n - 1)   ->   g.lo.0
Expr Surveyor::with_known_ends(const Expr &e) const {
  if (!e.defined() || (e->op != Op::Min && e->op != Op::Max)) return e;
  const Expr a = with_known_ends(e->args[0]), b = with_known_ends(e->args[1]);
  for (const auto &[one, other] : {std::pair(a, b), std::pair(b, a)}) {
    const VariableNode *v = as_variable(one);
    const auto known = v ? symbol_.find(v->name) : symbol_.end();
    if (known != symbol_.end() && equal(known->second.value, other)) return one;
  }
  return make_binary(e->op, a, b);
}

void Surveyor::name_box(int f, std::vector<Interval> &box, int scope) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  FuncSurvey &fs = out_.funcs[f];
  for (int d = 0; d < def.dimensions(); d++) {
    box[d] = {with_known_ends(simplify(box[d].min)), with_known_ends(simplify(box[d].max))};
    const auto width = constant_difference(box[d].max, box[d].min);
    const std::string suffix = "." + std::to_string(d);
    Expr min = name_end(scope, def.name + ".lo" + suffix, box[d].min);
    Expr max = width ? sum(min, *width) : name_end(scope, def.name + ".hi" + suffix, box[d].max);
    fs.needed.push_back({min, max});
  }
}

bool Surveyor::is_short_sum(const Expr &e) {
  const Linear l = to_linear(e);
  return l.terms.size() <= 3 && std::all_of(l.terms.begin(), l.terms.end(), [](const auto &term) {
           return as_variable(term.first) != nullptr;
         });
}

Expr Surveyor::name_end(int scope, const std::string &name, const Expr &e) {
  const Expr simple = simplify(e);
  return is_short_sum(simple) ? simple : add_symbol(scope, name, simple);
}

}  // namespace polyhalite
