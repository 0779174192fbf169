// Sliding windows: where a Func's storage outlives its production, an iteration computes only what
// the iteration before it did not. Windows move up or down, or stand still: then the first
// iteration computes all that loops inside pass over.
//
//   store bx at by.y, compute it at by.yi           allocate bx [base - 1, base + 32]
//   for yi { compute bx over [yi - 1, yi + 1] }  -> for yi { compute bx over
//                                                     [yi == 0 ? yi - 1 : yi + 1, yi + 1] }
// and the storage folds to a ring of as many rows as the window has.
#include <algorithm>
#include <numeric>
#include <set>

#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"
#include "lang/simplify/under_condition.h"
#include "polyhedral/branch_cases.h"
#include "polyhedral/extern_bounds.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

constexpr int64_t kMaxUnrolledRows = 64;

int64_t next_power_of_two(int64_t n) {
  int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

// Is a >= b, whatever their variables are?
bool never_below(const Expr &a, const Expr &b) {
  auto anything = [](const VariableNode &) { return ConstantUpperBound::Meaning{}; };
  const auto most = ConstantUpperBound(anything)(difference(b, a));
  return most && *most <= 0;
}

// Bits of a trend: does an expression never fall, never rise, while a loop's counter grows?
constexpr uint8_t kRises = 1, kFalls = 2;

uint8_t turned(uint8_t trend) {
  return static_cast<uint8_t>((trend & kRises ? kFalls : 0) | (trend & kFalls ? kRises : 0));
}

uint8_t trend_of(const Expr &e, const std::string &loop);

uint8_t trend_of_call(const CallNode &c, const std::string &loop) {
  const bool rising = (c.kind == CallKind::Intrinsic && c.name == intrinsic::kStrictFloat) ||
                      (c.kind == CallKind::Math && (c.name == "floor" || c.name == "ceil" ||
                                                    c.name == "round" || c.name == "trunc"));
  return rising ? trend_of(c.args[0], loop) : 0;
}

uint8_t trend_of_float(const Expr &e, const std::string &loop) {
  double k = 0;
  switch (e->op) {
    case Op::Add:
      return trend_of(e->args[0], loop) & trend_of(e->args[1], loop);
    case Op::Sub:
      return trend_of(e->args[0], loop) & turned(trend_of(e->args[1], loop));
    case Op::Mul:
    case Op::Div: {
      if (!is_const_float(e->args[1], &k)) return 0;
      const uint8_t t = trend_of(e->args[0], loop);
      return k > 0 ? t : k < 0 ? turned(t) : 0;
    }
    default:
      return 0;
  }
}

uint8_t trend_of(const Expr &e, const std::string &loop) {
  if (!uses_variable(e, loop)) return kRises | kFalls;
  int64_t k;
  switch (e->op) {
    case Op::Variable:
      return kRises;
    case Op::Min:
    case Op::Max:
      return trend_of(e->args[0], loop) & trend_of(e->args[1], loop);
    case Op::Div:
      if (e.type().is_float()) return trend_of_float(e, loop);
      if (!is_const_int(e->args[1], &k) || k == 0) return 0;
      return k > 0 ? trend_of(e->args[0], loop) : turned(trend_of(e->args[0], loop));
    case Op::Cast: {
      const Type from = e->args[0].type();
      const bool keeps = from == Int(32) || (from.is_float() && from.bits() >= 32);
      return keeps && (e.type() == Int(32) || e.type().is_float()) ? trend_of(e->args[0], loop) : 0;
    }
    case Op::Call:
      return trend_of_call(*as_call(e), loop);
    case Op::Select: {
      // select(loop <= first, a, b): what slide_along makes. It keeps a trend that a and b share
      // where b goes on from a.
      const Expr &c = e->args[0], &first = e->args[1], &later = e->args[2];
      if (c->op != Op::Le || !as_variable(c->args[0]) || as_variable(c->args[0])->name != loop) {
        return 0;
      }
      const bool up = never_below(later, first), down = never_below(first, later);
      return trend_of(first, loop) & trend_of(later, loop) &
             static_cast<uint8_t>((up ? kRises : 0) | (down ? kFalls : 0));
    }
    default:
      break;
  }
  if (e.type().is_float()) return trend_of_float(e, loop);
  const Linear l = to_linear(e);
  if (l.terms.size() == 1 && l.constant == 0 && l.terms.begin()->second == 1) return 0;
  uint8_t trend = kRises | kFalls;
  for (const auto &[atom, c] : l.terms) {
    const uint8_t t = trend_of(atom, loop);
    trend &= c > 0 ? t : turned(t);
  }
  return trend;
}

}  // namespace

