// Fourier transforms.
#include <algorithm>
#include <cmath>

#include "apps/onnx/operators.h"
#include "lang/ir/node.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

// Rows [row, n, part]: their transforms [row, k, part], or, where they are halves of the spectra of
// real signals, those [row, n].
Tensor transformed(const Tensor &rows, int parts, int length, int results, bool inverse, bool half,
                   bool many_rows) {
  const auto part = [&](int which) {
    return Tensor(
        rows.type(), {rows.size(0), Expr(length)},
        [=](const Index &at) {
          if (!half) return rows({at[0], at[1], which});
          // The other half is the first one's mirror.
          const Expr mirrored = 2 * at[1] > length;
          const Expr place = clamp(select(mirrored, length - at[1], at[1]), 0, length / 2);
          const Expr v = rows({at[0], place, which});
          return which == 0 ? v : select(mirrored, -v, v);
        },
        rows.detached_stages());
  };
  const Tensor y =
      ops::fourier_transform(part(0), parts == 2 ? part(1) : Tensor(), results, inverse, many_rows);
  const auto scaled = [inverse, length](const Expr &v) {
    return inverse ? v / Expr(static_cast<double>(length)) : v;
  };
  if (!half) return ops::elementwise(y, scaled);
  return Tensor(
      y.type(), {rows.size(0), Expr(results)},
      [y, scaled](const Index &at) { return scaled(y({at[0], at[1], 0})); }, y.detached_stages());
}

int whole_number(const Inference &i, const Dim &d, const std::string &what) {
  const int64_t n = i.number(d);
  if (n < 1 || n > (1 << 24)) i.fail(what + " is " + std::to_string(n), "it is a number from 1");
  return static_cast<int>(n);
}

// Where the axis stands: an attribute first, an operand later.
template <typename Context>
int64_t transform_axis(const Context &c) {
  if (c.has(2)) return c.integers(2).at(0);
  return c.node().integer("axis", c.node().version < 20 ? 1 : -2);
}

