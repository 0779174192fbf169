#include <algorithm>

#include "apps/onnx/passes.h"
#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

namespace {

bool all_are(const std::vector<int64_t> &list, int64_t number) {
  return std::all_of(list.begin(), list.end(), [=](int64_t v) { return v == number; });
}

bool is_known(const Graph &g, const Node &n, size_t operand) {
  const auto &c = g.value(n.inputs[operand]).constant;
  return c && !c->is_splat() && c->elements() > 0;
}

// Does each kernel meet a single pixel, or the image as a whole once?
bool is_product(const Graph &g, const Node &n) {
  constexpr int64_t kLeastColumns = 64;
  const bool transposed = n.is("ConvTranspose");
  if (!(transposed || n.is("Conv")) || !is_known(g, n, 1) || (n.has_input(2) && !is_known(g, n, 2)))
    return false;
  const auto &image = g.value(n.inputs[0]).shape, &result = g.value(n.outputs[0]).shape;
  if (!image || !result) return false;
  const Constant &w = *g.value(n.inputs[1]).constant;
  const size_t spatial = w.shape().size() - 2;
  if (n.text("auto_pad", "NOTSET") != "NOTSET" || n.has("output_shape") ||
      n.integer("group", 1) != 1 || !all_are(n.integers("pads", 2 * spatial, 0), 0) ||
      !all_are(n.integers("dilations", spatial, 1), 1))
    return false;
  int64_t cells = 1;
  for (size_t d = 2; d < w.shape().size(); d++) {
    const Dim kernel(w.shape()[d]);
    if ((*image)[d] != (transposed ? Dim(1) : kernel) ||
        (*result)[d] != (transposed ? kernel : Dim(1)))
      return false;
    cells *= w.shape()[d];
  }
  return cells > 1 && (transposed ? w.shape()[1] * cells : w.shape()[0]) >= kLeastColumns;
}

void write_product(Graph *g, std::vector<Node> *nodes, const Node &n) {
  Writer w(g, nodes, n.name + ".");
  const Constant kernels = *g->value(n.inputs[1]).constant;
  const ElementType type = g->value(n.inputs[0]).type;
  const Shape result = *g->value(n.outputs[0]).shape;
  const bool transposed = n.is("ConvTranspose");
  const int64_t rows = kernels.shape()[0], columns = kernels.elements() / rows;
  const auto shaped = [&](ValueId v, Shape shape) {
    g->value(v).type = type;
    g->value(v).shape = std::move(shape);
    return v;
  };
  const ValueId matrix = g->add_constant(n.name + ".matrix", kernels.reshaped({rows, columns}));
  const int64_t depth = transposed ? rows : columns;
  const ValueId pixels =
      shaped(w.op("Reshape", {n.inputs[0], w.integers({0, depth})}), {result[0], Dim(depth)});
  const ValueId product =
      shaped(w.op("Gemm", {pixels, matrix}, {{"transB", int64_t{transposed ? 0 : 1}}}),
             {result[0], Dim(transposed ? columns : rows)});
  std::vector<int64_t> sizes{0}, channels(result.size() - 1, 1);
  for (size_t d = 1; d < result.size(); d++) sizes.push_back(*result[d].constant());
  ValueId y = shaped(w.op("Reshape", {product, w.integers(sizes)}), result);
  if (n.has_input(2)) {
    channels[0] = sizes[1];
    const Value bias = g->value(n.inputs[2]);
    y = w.op("Add",
             {y, g->add_constant(bias.name + ".channels", bias.constant->reshaped(channels))});
  }
  w.last().outputs = n.outputs;
}

}  // namespace

Graph pixel_products(Graph g) {
  std::vector<Node> before = std::move(g.nodes), after;
  g.nodes.clear();
  for (Node &n : before) {
    if (is_product(g, n)) {
      write_product(&g, &after, n);
    } else {
      after.push_back(std::move(n));
    }
  }
  g.nodes = std::move(after);
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
