// Fourier transforms of lengths that are products of small primes: passes of one factor each, after
// J. Cooley and J. Tukey, An Algorithm for the Machine Calculation of Complex Fourier Series
// (1965); of few rows in two dimensions, so that there are vectors along one of them.
#include <algorithm>
#include <cmath>
#include <complex>

#include "lang/ops/common.h"
#include "polyhalite/operators.h"
#include "polyhalite/tuple.h"

namespace polyhalite::ops {

namespace {

// An undefined part is 0.
struct Complex {
  Expr re, im;
};

Expr sum(const Expr &a, const Expr &b) { return !a.defined() ? b : !b.defined() ? a : a + b; }
Expr difference(const Expr &a, const Expr &b) {
  return !b.defined() ? a : !a.defined() ? -b : a - b;
}
Expr scaled(const Expr &a, double by) {
  if (!a.defined() || by == 0) return Expr();
  return by == 1 ? a : by == -1 ? -a : a * Expr(by);
}
Complex operator+(const Complex &a, const Complex &b) { return {sum(a.re, b.re), sum(a.im, b.im)}; }
Complex operator-(const Complex &a, const Complex &b) {
  return {difference(a.re, b.re), difference(a.im, b.im)};
}
// a (c + i s)
Complex turned(const Complex &a, double c, double s) {
  return {difference(scaled(a.re, c), scaled(a.im, s)), sum(scaled(a.re, s), scaled(a.im, c))};
}
using Numbers = std::vector<std::complex<double>>;
std::complex<double> turned(const std::complex<double> &a, double c, double s) {
  return a * std::complex<double>(c, s);
}
Complex turned(const Complex &a, const Expr &c, const Expr &s) {
  if (!a.im.defined()) return {a.re * c, a.re * s};
  return {a.re * c - a.im * s, a.re * s + a.im * c};
}

// e^(2 pi i step/length); whole eighths of a turn are exact, which no multiple of pi is.
struct Root {
  double cosine, sine;
  Root(int64_t step, int64_t length, bool inverse) {
    constexpr double kQuarter = 3.14159265358979323846 / 2;
    const int64_t quarters = step * 4 / length, rest = step * 4 - quarters * length;
    const double angle = kQuarter * static_cast<double>(rest) / static_cast<double>(length);
    const bool eighth = 2 * rest == length;
    const double c = eighth ? std::sqrt(0.5) : std::cos(angle);
    const double s = eighth ? c : std::sin(angle);
    const int turns = static_cast<int>(quarters % 4);
    cosine = turns == 0 ? c : turns == 1 ? -s : turns == 2 ? -c : s;
    sine = turns == 0 ? s : turns == 1 ? c : turns == 2 ? -s : -c;
    if (!inverse) sine = -sine;
  }
};

// The transform of a few numbers, expressions or known ones: even and odd places apart, of an odd
// number places from both ends together.
template <typename Number>
std::vector<Number> small_transform(const std::vector<Number> &x, bool inverse) {
  const size_t n = x.size();
  if (n == 1) return x;
  std::vector<Number> y(n);
  if (n % 2 == 0) {
    std::vector<Number> even, odd;
    for (size_t i = 0; i < n; i++) (i % 2 == 0 ? even : odd).push_back(x[i]);
    even = small_transform(even, inverse);
    odd = small_transform(odd, inverse);
    for (size_t k = 0; k < n / 2; k++) {
      const Root w(static_cast<int64_t>(k), static_cast<int64_t>(n), inverse);
      const Number t = turned(odd[k], w.cosine, w.sine);
      y[k] = even[k] + t;
      y[k + n / 2] = even[k] - t;
    }
    return y;
  }
  y[0] = x[0];
  for (size_t i = 1; i < n; i++) y[0] = y[0] + x[i];
  for (size_t k = 1; k <= n / 2; k++) {
    Number along = x[0], across{};
    for (size_t i = 1; i <= n / 2; i++) {
      const Root w(static_cast<int64_t>(i * k % n), static_cast<int64_t>(n), inverse);
      along = along + turned(x[i] + x[n - i], w.cosine, 0);
      across = across + turned(x[i] - x[n - i], w.sine, 0);
    }
    const Number quarter = turned(across, 0, 1);
    y[k] = along + quarter;
    y[n - k] = along - quarter;
  }
  return y;
}

// Factors of a length, large powers of two first; empty where one is too large for a pass.
std::vector<int> factors_of(int length) {
  std::vector<int> factors;
  for (const int f : {8, 4, 2, 3, 5, 7, 11, 13}) {
    for (; length % f == 0; length /= f) factors.push_back(f);
  }
  return length == 1 ? factors : std::vector<int>();
}

// Of roots of unity, by their steps.
struct Table {
  Buffer<double> cosine, sine;
  Table(int length, bool inverse) : cosine(length), sine(length) {
    for (int i = 0; i < length; i++) {
      const Root w(i, length, inverse);
      cosine(i) = w.cosine;
      sine(i) = w.sine;
    }
  }
};

// A number of each member of a batch; `row` is undefined where members are rows.
using Source = std::function<Complex(const Expr &member, const Expr &place, const Expr &row)>;

Expr defined(const Expr &e) { return e.defined() ? e : Expr(0.0); }

// The transforms of all members: passes(member, k, place, earlier k.., row), each of which takes
// off one factor of the length.
//
//   pass(k, place) = root^(k place) sum over j of before(j rest + place) root_of_factor^(j k)
class Passes {
 public:
  Passes(Source x, int length, bool inverse, bool rows) : rows_(rows) {
    Reader read = [x](const Expr &member, const Expr &place, const std::vector<Expr> &,
                      const Expr &row) { return x(member, place, row); };
    for (const int factor : factors_of(length)) {
      read = pass(read, factor, length, inverse);
      length /= factor;
    }
    read_ = read;
  }

