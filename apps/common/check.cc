#include "apps/common/check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <type_traits>
#include <vector>

#include "lang/interpret/interpret.h"
#include "lang/ir/function.h"

namespace polyhalite_apps {
namespace {

using polyhalite::Algorithm;

template <typename T>
void compare(const AnyBuffer &output, const AnyBuffer &wanted, double tolerance, Check *check) {
  const auto out = output.as<T>();
  const auto want = wanted.as<T>();
  double largest = 1;
  if (std::is_floating_point_v<T>) {
    largest = 0;
    want.for_each_value([&](T v) { largest = std::max(largest, std::abs(double(v))); });
  }
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

Check check_against_interpreter(const Algorithm &algorithm, const AppCase &app, int some) {
  std::map<std::string, const polyhalite_buffer_t *> images;
  std::map<std::string, uint64_t> scalars;
  size_t buffers = 0, values = 0;
  for (const auto &input : algorithm.inputs) {
    const std::string &name = input.param->name;
    if (input.param->is_buffer) {
      images[name] = app.inputs.at(buffers++).raw_buffer();
    } else {
      std::visit([&](auto v) { std::memcpy(&scalars[name], &v, sizeof v); },
                 app.scalars.at(values++));
    }
  }
  std::vector<int> sizes, mins;
  for (int d = 0; d < app.output.dimensions(); d++) {
    sizes.push_back(app.output.dim(d).extent());
    mins.push_back(app.output.dim(d).min());
  }
  const int whole = some > 0 ? sizes.at(2) : 0;
  const std::vector<int> begins =
      some > 0 ? std::vector<int>{0, (whole - some) / 2, whole - some} : std::vector<int>{0};
  Check check;
  for (const int begin : begins) {
    std::vector<int> part_sizes = sizes, part_mins = mins;
    if (some > 0) {
      part_sizes[2] = some;
      part_mins[2] += begin;
    }
    AnyBuffer wanted(app.output.type(), part_sizes);
    wanted.set_min(part_mins);
    polyhalite::interpret(algorithm, images, scalars, {wanted.raw_buffer()});
    if (app.output.type().code == polyhalite_type_float) {
      compare<float>(app.output, wanted, app.tolerance, &check);
    } else if (app.output.type().bits == 8) {
      compare<uint8_t>(app.output, wanted, app.tolerance, &check);
    } else {
      compare<uint16_t>(app.output, wanted, app.tolerance, &check);
    }
  }
  return check;
}

}  // namespace polyhalite_apps
