// Stage::scan: the handle of the Func that has the totals of a scan's blocks. What the directive
// does to the algorithm is said in schedule/scan.h; the definitions here are what its handle shows.
#include "lang/simplify/scan_update.h"

#include "lang/ir/function.h"
#include "lang/language/define.h"
#include "lang/language/derivation.h"
#include "lang/language/names.h"
#include "lang/language/record.h"
#include "lang/language/stage_loops.h"
#include "polyhalite/func.h"

namespace polyhalite {

namespace {

Expr pure(const std::string &name) { return make_variable(Int(32), VariableKind::Pure, name); }
Expr reduction(const std::string &name) {
  return make_variable(Int(32), VariableKind::Reduction, name);
}

std::shared_ptr<const ReductionDomain> over(const std::string &variable, const Expr &extent) {
  auto domain = std::make_shared<ReductionDomain>();
  domain->vars.push_back({variable, Expr(0), extent});
  return domain;
}

// The split that made the loop over blocks.
const Directive *split_into(const std::vector<const Directive *> &directives,
                            const std::string &blocks) {
  const Directive *found = nullptr;
  for (const Directive *d : directives) {
    if (d->kind == DirectiveKind::Split && d->loops[1] == blocks) found = d;
  }
  return found;
}

void define_view(FunctionContents &totals, const FunctionContents &f, const ScanUpdate &scan,
                 const Directive &split, const std::string &v) {
  totals.types = scan.step.types();
  for (const size_t i : scan.rows) totals.pure_args.push_back(f.pure_args[i]);
  totals.pure_args.push_back(v);
  Definition first;
  for (const std::string &a : totals.pure_args) first.args.push_back(pure(a));
  first.values = scan.step.identity;
  first.where = totals.where;
  Definition block = first, all = first;
  block.domain = over(split.loops[2], split.factors[0]);
  block.values =
      scan.step.combine(make_func_calls(totals.types, totals.name, block.args), scan.operands);
  all.domain = over(split.loops[1], split.factors[0]);
  all.args.back() = reduction(split.loops[1]);
  std::vector<Expr> last = all.args;
  last.back() = make_binary(Op::Sub, last.back(), Expr(1));
  all.values = scan.step.combine(make_func_calls(totals.types, totals.name, last),
                                 make_func_calls(totals.types, totals.name, all.args));
  totals.pure = std::move(first);
  totals.updates = {std::move(block), std::move(all)};
}

}  // namespace

Func Stage::scan(const VarOrRVar &blocks, const Var &v) {
  FunctionContents &f = *func_;
  const std::string what = "cannot scan " + describe_stage(f, stage_) + " in blocks";
  if (stage_ == 0) {
    user_error(what, "a pure definition is no scan", "call it on an update", blocks.where);
  }
  std::string why;
  FuncDef def = current_definition(func_, stage_);
  // What the cells held before, which is not part of the view of an update.
  if (def.stages[0].values.empty()) def.stages[0] = definition_view(f, 0).stages[0];
  const auto scan = prove_scan(def, stage_, &why);
  if (!scan) user_error(what, why, "leave the loop whole", blocks.where);
  const Directive *split = split_into(directives_so_far(f, stage_, branch_), blocks.name);
  if (!split) {
    user_error(what,
               quoted_name(blocks.name) + " is not the outer part of a split of " +
                   quoted_name(def.stages[static_cast<size_t>(stage_)].rvars[0].var),
               "split it first, and name its outer part", blocks.where);
  }
  auto totals = std::make_shared<FunctionContents>();
  totals->name = unique_name(plain_name(f.name) + "_intm");
  totals->frozen = totals->is_partial = true;
  totals->made_of = &f;
  totals->where = blocks.where;
  define_view(*totals, f, *scan, *split, v.name());
  f.frozen = true;
  record(*this, DirectiveKind::Scan, {blocks.name, v.name()}, {}, blocks.where).makes =
      totals->name;
  f.derived.push_back({DirectiveKind::Scan, {}, totals});
  return Func(std::shared_ptr<FunctionContents>(func_, totals.get()));
}

}  // namespace polyhalite
