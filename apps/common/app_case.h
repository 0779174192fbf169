// The four applications with the inputs that they are shown and measured on.
#pragma once

#include <string>
#include <vector>

#include "apps/common/image.h"

namespace polyhalite_apps {

using AnyBuffer = polyhalite::runtime::Buffer<void>;

struct AppCase {
  std::string name;  // of the generator
  std::string size;  // for people
  std::vector<AnyBuffer> inputs;
  AnyBuffer output;
  double gigabytes = 0;  // inputs and output, once each
  double gigaflops = 0;  // of the matrix product; 0 where memory is the measure
  /// "matmul: GFLOP/s", else GB/s.
  bool counts_flops() const { return gigaflops > 0; }
  /// Work per second of a run that takes `seconds`, in GFLOP/s or GB/s.
  double rate(double seconds) const;
  /// Inputs, then the output, as compiled pipelines take them.
  std::vector<void *> arguments();
};

/// blur: u16, 6408 x 4802 out; unsharp and harris: 1536 x 2560 x 3 f32; matmul: 1024^3 f32, the
/// picture's brightness times a projection of its rows onto their 64 slowest cosines.
std::vector<AppCase> make_app_cases(const Image &photograph);

/// What an app made of the photograph, to look at.
void save_output(const AppCase &app, const std::string &path);
/// The input that the output is to be compared with by eye.
void save_input(const AppCase &app, const std::string &path);

}  // namespace polyhalite_apps
