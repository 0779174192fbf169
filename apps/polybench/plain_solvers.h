// PolyBench's linear-algebra/solvers as plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/polybench/plain.h"

namespace polyhalite_apps::plain {

inline void cholesky(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const View a = copy(in[0], n, n, out[0]);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) a(i, j) -= a(i, k) * a(j, k);
      a(i, j) /= a(j, j);
    }
    for (int k = 0; k < i; k++) a(i, i) -= a(i, k) * a(i, k);
    a(i, i) = std::sqrt(a(i, i));
  }
}

inline void durbin(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const double *r = in[0];
  double *y = out[0];
  std::vector<double> z(static_cast<size_t>(n));
  double alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < n; k++) {
    beta = (1 - alpha * alpha) * beta;
    double sum = 0;
    for (int i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++) y[i] = z[i];
    y[k] = alpha;
  }
}

inline void gramschmidt(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  std::vector<double> rest(static_cast<size_t>(m) * n);
  const View a = copy(in[0], m, n, rest.data());
  const View q{out[0], n}, r{out[1], n};
  std::fill(out[1], out[1] + n * n, 0.0);
  for (int k = 0; k < n; k++) {
    double norm = 0;
    for (int i = 0; i < m; i++) norm += a(i, k) * a(i, k);
    r(k, k) = std::sqrt(norm);
    for (int i = 0; i < m; i++) q(i, k) = a(i, k) / r(k, k);
    for (int j = k + 1; j < n; j++) {
      for (int i = 0; i < m; i++) r(k, j) += q(i, k) * a(i, j);
      for (int i = 0; i < m; i++) a(i, j) -= q(i, k) * r(k, j);
    }
  }
}

inline void lu(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const View a = copy(in[0], n, n, out[0]);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++) a(i, j) -= a(i, k) * a(k, j);
      a(i, j) /= a(j, j);
    }
    for (int j = i; j < n; j++) {
      for (int k = 0; k < i; k++) a(i, j) -= a(i, k) * a(k, j);
    }
  }
}

inline void ludcmp(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  std::vector<double> factors(static_cast<size_t>(n) * n), y(static_cast<size_t>(n));
  double *const of_lu[] = {factors.data()};
  lu(size, in, of_lu);
  const View a{factors.data(), n};
  const double *b = in[1];
  double *x = out[0];
  for (int i = 0; i < n; i++) {
    y[i] = b[i];
    for (int j = 0; j < i; j++) y[i] -= a(i, j) * y[j];
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] = y[i];
    for (int j = i + 1; j < n; j++) x[i] -= a(i, j) * x[j];
    x[i] /= a(i, i);
  }
}

inline void trisolv(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const ConstView l{in[0], n};
  double *x = out[0];
  for (int i = 0; i < n; i++) {
    x[i] = in[1][i];
    for (int j = 0; j < i; j++) x[i] -= l(i, j) * x[j];
    x[i] /= l(i, i);
  }
}

}  // namespace polyhalite_apps::plain
