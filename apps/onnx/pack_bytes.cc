#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "apps/onnx/byte_products.h"
#include "apps/onnx/passes.h"
#include "apps/onnx/weight_memory.h"
#include "polyhalite/ops.h"

namespace polyhalite::onnx {

namespace {

constexpr int64_t kDot = 4;  // terms of a dot product of bytes

// Weights as they are laid out: bytes, or numbers of 16 bits less their zero points.
class Weights {
 public:
  // `point`: null where it is 0, or stays an operand.
  Weights(const Constant &w, bool by_kernel, bool wide, const Constant *point)
      : w_(w),
        wide_(wide),
        results_(w.shape()[by_kernel ? 0 : 1]),
        of_result_(by_kernel ? w.elements() / results_ : 1),
        of_term_(by_kernel ? 1 : results_) {
    for (int64_t i = 0; point && i < point->elements(); i++)
      points_.push_back(static_cast<int>(point->integer_at(i)));
  }

  int64_t bytes() const { return wide_ ? 2 : 1; }
  ElementType type() const { return wide_ ? ElementType::Int16 : w_.type(); }
  int64_t results() const { return results_; }
  int64_t terms() const { return w_.elements() / results_; }

  void write(uint8_t *to, int64_t result, int64_t term) const {
    const int64_t place = result * of_result_ + term * of_term_;
    if (!wide_) {
      *to = *w_.at(place);
      return;
    }
    const auto of = static_cast<size_t>(points_.size() > 1 ? result : 0);
    const int point = points_.empty() ? 0 : points_[of];
    const auto number = static_cast<int16_t>(w_.integer_at(place) - point);
    std::memcpy(to, &number, sizeof number);
  }

 private:
  const Constant &w_;
  const bool wide_;
  const int64_t results_, of_result_, of_term_;
  std::vector<int> points_;
};

// A matrix b[k, column], or the kernels w[column, k] of one cell, as ops::dot_strips() says; zeros
// fill the last dot product.
Constant packed_matrix(const Weights &w, const ops::DotStrips &strips) {
  const int64_t width = strips.columns, terms = strips.terms;
  const int64_t depth = w.terms(), blocks = (depth + terms - 1) / terms;
  const std::vector<int64_t> lies{w.results() / width, blocks, width, terms};
  const auto bytes = weight_memory(static_cast<size_t>(w.results() * blocks * terms * w.bytes()));
  uint8_t *to = bytes.get();
  for (int64_t first = 0; first < w.results(); first += width)
    for (int64_t k = 0; k < blocks * terms; k += terms)
      for (int64_t column = first; column < first + width; column++)
        for (int64_t term = k; term < k + terms; term++, to += w.bytes())
          if (term < depth) w.write(to, column, term);
  return Constant(w.type(), lies, bytes, bytes.get());
}

// Kernels w[result, channel, cell...] of such a shape in strips of `width` results as
// ops::packed_kernels() says.
Constant packed_kernels(const Weights &w, const std::vector<int64_t> &shape, int64_t width,
                        int64_t terms) {
  const int64_t channels = shape[1], cells = w.terms() / channels;
  const int64_t blocks = (channels + terms - 1) / terms;
  std::vector<int64_t> lies{w.results() / width};
  lies.insert(lies.end(), shape.begin() + 2, shape.end());
  lies.insert(lies.end(), {blocks, width, terms});
  const auto bytes =
      weight_memory(static_cast<size_t>(w.results() * cells * blocks * terms * w.bytes()));
  uint8_t *to = bytes.get();
  for (int64_t strip = 0; strip < w.results(); strip += width)
    for (int64_t cell = 0; cell < cells; cell++)
      for (int64_t first = 0; first < channels; first += terms)
        for (int64_t result = strip; result < strip + width; result++)
          for (int64_t c = first; c < first + terms; c++, to += w.bytes())
            if (c < channels) w.write(to, result, c * cells + cell);
  return Constant(w.type(), lies, bytes, bytes.get());
}

bool is_constant(const Shape &shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim &d) { return d.constant(); });
}

// Is what each window sees a row of a matrix: one pixel of many channels, or a patch of an image of
// few channels that is in no other window? Dot products of few channels have many zeros.
bool is_product(const Node &n, const Constant &w) {
  constexpr int64_t kManyChannels = 16, kFewChannels = 4;
  const std::vector<int64_t> cells(w.shape().begin() + 2, w.shape().end());
  const auto all = [&](const char *attribute, int64_t value) {
    const std::vector<int64_t> list = n.integers(attribute);
    return std::all_of(list.begin(), list.end(), [=](int64_t v) { return v == value; });
  };
  const bool one = std::all_of(cells.begin(), cells.end(), [](int64_t c) { return c == 1; });
  const bool has_depth =
      one ? w.shape()[1] >= kManyChannels
          : w.shape()[1] <= kFewChannels && w.elements() >= w.shape()[0] * kManyChannels;
  const bool apart = one ? all("strides", 1)
                         : n.integers("strides") == cells && all("dilations", 1) &&
                               n.text("auto_pad", "NOTSET") == "NOTSET";
  return has_depth && apart && n.integer("group", 1) == 1 && all("pads", 0);
}

