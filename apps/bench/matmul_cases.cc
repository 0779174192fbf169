// Products of matrices: the library's matmul beside OpenBLAS, BLIS and oneDNN.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>

#include "apps/bench/blas_peers.h"
#include "apps/bench/onednn_peers.h"
#include "apps/bench/operator_case.h"
#include "polyhalite/ops.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

namespace {

using polyhalite::Buffer;

// Squares; layers of transformers; a vector with a matrix. Then odd ones: primes, tall, flat, tiny;
// few rows of a large matrix.
const std::vector<ProductSize> kSizes = {
    {256, 256, 256},  {512, 512, 512},  {1024, 1024, 1024}, {2048, 2048, 2048}, {128, 768, 768},
    {128, 3072, 768}, {1, 4096, 4096},  {1, 64, 64},        {2, 3, 5},          {7, 7, 7},
    {8, 8, 8},        {16, 16, 16},     {31, 31, 31},       {33, 65, 17},       {64, 64, 64},
    {97, 101, 103},   {127, 127, 127},  {100, 10, 1000},    {1000, 10, 100},    {10, 1000, 100},
    {1021, 13, 1019}, {13, 1021, 1019}, {499, 503, 509},    {4096, 32, 64},     {32, 4096, 64},
    {64, 64, 4096},   {3, 2048, 512},   {2048, 3, 512},     {1000, 1000, 1000}, {4, 4096, 4096},
    {32, 4096, 4096},
};

template <typename T>
struct Noise;
template <>
struct Noise<float> : std::uniform_real_distribution<float> {
  Noise() : uniform_real_distribution(-1, 1) {}
};
template <>
struct Noise<double> : std::uniform_real_distribution<double> {
  Noise() : uniform_real_distribution(-1, 1) {}
};
// Where there are no dot products of bytes, oneDNN adds two products in 16 bits, which 255*127*2
// does not fit: its results differ from the exact ones there, unless numbers have seven bits.
int largest_byte() {
  using polyhalite::Target;
  return polyhalite::get_host_target().features_any_of(
             {Target::AVX512_Zen4, Target::AVX512_SapphireRapids})
             ? 255
             : 127;
}
template <>
struct Noise<uint8_t> : std::uniform_int_distribution<int> {
  Noise() : uniform_int_distribution(0, largest_byte()) {}
};
template <>
struct Noise<int8_t> : std::uniform_int_distribution<int> {
  Noise() : uniform_int_distribution(-128, 127) {}
};

template <typename T>
Buffer<T, 2> noise(int columns, int rows, uint32_t seed) {
  Buffer<T, 2> b(columns, rows);
  std::mt19937 engine(seed);
  Noise<T> values;
  b.for_each_value([&](T &v) { v = static_cast<T>(values(engine)); });
  return b;
}

template <typename A, typename B, typename C>
polyhalite::Callable compile(const ProductSize &s) {
  using namespace polyhalite;
  ImageParam a(type_of<A>(), 2, "a"), b(type_of<B>(), 2, "b");
  const auto promise = [](auto image, int columns, int rows) {
    image.dim(0).set_bounds(0, columns).set_stride(1);
    image.dim(1).set_bounds(0, rows).set_stride(columns);
  };
  promise(a, s.depth, s.rows);
  promise(b, s.columns, s.depth);
  const ops::Tensor c = ops::matmul(ops::Tensor(a, {s.rows, s.depth}),
                                    ops::Tensor(b, {s.depth, s.columns}), type_of<C>());
  const Target target = get_jit_target_from_environment();
  Func out = ops::materialize({c}, {"c"}, {{}}, target)[0];
  promise(out.output_buffer(), s.columns, s.rows);
  return out.compile_to_callable({a, b}, target);
}

// For any sizes, rows side by side.
template <typename A, typename B, typename C>
polyhalite::Callable compile_open() {
  using namespace polyhalite;
  ImageParam a(type_of<A>(), 2, "a"), b(type_of<B>(), 2, "b");
  const Expr rows = a.dim(1).extent(), depth = a.dim(0).extent(), columns = b.dim(0).extent();
  a.dim(0).set_min(0);
  a.dim(1).set_min(0);
  b.dim(0).set_min(0);
  b.dim(1).set_bounds(0, depth);
  const ops::Tensor c =
      ops::matmul(ops::Tensor(a, {rows, depth}), ops::Tensor(b, {depth, columns}), type_of<C>());
  const Target target = get_jit_target_from_environment();
  Func out = ops::materialize({c}, {"c"}, {{}}, target)[0];
  out.output_buffer().dim(0).set_bounds(0, columns);
  out.output_buffer().dim(1).set_bounds(0, rows);
  return out.compile_to_callable({a, b}, target);
}

template <typename A, typename B, typename C>
PreparedOperator prepare(const ProductSize &s, bool open) {
  const auto a = noise<A>(s.depth, s.rows, 1);
  const auto b = noise<B>(s.columns, s.depth, 2);
  const Buffer<C, 2> c(s.columns, s.rows);
  const auto product = [&](const Buffer<C, 2> &result) {
    return Product<A, B, C>{s.rows, s.columns, s.depth, a.data(), b.data(), result.data()};
  };
  PreparedOperator p;
  p.ours = [callable = open ? compile_open<A, B, C>() : compile<A, B, C>(s), a, b, c] {
    callable(a, b, c);
  };
  std::vector<std::pair<std::string, Buffer<C, 2>>> results;
  const auto add = [&](const std::string &name, const std::function<void()> &run,
                       const Buffer<C, 2> &result) {
    if (!run) return;
    p.peers.push_back({name, run});
    results.emplace_back(name, result);
  };
  if constexpr (!std::is_integral_v<C>) {
    for (const Blas &blas : blas_peers()) {
      const Buffer<C, 2> result(s.columns, s.rows);
      const auto &gemm = [&]() -> const std::function<void(const Product<A, B, C> &)> & {
        if constexpr (std::is_same_v<C, float>) {
          return blas.sgemm;
        } else {
          return blas.dgemm;
        }
      }();
      add(blas.name, [gemm, product = product(result)] { gemm(product); }, result);
    }
  }
  if constexpr (!std::is_same_v<C, double>) {
    const Buffer<C, 2> result(s.columns, s.rows);
    add("oneDNN", onednn_matmul(product(result)), result);
  }
  // Each of two sums of `depth` products, none larger than 1, may be off by depth/2 units of the
  // last place of a partial sum; integers are exact.
  const double allowed = std::is_integral_v<C> ? 0
                                               : 2.0 * s.depth * std::numeric_limits<C>::epsilon() *
                                                     std::sqrt(s.depth);
  p.check = [c, results, allowed] {
    for (const auto &[name, result] : results) {
      double apart = 0;
      result.for_each_element([&, &theirs = result](const int *at) {
        const double d = std::abs(static_cast<double>(c(at[0], at[1])) - theirs(at[0], at[1]));
        if (!(d <= apart)) apart = d;
      });
      if (!(apart <= allowed)) return "differs from " + name + " by " + std::to_string(apart);
    }
    return std::string();
  };
  return p;
}

template <typename A, typename B, typename C>
void add_cases(const std::vector<ProductSize> &sizes, const char *type, double share_of_peak,
               std::vector<OperatorCase> *cases, bool open = false) {
  for (const ProductSize &s : sizes) {
    OperatorCase one;
    one.name = open ? "matmul_open" : "matmul";
    one.shape =
        std::to_string(s.rows) + "x" + std::to_string(s.columns) + "x" + std::to_string(s.depth);
    one.type = type;
    one.work = 2.0 * s.rows * s.columns * s.depth;
    one.share_of_peak = share_of_peak;
    one.prepare = [s, open] { return prepare<A, B, C>(s, open); };
    cases->push_back(one);
  }
}

}  // namespace

std::vector<OperatorCase> matmul_cases(const std::vector<ProductSize> &further) {
  std::vector<ProductSize> sizes = kSizes;
  sizes.insert(sizes.end(), further.begin(), further.end());
  std::vector<OperatorCase> cases;
  add_cases<float, float, float>(sizes, "f32", 1, &cases);
  add_cases<double, double, double>(sizes, "f64", 0.5, &cases);
  // A dot product of four bytes each where f32 has one multiply-add.
  add_cases<uint8_t, int8_t, int32_t>(sizes, "u8s8", 4, &cases);
  // One program for all sizes.
  add_cases<float, float, float>(sizes, "f32", 1, &cases, true);
  return cases;
}

}  // namespace polyhalite_apps
