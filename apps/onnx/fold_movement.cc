#include "apps/onnx/fold_movement.h"

#include <algorithm>

#include "apps/onnx/rearrange_constant.h"

namespace polyhalite::onnx {

namespace {

std::optional<std::vector<int64_t>> shape_of(const Graph &g, ValueId v) {
  return v == kNone || !g.value(v).shape ? std::nullopt : constant_shape(*g.value(v).shape);
}

Constant transposed(const Node &n, const Constant &x, const std::vector<int64_t> &shape) {
  std::vector<int> order;
  for (const int64_t d : n.integers("perm")) order.push_back(static_cast<int>(d));
  for (size_t d = x.shape().size(); order.size() < x.shape().size(); d--)
    order.push_back(static_cast<int>(d) - 1);
  return Constant::of_bytes(x.type(), shape, x.packed(order));
}

std::optional<std::vector<Constant>> split(const Graph &g, const Node &n, const Constant &x) {
  const size_t axis = positive_axis(n.integer("axis", 0), x.shape().size());
  std::vector<Constant> parts;
  int64_t begin = 0;
  for (const ValueId v : n.outputs) {
    const auto shape = shape_of(g, v);
    if (!shape) return std::nullopt;
    parts.push_back(x.part(axis, begin, (*shape)[axis]));
    begin += (*shape)[axis];
  }
  return parts;
}

// x[.., i, ..], without the dimension.
std::optional<Constant> place(const Node &n, const Constant &x, const Constant &index) {
  if (!index.shape().empty() || index.elements() != 1) return std::nullopt;
  const size_t axis = positive_axis(n.integer("axis", 0), x.shape().size());
  int64_t at = index.integer_at(0);
  std::vector<int64_t> shape = x.shape();
  if (at < 0) at += shape[axis];
  if (at < 0 || at >= shape[axis]) return std::nullopt;
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  return x.part(axis, at, 1).reshaped(shape);
}

}  // namespace

std::optional<std::vector<Constant>> moved_constants(const Graph &g, const Node &n) {
  if (!n.domain.empty() || !n.has_input(0) || !g.value(n.inputs[0]).constant) return std::nullopt;
  const Constant &x = *g.value(n.inputs[0]).constant;
  if (n.op == "Split") return split(g, n, x);
  if (n.op == "Transpose") {
    const auto shape = shape_of(g, n.outputs[0]);
    if (shape) return std::vector<Constant>{transposed(n, x, *shape)};
  }
  if (n.op == "Gather" && n.has_input(1) && g.value(n.inputs[1]).constant) {
    if (const auto one = place(n, x, *g.value(n.inputs[1]).constant))
      return std::vector<Constant>{*one};
  }
  return std::nullopt;
}

}  // namespace polyhalite::onnx
