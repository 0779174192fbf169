#include "schedule/change_type.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/ir/expr_text.h"
#include "lang/ir/extern_stage.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/exact_cast.h"
#include "polyhalite/error.h"
#include "schedule/derive.h"
#include "schedule/stage_exprs.h"

namespace polyhalite {

namespace {

std::string number(WideInt n) {
  if (n < 0) return "-" + number(-n);
  return (n > 9 ? number(n / 10) : "") + static_cast<char>('0' + static_cast<int>(n % 10));
}

std::string text(const WholeRange &r) { return "[" + number(r.min) + ", " + number(r.max) + "]"; }

// f(args) = f(args) op term, or f(args) = term.
struct Update {
  std::optional<Op> op;  // Add, Sub, Min, Max
  bool own_first = true;
  Expr term, retyped;
  bool known = false;  // is `range` that of the term?
  WholeRange range;
  WideInt times = 1;  // how often at most a cell takes part, but for the symbolic extents
  std::vector<Expr> symbolic;
};

class ThroughCasts : public ExprRewriter {
 public:
  ThroughCasts(const std::string &from, const std::string &to, const Type &type)
      : from_(from), to_(to), type_(type) {}

 protected:
  Expr rewrite(const Expr &e) override {
    const Expr r = rewrite_children(e);
    const CallNode *c = r->op == Op::Cast ? as_call(r->args[0]) : nullptr;
    if (!c || c->kind != CallKind::Func || c->name != from_) return r;
    // Of what a type does not hold integers leave the rest, and floats something else.
    const bool same =
        c->type.is_float() ? type_.is_float() && r.type().is_float() : type_.is_int_or_uint();
    if (!same) return r;
    const Expr wide = make_func_call(type_, to_, c->args);
    return r.type() == type_ ? wide : make_cast(r.type(), wide);
  }

 private:
  const std::string &from_, &to_;
  const Type type_;
};

class Retyping {
 public:
  Retyping(Algorithm a, const Directive &d)
      : a_(std::move(a)),
        d_(d),
        index_(a_.index_of(d.func)),
        f_(a_.funcs[index_]),
        unproven_(is_true(d.factors[0])) {}

  Algorithm run() {
    check_form();
    FuncDef g;
    g.name = d_.makes;
    g.args = f_.args;
    g.types = {d_.type};
    g.where = d_.where;
    g.stages.resize(f_.stages.size());
    for (size_t s = 1; s < f_.stages.size(); s++) updates_.push_back(read(static_cast<int>(s)));
    for (size_t s = 0; s < f_.stages.size(); s++) {
      g.stages[s] = f_.stages[s];
      if (s > 0) g.stages[s].values = {value(static_cast<int>(s))};
    }
    g.stages[0].values = {first_value()};

    FuncDef cast = f_;
    cast.stages.resize(1);
    StageDef &s = cast.stages[0];
    s.where = d_.where;
    s.values = {make_cast(f_.types[0], make_func_call(d_.type, g.name, s.args))};
    a_.funcs[index_] = std::move(cast);
    if (a_.index_of(g.name) < 0) a_.funcs.insert(a_.funcs.begin() + index_, std::move(g));
    return std::move(a_);
  }

 private:
  [[noreturn]] void refuse(const std::string &why, const std::string &fix) const {
    user_error("cannot change the type of '" + d_.func + "' to " + d_.type.to_string(), why, fix,
               d_.where);
  }

  static constexpr const char *kOrUnproven =
      ", or call change_type(type, true), which casts what may not fit";

  void check_form() const {
    const Type t = d_.type;
    if (!t.is_scalar() || t.is_bool() || !(t.is_int_or_uint() || t.is_float())) {
      refuse("values are computed in integers and floats", "give a type such as Int(32)");
    }
    if (f_.types.size() != 1) {
      refuse("it has " + std::to_string(f_.types.size()) + " values",
             "change the type of a Func with one value");
    }
    if (is_extern_stage(f_.stages[0])) refuse("a C function computes it", "leave it as it is");
    if (f_.num_definitions() != static_cast<int>(f_.stages.size())) {
      refuse("it is specialized", "change the type before specialize()");
    }
  }

