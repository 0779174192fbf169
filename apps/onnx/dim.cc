#include "apps/onnx/dim.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) throw std::overflow_error("a size is beyond 64 bits");
  return r;
}
int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) throw std::overflow_error("a size is beyond 64 bits");
  return r;
}

int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return checked_multiply(a, -1);
  const int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

bool Dim::Less::operator()(const Monomial &a, const Monomial &b) const {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const auto &x, const auto &y) { return x->text < y->text; });
}

Dim::Dim(int64_t value) { add({}, value); }

Dim Dim::of_atom(DimAtom atom) {
  Dim d;
  d.add({std::make_shared<const DimAtom>(std::move(atom))}, 1);
  return d;
}

Dim Dim::symbol(const std::string &name) { return of_atom({DimAtom::Symbol, name, {}, {}}); }

void Dim::add(const Monomial &m, int64_t coefficient) {
  if (coefficient == 0) return;
  const auto [at, fresh] = terms_.emplace(m, coefficient);
  if (fresh) return;
  at->second = checked_add(at->second, coefficient);
  if (at->second == 0) terms_.erase(at);
}

std::optional<int64_t> Dim::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

Dim Dim::operator+(const Dim &o) const {
  Dim sum = *this;
  for (const auto &[m, c] : o.terms_) sum.add(m, c);
  return sum;
}
Dim Dim::operator-(const Dim &o) const { return *this + o * Dim(-1); }
Dim Dim::operator*(const Dim &o) const {
  Dim product;
  for (const auto &[m, c] : terms_) {
    for (const auto &[n, d] : o.terms_) {
      Monomial both = m;
      both.insert(both.end(), n.begin(), n.end());
      std::sort(both.begin(), both.end(),
                [](const auto &x, const auto &y) { return x->text < y->text; });
      product.add(both, checked_multiply(c, d));
    }
  }
  return product;
}

// The term that long division begins with: of the most factors, then by their names.
const std::pair<const Dim::Monomial, int64_t> &Dim::leading_term() const {
  return *std::max_element(terms_.begin(), terms_.end(), [](const auto &a, const auto &b) {
    if (a.first.size() != b.first.size()) return a.first.size() < b.first.size();
    return Less()(a.first, b.first);
  });
}

// q where this is q * b: long division of polynomials.
std::optional<Dim> Dim::exact_quotient(const Dim &b) const {
  constexpr int kMostTerms = 64;
  if (b.terms_.empty()) return std::nullopt;
  const auto &[divisor, coefficient] = b.leading_term();
  Dim quotient, rest = *this;
  for (int i = 0; i < kMostTerms && !rest.terms_.empty(); i++) {
    const auto &[m, c] = rest.leading_term();
    const int64_t count = floor_quotient(c, coefficient);
    if (count * coefficient != c) return std::nullopt;
    Monomial left = m;
    for (const auto &atom : divisor) {
      const auto at = std::find_if(left.begin(), left.end(),
                                   [&](const auto &o) { return o->text == atom->text; });
      if (at == left.end()) return std::nullopt;
      left.erase(at);
    }
    Dim term;
    term.add(left, count);
    quotient = quotient + term;
    rest = rest - term * b;
  }
  return rest.terms_.empty() ? std::optional(quotient) : std::nullopt;
}

Dim Dim::floor_div(const Dim &a, const Dim &b) {
  const auto x = a.constant(), y = b.constant();
  if (x && y) return floor_quotient(*x, *y);
  if (y && *y == 1) return a;
  if (a == b) return 1;
  if (y && *y > 0) {
    // Terms that divide evenly come out of the quotient.
    Dim whole, rest;
    for (const auto &[m, c] : a.terms_) {
      if (c % *y == 0) {
        whole.add(m, c / *y);
      } else {
        rest.add(m, c);
      }
    }
    if (rest.terms_.empty()) return whole;
    if (const auto r = rest.constant()) return whole + floor_quotient(*r, *y);
    return whole + of_atom({DimAtom::FloorDiv,
                            "floor((" + rest.to_string() + ")/" + b.to_string() + ")", rest, b});
  }
  if (const auto quotient = a.exact_quotient(b)) return *quotient;
  return of_atom(
      {DimAtom::FloorDiv, "floor((" + a.to_string() + ")/(" + b.to_string() + "))", a, b});
}
Dim Dim::ceil_div(const Dim &a, const Dim &b) { return Dim(0) - floor_div(Dim(0) - a, b); }
Dim Dim::minimum(const Dim &a, const Dim &b) {
  if ((b - a).lower_bound().value_or(-1) >= 0) return a;
  if ((a - b).lower_bound().value_or(-1) >= 0) return b;
  return of_atom({DimAtom::Min, "min(" + a.to_string() + ", " + b.to_string() + ")", a, b});
}
Dim Dim::maximum(const Dim &a, const Dim &b) {
  if ((b - a).lower_bound().value_or(-1) >= 0) return b;
  if ((a - b).lower_bound().value_or(-1) >= 0) return a;
  return of_atom({DimAtom::Max, "max(" + a.to_string() + ", " + b.to_string() + ")", a, b});
}

std::string Dim::to_string() const {
  if (terms_.empty()) return "0";
  std::string text;
  // Constants last, as sums are written.
  std::vector<std::pair<Monomial, int64_t>> order(terms_.begin(), terms_.end());
  if (order.front().first.empty()) std::rotate(order.begin(), order.begin() + 1, order.end());
  for (const auto &[m, c] : order) {
    const bool negative = c < 0;
    if (text.empty()) {
      text = negative ? "-" : "";
    } else {
      text += negative ? " - " : " + ";
    }
    const uint64_t size = negative ? 0 - static_cast<uint64_t>(c) : static_cast<uint64_t>(c);
    if (m.empty() || size != 1) text += std::to_string(size) + (m.empty() ? "" : "*");
    for (size_t i = 0; i < m.size(); i++) text += (i ? "*" : "") + m[i]->text;
  }
  return text;
}

