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

// How one dimension is sampled.
struct Sampling {
  std::string mode, places, nearest;
  double a = 0;             // of cubic weights
  double shrink = 1;        // of distances, where the image becomes smaller and is smoothed
  bool exclude = false;     // are weights beyond the image 0?
  bool sums_to_one = true;  // do the weights, as they are?
  int taps = 1;
  double support() const { return (mode == "cubic" ? 2 : 1) / shrink; }
};

// `scale` where it is known.
Sampling sampling_of(const Node &n, std::optional<double> scale) {
  Sampling s;
  s.mode = n.text("mode", "nearest");
  s.places = n.text("coordinate_transformation_mode", "half_pixel");
  s.nearest = n.text("nearest_mode", "round_prefer_floor");
  s.a = static_cast<double>(n.real("cubic_coeff_a", -0.75f));
  s.exclude = n.integer("exclude_outside", 0) != 0;
  const bool antialias = n.integer("antialias", 0) != 0 && scale && *scale < 1;
  if (antialias) s.shrink = *scale;
  s.sums_to_one = !antialias && !s.exclude;
  if (s.mode != "nearest") s.taps = static_cast<int>(std::ceil(2 * s.support()));
  return s;
}

// Places are computed with numbers, and with expressions where sizes are found when a kernel runs.
double floor_of(double x) { return std::floor(x); }
Expr floor_of(const Expr &x) { return floor(x); }
double size_of(double x) { return std::fabs(x); }
Expr size_of(const Expr &x) { return abs(x); }
double choose(bool c, double a, double b) { return c ? a : b; }
Expr choose(const Expr &c, const Expr &a, const Expr &b) { return select(c, a, b); }

template <typename N>
N cubic(const N &distance, double a) {
  const N x = size_of(distance);
  const N outer = ((N(a) * x - N(5 * a)) * x + N(8 * a)) * x - N(4 * a);
  return choose(x <= N(1.0), (N(a + 2) * x - N(a + 3)) * x * x + N(1.0),
                choose(x < N(2.0), outer, N(0.0)));
}

// A dimension's sizes in the image and in the result. Where their ratio is given, the result may be
// smaller than `width`, which is no integer. A step of the result is one of over / under.
template <typename N>
struct Extent {
  N in, out, width, over, under;
};
template <typename N>
Extent<N> extent(const N &in, const N &out, std::optional<double> scale) {
  if (!scale) return {in, out, out, in, out};
  return {in, out, N(*scale) * in, N(1.0), N(*scale)};
}

// Where result `i` lies in the image.
template <typename N>
N source_place(const std::string &mode, const N &i, const Extent<N> &e, double begin, double end) {
  const N one(1.0), half(0.5), last = e.in - one;
  const auto is_one = e.width == one;
  const N steps = choose(is_one, one, e.width - one);
  if (mode == "align_corners") return choose(is_one, N(0.0), i * last / steps);
  if (mode == "asymmetric") return i * e.over / e.under;
  if (mode == "tf_crop_and_resize") {
    const N part(end - begin);
    return choose(is_one, part * last / N(2.0), i * part * last / steps) + N(begin) * last;
  }
  const N place = (i + half) * e.over / e.under - half;
  if (mode == "pytorch_half_pixel") return choose(is_one, N(0.0), place);
  if (mode == "half_pixel_symmetric") return e.in / N(2.0) * (one - e.out / e.width) + place;
  return place;
}

// What a result is the sum of: weights[t] * x[first + t], places being held within the image.
template <typename N>
struct Taps {
  N first;
  std::vector<N> weights;  // none: one tap with the weight 1
};

