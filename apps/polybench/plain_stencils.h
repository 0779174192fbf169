// PolyBench's stencils as plain loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "apps/polybench/plain.h"

namespace polyhalite_apps::plain {

inline void adi_steps(int steps, int n, double *u_base, double *v_base, double *p_base,
                      double *q_base) {
  const View u{u_base, n}, v{v_base, n}, p{p_base, n}, q{q_base, n};
  const double dx = 1.0 / n, dt = 1.0 / steps;
  const double mul1 = 2.0 * dt / (dx * dx), mul2 = 1.0 * dt / (dx * dx);
  const double a = -mul1 / 2.0, b = 1.0 + mul1, c = a, d = -mul2 / 2.0, e = 1.0 + mul2, f = d;
  for (int t = 1; t <= steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      v(0, i) = 1.0;
      p(i, 0) = 0.0;
      q(i, 0) = v(0, i);
      for (int j = 1; j < n - 1; j++) {
        p(i, j) = -c / (a * p(i, j - 1) + b);
        q(i, j) =
            (-d * u(j, i - 1) + (1.0 + 2.0 * d) * u(j, i) - f * u(j, i + 1) - a * q(i, j - 1)) /
            (a * p(i, j - 1) + b);
      }
      v(n - 1, i) = 1.0;
      for (int j = n - 2; j >= 1; j--) v(j, i) = p(i, j) * v(j + 1, i) + q(i, j);
    }
    for (int i = 1; i < n - 1; i++) {
      u(i, 0) = 1.0;
      p(i, 0) = 0.0;
      q(i, 0) = u(i, 0);
      for (int j = 1; j < n - 1; j++) {
        p(i, j) = -f / (d * p(i, j - 1) + e);
        q(i, j) =
            (-a * v(i - 1, j) + (1.0 + 2.0 * a) * v(i, j) - c * v(i + 1, j) - d * q(i, j - 1)) /
            (d * p(i, j - 1) + e);
      }
      u(i, n - 1) = 1.0;
      for (int j = n - 2; j >= 1; j--) u(i, j) = p(i, j) * u(i, j + 1) + q(i, j);
    }
  }
}

inline void adi(const int *size, const double *const *in, double *const *out) {
  const int n = size[1];
  copy(in[0], n, n, out[0]);
  std::vector<double> more(static_cast<size_t>(n) * n * 3);
  double *v = more.data();
  adi_steps(size[0], n, out[0], v, v + n * n, v + 2 * n * n);
}

inline void fdtd_2d_steps(int steps, int nx, int ny, double *ex_base, double *ey_base,
                          double *hz_base, const double *fict) {
  const View ex{ex_base, ny}, ey{ey_base, ny}, hz{hz_base, ny};
  for (int t = 0; t < steps; t++) {
    for (int j = 0; j < ny; j++) ey(0, j) = fict[t];
    for (int i = 1; i < nx; i++) {
      for (int j = 0; j < ny; j++) ey(i, j) = ey(i, j) - 0.5 * (hz(i, j) - hz(i - 1, j));
    }
    for (int i = 0; i < nx; i++) {
      for (int j = 1; j < ny; j++) ex(i, j) = ex(i, j) - 0.5 * (hz(i, j) - hz(i, j - 1));
    }
    for (int i = 0; i < nx - 1; i++) {
      for (int j = 0; j < ny - 1; j++) {
        hz(i, j) = hz(i, j) - 0.7 * (ex(i, j + 1) - ex(i, j) + ey(i + 1, j) - ey(i, j));
      }
    }
  }
}

inline void fdtd_2d(const int *size, const double *const *in, double *const *out) {
  const int nx = size[1], ny = size[2];
  copy(in[0], nx, ny, out[1]);
  copy(in[1], nx, ny, out[0]);
  copy(in[2], nx, ny, out[2]);
  fdtd_2d_steps(size[0], nx, ny, out[1], out[0], out[2], in[3]);
}

inline void heat_3d_half_step(int n, const double *a, double *b) {
  auto at = [n](int i, int j, int k) { return (static_cast<ptrdiff_t>(i) * n + j) * n + k; };
  for (int i = 1; i < n - 1; i++) {
    for (int j = 1; j < n - 1; j++) {
      for (int k = 1; k < n - 1; k++) {
        b[at(i, j, k)] = 0.125 * (a[at(i + 1, j, k)] - 2.0 * a[at(i, j, k)] + a[at(i - 1, j, k)]) +
                         0.125 * (a[at(i, j + 1, k)] - 2.0 * a[at(i, j, k)] + a[at(i, j - 1, k)]) +
                         0.125 * (a[at(i, j, k + 1)] - 2.0 * a[at(i, j, k)] + a[at(i, j, k - 1)]) +
                         a[at(i, j, k)];
      }
    }
  }
}

inline void heat_3d_steps(int steps, int n, double *a, double *b) {
  for (int t = 0; t < steps; t++) {
    heat_3d_half_step(n, a, b);
    heat_3d_half_step(n, b, a);
  }
}

inline void heat_3d(const int *size, const double *const *in, double *const *out) {
  const int n = size[1];
  copy(in[0], n * n, n, out[0]);
  std::vector<double> b(in[1], in[1] + n * n * n);
  heat_3d_steps(size[0], n, out[0], b.data());
}

inline void jacobi_1d(const int *size, const double *const *in, double *const *out) {
  const int n = size[1];
  double *a = copy(in[0], 1, n, out[0]).base;
  std::vector<double> b(in[1], in[1] + n);
  for (int t = 0; t < size[0]; t++) {
    for (int i = 1; i < n - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
    for (int i = 1; i < n - 1; i++) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
  }
}

inline void jacobi_2d_steps(int steps, int n, double *a_base, double *b_base) {
  const View a{a_base, n}, b{b_base, n};
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      for (int j = 1; j < n - 1; j++) {
        b(i, j) = 0.2 * (a(i, j) + a(i, j - 1) + a(i, j + 1) + a(i + 1, j) + a(i - 1, j));
      }
    }
    for (int i = 1; i < n - 1; i++) {
      for (int j = 1; j < n - 1; j++) {
        a(i, j) = 0.2 * (b(i, j) + b(i, j - 1) + b(i, j + 1) + b(i + 1, j) + b(i - 1, j));
      }
    }
  }
}

inline void jacobi_2d(const int *size, const double *const *in, double *const *out) {
  const int n = size[1];
  copy(in[0], n, n, out[0]);
  std::vector<double> b(in[1], in[1] + n * n);
  jacobi_2d_steps(size[0], n, out[0], b.data());
}

inline void seidel_2d_steps(int steps, int n, double *a_base) {
  const View a{a_base, n};
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++) {
      for (int j = 1; j < n - 1; j++) {
        a(i, j) = (a(i - 1, j - 1) + a(i - 1, j) + a(i - 1, j + 1) + a(i, j - 1) + a(i, j) +
                   a(i, j + 1) + a(i + 1, j - 1) + a(i + 1, j) + a(i + 1, j + 1)) /
                  9.0;
      }
    }
  }
}

inline void seidel_2d(const int *size, const double *const *in, double *const *out) {
  const int n = size[1];
  copy(in[0], n, n, out[0]);
  seidel_2d_steps(size[0], n, out[0]);
}

}  // namespace polyhalite_apps::plain