Expr Surveyor::expand_within(const Expr &e, int outside) const {
  std::map<std::string, Expr> values;
  return expand_within(e, outside, values);
}

// What stands for many names in turn stands once in `values`: names of names are looked up once.
Expr Surveyor::expand_within(const Expr &e, int outside,
                             std::map<std::string, Expr> &values) const {
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    if (!v || values.count(v->name)) return;
    if (v->kind == VariableKind::Loop) {
      const int loop = loop_by_name_.at(v->name);
      if (visible(outside, loop) || !runs_once(loop)) return;
      values[v->name] = expand_within(out_.loops[loop].min, outside, values);
      return;
    }
    if (v->kind != VariableKind::Symbol) return;
    auto it = symbol_.find(v->name);
    if (it == symbol_.end() || visible(outside, symbol_owner_.at(v->name))) return;
    values[v->name] = expand_within(it->second.value, outside, values);
  });
  return values.empty() ? e : substitute(values, e);
}

bool Surveyor::runs_once(int loop) const {
  return out_.loops[loop].extent.defined() && constant(out_.loops[loop].extent) == 1;
}

void Surveyor::slide(int f, int compute_scope) {
  const int store = tree_.placements[f].store;
  FuncSurvey &fs = out_.funcs[f];
  fs.fold.assign(fs.needed.size(), 0);
  fs.slides.assign(fs.needed.size(), std::nullopt);
  const FuncDef &def = tree_.algorithm.funcs[f];
  if (store == compute_scope) return;
  // A C function computes and reads whole boxes.
  if (extern_stage_of(def)) return;
  for (const ExternRead &r : extern_reads_) {
    if (r.callee == def.name) return;
  }
  std::vector<int> inner;  // loops of the path inside the one that is tried
  int outermost = kRoot;
  size_t along = 0;
  bool whole = false;
  int kept = -1;  // the memoized Func inside whose loops this is
  for (int l = compute_scope; l != store; l = parent_[l]) {
    // Iterations of a skewed nest run what the one before left out.
    if (is_skewed(l)) break;
    // A production that is kept does not run, and leaves nothing to the next one.
    const int consumer = tree_.loops[l].stage.func;
    if (kept >= 0 && consumer != kept) break;
    if (tree_.storage[consumer].memoized) kept = consumer;
    if (runs_once(l)) continue;
    if (tree_.loops[l].kind == LoopKind::Serial) {
      const auto d = sliding_dimension(f, l, inner);
      if (d && keeps_rings(f, *d, inner)) {
        slide_along(f, *d, l, compute_scope);
        outermost = l;
        along = d->dimension;
        whole = whole || d->whole;
      }
    }
    inner.push_back(l);
  }
  // What an iteration of the outermost such loop leaves to the next one, all windows inside have
  // passed over: a ring along one of them would have lost it.
  if (outermost != kRoot) {
    if (!whole) fold(f, along, outermost);
    use_what_is_kept(f, compute_scope);
    for (size_t s = 0; s < def.stages.size(); s++) keep_steady_parts({f, static_cast<int>(s)});
  }
}

// What an iteration leaves to the others has to be what they would have computed: of a window's own
// dimension all of it, of the others the part that each iteration needs alike.
void Surveyor::keep_steady_parts(const StageId &s) {
  const auto part = stage_needs_.find(s);
  if (part == stage_needs_.end()) return;
  const FuncPlacement &placement = tree_.placements[s.func];
  auto varies = [&](const Expr &end) {
    const Expr spelled = expand_within(end, placement.store);
    for (int l = placement.compute; l != placement.store; l = parent_[l]) {
      if (uses_variable(spelled, tree_.loops[l].name)) return true;
    }
    return false;
  };
  for (size_t d = 0; d < part->second.size(); d++) {
    Interval &need = part->second[d];
    if (!need.min.defined()) continue;
    if (out_.funcs[s.func].slides[d] || varies(need.min) || varies(need.max)) need = {};
  }
}

