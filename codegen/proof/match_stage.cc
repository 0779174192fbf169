#include "codegen/proof/match_stage.h"

#include <map>
#include <set>
#include <tuple>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

bool is_variable_of_definition(const Expr &e) {
  const VariableNode *v = as_variable(e);
  return v && (v->kind == VariableKind::Pure || v->kind == VariableKind::Reduction);
}

bool reads_data(const Expr &e) {
  const CallNode *c = as_call(e);
  return c && (c->kind == CallKind::Func || c->kind == CallKind::Image);
}

// Let-bound names of expressions replaced by their values.
class WithoutLets : public ExprRewriter {
 protected:
  Expr rewrite(const Expr &e) override {
    const LetNode *let = as_let(e);
    if (!let) return rewrite_children(e);
    return (*this)(substitute(let->name, let->args[0], let->args[1]));
  }
};

class Matcher {
 public:
  Matcher(const FuncDef &f, const StageDef &stage, bool in_rings)
      : f_(f), stage_(stage), in_rings_(in_rings) {}

  std::optional<Match> match(const std::vector<Expr> &cell, const std::vector<Expr> &values) {
    for (size_t d = 0; d < cell.size(); d++) {
      if (!matches_index(stage_.args[d], cell[d], {}, {})) return std::nullopt;
    }
    for (size_t v = 0; v < values.size(); v++) {
      const Expr pattern = WithoutLets()(stage_.values[v]);
      if (!matches_value(pattern, WithoutLets()(values[v]))) return std::nullopt;
    }
    if (!bind_the_rest()) return std::nullopt;
    for (const auto &[pattern, read] : reads_) {
      MatchedRead r = read;
      for (const Expr &e : as_call(pattern)->args) {
        for (const std::string &name : free_variables_of_definition(e)) {
          if (!result_.point.count(name)) return std::nullopt;
        }
        r.wanted.push_back(substitute(result_.point, e));
      }
      result_.reads.push_back(std::move(r));
    }
    return std::move(result_);
  }

 private:
  using Conditions = std::vector<Expr>;

  static Expr untraced(const Expr &e) {
    const CallNode *c = as_intrinsic(e, intrinsic::kTraceAccess);
    return c ? untraced(c->args[0]) : e;
  }

  static std::set<std::string> free_variables_of_definition(const Expr &e) {
    std::set<std::string> names;
    for_each_node(e, [&](const Expr &n) {
      if (is_variable_of_definition(n)) names.insert(as_variable(n)->name);
    });
    return names;
  }

  // A reduction variable that nothing uses: all its values write the same, the first one does.
  bool bind_the_rest() {
    bool reads_own = false;
    for (const Expr &v : stage_.values) reads_own = reads_own || calls_func(v, f_.name);
    for (const ReductionVariable &r : stage_.rvars) {
      if (result_.point.count(r.var)) continue;
      if (reads_own) return false;
      // Its first value may be outside of the domain.
      if (stage_.predicate.defined() && uses_variable(stage_.predicate, r.var)) return false;
      result_.point[r.var] = r.min;
    }
    return true;
  }

  // Is it the index, perhaps in a ring, perhaps held? Whether the clamp of a held index is idle,
  // and whether the ring is large enough, is asked where accesses are compared.
  bool matches_index(const Expr &pattern, const Expr &index, const Conditions &where,
                     const Conditions &touched) {
    const Expr actual = untraced(index);
    const auto before = result_.point;
    const auto reads = reads_.size();
    const bool is_variable = is_variable_of_definition(pattern);
    const bool may_be_in_ring = actual->op == Op::Mod && is_const(actual->args[1]);
    if (!(may_be_in_ring && is_variable && in_rings_) && matches(pattern, actual, where, touched)) {
      return true;
    }
    result_.point = before;
    reads_.resize(reads);
    if (may_be_in_ring && is_at(pattern, actual)) return true;
    if (may_be_in_ring) return matches_index(pattern, actual->args[0], where, touched);
    if (actual->op == Op::Max && actual->args[0]->op == Op::Min) {
      is_held_ = true;
      return matches_index(pattern, actual->args[0]->args[0], where, touched);
    }
    return false;
  }

  // Is it the place in the ring of what the definition says at the point as far as it is known?
  // (y - 1) % 4 may be written (y + 3) % 4.
  bool is_at(const Expr &pattern, const Expr &place) const {
    for (const std::string &name : free_variables_of_definition(pattern)) {
      if (!result_.point.count(name)) return false;
    }
    const Expr wanted = make_binary(Op::Mod, substitute(result_.point, pattern), place->args[1]);
    return is_zero(simplify(make_binary(Op::Sub, wanted, place)));
  }

  // A blending tail: select(c, likely(v), what is there).
  bool matches_value(const Expr &pattern, const Expr &value) {
    const Expr actual = untraced(value);
    const auto before = result_.point;
    if (matches(pattern, actual, {}, {})) return true;
    result_.point = before;
    reads_.clear();
    visited_.clear();
    if (actual->op != Op::Select) return false;
    const CallNode *likely = as_intrinsic(actual->args[1], intrinsic::kLikely);
    if (!likely || !as_intrinsic(actual->args[2], intrinsic::kGuarded)) return false;
    if (!matches_value(pattern, likely->args[0])) return false;
    result_.where.push_back(actual->args[0]);
    return true;
  }

