#include "apps/common/app_case.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace polyhalite_apps {
namespace {

using polyhalite::runtime::Buffer;

constexpr int kBlurWidth = 6408, kBlurHeight = 4802;
constexpr int kWidth = 1536, kHeight = 2560;
constexpr int kMatrix = 1024, kCosines = 64;

Buffer<uint16_t, 2> to_16_bits(const Plane &plane) {
  Buffer<uint16_t, 2> result(plane.dim(0).extent(), plane.dim(1).extent());
  for (int y = 0; y < plane.dim(1).extent(); y++) {
    for (int x = 0; x < plane.dim(0).extent(); x++) {
      // Three values must add up within 16 bits.
      result(x, y) = static_cast<uint16_t>(std::clamp(plane(x, y), 0.0f, 1.0f) * 21845.0f);
    }
  }
  return result;
}

// Projection onto the cosines cos(pi (x + 1/2) f / n), f < kCosines: the orthonormal basis of the
// discrete cosine transform (Ahmed, Natarajan and Rao, 1974).
Plane cosine_projection() {
  const int n = kMatrix;
  std::vector<double> basis(size_t{1} * n * kCosines);
  for (int f = 0; f < kCosines; f++) {
    const double scale = std::sqrt((f == 0 ? 1.0 : 2.0) / n);
    for (int x = 0; x < n; x++) {
      basis[size_t{1} * f * n + x] = scale * std::cos(M_PI * (x + 0.5) * f / n);
    }
  }
  Plane result(n, n);
  for (int y = 0; y < n; y++) {
    for (int x = 0; x < n; x++) {
      double sum = 0;
      for (int f = 0; f < kCosines; f++) {
        sum += basis[size_t{1} * f * n + x] * basis[size_t{1} * f * n + y];
      }
      result(x, y) = static_cast<float>(sum);
    }
  }
  return result;
}

AppCase named(const std::string &name, const std::string &size) {
  AppCase app;
  app.name = name;
  app.size = size;
  return app;
}

double gigabytes(const AppCase &app) {
  double bytes = static_cast<double>(app.output.size_in_bytes());
  for (const AnyBuffer &b : app.inputs) bytes += static_cast<double>(b.size_in_bytes());
  return bytes / 1e9;
}

}  // namespace

double AppCase::rate(double seconds) const {
  return (counts_flops() ? gigaflops : gigabytes) / seconds;
}

std::vector<void *> AppCase::arguments() {
  std::vector<void *> args;
  for (AnyBuffer &b : inputs) args.push_back(b.raw_buffer());
  args.push_back(output.raw_buffer());
  return args;
}

std::vector<AppCase> make_app_cases(const Image &photograph) {
  const Image colours = fill_frame(photograph, kWidth, kHeight);
  AppCase blur = named("blur", "u16 6408x4802");
  blur.inputs = {to_16_bits(brightness(fill_frame(photograph, kBlurWidth + 2, kBlurHeight + 2)))};
  blur.output = Buffer<uint16_t, 2>(kBlurWidth, kBlurHeight);

  AppCase unsharp = named("unsharp", "f32 1536x2560x3");
  unsharp.inputs = {colours};
  unsharp.output = Image(kWidth, kHeight, 3);

  AppCase harris = named("harris", "f32 1536x2560x3");
  harris.inputs = {colours};
  harris.output = Plane(kWidth - 4, kHeight - 4);

  AppCase matmul = named("matmul", "f32 1024x1024x1024");
  matmul.inputs = {brightness(fill_frame(photograph, kMatrix, kMatrix)), cosine_projection()};
  matmul.output = Plane(kMatrix, kMatrix);
  matmul.gigaflops = 2.0 * kMatrix * kMatrix * kMatrix / 1e9;

  std::vector<AppCase> cases{blur, unsharp, harris, matmul};
  for (AppCase &app : cases) app.gigabytes = gigabytes(app);
  return cases;
}

void save_output(const AppCase &app, const std::string &path) {
  if (app.name == "unsharp") return save_png(app.output.as<float, 3>(), path);
  if (app.name == "matmul") return save_png(app.output.as<float, 2>(), path);
  if (app.name == "blur") {
    const auto pixels = app.output.as<uint16_t, 2>();
    // A quarter in each direction: the whole would be a file of 30 MB.
    Plane plane(kBlurWidth / 4, kBlurHeight / 4);
    for (int y = 0; y < plane.dim(1).extent(); y++) {
      for (int x = 0; x < plane.dim(0).extent(); x++) {
        plane(x, y) = static_cast<float>(pixels(4 * x, 4 * y)) / 21845.0f;
      }
    }
    return save_png(plane, path);
  }
  // harris: corners in red on a darkened picture; 1e-4 is a strong response.
  const auto response = app.output.as<float, 2>();
  const Plane gray = brightness(app.inputs[0].as<float, 3>());
  Image picture(response.dim(0).extent(), response.dim(1).extent(), 3);
  for (int y = 0; y < response.dim(1).extent(); y++) {
    for (int x = 0; x < response.dim(0).extent(); x++) {
      const float background = 0.5f * gray(x + 2, y + 2);
      picture(x, y, 0) = background + std::max(0.0f, response(x, y)) * 1e4f;
      picture(x, y, 1) = picture(x, y, 2) = background;
    }
  }
  save_png(picture, path);
}

void save_input(const AppCase &app, const std::string &path) {
  if (app.name == "matmul") return save_png(app.inputs[0].as<float, 2>(), path);
  if (app.name == "blur") {
    AppCase same = app;
    same.output = app.inputs[0];
    return save_output(same, path);
  }
  save_png(app.inputs[0].as<float, 3>(), path);
}

}  // namespace polyhalite_apps
