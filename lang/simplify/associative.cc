#include "lang/simplify/associative.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/comparison.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/polynomial.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

std::string left_symbol(size_t i) { return "left." + std::to_string(i); }
std::string right_symbol(size_t i) { return "right." + std::to_string(i); }
Expr left(Type t, size_t i) { return make_variable(t, VariableKind::Symbol, left_symbol(i)); }
Expr right(Type t, size_t i) { return make_variable(t, VariableKind::Symbol, right_symbol(i)); }

// An operator of two scalars: a node or an intrinsic.
struct Operator {
  Op op;
  const char *intrinsic = nullptr;

  Expr apply(const Expr &a, const Expr &b) const {
    return intrinsic ? make_intrinsic(a.type(), intrinsic, {a, b}) : make_binary(op, a, b);
  }
  bool heads(const Expr &e) const {
    return intrinsic ? as_intrinsic(e, intrinsic) != nullptr : e->op == op;
  }
};

Expr lowest(Type t) {
  if (t.is_float()) return make_float(t, -std::numeric_limits<double>::infinity());
  if (t.is_uint()) return make_zero(t);
  return make_int(
      t, t.bits() == 64 ? std::numeric_limits<int64_t>::min() : -(int64_t{1} << (t.bits() - 1)));
}

Expr highest(Type t) {
  if (t.is_float()) return make_float(t, std::numeric_limits<double>::infinity());
  if (t.is_bool()) return make_true();
  if (t.is_uint()) return make_int(t, t.bits() == 64 ? -1 : (int64_t{1} << t.bits()) - 1);
  return make_int(
      t, t.bits() == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (t.bits() - 1)) - 1);
}

// The operators of one value that are associative and commutative, with their identities.
std::optional<Operator> operator_of(const Expr &e) {
  switch (e->op) {
    case Op::Sub:
      return Operator{Op::Add};  // a - b = a + (0 - b)
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::And:
    case Op::Or:
      return Operator{e->op};
    default:
      break;
  }
  for (const char *name : {intrinsic::kBitwiseAnd, intrinsic::kBitwiseOr, intrinsic::kBitwiseXor}) {
    if (as_intrinsic(e, name)) return Operator{Op::Call, name};
  }
  return std::nullopt;
}

Expr identity_of(const Operator &o, Type t) {
  if (o.intrinsic) {
    if (std::string(o.intrinsic) == intrinsic::kBitwiseAnd) {
      return t.is_uint() ? highest(t) : make_int(t, -1);
    }
    return make_zero(t);
  }
  switch (o.op) {
    case Op::Mul:
      return make_one(t);
    case Op::Min:
      return highest(t);
    case Op::Max:
      return lowest(t);
    case Op::And:
      return make_true();
    case Op::Or:
      return make_false();
    default:
      return make_zero(t);
  }
}

// f's own cells in `values` -> left(i).
class OwnCells : public ExprRewriter {
 public:
  OwnCells(const FuncDef &f, const StageDef &update) : f_(f), update_(update) {}
  bool other_cells() const { return other_cells_; }

 protected:
  Expr rewrite(const Expr &e) override {
    const CallNode *c = as_call(e);
    if (!c || c->kind != CallKind::Func || c->name != f_.name) return rewrite_children(e);
    if (!std::equal(c->args.begin(), c->args.end(), update_.args.begin(), update_.args.end(),
                    [](const Expr &a, const Expr &b) { return equal(a, b); })) {
      other_cells_ = true;
    }
    return left(c->type, c->value_index);
  }

 private:
  const FuncDef &f_;
  const StageDef &update_;
  bool other_cells_ = false;
};

// max(a, b) written as a select: select(a < b, b, a) and its like.
Expr without_select(const Expr &e) {
  if (e->op != Op::Select || !is_comparison(e->args[0]->op)) return e;
  const Expr &c = e->args[0], &yes = e->args[1], &no = e->args[2];
  const bool same = equal(c->args[0], yes) && equal(c->args[1], no);
  const bool swapped = equal(c->args[0], no) && equal(c->args[1], yes);
  if (!same && !swapped) return e;
  switch (c->op) {
    case Op::Lt:
    case Op::Le:
      return make_binary(same ? Op::Min : Op::Max, yes, no);
    case Op::Gt:
    case Op::Ge:
      return make_binary(same ? Op::Max : Op::Min, yes, no);
    default:
      return e;
  }
}