  // Looks into producers with a pure definition.
  Expr producer(const CallNode &call) const {
    const FuncDef *p = a_.find(call.name);
    if (!p || p->stages.size() != 1 || is_extern_stage(p->stages[0])) return Expr();
    return p->stages[0].values[static_cast<size_t>(call.value_index)];
  }

  ExactCast exact(const StageDef &s) const {
    VariableBounds bounds;
    for (const ReductionVariable &r : s.rvars) {
      int64_t min, extent;
      if (!is_const_int(r.min, &min) || !is_const_int(r.extent, &extent)) continue;
      bounds[r.var] = {min, min + std::max<int64_t>(extent, 1) - 1};
    }
    return ExactCast([this](const CallNode &c) { return producer(c); }, std::move(bounds));
  }

  Expr converted(ExactCast &cast, const Expr &e, const std::string &what) {
    const Expr r = cast(d_.type, e);
    if (r.defined()) return r;
    if (unproven_) return make_cast(d_.type, e);
    const auto range = cast.range(e);
    refuse(range ? what + ", " + to_text(e) + ", may be anything in " + text(*range) +
                       ", which the type does not hold"
                 : what + ", " + to_text(e) + ", is not known to be a whole number",
           "clamp it to the range of the type" + std::string(kOrUnproven));
  }

  Update read(int stage) {
    const StageDef &s = f_.stages[static_cast<size_t>(stage)];
    const std::string which = "update " + std::to_string(stage - 1);
    const Expr &v = s.values[0];
    Update u;
    bool elsewhere = s.predicate.defined() && calls_func(s.predicate, f_.name);
    for (const Expr &a : s.args) elsewhere |= calls_func(a, f_.name);
    u.term = v;
    if (calls_func(v, f_.name)) {
      for (const Op op : {Op::Add, Op::Sub, Op::Min, Op::Max}) {
        if (v->op == op) u.op = op;
      }
      u.own_first = u.op && is_own(v->args[0], s);
      const bool own_last = u.op && *u.op != Op::Sub && !u.own_first && is_own(v->args[1], s);
      if (u.own_first || own_last) u.term = v->args[u.own_first ? 1 : 0];
      elsewhere |= (!u.own_first && !own_last) || calls_func(u.term, f_.name);
    }
    if (elsewhere) {
      refuse(which + " is " + to_text(v) +
                 ": what it makes of its own values is not bounded by "
                 "its terms",
             "write it as f + e, f - e, min(f, e) or max(f, e)");
    }
    ExactCast cast = exact(s);
    // Of several cells each has a value of its own, and what says so stays the whole value.
    const CallNode *several = as_intrinsic(u.term, intrinsic::kScatterGather);
    std::vector<Expr> terms = several ? several->args : std::vector<Expr>{u.term};
    for (Expr &term : terms) {
      const auto range = cast.range(term);
      const bool is_first = &term == &terms.front();
      u.known = range && (is_first || u.known);
      if (range) u.range = is_first ? *range : hull(u.range, *range);
      term = converted(cast, term, "the term of " + which);
    }
    u.retyped = several ? make_intrinsic(d_.type, intrinsic::kScatterGather, terms) : terms[0];
    for (const ReductionVariable &r : s.rvars) {
      int64_t n;
      if (is_const_int(r.extent, &n)) {
        // More steps than fit no machine takes.
        u.times = std::min<WideInt>(u.times * std::max<int64_t>(n, 0), WideInt{1} << 62);
      } else {
        u.symbolic.push_back(r.extent);
      }
    }
    return u;
  }

  bool is_own(const Expr &e, const StageDef &s) const {
    const CallNode *c = as_call(e);
    return c && c->kind == CallKind::Func && c->name == f_.name &&
           std::equal(c->args.begin(), c->args.end(), s.args.begin(), s.args.end(),
                      [](const Expr &a, const Expr &b) { return equal(a, b); });
  }

