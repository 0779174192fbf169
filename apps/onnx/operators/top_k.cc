// TopK: a kernel of a known number of results, else partial sorting between kernels.
#include <cstring>

#include "apps/onnx/element_order.h"
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

// For each row of the last dimension, positions of its k best; of equal ones the first.
template <typename Key>
std::vector<int64_t> best_of_rows(const std::vector<Key> &keys, int64_t length, int64_t k) {
  std::vector<int64_t> positions;
  for (size_t row = 0; row < keys.size(); row += static_cast<size_t>(length)) {
    const std::vector<int64_t> best = first_in_order(&keys[row], length, k);
    positions.insert(positions.end(), best.begin(), best.end());
  }
  return positions;
}

std::vector<Constant> compute_top_k(const Node &n, const std::vector<Constant> &operands) {
  const size_t rank = operands[0].shape().size();
  const size_t axis = positive_axis(n.integer("axis", -1), rank);
  const Constant x = move_axis(operands[0], axis, rank - 1);
  const int64_t length = x.shape().back(), k = operands[1].integer_at(0);
  if (k < 0 || k > length) {
    throw RuntimeError({n.describe() + ": k is " + std::to_string(k),
                        "the axis has " + std::to_string(length) + " elements",
                        "give a smaller k",
                        {}});
  }
  std::vector<int64_t> shape = x.shape();
  shape.back() = k;
  const bool falls = n.integer("largest", 1) != 0;
  const std::vector<int64_t> positions = fits_short_keys(x.type())
                                             ? best_of_rows(short_order_keys(x, falls), length, k)
                                             : best_of_rows(order_keys(x, falls), length, k);
  const auto width = static_cast<size_t>(x.element_bytes());
  std::vector<uint8_t> values(positions.size() * width);
  for (size_t i = 0; i < positions.size(); i++) {
    const int64_t row = static_cast<int64_t>(i) / k;
    std::memcpy(&values[i * width], x.at(row * length + positions[i]), width);
  }
  return {move_axis(Constant::of_bytes(x.type(), shape, std::move(values)), rank - 1, axis),
          move_axis(Constant::integers(positions).reshaped(shape), rank - 1, axis)};
}

void infer_top_k(Inference &i) {
  const auto a = static_cast<size_t>(i.axis(i.node().integer("axis", -1), i.rank(0)));
  const auto given = i.known_sizes(1);
  // Of an open number of elements, too: a kernel's tree is not known then.
  const auto n = i.shape(0)[a].constant();
  if (!given || !n || (given->size() == 1 && !i.follows_from_inputs((*given)[0]))) {
    i.become("TopK");
    infer_found_top_k(i);
    return;
  }
  const int64_t k = i.integers(1).at(0);
  if (k < 0 || k > *n)
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
