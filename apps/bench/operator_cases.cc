#include "apps/bench/blas_peers.h"
#include "apps/bench/onednn_peers.h"
#include "apps/bench/operator_case.h"

namespace polyhalite_apps {

std::vector<OperatorCase> operator_cases(const std::vector<ProductSize> &further_products) {
  std::vector<OperatorCase> all = matmul_cases(further_products);
  for (const auto &more : {convolution_cases(), layer_cases(), math_cases()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

void set_peer_threads(int threads) {
  for (const Blas &blas : blas_peers()) blas.set_threads(threads);
  set_onednn_threads(threads);
}

}  // namespace polyhalite_apps