  // g(args) op term
  Expr value(int stage) const {
    const Update &u = updates_[static_cast<size_t>(stage) - 1];
    if (!u.op) return u.retyped;
    const Expr own = make_func_call(d_.type, d_.makes, f_.stages[static_cast<size_t>(stage)].args);
    return u.own_first ? make_binary(*u.op, own, u.retyped) : make_binary(*u.op, u.retyped, own);
  }

  // The pure definition's value, with what must hold when the pipeline runs.
  Expr first_value() {
    const StageDef &s = f_.stages[0];
    ExactCast cast = exact(s);
    if (beyond_all_terms(cast, s.values[0])) {
      const Expr identity = *updates_[0].op == Op::Min ? d_.type.max() : d_.type.min();
      if (!unproven_) check_sums(updates_[0].range);
      return required(identity);
    }
    const Expr first = converted(cast, s.values[0], "its first value");
    if (!unproven_) check_sums(*cast.range(s.values[0]));
    return required(first);
  }

  // Is the first value of a min no number of the type, but larger than all terms, of which each
  // cell gets one?
  bool beyond_all_terms(ExactCast &cast, const Expr &first) {
    if (updates_.empty() || cast(d_.type, first).defined()) return false;
    const Update &u = updates_[0];
    if (!u.known || !u.op || (*u.op != Op::Min && *u.op != Op::Max)) return false;
    double x;
    int64_t k;
    if (!is_const_float(first, &x)) {
      if (!is_const_int(first, &k)) return false;
      x = first.type().is_uint() ? static_cast<double>(static_cast<uint64_t>(k))
                                 : static_cast<double>(k);
    }
    const bool beyond = *u.op == Op::Min ? x >= static_cast<double>(u.range.max)
                                         : x <= static_cast<double>(u.range.min);
    if (!beyond) return false;
    const StageDef &s = f_.stages[1];
    bool all_cells = !s.predicate.defined() && u.times > 0;
    for (size_t i = 0; i < s.args.size(); i++) {
      const VariableNode *v = as_variable(s.args[i]);
      all_cells &= v && v->kind == VariableKind::Pure && v->name == f_.args[i];
    }
    if (!all_cells) {
      refuse("its first value, " + to_text(first) +
                 ", is no number of the type, and not every "
                 "cell gets a term of update 0",
             "begin with a number of the type" + std::string(kOrUnproven));
    }
    for (const Expr &extent : u.symbolic) {
      require(make_binary(Op::Gt, extent, make_zero(extent.type())),
              "there is no term to begin with in the reduction of '" + f_.name + "'");
    }
    return true;
  }

  // Does everything that the updates may make of a first value in `range` fit?
  void check_sums(WholeRange range) {
    const Update *open = nullptr;  // the update whose extents are symbols
    WideInt down = 0, up = 0;      // what sums add at most
    bool only_sums = true;
    for (const Update &u : updates_) {
      if (!u.op || *u.op == Op::Min || *u.op == Op::Max) {
        only_sums &= !u.op;
        range = hull(range, u.range);
        continue;
      }
      if (!u.symbolic.empty()) {
        if (open) {
          refuse(
              "two of its updates add up terms over extents that are known only when the "
              "pipeline runs",
              "give one of them constant extents" + std::string(kOrUnproven));
        }
        open = &u;
        continue;
      }
      down += least(u) * u.times;
      up += most(u) * u.times;
    }
    range = {range.min + down, range.max + up};
    if (!holds(d_.type, range)) refuse_sum(range);
    if (!f_.types[0].is_float() && !f_.types[0].is_affine()) check_wrapping(range, open, only_sums);
    if (open) require_few(*open, range);
  }

  [[noreturn]] void refuse_sum(const WholeRange &range) const {
    refuse("its values may be anything in " + text(range) + ", which the type does not hold",
           "use a wider type, or clamp the terms" + std::string(kOrUnproven));
  }

