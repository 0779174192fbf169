// Layers that move more than they compute, by oneDNN, where it was installed when this program was
// built. Each gives what computes into `out` at each call, or an empty function.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace polyhalite_apps {

/// Over the rows of a matrix.
std::function<void()> onednn_softmax(int rows, int columns, const float *in, float *out);

/// (x - mean)/sqrt(variance + epsilon)*scale + shift for each row of a matrix; scale and shift have
/// `columns` elements.
std::function<void()> onednn_layer_norm(int rows, int columns, float epsilon, const float *in,
                                        const float *scale, const float *shift, float *out);

/// Square windows over images of `channels` planes of size x size; the average of a window counts
/// the elements of the image only. Padding is in front and, as far as a window reaches, behind.
struct PooledImage {
  int channels, size, kernel, stride, padding;
  bool average;
  int result() const { return (size + 2 * padding - kernel) / stride + 1; }
};
std::function<void()> onednn_pool(const PooledImage &image, const float *in, float *out);

/// out[i0, i1, ...] = in[i0, i1, ...], both with strides of their own, in elements.
std::function<void()> onednn_reorder(const std::vector<int64_t> &shape,
                                     const std::vector<int64_t> &in_strides,
                                     const std::vector<int64_t> &out_strides, const float *in,
                                     float *out);

/// softmax(q k^T * scale) v for each of `heads` heads, whose matrices [sequence, size] lie one
/// after the other, by two products and a softmax.
std::function<void()> onednn_attention(int heads, int sequence, int size, const float *q,
                                       const float *k, const float *v, float *out);

}  // namespace polyhalite_apps
