#include "lang/simplify/linear.h"

#include <iterator>
#include <unordered_map>

#include "polyhalite/error.h"

namespace polyhalite {

namespace {

// Coefficients wrap: forms that leave 64 bits come from expressions whose value is undefined.
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

Linear &Linear::add(const Linear &o, int64_t factor) {
  constant = wrapping_add(constant, wrapping_mul(factor, o.constant));
  for (const auto &[atom, c] : o.terms) {
    auto it = terms.emplace(atom, 0).first;
    it->second = wrapping_add(it->second, wrapping_mul(factor, c));
    if (it->second == 0) terms.erase(it);
  }
  return *this;
}

Linear &Linear::scale(int64_t factor) {
  if (factor == 0) terms.clear();
  constant = wrapping_mul(constant, factor);
  for (auto it = terms.begin(); it != terms.end();) {
    it->second = wrapping_mul(it->second, factor);
    it = it->second == 0 ? terms.erase(it) : std::next(it);
  }
  return *this;
}

namespace {

// Deep expressions are met on many ways, their parts once.
class LinearForms {
 public:
  Linear of(const Expr &e, int depth = 0) {
    constexpr int kShallow = 6;
    if (depth < kShallow || e->args.empty()) return make(e, depth);
    const auto known = known_.find(e.get());
    if (known != known_.end()) return known->second;
    return known_[e.get()] = make(e, depth);
  }

 private:
  Linear make(const Expr &e, int depth) {
    Linear l;
    l.type = e.type();
    int64_t k;
    if (is_const_int(e, &k)) {
      l.constant = k;
      return l;
    }
    const auto part = [&](size_t i) { return of(e->args[i], depth + 1); };
    switch (e->op) {
      case Op::Add:
        l = part(0);
        return l.add(part(1));
      case Op::Sub:
        l = part(0);
        return l.add(part(1), -1);
      case Op::Mul: {
        Linear a = part(0), b = part(1);
        if (b.is_constant()) return a.scale(b.constant);
        if (a.is_constant()) return b.scale(a.constant);
        break;
      }
      case Op::Cast:
        // Widening keeps sums because overflow of the narrow type is undefined.
        if (e.type() == Int(64) && e->args[0].type() == Int(32)) {
          Linear inner = part(0);
          l.constant = inner.constant;
          for (const auto &[atom, c] : inner.terms) l.terms[make_cast(Int(64), atom)] = c;
          return l;
        }
        break;
      default:
        break;
    }
    l.terms[e] = 1;
    return l;
  }

  std::unordered_map<const ExprNode *, Linear> known_;
};

}  // namespace

Linear to_linear(const Expr &e) { return LinearForms().of(e); }

Expr to_expr(const Linear &l) {
  Expr sum;
  auto append = [&](const Expr &atom, int64_t c) {
    const int64_t magnitude = c < 0 ? wrapping_mul(c, -1) : c;
    Expr term = magnitude == 1 ? atom : make_binary(Op::Mul, atom, make_int(l.type, magnitude));
    if (!sum.defined()) {
      sum = c > 0 ? term : make_binary(Op::Mul, atom, make_int(l.type, c));
    } else {
      sum = make_binary(c > 0 ? Op::Add : Op::Sub, sum, term);
    }
  };
  for (const auto &[atom, c] : l.terms) {
    if (c > 0) append(atom, c);
  }
  if (!sum.defined() && l.constant != 0 && !l.terms.empty()) {
    sum = make_int(l.type, l.constant);
    for (const auto &[atom, c] : l.terms) append(atom, c);
    return sum;
  }
  for (const auto &[atom, c] : l.terms) {
    if (c < 0) append(atom, c);
  }
  if (!sum.defined()) return make_int(l.type, l.constant);
  if (l.constant > 0) return make_binary(Op::Add, sum, make_int(l.type, l.constant));
  if (l.constant < 0)
    return make_binary(Op::Sub, sum, make_int(l.type, wrapping_mul(l.constant, -1)));
  return sum;
}

std::optional<int64_t> constant_difference(const Expr &a, const Expr &b) {
  Linear l = to_linear(a);
  l.add(to_linear(b), -1);
  if (!l.is_constant()) return std::nullopt;
  return l.constant;
}

}  // namespace polyhalite
