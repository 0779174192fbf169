// Operators that sample images at places which other tensors hold, and that sum columns to images.
#include <algorithm>
#include <cmath>

#include "apps/onnx/operators.h"
#include "lang/ir/node.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

void infer_grid_sample(Inference &i) {
  const Shape &x = i.shape(0), &grid = i.shape(1);
  if (x.size() < 3 || grid.size() != x.size())
    i.fail("image and grid have ranks " + std::to_string(x.size()) + " and " +
               std::to_string(grid.size()),
           "they are equal and at least 3");
  Shape shape{x[0], x[1]};
  shape.insert(shape.end(), grid.begin() + 1, grid.end() - 1);
  i.result(0, i.type(0), shape);
}

Expr reflected(const Expr &x, const Expr &low, const Expr &high) {
  const Expr range = high - low;
  const Expr distance = abs(x - low);
  const Expr turns = floor(distance / range), rest = distance - turns * range;
  const Expr even = cast<int32_t>(turns) % 2 == 0;
  const Expr folded = select(even, low + rest, high - rest);
  return select(range > 0.0f, folded, low);
}

// What a pixel's taps along a dimension are, for all channels: their places, and their weights, of
// which those outside of an image of zeros are 0.
struct GridTaps {
  std::vector<Tensor> places, weights;
};

