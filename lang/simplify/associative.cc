#include "lang/simplify/associative.h"

#include <algorithm>
#include <map>
#include <set>

#include "lang/ir/intrinsics.h"
#include "lang/ir/visit.h"
#include "lang/simplify/comparison.h"
#include "lang/simplify/counter_example.h"
#include "lang/simplify/finite_operator.h"
#include "lang/simplify/linear.h"
#include "lang/simplify/operators.h"
#include "lang/simplify/polynomial.h"
#include "lang/simplify/step_functions.h"

namespace polyhalite {

namespace {

// f's own cells in `values` -> left_operand(i).
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
    return left_operand(c->type, c->value_index);
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

// The values of an update, its cell being left_symbol()s. nullopt, and `why`, where it is no
// function of its cell alone.
std::optional<std::vector<Expr>> values_of_cell(const FuncDef &f, const StageDef &update,
                                                std::string &why) {
  if (cell_writes(update).size() > 1) {
    why = "each instance writes several cells";
    return std::nullopt;
  }
  for (const Expr &a : update.args) {
    if (!calls_func(a, f.name)) continue;
    why = "an index on the left reads '" + f.name + "' itself";
    return std::nullopt;
  }
  if (update.predicate.defined() && calls_func(update.predicate, f.name)) {
    why = "the domain's condition reads '" + f.name + "' itself";
    return std::nullopt;
  }
  OwnCells own(f, update);
  std::vector<Expr> values;
  for (const Expr &v : update.values) values.push_back(own(v));
  if (!own.other_cells()) return values;
  why = "it reads '" + f.name + "' at a cell that it does not write";
  return std::nullopt;
}

class Prover {
 public:
  /// `composes`: functions of the cell will do, too. `explains`: somebody asks why not.
  Prover(const std::vector<Expr> &values, bool composes, bool explains)
      : n_(values.size()), composes_(composes), explains_(explains) {
    for (const Expr &v : values) values_.push_back(without_select(v));
  }

  std::optional<AssociativeUpdate> run(std::string *why) {
    if (prove()) return std::move(result_);
    if (why) *why = why_;
    return std::nullopt;
  }

 private:
  Type type(size_t i) const { return values_[i].type(); }

  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  bool prove() {
    for (const Expr &v : values_) {
      if (v.type().is_float() && has_strict_float(v)) {
        return fail("strict_float fixes the order of its operations");
      }
    }
    const auto all = groups();
    const auto left_over = unproven(all);
    if (left_over.empty()) return true;
    // Values that do not need each other may still be one operator's.
    std::vector<size_t> whole(n_);
    for (size_t i = 0; i < n_; i++) whole[i] = i;
    if (all.size() > 1) {
      const AssociativeUpdate parts = result_;
      if (unproven({whole}).empty()) return true;
      result_ = parts;
    }
    if (composes_ && compose(all, left_over)) return true;
    if (!explains_) return false;
    const std::string example = example_against(left_over[0]);
    return fail(!example.empty() ? example
                                 : "no associative operator is known that " +
                                       std::string(left_over[0].size() == 1 ? "its value is"
                                                                            : "its values are") +
                                       " made with");
  }

  // The groups that no operator is found for; result_ has those of the others.
  std::vector<std::vector<size_t>> unproven(const std::vector<std::vector<size_t>> &all) {
    result_ = AssociativeUpdate();
    result_.operands.resize(n_);
    result_.identity.resize(n_);
    result_.op.resize(n_);
    std::vector<std::vector<size_t>> left_over;
    for (const std::vector<size_t> &group : all) {
      if (!prove_group(group)) left_over.push_back(group);
    }
    return left_over;
  }

  bool prove_group(const std::vector<size_t> &group) {
    return (group.size() == 1 && prove_scalar(group[0])) || prove_arg(group) ||
           prove_by_leaves(group);
  }

