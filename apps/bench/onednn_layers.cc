#include "apps/bench/onednn_layers.h"

#include <cmath>

#if POLYHALITE_HAVE_ONEDNN
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#endif

namespace polyhalite_apps {

#if POLYHALITE_HAVE_ONEDNN

namespace {

using dnnl::memory;
using Desc = memory::desc;
using Arguments = std::unordered_map<int, memory>;
constexpr auto kFloat = memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

dnnl::engine &engine() {
  static dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}

memory of(const Desc &d, const float *data) {
  return memory(d, engine(), const_cast<float *>(data));
}

struct Step {
  dnnl::primitive primitive;
  Arguments arguments;
};

std::function<void()> run(std::vector<Step> steps) {
  dnnl::stream stream(engine());
  return [=]() mutable {
    for (Step &s : steps) s.primitive.execute(stream, s.arguments);
    stream.wait();
  };
}

Step softmax(const Desc &d, const float *in, float *out) {
  const dnnl::softmax_forward::desc what(kInference, d, d.dims().size() - 1);
  return {dnnl::softmax_forward({what, engine()}),
          {{DNNL_ARG_SRC, of(d, in)}, {DNNL_ARG_DST, of(d, out)}}};
}

Step product(const Desc &a, const Desc &b, const Desc &c, const dnnl::primitive_attr &attributes,
             const float *x, const float *y, float *out) {
  const dnnl::matmul::primitive_desc what({a, b, c}, attributes, engine());
  return {dnnl::matmul(what),
          {{DNNL_ARG_SRC, of(a, x)}, {DNNL_ARG_WEIGHTS, of(b, y)}, {DNNL_ARG_DST, of(c, out)}}};
}

}  // namespace

std::function<void()> onednn_softmax(int rows, int columns, const float *in, float *out) {
  return run({softmax({{rows, columns}, kFloat, memory::format_tag::ab}, in, out)});
}

std::function<void()> onednn_layer_norm(int rows, int columns, float epsilon, const float *in,
                                        const float *scale, const float *shift, float *out) {
  using Flags = dnnl::normalization_flags;
  const Desc d({rows, columns}, kFloat, memory::format_tag::ab),
      one({columns}, kFloat, memory::format_tag::a);
  const dnnl::layer_normalization_forward::desc what(kInference, d, epsilon,
                                                     Flags::use_scale | Flags::use_shift);
  return run({{dnnl::layer_normalization_forward({what, engine()}),
               {{DNNL_ARG_SRC, of(d, in)},
                {DNNL_ARG_SCALE, of(one, scale)},
                {DNNL_ARG_SHIFT, of(one, shift)},
                {DNNL_ARG_DST, of(d, out)}}}});
}

std::function<void()> onednn_pool(const PooledImage &p, const float *in, float *out) {
  const int n = p.result();
  const Desc from({1, p.channels, p.size, p.size}, kFloat, memory::format_tag::nchw),
      to({1, p.channels, n, n}, kFloat, memory::format_tag::nchw);
  const int behind = (n - 1) * p.stride + p.kernel - p.size - p.padding;
  const dnnl::pooling_forward::desc what(
      kInference,
      p.average ? dnnl::algorithm::pooling_avg_exclude_padding : dnnl::algorithm::pooling_max, from,
      to, {p.stride, p.stride}, {p.kernel, p.kernel}, {p.padding, p.padding}, {behind, behind});
  return run({{dnnl::pooling_forward({what, engine()}),
               {{DNNL_ARG_SRC, of(from, in)}, {DNNL_ARG_DST, of(to, out)}}}});
}

std::function<void()> onednn_reorder(const std::vector<int64_t> &shape,
                                     const std::vector<int64_t> &in_strides,
                                     const std::vector<int64_t> &out_strides, const float *in,
                                     float *out) {
  const Desc from(shape, kFloat, in_strides), to(shape, kFloat, out_strides);
  return run({{dnnl::reorder({engine(), from, engine(), to}),
               {{DNNL_ARG_FROM, of(from, in)}, {DNNL_ARG_TO, of(to, out)}}}});
}

std::function<void()> onednn_attention(int heads, int sequence, int size, const float *q,
                                       const float *k, const float *v, float *out) {
  const auto plain = memory::format_tag::abc;
  const Desc rows({heads, sequence, size}, kFloat, plain),
      columns({heads, size, sequence}, kFloat, memory::format_tag::acb),
      scores({heads, sequence, sequence}, kFloat, plain);
  const auto held = std::make_shared<std::vector<float>>(size_t(heads) * sequence * sequence);
  dnnl::primitive_attr scaled;
  scaled.set_output_scales(0, {1 / std::sqrt(static_cast<float>(size))});
  float *s = held->data();
  const auto all = run({product(rows, columns, scores, scaled, q, k, s), softmax(scores, s, s),
                        product(scores, rows, rows, {}, s, v, out)});
  return [all, held] { all(); };
}

#else

std::function<void()> onednn_softmax(int, int, const float *, float *) { return {}; }
std::function<void()> onednn_layer_norm(int, int, float, const float *, const float *,
                                        const float *, float *) {
  return {};
}
std::function<void()> onednn_pool(const PooledImage &, const float *, float *) { return {}; }
std::function<void()> onednn_reorder(const std::vector<int64_t> &, const std::vector<int64_t> &,
                                     const std::vector<int64_t> &, const float *, float *) {
  return {};
}
std::function<void()> onednn_attention(int, int, int, const float *, const float *, const float *,
                                       float *) {
  return {};
}

#endif

}  // namespace polyhalite_apps
