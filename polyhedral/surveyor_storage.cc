#include <algorithm>
#include <numeric>

#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/surveyor.h"
#include "schedule/hoisted_memory.h"

namespace polyhalite {

ConstantUpperBound::Meaning Surveyor::meaning(const VariableNode &v) {
  ConstantUpperBound::Meaning m;
  if (v.kind == VariableKind::Loop) {
    const LoopBounds &b = out_.loops[loop_by_name_.at(v.name)];
    if (!b.min.defined()) return m;  // not surveyed yet
    m.lower = b.min;
    m.upper = sum(sum(b.min, b.extent), -1);
  } else if (v.kind == VariableKind::Symbol) {
    const auto s = symbol_.find(v.name);
    if (s == symbol_.end()) return m;
    m.value = s->second.value;
    m.lower = s->second.lower;
    m.upper = s->second.upper;
  }
  return m;
}

void Surveyor::survey_storage(int f, int compute_scope) {
  const int scope = tree_.placements[f].store;
  const FuncDef &def = tree_.algorithm.funcs[f];
  FuncSurvey &fs = out_.funcs[f];
  for (int d = 0; d < def.dimensions(); d++) {
    IndexRange r = fs.needed[d];
    const std::string suffix = "." + std::to_string(d);
    if (auto beyond = beyond_.find(f); beyond != beyond_.end()) {
      const Interval &all = beyond->second[d];
      if (all.min.defined()) r.min = all.min;
      if (all.max.defined()) r.max = all.max;
    }
    if (scope != compute_scope) {
      const Interval i = {bound_at(r.min, nullptr, scope).min, bound_at(r.max, nullptr, scope).max};
      check_bounded(def, d, i);
      const auto width = constant_difference(i.max, i.min);
      r.min = name_end(scope, def.name + ".stored_lo" + suffix, i.min);
      r.max = width ? sum(r.min, *width) : name_end(scope, def.name + ".stored_hi" + suffix, i.max);
    } else if (fs.read_beyond) {
      r.min = name_end(scope, def.name + ".stored_lo" + suffix, r.min);
      r.max = name_end(scope, def.name + ".stored_hi" + suffix, r.max);
    }
    const Expr width = difference(r.max, r.min);
    std::optional<int64_t> extent;
    if (auto k = ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(width)) {
      extent = std::max<int64_t>(*k + 1, 0);
      r.max = sum(r.min, *extent - 1);
    }
    if (tree_.storage[f].dims[d].bound.defined() && !tree_.algorithm.is_output(def.name)) {
      bound_storage(f, d, r, extent);
    }
    fs.stored.push_back(r);
    fs.stored_extent.push_back(extent);
  }
}

void Surveyor::survey_hoisted(int f) {
  const FuncPlacement &p = tree_.placements[f];
  if (!p.hoist) return;
  const FuncDef &def = tree_.algorithm.funcs[f];
  FuncSurvey &fs = out_.funcs[f];
  HoistedStorage h;
  for (int d = 0; d < def.dimensions(); d++) {
    Expr extent;
    if (fs.fold[d] > 0) {
      extent = make_int(Int(32), fs.fold[d]);
    } else if (fs.stored_extent[d]) {
      extent = make_int(Int(32), *fs.stored_extent[d]);
    } else {
      const IndexRange &r = fs.stored[d];
      const Interval i = bound_at(difference(r.max, r.min), nullptr, *p.hoist);
      check_bounded(def, d, {i.max, i.max});
      extent = name_end(*p.hoist, def.name + ".hoisted." + std::to_string(d),
                        larger(sum(i.max, 1), make_int(Int(32), 0)));
    }
    if (const int64_t align = tree_.storage[f].dims[d].multiple(); align > 1) {
      const Expr k = make_int(Int(32), align);
      extent = make_binary(Op::Div, sum(extent, static_cast<int>(align) - 1), k);
      extent = simplify(make_binary(Op::Mul, extent, k));
    }
    h.extents.push_back(extent);
  }
  h.slot = make_int(Int(32), 0);
  if (p.ring.defined()) {
    // Iterations of the loops between, counted; the innermost counts fastest.
    Expr index = make_int(Int(32), 0);
    Expr step = make_int(Int(32), 1);
    for (int l = p.store; l != *p.hoist; l = parent_[l]) {
      const LoopBounds &b = out_.loops[l];
      const Expr counter = make_variable(Int(32), VariableKind::Loop, tree_.loops[l].name);
      index = sum(index, simplify(make_binary(Op::Mul, difference(counter, b.min), step)));
      step = simplify(make_binary(Op::Mul, step, b.extent));
    }
    h.slot = simplify(make_binary(Op::Mod, index, p.ring));
    assume(make_binary(Op::Ge, p.ring, make_int(Int(32), 1)), def.name, 0,
           "the extent of ring_buffer() of '" + def.name + "' must be positive", p.ring,
           make_int(Int(32), 1), p.hoist_where);
  }
  fs.hoisted = std::move(h);
}

// Do the numbers of iterations by which a ring's storages are taken grow by one each time? Not
// where a loop runs more often in one iteration of those around it than in another.
bool Surveyor::counts_evenly(const FuncPlacement &p) const {
  for (int l = p.store; l != *p.hoist && parent_[l] != *p.hoist; l = parent_[l]) {
    bool even = true;
    for_each_node(expand_within(out_.loops[l].extent, *p.hoist), [&](const Expr &e) {
      const VariableNode *v = as_variable(e);
      if (!v) return;
      if (v->kind == VariableKind::Loop) {
        even = even && visible(*p.hoist, loop_by_name_.at(v->name));
      } else if (const auto owner = symbol_owner_.find(v->name); owner != symbol_owner_.end()) {
        even = even && visible(*p.hoist, owner->second);
      }
    });
    if (!even) return false;
  }
  return true;
}

void Surveyor::share_hoisted() {
  const int n = static_cast<int>(out_.funcs.size());
  for (int f = 0; f < n; f++) {
    if (!out_.funcs[f].hoisted) continue;
    const int owner = memory_owner(tree_, f);
    HoistedStorage &own = *out_.funcs[f].hoisted, &memory = *out_.funcs[owner].hoisted;
    own.owner = owner;
    for (size_t d = 0; owner != f && d < own.extents.size(); d++) {
      memory.extents[d] = larger(memory.extents[d], own.extents[d]);
    }
  }
  for (int f = 0; f < n; f++) {
    if (!out_.funcs[f].hoisted) continue;
    out_.funcs[f].hoisted->extents = out_.funcs[out_.funcs[f].hoisted->owner].hoisted->extents;
  }
}

// Room for productions that run ahead: the storages of a ring; the cells of a folded window beside
// those that the window needs; all where windows meet no cell of a later production. Else each
// production waits for the one before it to be consumed.
void Surveyor::survey_async(int f) {
  const FuncPlacement &p = tree_.placements[f];
  if (!p.async || tree_.algorithm.is_output(tree_.algorithm.funcs[f].name)) return;
  FuncSurvey &fs = out_.funcs[f];
  fs.async = AsyncSurvey{};
  if (p.fork_level() == p.compute) return;  // one production
  fs.async->ahead = make_int(Int(32), 1);
  if (p.ring.defined()) {
    if (p.store == p.compute && counts_evenly(p)) fs.async->ahead = p.ring;
    return;
  }
  const int loop = p.compute;
  if (parent_[loop] != p.store) return;
  const std::string &name = tree_.loops[loop].name;
  const Expr next = make_binary(Op::Add, make_variable(Int(32), VariableKind::Loop, name), Expr(1));
  auto most = [&](const Expr &e) {
    return ConstantUpperBound([&](const VariableNode &v) { return meaning(v); })(e);
  };
  bool moves = false;  // a window that meets no cell of a later production
  for (size_t d = 0; d < fs.needed.size(); d++) {
    const Expr min = expand_within(fs.needed[d].min, parent_[loop]);
    const Expr max = expand_within(fs.needed[d].max, parent_[loop]);
    const Expr next_min = substitute(name, next, min), next_max = substitute(name, next, max);
    const auto above = constant_difference(next_min, max);
    const auto below = constant_difference(min, next_max);
    moves |= fs.slides[d].has_value() || (above && *above > 0) || (below && *below > 0);
    if (fs.fold[d] == 0) continue;
    if (!fs.slides[d]) return;
    const auto width = most(difference(max, min));
    const auto step =
        most(fs.slides[d]->down ? difference(min, next_min) : difference(next_max, max));
    if (!width || !step) return;
    const int64_t spare = fs.fold[d] - (*width + 1);
    fs.async->ahead = make_int(Int(32), 1 + spare / std::max<int64_t>(*step, 1));
    return;
  }
  if (moves) fs.async->ahead = Expr();
}

// bound_storage: exactly as many cells, which the entry checks where it does not follow.
void Surveyor::bound_storage(int f, int d, IndexRange &r, std::optional<int64_t> &extent) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const StorageDimension &dim = tree_.storage[f].dims[d];
  const auto most = constant(dim.bound);
  if (!extent || !most || *extent > *most) {
    const Expr needed = extent ? make_int(Int(32), *extent)
                               : bound_at(sum(difference(r.max, r.min), 1), nullptr, kRoot).max;
    if (!needed.defined()) check_bounded(def, d, {});
    if (extent && most) {
      user_error("the storage of '" + def.name + "' needs " + std::to_string(*extent) +
                     " cells over '" + def.args[d] + "', and bound_storage() gives it " +
                     std::to_string(*most),
                 "", "bound it to at least " + std::to_string(*extent), dim.bound_where);
    }
    assume(make_binary(Op::Le, needed, dim.bound), def.name, d,
           "bound_storage() of '" + def.args[d] + "' promises that no more cells are needed",
           needed, dim.bound, dim.bound_where, polyhalite_error_code_storage_bound_too_small);
  }
  r.max = sum(sum(r.min, dim.bound), -1);
  extent = most;
}

