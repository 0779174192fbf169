#include "apps/bench/blas_peers.h"

#include <dlfcn.h>

namespace polyhalite_apps {

namespace {

template <typename T>
using Gemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha,
                      const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc);
constexpr int kRowMajor = 101, kNoTranspose = 111;  // of cblas.h

template <typename T>
std::function<void(const Product<T, T, T> &)> product(void *library, const char *symbol) {
  const auto gemm = reinterpret_cast<Gemm<T>>(dlsym(library, symbol));
  return [gemm](const Product<T, T, T> &p) {
    gemm(kRowMajor, kNoTranspose, kNoTranspose, p.rows, p.columns, p.depth, T(1), p.a, p.depth, p.b,
         p.columns, T(0), p.c, p.columns);
  };
}

// Symbols of one library only: both have functions of the same names.
void *load(const char *file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); }

std::vector<Blas> find_all() {
  std::vector<Blas> all;
  if (void *library = load("libopenblas.so.0")) {
    const auto threads =
        reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    all.push_back({"OpenBLAS", product<float>(library, "cblas_sgemm"),
                   product<double>(library, "cblas_dgemm"), threads});
  }
  if (void *library = load("libblis.so.4")) {
    const auto threads =
        reinterpret_cast<void (*)(long)>(dlsym(library, "bli_thread_set_num_threads"));
    all.push_back({"BLIS", product<float>(library, "cblas_sgemm"),
                   product<double>(library, "cblas_dgemm"), [threads](int n) { threads(n); }});
  }
  return all;
}

}  // namespace

const std::vector<Blas> &blas_peers() {
  static const std::vector<Blas> all = find_all();
  return all;
}

}  // namespace polyhalite_apps