  // Partial results are the values of the groups that are proven, and for each of the others the
  // numbers of a function.
  bool compose(const std::vector<std::vector<size_t>> &all,
               const std::vector<std::vector<size_t>> &left_over) {
    AssociativeUpdate composed;
    composed.commutative = result_.commutative;
    composed.choices_alone = false;
    composed.needs_operand = result_.needs_operand;
    composed.applied.resize(n_);
    for (const std::vector<size_t> &group : all) {
      const size_t base = composed.operands.size();
      const bool is_left = std::count(left_over.begin(), left_over.end(), group) > 0;
      if (!is_left) {
        std::map<std::string, Expr> number, partial;
        for (size_t k = 0; k < group.size(); k++) {
          const Type t = type(group[k]);
          number[left_symbol(group[k])] = left_operand(t, base + k);
          number[right_symbol(group[k])] = partial[right_symbol(group[k])] =
              right_operand(t, base + k);
        }
        for (const size_t i : group) {
          composed.operands.push_back(result_.operands[i]);
          composed.identity.push_back(result_.identity[i]);
          composed.op.push_back(substitute(number, result_.op[i]));
          composed.applied[i] = substitute(partial, result_.op[i]);
        }
        continue;
      }
      std::vector<Expr> values;
      for (const size_t i : group) values.push_back(values_[i]);
      const auto f = step_function(values, group);
      if (!f) return false;
      std::map<std::string, Expr> number, partial;
      for (size_t k = 0; k < f->operands.size(); k++) {
        const Type t = f->operands[k].type();
        number[left_symbol(k)] = left_operand(t, base + k);
        number[right_symbol(k)] = partial[right_symbol(k)] = right_operand(t, base + k);
      }
      composed.operands.insert(composed.operands.end(), f->operands.begin(), f->operands.end());
      composed.identity.insert(composed.identity.end(), f->identity.begin(), f->identity.end());
      for (const Expr &e : f->op) composed.op.push_back(substitute(number, e));
      for (size_t k = 0; k < group.size(); k++) {
        composed.applied[group[k]] = substitute(partial, f->applied[k]);
      }
      composed.commutative = composed.commutative && f->commutative;
    }
    result_ = std::move(composed);
    return true;
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

  // b with e = o(left_operand(i), b), or undefined.
  Expr operand(const Expr &given, size_t i, const Operator &o) const {
    const Expr e = without_select(given);
    const Type t = e.type();
    if (equal(e, left_operand(t, i))) return identity_of(o, t);
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
    const Type t = type(i);
    const auto o = head(values_[i], i);
    if (!o) return false;
    const Expr b = operand(values_[i], i, *o);
    if (!b.defined() || uses_any(b)) return false;
    result_.operands[i] = b;
    result_.identity[i] = identity_of(*o, t);
    result_.op[i] = o->apply(left_operand(t, i), right_operand(t, i));
    return true;
  }

  // One value is the least or the greatest so far, the others come from where it was found.
  struct Choice {
    Expr found, take;  // the new key, the new value
    Op relation;       // taken where found RELATION key
  };

  // value i = select(e RELATION key, take, left_operand(i)), in one of its ways to be written.
  std::optional<Choice> choice(size_t i, size_t key) const {
    const Expr &e = values_[i];
    const Expr old_key = left_operand(type(key), key), old = left_operand(type(i), i);
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
    const Type key_type = type(key);
    const Expr takes =
        make_binary(*relation, right_operand(key_type, key), left_operand(key_type, key));
    // Of equal keys the one met first, or last, decides. Nothing comes before an identity that the
    // last one replaces.
    const bool last = *relation == Op::Le || *relation == Op::Ge;
    for (const size_t i : group) {
      result_.operands[i] = choice(i, key)->take;
      const bool first = last && type(i) == Int(32);
      result_.identity[i] = i != key ? (first ? lowest_value(type(i)) : make_zero(type(i)))
                            : least  ? highest_value(key_type)
                                     : lowest_value(key_type);
      result_.op[i] = make_select(takes, right_operand(type(i), i), left_operand(type(i), i));
    }
    if (group.size() > 1) {
      result_.choices.push_back({group, key, least, last});
      result_.commutative = false;
    }
    if (last) result_.needs_operand = true;
    return true;
  }

  // The operator is the update with what the cell does not change as its right operand: `leaves`,
  // each of which stands for one value of it.
  bool prove_by_leaves(const std::vector<size_t> &group) {
    constexpr size_t kMaxGroup = 4;
    if (group.size() > kMaxGroup) return false;
    for (const bool whole : {true, false}) {
      std::vector<Expr> leaves;
      for (const size_t i : group) collect_leaves(values_[i], whole, leaves);
      if (leaves.size() != group.size()) continue;
      std::vector<size_t> order(leaves.size());
      for (size_t i = 0; i < order.size(); i++) order[i] = i;
      do {
        if (try_operator(group, leaves, order)) return true;
      } while (std::next_permutation(order.begin(), order.end()));
    }
    return false;
  }

  // The largest parts without cells, or the parts of their sums and products.
  void collect_leaves(const Expr &e, bool whole, std::vector<Expr> &leaves) const {
    const bool arithmetic = e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul;
    if (is_const(e)) return;
    if (uses_any(e) || (arithmetic && !whole)) {
      for (const Expr &a : e->args) collect_leaves(a, whole, leaves);
      return;
    }
    for (const Expr &l : leaves) {
      if (equal(l, e)) return;
    }
    leaves.push_back(e);
  }

  // With leaves[order[k]] as value group[k] of the right operand; empty where types differ.
  std::vector<Expr> operator_with(const std::vector<size_t> &group, const std::vector<Expr> &leaves,
                                  const std::vector<size_t> &order) const {
    std::map<Expr, Expr, ExprLess> names;
    for (size_t k = 0; k < group.size(); k++) {
      const Expr &leaf = leaves[order[k]];
      if (leaf.type() != type(group[k])) return {};
      names[leaf] = right_operand(type(group[k]), group[k]);
    }
    std::vector<Expr> op;
    for (const size_t i : group) op.push_back(replace_nodes(values_[i], names));
    return op;
  }

  bool try_operator(const std::vector<size_t> &group, const std::vector<Expr> &leaves,
                    const std::vector<size_t> &order) {
    const std::vector<Expr> op = operator_with(group, leaves, order);
    if (op.empty()) return false;
    std::vector<Expr> identity;
    bool commutative = true;
    if (auto finite = prove_finite(group, op)) {
      identity = std::move(finite->identity);
      commutative = finite->commutative;
    } else if (!prove_polynomial(group, op, identity, commutative)) {
      return false;
    }
    for (size_t k = 0; k < group.size(); k++) {
      result_.operands[group[k]] = leaves[order[k]];
      result_.identity[group[k]] = identity[k];
      result_.op[group[k]] = op[k];
    }
    result_.commutative = result_.commutative && commutative;
    result_.choices_alone = result_.choices_alone && commutative;
    return true;
  }

  // Values that are sums of products: proven by comparing polynomials.
  bool prove_polynomial(const std::vector<size_t> &group, const std::vector<Expr> &op,
                        std::vector<Expr> &identity, bool &commutative) const {
    const Type t = type(group[0]);
    for (const size_t i : group) {
      if (type(i) != t) return false;
    }
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
      identity = std::move(unit);
      commutative = same(apply(a, b), apply(b, a));
      return true;
    }
    return false;
  }