// The region that the body reads in the iteration asked for: in the body's terms, with the counter
// of the loop it is asked from moved on.
void Surveyor::survey_prefetches() {
  for (const PrefetchDirective &p : tree_.prefetches) {
    const int f = tree_.algorithm.index_of(p.target);
    std::vector<Interval> box;
    bool first = true;
    for (const ReadSite &r : reads_) {
      if (r.callee != p.target) continue;
      const auto &loops = tree_.nest(r.stage).loops;
      const bool inside = !loops.empty() ? visible(loops.back(), p.at)
                                         : visible(tree_.placements[r.stage.func].compute, p.at);
      if (!inside) continue;
      for (size_t d = 0; d < r.args.size(); d++) {
        const Interval i = bound_at(r.args[d], &r.stage, p.at, r.by_value[d]);
        if (first) {
          box.push_back(i);
        } else {
          box[d] = hull(box[d], i);
        }
      }
      first = false;
    }
    const std::string what = "cannot prefetch '" + p.target + "' at loop '" +
                             tree_.loops[p.at].label + "' of " +
                             tree_.describe(tree_.loops[p.at].stage);
    if (first) {
      user_error(what, "nothing inside of that loop reads '" + p.target + "'",
                 "prefetch what '" + tree_.func(tree_.loops[p.at].stage).name +
                     "' or a Func computed inside the loop reads",
                 p.where);
    }
    if (f >= 0 && !visible(parent_[p.at], tree_.placements[f].store)) {
      user_error(what, "'" + p.target + "' is stored inside of that loop",
                 "store it outside, as with compute_root()", p.where);
    }
    const std::string &from = tree_.loops[p.from].name;
    const Expr next = sum(make_variable(Int(32), VariableKind::Loop, from), p.offset);
    auto moved = [&](const Expr &e) {
      return simplify(substitute(from, next, expand_within(e, parent_[p.from])));
    };
    PrefetchSurvey out;
    for (size_t d = 0; d < box.size(); d++) {
      if (!box[d].min.defined() || !box[d].max.defined()) {
        user_error(what, "the region that is read is unbounded in dimension " + std::to_string(d),
                   "clamp the index", p.where);
      }
      out.wanted.push_back({moved(box[d].min), moved(box[d].max)});
      if (f >= 0) {
        out.held.push_back(out_.funcs[f].stored[d]);
      } else {
        const Expr min = buffer_field(p.target, "min", static_cast<int>(d));
        out.held.push_back(
            {min, sum(sum(min, buffer_field(p.target, "extent", static_cast<int>(d))), -1)});
      }
    }
    out_.prefetches.push_back(std::move(out));
  }
}

