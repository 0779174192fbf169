#include "schedule/fission.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lang/ir/expr_text.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

// What one value of an update reads of another one, in the cell that the instance writes.
struct Need {
  Expr call;            // null: nothing
  bool always = false;  // it is that cell, and not only may be
};

class Parts {
 public:
  Parts(const FuncDef &f, int stage) : f_(f), def_(f.stages[stage]), n_(f.types.size()) {
    for (const ReductionVariable &r : def_.rvars) {
      const ConstantBounds from = constant_bounds(r.min);
      const ConstantBounds size = constant_bounds(r.extent);
      ConstantBounds &b = bounds_[r.var];
      b.min = from.min;
      if (from.max && size.max) b.max = *from.max + *size.max - 1;
    }
    for (size_t i = 0; i < n_; i++) {
      if (!stays(i)) written_.push_back(i);
    }
  }

  std::vector<std::vector<size_t>> run(std::string *why) const {
    // later[i][j]: value j is written after value i has been computed.
    std::vector<std::vector<bool>> later(n_, std::vector<bool>(n_, false));
    for (const size_t i : written_) {
      for (const size_t j : written_) later[i][j] = i != j && needs(i, j).call.defined();
    }
    for (const size_t k : written_) {
      for (const size_t i : written_) {
        for (const size_t j : written_) {
          if (later[i][k] && later[k][j]) later[i][j] = true;
        }
      }
    }
    std::vector<std::vector<size_t>> parts;
    std::set<size_t> done;
    while (done.size() < written_.size()) {
      for (const size_t i : written_) {
        if (done.count(i)) continue;
        const bool waits = std::any_of(written_.begin(), written_.end(), [&](size_t k) {
          return !done.count(k) && later[k][i] && !later[i][k];
        });
        if (waits) continue;
        std::vector<size_t> part;
        for (const size_t j : written_) {
          if (j == i || (later[i][j] && later[j][i])) part.push_back(j);
        }
        done.insert(part.begin(), part.end());
        parts.push_back(std::move(part));
        break;
      }
    }
    if (why && parts.size() < 2) *why = together();
    return parts;
  }

 private:
  bool stays(size_t i) const {
    const CallNode *c = as_call(def_.values[i]);
    return c && is_own(*c) && c->value_index == static_cast<int>(i) && is_written_cell(*c);
  }
  bool is_own(const CallNode &c) const { return c.kind == CallKind::Func && c.name == f_.name; }
  bool is_written_cell(const CallNode &c) const {
    return std::equal(c.args.begin(), c.args.end(), def_.args.begin(), def_.args.end(),
                      [](const Expr &a, const Expr &b) { return equal(a, b); });
  }

  // Can the cell be the one that the same instance writes?
  bool may_be_written_cell(const CallNode &c) const {
    for (size_t d = 0; d < c.args.size(); d++) {
      const auto same = decide(make_binary(Op::Eq, c.args[d], def_.args[d]), bounds_);
      if (same && !*same) return false;
    }
    return true;
  }

  // What value i reads, in one instance, of the cell of value j that the instance writes.
  Need needs(size_t i, size_t j) const {
    Need need;
    const auto look = [&](const Expr &e) {
      if (!e.defined()) return;
      for_each_node(e, [&](const Expr &n) {
        const CallNode *c = as_call(n);
        if (!c || !is_own(*c) || c->value_index != static_cast<int>(j)) return;
        if (need.always || !may_be_written_cell(*c)) return;
        need.always = is_written_cell(*c);
        need.call = n;
      });
    };
    look(def_.values[i]);
    // Each part finds out anew where the instance runs and what it writes.
    look(def_.predicate);
    for (const Expr &a : def_.args) look(a);
    return need;
  }

  std::string together() const {
    if (n_ < 2) return "it has one value";
    if (written_.size() < 2) return "each instance writes one value";
    std::string text = "an instance that writes " + f_.name + "(";
    for (size_t d = 0; d < def_.args.size(); d++) text += (d ? ", " : "") + to_text(def_.args[d]);
    text += ") needs what was there before:";
    bool first = true;
    for (const size_t i : written_) {
      for (const size_t j : written_) {
        const Need need = i == j ? Need() : needs(i, j);
        if (!need.call.defined()) continue;
        text += std::string(first ? "" : ",") + " value " + std::to_string(i) +
                (need.always ? " reads " : " may read ") + to_text(need.call);
        first = false;
      }
    }
    return text;
  }

