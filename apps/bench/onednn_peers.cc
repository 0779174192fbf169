#include "apps/bench/onednn_peers.h"

#if POLYHALITE_HAVE_ONEDNN
#include <omp.h>

#include <dnnl.hpp>
#include <unordered_map>
#endif

namespace polyhalite_apps {

#if POLYHALITE_HAVE_ONEDNN

namespace {

using dnnl::memory;
using Type = memory::data_type;

dnnl::engine &engine() {
  static dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

template <typename A, typename B, typename C>
std::function<void()> matmul(const Product<A, B, C> &p, Type a, Type b, Type c) {
  const auto plain = memory::format_tag::ab;
  const memory::desc left({p.rows, p.depth}, a, plain), right({p.depth, p.columns}, b, plain),
      result({p.rows, p.columns}, c, plain);
  const dnnl::matmul::primitive_desc description({left, right, result}, engine());
  const dnnl::matmul primitive(description);
  dnnl::stream stream(engine());
  const std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, memory(left, engine(), const_cast<A *>(p.a))},
      {DNNL_ARG_WEIGHTS, memory(right, engine(), const_cast<B *>(p.b))},
      {DNNL_ARG_DST, memory(result, engine(), p.c)}};
  return [=]() mutable {
    primitive.execute(stream, arguments);
    stream.wait();
  };
}

}  // namespace

std::function<void()> onednn_matmul(const Product<float, float, float> &p) {
  return matmul(p, Type::f32, Type::f32, Type::f32);
}
std::function<void()> onednn_matmul(const Product<uint8_t, int8_t, int32_t> &p) {
  return matmul(p, Type::u8, Type::s8, Type::s32);
}

void set_onednn_threads(int threads) { omp_set_num_threads(threads); }

#else

std::function<void()> onednn_matmul(const Product<float, float, float> &) { return {}; }
std::function<void()> onednn_matmul(const Product<uint8_t, int8_t, int32_t> &) { return {}; }
void set_onednn_threads(int) {}

#endif

}  // namespace polyhalite_apps
