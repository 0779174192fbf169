// A layer of a convolutional network: 3 x 3 convolution of `depth` channels to `depth` channels,
// bias, and max(0, .). Channels are innermost. Sizes are fixed when the generator runs.
#include "Halide.h"

using namespace Halide;

namespace {

class ConvLayer : public Generator<ConvLayer> {
 public:
  Input<Buffer<float, 4>> input{"input"};    // channel, x, y, image
  Input<Buffer<float, 4>> filter{"filter"};  // output channel, x, y, input channel
  Input<Buffer<float, 1>> bias{"bias"};
  Output<Buffer<float, 4>> output{"output"};
  GeneratorParam<int> depth{"depth", 128}, width{"width", 100}, height{"height", 80};
  GeneratorParam<int> images{"images", 1};
  /// none: only what is required; naive: every stage in full, one after the other; good: a block
  /// of sums stays in registers through the whole reduction.
  GeneratorParam<std::string> schedule_name{"schedule", "good"};

  void generate() {
    const int d = depth, w = width, h = height, n = images;
    RDom r(0, d, 0, 3, 0, 3);
    conv(c, x, y, i) = bias(c);
    conv(c, x, y, i) += filter(c, r.y, r.z, r.x) * input(r.x, x + r.y, y + r.z, i);
    output(c, x, y, i) = max(0.0f, conv(c, x, y, i));

    fix(input, {d, w + 2, h + 2, n});
    fix(filter, {d, 3, 3, d});
    fix(bias, {d});
    fix(output, {d, w, h, n});

    const std::string name = schedule_name;
    if (name == "naive") {
      conv.compute_root();
    } else if (name == "good") {
      // 2 vectors x 5 pixels of sums leave 6 of 16 registers for a filter's vectors and a pixel;
      // machines with 32 registers hold 4 x 5.
      const bool many_registers = get_target().has_feature(Target::AVX512_Skylake);
      const int lanes = natural_vector_size<float>();
      const int vectors = many_registers ? 4 : 2, pixels = 5;
      Var co{"co"}, ci{"ci"}, xo{"xo"}, xi{"xi"};
      output.split(c, co, ci, lanes * vectors)
          .split(x, xo, xi, pixels)
          .reorder(ci, xi, xo, y, i, co)
          .vectorize(ci, lanes)
          .unroll(ci)
          .unroll(xi)
          .parallel(y)
          .parallel(i)
          .parallel(co);
      conv.compute_at(output, xo).vectorize(c, lanes).unroll(c).unroll(x);
      conv.update()
          .reorder(c, x, r.x, r.y, r.z, y, i)
          .vectorize(c, lanes)
          .unroll(c)
          .unroll(x)
          .unroll(r.x, 2);
    }
  }

 private:
  template <typename Port>
  void fix(Port &port, const std::vector<int> &extents) {
    int stride = 1;
    for (size_t k = 0; k < extents.size(); k++) {
      port.dim(static_cast<int>(k)).set_bounds(0, extents[k]).set_stride(stride);
      stride *= extents[k];
    }
  }

  Var c{"c"}, x{"x"}, y{"y"}, i{"i"};
  Func conv{"conv"};
};

}  // namespace

HALIDE_REGISTER_GENERATOR(ConvLayer, conv_layer)
