// PolyBench's datamining as plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/polybench/plain.h"

namespace polyhalite_apps::plain {

/// Takes each column's mean from it.
inline void centre(const View &data, int columns, int rows) {
  for (int j = 0; j < columns; j++) {
    double mean = 0;
    for (int i = 0; i < rows; i++) mean += data(i, j);
    mean /= rows;
    for (int i = 0; i < rows; i++) data(i, j) -= mean;
  }
}

inline void column_products(const View &data, int columns, int rows, double *out_base) {
  const View out{out_base, columns};
  for (int i = 0; i < columns; i++) {
    for (int j = i; j < columns; j++) {
      double sum = 0;
      for (int k = 0; k < rows; k++) sum += data(k, i) * data(k, j);
      out(i, j) = sum;
      out(j, i) = sum;
    }
  }
}

inline void covariance(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  std::vector<double> centred(static_cast<size_t>(m) * n);
  const View data = copy(in[0], n, m, centred.data());
  centre(data, m, n);
  column_products(data, m, n, out[0]);
  for (int i = 0; i < m * m; i++) out[0][i] /= n - 1;
}

inline void correlation(const int *size, const double *const *in, double *const *out) {
  const int m = size[0], n = size[1];
  std::vector<double> centred(static_cast<size_t>(m) * n);
  const View data = copy(in[0], n, m, centred.data());
  centre(data, m, n);
  for (int j = 0; j < m; j++) {
    double deviation = 0;
    for (int i = 0; i < n; i++) deviation += data(i, j) * data(i, j);
    deviation = std::sqrt(deviation / n);
    if (deviation <= 0.1) deviation = 1;
    for (int i = 0; i < n; i++) data(i, j) /= std::sqrt(static_cast<double>(n)) * deviation;
  }
  column_products(data, m, n, out[0]);
  for (int i = 0; i < m; i++) out[0][i * m + i] = 1;
}

}  // namespace polyhalite_apps::plain
