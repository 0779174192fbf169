#include "lang/simplify/finite_operator.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "lang/ir/compares.h"
#include "lang/ir/intrinsics.h"
#include "lang/simplify/operators.h"

namespace polyhalite {

namespace {

constexpr int64_t kMostProducts = 50'000;

Expr all_ones(Type t) { return t.is_uint() ? highest_value(t) : make_int(t, -1); }

// An expression over numbered operands, flat: users stand behind what they use.
class Compiled {
 public:
  /// Operands 0..n-1 are the left ones of the slots, n..2n-1 the right ones. Fails where the
  /// expression has other operators than comparisons and selections or, `bits`, operators on bits.
  static std::optional<Compiled> of(const Expr &e, const std::map<std::string, int> &operands,
                                    bool bits) {
    Compiled c;
    if (c.add(e, operands, bits) < 0) return std::nullopt;
    return c;
  }

  int64_t run(const int64_t *operands) const {
    for (size_t i = 0; i < steps_.size(); i++) {
      const Step &s = steps_[i];
      const int64_t a = s.a < 0 ? 0 : at_[s.a], b = s.b < 0 ? 0 : at_[s.b];
      at_[i] = s.operand >= 0 ? operands[s.operand] : value(s, a, b);
    }
    return at_.back();
  }

  /// Pairs of operands that are compared with each other, or of which one is chosen.
  const std::vector<std::pair<int, int>> &mixed() const { return mixed_; }
  /// The operands that may be the value.
  const std::vector<int> &chosen() const { return from_.back(); }

 private:
  struct Step {
    Op op;
    int a = -1, b = -1, c = -1;
    int operand = -1;
    int64_t constant = 0;
  };
  int64_t value(const Step &s, int64_t a, int64_t b) const {
    switch (s.op) {
      case Op::And:
        return a & b;
      case Op::Or:
        return a | b;
      case Op::Not:
        return a ^ 1;
      case Op::Min:
        return std::min(a, b);
      case Op::Max:
        return std::max(a, b);
      case Op::Select:
        return a ? b : at_[s.c];
      case Op::Sub:  // stands for an exclusive or
        return a ^ b;
      case Op::IntImm:
        return s.constant;
      default:
        return compares(s.op, a, b);
    }
  }

  int push(Step s, std::vector<int> from) {
    steps_.push_back(s);
    from_.push_back(std::move(from));
    at_.push_back(0);
    return static_cast<int>(steps_.size()) - 1;
  }

  void mix(int a, int b) {
    for (const int x : from_[a]) {
      for (const int y : from_[b]) mixed_.push_back({x, y});
    }
  }

  int add(const Expr &e, const std::map<std::string, int> &operands, bool bits) {
    const auto known = done_.find(e.get());
    if (known != done_.end()) return known->second;
    const int index = make(e, operands, bits);
    done_[e.get()] = index;
    return index;
  }

  int make(const Expr &e, const std::map<std::string, int> &operands, bool bits) {
    if (const VariableNode *v = as_variable(e)) {
      const auto it = operands.find(v->name);
      if (it == operands.end()) return -1;
      return push({Op::Variable, -1, -1, -1, it->second}, {it->second});
    }
    if (is_const(e)) {
      const bool ones = e.type().is_bool() ? is_true(e) : equal(e, all_ones(e.type()));
      if (!e.type().is_bool() && !(bits && (ones || is_zero(e)))) return -1;
      return push({Op::IntImm, -1, -1, -1, -1, ones}, {});
    }
    std::vector<int> args;
    for (const Expr &a : e->args) {
      args.push_back(add(a, operands, bits));
      if (args.back() < 0) return -1;
    }
    std::vector<int> both;
    for (const int a : args) both.insert(both.end(), from_[a].begin(), from_[a].end());
    if (bits || e.type().is_bool()) {
      const std::pair<const char *, Op> of_bits[] = {{intrinsic::kBitwiseAnd, Op::And},
                                                     {intrinsic::kBitwiseOr, Op::Or},
                                                     {intrinsic::kBitwiseXor, Op::Sub},
                                                     {intrinsic::kBitwiseNot, Op::Not}};
      for (const auto &[name, op] : of_bits) {
        if (as_intrinsic(e, name)) {
          return push({op, args[0], args.size() > 1 ? args[1] : -1}, both);
        }
      }
    }
    if (bits && !e.type().is_bool()) return -1;
    switch (e->op) {
      case Op::And:
      case Op::Or:
        return push({e->op, args[0], args[1]}, {});
      case Op::Not:
        return push({e->op, args[0]}, {});
      case Op::Min:
      case Op::Max:
        mix(args[0], args[1]);
        return push({e->op, args[0], args[1]}, both);
      case Op::Select: {
        mix(args[1], args[2]);
        std::vector<int> chosen = from_[args[1]];
        chosen.insert(chosen.end(), from_[args[2]].begin(), from_[args[2]].end());
        return push({e->op, args[0], args[1], args[2]}, chosen);
      }
      default:
        if (!is_comparison(e->op)) return -1;
        mix(args[0], args[1]);
        return push({e->op, args[0], args[1]}, {});
    }
  }

