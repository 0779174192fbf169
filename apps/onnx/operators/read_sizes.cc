// ReadSizes: elements that decide about shapes become sizes while the program runs.
//
//   %sizes, %shape = ReadSizes(%v)     for v = [7, -2]:
//   %sizes is %v, known as [a - b, c - d];  %shape has the shape [7, 0, 0, 2, 0]
//
// An element is the difference of two sizes, since it may be below 0. The shape ends with a 0 so
// that it has no elements.
#include <algorithm>
#include <cstdint>

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

void infer_read_sizes(Inference &i) {
  const auto count = elements(i.shape(0)).constant();
  internal_check(count.has_value(), "an open number of elements is read as sizes");
  std::vector<Dim> sizes;
  Shape shape;
  for (int64_t k = 0; k < *count; k++) {
    const std::string number = std::to_string(k);
    shape.push_back(i.fresh_size(1, "above" + number));
    shape.push_back(i.fresh_size(1, "below" + number));
    sizes.push_back(shape[shape.size() - 2] - shape.back());
  }
  shape.emplace_back(0);
  i.result(0, i.type(0), i.shape(0));
  i.contents(0, sizes);
  i.result(1, ElementType::Bool, shape);
}

std::vector<Constant> compute_read_sizes(const Node &, const std::vector<Constant> &operands) {
  const Constant &v = operands[0];
  std::vector<int64_t> shape;
  for (int64_t k = 0; k < v.elements(); k++) {
    // Slices end at 2^63 - 1, as far as they can; no size is so large.
    const int64_t n = std::clamp<int64_t>(v.integer_at(k), -INT32_MAX, INT32_MAX);
    shape.push_back(std::max<int64_t>(n, 0));
    shape.push_back(std::max<int64_t>(-n, 0));
  }
  shape.push_back(0);
  return {v, Constant::of_bytes(ElementType::Bool, shape, {})};
}

}  // namespace

std::vector<Operator> read_sizes_operators() {
  return {{kInternalDomain,
           "ReadSizes",
           Operator::Host,
           infer_read_sizes,
           nullptr,
           {},
           compute_read_sizes}};
}

}  // namespace polyhalite::onnx
