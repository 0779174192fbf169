#include "schedule/scan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "lang/ir/visit.h"
#include "lang/simplify/scan_update.h"
#include "lang/simplify/simplify.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"

namespace polyhalite {

namespace {

Expr plus(const Expr &a, const Expr &b) { return simplify(make_binary(Op::Add, a, b)); }
Expr minus(const Expr &a, const Expr &b) { return simplify(make_binary(Op::Sub, a, b)); }
Expr times(const Expr &a, const Expr &b) { return simplify(make_binary(Op::Mul, a, b)); }
Expr quotient(const Expr &a, const Expr &b) { return simplify(make_binary(Op::Div, a, b)); }
Expr smaller(const Expr &a, const Expr &b) { return simplify(make_binary(Op::Min, a, b)); }
Expr larger(const Expr &a, const Expr &b) { return simplify(make_binary(Op::Max, a, b)); }

class Blocks {
 public:
  Blocks(Algorithm a, const Directive &d, const std::vector<Directive> &before)
      : a_(std::move(a)), d_(d), func_(*a_.find(d.func)), def_(func_.stages[d.stage]) {
    what_ = "cannot scan " + describe_stage(d.func, func_.definition_of(d.stage)) + " in blocks";
    std::string why;
    auto scan = prove_scan(func_, d.stage, &why);
    if (!scan) refuse(why, "leave the loop whole");
    scan_ = std::move(*scan);
    dims_ = default_dimensions(func_, d.stage);
    for (const Directive &b : before) dims_ = derive(dims_, b);
    find_split();
  }

  Algorithm run() {
    const int f = a_.index_of(d_.func);
    a_.funcs[f].stages[d_.stage].values = values();
    if (a_.index_of(d_.makes) < 0) a_.funcs.insert(a_.funcs.begin() + f, totals());
    return std::move(a_);
  }

 private:
  [[noreturn]] void refuse(const std::string &why, const std::string &fix) const {
    user_error(what_, why, fix, d_.where);
  }

  void find_split() {
    const ReductionVariable &r = def_.rvars[0];
    const auto loop = std::find_if(dims_.loops.begin(), dims_.loops.end(),
                                   [&](const auto &l) { return l.label == d_.loops[0]; });
    if (loop == dims_.loops.end()) {
      refuse("it has no loop '" + d_.loops[0] + "'",
             "its loops are, outermost first: " + loop_list(dims_));
    }
    const auto split =
        std::find_if(dims_.derivations.begin(), dims_.derivations.end(), [&](const auto &v) {
          return v.kind == Derivation::Split && v.a == r.var && v.b == loop->name;
        });
    if (split == dims_.derivations.end()) {
      refuse("'" + d_.loops[0] + "' is not the outer part of a split of '" + r.var + "'",
             "split '" + r.var + "' first, and name its outer part");
    }
    size_ = split->factor;
    const auto inner = std::find_if(dims_.loops.begin(), dims_.loops.end(),
                                    [&](const auto &l) { return l.name == split->c; });
    inner_ = inner == dims_.loops.end() ? split->c : inner->label;
    count_ = quotient(plus(r.extent, minus(size_, Expr(1))), size_);
    int64_t count;
    if (is_const_int(count_, &count) && count < 2) {
      refuse("'" + d_.loops[0] + "' has one iteration, as a block is the whole scan",
             "split by less");
    }
  }