bool Surveyor::meets_vectors(int f, size_t d) const {
  const FuncDef &def = tree_.algorithm.funcs[f];
  for (size_t s = 0; s < tree_.nests[f].size(); s++) {
    const StageNest &nest = tree_.nests[f][s];
    std::set<std::string> parts = {def.args[d]};
    for (const Derivation &v : nest.derivations) {
      const bool split = v.kind == Derivation::Split && parts.count(v.a);
      const bool joined = v.kind != Derivation::Split && (parts.count(v.a) || parts.count(v.b));
      if (split) parts.insert({v.b, v.c});
      if (joined) parts.insert(v.c);
      if (joined && v.kind == Derivation::Skew) parts.insert(v.b);
    }
    for (int l : nest.loops) {
      if (tree_.loops[l].kind == LoopKind::Vector && parts.count(tree_.loops[l].dim)) return true;
    }
  }
  auto in_lanes = [&](const Expr &e) {
    bool found = false;
    for_each_node(e, [&](const Expr &n) {
      const VariableNode *v = as_variable(n);
      const int owner = v ? owner_of(*v) : kRoot;
      found = found || (owner != kRoot && tree_.loops[owner].kind == LoopKind::Vector);
    });
    return found;
  };
  return std::any_of(reads_.begin(), reads_.end(), [&](const ReadSite &r) {
    return r.callee == def.name &&
           in_lanes(substitute(out_.stages[r.stage.func][r.stage.stage].dims, r.args[d]));
  });
}

void Surveyor::fold(int f, size_t d, int loop) {
  // Iterations that run at once share no ring.
  for (int l = parent_[loop]; l != tree_.placements[f].store; l = parent_[l]) {
    if (runs_at_once(tree_.loops[l].kind)) return;
  }
  FuncSurvey &fs = out_.funcs[f];
  const Expr width = difference(fs.needed[d].max, fs.needed[d].min);
  const auto most = ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(width);
  if (!most) return;
  const int64_t ring = next_power_of_two(*most + 1);
  // Dimension 0 stays whole where vectors run along it.
  if (d == 0 && meets_vectors(f, d)) {
    if (tree_.storage[f].dims[d].fold > 0) return;
    const FuncDef &def = tree_.algorithm.funcs[f];
    const std::string dim = "'" + def.args[d] + "'", name = "'" + def.name + "'";
    out_.warnings.push_back(
        {name + " is not folded along " + dim + ", over which its window slides",
         "vectors run along " + dim + ", which a ring would break in two",
         def.name + ".fold_storage(" + def.args[d] + ", " + std::to_string(ring) +
             ") makes it a ring all the same",
         tree_.placements[f].store_where});
    return;
  }
  fs.fold[d] = ring;
}

// Would what is kept stay in the rings that the user has asked for, over other dimensions and,
// where loops inside pass over it, over its own?
bool Surveyor::keeps_rings(int f, const Direction &along, const std::vector<int> &inner) const {
  const FuncSurvey &fs = out_.funcs[f];
  for (size_t e = 0; e < fs.needed.size(); e++) {
    const bool slides = e == along.dimension && !along.whole;
    if (slides || tree_.storage[f].dims[e].fold == 0) continue;
    for (int m : inner) {
      const std::string &name = tree_.loops[m].name;
      for (const Expr &end : {fs.needed[e].min, fs.needed[e].max}) {
        if (uses_variable(expand_within(end, parent_[m]), name)) return false;
      }
    }
  }
  return true;
}

void Surveyor::fold_as_asked(int f) {
  FuncSurvey &fs = out_.funcs[f];
  fs.fold.resize(fs.needed.size(), 0);
  for (size_t d = 0; d < fs.fold.size(); d++) {
    const int64_t asked = tree_.storage[f].dims[d].fold;
    if (asked == 0) continue;
    fs.fold[d] = ring_for(f, d, asked);
    assume_ring_suffices(f, d);
    if (meets_c_function(tree_, tree_.algorithm.funcs[f].name)) keep_box_whole(f, d);
  }
}

