#include "lang/ir/algorithm.h"

#include <algorithm>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"

namespace polyhalite {

bool has_strict_float(const Expr &e) {
  bool found = false;
  for_each_node(
      e, [&](const Expr &n) { found |= as_intrinsic(n, intrinsic::kStrictFloat) != nullptr; });
  return found;
}

namespace {

// Is e value `value_index` of `f` at exactly the cell that the update writes?
bool is_own_cell(const Expr &e, const FuncDef &f, const StageDef &update, int value_index) {
  const CallNode *c = as_call(e);
  if (!c || c->kind != CallKind::Func || c->name != f.name || c->value_index != value_index) {
    return false;
  }
  return std::equal(c->args.begin(), c->args.end(), update.args.begin(), update.args.end(),
                    [](const Expr &a, const Expr &b) { return equal(a, b); });
}

// Takes a tree of `op` apart along the way to f(args); `rest` gets the operands beside it. Returns
// how often f(args) was met.
int split_operands(const Expr &e, Op op, const FuncDef &f, const StageDef &update,
                   std::vector<Expr> &rest) {
  if (is_own_cell(e, f, update, 0)) return 1;
  if (e->op != op || !calls_func(e, f.name)) {
    rest.push_back(e);
    return 0;
  }
  const int left = split_operands(e->args[0], op, f, update, rest);
  return left > 1 ? left : left + split_operands(e->args[1], op, f, update, rest);
}

}  // namespace

int FuncDef::num_definitions() const {
  int n = 0;
  while (n < static_cast<int>(stages.size()) && stages[n].instead_of < 0) n++;
  return n;
}

std::vector<int> FuncDef::branches_of(int stage) const {
  std::vector<int> branches;
  for (size_t s = 0; s < stages.size(); s++) {
    if (stages[s].instead_of == stage) branches.push_back(static_cast<int>(s));
  }
  return branches;
}

std::vector<BoundsEstimate> constant_estimates(std::vector<BoundsEstimate> list) {
  bool any = false;
  for (BoundsEstimate &estimate : list) {
    for (Expr *e : {&estimate.min, &estimate.extent}) {
      if (e->defined() && !as_imm(*e)) *e = Expr();
      any |= e->defined();
    }
  }
  if (!any) list.clear();
  return list;
}

Expr runs_where(const FuncDef &f, int stage) {
  Expr where;
  auto require = [&](const Expr &e) {
    where = where.defined() ? make_binary(Op::And, e, where) : e;
  };
  for (const int branch : f.branches_of(stage)) require(make_not(f.stages[branch].when));
  for (int s = stage; f.stages[s].instead_of >= 0; s = f.stages[s].instead_of) {
    require(f.stages[s].when);
    for (const int other : f.branches_of(f.stages[s].instead_of)) {
      if (other == s) break;
      require(make_not(f.stages[other].when));
    }
  }
  return where;
}

std::vector<CellWrite> cell_writes(const StageDef &stage) {
  size_t n = 1;
  for (const auto *list : {&stage.args, &stage.values}) {
    for (const Expr &e : *list) {
      if (as_intrinsic(e, intrinsic::kScatterGather)) n = std::max(n, e->args.size());
    }
  }
  std::vector<CellWrite> writes(n);
  for (size_t i = 0; i < n; i++) {
    auto part = [&](const Expr &e) {
      return as_intrinsic(e, intrinsic::kScatterGather) ? e->args[i] : e;
    };
    for (const Expr &e : stage.args) writes[i].cell.push_back(part(e));
    for (const Expr &e : stage.values) writes[i].values.push_back(part(e));
  }
  return writes;
}

const FuncDef *Algorithm::find(const std::string &name) const {
  const int i = index_of(name);
  return i < 0 ? nullptr : &funcs[i];
}

int Algorithm::index_of(const std::string &name) const {
  for (size_t i = 0; i < funcs.size(); i++) {
    if (funcs[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

bool Algorithm::is_output(const std::string &name) const {
  return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
}

bool is_reduction_update(const FuncDef &f, int stage, Op *op) {
  if (stage >= static_cast<int>(f.stages.size()) || !f.is_update(stage)) return false;
  const StageDef &update = f.stages[stage];
  if (update.values.size() != 1 || cell_writes(update).size() != 1) return false;
  const Expr &value = update.values[0];
  for (const Expr &a : update.args) {
    if (calls_func(a, f.name)) return false;
  }
  if (update.predicate.defined() && calls_func(update.predicate, f.name)) return false;

  // f - e is f + (-e): subtracting reorders as adding does.
  const bool subtracts = value->op == Op::Sub && is_own_cell(value->args[0], f, update, 0);
  switch (value->op) {
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::And:
    case Op::Or:
      break;
    default:
      if (!subtracts) return false;
  }
  if (value.type().is_float() && has_strict_float(value)) return false;

  std::vector<Expr> rest;
  if (subtracts) {
    rest.push_back(value->args[1]);
  } else {
    if (split_operands(value, value->op, f, update, rest) != 1) return false;
  }
  for (const Expr &e : rest) {
    if (calls_func(e, f.name)) return false;
  }
  if (op) *op = subtracts ? Op::Add : value->op;
  return true;
}

}  // namespace polyhalite
