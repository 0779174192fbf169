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

ConvolutionPeer onednn_convolution(const Convolution &c) {
  using Dims = memory::dims;
  const auto any = memory::format_tag::any;
  const Dims image{1, c.channels, c.size, c.size};
  const Dims result{1, c.results, c.result_size(), c.result_size()};
  const Dims kernels = c.groups == 1 ? Dims{c.results, c.channels, c.kernel, c.kernel}
                                     : Dims{c.groups, c.results / c.groups, c.channels / c.groups,
                                            c.kernel, c.kernel};
  const Dims pad{c.padding(), c.padding()};
  const dnnl::convolution_forward::primitive_desc description(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
       memory::desc(image, Type::f32, any), memory::desc(kernels, Type::f32, any),
       memory::desc(result, Type::f32, any), Dims{c.stride, c.stride}, pad, pad},
      engine());
  const auto plain = memory::format_tag::nchw;
  const auto plain_kernels = c.groups == 1 ? memory::format_tag::oihw : memory::format_tag::goihw;
  dnnl::stream stream(engine());
  const auto reordered = [&](memory from, const memory::desc &to) {
    memory out(to, engine());
    dnnl::reorder(from, out).execute(stream, from, out);
    stream.wait();
    return out;
  };
  const memory x = reordered({{image, Type::f32, plain}, engine(), const_cast<float *>(c.x)},
                             description.src_desc());
  const memory w =
      reordered({{kernels, Type::f32, plain_kernels}, engine(), const_cast<float *>(c.w)},
                description.weights_desc());
  const memory y(description.dst_desc(), engine());
  const memory plain_y({result, Type::f32, plain}, engine(), c.y);
  const dnnl::convolution_forward primitive(description);
  const std::unordered_map<int, memory> arguments = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, y}};
  ConvolutionPeer peer;
  peer.run = [=]() mutable {
    primitive.execute(stream, arguments);
    stream.wait();
  };
  peer.finish = [=]() mutable {
    memory from = y, to = plain_y;
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  };
  return peer;
}

void set_onednn_threads(int threads) { omp_set_num_threads(threads); }

#else

std::function<void()> onednn_matmul(const Product<float, float, float> &) { return {}; }
std::function<void()> onednn_matmul(const Product<uint8_t, int8_t, int32_t> &) { return {}; }
ConvolutionPeer onednn_convolution(const Convolution &) { return {}; }
void set_onednn_threads(int) {}

#endif

}  // namespace polyhalite_apps