template <typename N>
Taps<N> taps_at(const Sampling &s, const N &x, const N &size) {
  if (s.mode == "nearest") {
    const N low = floor_of(x), rest = x - low, half(0.5), up = low + N(1.0);
    if (s.nearest == "floor") return {low, {}};
    if (s.nearest == "ceil") return {choose(rest > N(0.0), up, low), {}};
    if (s.nearest == "round_prefer_ceil") return {choose(rest >= half, up, low), {}};
    return {choose(rest > half, up, low), {}};
  }
  const N first = floor_of(x - N(s.support())) + N(1.0), none(0.0);
  Taps<N> taps{first, {}};
  N total = none;
  for (int t = 0; t < s.taps; t++) {
    const N place = first + N(static_cast<double>(t)), distance = (place - x) * N(s.shrink);
    N w = none;
    if (s.mode == "cubic") {
      w = cubic(distance, s.a);
    } else {
      const N near = N(1.0) - size_of(distance);
      w = choose(near > none, near, none);
    }
    if (s.exclude) w = choose(place < none, none, choose(place >= size, none, w));
    taps.weights.push_back(w);
    total = total + w;
  }
  if (s.sums_to_one) return taps;
  const N divisor = choose(total == none, N(1.0), total);
  for (N &w : taps.weights) w = w / divisor;
  return taps;
}

// One dimension sampled at new places: result i is the sum of weights[i][t] * x[places[i][t]].
struct Samples {
  int taps = 1;
  std::vector<int32_t> places;
  std::vector<float> weights;
  std::vector<uint8_t> outside;  // results that lie beyond the image
  bool any_outside = false;
};