  Complex result(const Expr &member, const Expr &k, const Expr &row) const {
    std::vector<Expr> digits;
    Expr rest = k;
    for (size_t i = 0; i < factors.size(); i++) {
      const bool last = i + 1 == factors.size();
      digits.push_back(last ? rest : rest % factors[i]);
      rest = rest / factors[i];
    }
    return read_(member, 0, digits, row);
  }

  std::vector<Func> funcs;
  std::vector<int> factors;

 private:
  using Reader =
      std::function<Complex(const Expr &, const Expr &, const std::vector<Expr> &, const Expr &)>;

  Reader pass(const Reader &before, int factor, int length, bool inverse) {
    const int rest = length / factor;
    const Var member("member"), k("k"), place("place"), row("row");
    std::vector<Var> digits;
    for (size_t i = 0; i < factors.size(); i++) digits.emplace_back("k" + std::to_string(i));
    const std::vector<Expr> known(digits.begin(), digits.end());
    std::vector<Complex> x;
    for (int j = 0; j < factor; j++)
      x.push_back(before(member, j * rest + place, known, rows_ ? Expr(row) : Expr()));
    std::vector<Complex> y = small_transform(x, inverse);
    const Table table(length, inverse);
    Expr re = defined(y[0].re), im = defined(y[0].im);
    for (int i = 1; i < factor; i++) {
      Complex one = y[static_cast<size_t>(i)];
      if (rest > 1) one = turned(one, table.cosine(place * i), table.sine(place * i));
      re = select(k == i, defined(one.re), re);
      im = select(k == i, defined(one.im), im);
    }
    Func f("pass");
    std::vector<Var> args{member, k, place};
    args.insert(args.end(), digits.begin(), digits.end());
    if (rows_) args.push_back(row);
    f(args) = Tuple(re, im);
    f.bound(k, 0, factor).bound(place, 0, rest);
    for (size_t i = 0; i < digits.size(); i++) f.bound(digits[i], 0, factors[i]);
    funcs.push_back(f);
    factors.push_back(factor);
    return [f, rows = rows_](const Expr &m, const Expr &p, const std::vector<Expr> &d,
                             const Expr &r) -> Complex {
      std::vector<Expr> at{m, d.back(), p};
      at.insert(at.end(), d.begin(), d.end() - 1);
      if (rows) at.push_back(r);
      return {f(at)[0], f(at)[1]};
    };
  }

