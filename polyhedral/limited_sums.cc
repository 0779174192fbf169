#include "polyhedral/limited_sums.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "lang/ir/visit.h"
#include "lang/simplify/simplify.h"

namespace polyhalite {

namespace {

constexpr size_t kMostRows = 16;

void collect_comparisons(const Expr &e, std::vector<Expr> &list) {
  if (e->op == Op::And) {
    for (const Expr &a : e->args) collect_comparisons(a, list);
  } else if (is_comparison(e->op) && e->args[0].type() == Int(32)) {
    list.push_back(e);
  }
}

bool varies(const Expr &e) {
  bool found = false;
  for_each_node(e, [&](const Expr &n) {
    const VariableNode *v = as_variable(n);
    found = found || (v && (v->kind == VariableKind::Pure || v->kind == VariableKind::Reduction));
  });
  return found;
}

// sum <= limit
struct Row {
  Linear sum, limit;
};

bool same_terms(const Linear &a, const Linear &b) {
  return a.terms.size() == b.terms.size() &&
         std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), [](auto &p, auto &q) {
           return p.second == q.second && equal(p.first, q.first);
         });
}

// 2*x + 4*r <= n  ->  x + 2*r <= n/2
void divide_by_factor(Row &row) {
  int64_t factor = 0;
  for (const auto &[atom, c] : row.sum.terms) factor = std::gcd(factor, c);
  if (factor == 1) return;
  for (auto &[atom, c] : row.sum.terms) c /= factor;
  row.limit =
      to_linear(simplify(make_binary(Op::Div, to_expr(row.limit), make_int(Int(32), factor))));
}

// difference <= 0
std::optional<Row> row_of(const Linear &difference) {
  Row row;
  row.limit.constant = -difference.constant;
  for (const auto &[atom, c] : difference.terms) {
    if (reads_memory(atom)) return std::nullopt;
    if (varies(atom)) {
      row.sum.terms[atom] = c;
    } else {
      row.limit.terms[atom] = -c;
    }
  }
  if (row.sum.terms.empty()) return std::nullopt;
  divide_by_factor(row);
  return row;
}

std::vector<Row> rows_of(const Expr &comparison) {
  const Op op = comparison->op;
  std::vector<Row> rows;
  auto add = [&](const Expr &less, const Expr &more, bool strict) {
    Linear difference = to_linear(less);
    difference.add(to_linear(more), -1);
    if (strict) difference.constant++;
    if (auto row = row_of(difference)) rows.push_back(std::move(*row));
  };
  const Expr &a = comparison->args[0], &b = comparison->args[1];
  if (op == Op::Lt || op == Op::Le || op == Op::Eq) add(a, b, op == Op::Lt);
  if (op == Op::Gt || op == Op::Ge || op == Op::Eq) add(b, a, op == Op::Gt);
  return rows;
}

// Without a variable that both have; none where one is left, or the sum would be longer than both.
std::optional<Row> joined(const Row &a, const Row &b) {
  for (const auto &[atom, c] : a.sum.terms) {
    const auto other = b.sum.terms.find(atom);
    if (other == b.sum.terms.end() || (c > 0) == (other->second > 0)) continue;
    const int64_t all = std::lcm(c, other->second);
    Row row = a;
    row.sum.scale(all / std::abs(c)).add(b.sum, all / std::abs(other->second));
    row.limit.scale(all / std::abs(c)).add(b.limit, all / std::abs(other->second));
    const size_t terms = row.sum.terms.size();
    // Of single variables their ranges tell more, and no more than programs expect that count
    // iterations.
    if (terms < 2 || terms > std::max(a.sum.terms.size(), b.sum.terms.size())) continue;
    divide_by_factor(row);
    return row;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Expr> comparisons_in(const Expr &condition) {
  std::vector<Expr> list;
  if (condition.defined()) collect_comparisons(simplify(strip_hints(condition)), list);
  return list;
}

std::vector<LimitedSum> limited_sums(const Expr &condition) {
  const std::vector<Expr> comparisons = comparisons_in(condition);
  std::vector<Row> rows;
  std::vector<size_t> said;  // [comparison] the number of rows that it and those before it make
  for (const Expr &e : comparisons) {
    for (Row &row : rows_of(e)) rows.push_back(std::move(row));
    said.push_back(rows.size());
  }
  for (size_t i = 0; i < rows.size(); i++) {
    for (size_t j = 0; j < i && rows.size() < kMostRows; j++) {
      const auto both = joined(rows[i], rows[j]);
      if (both && std::none_of(rows.begin(), rows.end(),
                               [&](const Row &r) { return same_terms(r.sum, both->sum); })) {
        rows.push_back(*both);
      }
    }
  }
  std::vector<LimitedSum> sums;
  std::vector<size_t> limits;  // [row] the sum that it limits
  for (Row &row : rows) {
    const bool is_max = row.sum.terms.begin()->second > 0;
    if (!is_max) {
      row.sum.scale(-1);
      row.limit.scale(-1);
    }
    auto known = std::find_if(sums.begin(), sums.end(),
                              [&](const LimitedSum &s) { return same_terms(s.sum, row.sum); });
    if (known == sums.end()) known = sums.insert(sums.end(), {row.sum, {}, {}});
    limits.push_back(static_cast<size_t>(known - sums.begin()));
    const Expr limit = to_expr(row.limit);
    Expr &end = is_max ? known->within.max : known->within.min;
    end = !end.defined() ? limit : is_max ? smaller(end, limit) : larger(end, limit);
  }
  for (size_t s = 0; s < sums.size(); s++) {
    for (size_t c = 0, row = 0; c < comparisons.size(); row = said[c++]) {
      const auto first = limits.begin() + static_cast<std::ptrdiff_t>(row),
                 end = limits.begin() + static_cast<std::ptrdiff_t>(said[c]);
      if (std::find(first, end, s) != end) continue;
      Expr &others = sums[s].others;
      others = others.defined() ? make_binary(Op::And, others, comparisons[c]) : comparisons[c];
    }
  }
  std::stable_sort(sums.begin(), sums.end(), [](const LimitedSum &a, const LimitedSum &b) {
    return a.sum.terms.size() > b.sum.terms.size();
  });
  return sums;
}

}  // namespace polyhalite
