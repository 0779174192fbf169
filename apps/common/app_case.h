// The applications with the inputs that they are shown and measured on.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "apps/common/image.h"

namespace polyhalite_apps {

using AnyBuffer = polyhalite::runtime::Buffer<void>;

struct AppCase {
  std::string name;  // of the generator
  std::string size;  // for people
  std::vector<AnyBuffer> inputs;
  std::vector<std::variant<int32_t, float>> scalars;
  AnyBuffer output;
  /// By how much two right results may differ: of the largest value where the output is floats;
  /// steps where it is integers made from floats.
  double tolerance = 0;
  double gigabytes = 0;  // inputs and output, once each
  double gigaflops = 0;  // of matrix products and convolutions; 0 where memory is the measure
  bool counts_flops() const { return gigaflops > 0; }
  /// Work per second of a run that takes `seconds`, in GFLOP/s or GB/s.
  double rate(double seconds) const;
  /// Input buffers, scalars, then the output: addresses, as compiled pipelines' argv takes them.
  std::vector<void *> arguments();
};

struct Extent {
  int width = 0, height = 0;
};

/// The extent on which `app` is measured: that of its output where it is an image, rows and columns
/// of a matrix product of inner extent 1024; conv_layer has one extent only, which its generator
/// fixes.
Extent measured_extent(const std::string &app);

/// `app` on a part of the photograph that fills `extent`. matmul multiplies its brightness with a
/// projection of its rows onto their 64 slowest cosines; conv_layer takes noise.
AppCase make_app_case(const std::string &app, const Image &photograph, Extent extent);

/// Each of `apps` at its measured extent.
std::vector<AppCase> make_measured_cases(const std::vector<std::string> &apps,
                                         const Image &photograph);

/// The largest difference between two dense buffers of one shape and type (float32, uint8 or
/// uint16), in AppCase::tolerance's units; infinity where one is not a number.
double difference(const AnyBuffer &a, const AnyBuffer &b);

}  // namespace polyhalite_apps
