// Pictures: reading, scaling and writing them, as planar floats in 0 .. 1.
#pragma once

#include <string>

#include "polyhalite/runtime_buffer.h"

namespace polyhalite_apps {

/// (x, y, channel), three channels, dense.
using Image = polyhalite::runtime::Buffer<float, 3>;
/// (x, y), dense.
using Plane = polyhalite::runtime::Buffer<float, 2>;

/// JPEG, PNG and the other formats of stb_image. Throws std::runtime_error that names the file.
Image load_image(const std::string &path);

/// Scaled so that the frame is just filled, with what juts out cut off evenly.
Image fill_frame(const Image &image, int width, int height);

/// Brightness by the weights of ITU-R BT.601.
Plane brightness(const Image &image);

/// 8-bit PNG; values are clamped. Throws std::runtime_error that names the file.
void save_png(const Image &image, const std::string &path);
void save_png(const Plane &plane, const std::string &path);

}  // namespace polyhalite_apps
