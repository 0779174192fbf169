#include "apps/bench/blas_peers.h"
#include "apps/bench/onednn_peers.h"
#include "apps/bench/operator_case.h"

namespace polyhalite_apps {

std::vector<OperatorCase> operator_cases() {
  std::vector<OperatorCase> cases = matmul_cases();
  for (OperatorCase &one : convolution_cases()) cases.push_back(std::move(one));
  return cases;
}

void set_peer_threads(int threads) {
  for (const Blas &blas : blas_peers()) blas.set_threads(threads);
  set_onednn_threads(threads);
}

}  // namespace polyhalite_apps
