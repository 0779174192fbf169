// PolyBench's programs as plain loops with the sizes of two of its data sets, which the compiler
// knows; a shared object for each compiler that Polyhalite is measured against.
#include "apps/bench/polybench_sizes.h"
#include "apps/polybench/plain_blas.h"
#include "apps/polybench/plain_data_mining.h"
#include "apps/polybench/plain_medley.h"
#include "apps/polybench/plain_products.h"
#include "apps/polybench/plain_solvers.h"
#include "apps/polybench/plain_stencils.h"

namespace plain = polyhalite_apps::plain;

#define PEER(name, function, ...)                                                      \
  extern "C" __attribute__((visibility("default"))) void name(const double *const *in, \
                                                              double *const *out) {    \
    static constexpr int sizes[] = {__VA_ARGS__};                                      \
    plain::function(sizes, in, out);                                                   \
  }
#define BOTH(name, function, medium, large)                   \
  PEER(function##_medium, function, POLYBENCH_EXTENTS medium) \
  PEER(function##_large, function, POLYBENCH_EXTENTS large)

POLYBENCH_SIZES(BOTH)
