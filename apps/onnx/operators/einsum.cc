// Sums over named indices.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

// The indices of an equation "ij,jk->ik": letters, with those that "..." stands for in front.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

template <typename Context>
Equation equation_of(const Context &c, const std::vector<size_t> &ranks) {
  std::string text;
  for (char ch : c.node().text("equation", "")) {
    if (ch != ' ') text += ch;
  }
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation e;
  size_t begin = 0, spread = 0;
  std::map<char, int> seen;
  for (size_t k = 0; k < ranks.size(); k++) {
    const size_t end = std::min(left.find(',', begin), left.size());
    std::string one = left.substr(std::min(begin, left.size()), end - std::min(begin, left.size()));
    begin = end + 1;
    for (char ch : one) {
      if (ch != '.') seen[ch]++;
    }
    if (const size_t dots = one.find("..."); dots != std::string::npos) {
      const size_t named = one.size() - 3;
      if (named > ranks[k])
        c.fail("operand " + std::to_string(k) + " has rank " + std::to_string(ranks[k]),
               "its indices are '" + one + "'");
      const size_t n = ranks[k] - named;
      spread = std::max(spread, n);
      std::string digits;
      for (size_t d = n; d-- > 0;) digits += static_cast<char>('0' + d);
      one.replace(dots, 3, digits);
    }
    if (one.size() != ranks[k])
      c.fail("operand " + std::to_string(k) + " has rank " + std::to_string(ranks[k]),
             "its indices are '" + one + "'");
    e.operands.push_back(one);
  }
  std::string dots;
  for (size_t d = spread; d-- > 0;) dots += static_cast<char>('0' + d);
  if (arrow == std::string::npos) {
    e.result = dots;
    for (const auto &[ch, n] : seen) {
      if (n == 1) e.result += ch;
    }
  } else {
    e.result = text.substr(arrow + 2);
    if (const size_t at = e.result.find("..."); at != std::string::npos)
      e.result.replace(at, 3, dots);
  }
  return e;
}

void infer_einsum(Inference &i) {
  std::vector<size_t> ranks;
  for (size_t k = 0; k < i.inputs(); k++) ranks.push_back(i.shape(k).size());
  const Equation e = equation_of(i, ranks);
  std::map<char, Dim> sizes;
  for (size_t k = 0; k < i.inputs(); k++) {
    for (size_t d = 0; d < ranks[k]; d++) {
      const auto [at, fresh] = sizes.emplace(e.operands[k][d], i.shape(k)[d]);
      if (fresh || i.shape(k)[d].is(1)) continue;
      if (at->second.is(1)) at->second = i.shape(k)[d];
      i.require_equal(at->second, i.shape(k)[d],
                      "sizes of index " + std::string(1, e.operands[k][d]));
    }
  }
  Shape shape;
  for (char c : e.result) {
    if (!sizes.count(c)) i.fail(std::string("the result has the index ") + c, "no operand has it");
    shape.push_back(sizes[c]);
  }
  i.result(0, i.type(0), shape);
}

// Where an index stands among letters.
int place_of(const std::string &letters, char c) { return static_cast<int>(letters.find(c)); }
bool has(const std::string &letters, char c) { return letters.find(c) != std::string::npos; }

// x, whose indices are `letters`, with a dimension for each of `joined`, which stand for several.
Tensor arranged(const Tensor &x, const std::string &letters,
                const std::vector<std::string> &joined) {
  std::vector<int> permutation;
  Index shape;
  for (const std::string &group : joined) {
    Expr size = 1;
    for (char c : group) {
      permutation.push_back(place_of(letters, c));
      size = size * x.size(permutation.back());
    }
    shape.push_back(size);
  }
  const Tensor turned = ops::transpose(x, permutation);
  return shape.size() == permutation.size() ? turned : ops::reshape(turned, shape);
}

// Indices of two operands by where they stand: the result is a product of matrices, one for each
// point of `both`.
//
//   bqhd,bkhd->bhqk  ->  [bh, q, d] x [bh, d, k]
struct ContractedIndices {
  std::string both, rows, columns, sums;

