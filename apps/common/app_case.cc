#include "apps/common/app_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace polyhalite_apps {
namespace {

using polyhalite::runtime::Buffer;

constexpr int kCosines = 64;
constexpr int kInner = 1024;  // rows of matmul's second factor
constexpr int kDepth = 128;   // channels of conv_layer
constexpr double kFloatTolerance = 1e-4;

template <typename T>
T quantised(float value, float scale) {
  return static_cast<T>(std::clamp(value, 0.0f, 1.0f) * scale);
}

template <typename T>
Buffer<T, 2> quantised(const Plane &plane, float scale) {
  Buffer<T, 2> result(plane.dim(0).extent(), plane.dim(1).extent());
  result.for_each_element([&](int x, int y) { result(x, y) = quantised<T>(plane(x, y), scale); });
  return result;
}

template <typename T>
Buffer<T, 3> quantised(const Image &image, float scale) {
  Buffer<T, 3> result(image.dim(0).extent(), image.dim(1).extent(), image.dim(2).extent());
  result.for_each_element(
      [&](int x, int y, int c) { result(x, y, c) = quantised<T>(image(x, y, c), scale); });
  return result;
}

// Projection onto the cosines cos(pi (x + 1/2) f / n), f < kCosines: the orthonormal basis of the
// discrete cosine transform (Ahmed, Natarajan and Rao, 1974).
// The first `columns` columns of n.
Plane cosine_projection(int n, int columns) {
  std::vector<double> basis(size_t{1} * n * kCosines);
  for (int f = 0; f < kCosines; f++) {
    const double scale = std::sqrt((f == 0 ? 1.0 : 2.0) / n);
    for (int x = 0; x < n; x++) {
      basis[size_t{1} * f * n + x] = scale * std::cos(M_PI * (x + 0.5) * f / n);
    }
  }
  Plane result(columns, n);
  result.for_each_element([&](int x, int y) {
    double sum = 0;
    for (int f = 0; f < kCosines; f++) {
      sum += basis[size_t{1} * f * n + x] * basis[size_t{1} * f * n + y];
    }
    result(x, y) = static_cast<float>(sum);
  });
  return result;
}

// Uniform in [-1/2, 1/2).
AnyBuffer noise(const std::vector<int> &extents) {
  Buffer<float> result(extents);
  uint32_t state = 1;
  result.for_each_value([&](float &v) {
    state = state * 1664525u + 1013904223u;  // Knuth's and Lewis's constants
    v = static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
  });
  return result;
}

// The photograph as a sensor of 10 bits sees it: one colour a pixel, green and red in even rows.
Buffer<uint16_t, 2> bayer(const Image &image) {
  Buffer<uint16_t, 2> result(image.dim(0).extent(), image.dim(1).extent());
  result.for_each_element([&](int x, int y) {
    const int channel = y % 2 == 0 ? (x % 2 == 0 ? 1 : 0) : (x % 2 == 0 ? 2 : 1);
    result(x, y) = static_cast<uint16_t>(25 + quantised<uint16_t>(image(x, y, channel), 998.0f));
  });
  return result;
}

Plane colour_matrix(const std::vector<float> &values) {
  Plane result(4, 3);
  result.for_each_element([&](int x, int y) { result(x, y) = values[4 * y + x]; });
  return result;
}

// One pixel in nine is known, and in its middle a tenth of the picture is missing altogether.
Image with_holes(const Image &image) {
  const int width = image.dim(0).extent(), height = image.dim(1).extent();
  Image result(width, height, 4);
  result.for_each_element([&](int x, int y, int c) {
    const bool hole =
        std::abs(2 * x - width) < width / 10 && std::abs(2 * y - height) < height / 10;
    const bool known = x % 3 == 0 && y % 3 == 0 && !hole;
    result(x, y, c) = c < 3 ? image(x, y, c) : known ? 1.0f : 0.0f;
  });
  return result;
}

double gigabytes(const AppCase &app) {
  double bytes = static_cast<double>(app.output.size_in_bytes());
  for (const AnyBuffer &b : app.inputs) bytes += static_cast<double>(b.size_in_bytes());
  return bytes / 1e9;
}

std::string extent_text(const AnyBuffer &buffer) {
  std::string text;
  for (int d = 0; d < buffer.dimensions(); d++) {
    text += (d ? "x" : "") + std::to_string(buffer.dim(d).extent());
  }
  return text;
}

}  // namespace

double AppCase::rate(double seconds) const {
  return (counts_flops() ? gigaflops : gigabytes) / seconds;
}

std::vector<void *> AppCase::arguments() {
  std::vector<void *> args;
  for (AnyBuffer &b : inputs) args.push_back(b.raw_buffer());
  for (auto &scalar : scalars) {
    args.push_back(std::visit([](auto &value) -> void * { return &value; }, scalar));
  }
  args.push_back(output.raw_buffer());
  return args;
}

Extent measured_extent(const std::string &app) {
  if (app == "blur") return {6408, 4802};
  if (app == "matmul") return {1024, 1024};
  if (app == "camera_pipe") return {2560, 1920};
  if (app == "nl_means") return {768, 1280};
  return {1536, 2560};
}

