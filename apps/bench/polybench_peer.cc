// PolyBench's stencils as plain loops with the sizes of its LARGE data set, which the compiler
// knows; a shared object for each compiler that Polyhalite is measured against. Only the number of
// steps is an argument.
#include "apps/bench/polybench_large.h"
#include "apps/polybench/plain_stencils.h"

namespace plain = polyhalite_apps::plain;
using namespace polyhalite_apps::large;

#define PEER extern "C" __attribute__((visibility("default"))) void

PEER adi(int steps, double *const *arrays) {
  plain::adi_steps(steps, kAdi, arrays[0], arrays[1], arrays[2], arrays[3]);
}
PEER fdtd_2d(int steps, double *const *arrays) {
  plain::fdtd_2d_steps(steps, kFdtdX, kFdtdY, arrays[0], arrays[1], arrays[2], arrays[3]);
}
PEER heat_3d(int steps, double *const *arrays) {
  plain::heat_3d_steps(steps, kHeat, arrays[0], arrays[1]);
}
PEER jacobi_2d(int steps, double *const *arrays) {
  plain::jacobi_2d_steps(steps, kJacobi, arrays[0], arrays[1]);
}
PEER seidel_2d(int steps, double *const *arrays) {
  plain::seidel_2d_steps(steps, kSeidel, arrays[0]);
}
