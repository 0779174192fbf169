#include "apps/polybench/kernel.h"

namespace polyhalite_apps {

std::vector<Program> polybench_programs() {
  std::vector<Program> all;
  for (auto group : {data_mining_programs, blas_programs, product_programs, solver_programs,
                     medley_programs, stencil_programs}) {
    for (Program &p : group()) all.push_back(std::move(p));
  }
  return all;
}

}  // namespace polyhalite_apps