// For one dimension, of [image, ...].
GridTaps grid_taps(const Node &node, const Tensor &x, const Tensor &grid, size_t d) {
  const std::string mode = node.text("mode", "linear"),
                    padding = node.text("padding_mode", "zeros");
  const bool align = node.integer("align_corners", 0) != 0;
  const bool nearest = mode == "nearest", cubic = mode == "cubic" || mode == "bicubic";
  const int taps = nearest ? 1 : cubic ? 4 : 2;
  const size_t spatial = x.shape().size() - 2;
  const Expr size = x.shape()[d + 2], n = cast<float>(size);
  const Expr low = align ? Expr(0.0f) : Expr(-0.5f), high = align ? n - 1.0f : n - 0.5f;
  const Index shape(grid.shape().begin(), grid.shape().end() - 1);
  const auto held = [&](Type type, const char *name, const std::function<Expr(const Expr &)> &of) {
    const Tensor value(
        type, shape,
        [=](const Index &at) {
          Index from = at;
          from.emplace_back(static_cast<int>(spatial - 1 - d));  // the last coordinate comes first
          const Expr g = cast<float>(grid(from));
          Expr place = align ? (g + 1.0f) / 2.0f * (n - 1.0f) : ((g + 1.0f) * n - 1.0f) / 2.0f;
          if (nearest) place = round(place);
          // Of places between the outermost pixels' centres and the border, taps are clamped only;
          // of cubics all are, as PyTorch and onnxruntime have it.
          constexpr float kBeyondTaps = 8;
          if (padding == "border" && cubic) {
            place = clamp(place, -kBeyondTaps, n + kBeyondTaps);
          } else if (padding == "border") {
            place = select(place < low || place > high, clamp(place, 0.0f, n - 1.0f), place);
          }
          if (padding == "reflection") place = reflected(place, low, high);
          return of(place);
        },
        grid.detached_stages());
    return ops::stored(value, name);
  };
  const auto first = [=](const Expr &place) {
    return nearest ? cast<int32_t>(round(place)) : cast<int32_t>(floor(place)) - (cubic ? 1 : 0);
  };
  const auto weight = [=](const Expr &place, int tap) -> Expr {
    if (nearest) return 1.0f;
    const Expr r = place - floor(place);
    if (!cubic) return tap == 0 ? 1.0f - r : r;
    const float a = -0.75f;
    auto outer = [a](const Expr &t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
    auto inner = [a](const Expr &t) { return ((a + 2) * t - (a + 3)) * t * t + 1.0f; };
    return tap == 0   ? outer(r + 1.0f)
           : tap == 1 ? inner(r)
           : tap == 2 ? inner(1.0f - r)
                      : outer(2.0f - r);
  };
  GridTaps list;
  for (int tap = 0; tap < taps; tap++) {
    list.places.push_back(held(Int(32), "places", [=](const Expr &place) -> Expr {
      Expr p = first(place) + tap;
      if (padding == "reflection") p = cast<int32_t>(reflected(cast<float>(p), low, high));
      return clamp(p, 0, size - 1);
    }));
    list.weights.push_back(held(Float(32), "weights", [=](const Expr &place) -> Expr {
      const Expr p = first(place) + tap;
      return padding == "zeros" ? select(p >= 0 && p < size, weight(place, tap), 0.0f)
                                : weight(place, tap);
    }));
  }
  return list;
}

std::vector<Tensor> lower_grid_sample(Lowering &l) {
  const Tensor x = l.in(0);
  const bool zeros = l.node().text("padding_mode", "zeros") == "zeros";
  std::vector<GridTaps> taps;
  std::vector<Tensor> parts{x};
  for (size_t d = 0; d + 2 < x.shape().size(); d++) {
    taps.push_back(grid_taps(l.node(), x, l.in(1), d));
    parts.insert(parts.end(), taps[d].places.begin(), taps[d].places.end());
    parts.insert(parts.end(), taps[d].weights.begin(), taps[d].weights.end());
  }
  return {Tensor(
      x.type(), l.result_sizes(0),
      [=](const Index &at) {
        Index pixel{at[0]};
        pixel.insert(pixel.end(), at.begin() + 2, at.end());
        Expr sum;
        std::vector<size_t> tap(taps.size());
        while (true) {
          Index from{at[0], at[1]};
          Expr weight;
          for (size_t d = 0; d < taps.size(); d++) {
            from.push_back(taps[d].places[tap[d]](pixel));
            const Expr w = taps[d].weights[tap[d]](pixel);
            weight = weight.defined() ? weight * w : w;
          }
          Expr v = cast<float>(x(from));
          if (zeros) v = select(weight != 0.0f, v, 0.0f);  // not infinity times 0
          sum = sum.defined() ? sum + weight * v : weight * v;
          size_t d = 0;
          while (d < taps.size() && ++tap[d] == taps[d].places.size()) tap[d++] = 0;
          if (d == taps.size()) break;
        }
        return cast(x.type(), sum);
      },
      ops::merged_stages(parts))};
}

// How the patches of a Col2Im lie in the image.
struct Patches {
  std::vector<int64_t> image, block, stride, dilation, pads;

  Patches(const Node &n, std::vector<int64_t> image_sizes, std::vector<int64_t> block_sizes)
      : image(std::move(image_sizes)), block(std::move(block_sizes)) {
    const auto list = [&](const char *name, int64_t otherwise, size_t size) {
      const std::vector<int64_t> v = n.integers(name);
      return v.empty() ? std::vector<int64_t>(size, otherwise) : v;
    };
    stride = list("strides", 1, image.size());
    dilation = list("dilations", 1, image.size());
    pads = list("pads", 0, 2 * image.size());
  }
  bool fit() const {
    const size_t n = image.size();
    const auto least = [](const std::vector<int64_t> &list, int64_t bound) {
      return std::all_of(list.begin(), list.end(), [=](int64_t v) { return v >= bound; });
    };
    return block.size() == n && stride.size() == n && dilation.size() == n &&
           pads.size() == 2 * n && least(block, 1) && least(stride, 1) && least(dilation, 1) &&
           least(pads, 0);
  }
  // Patches along dimension d.
  int64_t steps(size_t d) const {
    const int64_t room =
        image[d] + pads[d] + pads[d + image.size()] - dilation[d] * (block[d] - 1) - 1;
    return room < 0 ? 0 : room / stride[d] + 1;
  }
};

// Patches back to an image: each cell of the image is the sum of the patches that cover it.
void infer_col2im(Inference &i) {
  const std::vector<int64_t> image = i.integers(1), block = i.integers(2);
  const Patches patches(i.node(), image, block);
  if (i.rank(0) != 3 || !patches.fit())
    i.fail("image and patch have " + std::to_string(image.size()) + " and " +
               std::to_string(block.size()) + " dimensions",
           "there is a positive block, stride and dilation for each, and two pads");
  int64_t cells = 1, count = 1;
  for (int64_t b : block) cells *= b;
  for (size_t d = 0; d < image.size(); d++) count *= patches.steps(d);
  i.require_equal(i.shape(0)[2], count, "patches of the operand, and of the image,");
  Shape shape{i.shape(0)[0], Dim::floor_div(i.shape(0)[1], cells)};
  for (int64_t n : image) shape.emplace_back(n);
  i.result(0, i.type(0), shape);
}
std::vector<Tensor> lower_col2im(Lowering &l) {
  const Tensor x = l.in(0);
  const std::vector<int64_t> image = l.integers(1), block = l.integers(2);
  const size_t spatial = image.size();
  const Patches patches(l.node(), image, block);
  std::vector<int> steps;  // patches along each dimension
  for (size_t d = 0; d < spatial; d++) steps.push_back(static_cast<int>(patches.steps(d)));
  return {Tensor(
      x.type(), l.result_sizes(0),
      [=](const Index &at) {
        Expr sum = cast(x.type(), Expr(0));
        int cells = 1;
        for (int64_t b : block) cells *= static_cast<int>(b);
        for (int cell = 0; cell < cells; cell++) {
          Expr patch = 0, hit;
          int rest = cell;
          std::vector<int> offset(spatial);
          for (size_t d = spatial; d-- > 0;) {
            offset[d] = rest % static_cast<int>(block[d]);
            rest /= static_cast<int>(block[d]);
          }
          for (size_t d = 0; d < spatial; d++) {
            const Expr from =
                at[d + 2] + static_cast<int>(patches.pads[d] - offset[d] * patches.dilation[d]);
            const int s = static_cast<int>(patches.stride[d]);
            const Expr here = from >= 0 && from % s == 0 && from / s < steps[d];
            hit = hit.defined() ? hit && here : here;
            patch = patch * steps[d] + clamp(from / s, 0, steps[d] - 1);
          }
          sum = sum + select(hit, x({at[0], at[1] * cells + cell, patch}), cast(x.type(), Expr(0)));
        }
        return sum;
      },
      x.detached_stages())};
}

}  // namespace

std::vector<Operator> image_operators() {
  const auto other = Operator::Other;
  return {
      {"", "GridSample", other, infer_grid_sample, lower_grid_sample},
      {"", "Col2Im", other, infer_col2im, lower_col2im, {1, 2}},
  };
}

}  // namespace polyhalite::onnx