  const FuncDef &f_;
  const StageDef &def_;
  const size_t n_;
  VariableBounds bounds_;
  std::vector<size_t> written_;
};

std::string loop_text(const StageDimensions &dims, const StageDef &def) {
  std::set<std::string> names;
  for (const LoopDimension &l : dims.loops) names.insert({l.name, l.label});
  for (const ReductionVariable &r : def.rvars) names.insert(r.var);
  std::string text;
  for (const std::string &n : names) text += (text.empty() ? "" : ", ") + n;
  return text;
}

}  // namespace

std::vector<std::vector<size_t>> fission_parts(const FuncDef &f, int stage, std::string *why) {
  return Parts(f, stage).run(why);
}

Fissioned fission(Algorithm a, const Directive &d, const std::vector<Directive> &before) {
  FuncDef &f = a.funcs[a.index_of(d.func)];
  StageDef &def = f.stages[d.stage];
  const std::string what = "cannot fission " + describe_stage(d.func, f.definition_of(d.stage));
  if (!f.is_update(d.stage) || is_extern_stage(def)) {
    user_error(what,
               is_extern_stage(def) ? "its C function computes all values in one call"
                                    : "the values of a pure definition wait for nothing",
               is_extern_stage(def) ? "leave the directive out"
                                    : "define a Func for each value, or call it on an update",
               d.where);
  }
  if (cell_writes(def).size() > 1) {
    user_error(what, "each instance writes several cells", "leave the values together", d.where);
  }
  std::string why;
  const auto parts = fission_parts(f, d.stage, &why);
  if (parts.size() < 2) {
    user_error(what + ": its values are computed together", why,
               "leave them together, or read what they need through another Func", d.where);
  }
  StageDimensions dims = default_dimensions(f, d.stage);
  for (const Directive &b : before) dims = derive(dims, b);
  const std::string part = d.loops.back();
  const bool taken =
      std::any_of(dims.loops.begin(), dims.loops.end(),
                  [&](const LoopDimension &l) { return l.label == part || l.name == part; }) ||
      std::any_of(def.rvars.begin(), def.rvars.end(),
                  [&](const ReductionVariable &r) { return r.var == part; }) ||
      std::count(f.args.begin(), f.args.end(), part) > 0;
  if (taken) {
    user_error(what + ": it already has a loop '" + part + "'", "",
               "give the new loop a name other than: " + loop_text(dims, def), d.where);
  }
  const auto around = std::find_if(dims.loops.begin(), dims.loops.end(), [&](const auto &l) {
    return d.loops.size() > 1 && l.label == d.loops[0];
  });
  if (d.loops.size() > 1 && around == dims.loops.end()) {
    user_error(what + " inside of '" + d.loops[0] + "': it has no such loop", "",
               "its loops are, outermost first: " + loop_list(dims), d.where);
  }

  const Expr chosen = make_variable(Int(32), VariableKind::Reduction, part);
  for (size_t p = 0; p < parts.size(); p++) {
    const Expr here = make_binary(Op::Eq, chosen, Expr(static_cast<int>(p)));
    for (const size_t v : parts[p]) {
      def.values[v] = make_select(
          here, def.values[v], make_func_call(f.types[v], f.name, def.args, static_cast<int>(v)));
    }
  }
  def.rvars.insert(def.rvars.begin(), {part, Expr(0), Expr(static_cast<int>(parts.size()))});

  Directive order = d, kind = d;
  order.kind = DirectiveKind::Reorder;
  order.loops.clear();
  // Innermost first; what is outside of the new loop keeps its place without a word.
  const size_t outside = d.loops.size() > 1 ? around - dims.loops.begin() + 1 : 0;
  for (size_t i = dims.loops.size(); i-- > outside;) order.loops.push_back(dims.loops[i].label);
  order.loops.push_back(part);
  kind.kind = DirectiveKind::Unroll;
  kind.loops = {part};
  Fissioned result;
  if (order.loops.size() > 1) result.directives.push_back(std::move(order));
  result.directives.push_back(std::move(kind));
  result.algorithm = std::move(a);
  return result;
}

}  // namespace polyhalite
