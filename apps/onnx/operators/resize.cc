// Resize: images of known sizes by tables that are made with the kernel, of open ones by tables
// that the kernel makes.
#include <algorithm>
#include <cmath>

#include "apps/onnx/operators.h"
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

// At one point of the result; an undefined weight is 1, of a single tap.
Expr sum_of_taps(const Tensor &x, const Index &at, size_t axis, int taps,
                 const std::function<Expr(int)> &place, const std::function<Expr(int)> &weight) {
  const Type type = x.type(), wide = type == Float(64) ? type : Float(32);
  Expr sum;
  for (int t = 0; t < taps; t++) {
    Index from = at;
    from[axis] = place(t);
    const Expr w = weight(t);
    if (!w.defined()) return x(from);
    const Expr term = cast(wide, x(from)) * cast(wide, w);
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

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
  const Type type = x.type();
  return Tensor(
      type, shape,
      [=](const Index &at) {
        const Expr row = at[axis] * taps;
        Expr value = sum_of_taps(
            x, at, axis, taps, [&](int t) { return clamp(places(row + t), 0, last); },
            [&](int t) { return single ? Expr() : weights(row + t); });
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
  const Type type = x.type();
  return Tensor(
      type, shape,
      [=](const Index &at) {
        const Index place_at{at[axis]};
        Expr value = sum_of_taps(
            x, at, axis, how.taps, [&](int t) { return clamp(first(place_at) + t, 0, last); },
            [&](int t) {
              return weights.empty() ? Expr() : weights[static_cast<size_t>(t)](place_at);
            });
        if (crops) {
          const Expr p = place(place_at);
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
    if (!first && how.taps > 1) x = ops::stored_image(x);
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

}  // namespace

std::vector<Operator> resize_operators() {
  return {{"", "Resize", Operator::Other, infer_resize, lower_resize, {1, 2, 3}}};
}

}  // namespace polyhalite::onnx
