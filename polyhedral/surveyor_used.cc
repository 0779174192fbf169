// What is used of what is computed. A split that rounds up runs whole tiles; so do the Funcs that
// are computed inside of its loops. Nobody uses what lies beyond the range, so that producers
// outside compute no more for it. They have the memory, though, that is read there. The same holds
// of tiles that store within the range only, and read whole ones (PredicateStores).
//
//   f(x) = in(x) + in(x + 1), g(x) = f(x), in and f at root, f.split(x, xo, xi, 8, RoundUp)
//   g over [0, 9]  ->  f computes [0, 15], of which [0, 9] is used
//                      in computes [0, 10] and has memory for [0, 16]
#include <algorithm>
#include <set>

#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

bool reads_funcs(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    found = found || (c && c->kind == CallKind::Func);
  });
  return found;
}

// May values be anything where this is evaluated? Not where it would trap, tell of it, leave a
// promised range, or hand it to the user's code.
bool takes_anything(const Expr &node) {
  static const std::set<std::string> kParticular = {
      intrinsic::kPrint, intrinsic::kRequire, intrinsic::kPromiseClamped,
      intrinsic::kDivRoundToZero, intrinsic::kModRoundToZero};
  if (const CallNode *c = as_call(node)) {
    const bool particular = c->kind == CallKind::Extern || c->kind == CallKind::PureExtern ||
                            (c->kind == CallKind::Intrinsic && kParticular.count(c->name));
    return !particular || std::none_of(c->args.begin(), c->args.end(), reads_funcs);
  }
  if (node->op != Op::Div && node->op != Op::Mod) return true;
  const bool may_trap =
      node.type().is_int() && node.type().bits() >= 32 && !is_const(node->args[1]);
  return !may_trap || !reads_funcs(node);
}

// A float that no integer holds makes none that could be clamped.
bool is_index_of_floats(const Expr &index) {
  bool found = false;
  for_each_node(index, [&](const Expr &n) {
    found = found || (n->op == Op::Cast && n->args[0].type().is_float() && reads_funcs(n));
  });
  return found;
}

bool takes_anything(const StageDef &stage) {
  bool all = true;
  auto look_at_index = [&](const Expr &e) { all = all && !is_index_of_floats(e); };
  auto look = [&](const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      all = all && takes_anything(n);
      const CallNode *c = as_call(n);
      if (c && (c->kind == CallKind::Func || c->kind == CallKind::Image)) {
        for (const Expr &index : c->args) look_at_index(index);
      }
    });
  };
  for (const Expr &e : stage.args) {
    look(e);
    look_at_index(e);
  }
  for (const Expr &e : stage.values) look(e);
  if (stage.predicate.defined()) look(stage.predicate);
  return all;
}

}  // namespace

Interval Surveyor::within_reach(const StageId &s, const std::string &variable, Interval i,
                                int scope) const {
  const StageSurvey &st = out_.stages[s.func][s.stage];
  const auto used = st.used.find(variable);
  if (reach_ == Reach::Touched || used == st.used.end()) return i;
  IndexRange limit = used->second;
  const std::vector<int> &own = tree_.nest(s).loops;
  const bool inside = !own.empty() && visible(scope, own.front());
  const bool reads_past = reads_past_.count({s, variable}) > 0;
  if (reads_past && !inside) return {i.min, limit.max};
  if (reach_ == Reach::Computed) {
    if (inside) return i;
    if (visible(scope, tree_.placements[s.func].compute)) {
      const std::vector<std::string> &args = tree_.func(s).args;
      const auto d = std::find(args.begin(), args.end(), variable) - args.begin();
      limit = asked_.at(s.func)[static_cast<size_t>(d)];
      if (overshoots(s, variable)) limit.max = used->second.max;
    }
  }
  const IndexRange &range = st.ranges.at(variable);
  // All iterations are asked about, which end no earlier.
  const bool beyond =
      overshoots(s, variable) && !depends_on_visible_loop(s, st.dims.at(variable), scope);
  auto tighter = [](const Expr &end, bool is_whole, const Expr &at, auto choose) {
    if (!at.defined()) return end;
    return !end.defined() || is_whole ? at : choose(end, at);
  };
  return {
      tighter(i.min, i.min.defined() && equal(i.min, range.min), limit.min, larger),
      tighter(i.max, beyond || (i.max.defined() && equal(i.max, range.max)), limit.max, smaller)};
}

void Surveyor::use_what_is_stored(const StageId &s, StageSurvey &out) const {
  if (!takes_anything(tree_.definition(s))) return;
  for (const std::string &variable : tree_.func(s).args) {
    if (!overshoots(s, variable)) continue;
    IndexRange &used = out.used[variable];
    if (!used.max.defined()) used.max = out.ranges.at(variable).max;
  }
}

bool Surveyor::is_read_by_unused(const std::string &callee) const {
  return std::any_of(reads_.begin(), reads_.end(), [&](const ReadSite &r) {
    return r.callee == callee && !out_.stages[r.stage.func][r.stage.stage].used.empty();
  });
}