Samples samples_of(const Sampling &how, int64_t in, int64_t out, std::optional<double> scale,
                   double begin, double end) {
  Samples s;
  s.taps = how.taps;
  const auto size = static_cast<double>(in);
  const auto sizes = extent<double>(size, static_cast<double>(out), scale);
  for (int64_t i = 0; i < out; i++) {
    const double x = source_place(how.places, static_cast<double>(i), sizes, begin, end);
    const bool beyond = how.places == "tf_crop_and_resize" && (x < 0 || x > size - 1);
    s.outside.push_back(beyond ? 1 : 0);
    s.any_outside = s.any_outside || beyond;
    const Taps<double> taps = taps_at<double>(how, x, size);
    for (int t = 0; t < s.taps; t++) {
      s.places.push_back(static_cast<int32_t>(std::clamp<double>(taps.first + t, 0, size - 1)));
      s.weights.push_back(
          taps.weights.empty() ? 1 : static_cast<float>(taps.weights[static_cast<size_t>(t)]));
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

// A sum of taps as an element of the result.
Expr as_element(const Expr &sum, Type type) {
  if (sum.type() == type) return sum;
  const Type wide = sum.type();
  return type.is_float()
             ? cast(type, sum)
             : cast(type, clamp(round(sum), cast(wide, type.min()), cast(wide, type.max())));
}

Type type_of_sums(Type t) { return t.is_float() && t.bits() == 64 ? t : Float(32); }

// Each element k times, side by side.
Tensor repeated(const Tensor &x, size_t axis, int k, const Expr &size) {
  Index shape = x.shape();
  shape[axis] = size;
  return Tensor(
      x.type(), shape,
      [=](const Index &at) {
        Index from = at;
        from[axis] = at[axis] / k;
        return x(from);
      },
      x.detached_stages());
}

Tensor sampled(const Tensor &x, size_t axis, const Samples &s, int64_t in, const Expr &size,
               float beyond) {
  Index shape = x.shape();
  shape[axis] = size;
  if (const int k = repeats(s, in); k > 0) return repeated(x, axis, k, size);
  const Buffer<int32_t, 1> places = table(s.places);
  const Buffer<float, 1> weights = table(s.weights);
  const Buffer<uint8_t, 1> outside = table(s.outside);
  const Expr last = x.shape()[axis] - 1;
  const bool single = s.taps == 1, any = s.any_outside;
  const int taps = s.taps;
  const Type type = x.type(), wide = type_of_sums(type);
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
        return as_element(value, type);
      },
      x.detached_stages());
}

// How often each element stands in an image of any size, where that is a number.
int repeats_of_open(const Sampling &how, const Dim &in, const Dim &out, std::optional<double> scale,
                    double begin, double end) {
  constexpr int64_t kMost = 16;
  for (int64_t k = 2; k <= kMost && how.taps == 1; k++) {
    if (scale ? *scale != static_cast<double>(k) : in * Dim(k) != out) continue;
    // Places of nearest pixels have the period k, unless they depend on the size, or are at its
    // ends.
    for (const int64_t n : {1, 2, 3, 7, 16}) {
      if (repeats(samples_of(how, n, n * k, scale, begin, end), n) != k) return 0;
    }
    return static_cast<int>(k);
  }
  return 0;
}

// The same where sizes are open: places and weights are computed by the kernel, for each position
// along the dimension once.
Tensor sampled_at_open_places(const Tensor &x, size_t axis, const Sampling &how, const Expr &size,
                              std::optional<double> scale, double begin, double end, float beyond) {
  Index shape = x.shape();
  const Expr in = cast<double>(shape[axis]), out = cast<double>(size), last = shape[axis] - 1;
  const auto sizes = extent<Expr>(in, out, scale);
  shape[axis] = size;
  const auto place = [=](const Index &at) {
    return source_place<Expr>(how.places, cast<double>(at[0]), sizes, begin, end);
  };
  const auto table = [&](Type type, const char *name,
                         const std::function<Expr(const Index &)> &of) {
    return ops::stored(Tensor(type, {size}, of), name);
  };
  // Far outside of an image is where no integer reaches.
  const Tensor first = table(Int(32), "first", [=](const Index &at) {
    return cast<int32_t>(clamp(taps_at<Expr>(how, place(at), in).first, Expr(-1e6), Expr(2e9)));
  });
  std::vector<Tensor> weights;
  for (int t = 0; how.mode != "nearest" && t < how.taps; t++) {
    weights.push_back(table(Float(32), "weights", [=](const Index &at) {
      return cast<float>(taps_at<Expr>(how, place(at), in).weights[static_cast<size_t>(t)]);
    }));
  }
  std::vector<Tensor> made_of = weights;
  made_of.insert(made_of.end(), {x, first});
  std::vector<ops::Stage> stages = ops::merged_stages(made_of);
  for (ops::Stage &s : stages)
    s.dims.clear();  // they are read elsewhere than at the result's point
  const bool crops = how.places == "tf_crop_and_resize";
  const Type type = x.type(), wide = type_of_sums(type);
  return Tensor(
      type, shape,
      [=](const Index &at) {
        Expr value;
        for (int t = 0; t < how.taps; t++) {
          Index from = at;
          from[axis] = clamp(first({at[axis]}) + t, 0, last);
          const Expr v = x(from);
          if (weights.empty()) {
            value = v;
            break;
          }
          const Expr term = cast(wide, v) * cast(wide, weights[static_cast<size_t>(t)]({at[axis]}));
          value = value.defined() ? value + term : term;
        }
        if (crops) {
          const Expr p = place({at[axis]});
          value =
              select(p < Expr(0.0) || p > in - Expr(1.0), cast(value.type(), Expr(beyond)), value);
        }
        return as_element(value, type);
      },
      std::move(stages));
}

struct ResizePlan {
  std::vector<int> axes;
  std::vector<std::optional<double>> scales;  // of each axis; nullopt: the ratio of its sizes
  Shape shape;
};

// floor(n * scale)
template <typename Context>
Dim scaled_size(const Context &c, const Dim &n, double scale) {
  if (const auto number = n.constant())
    return static_cast<int64_t>(std::floor(static_cast<double>(*number) * scale));
  // Of fractions of small numbers the quotient is exact.
  constexpr int64_t kMostParts = 64;
  const double parts = scale * static_cast<double>(kMostParts);
  if (parts != std::floor(parts) || parts > 1 << 16)
    return static_cast<int64_t>(std::floor(static_cast<double>(c.number(n)) * scale));
  return Dim::floor_div(n * Dim(static_cast<int64_t>(parts)), kMostParts);
}

template <typename Context>
ResizePlan resize_plan(const Context &c, const Shape &from,
                       const std::function<std::vector<Dim>(size_t)> &sizes,
                       const std::function<const Constant &(size_t)> &values) {
  ResizePlan p;
  p.shape = from;
  const int rank = static_cast<int>(from.size());
  const std::vector<int64_t> given = c.node().integers("axes");
  for (int d = 0; d < rank; d++) p.axes.push_back(d);
  if (!given.empty()) p.axes = c.axes(given, rank);
  p.scales.assign(p.axes.size(), 1);
  auto count = [&](int64_t n) {
    if (n != static_cast<int64_t>(p.axes.size())) {
      c.fail("it has " + std::to_string(n) + " sizes or scales",
             "each of " + std::to_string(p.axes.size()) + " axes has one");
    }
  };
  const auto axis = [&](size_t k) { return static_cast<size_t>(p.axes[k]); };
  if (c.has(3)) {
    const std::vector<Dim> wanted = sizes(3);
    count(static_cast<int64_t>(wanted.size()));
    const std::string policy = c.node().text("keep_aspect_ratio_policy", "stretch");
    // How many elements are smoothed is decided when the kernel is made.
    const bool stretches = policy == "stretch";
    const bool numbers = !stretches || c.node().integer("antialias", 0) != 0;
    double common = 0;
    for (size_t k = 0; k < p.axes.size(); k++) {
      const Dim &n = from[axis(k)];
      p.shape[axis(k)] = wanted[k];
      if (n == wanted[k] && !numbers) continue;
      p.scales[k] = std::nullopt;
      if (!numbers) continue;
      p.scales[k] = static_cast<double>(c.number(wanted[k])) / static_cast<double>(c.number(n));
      common = k == 0                    ? *p.scales[k]
               : policy == "not_smaller" ? std::max(common, *p.scales[k])
                                         : std::min(common, *p.scales[k]);
    }
    for (size_t k = 0; k < p.axes.size() && !stretches; k++) {
      p.scales[k] = common;
      p.shape[axis(k)] = static_cast<int64_t>(
          std::floor(common * static_cast<double>(c.number(from[axis(k)])) + 0.5));
    }
    return p;
  }
  if (!c.has(2))
    c.fail("it has neither scales nor sizes", "one of them says how large the result is");
  const Constant &scales = values(2);
  count(scales.elements());
  for (size_t k = 0; k < p.axes.size(); k++) {
    const double scale = scales.number(static_cast<int64_t>(k));
    if (!(scale > 0 && scale < 1e6))
      c.fail("a scale is " + std::to_string(scale), "scales are positive");
    p.scales[k] = scale;
    if (scale != 1) p.shape[axis(k)] = scaled_size(c, from[axis(k)], scale);
  }
  return p;
}

void infer_resize(Inference &i) {
  auto values = [&](size_t k) -> const Constant & {
    if (!i.in(k).constant) throw NeedsValue{i.node().inputs[k]};
    return *i.in(k).constant;
  };
  // An empty list of scales stands for none.
  const ResizePlan p = resize_plan(i, i.shape(0), [&](size_t k) { return i.sizes(k); }, values);
  if (i.node().text("coordinate_transformation_mode", "") == "tf_crop_and_resize" && i.has(1))
    values(1);
  i.result(0, i.type(0), p.shape);
}

std::vector<Tensor> lower_resize(Lowering &l) {
  const ResizePlan p = resize_plan(
      l, l.shape(0), [&](size_t k) { return l.known_sizes(k); },
      [&](size_t k) -> const Constant & { return l.constant(k); });
  const bool crop = l.node().text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  const float beyond = l.node().real("extrapolation_value", 0);
  Tensor x = l.in(0);
  bool first = true;
  for (size_t k = 0; k < p.axes.size(); k++) {
    const auto a = static_cast<size_t>(p.axes[k]);
    const Dim &n = l.shape(0)[a];
    if (!crop && p.scales[k] == 1 && n == p.shape[a]) continue;
    double begin = 0, end = 1;
    if (crop && l.has(1)) {
      begin = l.constant(1).number(static_cast<int64_t>(k));
      end = l.constant(1).number(static_cast<int64_t>(k + p.axes.size()));
    }
    const Sampling how = sampling_of(l.node(), p.scales[k]);
    const auto in = n.constant(), out = p.shape[a].constant();
    if (!first && how.taps > 1) x = ops::stored_image(x, "resized");
    first = false;
    if (const int times = in ? 0 : repeats_of_open(how, n, p.shape[a], p.scales[k], begin, end)) {
      x = repeated(x, a, times, l.size(p.shape[a]));
      continue;
    }
    x = in && out ? sampled(x, a, samples_of(how, *in, *out, p.scales[k], begin, end), *in,
                            l.size(p.shape[a]), beyond)
                  : sampled_at_open_places(x, a, how, l.size(p.shape[a]), p.scales[k], begin, end,
                                           beyond);
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