  std::vector<Step> steps_;
  std::vector<std::vector<int>> from_;  // operands that may be the step's value
  std::map<const ExprNode *, int> done_;
  std::vector<std::pair<int, int>> mixed_;
  mutable std::vector<int64_t> at_;
};

class FiniteProof {
 public:
  FiniteProof(const std::vector<size_t> &slots, const std::vector<Expr> &op)
      : n_(slots.size()), op_(op) {
    for (size_t k = 0; k < n_; k++) {
      names_[left_symbol(slots[k])] = static_cast<int>(k);
      names_[right_symbol(slots[k])] = static_cast<int>(n_ + k);
    }
  }

  std::optional<FiniteOperator> run() {
    for (const bool bits : {false, true}) {
      if (!compile(bits) || !choose_domains(bits)) continue;
      const auto identity = find_identity(bits);
      if (!identity || !is_associative()) continue;
      FiniteOperator result;
      result.identity = *identity;
      result.commutative = is_commutative();
      return result;
    }
    return std::nullopt;
  }

 private:
  using Values = std::vector<int64_t>;

  bool compile(bool bits) {
    compiled_.clear();
    for (const Expr &e : op_) {
      auto c = Compiled::of(e, names_, bits);
      if (!c) return false;
      compiled_.push_back(std::move(*c));
    }
    return true;
  }

  // Operands that meet have one domain: as many values as there are of them in three of the
  // operator's operands. Between the values lies an order, and no more.
  bool choose_domains(bool bits) {
    std::vector<size_t> group(n_);
    for (size_t k = 0; k < n_; k++) group[k] = k;
    const auto join = [&](size_t a, size_t b) {
      const size_t from = group[a], to = group[b];
      for (size_t &g : group) g = g == from ? to : g;
    };
    for (size_t k = 0; k < n_; k++) {
      for (const auto &[a, b] : compiled_[k].mixed()) join(a % n_, b % n_);
      for (const int a : compiled_[k].chosen()) join(a % n_, k);
    }
    size_.assign(n_, 2);
    int64_t trials = 1;
    for (size_t k = 0; k < n_; k++) {
      if (!bits && !op_[k].type().is_bool()) {
        size_[k] = 3 * std::count(group.begin(), group.end(), group[k]);
      }
      trials *= size_[k] * size_[k] * size_[k];
      if (trials > kMostProducts) return false;
    }
    return true;
  }

  Values apply(const Values &a, const Values &b) const {
    Values both = a;
    both.insert(both.end(), b.begin(), b.end());
    Values r;
    for (const Compiled &c : compiled_) r.push_back(c.run(both.data()));
    return r;
  }

  // All tuples of `count` operands, each value below size + more.
  template <typename Holds>
  bool for_all(size_t count, int64_t more, const Holds &holds) const {
    Values v(count * n_, 0);
    for (;;) {
      if (!holds(v)) return false;
      size_t i = 0;
      while (i < v.size() && ++v[i] == size_[i % n_] + (size_[i % n_] > 2 ? more : 0)) v[i++] = 0;
      if (i == v.size()) return true;
    }
  }
  Values part(const Values &v, size_t i) const {
    return {v.begin() + static_cast<std::ptrdiff_t>(i * n_),
            v.begin() + static_cast<std::ptrdiff_t>((i + 1) * n_)};
  }

  // The least and the greatest of values that have one, two more than are tried of others.
  std::optional<std::vector<Expr>> find_identity(bool bits) const {
    for (unsigned choice = 0; choice < 1u << n_; choice++) {
      Values unit;
      std::vector<Expr> exprs;
      for (size_t k = 0; k < n_; k++) {
        const bool high = choice >> k & 1;
        const Type t = op_[k].type();
        const bool of_two = bits || t.is_bool();
        unit.push_back(!high ? 0 : of_two ? 1 : size_[k] + 1);
        if (bits && !t.is_bool()) {
          exprs.push_back(high ? all_ones(t) : make_zero(t));
        } else {
          exprs.push_back(high ? highest_value(t) : lowest_value(t));
        }
      }
      const bool stays = for_all(
          1, 2, [&](const Values &a) { return apply(unit, a) == a && apply(a, unit) == a; });
      if (stays) return exprs;
    }
    return std::nullopt;
  }

  bool is_associative() const {
    return for_all(3, 0, [&](const Values &v) {
      const Values a = part(v, 0), b = part(v, 1), c = part(v, 2);
      return apply(apply(a, b), c) == apply(a, apply(b, c));
    });
  }
  bool is_commutative() const {
    return for_all(2, 0, [&](const Values &v) {
      return apply(part(v, 0), part(v, 1)) == apply(part(v, 1), part(v, 0));
    });
  }

  const size_t n_;
  const std::vector<Expr> &op_;
  std::map<std::string, int> names_;
  std::vector<Compiled> compiled_;
  std::vector<int64_t> size_;  // of each slot's domain
};

}  // namespace

std::optional<FiniteOperator> prove_finite(const std::vector<size_t> &slots,
                                           const std::vector<Expr> &op) {
  constexpr size_t kMostSlots = 4;
  if (slots.size() > kMostSlots) return std::nullopt;
  return FiniteProof(slots, op).run();
}

}  // namespace polyhalite
