#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "apps/onnx/halves.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"
#include "polyhalite/param.h"

namespace polyhalite::onnx {

namespace {

// Halves are widened as they are laid out.
ElementType laid_out_type(ElementType t) {
  return t == ElementType::Float16 ? ElementType::Float32 : t;
}

// Elements as the strips' width and their own places say: those beyond the last result are 0.
class Strips {
 public:
  Strips(const Constant &w, std::vector<int64_t> sizes)
      : halves_(w.type() == ElementType::Float16),
        type_(laid_out_type(w.type())),
        shape_(std::move(sizes)),
        element_(halves_ ? sizeof(float) : static_cast<size_t>(w.element_bytes())) {
    int64_t elements = 1;
    for (const int64_t n : shape_) elements *= n;
    bytes_ = weight_memory(static_cast<size_t>(elements) * element_);
  }
  /// Elements side by side.
  void put(int64_t index, const uint8_t *from, int64_t count) {
    uint8_t *to = bytes_.get() + static_cast<size_t>(index) * element_;
    if (halves_) return widen(reinterpret_cast<float *>(to), from, count);
    std::memcpy(to, from, static_cast<size_t>(count) * element_);
  }
  Constant constant() const { return Constant(type_, shape_, bytes_, bytes_.get()); }

 private:
  const bool halves_;
  const ElementType type_;
  const std::vector<int64_t> shape_;
  const size_t element_;
  std::shared_ptr<uint8_t> bytes_;
};

int64_t strips_for(int64_t results, int64_t width) { return (results + width - 1) / width; }

// w[result, channel, ...] as [strip, ..., channel, result in the strip]; also a matrix that is held
// turned, whose cells are one.
Constant kernels_in_strips(const Constant &w, int64_t width) {
  const std::vector<int64_t> &from = w.shape();
  const int64_t results = from[0], channels = from[1];
  std::vector<int64_t> shape{strips_for(results, width)};
  shape.insert(shape.end(), from.begin() + 2, from.end());
  shape.push_back(channels);
  shape.push_back(width);
  int64_t cells = 1;
  for (size_t d = 2; d < from.size(); d++) cells *= from[d];
  Strips strips(w, shape);
  for (int64_t result = 0; result < results; result++) {
    for (int64_t channel = 0; channel < channels; channel++) {
      for (int64_t cell = 0; cell < cells; cell++) {
        const int64_t to =
            ((result / width * cells + cell) * channels + channel) * width + result % width;
        strips.put(to, w.at((result * channels + channel) * cells + cell), 1);
      }
    }
  }
  return strips.constant();
}

// b[k, column] as [strip, k, column in the strip].
Constant matrix_in_strips(const Constant &b, int64_t width) {
  const int64_t depth = b.shape()[0], columns = b.shape()[1];
  Strips strips(b, {strips_for(columns, width), depth, width});
  for (int64_t k = 0; k < depth; k++) {
    for (int64_t first = 0; first < columns; first += width) {
      const int64_t count = std::min(width, columns - first);
      strips.put((first / width * depth + k) * width, b.at(k * columns + first), count);
    }
  }
  return strips.constant();
}

bool takes_strips(const Node &n) {
  return (n.is("Conv") || (n.is("ConvTranspose") && n.integer("group", 1) == 1)) &&
         !n.has("strips_of");
}

std::vector<int> listed(const Node &n, const char *attribute, size_t size, int otherwise) {
  const std::vector<int64_t> list = n.integers(attribute, size, otherwise);
  return {list.begin(), list.end()};
}

// The spatial ones; of an open size any expression.
ops::Index sizes_of_result(const Graph &g, const Node &n) {
  const Shape &shape = *g.value(n.outputs[0]).shape;
  ops::Index sizes;
  for (size_t d = 2; d < shape.size(); d++) {
    const auto size = shape[d].constant();
    sizes.push_back(size ? Expr(static_cast<int>(*size)) : Expr(Param<int32_t>("size")));
  }
  return sizes;
}

// Of a transposed convolution that has some.
std::optional<ops::Phases> phases_of(const Graph &g, const Node &n, const Constant &w) {
  if (n.text("auto_pad", "NOTSET") != "NOTSET" || n.has("output_shape")) return std::nullopt;
  const size_t spatial = w.shape().size() - 2;
  ops::Window window;
  window.kernel.assign(w.shape().begin() + 2, w.shape().end());
  window.stride = listed(n, "strides", spatial, 1);
  window.dilation = listed(n, "dilations", spatial, 1);
  window.before = listed(n, "pads", 2 * spatial, 0);
  window.before.resize(spatial);
  window.shape = sizes_of_result(g, n);
  return ops::transposed_phases(window);
}

// Kernels of a transposed convolution's phases, [phase * results + result, channel, ...], of
// w[channel, result, ...].
Constant phase_kernels(const Constant &w, const std::vector<int> &strides,
                       const ops::Phases &phases) {
  const std::vector<int64_t> &from = w.shape();
  const int64_t channels = from[0], results = from[1];
  std::vector<int64_t> shape{phases.count * results, channels};
  shape.insert(shape.end(), phases.window.kernel.begin(), phases.window.kernel.end());
  int64_t cells = 1;
  for (const int k : phases.window.kernel) cells *= k;
  const auto element = static_cast<size_t>(w.element_bytes());
  std::vector<uint8_t> bytes(static_cast<size_t>(shape[0] * channels * cells) * element);
  int64_t to = 0;
  for (int64_t kernel = 0; kernel < shape[0]; kernel++) {
    for (int64_t channel = 0; channel < channels; channel++) {
      for (int64_t cell = 0; cell < cells; cell++, to++) {
        int64_t phase = kernel / results, rest = cell, place = 0, size = 1;
        bool exists = true;
        for (size_t d = strides.size(); d-- > 0;) {
          const int64_t n = phases.window.kernel[d];
          const int64_t at = (n - 1 - rest % n) * strides[d] + phase % strides[d];
          exists = exists && at < from[d + 2];
          place += at * size;
          size *= from[d + 2];
          rest /= n;
          phase /= strides[d];
        }
        if (!exists) continue;
        std::memcpy(bytes.data() + static_cast<size_t>(to) * element,
                    w.at((channel * results + kernel % results) * size + place), element);
      }
    }
  }
  return Constant::of_bytes(w.type(), shape, std::move(bytes));
}

// Are kernels read as they are by vectors along the image's rows?
bool has_few_results(const Graph &g, const Node &n, int64_t results) {
  if (!n.is("Conv")) return false;
  ops::Window window;
  window.shape = sizes_of_result(g, n);
  window.stride = listed(n, "strides", window.shape.size(), 1);
  return ops::few_results(static_cast<int>(results), window);
}

bool is_turned(const Node &n) { return n.is("Gemm") && n.integer("transB", 0) != 0; }

// Rows of a product whose right operand is a matrix that fills strips, of an open number of rows
// several; 0: it is none.
int64_t rows_of_product(const Graph &g, const Node &n) {
  if (!n.is("MatMul") && !(n.is("Gemm") && n.integer("transA", 0) == 0)) return 0;
  const auto &a = g.value(n.inputs[0]).shape, &b = g.value(n.inputs[1]).shape;
  if (!a || !b || b->size() != 2 || a->size() < 2 || !a->back().constant()) return 0;
  constexpr int64_t kLeastColumns = 64, kSeveral = 2;
  const auto columns = (*b)[is_turned(n) ? 0 : 1].constant();
  if (columns.value_or(0) < kLeastColumns) return 0;
  return elements(Shape(a->begin(), a->end() - 1)).constant().value_or(kSeveral);
}

}  // namespace

Graph strip_kernels(Graph g, const Target &target) {
  // By kernels, strides of transposed convolutions, groups, whether they are turned, or for one
  // row.
  std::map<std::tuple<ValueId, std::vector<int>, int64_t, bool, bool>, ValueId> done;
  for (Node &n : g.nodes) {
    const bool convolution = takes_strips(n);
    const int64_t rows = convolution ? 0 : rows_of_product(g, n);
    if (!convolution && rows == 0) continue;
    const ValueId w = n.inputs[1];
    const Value value = g.value(w);
    // One row reads halves from memory.
    const bool computed = value.type == ElementType::Float32 ||
                          value.type == ElementType::Float64 ||
                          (value.type == ElementType::Float16 && rows > 1 &&
                           g.value(n.inputs[0]).type == ElementType::Float32);
    if (!computed || !value.constant || value.constant->elements() == 0 ||
        value.constant->is_splat() || (convolution && !g.value(n.outputs[0]).shape))
      continue;
    const bool transposed = n.is("ConvTranspose");
    const auto phases = transposed ? phases_of(g, n, *value.constant) : std::nullopt;
    if (transposed && !phases) continue;
    const bool turned = is_turned(n);
    const int64_t results = value.constant->shape()[n.is("Conv") || turned ? 0 : 1];
    if (has_few_results(g, n, results)) continue;
    const int64_t groups = convolution ? n.integer("group", 1) : 1;
    // Each group has whole strips.
    const auto width_of = [&](int64_t count) {
      return ops::strip_width(static_cast<int>(count), *language_type(laid_out_type(value.type)),
                              target, rows == 1);
    };
    if (groups > 1 && results / groups % width_of(results / groups) != 0) continue;
    const std::vector<int> strides =
        transposed ? listed(n, "strides", value.constant->shape().size() - 2, 1)
                   : std::vector<int>();
    const auto key = std::make_tuple(w, strides, groups, turned, rows == 1);
    auto at = done.find(key);
    if (at == done.end()) {
      const Constant kernels =
          transposed ? phase_kernels(*value.constant, strides, *phases) : *value.constant;
      const int64_t all = transposed ? phases->count * results : results;
      const bool by_phase = transposed && phases->differ && results % width_of(results) == 0;
      const int width = width_of(by_phase ? results : all / groups);
      const ValueId strips = g.add_constant(
          value.name + ".strips", convolution || turned ? kernels_in_strips(kernels, width)
                                                        : matrix_in_strips(kernels, width));
      at = done.emplace(key, strips).first;
    }
    if (convolution && !n.has("kernel_shape")) {
      const std::vector<int64_t> &shape = value.constant->shape();
      n.attributes["kernel_shape"] = std::vector<int64_t>(shape.begin() + 2, shape.end());
    }
    n.inputs[1] = at->second;
    n.attributes["strips_of"] = results;
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
