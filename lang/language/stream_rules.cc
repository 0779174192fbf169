#include "lang/language/stream_rules.h"

#include <algorithm>
#include <set>
#include <string>

#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/language/names.h"
#include "lang/simplify/linear.h"

namespace polyhalite {

namespace {

bool reads_other_cells(const FuncDef &f, const StageDef &s, const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const CallNode *c = as_call(n);
    if (!c || c->kind != CallKind::Func || c->name != f.name) return;
    found |= !std::equal(c->args.begin(), c->args.end(), s.args.begin(), s.args.end(),
                         [](const Expr &a, const Expr &b) { return equal(a, b); });
  });
  return found;
}

}  // namespace

std::optional<Diagnostic> why_not_streamed(const FuncDef &f, int stage) {
  const StageDef &s = f.stages[static_cast<size_t>(stage)];
  Diagnostic d;
  d.fix = "stream the stores of a definition that writes each cell once";
  if (is_extern_stage(s)) {
    d.why = "a C function writes its values";
    return d;
  }
  std::set<std::string> naming;  // variables that stand alone in an index
  std::vector<Expr> all = s.values;
  for (const Expr &a : s.args) {
    if (as_intrinsic(a, intrinsic::kScatterGather)) {
      d.why = "an instance writes several cells";
      return d;
    }
    all.push_back(a);
    if (!a.type().is_affine()) continue;
    const Linear l = to_linear(a);
    const VariableNode *v = l.terms.size() == 1 ? as_variable(l.terms.begin()->first) : nullptr;
    if (v) naming.insert(v->name);
  }
  if (s.predicate.defined()) all.push_back(s.predicate);
  for (const Expr &e : all) {
    if (!reads_other_cells(f, s, e)) continue;
    d.why = "it reads cells that other instances of it write";
    return d;
  }
  for (const ReductionVariable &r : s.rvars) {
    if (naming.count(r.var)) continue;
    d.why = "its steps along the reduction variable '" + plain_name(r.var) +
            "' may write one cell in turn";
    return d;
  }
  return std::nullopt;
}

}  // namespace polyhalite