void Surveyor::keep_box_whole(int f, size_t d) {
  const FuncSurvey &fs = out_.funcs[f];
  const FuncDef &def = tree_.algorithm.funcs[f];
  const Expr ring = make_int(Int(32), fs.fold[d]);
  // The cells from the beginning of a turn of the ring to the end of the box.
  const Expr min = expand_within(fs.needed[d].min, kRoot),
             max = expand_within(fs.needed[d].max, kRoot);
  const Expr reach = sum(simplify(make_binary(Op::Mod, min, ring)), sum(difference(max, min), 1));
  const auto most = ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(reach);
  const auto width = constant_difference(max, min);
  if ((most && *most <= fs.fold[d]) || (width && *width <= 0)) return;
  bool at_entry = true;
  for_each_node(reach, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    at_entry = at_entry && (!v || v->kind != VariableKind::Loop) &&
               (!v || v->kind != VariableKind::Symbol || owner_of(*v) == kRoot);
  });
  if (!at_entry) return;  // for the judge
  assume(make_binary(Op::Le, reach, ring), def.name, static_cast<int>(d),
         "a C function is given a box of '" + def.name + "', which fold_storage() of '" +
             def.args[d] + "' must not break in two",
         reach, ring, tree_.storage[f].dims[d].fold_where, polyhalite_error_code_bad_extern_fold);
}

// A number that e never exceeds, in the first iteration of loops that windows slide along and in
// the others: select(yi <= 0, a, b) meets what it is compared with in each of the two alone.
bool Surveyor::has_limit(const Expr &e) {
  if (ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(e)) return true;
  Expr at_first;
  for_each_node(e, [&](const Expr &n) {
    if (n->op != Op::Select || n->args[0]->op != Op::Le) return;
    const VariableNode *v = as_variable(n->args[0]->args[0]);
    if (v && v->kind == VariableKind::Loop) at_first = n->args[0];
  });
  if (!at_first.defined()) return false;
  return has_limit(simplify(under_condition(e, at_first, true))) &&
         has_limit(simplify(under_condition(e, at_first, false)));
}

// That a ring holds a window whose width the caller's sizes decide is checked at entry. One whose
// width has a limit of its own is for the judge.
void Surveyor::assume_ring_suffices(int f, size_t d) {
  const FuncSurvey &fs = out_.funcs[f];
  const Expr named = extent_of(fs.needed[d]);
  if (ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(named)) return;
  if (fs.slides[d] && most_cells(f, d, false)) return;
  const Expr spelled =
      extent_of({expand_within(fs.needed[d].min, kRoot), expand_within(fs.needed[d].max, kRoot)});
  if (has_limit(spelled)) return;
  Expr most;
  for (const Expr &extent : {named, spelled}) {
    const Expr limit = bound_at(extent, nullptr, kRoot).max;
    if (limit.defined()) most = most.defined() ? smaller(most, limit) : limit;
  }
  if (!most.defined() || constant(most)) return;
  const FuncDef &def = tree_.algorithm.funcs[f];
  const Expr ring = make_int(Int(32), fs.fold[d]);
  assume(make_binary(Op::Le, most, ring), def.name, static_cast<int>(d),
         "fold_storage() of '" + def.args[d] + "' promises that no more cells are needed at once",
         most, ring, tree_.storage[f].dims[d].fold_where,
         polyhalite_error_code_fold_factor_too_small);
}

std::optional<int64_t> Surveyor::most_cells(int f, size_t d, bool first) {
  const FuncSurvey &fs = out_.funcs[f];
  const int loop = fs.slides[d]->loop;
  const Expr counter = make_variable(Int(32), VariableKind::Loop, tree_.loops[loop].name);
  const Expr at_first = make_binary(Op::Le, counter, out_.loops[loop].min);
  auto end = [&](const Expr &e) {
    return simplify(under_condition(expand_within(e, parent_[loop]), at_first, first));
  };
  const Expr width = difference(end(fs.needed[d].max), end(fs.needed[d].min));
  const auto most = ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(width);
  return most ? std::optional(*most + 1) : std::nullopt;
}

// The first iteration computes whole windows, of windows that slide along with it too, and may need
// more of f than any other one. A ring that is wide enough for the others grows to hold it.
int64_t Surveyor::ring_for(int f, size_t d, int64_t asked) {
  const FuncSurvey &fs = out_.funcs[f];
  if (!fs.slides[d]) return asked;
  const auto at_start = most_cells(f, d, true), later = most_cells(f, d, false);
  const bool grows = at_start && *at_start > asked && later && *later <= asked;
  return grows ? next_power_of_two(*at_start) : asked;
}