AppCase make_app_case(const std::string &name, const Image &photograph, Extent extent) {
  AppCase app;
  app.name = name;
  const auto [width, height] = extent;
  const auto picture = [&](int w, int h) { return fill_frame(photograph, w, h); };
  if (name == "blur") {
    // Three values must add up within 16 bits.
    app.inputs = {quantised<uint16_t>(brightness(picture(width + 2, height + 2)), 21845.0f)};
    app.output = Buffer<uint16_t, 2>(width, height);
  } else if (name == "unsharp") {
    app.inputs = {picture(width, height)};
    app.output = Image(width, height, 3);
  } else if (name == "harris") {
    app.inputs = {picture(width, height)};
    app.output = Plane(width - 4, height - 4);
  } else if (name == "matmul") {
    app.inputs = {brightness(picture(kInner, height)), cosine_projection(kInner, width)};
    app.output = Plane(width, height);
    app.gigaflops = 2e-9 * kInner * width * height;
  } else if (name == "bilateral_grid") {
    app.inputs = {brightness(picture(width, height))};
    app.scalars = {0.1f};
    app.output = Plane(width, height);
  } else if (name == "camera_pipe") {
    // Its good schedule makes whole vectors and strips only.
    const int w = width / 64 * 64, h = height / 32 * 32;
    app.inputs = {bayer(picture(w + 32, h + 48)),
                  colour_matrix({1.65f, -0.25f, -0.4f, -42.0f, -0.35f, 1.05f, 1.6f, -37.0f, -0.2f,
                                 -1.9f, 7.0f, -27.0f}),
                  colour_matrix({2.3f, -0.45f, 0.15f, -39.0f, -0.4f, 1.6f, -0.2f, -25.0f, -0.1f,
                                 -0.75f, 2.3f, -20.0f})};
    app.scalars = {3700.0f, 2.0f, 50.0f, 1.0f, 25, 1023};
    app.output = Buffer<uint8_t, 3>(w, h, 3);
    app.tolerance = 1;
  } else if (name == "conv_layer") {
    const int w = 100, h = 80;
    app.inputs = {noise({kDepth, w + 2, h + 2, 1}), noise({kDepth, 3, 3, kDepth}), noise({kDepth})};
    app.output = Buffer<float, 4>(kDepth, w, h, 1);
    app.gigaflops = 2e-9 * w * h * 9 * kDepth * kDepth;
  } else if (name == "hist") {
    app.inputs = {quantised<uint8_t>(picture(width, height), 255.0f)};
    app.output = Buffer<uint8_t, 3>(width, height, 3);
    app.tolerance = 1;
  } else if (name == "interpolate") {
    app.inputs = {with_holes(picture(width, height))};
    app.output = Image(width, height, 3);
  } else if (name == "local_laplacian") {
    app.inputs = {quantised<uint16_t>(picture(width, height), 65535.0f)};
    app.scalars = {8, 1.0f / 7, 1.0f};
    app.output = Buffer<uint16_t, 3>(width, height, 3);
    // The position in the table of 256 entries a level is a rounded float.
    app.tolerance = 100;
  } else if (name == "nl_means") {
    app.inputs = {picture(width, height)};
    app.scalars = {7, 7, 0.12f};
    app.output = Image(width, height, 3);
  } else if (name == "stencil_chain") {
    app.inputs = {quantised<uint16_t>(brightness(picture(width, height)), 65535.0f)};
    app.output = Buffer<uint16_t, 2>(width, height);
  } else {
    throw std::invalid_argument("no application '" + name + "'");
  }
  const bool floats = app.output.type().code == polyhalite_type_float;
  if (floats) app.tolerance = kFloatTolerance;
  app.size = (floats ? "f" : "u") + std::to_string(app.output.type().bits) + " " +
             extent_text(name == "harris" ? app.inputs[0] : app.output);
  app.gigabytes = gigabytes(app);
  return app;
}

std::vector<AppCase> make_measured_cases(const std::vector<std::string> &apps,
                                         const Image &photograph) {
  std::vector<AppCase> cases;
  for (const std::string &app : apps) {
    cases.push_back(make_app_case(app, photograph, measured_extent(app)));
  }
  return cases;
}

double difference(const AnyBuffer &a, const AnyBuffer &b) {
  double largest = 0, apart = 0;
  const auto visit = [&](auto zero) {
    using T = decltype(zero);
    const T *pa = static_cast<const T *>(static_cast<const void *>(a.data()));
    const T *pb = static_cast<const T *>(static_cast<const void *>(b.data()));
    for (size_t i = 0; i < a.size_in_bytes() / sizeof(T); i++) {
      largest = std::max(largest, std::abs(static_cast<double>(pa[i])));
      const double d = std::abs(static_cast<double>(pa[i]) - static_cast<double>(pb[i]));
      apart = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(apart, d);
    }
  };
  if (a.type().code == polyhalite_type_float) {
    visit(0.0f);
    return largest > 0 ? apart / largest : apart;
  }
  a.type().bits == 8 ? visit(uint8_t{0}) : visit(uint16_t{0});
  return apart;
}

}  // namespace polyhalite_apps
