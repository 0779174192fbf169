// What updates touch of their own Func. Cells at other places than their pure variables say make
// the box larger; an update whose cells are needed in a part of it only runs over this part.
//
//   g(x, y) = 0, g(x, x) = f(x), g(y, y) = g(y - 1, y) + g(y + 1, y), of which x, y in [0, 9] are
//   needed g over [-1, 10] x [-1, 10], update 0 over x in [-1, 10], update 1 over y in [0, 9]
#include <algorithm>

#include "lang/simplify/simplify.h"
#include "polyhedral/limited_sums.h"
#include "polyhedral/model/stage_model.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

namespace {

void include_in(Interval &to, const Interval &i) { to = to.min.defined() ? hull(to, i) : i; }

//   v in [0, 9], v != 0 && ...   ->   v in [1, 9]
Interval without_ends(Interval i, const Expr &condition, const std::string &variable) {
  if (!condition.defined()) return i;
  if (condition->op == Op::And) {
    return without_ends(without_ends(i, condition->args[0], variable), condition->args[1],
                        variable);
  }
  if (condition->op != Op::Ne || !i.min.defined() || !i.max.defined()) return i;
  for (const int side : {0, 1}) {
    const VariableNode *v = as_variable(condition->args[side]);
    const Expr &other = condition->args[1 - side];
    if (!v || v->name != variable || other.type() != Int(32)) continue;
    if (constant_difference(other, i.min) == 0) i.min = sum(i.min, 1);
    if (constant_difference(other, i.max) == 0) i.max = sum(i.max, -1);
  }
  return i;
}

}  // namespace

Surveyor::OwnCells Surveyor::own_cells(const StageId &s, const std::vector<Interval> &over,
                                       bool conditional) {
  const FuncDef &def = tree_.func(s);
  const StageDef &stage = tree_.definition(s);
  auto range_of = [&](const VariableNode &v) -> std::optional<Interval> {
    if (v.kind == VariableKind::Pure) {
      const auto at = std::find(def.args.begin(), def.args.end(), v.name);
      return over[at - def.args.begin()];
    }
    if (v.kind == VariableKind::Reduction) {
      for (const ReductionVariable &r : stage.rvars) {
        if (r.var == v.name) return Interval{r.min, sum(sum(r.min, r.extent), -1)};
      }
    }
    return std::nullopt;
  };
  Bounder whole(range_of);
  auto within = [&](std::optional<Interval> i, const Expr &condition, const VariableNode &v) {
    if (!i) return i;
    const Interval limits = limits_of(condition, v.name);
    const Expr low = limits.min.defined() ? whole(limits.min).min : Expr();
    const Expr high = limits.max.defined() ? whole(limits.max).max : Expr();
    if (low.defined()) i->min = larger(i->min, low);
    if (high.defined()) i->max = smaller(i->max, high);
    return std::optional<Interval>(without_ends(*i, condition, v.name));
  };
  auto limited = [&](const Expr &domain) {
    return [&, domain](const VariableNode &v) { return within(range_of(v), domain, v); };
  };
  Bounder bounder(limited(stage.predicate));
  Bounder by_value(limited(stage.predicate), [&](const CallNode &c) { return value_interval(c); });
  for (Bounder *b : {&bounder, &by_value}) b->set_limited_sums(limited_sums_of(s), limited);
  OwnCells out;
  out.touched.resize(def.args.size());
  out.read.resize(def.args.size());
  auto take = [&](const std::vector<Expr> &cell, bool reads) {
    for (size_t d = 0; d < cell.size(); d++) {
      const VariableNode *v = as_variable(cell[d]);
      if (v && v->kind == VariableKind::Pure && v->name == def.args[d]) continue;
      Interval i = bounder(cell[d]);
      if (needs_values(cell[d], i)) {
        i = by_value(with_strict_floats(cell[d]));
        std::vector<HeldIndex> &held = out_.stages[s.func][s.stage].held;
        const bool known = std::any_of(held.begin(), held.end(), [&](const HeldIndex &h) {
          return h.callee == def.name && h.dimension == d && equal(h.index, cell[d]);
        });
        if (!known) held.push_back({def.name, d, cell[d], {}, {}, {}, {}});
      }
      if (!i.min.defined() || !i.max.defined()) {
        user_error("update " + std::to_string(s.stage - 1) + " of '" + def.name +
                       "' touches an unbounded region in dimension " + std::to_string(d) + " (" +
                       def.args[d] + ")",
                   "the index comes from data, and nothing limits its values",
                   "clamp the index, as in " + def.name + "(clamp(i, 0, n - 1))", stage.where);
      }
      include_in(out.touched[d], i);
      if (reads) include_in(out.read[d], i);
    }
  };
  for (const CellWrite &w : cell_writes(stage)) take(w.cell, false);
  for_each_call(stage, [&](const CallNode &c) {
    if (c.kind == CallKind::Func && c.name == def.name) take(c.args, true);
  });
  if (!conditional) return out;
  // Of cells that are read and never used there need be no more than memory.
  OwnCells used;
  used.touched.resize(def.args.size());
  used.read.resize(def.args.size());
  for (const StageCase &only : stage_cases(stage)) {
    if (only.def.predicate.defined() && is_false(only.def.predicate)) continue;
    for (const SelfAccess &access : self_accesses(def.name, only)) {
      const Expr used_where = access.writes ? Expr() : access.where;
      auto where = [&](const Expr &domain) {
        return [&, domain](const VariableNode &v) {
          return within(within(range_of(v), domain, v), used_where, v);
        };
      };
      Bounder used_only(where(only.def.predicate));
      used_only.set_limited_sums(limited_sums(only.def.predicate), where);
      for (size_t d = 0; d < access.cell.size(); d++) {
        if (!out.touched[d].min.defined()) continue;
        const VariableNode *v = as_variable(access.cell[d]);
        if (v && v->kind == VariableKind::Pure && v->name == def.args[d]) continue;
        Interval i = used_only(access.cell[d]);
        if (!i.min.defined() || !i.max.defined() || needs_values(access.cell[d], i)) {
          i = out.touched[d];
        }
        include_in(used.touched[d], i);
        if (!access.writes) include_in(used.read[d], i);
      }
    }
  }
  used.beyond = out.touched;
  return used;
}

