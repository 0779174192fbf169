// Concat: a kernel, but of many parts of open sizes copies between kernels.
#include <cstring>

#include "apps/onnx/operators.h"
#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

void infer_parts(Inference &i) {
  const int axis = i.axis(i.node().integer("axis", 0), i.rank(0));
  Shape shape = i.shape(0);
  const size_t a = static_cast<size_t>(axis);
  for (size_t k = 1; k < i.inputs(); k++) {
    if (i.rank(k) != i.rank(0))
      i.fail(
          "operands have ranks " + std::to_string(i.rank(0)) + " and " + std::to_string(i.rank(k)),
          "they have to be equal");
    for (size_t d = 0; d < shape.size(); d++) {
      if (d == a) {
        shape[d] = shape[d] + i.shape(k)[d];
      } else {
        i.require_equal(shape[d], i.shape(k)[d], "sizes of dimension " + std::to_string(d));
        shape[d] = plainer(shape[d], i.shape(k)[d]);
      }
    }
  }
  i.result(0, i.type(0), shape);
  if (shape.size() != 1) return;
  std::vector<Dim> list;
  for (size_t k = 0; k < i.inputs(); k++) {
    const auto known = i.known_sizes(k);
    if (!known) return;
    list.insert(list.end(), known->begin(), known->end());
  }
  i.contents(0, list);
}

// A kernel asks for each element in which part it is, and where parts begin is a sum of sizes.
void infer_concat(Inference &i) {
  constexpr size_t kMostOpen = 8;
  infer_parts(i);
  const auto a = static_cast<size_t>(i.axis(i.node().integer("axis", 0), i.rank(0)));
  size_t open = 0;
  for (size_t k = 0; k < i.inputs(); k++) open += i.shape(k)[a].constant() ? 0 : 1;
  if (open > kMostOpen) i.become("Concat");
}

std::vector<ops::Tensor> lower_concat(Lowering &l) {
  return {ops::concat(l.all(), l.axis(l.node().integer("axis", 0), l.rank(0)))};
}

std::vector<Constant> compute_concat(const Node &n, const std::vector<Constant> &operands) {
  std::vector<int64_t> shape = operands[0].shape();
  const size_t axis = positive_axis(n.integer("axis", 0), shape.size());
  shape[axis] = 0;
  for (const Constant &c : operands) {
    for (size_t d = 0; d < shape.size(); d++) {
      if (d == axis || c.shape()[d] == shape[d]) continue;
      throw RuntimeError({n.describe() + ": operands have the shapes " +
                              shape_text(operands[0].shape()) + " and " + shape_text(c.shape()),
                          "they are equal beside the axis",
                          "give operands of such shapes",
                          {}});
    }
    shape[axis] += c.shape()[axis];
  }
  // Operands are copied in rows of all that lies within the axis.
  int64_t rows = 1;
  for (size_t d = 0; d < axis; d++) rows *= shape[d];
  std::vector<uint8_t> bytes(Constant(operands[0].type(), shape, nullptr, nullptr).bytes());
  const size_t row = rows == 0 ? 0 : bytes.size() / static_cast<size_t>(rows);
  size_t at = 0;
  for (const Constant &c : operands) {
    const std::vector<uint8_t> part = c.packed();
    const size_t size = rows == 0 ? 0 : part.size() / static_cast<size_t>(rows);
    if (size == 0) continue;
    for (int64_t r = 0; r < rows; r++)
      std::memcpy(bytes.data() + static_cast<size_t>(r) * row + at,
                  part.data() + static_cast<size_t>(r) * size, size);
    at += size;
  }
  return {Constant::of_bytes(operands[0].type(), shape, std::move(bytes))};
}

}  // namespace

std::vector<Operator> concat_operators() {
  return {
      {"", "Concat", Operator::Other, infer_concat, lower_concat},
      {kInternalDomain, "Concat", Operator::Host, infer_parts, nullptr, {}, compute_concat},
  };
}

}  // namespace polyhalite::onnx
