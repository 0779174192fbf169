// RoiAlign whose number of samples follows from its regions: about one for each pixel of them. It
// runs between kernels.
#include <algorithm>
#include <cmath>

#include "apps/onnx/operators.h"

namespace polyhalite::onnx {

namespace {

// Where one dimension of a region is sampled.
struct Side {
  float begin, bin;  // of the region, and how long a part of it is
  int64_t samples;   // of a part
  int64_t length;    // of the image

  Side(float from, float to, float shift, bool half, int64_t parts, int64_t n)
      : begin(from - shift), length(n) {
    const float extent = half ? to - from : std::max(to - from, 1.0f);
    bin = extent / static_cast<float>(parts);
    const float count = std::ceil(bin);
    // A sample for each pixel, and for each coordinate at most.
    samples = count >= 1 ? static_cast<int64_t>(std::min(count, 2147483648.0f)) : 0;
  }
  float at(int64_t part, int64_t sample) const {
    const float place = (static_cast<float>(sample) + 0.5f) / static_cast<float>(samples);
    return begin + (static_cast<float>(part) + place) * bin;
  }
  bool sees(float v) const { return v >= -1.0f && v <= static_cast<float>(length); }
  // Those of a part that may lie inside of the image: [first, second).
  std::pair<int64_t, int64_t> inside(int64_t part) const {
    const double step = static_cast<double>(bin) / static_cast<double>(samples);
    const double first = begin + static_cast<double>(part) * bin;
    if (samples == 0 || !std::isfinite(first)) return {0, 0};
    const auto number = [&](double v) {
      return static_cast<int64_t>(std::clamp((v - first) / step, 0.0, double(samples)));
    };
    constexpr int64_t kRounding = 2;
    return {std::max<int64_t>(number(-1) - kRounding, 0),
            std::min(number(static_cast<double>(length)) + kRounding, samples)};
  }
};

// Four pixels and their weights.
struct Sample {
  int64_t at[4];
  float weight[4];

  Sample(float y, float x, int64_t rows, int64_t columns) {
    y = std::clamp(y, 0.0f, static_cast<float>(rows - 1));
    x = std::clamp(x, 0.0f, static_cast<float>(columns - 1));
    const auto row = static_cast<int64_t>(y), column = static_cast<int64_t>(x);
    const int64_t next_row = std::min(row + 1, rows - 1),
                  next_column = std::min(column + 1, columns - 1);
    const float dy = y - static_cast<float>(row), dx = x - static_cast<float>(column);
    at[0] = row * columns + column;
    at[1] = row * columns + next_column;
    at[2] = next_row * columns + column;
    at[3] = next_row * columns + next_column;
    weight[0] = (1 - dy) * (1 - dx);
    weight[1] = (1 - dy) * dx;
    weight[2] = dy * (1 - dx);
    weight[3] = dy * dx;
  }
  float sum(const float *image) const {
    return image[at[0]] * weight[0] + image[at[1]] * weight[1] + image[at[2]] * weight[2] +
           image[at[3]] * weight[3];
  }
  float largest(const float *image) const {
    return std::max(std::max(image[at[0]] * weight[0], image[at[1]] * weight[1]),
                    std::max(image[at[2]] * weight[2], image[at[3]] * weight[3]));
  }
};

void infer_adaptive_roi_align(Inference &i) {
  i.result(0, i.type(0),
           {i.shape(1)[0], i.shape(0)[1], Dim(i.node().integer("output_height", 1)),
            Dim(i.node().integer("output_width", 1))});
}

std::vector<Constant> compute_adaptive_roi_align(const Node &n, const std::vector<Constant> &in) {
  const bool half = n.text("coordinate_transformation_mode",
                           n.version < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const bool largest = n.text("mode", "avg") == "max";
  const float scale = n.real("spatial_scale", 1), shift = half ? 0.5f : 0.0f;
  const int64_t height = n.integer("output_height", 1), width = n.integer("output_width", 1);
  const std::vector<int64_t> &shape = in[0].shape();
  const int64_t images = shape[0], channels = shape[1], rows = shape[2], columns = shape[3];
  const int64_t regions = in[1].shape()[0];
  const std::vector<float> x = floats_of(in[0]), corners = floats_of(in[1]);
  std::vector<uint8_t> bytes;
  const bool is_empty = x.empty();
  std::vector<Sample> samples;
  std::vector<float> results(static_cast<size_t>(channels * height * width));
  for (int64_t r = 0; r < regions; r++) {
    const float *c = &corners[static_cast<size_t>(4 * r)];
    const Side down(c[1] * scale, c[3] * scale, shift, half, height, rows);
    const Side across(c[0] * scale, c[2] * scale, shift, half, width, columns);
    const double count = static_cast<double>(down.samples) * static_cast<double>(across.samples);
    const int64_t image = is_empty ? 0 : std::clamp<int64_t>(in[2].integer_at(r), 0, images - 1);
    for (int64_t p = 0; p < height; p++) {
      for (int64_t q = 0; q < width; q++) {
        samples.clear();
        const auto [top, bottom] = down.inside(p);
        const auto [left, right] = across.inside(q);
        for (int64_t i = top; i < bottom && !is_empty; i++) {
          const float y = down.at(p, i);
          for (int64_t j = left; j < right; j++) {
            const float z = across.at(q, j);
            if (down.sees(y) && across.sees(z)) samples.emplace_back(y, z, rows, columns);
          }
        }
        // Outside of the image samples are 0.
        const bool has_zeros = static_cast<double>(samples.size()) < count || samples.empty();
        for (int64_t k = 0; k < channels; k++) {
          const float *plane = is_empty ? nullptr : &x[((image * channels + k) * rows) * columns];
          float result = largest && !has_zeros ? -HUGE_VALF : 0;
          for (const Sample &s : samples)
            result = largest ? std::max(result, s.largest(plane)) : result + s.sum(plane);
          if (!largest && count > 0) result /= static_cast<float>(count);
          results[static_cast<size_t>((k * height + p) * width + q)] = result;
        }
      }
    }
    if (in[0].type() == ElementType::Float32) {
      const auto *first = reinterpret_cast<const uint8_t *>(results.data());
      bytes.insert(bytes.end(), first, first + results.size() * sizeof(float));
    } else {
      for (const float v : results) append_number(&bytes, in[0].type(), v);
    }
  }
  return {Constant::of_bytes(in[0].type(), {regions, channels, height, width}, std::move(bytes))};
}

}  // namespace

std::vector<Operator> adaptive_roi_align_operators() {
  return {{kInternalDomain,
           "RoiAlign",
           Operator::Host,
           infer_adaptive_roi_align,
           nullptr,
           {},
           compute_adaptive_roi_align}};
}

}  // namespace polyhalite::onnx
