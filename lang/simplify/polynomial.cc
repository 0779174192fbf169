#include "lang/simplify/polynomial.h"

#include <algorithm>
#include <cmath>

namespace polyhalite {

namespace {

constexpr size_t kMaxTerms = 500;

bool add(SumOfProducts &p, const std::vector<std::string> &monomial, int64_t coefficient) {
  int64_t &sum = p[monomial];
  if (__builtin_add_overflow(sum, coefficient, &sum)) return false;
  if (sum == 0) p.erase(monomial);
  return p.size() <= kMaxTerms;
}

std::optional<SumOfProducts> constant(int64_t value) {
  SumOfProducts p;
  add(p, {}, value);
  return p;
}

std::optional<SumOfProducts> sum(SumOfProducts a, const SumOfProducts &b, int64_t sign) {
  for (const auto &[monomial, coefficient] : b) {
    int64_t signed_coefficient;
    if (__builtin_mul_overflow(coefficient, sign, &signed_coefficient) ||
        !add(a, monomial, signed_coefficient)) {
      return std::nullopt;
    }
  }
  return a;
}

std::optional<SumOfProducts> product(const SumOfProducts &a, const SumOfProducts &b) {
  SumOfProducts p;
  for (const auto &[m, c] : a) {
    for (const auto &[n, d] : b) {
      std::vector<std::string> both = m;
      both.insert(both.end(), n.begin(), n.end());
      std::sort(both.begin(), both.end());
      int64_t coefficient;
      if (__builtin_mul_overflow(c, d, &coefficient) || !add(p, both, coefficient)) {
        return std::nullopt;
      }
    }
  }
  return p;
}

}  // namespace

std::optional<SumOfProducts> to_sum_of_products(const Expr &e) {
  int64_t i;
  double f;
  if (is_const_int(e, &i)) return constant(i);
  if (is_const_float(e, &f)) {
    if (f != std::floor(f) || std::abs(f) > 1e6) return std::nullopt;
    return constant(static_cast<int64_t>(f));
  }
  if (const VariableNode *v = as_variable(e)) {
    SumOfProducts p;
    add(p, {v->name}, 1);
    return p;
  }
  if (e->op != Op::Add && e->op != Op::Sub && e->op != Op::Mul) return std::nullopt;
  const auto a = to_sum_of_products(e->args[0]), b = to_sum_of_products(e->args[1]);
  if (!a || !b) return std::nullopt;
  return e->op == Op::Mul ? product(*a, *b) : sum(*a, *b, e->op == Op::Add ? 1 : -1);
}

}  // namespace polyhalite
