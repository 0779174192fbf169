#include "lang/simplify/scan_update.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lang/ir/expr_text.h"
#include "lang/ir/undef.h"
#include "lang/ir/visit.h"
#include "lang/simplify/operators.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

bool same_cell(const std::vector<Expr> &a, const std::vector<Expr> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr &x, const Expr &y) {
    return equal(x, y) || is_zero(simplify(make_binary(Op::Sub, x, y)));
  });
}

// f(before) -> left_symbol()s
class CellsBefore : public ExprRewriter {
 public:
  CellsBefore(const FuncDef &f, const StageDef &def, const std::vector<Expr> &before)
      : f_(f), def_(def), before_(before) {}
  bool found() const { return found_; }
  /// A cell that is neither the one before nor the one that is written.
  const Expr &other() const { return other_; }

 protected:
  Expr rewrite(const Expr &e) override {
    const CallNode *c = as_call(e);
    if (!c || c->kind != CallKind::Func || c->name != f_.name) return rewrite_children(e);
    if (same_cell(c->args, def_.args)) return e;
    if (!same_cell(c->args, before_)) {
      other_ = e;
      return e;
    }
    found_ = true;
    return left_operand(c->type, static_cast<size_t>(c->value_index));
  }

 private:
  const FuncDef &f_;
  const StageDef &def_;
  const std::vector<Expr> &before_;
  bool found_ = false;
  Expr other_;
};

// f(cell) -> the pure definition's values there
class HeldValues : public ExprRewriter {
 public:
  explicit HeldValues(const FuncDef &f) : f_(f) {}
  bool found() const { return found_; }

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = as_call(r);
    if (!c || c->kind != CallKind::Func || c->name != f_.name) return r;
    found_ = true;
    std::map<std::string, Expr> at;
    for (size_t d = 0; d < f_.args.size(); d++) at[f_.args[d]] = c->args[d];
    return substitute(at, f_.stages[0].values[static_cast<size_t>(c->value_index)]);
  }

 private:
  const FuncDef &f_;
  bool found_ = false;
};

// The dimension that follows r, the others being the Func's own variables, `rows`, or without any.
std::optional<size_t> moving_dimension(const FuncDef &f, const StageDef &def, const std::string &r,
                                       std::vector<size_t> &rows) {
  std::optional<size_t> moving;
  for (size_t d = 0; d < def.args.size(); d++) {
    const VariableNode *v = as_variable(def.args[d]);
    if (uses_variable(def.args[d], r)) {
      if (moving) return std::nullopt;
      moving = d;
    } else if (v && v->kind == VariableKind::Pure && v->name == f.args[d]) {
      rows.push_back(d);
    } else if (!is_const(def.args[d])) {
      return std::nullopt;
    }
  }
  return moving;
}

std::optional<ScanUpdate> fail(std::string *why, std::string text) {
  if (why) *why = std::move(text);
  return std::nullopt;
}

}  // namespace

std::optional<ScanUpdate> prove_scan(const FuncDef &f, int stage, std::string *why) {
  if (stage >= static_cast<int>(f.stages.size()) || !f.is_update(stage)) {
    return fail(why, "a pure definition is no scan");
  }
  const StageDef &def = f.stages[stage];
  if (def.rvars.size() != 1) {
    return fail(
        why, "it has " + std::to_string(def.rvars.size()) + " reduction variables; a scan has one");
  }
  if (def.predicate.defined()) return fail(why, "its domain has a condition");
  if (cell_writes(def).size() > 1) return fail(why, "each instance writes several cells");
  const std::string &r = def.rvars[0].var;
  ScanUpdate scan;
  const auto moving = moving_dimension(f, def, r, scan.rows);
  if (!moving) {
    return fail(why, "not one dimension of the cell that it writes follows '" + r +
                         "', the others being variables of '" + f.name + "' or constants");
  }
  const Expr last =
      make_binary(Op::Sub, make_variable(Int(32), VariableKind::Reduction, r), Expr(1));
  for (const Expr &a : def.args) scan.before.push_back(simplify(substitute(r, last, a)));
  // A cell is written once.
  int64_t step;
  const Expr moved = make_binary(Op::Sub, def.args[*moving], scan.before[*moving]);
  if (!is_const_int(simplify(moved), &step) || step == 0) {
    return fail(why, "the cells that it writes are not evenly apart");
  }
  CellsBefore before(f, def, scan.before);
  std::vector<Expr> values;
  for (const Expr &v : def.values) values.push_back(before(v));
  if (before.other().defined()) {
    return fail(why,
                "it reads " + to_text(before.other()) +
                    ", which is neither the cell that it writes nor the one written before it");
  }
  if (!before.found()) return fail(why, "it does not read the cell written before");
  std::string reason;
  auto composed = prove_composable(values, why ? &reason : nullptr);
  if (!composed) return fail(why, reason);
  scan.step = std::move(*composed);
  if (scan.step.needs_operand) {
    return fail(why, "its identity is no identity, as with <= or >=");
  }
  HeldValues held(f);
  for (const Expr &e : scan.step.operands) scan.operands.push_back(held(e));
  if (held.found() && f.definition_of(stage) != 1) {
    return fail(why, "it reads what earlier updates have put where it writes");
  }
  for (const Expr &e : scan.operands) {
    if (split_undef(e).condition.defined()) {
      return fail(why, "some of its values are undefined");
    }
  }
  return scan;
}

}  // namespace polyhalite