// Of loops that may run over any range.
bool Surveyor::may_run_over_part(const StageId &s) const {
  const FuncDef &def = tree_.func(s);
  const FuncPlacement &placement = tree_.placements[s.func];
  const StageNest &nest = tree_.nest(s);
  if (tree_.algorithm.is_output(def.name) || placement.async) return false;
  for (int l : nest.loops) {
    if (!tree_.loops[l].also.empty()) return false;
  }
  for (int d = 0; d < def.dimensions(); d++) {
    if (keeps_rows_apart(s.func, static_cast<size_t>(d))) continue;
    const ExtentNeed need = need_of(nest, def.args[d]);
    if (leaves_rest(s.func, d) || need.at_least > 1 || need.multiple > 1 ||
        need.symbolic_at_least.defined() || need.symbolic_multiple.defined()) {
      return false;
    }
  }
  return true;
}

void Surveyor::include_own_updates(int f, std::vector<Interval> &box, int scope) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  if (def.num_definitions() == 1) return;
  const bool output = tree_.algorithm.is_output(def.name);
  // What is read and not used is no reason to compute more, where storage is one production's.
  const FuncPlacement &placement = tree_.placements[f];
  const bool conditional = !output && placement.store == scope && !placement.async;
  std::vector<Interval> &all = output ? touched_[f] : box;
  std::vector<Interval> &beyond = own_beyond_[f];
  beyond.assign(box.size(), {});
  auto include = [&](const std::vector<Interval> &cells, std::vector<Interval> &into) {
    bool grew = false;
    for (size_t d = 0; d < cells.size(); d++) {
      if (!cells[d].min.defined()) continue;
      Interval &i = into[d];
      const Interval before = i;
      i = i.min.defined() ? hull(i, cells[d]) : cells[d];
      grew = grew || !same_ends(before, i);
    }
    return grew;
  };
  auto updates = [&](int definition) {
    std::vector<StageId> stages;
    for (int s = 1; s < static_cast<int>(def.stages.size()); s++) {
      if (def.definition_of(s) == definition) stages.push_back({f, s});
    }
    return stages;
  };
  // What later updates read of earlier ones, the last one first.
  const std::vector<Interval> wanted = box;
  std::vector<Interval> need = box;
  std::map<StageId, std::vector<Interval>> needs;
  for (int u = def.num_definitions(); u-- > 1;) {
    std::vector<Interval> before = need;
    for (const StageId &s : updates(u)) {
      const OwnCells own = own_cells(s, output ? wanted : need, conditional);
      include(own.touched, all);
      for (size_t d = 0; d < own.beyond.size(); d++) {
        if (own.beyond[d].min.defined()) include_in(beyond[d], own.beyond[d]);
      }
      include(own.read, before);
      // One that reads other rows of its own has as many to write, unless what it reads is older.
      const bool apart =
          is_pure_in_its_variables(tree_, s) || !tree_.definition(s).in_place.empty();
      needs[s] = apart ? need : before;
    }
    need = before;
  }
  if (output) return;
  // What an update reads that runs over everything, the ones before it have made everywhere. A sum
  // takes in what is there, and nobody asks for it in rows that are not needed.
  int last_whole = 0;
  for (int s = 1; s < static_cast<int>(def.stages.size()); s++) {
    if (!may_run_over_part({f, s}) && !is_reduction_update(def, s))
      last_whole = std::max(last_whole, def.definition_of(s));
  }
  const auto runs_over_part = [&](const StageId &s) {
    const bool is_read_everywhere =
        def.definition_of(s.stage) < last_whole && is_pure_in_its_variables(tree_, s);
    return !is_read_everywhere && may_run_over_part(s);
  };
  // The others run over all of it.
  constexpr int kMostRounds = 3;
  bool grew = true;
  for (int round = 0; grew && round < kMostRounds; round++) {
    grew = false;
    for (int u = 1; u < def.num_definitions(); u++) {
      for (const StageId &s : updates(u)) {
        // Where a window turns out to slide, some run over all of it.
        if (runs_over_part(s) && tree_.placements[f].store == scope) continue;
        const bool more = include(own_cells(s, box, conditional).touched, box);
        grew = grew || (more && is_pure_in_its_variables(tree_, s));
      }
    }
  }
  for (auto &[s, own] : needs) {
    if (!runs_over_part(s)) continue;
    for (size_t d = 0; d < own.size(); d++) {
      if (same_ends(own[d], box[d])) own[d] = {};
    }
    stage_needs_[s] = std::move(own);
  }
}