  static bool same(const std::vector<Expr> &a, const std::vector<Expr> &b) {
    for (size_t i = 0; i < a.size(); i++) {
      const auto p = to_sum_of_products(a[i]), q = to_sum_of_products(b[i]);
      if (!p || !q || *p != *q) return false;
    }
    return true;
  }

  // What shows that the update, read as an operator, is not associative; empty where nothing does,
  // or where it is none.
  std::string example_against(const std::vector<size_t> &group) const {
    std::vector<Expr> leaves;
    for (const size_t i : group) collect_leaves(values_[i], true, leaves);
    if (leaves.size() != group.size()) return "";
    std::vector<size_t> order(leaves.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    do {
      const std::vector<Expr> op = operator_with(group, leaves, order);
      if (op.empty()) continue;
      std::string example = counter_example(group, op);
      if (!example.empty()) return example;
    } while (std::next_permutation(order.begin(), order.end()));
    return "";
  }

  const size_t n_;
  const bool composes_, explains_;
  std::vector<Expr> values_;  // own cells as left symbols
  AssociativeUpdate result_;
  std::string why_;
};

std::vector<Expr> with_operands(const std::vector<Expr> &op, const std::vector<Expr> &a,
                                const std::vector<Expr> &b) {
  std::map<std::string, Expr> at;
  for (size_t i = 0; i < a.size(); i++) at[left_symbol(i)] = a[i];
  for (size_t i = 0; i < b.size(); i++) at[right_symbol(i)] = b[i];
  std::vector<Expr> result;
  for (const Expr &e : op) result.push_back(substitute(at, e));
  return result;
}

std::optional<AssociativeUpdate> prove(const FuncDef &f, int stage, bool composes,
                                       std::string *why) {
  std::string reason = "a pure definition is no reduction";
  std::optional<std::vector<Expr>> values;
  if (stage < static_cast<int>(f.stages.size()) && f.is_update(stage)) {
    values = values_of_cell(f, f.stages[stage], reason);
  }
  if (values) return Prover(*values, composes, why != nullptr).run(why);
  if (why) *why = reason;
  return std::nullopt;
}

}  // namespace

std::vector<Expr> AssociativeUpdate::combine(const std::vector<Expr> &a,
                                             const std::vector<Expr> &b) const {
  return with_operands(op, a, b);
}

std::vector<Expr> AssociativeUpdate::apply(const std::vector<Expr> &cell,
                                           const std::vector<Expr> &partial) const {
  return with_operands(applied.empty() ? op : applied, cell, partial);
}

std::vector<Type> AssociativeUpdate::types() const {
  std::vector<Type> types;
  for (const Expr &e : identity) types.push_back(e.type());
  return types;
}

std::optional<AssociativeUpdate> prove_associative(const FuncDef &f, int stage, std::string *why) {
  return prove(f, stage, false, why);
}

std::optional<AssociativeUpdate> prove_composable(const FuncDef &f, int stage, std::string *why) {
  return prove(f, stage, true, why);
}

std::optional<AssociativeUpdate> prove_composable(const std::vector<Expr> &values,
                                                  std::string *why) {
  return Prover(values, true, why != nullptr).run(why);
}

}  // namespace polyhalite
