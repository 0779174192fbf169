// Layers of networks beside oneDNN's: softmax, normalisation, attention, pooling, changes of
// layout.
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "apps/bench/onednn_layers.h"
#include "apps/bench/operator_case.h"
#include "polyhalite/ops.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite_apps {

namespace {

using polyhalite::Buffer;
using polyhalite::Expr;
using polyhalite::ImageParam;
namespace ops = polyhalite::ops;

using Shape = std::vector<int>;  // outermost first

int64_t elements(const Shape &s) {
  return std::accumulate(s.begin(), s.end(), int64_t{1}, std::multiplies<>());
}
ops::Index index_of(const Shape &s) { return {s.begin(), s.end()}; }

// Dense, the last dimension innermost.
template <typename Image>
void promise(Image image, const Shape &s) {
  int stride = 1;
  for (size_t d = 0; d < s.size(); d++) {
    const int extent = s[s.size() - 1 - d];
    image.dim(static_cast<int>(d)).set_bounds(0, extent).set_stride(stride);
    stride *= extent;
  }
}

struct Layer {
  std::string name, shape;
  std::vector<Shape> inputs;
  Shape result;
  double work = 0;   // operations
  double bytes = 0;  // that it has to read and to write at least; 0: arithmetic is its limit
  double tolerance = 1e-5;
  std::function<ops::Tensor(const std::vector<ops::Tensor> &)> make = {};
  std::function<std::function<void()>(const std::vector<const float *> &, float *)> peer = {};
};

Buffer<float> buffer_of(const Shape &s) {
  return Buffer<float>(std::vector<int>(s.rbegin(), s.rend()));
}

PreparedOperator prepare(const Layer &layer) {
  using namespace polyhalite;
  std::vector<Argument> arguments;
  std::vector<ops::Tensor> tensors;
  std::vector<Buffer<float>> operands;
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> values(-2, 2);
  for (const Shape &s : layer.inputs) {
    ImageParam image(Float(32), static_cast<int>(s.size()), "in" + std::to_string(tensors.size()));
    promise(image, s);
    tensors.emplace_back(image, index_of(s));
    arguments.emplace_back(image);
    operands.push_back(buffer_of(s));
    operands.back().for_each_value([&](float &v) { v = values(engine); });
  }
  const Target target = get_jit_target_from_environment();
  Func f = ops::materialize({layer.make(tensors)}, {"result"}, {{}}, target)[0];
  promise(f.output_buffer(), layer.result);
  const Buffer<float> ours = buffer_of(layer.result), theirs = buffer_of(layer.result);
  std::vector<const float *> data;
  for (const auto &b : operands) data.push_back(b.data());
  const Callable callable = f.compile_to_callable(arguments, target);

  PreparedOperator p;
  switch (operands.size()) {
    case 1:
      p.ours = [=, a = operands[0]] { callable(a, ours); };
      break;
    default:
      p.ours = [=, a = operands[0], b = operands[1], c = operands[2]] { callable(a, b, c, ours); };
  }
  if (auto run = layer.peer(data, theirs.data())) {
    p.peers.push_back({"oneDNN", [run, operands, theirs] { run(); }});
  }
  if (layer.bytes > 0) {
    const auto half = static_cast<size_t>(layer.bytes / 2);
    const auto from = std::make_shared<std::vector<char>>(half, 1),
               to = std::make_shared<std::vector<char>>(half);
    p.copy = [=] { std::memcpy(to->data(), from->data(), half); };
  }
  if (!p.peers.empty()) {
    p.check = [ours, theirs, n = elements(layer.result), most = layer.tolerance] {
      for (int64_t i = 0; i < n; i++) {
        const double apart = std::fabs(ours.data()[i] - theirs.data()[i]);
        if (!(apart <= most)) {
          return "differs from oneDNN by " + std::to_string(apart) + " at " + std::to_string(i);
        }
      }
      return std::string();
    };
  } else {
    p.check = [] { return std::string(); };
  }
  return p;
}

std::string text(const Shape &s) {
  std::string line;
  for (const int n : s) line += (line.empty() ? "" : "x") + std::to_string(n);
  return line;
}

double moved(const std::vector<Shape> &all) {
  double bytes = 0;
  for (const Shape &s : all) bytes += 4.0 * static_cast<double>(elements(s));
  return bytes;
}

Layer softmax(const Shape &s) {
  Layer l{.name = "softmax", .shape = text(s), .inputs = {s}, .result = s};
  l.bytes = moved({s, s});
  l.tolerance = 1e-6;
  l.make = [](const auto &in) { return ops::softmax(in[0], {-1}); };
  l.peer = [s](const auto &in, float *out) {
    return onednn_softmax(static_cast<int>(elements(s) / s.back()), s.back(), in[0], out);
  };
  return l;
}

Layer layer_norm(int rows, int columns) {
  const Shape s{rows, columns};
  Layer l{.name = "layer_norm", .shape = text(s), .inputs = {s, {columns}, {columns}}, .result = s};
  l.bytes = moved({s, s});
  l.make = [](const auto &in) {
    return ops::add(ops::multiply(ops::normalize(in[0], {-1}, 1e-5f), in[1]), in[2]);
  };
  l.peer = [=](const auto &in, float *out) {
    return onednn_layer_norm(rows, columns, 1e-5f, in[0], in[1], in[2], out);
  };
  return l;
}

Layer pool(const PooledImage &p) {
  const Shape in{1, p.channels, p.size, p.size}, out{1, p.channels, p.result(), p.result()};
  Layer l{.name = p.average ? "average_pool" : "max_pool",
          .shape = text(in) + " " + std::to_string(p.kernel) + "/" + std::to_string(p.stride),
          .inputs = {in},
          .result = out};
  l.bytes = moved({in, out});
  l.make = [p](const auto &tensors) {
    ops::Window w;
    w.kernel = {p.kernel, p.kernel};
    w.stride = {p.stride, p.stride};
    w.dilation = {1, 1};
    w.before = {p.padding, p.padding};
    w.shape = {p.result(), p.result()};
    return ops::pool(tensors[0], w, p.average ? ops::Pooling::Average : ops::Pooling::Max);
  };
  l.peer = [p](const auto &tensors, float *result) { return onednn_pool(p, tensors[0], result); };
  return l;
}

Layer transpose(const char *name, const Shape &s, const Shape &permutation) {
  Shape result;
  for (const int d : permutation) result.push_back(s[static_cast<size_t>(d)]);
  Layer l{.name = name, .shape = text(s), .inputs = {s}, .result = result};
  l.bytes = moved({s, s});
  l.tolerance = 0;
  l.make = [permutation](const auto &in) { return ops::transpose(in[0], permutation); };
  l.peer = [=](const auto &in, float *out) {
    const auto strides_of = [](const Shape &shape) {
      std::vector<int64_t> strides(shape.size(), 1);
      for (size_t d = shape.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * shape[d + 1];
      return strides;
    };
    const std::vector<int64_t> of_in = strides_of(s);
    std::vector<int64_t> permuted;
    for (const int d : permutation) permuted.push_back(of_in[static_cast<size_t>(d)]);
    return onednn_reorder({result.begin(), result.end()}, permuted, strides_of(result), in[0], out);
  };
  return l;
}

// Beside oneDNN's two products and a softmax.
Layer attention(int heads, int sequence, int size) {
  const Shape s{1, heads, sequence, size};
  Layer l{.name = "attention", .shape = text(s), .inputs = {s, s, s}, .result = s};
  l.work = 4.0 * heads * sequence * sequence * size;
  l.make = [](const auto &in) { return ops::attention(in[0], in[1], in[2]); };
  l.peer = [=](const auto &in, float *out) {
    return onednn_attention(heads, sequence, size, in[0], in[1], in[2], out);
  };
  return l;
}

}  // namespace

std::vector<OperatorCase> layer_cases() {
  std::vector<Layer> layers;
  for (const int sequence : {128, 1024}) layers.push_back(attention(12, sequence, 64));
  for (const Shape &s :
       {Shape{128, 1024}, Shape{12, 128, 128}, Shape{1, 50257}, Shape{32768, 1024}}) {
    layers.push_back(softmax(s));
  }
  for (const int rows : {128, 1024, 32768}) layers.push_back(layer_norm(rows, 768));
  // ResNet's; the last of ResNet-50 and of MobileNet; SqueezeNet's; a transition of DenseNet; two
  // that come from memory.
  for (const PooledImage &p : {PooledImage{64, 112, 3, 2, 1, false},
                               {2048, 7, 7, 1, 0, true},
                               {1280, 7, 7, 1, 0, true},
                               {64, 111, 3, 2, 0, false},
                               {256, 56, 2, 2, 0, true},
                               {64, 800, 3, 2, 1, false},
                               {64, 800, 2, 2, 0, true}}) {
    layers.push_back(pool(p));
  }
  for (const Shape &s : {Shape{1024, 1024}, Shape{8192, 4096}}) {
    layers.push_back(transpose("transpose", s, {1, 0}));
  }
  for (const int size : {112, 800}) {
    layers.push_back(transpose("nchw_to_nhwc", {1, 64, size, size}, {0, 2, 3, 1}));
    layers.push_back(transpose("nhwc_to_nchw", {1, size, size, 64}, {0, 3, 1, 2}));
  }
  std::vector<OperatorCase> cases;
  for (const Layer &l : layers) {
    OperatorCase one;
    one.name = l.name;
    one.shape = l.shape;
    one.type = "f32";
    one.work = l.work;
    one.bytes = l.bytes;
    one.prepare = [l] { return prepare(l); };
    cases.push_back(one);
  }
  return cases;
}

}  // namespace polyhalite_apps
