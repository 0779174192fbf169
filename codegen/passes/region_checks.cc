#include "codegen/passes/region_checks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lang/abi/polyhalite_runtime.h"
#include "lang/ir/function.h"
#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/interval.h"

namespace polyhalite {

namespace {

constexpr int64_t kWord = INT64_C(1) << 31;  // no int32 is farther from 0
constexpr int64_t kBeyond = POLYHALITE_REGION_BEYOND;

Expr number(int64_t k) { return make_int(Int(64), k); }

// How far from 0 a value and the partial sums that make it are, at most, in 64 bits; null where
// that is not known at entry. What is farther than 64 bits count is cut to kBeyond.
struct Reach {
  Expr most;
  bool of_scalar = false;   // a scalar argument is part of it
  int64_t at_most = kWord;  // `most` is never more

  bool is_known() const { return most.defined(); }
  Reach cut_to(int64_t limit) const {
    if (at_most <= limit) return *this;
    return {make_binary(Op::Min, most, number(limit)), of_scalar, limit};
  }
};

// Does the cast lose numbers that are no int32?
bool is_narrowing(const Expr &e) {
  if (e->op != Op::Cast || e.type() != Int(32)) return false;
  const Type from = e->args[0].type();
  return from.is_float() || from.bits() > 32 || (from.is_uint() && from.bits() == 32);
}

// Of a scalar of any type.
Reach distance(const Expr &e, bool of_scalar) {
  const Type t = e.type();
  if (t.is_float()) {
    // Not a number is not below kBeyond, either.
    const Expr v = make_cast(Float(64), e);
    const Expr size = make_binary(Op::Max, v, make_binary(Op::Sub, make_float(Float(64), 0), v));
    const Expr near = make_binary(Op::Lt, size, make_float(Float(64), double(kBeyond)));
    return {make_select(near, make_cast(Int(64), size), number(kBeyond)), of_scalar, kBeyond};
  }
  if (t.bits() == 64) {
    const Expr most = make_int(t, kBeyond);
    const Expr v = make_cast(Int(64), make_binary(Op::Min, e, most));
    const Expr low = make_binary(Op::Max, v, number(-kBeyond));
    return {make_binary(Op::Max, low, make_binary(Op::Sub, number(0), low)), of_scalar, kBeyond};
  }
  const Expr v = make_cast(Int(64), e);
  return {make_binary(Op::Max, v, make_binary(Op::Sub, number(0), v)), of_scalar, kWord};
}

class RegionChecks {
 public:
  RegionChecks(const std::string &function, const LoopTree &tree, const Survey &survey)
      : function_(function), tree_(tree), survey_(survey) {
    for (size_t l = 0; l < survey.loops.size(); l++) {
      loops_[tree.loops[l].name] = l;
      for (const Symbol &s : survey.loops[l].symbols) inner_[s.name] = s.value;
    }
  }

  std::vector<Stmt> run() {
    for (const Symbol &s : survey_.root_symbols) {
      about_ = {s.name.substr(0, s.name.find('.')), 0};
      const Reach r = reach_of(s.value, false);
      root_[s.name] = distance(make_variable(Int(32), VariableKind::Symbol, s.name), r.of_scalar);
    }
    for (const Assumption &a : survey_.assumptions) {
      about_ = {a.func, a.dimension};
      reach_of(a.actual, false);
      reach_of(a.wanted, false);
    }
    for (const auto &[name, box] : survey_.inputs) look(name, box);
    for (size_t f = 0; f < survey_.funcs.size(); f++) {
      look(tree_.algorithm.funcs[f].name, survey_.funcs[f].computed);
      look(tree_.algorithm.funcs[f].name, survey_.funcs[f].stored);
    }
    for (size_t l = 0; l < survey_.loops.size(); l++) {
      about_ = {tree_.loops[l].label, -1};
      for (const Expr &e : {survey_.loops[l].min, survey_.loops[l].extent}) look_at_casts(e);
    }
    return std::move(checks_);
  }

 private:
  void look(const std::string &name, const Box &box) {
    for (size_t d = 0; d < box.size(); d++) {
      about_ = {name, static_cast<int>(d)};
      for (const Expr &end : {box[d].min, box[d].max}) {
        if (end.defined()) reach_of(end, false);
      }
    }
  }

  // The ends of an RDom, as they were before they were cut to 32 bits.
  void look_at_casts(const Expr &e) {
    for_each_node(e, [&](const Expr &n) {
      if (is_narrowing(n)) reach_of(n, false);
    });
  }

  // `in_sum`: it is part of a sum, difference or product, which is asked about as a whole.
  Reach reach_of(const Expr &given, bool in_sum) {
    const Expr e = strip_hints(given);
    auto known = known_.find(e);
    if (known == known_.end()) known = known_.emplace(e, found(e)).first;
    const Reach r = known->second;
    const bool may_overflow =
        e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul || is_narrowing(e);
    if (!in_sum && may_overflow) note(r);
    return r;
  }