// Rows that tiles make more of than is wanted are updated too: what is touched there needs memory,
// and no values.
void Surveyor::include_grown_updates(int f, const std::vector<Interval> &wanted,
                                     const std::vector<Interval> &box) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  bool grew = false;
  for (size_t d = 0; d < box.size(); d++) grew = grew || !same_ends(wanted[d], box[d]);
  if (!grew || tree_.algorithm.is_output(def.name)) return;
  for (int s = 1; s < static_cast<int>(def.stages.size()); s++) {
    const OwnCells own = own_cells({f, s}, box, false);
    for (size_t d = 0; d < box.size(); d++) {
      if (own.touched[d].min.defined()) include_in(own_beyond_[f][d], own.touched[d]);
    }
  }
}

void Surveyor::note_own_beyond(int f, const std::vector<Interval> &box) {
  const auto own = own_beyond_.find(f);
  if (own == own_beyond_.end()) return;
  for (size_t d = 0; d < box.size(); d++) {
    const Interval &i = own->second[d];
    if (!i.min.defined()) continue;
    auto extend = [&](const Expr &end, const Expr &of_box, Expr Interval::*side) {
      const Expr hull = side == &Interval::min ? smaller(of_box, end) : larger(of_box, end);
      if (constant_difference(hull, of_box) == 0) return;
      std::vector<Interval> &beyond = beyond_[f];
      beyond.resize(box.size());
      Expr &known = beyond[d].*side;
      known = !known.defined()         ? hull
              : side == &Interval::min ? smaller(known, hull)
                                       : larger(known, hull);
      out_.funcs[f].read_beyond = true;
      out_.funcs[f].partial[d] = true;
    };
    extend(i.min, box[d].min, &Interval::min);
    extend(i.max, box[d].max, &Interval::max);
  }
}

}  // namespace polyhalite