// What is left to compute varies in number: no vector takes it, and code is repeated for as many
// iterations as there ever are. Splits by a constant grow it to what they need.
bool Surveyor::may_vary(const StageId &s, size_t d) const {
  const StageNest &nest = tree_.nest(s);
  std::string dim = tree_.func(s).args[d];
  bool split = false;
  for (const Derivation &v : nest.derivations) {
    if (v.kind != Derivation::Split && (v.a == dim || v.b == dim)) return false;
    if (v.kind != Derivation::Split || v.a != dim) continue;
    const bool known = is_guarding(v.tail) || v.tail == TailStrategy::ShiftInwards ||
                       v.tail == TailStrategy::RoundUp;
    if (!known || !constant(v.factor)) return false;
    dim = v.b;
    split = true;
  }
  for (size_t i = 0; i < nest.loops.size(); i++) {
    if (tree_.dim(s, i) != dim) continue;
    const LoopInfo &loop = tree_.loops[nest.loops[i]];
    const FuncSurvey &fs = out_.funcs[s.func];
    const bool few =
        loop.kind == LoopKind::Unrolled && !split &&
        constant_difference(fs.needed[d].max, fs.needed[d].min).value_or(kMaxUnrolledRows) <
            kMaxUnrolledRows;
    if (loop.kind != LoopKind::Serial && loop.kind != LoopKind::Parallel && !few) return false;
  }
  return true;
}

bool Surveyor::has_rows_of_its_own(int f, size_t d) const {
  for (size_t s = 0; s < tree_.algorithm.funcs[f].stages.size(); s++) {
    if (!may_vary({f, static_cast<int>(s)}, d)) return false;
  }
  return keeps_rows_apart(f, d);
}

std::optional<Surveyor::Direction> Surveyor::sliding_dimension(
    int f, int loop, const std::vector<int> &inner) const {
  const FuncSurvey &fs = out_.funcs[f];
  const std::string &name = tree_.loops[loop].name;
  // The loops inside must run the same iterations each time.
  for (int m : inner) {
    for (const Expr &e : {out_.loops[m].min, out_.loops[m].extent}) {
      if (uses_variable(expand_within(e, parent_[loop]), name)) return std::nullopt;
    }
  }
  const Expr next = make_binary(Op::Add, make_variable(Int(32), VariableKind::Loop, name), Expr(1));
  std::optional<Direction> found;
  bool moves = false;
  for (size_t d = 0; d < fs.needed.size(); d++) {
    const Expr min = expand_within(fs.needed[d].min, parent_[loop]);
    const Expr max = expand_within(fs.needed[d].max, parent_[loop]);
    const bool inside = std::any_of(inner.begin(), inner.end(), [&](int m) {
      return uses_variable(min, tree_.loops[m].name) || uses_variable(max, tree_.loops[m].name);
    });
    if (!uses_variable(min, name) && !uses_variable(max, name)) {
      // Along one that stands still, all is left out, unless another one moves; best along one that
      // loops inside do not pass over: that would be kept whole.
      const bool better = !found || !inside;
      if (!moves && better && !fs.slides[d] && has_rows_of_its_own(f, d))
        found = {d, false, inside};
      continue;
    }
    const uint8_t trend = trend_of(min, name) & trend_of(max, name);
    if (moves || inside || trend == 0) return std::nullopt;
    moves = true;
    found.reset();
    const bool down = (trend & kRises) == 0;
    // Windows that never overlap have nothing to keep.
    const auto gap = down ? constant_difference(min, substitute(name, next, max))
                          : constant_difference(substitute(name, next, min), max);
    if (gap && *gap > 0) return std::nullopt;
    if (fs.slides[d] || (down && fs.last[d].defined()) || !has_rows_of_its_own(f, d)) continue;
    found = {d, down};
  }
  return found;
}

NewTiles Surveyor::tiles_of(int f, size_t d, const std::vector<int> &stages) const {
  NewTiles tiles;
  for (const int stage : stages) {
    const ExtentNeed n = need_of(tree_.nests[f][stage], tree_.algorithm.funcs[f].args[d]);
    tiles.at_least = std::max(tiles.at_least, n.at_least);
    tiles.multiple = std::lcm(tiles.multiple, n.multiple);
  }
  tiles.at_least = (tiles.at_least + tiles.multiple - 1) / tiles.multiple * tiles.multiple;
  return tiles;
}