  // Undefined where an index stands twice, or in one operand alone and not in the result.
  static std::optional<ContractedIndices> of(const Equation &e) {
    if (e.operands.size() != 2) return std::nullopt;
    const std::string &a = e.operands[0], &b = e.operands[1];
    for (const std::string &letters : {a, b, e.result}) {
      if (std::set<char>(letters.begin(), letters.end()).size() != letters.size())
        return std::nullopt;
    }
    ContractedIndices p;
    for (char c : a) {
      if (!has(b, c) && !has(e.result, c)) return std::nullopt;
      if (!has(b, c)) p.rows += c;
      if (has(b, c) && !has(e.result, c)) p.sums += c;
    }
    for (char c : b) {
      if (!has(a, c) && !has(e.result, c)) return std::nullopt;
      if (!has(a, c)) p.columns += c;
    }
    for (char c : e.result) {
      if (has(a, c) && has(b, c)) p.both += c;
    }
    if (p.sums.empty() || (p.rows.empty() && p.columns.empty())) return std::nullopt;
    return p;
  }

  Tensor operator()(const Equation &e, const Tensor &a, const Tensor &b, const Index &shape) const {
    std::vector<std::string> left, right;
    for (char c : both) left.emplace_back(1, c);
    right = left;
    left.insert(left.end(), {rows, sums});
    right.insert(right.end(), {sums, columns});
    const Tensor product =
        ops::matmul(arranged(a, e.operands[0], left), arranged(b, e.operands[1], right));
    const std::string letters = both + rows + columns;
    Index sizes;
    std::vector<int> permutation;
    for (char c : letters) sizes.push_back(shape[static_cast<size_t>(place_of(e.result, c))]);
    for (char c : e.result) permutation.push_back(place_of(letters, c));
    return ops::transpose(ops::reshape(product, sizes), permutation);
  }
};

std::vector<Tensor> lower_einsum(Lowering &l) {
  std::vector<size_t> ranks;
  for (size_t k = 0; k < l.inputs(); k++) ranks.push_back(l.shape(k).size());
  const Equation e = equation_of(l, ranks);
  // All indices: the result's, then those that are summed over.
  std::string all = e.result;
  std::map<char, Dim> sizes;
  for (size_t k = 0; k < l.inputs(); k++) {
    for (size_t d = 0; d < ranks[k]; d++) {
      const char c = e.operands[k][d];
      const auto [at, fresh] = sizes.emplace(c, l.shape(k)[d]);
      if (!fresh && at->second.is(1)) at->second = l.shape(k)[d];
      if (all.find(c) == std::string::npos) all += c;
    }
  }
  Index shape;
  for (char c : all) shape.push_back(l.size(sizes[c]));
  const std::vector<Tensor> operands = l.all();
  // Where an operand has one element for all of an index.
  std::vector<std::vector<bool>> repeats(operands.size());
  bool repeat = false;
  for (size_t k = 0; k < operands.size(); k++) {
    for (size_t d = 0; d < ranks[k]; d++) {
      repeats[k].push_back(l.shape(k)[d].is(1) && !sizes[e.operands[k][d]].is(1));
      repeat = repeat || repeats[k].back();
    }
  }
  const auto product_of_matrices = ContractedIndices::of(e);
  if (product_of_matrices && !repeat)
    return {(*product_of_matrices)(e, operands[0], operands[1], shape)};
  const Type type = operands[0].type();
  std::vector<ops::Stage> stages;
  for (const Tensor &t : operands) {
    const auto own = t.detached_stages();
    stages.insert(stages.end(), own.begin(), own.end());
  }
  const Tensor product(
      type, shape,
      [=](const Index &at) {
        Expr value;
        for (size_t k = 0; k < operands.size(); k++) {
          Index from;
          for (size_t d = 0; d < e.operands[k].size(); d++) {
            from.push_back(repeats[k][d] ? Expr(0) : at[all.find(e.operands[k][d])]);
          }
          const Expr v = operands[k](from);
          value = value.defined() ? value * v : v;
        }
        return value;
      },
      stages);
  std::vector<int> summed;
  for (size_t d = e.result.size(); d < all.size(); d++) summed.push_back(static_cast<int>(d));
  if (summed.empty()) return {product};
  return {ops::reduce(product, ops::Reduction::Sum, summed, false)};
}

}  // namespace

std::vector<Operator> einsum_operators() {
  return {{"", "Einsum", Operator::Other, infer_einsum, lower_einsum}};
}

}  // namespace polyhalite::onnx