class Prover {
 public:
  Prover(const FuncDef &f, int stage) : f_(f), update_(f.stages[stage]), n_(f.types.size()) {}

  std::optional<AssociativeUpdate> run(std::string *why) {
    if (prove()) return std::move(result_);
    if (why) *why = why_;
    return std::nullopt;
  }

 private:
  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool prove() {
    if (cell_writes(update_).size() > 1) return fail("each instance writes several cells");
    for (const Expr &a : update_.args) {
      if (calls_func(a, f_.name))
        return fail("an index on the left reads '" + f_.name + "' itself");
    }
    if (update_.predicate.defined() && calls_func(update_.predicate, f_.name)) {
      return fail("the domain's condition reads '" + f_.name + "' itself");
    }
    OwnCells own(f_, update_);
    for (const Expr &v : update_.values) {
      if (v.type().is_float() && has_strict_float(v)) {
        return fail("strict_float fixes the order of its operations");
      }
      values_.push_back(without_select(own(v)));
    }
    if (own.other_cells()) {
      return fail("it reads '" + f_.name + "' at a cell that it does not write");
    }
    result_.operands.resize(n_);
    result_.identity.resize(n_);
    result_.op.resize(n_);
    for (const std::vector<size_t> &group : groups()) {
      const bool proven = (group.size() == 1 && prove_scalar(group[0])) || prove_arg(group) ||
                          prove_polynomial(group);
      if (!proven) {
        return fail("no associative operator is known that " +
                    std::string(group.size() == 1 ? "its value is" : "its values are") +
                    " made with");
      }
    }
    return true;
  }

  static bool has_strict_float(const Expr &e) {
    bool found = false;
    for_each_node(
        e, [&](const Expr &n) { found |= as_intrinsic(n, intrinsic::kStrictFloat) != nullptr; });
    return found;
  }

  // Values that depend on each other's cells.
  std::vector<std::vector<size_t>> groups() const {
    std::vector<size_t> group(n_);
    for (size_t i = 0; i < n_; i++) group[i] = i;
    for (size_t i = 0; i < n_; i++) {
      for (size_t j = 0; j < n_; j++) {
        if (!uses(values_[i], j)) continue;
        const size_t from = group[j], to = group[i];
        for (size_t &g : group) g = g == from ? to : g;
      }
    }
    std::vector<std::vector<size_t>> result;
    for (size_t g = 0; g < n_; g++) {
      std::vector<size_t> members;
      for (size_t i = 0; i < n_; i++) {
        if (group[i] == g) members.push_back(i);
      }
      if (!members.empty()) result.push_back(std::move(members));
    }
    return result;
  }

  static bool uses(const Expr &e, size_t i) { return uses_variable(e, left_symbol(i)); }
  bool uses_any(const Expr &e) const {
    for (size_t i = 0; i < n_; i++) {
      if (uses(e, i)) return true;
    }
    return false;
  }

  // The operator at the head of e, looking through conditions that leave the cell as it is.
  std::optional<Operator> head(const Expr &e, size_t i) const {
    const Expr plain = without_select(e);
    if (plain->op == Op::Select && !uses(plain->args[0], i)) {
      const auto yes = head(plain->args[1], i);
      return yes ? yes : head(plain->args[2], i);
    }
    return uses(plain, i) ? operator_of(plain) : std::nullopt;
  }

  // b with e = o(left(i), b), or undefined.
  Expr operand(const Expr &given, size_t i, const Operator &o) const {
    const Expr e = without_select(given);
    const Type t = e.type();
    if (equal(e, left(t, i))) return identity_of(o, t);
    if (e->op == Op::Select && !uses(e->args[0], i)) {
      const Expr yes = operand(e->args[1], i, o), no = operand(e->args[2], i, o);
      return yes.defined() && no.defined() ? make_select(e->args[0], yes, no) : Expr();
    }
    const bool subtracts = e->op == Op::Sub && !o.intrinsic && o.op == Op::Add;
    if (!subtracts && !o.heads(e)) return Expr();
    const bool in_first = uses(e->args[0], i), in_second = uses(e->args[1], i);
    if (in_first == in_second || (subtracts && in_second)) return Expr();
    const Expr inner = operand(e->args[in_first ? 0 : 1], i, o);
    const Expr &other = e->args[in_first ? 1 : 0];
    if (!inner.defined()) return Expr();
    const bool alone = equal(inner, identity_of(o, t));
    if (subtracts) return make_binary(Op::Sub, inner, other);
    return alone ? other : o.apply(inner, other);
  }

