// Operators that sample images.
#include <algorithm>
#include <cmath>

#include "apps/onnx/operators.h"
#include "lang/ir/node.h"
#include "polyhalite/operators.h"

namespace polyhalite::onnx {

namespace {

using ops::Index;
using ops::Tensor;

// One dimension sampled at new places: result i is the sum of weights[i][t] * x[places[i][t]].
struct Samples {
  int taps = 1;
  std::vector<int32_t> places;
  std::vector<float> weights;
  std::vector<uint8_t> outside;  // results that lie beyond the image
  bool any_outside = false;
};

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Where result `i` of `out` lies in an image of n elements.
double source_place(const std::string &mode, double i, double scale, int64_t n, int64_t out,
                    double begin, double end) {
  const double width = scale * static_cast<double>(n), size = static_cast<double>(n);
  if (mode == "align_corners") return width == 1 ? 0 : i * (size - 1) / (width - 1);
  if (mode == "asymmetric") return i / scale;
  if (mode == "tf_crop_and_resize") {
    const double inside =
        width == 1 ? (end - begin) * (size - 1) / 2 : i * (end - begin) * (size - 1) / (width - 1);
    return inside + begin * (size - 1);
  }
  if (mode == "pytorch_half_pixel" && width == 1) return -0.5;
  if (mode == "half_pixel_symmetric") {
    const double adjustment = static_cast<double>(out) / width;
    return size / 2 * (1 - adjustment) + (i + 0.5) / scale - 0.5;
  }
  return (i + 0.5) / scale - 0.5;
}

Samples samples_of(const Node &n, int64_t in, int64_t out, double scale, double begin, double end) {
  const std::string mode = n.text("mode", "nearest");
  const std::string places = n.text("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = n.text("nearest_mode", "round_prefer_floor");
  const double a = static_cast<double>(n.real("cubic_coeff_a", -0.75f));
  const bool antialias = n.integer("antialias", 0) != 0 && scale < 1;
  const bool exclude = n.integer("exclude_outside", 0) != 0;
  const double shrink = antialias ? scale : 1;
  const double support = (mode == "cubic" ? 2 : 1) / shrink;
  Samples s;
  s.taps = mode == "nearest" ? 1 : static_cast<int>(std::ceil(2 * support)) + 1;
  for (int64_t i = 0; i < out; i++) {
    const double x = source_place(places, static_cast<double>(i), scale, in, out, begin, end);
    const bool beyond =
        places == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(in) - 1);
    s.outside.push_back(beyond ? 1 : 0);
    s.any_outside = s.any_outside || beyond;
    auto put = [&](double place, double weight) {
      s.places.push_back(
          static_cast<int32_t>(std::clamp<double>(place, 0, static_cast<double>(in - 1))));
      s.weights.push_back(static_cast<float>(weight));
    };
    if (mode == "nearest") {
      const double low = std::floor(x), rest = x - low;
      const bool up = nearest == "ceil"                ? rest > 0
                      : nearest == "floor"             ? false
                      : nearest == "round_prefer_ceil" ? rest >= 0.5
                                                       : rest > 0.5;
      put(low + (up ? 1 : 0), 1);
      continue;
    }
    const double first = std::floor(x - support) + 1;
    std::vector<double> weights;
    double total = 0;
    for (int t = 0; t < s.taps; t++) {
      const double distance = (first + t - x) * shrink;
      double w = mode == "cubic" ? cubic(distance, a) : std::max(0.0, 1 - std::fabs(distance));
      if (exclude && (first + t < 0 || first + t >= static_cast<double>(in))) w = 0;
      weights.push_back(w);
      total += w;
    }
    const bool scaled = (antialias || exclude) && total != 0;
    for (int t = 0; t < s.taps; t++) {
      put(first + t,
          scaled ? weights[static_cast<size_t>(t)] / total : weights[static_cast<size_t>(t)]);
    }
  }
  return s;
}

template <typename T>
Buffer<T, 1> table(const std::vector<T> &list) {
  Buffer<T, 1> b(static_cast<int>(list.size()));
  std::copy(list.begin(), list.end(), b.data());
  return b;
}

// How often each element of the image stands side by side in the results; 0: they are no such
// copies.
int repeats(const Samples &s, int64_t in) {
  const auto out = static_cast<int64_t>(s.places.size());
  if (s.taps != 1 || s.any_outside || in == 0 || out % in != 0) return 0;
  const int64_t k = out / in;
  for (int64_t i = 0; i < out; i++) {
    if (s.places[static_cast<size_t>(i)] != i / k) return 0;
  }
  return static_cast<int>(k);
}

Tensor sampled(const Tensor &x, size_t axis, const Samples &s, int64_t in, const Expr &size,
               float beyond) {
  Index shape = x.shape();
  shape[axis] = size;
  if (const int k = repeats(s, in); k > 0) {
    return Tensor(
        x.type(), shape,
        [=](const Index &at) {
          Index from = at;
          from[axis] = at[axis] / k;
          return x(from);
        },
        x.detached_stages());
  }
  const Buffer<int32_t, 1> places = table(s.places);
  const Buffer<float, 1> weights = table(s.weights);
  const Buffer<uint8_t, 1> outside = table(s.outside);
  const Expr last = x.shape()[axis] - 1;
  const bool single = s.taps == 1, any = s.any_outside;
  const int taps = s.taps;
  const Type type = x.type(), wide = type.is_float() && type.bits() == 64 ? type : Float(32);
  return Tensor(
      type, shape,
      [=](const Index &at) {
        Expr value;
        for (int t = 0; t < taps; t++) {
          Index from = at;
          from[axis] = clamp(places(at[axis] * taps + t), 0, last);
          const Expr v = x(from);
          if (single) {
            value = v;
            break;
          }
          const Expr term = cast(wide, v) * cast(wide, weights(at[axis] * taps + t));
          value = value.defined() ? value + term : term;
        }
        if (any)
          value = select(outside(at[axis]) != cast<uint8_t>(Expr(0)),
                         cast(value.type(), Expr(beyond)), value);
        if (value.type() == type) return value;
        return type.is_float() ? cast(type, value)
                               : cast(type, clamp(round(value), cast(wide, type.min()),
                                                  cast(wide, type.max())));
      },
      x.detached_stages());
}

struct ResizePlan {
  std::vector<int> axes;
  std::vector<double> scales;  // of each axis
  Shape shape;
};

template <typename Context>
ResizePlan resize_plan(const Context &c, const Shape &from,
                       const std::function<const Constant &(size_t)> &values) {
  ResizePlan p;
  p.shape = from;
  const int rank = static_cast<int>(from.size());
  const std::vector<int64_t> given = c.node().integers("axes");
  for (int d = 0; d < rank; d++) p.axes.push_back(d);
  if (!given.empty()) p.axes = c.axes(given, rank);
  p.scales.assign(p.axes.size(), 1);
  auto count = [&](const Constant &v) {
    if (v.elements() != static_cast<int64_t>(p.axes.size())) {
      c.fail("it has " + std::to_string(v.elements()) + " sizes or scales",
             "each of " + std::to_string(p.axes.size()) + " axes has one");
    }
  };
  auto size_of = [&](size_t k) { return c.number(from[static_cast<size_t>(p.axes[k])]); };
  if (c.has(3)) {
    const Constant &sizes = values(3);
    count(sizes);
    const std::string policy = c.node().text("keep_aspect_ratio_policy", "stretch");
    double common = 0;
    for (size_t k = 0; k < p.axes.size(); k++) {
      p.scales[k] = static_cast<double>(sizes.integer_at(static_cast<int64_t>(k))) /
                    static_cast<double>(size_of(k));
      common = k == 0                    ? p.scales[k]
               : policy == "not_smaller" ? std::max(common, p.scales[k])
                                         : std::min(common, p.scales[k]);
    }
    for (size_t k = 0; k < p.axes.size(); k++) {
      int64_t n = sizes.integer_at(static_cast<int64_t>(k));
      if (policy != "stretch") {
        p.scales[k] = common;
        n = static_cast<int64_t>(std::floor(common * static_cast<double>(size_of(k)) + 0.5));
      }
      p.shape[static_cast<size_t>(p.axes[k])] = n;
    }
    return p;
  }
  if (!c.has(2))
    c.fail("it has neither scales nor sizes", "one of them says how large the result is");
  const Constant &scales = values(2);
  count(scales);
  for (size_t k = 0; k < p.axes.size(); k++) {
    p.scales[k] = scales.number(static_cast<int64_t>(k));
    if (!(p.scales[k] > 0 && p.scales[k] < 1e6))
      c.fail("a scale is " + std::to_string(p.scales[k]), "scales are positive");
    if (p.scales[k] == 1) continue;
    p.shape[static_cast<size_t>(p.axes[k])] =
        static_cast<int64_t>(std::floor(static_cast<double>(size_of(k)) * p.scales[k]));
  }
  return p;
}

void infer_resize(Inference &i) {
  auto values = [&](size_t k) -> const Constant & {
    if (!i.in(k).constant) throw NeedsValue{i.node().inputs[k]};
    return *i.in(k).constant;
  };
  // An empty list of scales stands for none.
  const ResizePlan p = resize_plan(i, i.shape(0), values);
  if (i.node().text("coordinate_transformation_mode", "") == "tf_crop_and_resize" && i.has(1))
    values(1);
  i.result(0, i.type(0), p.shape);
}

std::vector<Tensor> lower_resize(Lowering &l) {
  const ResizePlan p =
      resize_plan(l, l.shape(0), [&](size_t k) -> const Constant & { return l.constant(k); });
  const bool crop = l.node().text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  Tensor x = l.in(0);
  bool first = true;
  for (size_t k = 0; k < p.axes.size(); k++) {
    const size_t a = static_cast<size_t>(p.axes[k]);
    const auto in = l.shape(0)[a].constant(), out = p.shape[a].constant();
    if (!crop && p.scales[k] == 1 && in == out) continue;
    double begin = 0, end = 1;
    if (crop && l.has(1)) {
      begin = l.constant(1).number(static_cast<int64_t>(k));
      end = l.constant(1).number(static_cast<int64_t>(k + p.axes.size()));
    }
    const Samples s = samples_of(l.node(), *in, *out, p.scales[k], begin, end);
    if (!first && s.taps > 1) x = ops::stored(x, "resized");
    x = sampled(x, a, s, *in, l.size(p.shape[a]), l.node().real("extrapolation_value", 0));
    first = false;
  }
  return {x};
}

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
          // Of places between the outermost pixels' centres and the border, taps are clamped only.
          if (padding == "border")
            place = select(place < low || place > high, clamp(place, 0.0f, n - 1.0f), place);
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
      {"", "Resize", other, infer_resize, lower_resize, {1, 2, 3}},
      {"", "GridSample", other, infer_grid_sample, lower_grid_sample},
      {"", "Col2Im", other, infer_col2im, lower_col2im, {1, 2}},
  };
}

}  // namespace polyhalite::onnx
