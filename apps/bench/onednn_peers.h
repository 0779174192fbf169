// Operators by oneDNN, where it was installed when this program was built.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/bench/blas_peers.h"

namespace polyhalite_apps {

/// Computes into p.c at each call, or is empty where oneDNN is not installed.
std::function<void()> onednn_matmul(const Product<float, float, float> &p);
std::function<void()> onednn_matmul(const Product<uint8_t, int8_t, int32_t> &p);

/// Square images and kernels, batch 1, padded by half a kernel, all dense in the order
/// [channel][row][column]; w is [result][channel / groups][row][column].
struct Convolution {
  int channels, results, size, kernel, stride, groups;
  const float *x = nullptr, *w = nullptr;
  float *y = nullptr;

  int padding() const { return kernel / 2; }
  int result_size() const { return (size + 2 * padding() - kernel) / stride + 1; }
};
struct ConvolutionPeer {
  std::function<void()> run;  // in the layouts that oneDNN likes; empty where it is not installed
  std::function<void()> finish;  // puts what the last run computed into y
};
ConvolutionPeer onednn_convolution(const Convolution &c);

void set_onednn_threads(int threads);

}  // namespace polyhalite_apps
