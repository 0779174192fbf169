// PolyBench's medley as plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/polybench/plain.h"

namespace polyhalite_apps::plain {

/// Coefficients of Deriche's filter, for alpha = 0.25.
struct Deriche {
  double alpha = 0.25;
  double k = (1 - std::exp(-alpha)) * (1 - std::exp(-alpha)) /
             (1 + 2 * alpha * std::exp(-alpha) - std::exp(2 * alpha));
  double a1 = k, a5 = k;
  double a2 = k * std::exp(-alpha) * (alpha - 1), a6 = a2;
  double a3 = k * std::exp(-alpha) * (alpha + 1), a7 = a3;
  double a4 = -k * std::exp(-2 * alpha), a8 = a4;
  double b1 = std::pow(2.0, -alpha), b2 = -std::exp(-2 * alpha);
};

inline void deriche(const int *size, const double *const *in, double *const *out) {
  const int w = size[0], h = size[1];
  const Deriche c;
  const ConstView img{in[0], h};
  std::vector<double> there(static_cast<size_t>(w) * h), back(there.size());
  const View y1{there.data(), h}, y2{back.data(), h}, result{out[0], h};
  for (int i = 0; i < w; i++) {
    double ym1 = 0, ym2 = 0, xm1 = 0;
    for (int j = 0; j < h; j++) {
      y1(i, j) = c.a1 * img(i, j) + c.a2 * xm1 + c.b1 * ym1 + c.b2 * ym2;
      xm1 = img(i, j);
      ym2 = ym1;
      ym1 = y1(i, j);
    }
  }
  for (int i = 0; i < w; i++) {
    double yp1 = 0, yp2 = 0, xp1 = 0, xp2 = 0;
    for (int j = h - 1; j >= 0; j--) {
      y2(i, j) = c.a3 * xp1 + c.a4 * xp2 + c.b1 * yp1 + c.b2 * yp2;
      xp2 = xp1;
      xp1 = img(i, j);
      yp2 = yp1;
      yp1 = y2(i, j);
    }
  }
  for (int i = 0; i < w * h; i++) out[0][i] = there[i] + back[i];
  for (int j = 0; j < h; j++) {
    double tm1 = 0, ym1 = 0, ym2 = 0;
    for (int i = 0; i < w; i++) {
      y1(i, j) = c.a5 * result(i, j) + c.a6 * tm1 + c.b1 * ym1 + c.b2 * ym2;
      tm1 = result(i, j);
      ym2 = ym1;
      ym1 = y1(i, j);
    }
  }
  for (int j = 0; j < h; j++) {
    double tp1 = 0, tp2 = 0, yp1 = 0, yp2 = 0;
    for (int i = w - 1; i >= 0; i--) {
      y2(i, j) = c.a7 * tp1 + c.a8 * tp2 + c.b1 * yp1 + c.b2 * yp2;
      tp2 = tp1;
      tp1 = result(i, j);
      yp2 = yp1;
      yp1 = y2(i, j);
    }
  }
  for (int i = 0; i < w * h; i++) out[0][i] = there[i] + back[i];
}

inline void floyd_warshall(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const View path = copy(in[0], n, n, out[0]);
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) path(i, j) = std::min(path(i, j), path(i, k) + path(k, j));
    }
  }
}

inline void nussinov(const int *size, const double *const *in, double *const *out) {
  const int n = size[0];
  const View table{out[0], n};
  std::fill(out[0], out[0] + n * n, 0.0);
  auto base = [&](int at) { return static_cast<int>(in[0][at] * 4); };
  auto raise = [&](int i, int j, double to) { table(i, j) = std::max(table(i, j), to); };
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) {
      raise(i, j, table(i, j - 1));
      if (i + 1 < n) {
        raise(i, j, table(i + 1, j));
        const bool pair = i < j - 1 && base(i) + base(j) == 3;
        raise(i, j, table(i + 1, j - 1) + (pair ? 1 : 0));
      }
      for (int k = i + 1; k < j; k++) raise(i, j, table(i, k) + table(k + 1, j));
    }
  }
}

}  // namespace polyhalite_apps::plain
