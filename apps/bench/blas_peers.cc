#include "apps/bench/blas_peers.h"

#include <dlfcn.h>

#include <cstdlib>

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

// With symbols of this library only: several have functions of the same names. None where it is not
// installed, or is another version.
template <typename Count>
void add(std::vector<Blas> *all, const char *name, const char *file, const char *set_threads) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library || !dlsym(library, "cblas_sgemm") || !dlsym(library, "cblas_dgemm")) return;
  const auto threads = reinterpret_cast<void (*)(Count)>(dlsym(library, set_threads));
  if (!threads) return;
  all->push_back({name, product<float>(library, "cblas_sgemm"),
                  product<double>(library, "cblas_dgemm"), [threads](int n) { threads(n); }});
}

// Processors younger than the libraries are taken for much older ones, with a fifth of the speed.
void choose_kernels() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) return;
  setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  setenv("BLIS_ARCH_TYPE", "0", 0);  // Skylake-X, of its table
#endif
}

std::vector<Blas> find_all() {
  choose_kernels();
  std::vector<Blas> all;
  add<int>(&all, "OpenBLAS", "libopenblas.so.0", "openblas_set_num_threads");
  add<long>(&all, "BLIS", "libblis.so.4", "bli_thread_set_num_threads");
  return all;
}

}  // namespace

const std::vector<Blas> &blas_peers() {
  static const std::vector<Blas> all = find_all();
  return all;
}

}  // namespace polyhalite_apps