  bool rows_;
  Reader read_;
};

// spectrum(part, k, row)
Tensor spectrum_of(const Func &f, const Expr &rows, int results, std::vector<Func> parts,
                   std::vector<int> factors, bool blocks, std::vector<Stage> stages) {
  Stage own;
  own.kind = Stage::Fourier;
  own.extents = {Expr(2), Expr(results), rows};
  own.parts = std::move(parts);
  own.tile = std::move(factors);
  own.groups = blocks ? 1 : 0;
  return tensor_of(f, Float(64), {rows, Expr(results), Expr(2)}, own, std::move(stages));
}

// Rows beside each other in vectors.
Tensor transform_many(const Tensor &re, const Tensor &im, int results, bool inverse) {
  const Expr last = re.size(0) - 1;
  const auto x = [&](const Expr &member, const Expr &place, const Expr &) -> Complex {
    // Vectors go beyond the last row.
    const Index at{min(member, last), place};
    return {re(at), im.defined() ? im(at) : Expr()};
  };
  Passes passes(x, static_cast<int>(*constant(re.size(1))), inverse, false);
  Func spectrum("spectrum");
  Var part("part"), k("k"), row("row");
  const Complex y = passes.result(row, k, Expr());
  spectrum(part, k, row) = select(part == 0, y.re, y.im);
  std::vector<Tensor> operands{re};
  if (im.defined()) operands.push_back(im);
  return spectrum_of(spectrum, re.size(0), results, passes.funcs, passes.factors, true,
                     merged_stages(operands));
}

// Of length columns * lines: columns are transformed, turned and transformed as lines.
//
//   n = line * columns + column; k = a + lines * b
Tensor transform_few(const Tensor &re, const Tensor &im, int results, bool inverse) {
  const int length = static_cast<int>(*constant(re.size(1)));
  int lines = 1;
  for (const int f : factors_of(length)) {
    if (static_cast<int64_t>(lines) * lines * f <= 2 * int64_t{length}) lines *= f;
  }
  const int columns = length / lines;
  const auto x = [&](const Expr &column, const Expr &line, const Expr &row) -> Complex {
    const Index at{row, line * columns + column};
    return {re(at), im.defined() ? im(at) : Expr()};
  };
  Passes first(x, lines, inverse, true);
  Func twisted("twisted");
  Var a("a"), column("column"), row("row");
  const Table table(length, inverse);
  const Complex y = first.result(column, a, row);
  const Complex t = turned(y, table.cosine(a * column), table.sine(a * column));
  twisted(a, column, row) = Tuple(t.re, t.im);
  twisted.bound(a, 0, lines).bound(column, 0, columns);
  const auto z = [&](const Expr &member, const Expr &place, const Expr &of_row) -> Complex {
    const FuncRef at = twisted(member, place, of_row);
    return {at[0], at[1]};
  };
  Passes second(z, columns, inverse, true);
  Func spectrum("spectrum");
  Var part("part"), k("k");
  const Complex w = second.result(k % lines, k / lines, row);
  spectrum(part, k, row) = select(part == 0, w.re, w.im);
  std::vector<Func> parts = first.funcs;
  std::vector<int> factors = first.factors;
  parts.push_back(twisted);
  factors.push_back(0);
  parts.insert(parts.end(), second.funcs.begin(), second.funcs.end());
  factors.insert(factors.end(), second.factors.begin(), second.factors.end());
  std::vector<Tensor> operands{re};
  if (im.defined()) operands.push_back(im);
  return spectrum_of(spectrum, re.size(0), results, parts, factors, false, merged_stages(operands));
}

Tensor transform(const Tensor &re, const Tensor &im, int results, bool inverse, bool many_rows) {
  constexpr int kShort = 64;
  const int length = static_cast<int>(*constant(re.size(1)));
  return many_rows || length < kShort ? transform_many(re, im, results, inverse)
                                      : transform_few(re, im, results, inverse);
}

// Parts of known numbers, to be read at an index.
struct Known {
  Buffer<double> re, im;
  explicit Known(const Numbers &v)
      : re(static_cast<int>(v.size())), im(static_cast<int>(v.size())) {
    for (int i = 0; i < re.width(); i++) {
      re(i) = v[static_cast<size_t>(i)].real();
      im(i) = v[static_cast<size_t>(i)].imag();
    }
  }
  Complex times(const Complex &a, const Expr &at) const { return turned(a, re(at), im(at)); }
};

Tensor stored_part(const std::function<Expr(const Index &)> &value, const Index &shape,
                   const std::vector<Tensor> &operands) {
  return stored(Tensor(Float(64), shape, value, merged_stages(operands)), "part");
}

// n k = (n^2 + k^2 - (k - n)^2)/2: numbers times a chirp, convolved with the chirp, times it again.
Tensor transform_by_chirp(const Tensor &re, const Tensor &im, int results, bool inverse,
                          bool many_rows) {
  const int length = static_cast<int>(*constant(re.size(1)));
  int padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  Numbers chirp, filter(static_cast<size_t>(padded));
  for (int64_t n = 0; n < length; n++) {
    const Root w(n * n % (2 * int64_t{length}), 2 * int64_t{length}, inverse);
    chirp.emplace_back(w.cosine, w.sine);
    // The filter is as long as the padded numbers, for places of both signs.
    filter[static_cast<size_t>(n)] = filter[static_cast<size_t>((padded - n) % padded)] =
        std::conj(chirp.back());
  }
  filter = small_transform(filter, false);
  for (auto &v : filter) v /= padded;
  const Known of_chirp(chirp), of_filter(filter);
  const std::vector<Tensor> given =
      im.defined() ? std::vector<Tensor>{re, im} : std::vector<Tensor>{re};
  const Index whole{re.size(0), Expr(padded)};
  const auto in_front = [&](bool imaginary) {
    const auto value = [=](const Index &at) {
      const Expr n = min(at[1], length - 1);
      const Complex v = of_chirp.times({re({at[0], n}), im.defined() ? im({at[0], n}) : Expr()}, n);
      return select(at[1] < length, imaginary ? v.im : v.re, Expr(0.0));
    };
    return stored_part(value, whole, given);
  };
  const Tensor spectrum = transform(in_front(false), in_front(true), padded, false, many_rows);
  const auto filtered = [&](bool imaginary) {
    const auto value = [=](const Index &at) {
      const Complex v =
          of_filter.times({spectrum({at[0], at[1], 0}), spectrum({at[0], at[1], 1})}, at[1]);
      return imaginary ? v.im : v.re;
    };
    return stored_part(value, whole, {spectrum});
  };
  const Tensor convolved = transform(filtered(false), filtered(true), results, true, many_rows);
  return Tensor(
      Float(64), {re.size(0), Expr(results), Expr(2)},
      [=](const Index &at) {
        const Complex v =
            of_chirp.times({convolved({at[0], at[1], 0}), convolved({at[0], at[1], 1})}, at[1]);
        return select(at[2] == 0, v.re, v.im);
      },
      convolved.detached_stages());
}

}  // namespace

Tensor fourier_transform(const Tensor &re, const Tensor &im, int results, bool inverse,
                         bool many_rows) {
  const int length = static_cast<int>(*constant(re.size(1)));
  return length == 1 || !factors_of(length).empty()
             ? transform(re, im, results, inverse, many_rows)
             : transform_by_chirp(re, im, results, inverse, many_rows);
}

}  // namespace polyhalite::ops