void Surveyor::survey_inputs() {
  std::map<std::string, std::pair<int, SourceLocation>> images;  // dimensions, and who reads
  for (const ReadSite &r : reads_) {
    if (tree_.algorithm.index_of(r.callee) >= 0) continue;
    images[r.callee] = {static_cast<int>(r.args.size()), tree_.definition(r.stage).where};
  }
  for (const ExternRead &r : extern_reads_) {
    if (tree_.algorithm.index_of(r.callee) >= 0) continue;
    const StageDef &stage = tree_.definition(r.stage);
    const CallNode &image = *extern_operands(*as_extern_stage(stage))[r.operand].buffer;
    images[r.callee] = {static_cast<int>(image.args.size()), stage.where};
  }
  for (const auto &[name, of] : images) {
    const auto &[dimensions, where] = of;
    Box box;
    const std::vector<Interval> need = needed(name, dimensions, kRoot, Reach::Touched);
    for (int d = 0; d < dimensions; d++) {
      if (!need[d].min.defined() || !need[d].max.defined()) {
        user_error("the region of input '" + name + "' that is needed in dimension " +
                       std::to_string(d) + " is unbounded",
                   "an index comes from data, and nothing limits its values",
                   "clamp the index, as in " + name + "(clamp(i, 0, n - 1))", where);
      }
      box.push_back({simplify(need[d].min), simplify(need[d].max)});
    }
    out_.inputs[name] = box;
  }
  // What consumers and updates inside the pipeline touch of outputs.
  for (const auto &[f, box] : touched_) {
    const FuncDef &def = tree_.algorithm.funcs[f];
    Box all = out_.funcs[f].computed;
    for (int d = 0; d < def.dimensions(); d++) {
      if (!box[d].min.defined()) continue;
      const Expr low = bound_at(box[d].min, nullptr, kRoot).min;
      const Expr high = bound_at(box[d].max, nullptr, kRoot).max;
      all[d] = {simplify(smaller(all[d].min, low)), simplify(larger(all[d].max, high))};
    }
    out_.inputs[def.name] = all;
  }
}

}  // namespace polyhalite