  // An integer that wraps: the new type's values are equal, or equal modulo its own.
  void check_wrapping(const WholeRange &range, const Update *open, bool only_sums) const {
    const Type old = f_.types[0];
    if (!open && holds(old, range)) return;
    if (only_sums && d_.type.is_int_or_uint() && d_.type.bits() >= old.bits()) return;
    refuse("its values may leave the range of " + old.to_string() + ", where they wrap",
           "change the type of a Func whose values do not wrap" + std::string(kOrUnproven));
  }

  static WideInt least(const Update &u) {
    return std::min<WideInt>(0, *u.op == Op::Add ? u.range.min : -u.range.max);
  }
  static WideInt most(const Update &u) {
    return std::max<WideInt>(0, *u.op == Op::Add ? u.range.max : -u.range.min);
  }

  // How many terms of `u` still fit is required of its extents.
  void require_few(const Update &u, const WholeRange &range) {
    WideInt fit = WideInt{1} << 100;
    const WideInt down = -least(u) * u.times, up = most(u) * u.times;
    auto room = [&](WideInt each, bool above) {
      // Binary search: sums in the type, without its ends.
      WideInt low = 0, high = WideInt{1} << 62;
      while (low < high) {
        const WideInt n = low + (high - low + 1) / 2;
        const WholeRange grown = {range.min - (above ? 0 : n * each),
                                  range.max + (above ? n * each : 0)};
        if (holds(d_.type, grown)) {
          low = n;
        } else {
          high = n - 1;
        }
      }
      return low;
    };
    if (down == 0 && up == 0) return;
    constexpr WideInt kMaxTerm = WideInt{1} << 60;
    if (down > kMaxTerm || up > kMaxTerm) refuse_sum({range.min - down, range.max + up});
    if (down > 0) fit = std::min(fit, room(down, false));
    if (up > 0) fit = std::min(fit, room(up, true));
    const WideInt largest = u.symbolic.size() > 1 ? WideInt{1} << 62 : (WideInt{1} << 31) - 1;
    if (fit >= largest && u.symbolic.size() <= 2) return;
    if (fit < 1) refuse_sum({range.min - down, range.max + up});
    if (u.symbolic.size() > 2) {
      refuse("more than two extents of its reduction are known only when the pipeline runs",
             "give some of them as constants" + std::string(kOrUnproven));
    }
    Expr count;
    for (const Expr &extent : u.symbolic) {
      const Expr n = make_cast(Int(64), make_binary(Op::Max, extent, make_zero(extent.type())));
      count = count.defined() ? make_binary(Op::Mul, count, n) : n;
    }
    require(make_binary(Op::Le, count, make_int(Int(64), static_cast<int64_t>(fit))),
            "the reduction of '" + f_.name + "' in " + d_.type.to_string() +
                " has too many terms: more than " + number(fit * u.times));
  }

  void require(const Expr &condition, const std::string &message) {
    requirements_.emplace_back(condition, message);
  }

  Expr required(Expr e) const {
    for (const auto &[condition, message] : requirements_) {
      e = make_intrinsic(e.type(), intrinsic::kRequire, {condition, e, make_string(message)});
    }
    return e;
  }

  Algorithm a_;
  const Directive &d_;
  const int index_;
  const FuncDef f_;
  const bool unproven_;
  std::vector<Update> updates_;
  std::vector<std::pair<Expr, std::string>> requirements_;
};

}  // namespace

Algorithm change_type(Algorithm a, const Directive &d) { return Retyping(std::move(a), d).run(); }

void read_through_casts(Algorithm &a, const std::string &from, const std::string &to) {
  const Type type = a.find(to)->types[0];
  ThroughCasts through(from, to, type);
  for (FuncDef &f : a.funcs) {
    if (f.name == from || f.name == to) continue;
    for (StageDef &s : f.stages) {
      rewrite_stage(s, [&](const Expr &e) { return through(e); });
    }
  }
}

}  // namespace polyhalite
