#include "codegen/llvm/address.h"

#include <algorithm>

namespace polyhalite {

namespace {

// Products of sums with more terms than this stay atoms, so that addresses stay short.
constexpr size_t kMaxProductTerms = 12;

std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b) {
  if (a.terms.size() * b.terms.size() > kMaxProductTerms) return std::nullopt;
  Polynomial result;
  for (const auto &[ma, ca] : a.terms) {
    for (const auto &[mb, cb] : b.terms) {
      Monomial m = ma;
      m.insert(m.end(), mb.begin(), mb.end());
      std::sort(m.begin(), m.end(), [](const Expr &x, const Expr &y) { return compare(x, y) < 0; });
      Polynomial product;
      product.terms[m] = ca * cb;
      result.add(product);
    }
  }
  return result;
}

bool is_index_type(Type t) { return t.is_affine(); }

class Decomposer {
 public:
  explicit Decomposer(const Definitions &definitions) : definitions_(definitions) {}

  std::optional<LaneAddress> operator()(const Expr &e) {
    switch (e->op) {
      case Op::IntImm:
        return uniform(Polynomial::constant(as_imm(e)->i));
      case Op::Broadcast:
        return e->args[0].type().is_scalar() ? (*this)(e->args[0]) : std::nullopt;
      case Op::Ramp:
        return ramp(e);
      case Op::Cast:
        if (is_index_type(e->args[0].type()) && e.type().bits() >= e->args[0].type().bits()) {
          return (*this)(e->args[0]);
        }
        return atom(e);
      case Op::Add:
      case Op::Sub: {
        auto a = (*this)(e->args[0]), b = (*this)(e->args[1]);
        if (!a || !b) return std::nullopt;
        const int64_t sign = e->op == Op::Add ? 1 : -1;
        a->base.add(b->base, sign);
        a->stride.add(b->stride, sign);
        return a;
      }
      case Op::Mul:
        return product(e);
      case Op::Variable:
        if (e.type().is_vector()) {
          Expr value = definitions_(as_variable(e)->name);
          return value.defined() ? (*this)(value) : std::nullopt;
        }
        return atom(e);
      default:
        return atom(e);
    }
  }

 private:
  static std::optional<LaneAddress> uniform(Polynomial p) { return LaneAddress{std::move(p), {}}; }

  static std::optional<LaneAddress> atom(const Expr &e) {
    if (e.type().is_vector()) return std::nullopt;
    return uniform(Polynomial::atom(e));
  }

  std::optional<LaneAddress> ramp(const Expr &e) {
    const Expr &base = e->args[0], &step = e->args[1];
    if (base.type().is_vector()) return std::nullopt;
    auto b = (*this)(base), s = (*this)(step);
    if (!b || !s) return std::nullopt;
    return LaneAddress{b->base, s->base};
  }

  std::optional<LaneAddress> product(const Expr &e) {
    auto a = (*this)(e->args[0]), b = (*this)(e->args[1]);
    if (!a || !b) return std::nullopt;
    if (!a->stride.terms.empty()) std::swap(a, b);
    if (!a->stride.terms.empty()) return std::nullopt;  // quadratic in the lane
    auto base = multiply(a->base, b->base), stride = multiply(a->base, b->stride);
    if (!base || !stride) return atom(e);
    return LaneAddress{std::move(*base), std::move(*stride)};
  }

  const Definitions &definitions_;
};

}  // namespace

bool MonomialLess::operator()(const Monomial &a, const Monomial &b) const {
  if (a.size() != b.size()) return a.size() < b.size();
  for (size_t i = 0; i < a.size(); i++) {
    if (int c = compare(a[i], b[i])) return c < 0;
  }
  return false;
}

Polynomial Polynomial::constant(int64_t c) {
  Polynomial p;
  if (c != 0) p.terms[{}] = c;
  return p;
}

Polynomial Polynomial::atom(const Expr &e) {
  Polynomial p;
  p.terms[{e}] = 1;
  return p;
}

std::optional<int64_t> Polynomial::as_constant() const {
  if (terms.empty()) return 0;
  if (terms.size() == 1 && terms.begin()->first.empty()) return terms.begin()->second;
  return std::nullopt;
}

void Polynomial::add(const Polynomial &o, int64_t factor) {
  for (const auto &[monomial, c] : o.terms) {
    auto [at, fresh] = terms.try_emplace(monomial, 0);
    at->second += c * factor;
    if (at->second == 0) terms.erase(at);
  }
}

std::optional<LaneAddress> to_lane_address(const Expr &index, const Definitions &definitions) {
  return Decomposer(definitions)(index);
}

}  // namespace polyhalite
