#include "apps/onnx/rearrange_constant.h"

#include <cstring>

#include "polyhalite/error.h"

namespace polyhalite::onnx {

namespace {

size_t row_bytes(const Constant &c) {
  size_t bytes = static_cast<size_t>(c.element_bytes());
  for (size_t d = 1; d < c.shape().size(); d++) bytes *= static_cast<size_t>(c.shape()[d]);
  return bytes;
}

}  // namespace

Constant move_axis(const Constant &c, size_t from, size_t to) {
  if (from == to && !c.is_splat() && c.is_aligned()) return c;
  std::vector<int> order;
  for (size_t d = 0; d < c.shape().size(); d++) {
    if (d != from) order.push_back(static_cast<int>(d));
  }
  order.insert(order.begin() + static_cast<ptrdiff_t>(to), static_cast<int>(from));
  std::vector<int64_t> shape;
  for (int d : order) shape.push_back(c.shape()[static_cast<size_t>(d)]);
  return Constant::of_bytes(c.type(), shape, c.packed(order));
}

Constant row(const Constant &c, int64_t i) {
  const std::vector<int64_t> shape(c.shape().begin() + 1, c.shape().end());
  return Constant(c.type(), shape, nullptr, c.data() + static_cast<size_t>(i) * row_bytes(c));
}

Constant pick_rows(const Constant &c, const std::vector<int64_t> &rows) {
  const size_t size = row_bytes(c);
  std::vector<uint8_t> bytes(rows.size() * size);
  for (size_t i = 0; i < rows.size() && size > 0; i++)
    std::memcpy(bytes.data() + i * size, c.data() + static_cast<size_t>(rows[i]) * size, size);
  std::vector<int64_t> shape = c.shape();
  shape[0] = static_cast<int64_t>(rows.size());
  return Constant::of_bytes(c.type(), shape, std::move(bytes));
}

size_t positive_axis(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

std::string shape_text(const std::vector<int64_t> &shape) {
  std::string s;
  for (int64_t d : shape) s += (s.empty() ? "" : ", ") + std::to_string(d);
  return "[" + s + "]";
}

Constant of_rank(const Constant &c, size_t rank) {
  if (c.shape().size() == rank || c.elements() != 1) return c;
  return c.reshaped(std::vector<int64_t>(rank, 1));
}

}  // namespace polyhalite::onnx
