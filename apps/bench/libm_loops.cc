#include "apps/bench/libm_loops.h"

#include <cmath>
#include <map>

namespace polyhalite_apps {

namespace {

template <float (*function)(float)>
void loop(const float *in, float *out, int n) {
  for (int i = 0; i < n; i++) out[i] = function(in[i]);
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

MathLoop libm_loop(const std::string &name) {
  static const std::map<std::string, MathLoop> kLoops = {
      {"exp", loop<expf>}, {"log", loop<logf>}, {"tanh", loop<tanhf>},      {"erf", loop<erff>},
      {"sin", loop<sinf>}, {"cos", loop<cosf>}, {"sigmoid", loop<sigmoid>},
  };
  return kLoops.at(name);
}

}  // namespace polyhalite_apps
