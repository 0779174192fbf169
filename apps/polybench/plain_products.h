// PolyBench's linear-algebra/kernels as plain loops.
#pragma once

#include <algorithm>
#include <vector>

#include "apps/polybench/plain.h"

namespace polyhalite_apps::plain {

constexpr double kFactor = 1.5, kScale = 1.2;

/// out = factor * a * b, which are rows x inner and inner x width.
inline void product(int rows, int width, int inner, double factor, const double *a_base,
                    const double *b_base, double *out_base) {
  const ConstView a{a_base, inner}, b{b_base, width};
  const View out{out_base, width};
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < width; j++) {
      out(i, j) = 0;
      for (int k = 0; k < inner; k++) out(i, j) += factor * a(i, k) * b(k, j);
    }
  }
}

inline void two_products(const int *size, const double *const *in, double *const *out) {
  const int ni = size[0], nj = size[1], nk = size[2], nl = size[3];
  std::vector<double> tmp(static_cast<size_t>(ni) * nj);
  product(ni, nj, nk, kFactor, in[0], in[1], tmp.data());
  product(ni, nl, nj, 1, tmp.data(), in[2], out[0]);
  for (int i = 0; i < ni * nl; i++) out[0][i] += kScale * in[3][i];
}

inline void three_products(const int *size, const double *const *in, double *const *out) {
  const int ni = size[0], nj = size[1], nk = size[2], nl = size[3], nm = size[4];
  std::vector<double> e(static_cast<size_t>(ni) * nj), f(static_cast<size_t>(nj) * nl);
  product(ni, nj, nk, 1, in[0], in[1], e.data());
  product(nj, nl, nm, 1, in[2], in[3], f.data());
  product(ni, nl, nj, 1, e.data(), f.data(), out[0]);
}

inline void atax(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  const ConstView a{in[0], n};
  std::fill(out[0], out[0] + n, 0.0);
  for (int i = 0; i < m; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += a(i, j) * in[1][j];
    for (int j = 0; j < n; j++) out[0][j] += a(i, j) * sum;
  }
}

inline void bicg(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  const ConstView a{in[0], m};
  std::fill(out[0], out[0] + m, 0.0);
  for (int i = 0; i < n; i++) {
    out[1][i] = 0;
    for (int j = 0; j < m; j++) {
      out[0][j] += in[2][i] * a(i, j);
      out[1][i] += a(i, j) * in[1][j];
    }
  }
}

inline void doitgen(const int *size, const double *const *in, double *const *out) {
  const int nr = size[0], nq = size[1], np = size[2];
  for (int row = 0; row < nr * nq; row++) {
    const double *a = in[0] + row * np;
    for (int p = 0; p < np; p++) {
      double sum = 0;
      for (int s = 0; s < np; s++) sum += a[s] * in[1][s * np + p];
      out[0][row * np + p] = sum;
    }
  }
}

inline void mvt(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const ConstView a{in[0], n};
  std::copy(in[1], in[1] + n, out[0]);
  std::copy(in[2], in[2] + n, out[1]);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) out[0][i] += a(i, j) * in[3][j];
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) out[1][i] += a(j, i) * in[4][j];
  }
}

}  // namespace polyhalite_apps::plain