// Do at least 16 rows of a matrix, or pixels, read each weight? Fewer do not pay for weights that
// are twice as large. Images of open sizes have as many, matrices may be one word.
bool are_shared(const Graph &g, const Node &n, bool convolution) {
  constexpr int64_t kMany = 16;
  const Value &y = g.value(n.outputs[0]);
  if (!y.shape || !is_constant(*y.shape)) return convolution;
  int64_t rows = 1;
  for (size_t d = 0; d < y.shape->size(); d++) {
    const bool of_results = convolution ? d == 1 : d + 1 == y.shape->size();
    if (!of_results) rows *= *(*y.shape)[d].constant();
  }
  return rows >= kMany;
}

// Packed weights, and the attribute that tells how they lie.
struct Packed {
  Constant weights;
  const char *attribute;
  int64_t columns;
  bool less_point;  // the weights' zero point is taken off
};

// Nothing where the node does not multiply bytes by dot products, or by columns that fill no strip.
std::optional<Packed> packed(const Graph &g, const Node &n, const ByteProduct &places,
                             const Target &target) {
  const Value &x = g.value(n.inputs[0]);
  const bool bytes = x.type == ElementType::Int8 || x.type == ElementType::UInt8;
  if (!bytes || !x.shape) return std::nullopt;
  const Constant &w = *g.value(n.inputs[places.weights]).constant;
  const Type left = *language_type(x.type), right = *language_type(w.type());
  const bool wide = ops::widens_bytes(left, right, target) && are_shared(g, n, places.convolution);
  const auto strips_of = [&](int64_t columns) {
    return ops::dot_strips(wide ? Int(16) : left, wide ? Int(16) : right, static_cast<int>(columns),
                           target);
  };
  if (places.convolution && !(*x.shape)[1].constant()) return std::nullopt;
  const Constant *point = wide ? known_point(g, n, places) : nullptr;
  const Weights weights(w, places.convolution, wide, point);
  if (!places.convolution || is_product(n, w)) {
    const auto strips = strips_of(weights.results());
    if (!strips || (!wide && weights.terms() % strips->terms != 0)) return std::nullopt;
    return Packed{packed_matrix(weights, *strips), "packed_columns", weights.results(),
                  point != nullptr};
  }
  const int64_t groups = n.integer("group", 1), results = w.shape()[0] / groups;
  const bool whole = groups == 1 || w.shape()[1] % kDot == 0;
  if (!whole || results < kDot || !strips_of(kDot)) return std::nullopt;
  const auto strips = strips_of(results);
  const int64_t width = strips ? strips->columns : results;
  return Packed{packed_kernels(weights, w.shape(), width, wide ? 2 : kDot), "packed_kernels",
                weights.results(), point != nullptr};
}

}  // namespace

Graph pack_bytes(Graph g, const Target &target) {
  // Weights of several nodes are packed once.
  std::map<std::tuple<ValueId, ValueId, std::string, ElementType, int64_t>, ValueId> done;
  for (Node &n : g.nodes) {
    const ByteProduct *places = byte_product(g, n);
    if (!places) continue;
    const ValueId w = n.inputs[places->weights];
    const auto lie = packed(g, n, *places, target);
    if (!lie) continue;
    const std::vector<int64_t> shape = g.value(w).constant->shape();
    const ValueId point = lie->less_point ? n.inputs[places->weights_point] : kNone;
    const std::tuple key(w, point, lie->attribute + std::to_string(places->convolution),
                         lie->weights.type(), lie->columns);
    auto at = done.find(key);
    if (at == done.end())
      at = done.emplace(key, g.add_constant(g.value(w).name + ".packed", lie->weights)).first;
    if (places->convolution && !n.has("kernel_shape"))
      n.attributes["kernel_shape"] = std::vector<int64_t>(shape.begin() + 2, shape.end());
    n.inputs[places->weights] = at->second;
    if (lie->less_point) n.inputs[places->weights_point] = kNone;
    // Steps from the zero point need no sums.
    if (lie->weights.type() == ElementType::Int16 && n.has_input(places->sums))
      n.inputs.resize(places->sums);
    n.attributes[lie->attribute] = lie->columns;
  }
  return remove_dead_nodes(std::move(g));
}

}  // namespace polyhalite::onnx
