// PolyBench's linear-algebra/blas as plain loops.
#pragma once

#include <algorithm>
#include <vector>

#include "apps/polybench/plain.h"

namespace polyhalite_apps::plain {

constexpr double kAlpha = 1.5, kBeta = 1.2;

inline void gemm(const int *size, const double *const *in, double *const *out) {
  const int ni = size[0], nj = size[1], nk = size[2];
  const View c = copy(in[0], ni, nj, out[0]);
  const ConstView a{in[1], nk}, b{in[2], nj};
  for (int i = 0; i < ni; i++) {
    for (int j = 0; j < nj; j++) c(i, j) *= kBeta;
    for (int k = 0; k < nk; k++) {
      for (int j = 0; j < nj; j++) c(i, j) += kAlpha * a(i, k) * b(k, j);
    }
  }
}

inline void gemver(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const View a = copy(in[0], n, n, out[0]);
  const double *u1 = in[1], *v1 = in[2], *u2 = in[3], *v2 = in[4], *y = in[5], *z = in[6];
  double *x = out[1], *w = out[2];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a(i, j) += u1[i] * v1[j] + u2[i] * v2[j];
  }
  std::fill(x, x + n, 0.0);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) x[i] += kBeta * a(j, i) * y[j];
  }
  for (int i = 0; i < n; i++) x[i] += z[i];
  std::fill(w, w + n, 0.0);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) w[i] += kAlpha * a(i, j) * x[j];
  }
}

inline void gesummv(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const ConstView a{in[0], n}, b{in[1], n};
  for (int i = 0; i < n; i++) {
    double of_a = 0, of_b = 0;
    for (int j = 0; j < n; j++) {
      of_a += a(i, j) * in[2][j];
      of_b += b(i, j) * in[2][j];
    }
    out[0][i] = kAlpha * of_a + kBeta * of_b;
  }
}

inline void symm(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  const View c = copy(in[0], m, n, out[0]);
  const ConstView a{in[1], m}, b{in[2], n};
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < i; k++) {
        c(k, j) += kAlpha * b(i, j) * a(i, k);
        sum += b(k, j) * a(i, k);
      }
      c(i, j) = kBeta * c(i, j) + kAlpha * b(i, j) * a(i, i) + kAlpha * sum;
    }
  }
}

inline void syr2k(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  const View c = copy(in[0], n, n, out[0]);
  const ConstView a{in[1], m}, b{in[2], m};
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) c(i, j) *= kBeta;
    for (int k = 0; k < m; k++) {
      for (int j = 0; j <= i; j++) {
        c(i, j) += a(j, k) * kAlpha * b(i, k) + b(j, k) * kAlpha * a(i, k);
      }
    }
  }
}

inline void syrk(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  const View c = copy(in[0], n, n, out[0]);
  const ConstView a{in[1], m};
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) c(i, j) *= kBeta;
    for (int k = 0; k < m; k++) {
      for (int j = 0; j <= i; j++) c(i, j) += kAlpha * a(i, k) * a(j, k);
    }
  }
}

inline void trmm(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  const ConstView a{in[0], m};
  const View b = copy(in[1], m, n, out[0]);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = i + 1; k < m; k++) b(i, j) += a(k, i) * b(k, j);
      b(i, j) *= kAlpha;
    }
  }
}

}  // namespace polyhalite_apps::plain