  bool matches(const Expr &pattern, const Expr &actual, const Conditions &where,
               const Conditions &touched) {
    if (const CallNode *c = as_intrinsic(actual, intrinsic::kGuarded)) {
      Conditions used = where, read = touched;
      used.push_back(c->args[0]);
      read.push_back(c->args[0]);
      return matches(pattern, c->args[1], used, read);
    }
    for (const char *wrapper : {intrinsic::kStream, intrinsic::kTraceAccess}) {
      if (const CallNode *c = as_intrinsic(actual, wrapper)) {
        return matches(pattern, c->args[0], where, touched);
      }
    }
    if (is_variable_of_definition(pattern)) return bind(as_variable(pattern)->name, actual);
    // Conditions are those of reads: what has none is met once, however many ways lead to it.
    const bool is_conditional = !where.empty() || !touched.empty();
    if (is_conditional && !holds_read(pattern)) return matches(pattern, actual, {}, {});
    const auto key = std::make_tuple(pattern.get(), actual.get(), texts(where), texts(touched));
    if (visited_.count(key)) return true;
    if (!matches_node(pattern, actual, where, touched)) return false;
    visited_.insert(key);
    return true;
  }

  bool holds_read(const Expr &pattern) {
    const auto known = holds_read_.find(pattern.get());
    if (known != holds_read_.end()) return known->second;
    bool holds = reads_data(pattern);
    for (const Expr &a : pattern->args) holds = holds_read(a) || holds;
    return holds_read_[pattern.get()] = holds;
  }

  static std::vector<const ExprNode *> texts(const Conditions &c) {
    std::vector<const ExprNode *> all;
    for (const Expr &e : c) all.push_back(e.get());
    return all;
  }

  bool matches_node(const Expr &p, const Expr &a, const Conditions &where,
                    const Conditions &touched) {
    if (p->op != a->op || p.type() != a.type() || p->args.size() != a->args.size()) return false;
    if (reads_data(p)) {
      const CallNode *x = as_call(p), *y = as_call(a);
      if (x->kind != y->kind || x->name != y->name || x->value_index != y->value_index) {
        return false;
      }
      is_held_ = false;
      for (size_t d = 0; d < p->args.size(); d++) {
        if (!matches_index(p->args[d], a->args[d], where, touched)) return false;
      }
      MatchedRead read;
      read.is_held = is_held_;
      read.is_image = x->kind == CallKind::Image;
      read.callee = x->name;
      read.cell = a->args;
      read.where = where;
      read.touched = touched;
      reads_.emplace_back(p, std::move(read));
      return true;
    }
    if (p->args.empty()) return equal(p, a);
    if (const CallNode *x = as_call(p)) {
      const CallNode *y = as_call(a);
      if (x->kind != y->kind || x->name != y->name) return false;
    }
    if (p->op == Op::Select) {
      if (!matches(p->args[0], a->args[0], where, touched)) return false;
      Conditions taken = where, otherwise = where;
      taken.push_back(a->args[0]);
      otherwise.push_back(make_not(a->args[0]));
      return matches(p->args[1], a->args[1], taken, touched) &&
             matches(p->args[2], a->args[2], otherwise, touched);
    }
    for (size_t i = 0; i < p->args.size(); i++) {
      if (!matches(p->args[i], a->args[i], where, touched)) return false;
    }
    return true;
  }

  bool bind(const std::string &name, const Expr &value) {
    if (value.type() != Int(32)) return false;
    const auto [at, is_new] = result_.point.emplace(name, value);
    if (is_new || equal(at->second, value)) return true;
    return is_zero(simplify(make_binary(Op::Sub, at->second, value)));
  }

  const FuncDef &f_;
  const StageDef &stage_;
  const bool in_rings_;
  Match result_;
  bool is_held_ = false;  // an index of the access that is matched
  std::vector<std::pair<Expr, MatchedRead>> reads_;
  std::set<std::tuple<const ExprNode *, const ExprNode *, std::vector<const ExprNode *>,
                      std::vector<const ExprNode *>>>
      visited_;
  std::map<const ExprNode *, bool> holds_read_;
};

}  // namespace

std::optional<Match> match_stage(const FuncDef &f, const StageDef &stage,
                                 const std::vector<Expr> &cell, const std::vector<Expr> &values,
                                 Modulo first) {
  if (stage.args.size() != cell.size() || stage.values.size() != values.size()) {
    return std::nullopt;
  }
  const bool rings_first = first == Modulo::Ring;
  for (const bool in_rings : {rings_first, !rings_first}) {
    if (auto m = Matcher(f, stage, in_rings).match(cell, values)) return m;
  }
  return std::nullopt;
}

}  // namespace polyhalite
