// TopK: a kernel of a known number of results, else partial sorting between kernels.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "apps/onnx/operators.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

// The number of results follows from elements: one program serves all.
void infer_found_top_k(Inference &i) {
  const auto a = static_cast<size_t>(i.axis(i.node().integer("axis", -1), i.rank(0)));
  const auto k = i.known_sizes(1);
  Shape shape = i.shape(0);
  shape[a] = k && k->size() == 1 ? (*k)[0] : i.fresh_size(0, "k");
  i.result(0, i.type(0), shape);
  i.result(1, ElementType::Int64, shape);
}

// Positions of the k best of a row's elements; of equal ones the first, and what is no number last.
std::vector<int64_t> best_of(const Constant &row, int64_t k, bool largest) {
  std::vector<double> keys;
  const bool wide = row.type() == ElementType::Int64 || row.type() == ElementType::UInt64;
  std::vector<int64_t> whole;
  for (int64_t i = 0; i < row.elements(); i++) {
    if (wide) {
      whole.push_back(row.integer_at(i));
      continue;
    }
    const double v = row.number(i);
    keys.push_back(std::isnan(v) ? HUGE_VAL : largest ? -v : v);
  }
  const auto precedes = [&](int64_t p, int64_t q) {
    const auto a = static_cast<size_t>(p), b = static_cast<size_t>(q);
    if (!wide) return keys[a] != keys[b] ? keys[a] < keys[b] : p < q;
    if (whole[a] == whole[b]) return p < q;
    const bool less = row.type() == ElementType::UInt64
                          ? static_cast<uint64_t>(whole[a]) < static_cast<uint64_t>(whole[b])
                          : whole[a] < whole[b];
    return less != largest;
  };
  std::vector<int64_t> order(static_cast<size_t>(row.elements()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::partial_sort(order.begin(), order.begin() + k, order.end(), precedes);
  order.resize(static_cast<size_t>(k));
  return order;
}

std::vector<Constant> compute_top_k(const Node &n, const std::vector<Constant> &operands) {
  const size_t rank = operands[0].shape().size();
  const size_t axis = positive_axis(n.integer("axis", -1), rank);
  Constant x = move_axis(operands[0], axis, rank - 1);
  if (x.is_splat()) x = Constant::of_bytes(x.type(), x.shape(), x.packed());
  const int64_t length = x.shape().back(), k = operands[1].integer_at(0);
  if (k < 0 || k > length) {
    throw RuntimeError({n.describe() + ": k is " + std::to_string(k),
                        "the axis has " + std::to_string(length) + " elements",
                        "give a smaller k",
                        {}});
  }
  std::vector<int64_t> shape = x.shape();
  shape.back() = k;
  const int64_t rows = length == 0 ? 0 : x.elements() / length;
  const auto width = static_cast<size_t>(x.element_bytes());
  std::vector<uint8_t> values(static_cast<size_t>(rows * k) * width);
  std::vector<int64_t> positions;
  uint8_t *to = values.data();
  for (int64_t r = 0; r < rows; r++) {
    const Constant row(x.type(), {length}, nullptr, x.at(r * length));
    for (const int64_t at : best_of(row, k, n.integer("largest", 1) != 0)) {
      std::memcpy(to, row.at(at), width);
      to += width;
      positions.push_back(at);
    }
  }
  return {move_axis(Constant::of_bytes(x.type(), shape, std::move(values)), rank - 1, axis),
          move_axis(Constant::integers(positions).reshaped(shape), rank - 1, axis)};
}

void infer_top_k(Inference &i) {
  const auto a = static_cast<size_t>(i.axis(i.node().integer("axis", -1), i.rank(0)));
  const auto given = i.known_sizes(1);
  if (!given || (given->size() == 1 && !i.follows_from_inputs((*given)[0]))) {
    i.become("TopK");
    infer_found_top_k(i);
    return;
  }
  const int64_t k = i.integers(1).at(0);
  const auto n = i.shape(0)[a].constant();
  if (k < 0 || (n && k > *n))
    i.fail("k is " + std::to_string(k), "the axis has " + i.shape(0)[a].to_string() + " elements");
  Shape shape = i.shape(0);
  shape[a] = k;
  i.result(0, i.type(0), shape);
  i.result(1, ElementType::Int64, shape);
}

std::vector<ops::Tensor> lower_top_k(Lowering &l) {
  const auto [values, positions] = ops::top_k(l.in(0), static_cast<int>(l.integers(1).at(0)),
                                              l.axis(l.node().integer("axis", -1), l.rank(0)),
                                              l.node().integer("largest", 1) != 0);
  return {values, positions};
}

}  // namespace

std::vector<Operator> top_k_operators() {
  return {
      {"", "TopK", Operator::Other, infer_top_k, lower_top_k, {1}},
      {kInternalDomain, "TopK", Operator::Host, infer_found_top_k, nullptr, {}, compute_top_k},
  };
}

}  // namespace polyhalite::onnx
