// Products of matrices by OpenBLAS and BLIS, those of them that are installed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace polyhalite_apps {

/// c[rows, columns] = a[rows, depth] * b[depth, columns], dense and row-major.
template <typename A, typename B, typename C>
struct Product {
  int rows, columns, depth;
  const A *a;
  const B *b;
  C *c;
};

/// A library that this process has loaded.
struct Blas {
  std::string name;
  std::function<void(const Product<float, float, float> &)> sgemm;
  std::function<void(const Product<double, double, double> &)> dgemm;
  std::function<void(int)> set_threads;
};

const std::vector<Blas> &blas_peers();

}  // namespace polyhalite_apps
