#include "apps/demo/pictures.h"

#include <algorithm>
#include <cstdint>

namespace polyhalite_apps {

void save_output(const AppCase &app, const std::string &path) {
  if (app.name == "unsharp") return save_png(app.output.as<float, 3>(), path);
  if (app.name == "matmul") return save_png(app.output.as<float, 2>(), path);
  if (app.name == "blur") {
    const auto pixels = app.output.as<uint16_t, 2>();
    // A quarter in each direction: the whole would be a file of 30 MB.
    Plane plane(pixels.dim(0).extent() / 4, pixels.dim(1).extent() / 4);
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
