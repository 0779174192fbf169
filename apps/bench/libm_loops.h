// The C library's mathematical functions over arrays, as a plain loop calls them.
#pragma once

#include <string>

namespace polyhalite_apps {

/// out[i] = NAME(in[i]) for i < n.
using MathLoop = void (*)(const float *in, float *out, int n);

/// exp, log, tanh, erf, sin, cos, or sigmoid as 1/(1 + exp(-x)).
MathLoop libm_loop(const std::string &name);

}  // namespace polyhalite_apps
