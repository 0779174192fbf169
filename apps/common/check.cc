#include "apps/common/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

#include "lang/interpret/interpret.h"
#include "lang/ir/function.h"

namespace polyhalite_apps {
namespace {

using polyhalite::Algorithm;

constexpr int kWindowWidth = 24, kWindowHeight = 16;
constexpr double kFloatTolerance = 1e-4;

// A window of app.output's type at (x, y), through all channels.
AnyBuffer window_at(const AnyBuffer &output, int x, int y) {
  std::vector<int> sizes, mins;
  for (int d = 0; d < output.dimensions(); d++) {
    const int wanted = d == 0 ? kWindowWidth : d == 1 ? kWindowHeight : output.dim(d).extent();
    sizes.push_back(std::min(wanted, output.dim(d).extent()));
    mins.push_back(d == 0 ? x : d == 1 ? y : output.dim(d).min());
  }
  AnyBuffer window(output.type(), sizes);
  window.set_min(mins);
  return window;
}

template <typename T>
void compare(const AnyBuffer &output, const AnyBuffer &wanted, double tolerance, Check *check) {
  const auto out = output.as<T>();
  const auto want = wanted.as<T>();
  double largest = 0;
  want.for_each_value([&](T v) { largest = std::max(largest, std::abs(double(v))); });
  want.for_each_element([&](const int *position) {
    check->points++;
    const double a = out(position), b = want(position);
    if (std::abs(a - b) <= tolerance * largest || !check->mismatch.empty()) return;
    std::string place;
    for (int d = 0; d < output.dimensions(); d++) {
      place += (d ? ", " : "") + std::to_string(position[d]);
    }
    char text[160];
    std::snprintf(text, sizeof text, "output(%s) is %.9g, the interpreter has %.9g", place.c_str(),
                  a, b);
    check->mismatch = text;
  });
}

}  // namespace

Check check_against_interpreter(const Algorithm &algorithm, const AppCase &app) {
  std::map<std::string, const polyhalite_buffer_t *> images;
  for (size_t i = 0; i < app.inputs.size(); i++) {
    images[algorithm.inputs[i].param->name] = app.inputs[i].raw_buffer();
  }
  const auto &x = app.output.dim(0), &y = app.output.dim(1);
  const int right = std::max(x.min(), x.max() + 1 - kWindowWidth);
  const int bottom = std::max(y.min(), y.max() + 1 - kWindowHeight);
  const std::vector<std::pair<int, int>> corners = {
      {x.min(), y.min()},
      {right, y.min()},
      {x.min(), bottom},
      {right, bottom},
      {(x.min() + right) / 2, (y.min() + bottom) / 2}};
  Check check;
  for (const auto &[left, top] : corners) {
    AnyBuffer window = window_at(app.output, left, top);
    polyhalite::interpret(algorithm, images, {}, {window.raw_buffer()});
    if (app.output.type().code == polyhalite_type_float) {
      compare<float>(app.output, window, kFloatTolerance, &check);
    } else {
      compare<uint16_t>(app.output, window, 0, &check);
    }
  }
  return check;
}

}  // namespace polyhalite_apps