void infer_dft(Inference &i) {
  const int rank = i.rank(0);
  i.require_rank(0, 2, INT32_MAX);
  const Dim parts = i.shape(0).back();
  if (!(parts.is(1) || parts.is(2)))
    i.fail("the signal has the shape " + to_string(i.shape(0)),
           "its last dimension has 1 or 2 parts");
  const auto axis = static_cast<size_t>(i.axis(transform_axis(i), rank));
  if (axis + 1 == static_cast<size_t>(rank))
    i.fail("the axis is that of the parts", "it is another");
  Dim length = i.shape(0)[axis];
  if (i.has(1)) length = i.sizes(1).at(0);
  int results = whole_number(i, length, "the length of the transform");
  const bool inverse = i.node().integer("inverse", 0) != 0;
  const bool half = i.node().integer("onesided", 0) != 0;
  if (half && !inverse) results = results / 2 + 1;
  if (half && inverse) {
    if (!parts.is(2)) i.fail("half a spectrum has 1 part", "it has 2");
    // Of n places of half a spectrum; what was transformed had twice as many less two.
    if (!i.has(1)) results = 2 * (results - 1);
    if (results < 1) i.fail("the spectrum has one place", "it has more");
  }
  Shape shape = i.shape(0);
  shape[axis] = results;
  shape.back() = half && inverse ? 1 : 2;
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_dft(Lowering &l) {
  const Tensor x = l.in(0);
  const int rank = x.rank();
  const int axis = l.axis(transform_axis(l), rank);
  const size_t a = static_cast<size_t>(axis);
  const int parts = static_cast<int>(*l.shape(0).back().constant());
  const int results = static_cast<int>(*l.result_shape(0)[a].constant());
  const bool inverse = l.node().integer("inverse", 0) != 0;
  const bool half = inverse && l.node().integer("onesided", 0) != 0;
  const int length =
      half ? results
           : static_cast<int>(*(l.has(1) ? l.known_sizes(1).at(0) : l.shape(0)[a]).constant());
  const int places = half ? length / 2 + 1 : length;
  const Type type = x.type();
  // The signal as long as the transform, its axis beside the parts.
  Index whole = x.shape();
  whole[a] = places;
  const Tensor signal =
      ops::pad(x, Index(whole.size(), Expr(0)), whole, ops::PadMode::Constant, cast(type, Expr(0)));
  std::vector<int> order, back;
  for (int d = 0; d < rank; d++) {
    if (d != axis && d != rank - 1) order.push_back(d);
  }
  order.insert(order.end(), {axis, rank - 1});
  for (int d = 0; d < rank; d++)
    back.push_back(static_cast<int>(std::find(order.begin(), order.end(), d) - order.begin()));
  Expr others = 1;
  Index shape;
  for (int d : order) {
    if (d == axis || d == rank - 1) continue;
    others = others * x.shape()[static_cast<size_t>(d)];
    shape.push_back(x.shape()[static_cast<size_t>(d)]);
  }
  shape.insert(shape.end(), {Expr(results), Expr(half ? 1 : 2)});
  const Tensor rows = ops::reshape(ops::transpose(ops::convert(signal, Float(64)), order),
                                   {others, Expr(places), Expr(parts)});
  constexpr int64_t kMany = 8;
  int64_t count = 1;
  const bool many = is_const_int(others, &count) && count >= kMany;
  const Tensor y = transformed(rows, parts, length, results, inverse, half, many);
  return {ops::convert(ops::transpose(ops::reshape(y, shape), back), type)};
}

int frame_length(const Inference &i) {
  if (i.has(3)) return whole_number(i, i.sizes(3).at(0), "the length of a frame");
  if (i.has(2)) return whole_number(i, i.shape(2).at(0), "the length of a frame");
  i.fail("it has neither a window nor a frame length", "one of them tells how long frames are");
}

void infer_stft(Inference &i) {
  const Shape &x = i.shape(0);
  if (x.size() < 2 || x.size() > 3 || (x.size() == 3 && !x[2].is(1) && !x[2].is(2)))
    i.fail("the signal has the shape " + to_string(x), "it is [batch, length, 1 or 2 parts]");
  const int step = whole_number(i, i.sizes(1).at(0), "the step between frames");
  const int length = frame_length(i);
  const bool half = i.node().integer("onesided", 1) != 0;
  i.result(
      0, i.type(0),
      {x[0], Dim::floor_div(x[1] - length, step) + 1, Dim(half ? length / 2 + 1 : length), Dim(2)});
}
std::vector<Tensor> lower_stft(Lowering &l) {
  const Tensor x = l.in(0);
  const int parts = x.rank() == 3 ? static_cast<int>(*l.shape(0)[2].constant()) : 1;
  const int step = static_cast<int>(l.integers(1).at(0));
  const int length = static_cast<int>(l.has(3) ? l.integers(3).at(0) : *l.shape(2)[0].constant());
  const int results = static_cast<int>(*l.result_shape(0)[2].constant());
  const Index shape = l.result_sizes(0);
  const Tensor window = l.has(2) ? l.in(2) : Tensor();
  // Row `frame` of signal `at[0] / frames`.
  const Expr count = shape[1];
  const Tensor frames(
      Float(64), {shape[0] * count, Expr(length), Expr(parts)}, [=](const Index &at) {
        const Expr signal = at[0] / count, place = at[0] % count * step + at[1];
        const Expr v = x.rank() == 3 ? x({signal, place, at[2]}) : x({signal, place});
        return cast<double>(window.defined() ? v * window({at[1]}) : v);
      });
  const Tensor y = transformed(frames, parts, length, results, false, false, true);
  return {ops::convert(ops::reshape(y, shape), x.type())};
}

void infer_mel(Inference &i) {
  const auto type = static_cast<ElementType>(i.node().integer("output_datatype", 1));
  const auto bins = i.known_sizes(0), length = i.known_sizes(1);
  i.result(0, type,
           {length ? Dim::floor_div(length->at(0), 2) + 1 : i.fresh_size(0, "rows"),
            bins ? bins->at(0) : i.fresh_size(0, "columns")});
}
// Triangles that are equally wide on the mel scale, each from one edge to the next but one.
std::vector<Constant> compute_mel(const Node &n, const std::vector<Constant> &in) {
  const auto type = static_cast<ElementType>(n.integer("output_datatype", 1));
  const int64_t bins = in[0].integer_at(0), length = in[1].integer_at(0),
                rate = in[2].integer_at(0);
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(in[3].number(0)), high = mel(in[4].number(0));
  std::vector<int64_t> edges;
  for (int64_t k = 0; k < bins + 2; k++) {
    const double m = low + static_cast<double>(k) * (high - low) / static_cast<double>(bins + 2);
    const double hertz = 700 * (std::pow(10, m / 2595) - 1);
    edges.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  const int64_t rows = length / 2 + 1;
  std::vector<uint8_t> bytes;
  for (int64_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < static_cast<size_t>(bins); c++) {
      const int64_t from = edges[c], top = edges[c + 1], to = edges[c + 2];
      double v = 0;
      if (top == from && r == top) v = 1;
      if (r >= from && r <= top && top > from)
        v = static_cast<double>(r - from) / static_cast<double>(top - from);
      if (r >= top && r < to && to > top)
        v = static_cast<double>(to - r) / static_cast<double>(to - top);
      append_number(&bytes, type, v);
    }
  }
  return {Constant::of_bytes(type, {rows, bins}, std::move(bytes))};
}

}  // namespace

std::vector<Operator> fourier_operators() {
  const auto other = Operator::Other;
  return {
      {"", "DFT", other, infer_dft, lower_dft, {1, 2}},
      {"", "STFT", other, infer_stft, lower_stft, {1, 3}},
      {"", "MelWeightMatrix", Operator::Host, infer_mel, nullptr, {}, compute_mel},
  };
}

}  // namespace polyhalite::onnx