  bool prove_scalar(size_t i) {
    const Type t = f_.types[i];
    const auto o = head(values_[i], i);
    if (!o) return false;
    const Expr b = operand(values_[i], i, *o);
    if (!b.defined() || uses_any(b)) return false;
    result_.operands[i] = b;
    result_.identity[i] = identity_of(*o, t);
    result_.op[i] = o->apply(left(t, i), right(t, i));
    return true;
  }

  // One value is the least or the greatest so far, the others come from where it was found.
  struct Choice {
    Expr found, take;  // the new key, the new value
    Op relation;       // taken where found RELATION key
  };

  // value i = select(e RELATION key, take, left(i)), in one of its ways to be written.
  std::optional<Choice> choice(size_t i, size_t key) const {
    const Expr &e = values_[i];
    const Expr old_key = left(f_.types[key], key), old = left(f_.types[i], i);
    if (i == key && (e->op == Op::Min || e->op == Op::Max)) {
      const bool first = equal(e->args[0], old_key);
      if (!first && !equal(e->args[1], old_key)) return std::nullopt;
      const Expr &found = e->args[first ? 1 : 0];
      return Choice{found, found, e->op == Op::Min ? Op::Lt : Op::Gt};
    }
    if (e->op != Op::Select) return std::nullopt;
    Expr condition = e->args[0];
    bool taken = !equal(e->args[1], old);
    if (taken && !equal(e->args[2], old)) return std::nullopt;
    while (condition->op == Op::Not) {
      condition = condition->args[0];
      taken = !taken;
    }
    const Expr &take = equal(e->args[1], old) ? e->args[2] : e->args[1];
    Op relation = condition->op;
    if (relation != Op::Lt && relation != Op::Le && relation != Op::Gt && relation != Op::Ge) {
      return std::nullopt;
    }
    const bool key_first = equal(condition->args[0], old_key);
    if (!key_first && !equal(condition->args[1], old_key)) return std::nullopt;
    if (key_first) relation = mirrored(relation);
    if (!taken) relation = *negated(relation);
    return Choice{condition->args[key_first ? 1 : 0], take, relation};
  }

  bool prove_arg(const std::vector<size_t> &group) {
    for (const size_t key : group) {
      if (prove_arg(group, key)) return true;
    }
    return false;
  }

  bool prove_arg(const std::vector<size_t> &group, size_t key) {
    const auto at_key = choice(key, key);
    if (!at_key || uses_any(at_key->found)) return false;
    if (!equal(at_key->found, at_key->take)) return false;
    std::optional<Op> relation;
    for (const size_t i : group) {
      const auto c = choice(i, key);
      if (!c || !equal(c->found, at_key->found) || uses_any(c->take)) return false;
      const bool says = i != key || values_[key]->op == Op::Select;
      if (!says) continue;
      if (relation && *relation != c->relation) return false;
      relation = c->relation;
    }
    if (!relation) return false;
    const bool least = *relation == Op::Lt || *relation == Op::Le;
    if (least != (at_key->relation == Op::Lt || at_key->relation == Op::Le)) return false;
    const Type key_type = f_.types[key];
    const Expr takes = make_binary(*relation, right(key_type, key), left(key_type, key));
    for (const size_t i : group) {
      result_.operands[i] = choice(i, key)->take;
      result_.identity[i] = i != key ? make_zero(f_.types[i])
                            : least  ? highest(key_type)
                                     : lowest(key_type);
      result_.op[i] = make_select(takes, right(f_.types[i], i), left(f_.types[i], i));
    }
    // Of equal keys the one met first, or last, decides.
    result_.commutative = result_.commutative && group.size() == 1;
    if (*relation == Op::Le || *relation == Op::Ge) result_.needs_operand = true;
    return true;
  }

