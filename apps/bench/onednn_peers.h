// Operators by oneDNN, where it was installed when this program was built.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/bench/blas_peers.h"

namespace polyhalite_apps {

/// Computes into p.c at each call, or is empty where oneDNN is not installed.
std::function<void()> onednn_matmul(const Product<float, float, float> &p);
std::function<void()> onednn_matmul(const Product<uint8_t, int8_t, int32_t> &p);

void set_onednn_threads(int threads);

}  // namespace polyhalite_apps
