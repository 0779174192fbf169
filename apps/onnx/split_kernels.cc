#include <algorithm>
#include <optional>

#include "apps/onnx/passes.h"
#include "apps/onnx/write_nodes.h"

namespace polyhalite::onnx {

namespace {

// Along one dimension: results for which a cell of the kernel is inside of the image, and the first
// pixel that it sees.
struct Seen {
  int64_t first, end, from;
};

struct Cells {
  int64_t image[2], results[2], kernel[2], dilation[2], before[2];

  Seen seen(size_t d, int64_t cell) const {
    const int64_t offset = cell * dilation[d] - before[d];
    const int64_t first = std::max<int64_t>(-offset, 0);
    return {first, std::max(first, std::min(results[d], image[d] - offset)), first + offset};
  }
  bool is_everywhere(int64_t row, int64_t column) const {
    const Seen r = seen(0, row), c = seen(1, column);
    return r.end - r.first == results[0] && c.end - c.first == results[1];
  }
  double part_seen() const {
    double part = 1;
    for (size_t d = 0; d < 2; d++) {
      double sum = 0;
      for (int64_t cell = 0; cell < kernel[d]; cell++) {
        const Seen s = seen(d, cell);
        sum += static_cast<double>(s.end - s.first);
      }
      part *= sum / static_cast<double>(kernel[d] * results[d]);
    }
    return part;
  }
};

// Of a convolution of known sizes and kernels whose cells are far apart, of which one sees pixels
// for all results.
std::optional<Cells> cells_far_apart(const Graph &g, const Node &n) {
  constexpr int64_t kMostCells = 9, kLeastChannels = 32;
  constexpr double kMostSeen = 0.8;
  if (!n.is("Conv") || n.text("auto_pad", "NOTSET") != "NOTSET" || n.integer("group", 1) != 1)
    return std::nullopt;
  const auto &w = g.value(n.inputs[1]).constant;
  const auto &image = g.value(n.inputs[0]).shape, &results = g.value(n.outputs[0]).shape;
  if (!w || w->type() != ElementType::Float32 || w->is_splat() || w->shape().size() != 4 ||
      !image || !results || w->shape()[1] < kLeastChannels || w->shape()[0] < kLeastChannels)
    return std::nullopt;
  const std::vector<int64_t> dilations = n.integers("dilations", 2, 1),
                             pads = n.integers("pads", 4, 0), strides = n.integers("strides", 2, 1);
  Cells c{};
  for (size_t d = 0; d < 2; d++) {
    const auto size = (*image)[d + 2].constant(), count = (*results)[d + 2].constant();
    if (!size || !count || strides[d] != 1) return std::nullopt;
    c.image[d] = *size;
    c.results[d] = *count;
    c.kernel[d] = w->shape()[d + 2];
    c.dilation[d] = dilations[d];
    c.before[d] = pads[d];
  }
  const int64_t cells = c.kernel[0] * c.kernel[1];
  if (cells < 2 || cells > kMostCells || c.part_seen() > kMostSeen) return std::nullopt;
  for (int64_t cell = 0; cell < cells; cell++) {
    if (c.is_everywhere(cell / c.kernel[1], cell % c.kernel[1])) return c;
  }
  return std::nullopt;
}

class Splitting {
 public:
  Splitting(Graph *g, std::vector<Node> *nodes, Node n, const Cells &cells)
      : g_(g), n_(std::move(n)), c_(cells), w_(g, nodes, n_.name + ".") {}

  void run() {
    const Constant kernels = *g_->value(n_.inputs[1]).constant;
    std::optional<ValueId> sum;
    std::vector<std::pair<int64_t, int64_t>> others;
    for (int64_t row = 0; row < c_.kernel[0]; row++) {
      for (int64_t column = 0; column < c_.kernel[1]; column++) {
        if (!sum && c_.is_everywhere(row, column)) {
          sum = product(kernels, row, column, n_.has_input(2) ? n_.inputs[2] : kNone);
        } else {
          others.emplace_back(row, column);
        }
      }
    }
    for (const auto &[row, column] : others) {
      const Seen r = c_.seen(0, row), c = c_.seen(1, column);
      if (r.first == r.end || c.first == c.end) continue;
      const ValueId part = product(kernels, row, column, kNone);
      const ValueId whole =
          shaped(w_.op("Pad", {part, w_.integers({0, 0, r.first, c.first, 0, 0,
                                                  c_.results[0] - r.end, c_.results[1] - c.end})}),
                 c_.results[0], c_.results[1], kernels.shape()[0]);
      sum = shaped(w_.op("Add", {*sum, whole}), c_.results[0], c_.results[1], kernels.shape()[0]);
    }
    w_.last().outputs = n_.outputs;
  }

 private:
  // Of one cell with the pixels that it sees.
  ValueId product(const Constant &kernels, int64_t row, int64_t column, ValueId bias) {
    const Seen r = c_.seen(0, row), c = c_.seen(1, column);
    const int64_t rows = r.end - r.first, columns = c.end - c.first;
    ValueId pixels = n_.inputs[0];
    if (rows != c_.image[0] || columns != c_.image[1]) {
      pixels = shaped(
          w_.op("Slice", {pixels, w_.integers({r.from, c.from}),
                          w_.integers({r.from + rows, c.from + columns}), w_.integers({2, 3})}),
          rows, columns, kernels.shape()[1]);
    }
    const Constant of_row = kernels.part(2, row, 1), cell = of_row.part(3, column, 1);
    const ValueId weights = g_->add_constant(n_.name + ".cell", cell);
    return shaped(
        w_.op("Conv", {pixels, weights, bias}, {{"kernel_shape", std::vector<int64_t>{1, 1}}}),
        rows, columns, kernels.shape()[0]);
  }

  ValueId shaped(ValueId v, int64_t rows, int64_t columns, int64_t channels) {
    const Value given = g_->value(n_.inputs[0]);
    g_->value(v).type = given.type;
    g_->value(v).shape = Shape{(*given.shape)[0], Dim(channels), Dim(rows), Dim(columns)};
    return v;
  }

  Graph *g_;
  const Node n_;
  const Cells &c_;
  Writer w_;
};

}  // namespace

Graph split_kernels(Graph g) {
  std::vector<Node> before = std::move(g.nodes), after;
  g.nodes.clear();
  for (Node &n : before) {
    if (const auto cells = cells_far_apart(g, n)) {
      Splitting(&g, &after, std::move(n), *cells).run();
    } else {
      after.push_back(std::move(n));
    }
  }
  g.nodes = std::move(after);
  return g;
}

}  // namespace polyhalite::onnx
