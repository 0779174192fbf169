#include "apps/onnx/operators.h"
#include "apps/onnx/passes.h"

namespace polyhalite::onnx {

namespace {

// What a kernel takes longer for: one long row, or rows of which most are wanted. Kernels find a
// few by blocks, of types up to 32 bits.
bool sorts_long_rows(const Graph &g, const Node &n) {
  if (!n.is("TopK")) return false;
  constexpr int64_t kLong = 256, kFewWide = 8, kFew = 32;
  const Shape &shape = *g.value(n.inputs[0]).shape;
  int64_t axis = n.integer("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  const auto length = shape[static_cast<size_t>(axis)].constant();
  const ValueId result = n.outputs[n.outputs[0] == kNone ? 1 : 0];
  const auto k = (*g.value(result).shape)[static_cast<size_t>(axis)].constant();
  const int bits = language_type(g.value(n.inputs[0]).type)->bits();
  const int64_t few = bits > 32 ? kFewWide : kFew;
  if (!length || !k || *length < kLong || *k <= few) return false;
  Dim rows = 1;
  for (size_t d = 0; d < shape.size(); d++) {
    if (d != static_cast<size_t>(axis)) rows = rows * shape[d];
  }
  return rows.is(1) || 8 * *k >= *length;
}

}  // namespace

Graph sort_between_kernels(Graph g) {
  for (Node &n : g.nodes) {
    if (sorts_long_rows(g, n)) n.domain = kInternalDomain;
  }
  return g;
}

}  // namespace polyhalite::onnx
