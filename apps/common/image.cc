#include "apps/common/image.h"

#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace polyhalite_apps {
namespace {

uint8_t to_byte(float value) {
  return static_cast<uint8_t>(std::lround(std::clamp(value, 0.0f, 1.0f) * 255.0f));
}

void write(const std::vector<uint8_t> &pixels, int width, int height, int channels,
           const std::string &path) {
  if (!stbi_write_png(path.c_str(), width, height, channels, pixels.data(), width * channels)) {
    throw std::runtime_error("cannot write picture '" + path + "'");
  }
}

}  // namespace

Image load_image(const std::string &path) {
  int width = 0, height = 0, channels = 0;
  std::unique_ptr<stbi_uc, void (*)(void *)> pixels(
      stbi_load(path.c_str(), &width, &height, &channels, 3), stbi_image_free);
  if (!pixels) {
    throw std::runtime_error("cannot read picture '" + path + "': " + stbi_failure_reason());
  }
  Image image(width, height, 3);
  for (int c = 0; c < 3; c++) {
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        image(x, y, c) =
            static_cast<float>(pixels.get()[(size_t{1} * y * width + x) * 3 + c]) / 255;
      }
    }
  }
  return image;
}

Image fill_frame(const Image &image, int width, int height) {
  const double scale = std::max(static_cast<double>(width) / image.dim(0).extent(),
                                static_cast<double>(height) / image.dim(1).extent());
  // The part of the source that the frame shows, in 0 .. 1.
  const double shown_x = width / (scale * image.dim(0).extent());
  const double shown_y = height / (scale * image.dim(1).extent());
  Image result(width, height, 3);
  for (int c = 0; c < 3; c++) {
    const int ok = stbir_resize_region(
        &image(0, 0, c), image.dim(0).extent(), image.dim(1).extent(), 0, &result(0, 0, c), width,
        height, 0, STBIR_TYPE_FLOAT, 1, STBIR_ALPHA_CHANNEL_NONE, 0, STBIR_EDGE_CLAMP,
        STBIR_EDGE_CLAMP, STBIR_FILTER_DEFAULT, STBIR_FILTER_DEFAULT, STBIR_COLORSPACE_LINEAR,
        nullptr, static_cast<float>((1 - shown_x) / 2), static_cast<float>((1 - shown_y) / 2),
        static_cast<float>((1 + shown_x) / 2), static_cast<float>((1 + shown_y) / 2));
    if (!ok) throw std::runtime_error("cannot scale the picture: out of memory");
  }
  return result;
}

Plane brightness(const Image &image) {
  Plane plane(image.dim(0).extent(), image.dim(1).extent());
  for (int y = 0; y < image.dim(1).extent(); y++) {
    for (int x = 0; x < image.dim(0).extent(); x++) {
      plane(x, y) = 0.299f * image(x, y, 0) + 0.587f * image(x, y, 1) + 0.114f * image(x, y, 2);
    }
  }
  return plane;
}

void save_png(const Image &image, const std::string &path) {
  const int width = image.dim(0).extent(), height = image.dim(1).extent();
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t{3} * width * height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      for (int c = 0; c < 3; c++) pixels.push_back(to_byte(image(x, y, c)));
    }
  }
  write(pixels, width, height, 3, path);
}

void save_png(const Plane &plane, const std::string &path) {
  const int width = plane.dim(0).extent(), height = plane.dim(1).extent();
  std::vector<uint8_t> pixels;
  pixels.reserve(size_t{1} * width * height);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) pixels.push_back(to_byte(plane(x, y)));
  }
  write(pixels, width, height, 1, path);
}

}  // namespace polyhalite_apps