void Dim::add_symbols(std::set<std::string> *names) const {
  for (const auto &[m, c] : terms_) {
    for (const auto &atom : m) {
      if (atom->kind == DimAtom::Symbol) {
        names->insert(atom->text);
      } else {
        atom->a.add_symbols(names);
        atom->b.add_symbols(names);
      }
    }
  }
}

std::optional<int64_t> Dim::lower_bound() const {
  int64_t total = 0;
  for (const auto &[m, c] : terms_) {
    int64_t least = c;
    for (const auto &atom : m) {
      int64_t one = 0;  // of a symbol
      if (atom->kind != DimAtom::Symbol) {
        const auto a = atom->a.lower_bound(), b = atom->b.lower_bound();
        switch (atom->kind) {
          case DimAtom::Min:
            if (!a || !b) return std::nullopt;
            one = std::min(*a, *b);
            break;
          case DimAtom::Max:
            if (!a && !b) return std::nullopt;
            one = std::max(a.value_or(INT64_MIN), b.value_or(INT64_MIN));
            break;
          default:
            if (!a || *a < 0 || !b || *b < 0) return std::nullopt;
            // By a divisor that may be large, nothing is left.
            one = atom->b.constant() ? floor_quotient(*a, *b) : 0;
        }
      }
      if (one < 0 && m.size() > 1) return std::nullopt;
      least = checked_multiply(least, one);
    }
    // What is subtracted may be large.
    if (c < 0 && !m.empty()) return std::nullopt;
    total = checked_add(total, least);
  }
  return total;
}

int64_t Dim::common_factor() const {
  int64_t factor = 0;
  for (const auto &[m, c] : terms_) factor = std::gcd(factor, c);
  return factor;
}

template <typename T>
T Dim::fold(const std::function<T(int64_t)> &number, const std::function<T(const DimAtom &)> &atom,
            const std::function<T(const T &, const T &)> &sum,
            const std::function<T(const T &, const T &)> &product) const {
  std::optional<T> total;
  for (const auto &[m, c] : terms_) {
    std::optional<T> term;
    if (m.empty() || c != 1) term = number(c);
    for (const auto &a : m) term = term ? product(*term, atom(*a)) : atom(*a);
    total = total ? sum(*total, *term) : *term;
  }
  return total ? *total : number(0);
}

std::optional<int64_t> Dim::evaluate(const std::map<std::string, int64_t> &values) const {
  bool known = true;
  const int64_t result = fold<int64_t>([](int64_t n) { return n; },
                                       [&](const DimAtom &a) -> int64_t {
                                         if (a.kind == DimAtom::Symbol) {
                                           const auto at = values.find(a.text);
                                           known = known && at != values.end();
                                           return at == values.end() ? 1 : at->second;
                                         }
                                         const auto x = a.a.evaluate(values),
                                                    y = a.b.evaluate(values);
                                         known = known && x && y;
                                         if (!x || !y) return 1;
                                         switch (a.kind) {
                                           case DimAtom::Min:
                                             return std::min(*x, *y);
                                           case DimAtom::Max:
                                             return std::max(*x, *y);
                                           default:
                                             return floor_quotient(*x, *y);
                                         }
                                       },
                                       checked_add, checked_multiply);
  if (!known) return std::nullopt;
  return result;
}

Dim Dim::substitute(const std::map<std::string, Dim> &values) const {
  return fold<Dim>([](int64_t n) { return Dim(n); },
                   [&](const DimAtom &a) -> Dim {
                     if (a.kind == DimAtom::Symbol) {
                       const auto at = values.find(a.text);
                       return at == values.end() ? symbol(a.text) : at->second;
                     }
                     const Dim x = a.a.substitute(values), y = a.b.substitute(values);
                     switch (a.kind) {
                       case DimAtom::Min:
                         return minimum(x, y);
                       case DimAtom::Max:
                         return maximum(x, y);
                       default:
                         return floor_div(x, y);
                     }
                   },
                   [](const Dim &x, const Dim &y) { return x + y; },
                   [](const Dim &x, const Dim &y) { return x * y; });
}

Expr Dim::to_expr(const std::map<std::string, Expr> &symbols) const {
  return fold<Expr>([](int64_t n) { return Expr(static_cast<int32_t>(n)); },
                    [&](const DimAtom &a) -> Expr {
                      if (a.kind == DimAtom::Symbol) return symbols.at(a.text);
                      const Expr x = a.a.to_expr(symbols), y = a.b.to_expr(symbols);
                      switch (a.kind) {
                        case DimAtom::Min:
                          return min(x, y);
                        case DimAtom::Max:
                          return max(x, y);
                        default:
                          return x / y;
                      }
                    },
                    [](const Expr &x, const Expr &y) { return x + y; },
                    [](const Expr &x, const Expr &y) { return x * y; });
}

std::string to_string(const Shape &shape) {
  std::string text;
  for (const Dim &d : shape) text += (text.empty() ? "" : ", ") + d.to_string();
  return "[" + text + "]";
}

Dim elements(const Shape &shape) {
  Dim n = 1;
  for (const Dim &d : shape) n = n * d;
  return n;
}

std::optional<std::vector<int64_t>> constant_shape(const Shape &shape) {
  std::vector<int64_t> sizes;
  for (const Dim &d : shape) {
    const auto c = d.constant();
    if (!c) return std::nullopt;
    sizes.push_back(*c);
  }
  return sizes;
}

}  // namespace polyhalite::onnx