  // Values that are sums of products: the operator is guessed from what is no sum or product, and
  // proven by comparing polynomials.
  bool prove_polynomial(const std::vector<size_t> &group) {
    constexpr size_t kMaxGroup = 4;
    if (group.size() > kMaxGroup) return false;
    const Type t = f_.types[group[0]];
    std::vector<Expr> leaves;
    for (const size_t i : group) {
      if (f_.types[i] != t || !collect_leaves(values_[i], leaves)) return false;
    }
    if (leaves.size() != group.size()) return false;
    std::vector<size_t> order(leaves.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    do {
      if (try_operator(group, leaves, order)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  bool collect_leaves(const Expr &e, std::vector<Expr> &leaves) const {
    const bool arithmetic = e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul;
    if (arithmetic) return collect_leaves(e->args[0], leaves) && collect_leaves(e->args[1], leaves);
    if (is_const(e)) return true;
    if (uses_any(e)) return as_variable(e) != nullptr;
    for (const Expr &l : leaves) {
      if (equal(l, e)) return true;
    }
    leaves.push_back(e);
    return true;
  }

  bool try_operator(const std::vector<size_t> &group, const std::vector<Expr> &leaves,
                    const std::vector<size_t> &order) {
    const Type t = f_.types[group[0]];
    std::map<Expr, Expr, ExprLess> names;
    for (size_t k = 0; k < group.size(); k++) names[leaves[order[k]]] = right(t, group[k]);
    std::vector<Expr> op;
    for (const size_t i : group) op.push_back(replace(values_[i], names));
    auto apply = [&](const std::vector<Expr> &a, const std::vector<Expr> &b) {
      std::map<std::string, Expr> at;
      for (size_t k = 0; k < group.size(); k++) {
        at[left_symbol(group[k])] = a[k];
        at[right_symbol(group[k])] = b[k];
      }
      std::vector<Expr> r;
      for (const Expr &e : op) r.push_back(substitute(at, e));
      return r;
    };
    auto vars = [&](const char *name) {
      std::vector<Expr> v;
      for (size_t k = 0; k < group.size(); k++) {
        v.push_back(make_variable(t, VariableKind::Symbol, name + std::to_string(k)));
      }
      return v;
    };
    const std::vector<Expr> a = vars("a"), b = vars("b"), c = vars("c");
    if (!same(apply(apply(a, b), c), apply(a, apply(b, c)))) return false;
    for (unsigned bits = 0; bits < 1u << group.size(); bits++) {
      std::vector<Expr> unit;
      for (size_t k = 0; k < group.size(); k++) unit.push_back(make_int(t, bits >> k & 1));
      if (!same(apply(a, unit), a) || !same(apply(unit, a), a)) continue;
      for (size_t k = 0; k < group.size(); k++) {
        result_.operands[group[k]] = leaves[order[k]];
        result_.identity[group[k]] = unit[k];
        result_.op[group[k]] = op[k];
      }
      result_.commutative = result_.commutative && same(apply(a, b), apply(b, a));
      return true;
    }
    return false;
  }

  static Expr replace(const Expr &e, const std::map<Expr, Expr, ExprLess> &names) {
    const auto it = names.find(e);
    if (it != names.end()) return it->second;
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    for (const Expr &a : e->args) args.push_back(replace(a, names));
    return with_args(e, std::move(args));
  }

  static bool same(const std::vector<Expr> &a, const std::vector<Expr> &b) {
    for (size_t i = 0; i < a.size(); i++) {
      const auto p = to_sum_of_products(a[i]), q = to_sum_of_products(b[i]);
      if (!p || !q || *p != *q) return false;
    }
    return true;
  }

  const FuncDef &f_;
  const StageDef &update_;
  const size_t n_;
  std::vector<Expr> values_;  // own cells as left symbols
  AssociativeUpdate result_;
  std::string why_;
};

}  // namespace

std::vector<Expr> AssociativeUpdate::combine(const std::vector<Expr> &a,
                                             const std::vector<Expr> &b) const {
  std::map<std::string, Expr> at;
  for (size_t i = 0; i < op.size(); i++) {
    at[left_symbol(i)] = a[i];
    at[right_symbol(i)] = b[i];
  }
  std::vector<Expr> result;
  for (const Expr &e : op) result.push_back(substitute(at, e));
  return result;
}

std::optional<AssociativeUpdate> prove_associative(const FuncDef &f, int stage, std::string *why) {
  if (stage >= static_cast<int>(f.stages.size()) || !f.is_update(stage)) {
    if (why) *why = "a pure definition is no reduction";
    return std::nullopt;
  }
  return Prover(f, stage).run(why);
}

}  // namespace polyhalite
