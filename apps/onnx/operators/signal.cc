// Windows of signal processing, and sums over named indices.
#include <algorithm>
#include <map>

#include "apps/onnx/operators.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

void infer_window(Inference &i) {
  const auto n = i.integers(0).at(0);
  i.result(0, static_cast<ElementType>(i.node().integer("output_datatype", 1)), {Dim(n)});
}

// a0 - a1 cos(2 pi k / n) + a2 cos(4 pi k / n), over n or, where it is symmetric, n - 1 steps.
std::vector<Tensor> lower_window(Lowering &l) {
  const std::string &op = l.node().op;
  const bool hann = op == "HannWindow", hamming = op == "HammingWindow";
  const double a0 = hann      ? 0.5
                    : hamming ? 25.0 / 46
                              : 0.42,
               a1 = hann      ? 0.5
                    : hamming ? 21.0 / 46
                              : 0.5;
  const double a2 = hann || hamming ? 0 : 0.08;
  const double n = static_cast<double>(l.integers(0).at(0));
  const double steps = l.node().integer("periodic", 1) ? n : n - 1;
  const Type type = l.result_type(0);
  return {Tensor(type, l.result_sizes(0), [=](const Index &at) {
    const Expr angle = cast<double>(at[0]) * Expr(2 * 3.14159265358979323846 / steps);
    return cast(type, Expr(a0) - Expr(a1) * cos(angle) + Expr(a2) * cos(Expr(2.0) * angle));
  })};
}

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
      i.require_equal(at->second, i.shape(k)[d], std::string("sizes of index ") + e.operands[k][d]);
    }
  }
  Shape shape;
  for (char c : e.result) {
    if (!sizes.count(c)) i.fail(std::string("the result has the index ") + c, "no operand has it");
    shape.push_back(sizes[c]);
  }
  i.result(0, i.type(0), shape);
}

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
            from.push_back(at[all.find(e.operands[k][d])]);
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

std::vector<Operator> signal_operators() {
  std::vector<Operator> list;
  for (const char *name : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    list.push_back({"", name, Operator::Other, infer_window, lower_window, {0}});
  }
  list.push_back({"", "Einsum", Operator::Other, infer_einsum, lower_einsum});
  return list;
}

}  // namespace polyhalite::onnx