namespace {

// Where what is computed of a window ends that reaches `first`, the first one that is new. `most`
// is what an expression never exceeds: where the number of new cells never needs another number of
// tiles, they have that number.
Expr end_of_new(const IndexRange &window, const Expr &first, bool down, const NewTiles &tiles,
                const ConstantUpperBound &most) {
  if (tiles.are_points()) return first;
  Expr count = extent_of(down ? IndexRange{window.min, first} : IndexRange{first, window.max});
  auto in_tiles = [&](int64_t n) {
    return std::max((n + tiles.multiple - 1) / tiles.multiple * tiles.multiple, tiles.at_least);
  };
  const auto highest = ConstantUpperBound(most)(count),
             lowest = ConstantUpperBound(most)(difference(Expr(0), count));
  if (highest && lowest && *lowest < 0 && in_tiles(*highest) == in_tiles(-*lowest)) {
    count = make_int(Int(32), in_tiles(*highest));
    return down ? sum(sum(window.min, count), -1) : difference(sum(window.max, 1), count);
  }
  if (tiles.multiple > 1) {
    count = product(ceil_div(count, make_int(Int(32), tiles.multiple)), tiles.multiple);
  }
  if (tiles.at_least > tiles.multiple) {
    count = make_select(make_binary(Op::Gt, count, Expr(0)),
                        larger(count, make_int(Int(32), tiles.at_least)), Expr(0));
  }
  return down ? sum(sum(window.min, count), -1) : difference(sum(window.max, 1), count);
}

}  // namespace

void Surveyor::slide_along(int f, const Direction &along, int loop, int compute_scope) {
  FuncSurvey &fs = out_.funcs[f];
  const FuncDef &def = tree_.algorithm.funcs[f];
  const size_t d = along.dimension;
  const std::string &name = tree_.loops[loop].name;
  const Expr counter = make_variable(Int(32), VariableKind::Loop, name);
  const Expr last = make_binary(Op::Sub, counter, Expr(1));  // the iteration before
  const Expr min = expand_within(fs.needed[d].min, parent_[loop]);
  const Expr max = expand_within(fs.needed[d].max, parent_[loop]);
  // Consumers that slide along the same loop have bounds with the same condition: each branch keeps
  // theirs, so that a chain's bounds stay as short as its first stage's.
  const Expr at_first = make_binary(Op::Le, counter, out_.loops[loop].min);
  auto first = [&](const Expr &e) { return under_condition(e, at_first, true); };
  auto later = [&](const Expr &e) { return under_condition(e, at_first, false); };
  const std::string symbol = def.name + ".new." + std::to_string(d);
  fs.slides[d] = Slide{loop, along.down, Expr()};
  Expr end;
  if (along.down) {
    const Expr before = sum(substitute(name, last, min), -1);
    end = make_select(at_first, first(max), simplify(make_binary(Op::Min, later(max), before)));
  } else {
    const Expr before = sum(substitute(name, last, max), 1);
    end = make_select(at_first, first(min), simplify(make_binary(Op::Max, later(min), before)));
  }
  // Whole tiles, the rest of them taken from what is there already: the window has room for one.
  // Each branch has tiles of its own.
  const std::vector<BranchCase> cases = branch_cases(def);
  const auto in_tiles = [&](const BranchCase &c) { return tiles_of(f, d, c.stages); };
  if (std::any_of(cases.begin(), cases.end(),
                  [&](const BranchCase &c) { return !in_tiles(c).are_points(); })) {
    const IndexRange &window = fs.needed[d];
    const Expr first_new = add_symbol(compute_scope, symbol + ".first", end);
    fs.slides[d]->first = first_new;
    end = Expr();
    const ConstantUpperBound most([this](const VariableNode &v) { return meaning(v); });
    for (auto c = cases.rbegin(); c != cases.rend(); ++c) {
      const Expr there = end_of_new(window, first_new, along.down, in_tiles(*c), most);
      end = end.defined() ? make_select(c->where, there, end) : there;
    }
  }
  Expr &computed = along.down ? fs.computed[d].max : fs.computed[d].min;
  end = simplify(end);
  // A block and a place in it are seen to be parts of one number by its name.
  if (tree_.storage[f].packed.empty() && is_short_sum(end)) {
    computed = end;
  } else {
    computed = along.down ? add_symbol(compute_scope, symbol, end, Expr(), fs.needed[d].max)
                          : add_symbol(compute_scope, symbol, end, fs.needed[d].min);
  }
}

}  // namespace polyhalite