  Reach found(const Expr &e) {
    if (const VariableNode *v = as_variable(e)) return of_variable(e, *v);
    int64_t k;
    switch (e.type() == Int(32) ? e->op : Op::Call) {
      case Op::Add:
      case Op::Sub:
        return both(Op::Add, reach_of(e->args[0], true), reach_of(e->args[1], true));
      case Op::Mul:
        return both(Op::Mul, reach_of(e->args[0], true), reach_of(e->args[1], true));
      case Op::Min:
      case Op::Max:
        return both(Op::Max, reach_of(e->args[0], false), reach_of(e->args[1], false));
      case Op::Select:
        return both(Op::Max, reach_of(e->args[1], false), reach_of(e->args[2], false));
      case Op::Div: {
        const Reach a = reach_of(e->args[0], false);
        if (!a.is_known() || !is_const_int(e->args[1], &k) || k < 1) return same_everywhere(e);
        return {make_binary(Op::Add, make_binary(Op::Div, a.most, number(k)), number(1)),
                a.of_scalar, a.at_most / k + 1};
      }
      case Op::Mod: {
        // What a cast cuts off may be meant to.
        const Reach a = reach_of(e->args[0], is_narrowing(e->args[0]));
        if (!is_const_int(e->args[1], &k) || k < 1) return same_everywhere(e);
        return {number(k), a.of_scalar, k};
      }
      default:
        if (!is_const_int(e, &k)) return same_everywhere(e);
        return {number(k < 0 ? -k : k), false, k < 0 ? -k : k};
    }
  }

  Reach of_variable(const Expr &e, const VariableNode &v) {
    if (v.kind == VariableKind::Loop) {
      const auto loop = loops_.find(v.name);
      if (loop == loops_.end()) return {};
      const LoopBounds &b = survey_.loops[loop->second];
      return both(Op::Add, reach_of(b.min, false), reach_of(b.extent, false));
    }
    if (const auto root = root_.find(v.name); root != root_.end()) return root->second;
    if (const auto inner = inner_.find(v.name); inner != inner_.end())
      return reach_of(inner->second, false);
    return same_everywhere(e);
  }

  // What is the same in all iterations.
  Reach same_everywhere(const Expr &e) const {
    bool varies = false, of_scalar = false;
    for_each_node(e, [&](const Expr &n) {
      if (const VariableNode *v = as_variable(n)) {
        const bool is_input =
            v->kind == VariableKind::Param || v->kind == VariableKind::BufferField;
        const auto root = root_.find(v->name);
        varies = varies || (!is_input && root == root_.end());
        of_scalar =
            of_scalar || is_any_scalar(*v) || (root != root_.end() && root->second.of_scalar);
      }
      if (const CallNode *c = as_call(n))
        varies = varies || (c->kind != CallKind::Intrinsic && c->kind != CallKind::Math);
    });
    if (varies) return {};
    return distance(is_narrowing(e) ? e->args[0] : e, of_scalar);  // before it is cut to 32 bits
  }

  static Reach both(Op op, const Reach &a, const Reach &b) {
    if (!a.is_known() || !b.is_known()) return {};
    const bool is_small =
        op == Op::Mul && a.at_most <= 4 * kBeyond / std::max<int64_t>(b.at_most, 1);
    const int64_t limit = is_small ? INT64_MAX : op == Op::Mul ? kWord : kBeyond;
    const Reach x = a.cut_to(limit), y = b.cut_to(limit);
    const int64_t at_most = op == Op::Mul   ? x.at_most * y.at_most
                            : op == Op::Add ? x.at_most + y.at_most
                                            : std::max(x.at_most, y.at_most);
    return {make_binary(op, x.most, y.most), a.of_scalar || b.of_scalar, at_most};
  }

  void note(const Reach &r) {
    constexpr int kMostNodes = 200;  // more would be dear to ask
    if (!r.is_known() || !r.of_scalar) return;
    const Expr most = simplify(r.most);
    const Expr fits = simplify(make_binary(Op::Le, most, number(INT32_MAX)));
    if (is_true(fits) || !asked_.insert(fits).second) return;
    int nodes = 0;
    for_each_node(fits, [&](const Expr &) { nodes++; });
    if (nodes > kMostNodes) return;
    const std::vector<Expr> args = {make_string(function_), make_string(about_.first),
                                    Expr(about_.second), most};
    auto call = std::make_shared<CallNode>(Int(32), CallKind::Extern,
                                           "polyhalite_error_region_overflow", args);
    checks_.push_back(make_assert(fits, Expr(std::shared_ptr<const ExprNode>(std::move(call)))));
  }

  const std::string &function_;
  const LoopTree &tree_;
  const Survey &survey_;
  std::map<std::string, size_t> loops_;
  std::map<std::string, Expr> inner_;  // symbols of loops
  std::map<std::string, Reach> root_;  // symbols of the root, which were looked at before
  std::map<Expr, Reach, ExprLess> known_;
  std::set<Expr, ExprLess> asked_;
  std::pair<std::string, int> about_;  // Func or buffer, dimension
  std::vector<Stmt> checks_;
};

}  // namespace

std::vector<Stmt> region_checks(const std::string &function, const LoopTree &tree,
                                const Survey &survey) {
  return RegionChecks(function, tree, survey).run();
}

}  // namespace polyhalite
