// Extern stages: boxes that C functions say. A function is asked with buffers without memory; its
// answers are symbols, which nobody knows more of than that they are numbers. What it answers for a
// part of its output lies inside what it answers for all of it, at the root: where it does not, it
// gets what both have in common.
#include <algorithm>

#include "lang/ir/extern_stage.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/extern_bounds.h"
#include "polyhedral/surveyor.h"

namespace polyhalite {

std::vector<Interval> Surveyor::at_scope(const Box &box, int scope) {
  std::vector<Interval> out;
  for (const IndexRange &r : box) {
    out.push_back({bound_at(r.min, nullptr, scope).min, bound_at(r.max, nullptr, scope).max});
  }
  return out;
}

std::vector<Interval> Surveyor::answers(const StageId &s, const std::string &what, size_t operand,
                                        int dimensions, const std::vector<Interval> &box,
                                        int scope) {
  const FuncDef &stage = tree_.func(s);
  std::vector<Expr> query;
  for (const Interval &i : box) {
    if (!i.min.defined() || !i.max.defined()) {
      return std::vector<Interval>(static_cast<size_t>(dimensions));
    }
    query.insert(query.end(), {i.min, extent_of({i.min, i.max})});
  }
  const std::string prefix = stage.name + "." + what + "." + std::to_string(operand) +
                             (scope == kRoot ? "" : "." + tree_.loops[scope].name) + ".";
  std::vector<Interval> all;
  for (int d = 0; d < dimensions; d++) {
    auto symbol = [&](const char *end, bool is_max) {
      const std::string name = prefix + end + "." + std::to_string(d);
      if (symbol_.count(name)) return make_variable(Int(32), VariableKind::Symbol, name);
      return add_symbol(scope, name,
                        extern_bounds(stage, tree_.algorithm, operand, d, is_max, query));
    };
    all.push_back({symbol("min", false), symbol("max", true)});
  }
  return all;
}

std::vector<Interval> Surveyor::asked(const ExternRead &r, int dimensions, int scope) {
  const Box &box = out_.stages[r.stage.func][r.stage.stage].box;
  const std::string what = "asks." + r.callee;
  const std::vector<Interval> whole =
      answers(r.stage, what, r.operand, dimensions, at_scope(box, kRoot), kRoot);
  if (scope == kRoot) return whole;
  std::vector<Interval> part =
      answers(r.stage, what, r.operand, dimensions, at_scope(box, scope), scope);
  const std::string prefix = tree_.func(r.stage).name + "." + what + "." +
                             std::to_string(r.operand) + "." + tree_.loops[scope].name + ".inside.";
  for (size_t d = 0; d < part.size(); d++) {
    if (!part[d].min.defined() || !whole[d].min.defined()) continue;
    auto inside = [&](const char *end, const Expr &e) {
      const std::string name = prefix + end + "." + std::to_string(d);
      if (symbol_.count(name)) return make_variable(Int(32), VariableKind::Symbol, name);
      return add_symbol(scope, name, larger(smaller(e, whole[d].max), whole[d].min), whole[d].min,
                        whole[d].max);
    };
    part[d] = {inside("min", part[d].min), inside("max", part[d].max)};
  }
  return part;
}

void Surveyor::grow_as_asked(int f, std::vector<Interval> &box, int scope) {
  const FuncDef &def = tree_.algorithm.funcs[f];
  const StageId s{f, 0};
  if (!tree_.nest(s).loops.empty()) return;  // it is called for parts
  const size_t outputs = extern_operands(*extern_stage_of(def)).size();
  // What it makes and all that is needed.
  auto grown = [&](const std::vector<Interval> &needed, int at) {
    std::vector<Interval> all = needed;
    for (size_t v = 0; v < def.types.size(); v++) {
      const std::vector<Interval> made =
          answers(s, "makes", outputs + v, def.dimensions(), needed, at);
      for (size_t d = 0; d < all.size(); d++) all[d] = hull(all[d], made[d]);
    }
    return all;
  };
  for (const Interval &i : box) {
    if (!i.min.defined() || !i.max.defined()) return;
  }
  if (scope == kRoot) {
    box = grown(box, kRoot);
    return;
  }
  std::vector<Interval> outside;
  for (const Interval &i : box) {
    outside.push_back({bound_at(i.min, nullptr, kRoot).min, bound_at(i.max, nullptr, kRoot).max});
  }
  const std::vector<Interval> whole = grown(outside, kRoot), part = grown(box, scope);
  const bool stays = tree_.placements[f].store != scope;  // its storage holds the whole
  for (size_t d = 0; d < box.size(); d++) {
    const std::string name = def.name + ".made_", suffix = "." + std::to_string(d);
    const Interval &w = whole[d];
    if (!w.min.defined() || !w.max.defined()) continue;
    // Of an empty whole the part is empty, too.
    const Expr lo = stays ? larger(smaller(part[d].min, w.max), w.min) : part[d].min;
    const Expr hi = stays ? smaller(larger(part[d].max, w.min), w.max) : part[d].max;
    box[d] = {add_symbol(scope, name + "lo" + suffix, lo, w.min, w.max),
              add_symbol(scope, name + "hi" + suffix, hi, w.min, w.max)};
  }
}

Expr Surveyor::last_of_call(const StageId &s, const std::string &dim,
                            const StageSurvey &out) const {
  for (const Derivation &d : tree_.nest(s).derivations) {
    if (d.kind == Derivation::Fuse && (d.a == dim || d.b == dim)) return out.dims.at(dim);
    if (d.kind != Derivation::Split || d.a != dim) continue;
    const IndexRange &range = out.ranges.at(dim);
    const Expr base = difference(out.dims.at(dim), out.dims.at(d.c));
    const Expr last = sum(base, last_of_call(s, d.c, out));
    return is_guarding(d.tail) && !divides(d, range) ? smaller(last, range.max) : last;
  }
  for (int l : tree_.nest(s).loops) {
    if (tree_.loops[l].dim == dim) return out.dims.at(dim);
  }
  return out.ranges.at(dim).max;
}

void Surveyor::survey_extern_box(const StageId &s, StageSurvey &out) {
  for (const std::string &a : tree_.func(s).args) {
    out.box.push_back({out.dims.at(a), last_of_call(s, a, out)});
  }
}

}  // namespace polyhalite