  // The update with select(a block goes on, f(before), what f(first) becomes) for each f(before).
  std::vector<Expr> values() const {
    const ReductionVariable &r = def_.rvars[0];
    const Expr from_start = minus(reduction_variable(r.var), r.min);
    std::vector<Expr> at, first;
    for (const size_t i : scan_.rows) at.push_back(pure_variable(func_.args[i]));
    at.push_back(make_binary(Op::Div, from_start, size_));
    for (const Expr &a : scan_.before) first.push_back(simplify(substitute(r.var, r.min, a)));
    const std::vector<Expr> start =
        scan_.step.apply(make_func_calls(func_.types, func_.name, first),
                         make_func_calls(scan_.step.types(), d_.makes, at));
    const Expr goes_on = make_binary(Op::Ne, make_binary(Op::Mod, from_start, size_), Expr(0));
    Replacement replacement(func_.name, scan_.before, [&](const Expr &e) {
      return make_select(goes_on, e, start[static_cast<size_t>(as_call(e)->value_index)]);
    });
    std::vector<Expr> values;
    for (const Expr &v : def_.values) values.push_back(replacement(v));
    return values;
  }

  // f_intm(x, u) = identity; the steps of block u - 1; then those of all blocks before it.
  FuncDef totals() const {
    const ReductionVariable &r = def_.rvars[0];
    FuncDef t;
    t.name = d_.makes;
    t.types = scan_.step.types();
    t.where = d_.where;
    for (const size_t i : scan_.rows) t.args.push_back(func_.args[i]);
    t.args.push_back(d_.loops[1]);
    StageDef none, block, all;
    for (const std::string &a : t.args) none.args.push_back(pure_variable(a));
    none.values = scan_.step.identity;

    block.args = none.args;
    const Expr u = pure_variable(d_.loops[1]);
    // Blocks that nobody needs are read as one that there is.
    const Expr known = larger(smaller(u, minus(count_, Expr(1))), Expr(1));
    Expr step = plus(times(minus(known, Expr(1)), size_), reduction_variable(inner_));
    if (!is_const(r.extent)) step = smaller(step, minus(r.extent, Expr(1)));
    step = plus(r.min, step);
    block.rvars = {{inner_, Expr(0), size_}};
    block.predicate = make_binary(Op::Lt, Expr(0), u);
    std::vector<Expr> operands;
    for (const Expr &e : scan_.operands) operands.push_back(substitute(r.var, step, e));
    block.values = scan_.step.combine(make_func_calls(t.types, t.name, block.args), operands);

    all.args = none.args;
    const std::string &blocks = d_.loops[0];
    all.args.back() = reduction_variable(blocks);
    std::vector<Expr> last = all.args;
    last.back() = minus(reduction_variable(blocks), Expr(1));
    all.rvars = {{blocks, Expr(2), larger(minus(count_, Expr(2)), Expr(0))}};
    all.values = scan_.step.combine(make_func_calls(t.types, t.name, last),
                                    make_func_calls(t.types, t.name, all.args));
    none.where = block.where = all.where = d_.where;
    t.stages = {std::move(none), std::move(block), std::move(all)};
    return t;
  }

  // Another expression in the place of each call of one cell.
  template <typename Make>
  class Replacement : public ExprRewriter {
   public:
    Replacement(std::string func, const std::vector<Expr> &cell, Make make)
        : func_(std::move(func)), cell_(cell), make_(std::move(make)) {}

   protected:
    Expr rewrite(const Expr &e) override {
      const CallNode *c = as_call(e);
      if (!c || c->kind != CallKind::Func || c->name != func_) return rewrite_children(e);
      const bool is_cell = std::equal(
          c->args.begin(), c->args.end(), cell_.begin(), cell_.end(),
          [](const Expr &a, const Expr &b) { return equal(a, b) || is_zero(minus(a, b)); });
      return is_cell ? make_(e) : e;
    }

   private:
    const std::string func_;
    const std::vector<Expr> &cell_;
    const Make make_;
  };

  Algorithm a_;
  const Directive &d_;
  const FuncDef func_;
  const StageDef def_;
  std::string what_;
  ScanUpdate scan_;
  StageDimensions dims_;
  Expr size_, count_;  // of a block, and of blocks
  std::string inner_;  // the loop inside of a block
};

}  // namespace

Algorithm scan(Algorithm a, const Directive &d, const std::vector<Directive> &before) {
  return Blocks(std::move(a), d, before).run();
}

}  // namespace polyhalite