bool Surveyor::keeps_rows_apart(int f, size_t d) const {
  const FuncDef &def = tree_.algorithm.funcs[f];
  auto is_row = [&](const Expr &e) {
    const VariableNode *v = as_variable(e);
    return v && v->kind == VariableKind::Pure && v->name == def.args[d];
  };
  for (size_t s = 0; s < def.stages.size(); s++) {
    if (!def.is_update(static_cast<int>(s))) continue;
    bool own = true;
    for (const CellWrite &w : cell_writes(def.stages[s])) own = own && is_row(w.cell[d]);
    for_each_call(def.stages[s], [&](const CallNode &c) {
      if (c.kind == CallKind::Func && c.name == def.name) own = own && is_row(c.args[d]);
    });
    if (!own) return false;
  }
  return true;
}

void Surveyor::note_used(int f, const std::vector<Interval> &used,
                         const std::vector<Interval> &asked, const std::vector<Interval> &grown,
                         int scope) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  FuncSurvey &fs = out_.funcs[f];
  const size_t n = fs.needed.size();
  fs.used.assign(n, {});
  asked_[f].assign(n, {});
  const bool handed_over = tree_.algorithm.is_output(def.name) || extern_stage_of(def) ||
                           std::any_of(extern_reads_.begin(), extern_reads_.end(),
                                       [&](const ExternRead &r) { return r.callee == def.name; });
  if (handed_over || !std::all_of(def.stages.begin(), def.stages.end(),
                                  [](const StageDef &s) { return takes_anything(s); })) {
    return;
  }
  for (size_t d = 0; d < n; d++) {
    if (fs.last[d].defined() || !keeps_rows_apart(f, d)) continue;
    bool rounds = false, shifts = false;
    for (const StageNest &nest : tree_.nests[f]) {
      const ExtentNeed need = need_of(nest, def.args[d]);
      rounds |= need.multiple > 1 || need.symbolic_multiple.defined();
      shifts |= need.at_least > 1 || need.symbolic_at_least.defined();
    }
    const Interval &u = used[d], &a = asked[d];
    const bool grew_down = shifts && !equal(a.min, grown[d].min);
    const bool grew = rounds && !equal(a.max, grown[d].max);
    const std::string suffix = "." + std::to_string(d);
    const bool starts_later = constant_difference(u.min, a.min) != 0;
    if (starts_later || grew_down) {
      fs.used[d].min = name_end(scope, def.name + ".first_used" + suffix, u.min);
    }
    if (grew_down) {
      asked_[f][d].min = starts_later ? name_end(scope, def.name + ".first_asked" + suffix, a.min)
                                      : fs.used[d].min;
    }
    const bool less = constant_difference(u.max, a.max) != 0;
    if (!grew && !less) continue;
    fs.used[d].max = name_end(scope, def.name + ".last_used" + suffix, u.max);
    if (!grew) continue;
    asked_[f][d].max =
        less ? name_end(scope, def.name + ".last_asked" + suffix, a.max) : fs.used[d].max;
  }
}

void Surveyor::note_reads_past(const StageId &s, StageSurvey &out) {
  const StageDef &stage = tree_.definition(s);
  if (is_extern_stage(stage) || !takes_anything(stage)) return;
  const std::vector<std::string> &args = tree_.func(s).args;
  for (size_t d = 0; d < args.size(); d++) {
    const bool part = out.used.count(args[d]) || out_.funcs[s.func].last[d].defined();
    if (part || !out.dims.count(args[d]) || !overshoots(s, args[d])) continue;
    reads_past_.insert({s, args[d]});
    out.used[args[d]] = {Expr(), out.ranges.at(args[d]).max};
  }
}

void Surveyor::note_beyond(int f, const std::vector<Interval> &touched,
                           const std::vector<Interval> &read, const std::vector<Interval> &box) {
  std::vector<Interval> beyond(box.size());
  bool any = false;
  for (size_t d = 0; d < box.size(); d++) {
    const Interval &t = touched[d], &r = read[d];
    if (!t.min.defined() || !t.max.defined()) continue;  // held inside of the box
    if (constant_difference(t.min, r.min) != 0) beyond[d].min = smaller(box[d].min, t.min);
    if (constant_difference(t.max, r.max) != 0) beyond[d].max = larger(box[d].max, t.max);
    any = any || beyond[d].min.defined() || beyond[d].max.defined();
  }
  if (!any) return;
  beyond_[f] = std::move(beyond);
  out_.funcs[f].read_beyond = true;
}

void Surveyor::use_all(int f, size_t d) {
  out_.funcs[f].used[d] = {};
  asked_[f][d] = {};
}

void Surveyor::use_what_is_kept(int f, int compute_scope) {
  const int store = tree_.placements[f].store;
  FuncSurvey &fs = out_.funcs[f];
  for (size_t d = 0; d < fs.used.size(); d++) {
    bool varies = fs.slides[d].has_value();
    for (const Expr &end : {fs.used[d].min, fs.used[d].max}) {
      if (!end.defined()) continue;
      const Expr e = expand_within(end, store);
      for (int l = compute_scope; l != store; l = parent_[l]) {
        varies = varies || uses_variable(e, tree_.loops[l].name);
      }
    }
    if (varies) use_all(f, d);
  }
}

}  // namespace polyhalite
