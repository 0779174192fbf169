// Convolutions, pools and normalisations of images, by all engines.
#include "apps/onnx/program.h"
#include "test/onnx/run_all.h"

namespace polyhalite::onnx::images_test {
namespace {

// Images of few channels, turned and not: widths that fill vectors, and others.
TEST(onnx_images, images_of_few_channels) {
  for (const int channels : {2, 3, 4}) {
    for (const int width : {16, 37, 90}) {
      ModelBuilder b;
      b.input("x", {1, channels, 5, width}).weights("k", {}, {0.5f});
      b.node("Transpose", {"x"}, {"t"}, {ints_attribute("perm", {0, 2, 3, 1})});
      b.node("Mul", {"t", "k"}, {"m"}).node("Mul", {"m", "m"}, {"y"}).output("y");
      b.node("Transpose", {"m"}, {"z"}, {ints_attribute("perm", {0, 3, 1, 2})}).output("z");
      run_all(b, {{"x", random_tensor({1, channels, 5, width}, 3)}});
      ModelBuilder rows;
      rows.input("x", {1, 5, width, channels}).node("Neg", {"x"}, {"y"}).output("y");
      run_all(rows, {{"x", random_tensor({1, 5, width, channels}, 4)}});
    }
  }
}

// Few vectors in a row, and many, whose loop is cut.
TEST(onnx_images, padded_images) {
  for (const char *mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const int width : {9, 40, 300}) {
      ModelBuilder b(19);
      b.input("x", {2, 4, width}).weights("v", {}, {0.25f});
      b.initializer(ModelBuilder::tensor<int64_t>("p", 7, {6}, {0, 2, 3, 0, 1, 2}));
      std::vector<std::string> operands{"x", "p"};
      if (mode == std::string("constant")) operands.emplace_back("v");
      b.node("Pad", operands, {"y"}, {text_attribute("mode", mode)}).output("y");
      run_all(b, {{"x", random_tensor({2, 4, width}, 3)}});
    }
  }
}

TEST(onnx_images, convolutions_that_gain_take_winograds_form) {
  ModelBuilder b(15);
  b.input("x", {1, 32, 15, 13});
  b.weights("w", {40, 32, 3, 3}, list(random_tensor({40, 32, 3, 3}, 1)));
  b.weights("c", {40}, list(random_tensor({40}, 2)));
  b.node("Conv", {"x", "w", "c"}, {"y"}, {ints_attribute("pads", {1, 1, 1, 1})});
  b.node("Relu", {"y"}, {"r"}).output("r");
  const Constant x = random_tensor({1, 32, 15, 13}, 3);
  const Program p(b.load(), {});
  EXPECT_NE(to_text(p.graph()).find("winograd_tile"), std::string::npos) << to_text(p.graph());
  CompileOptions plain;
  plain.switched_off = {"winograd_kernels"};
  const Program direct(b.load(), plain);
  EXPECT_EQ(to_text(direct.graph()).find("winograd_tile"), std::string::npos);
  EXPECT_EQ(compare(p.run({{"x", x}}).at("r"), direct.run({{"x", x}}).at("r"), 1e-5, 1e-4), "");
}

// A depthwise convolution between row-major values goes along rows, with what follows point by
// point; one beside others, whose channels lie side by side, does not.
TEST(onnx_images, depthwise_planes) {
  for (const bool between : {false, true}) {
    ModelBuilder b(15);
    b.input("x", {1, 24, 12, 37});
    b.weights("w", {24, 1, 3, 3}, list(random_tensor({24, 1, 3, 3}, 1)));
    b.weights("c", {24}, list(random_tensor({24}, 2)));
    b.weights("v", {24, 24, 1, 1}, list(random_tensor({24, 24, 1, 1}, 4)));
    if (between) b.node("Conv", {"x", "v"}, {"t"});
    b.node("Conv", {between ? "t" : "x", "w", "c"}, {"y"},
           {ints_attribute("pads", {1, 1, 1, 1}), int_attribute("group", 24)});
    b.node("HardSigmoid", {"y"}, {"h"}).node("Mul", {"y", "h"}, {"r"});
    if (between) b.node("Conv", {"r", "v"}, {"s"});
    b.output(between ? "s" : "r");
    if (!between) run_all(b, {{"x", random_tensor({1, 24, 12, 37}, 3)}});
    const Program p(b.load(), {});
    bool turns = false, sums = false;
    for (const Kernel &k : p.kernels()) {
      for (const Directive &d : k.pipeline->directives) {
        turns = turns || d.func.substr(0, 6) == "pixels";
        sums = sums || d.func.substr(0, 11) == "convolution";
      }
    }
    EXPECT_EQ(turns || sums, between);
  }
}

TEST(onnx_images, convolution_pool_and_batch_norm) {
  ModelBuilder b(15);
  auto add = [&](const std::string &name, const std::vector<int64_t> &shape, uint32_t seed,
                 bool positive = false) {
    std::vector<float> v = list(random_tensor(shape, seed));
    for (float &f : v) f = positive ? f * f + 0.5f : f;
    b.weights(name, shape, v);
  };
  b.input("x", {1, 3, 11, 9});
  add("w", {8, 3, 3, 3}, 1);
  add("s", {8}, 2);
  add("t", {8}, 3);
  add("m", {8}, 4);
  add("v", {8}, 5, true);
  b.node("Conv", {"x", "w"}, {"c"},
         {ints_attribute("pads", {1, 1, 1, 1}), ints_attribute("strides", {2, 1})});
  b.node("BatchNormalization", {"c", "s", "t", "m", "v"}, {"n"}).node("Relu", {"n"}, {"r"});
  b.node("MaxPool", {"r"}, {"y"},
         {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})});
  b.output("y");
  const auto out = run_all(b, {{"x", random_tensor({1, 3, 11, 9}, 6)}});
  EXPECT_EQ(out.at("y").shape(), (std::vector<int64_t>{1, 8, 3, 4}));
  const Program p(b.load(), {});
  EXPECT_EQ(p.kernels().size(), 2u);
}

// Behind anything but a convolution of its own it is a multiplication and an addition.
TEST(onnx_images, batch_norm_of_known_numbers_is_pointwise) {
  ModelBuilder b(15);
  b.input("x", {2, 3, 5, 4}).input("z", {2, 1, 5, 4}).weights("s", {4}, {1, -2, 0.5f, 3});
  b.weights("t", {4}, {1, 2, 3, 4}).weights("m", {4}, {0, 0.5f, 1, -1});
  b.weights("v", {4}, {1, 0.25f, 2, 0});
  b.node("Concat", {"x", "z"}, {"c"}, {int_attribute("axis", 1)});
  b.node("BatchNormalization", {"c", "s", "t", "m", "v"}, {"n"}).node("Relu", {"n"}, {"y"});
  b.output("y").output("n");
  run_all(b, {{"x", random_tensor({2, 3, 5, 4}, 6)}, {"z", random_tensor({2, 1, 5, 4}, 7)}});
  const std::string graph = to_text(Program(b.load(), {}).graph());
  EXPECT_EQ(graph.find("BatchNormalization"), std::string::npos) << graph;
  EXPECT_NE(graph.find("Mul"), std::string::npos) << graph;
}

TEST(onnx_images, windows_between_convolutions) {
  // Channels are innermost there, and no multiple of a vector; at the edges windows are cut.
  for (const int channels : {3, 19, 40}) {
    for (const std::string op : {"MaxPool", "AveragePool", "LpPool"}) {
      ModelBuilder b;
      b.input("x", {2, channels, 9, 11});
      std::vector<float> half(static_cast<size_t>(channels * channels));
      for (int c = 0; c < channels; c++) half[static_cast<size_t>(c * (channels + 1))] = 0.5f;
      b.weights("w", {channels, channels, 1, 1}, half);
      b.node("Conv", {"x", "w"}, {"a"});
      b.node(op, {"a"}, {"p"},
             {ints_attribute("kernel_shape", {3, 2}), ints_attribute("strides", {2, 1}),
              ints_attribute("pads", {1, 0, 1, 1})});
      b.node("Relu", {"p"}, {"r"}).node("Conv", {"r", "w"}, {"y"}).output("y");
      run_all(b, {{"x", random_tensor({2, channels, 9, 11}, 4)}});
    }
  }
}

// Known kernels are those of phases, in strips; without optimisation they are not.
TEST(onnx_images, transposed_convolutions_by_phases) {
  struct Case {
    std::vector<int> image;  // spatial
    std::vector<int64_t> kernel, strides, pads, extra;
    bool in_strips;
  };
  const Case cases[] = {
      {{5, 6}, {4, 4}, {2, 2}, {1, 1, 1, 1}, {0, 0}, true},
      {{4, 4}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, true},
      {{3, 5}, {2, 3}, {3, 2}, {0, 1, 0, 0}, {0, 0}, true},
      {{6, 3}, {3, 3}, {1, 1}, {0, 0, 0, 0}, {0, 0}, true},
      {{4, 4}, {1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}, true},
      {{7}, {5}, {3}, {2, 1}, {0}, true},
      {{3, 2, 4}, {2, 3, 2}, {2, 1, 2}, {0, 1, 0, 0, 1, 0}, {0, 0, 0}, true},
      {{6, 6}, {3, 3}, {4, 4}, {2, 2, 2, 2}, {0, 0}, true},
      {{6, 6}, {2, 2}, {1, 1}, {2, 2, 2, 2}, {0, 0}, false},  // more padding than cells
  };
  for (const Case &c : cases) {
    ModelBuilder b;
    std::vector<TestDim> dims{2, 3};
    std::vector<int64_t> shape{2, 3}, kernels{3, 5};
    for (int n : c.image) dims.emplace_back(n);
    shape.insert(shape.end(), c.image.begin(), c.image.end());
    kernels.insert(kernels.end(), c.kernel.begin(), c.kernel.end());
    const auto numbers = [](const std::vector<int64_t> &s, uint32_t seed) {
      const Constant made = random_tensor(s, seed);
      return list(made);
    };
    b.input("x", dims)
        .weights("w", kernels, numbers(kernels, 1))
        .weights("b", {5}, {1, 2, 3, 4, 5});
    // In front of a convolution channels lie side by side.
    std::vector<int64_t> after{2, 5};
    after.resize(shape.size(), 1);
    b.node("ConvTranspose", {"x", "w", "b"}, {"t"},
           {ints_attribute("strides", c.strides), ints_attribute("pads", c.pads),
            ints_attribute("output_padding", c.extra)});
    b.weights("v", after, numbers(after, 2)).node("Conv", {"t", "v"}, {"y"});
    b.output("t").output("y");
    run_all(b, {{"x", random_tensor(shape, 3)}});
    const Program p(b.load(), {});
    const auto strips =
        std::count_if(p.graph().nodes.begin(), p.graph().nodes.end(),
                      [](const Node &n) { return n.is("ConvTranspose") && n.has("strips_of"); });
    EXPECT_EQ(strips, c.in_strips) << c.kernel[0] << " " << c.strides[0];
  }
}

// Channels lie side by side between convolutions: they are the lanes of sums over pixels.
TEST(onnx_images, normalisations_between_convolutions) {
  ModelBuilder b;
  b.input("x", {1, 3, 9, 9});
  std::vector<float> w(32 * 3 * 9), v(32 * 32), scale(32), shift(32);
  std::mt19937 bits(6);
  std::uniform_real_distribution<float> d(-1, 1);
  for (auto *list : {&w, &v, &scale, &shift}) {
    for (float &f : *list) f = d(bits);
  }
  b.weights("w", {32, 3, 3, 3}, w).weights("v", {32, 32, 1, 1}, v);
  b.weights("scale", {32}, scale).weights("shift", {32}, shift);
  b.node("Conv", {"x", "w"}, {"c"})
      .node("InstanceNormalization", {"c", "scale", "shift"}, {"n"})
      .node("Relu", {"n"}, {"r"})
      .node("Conv", {"r", "v"}, {"y"})
      .node("GlobalMaxPool", {"y"}, {"peak"})
      .output("y")
      .output("peak");
  run_all(b, {{"x", random_tensor({1, 3, 9, 9}, 7)}});
}

TEST(onnx_images, windows_of_few_points) {
  ModelBuilder b;
  b.input("x", {1, 1, 4, 4})
      .node("MaxPool", {"x"}, {"y"},
            {ints_attribute("kernel_shape", {2, 2}), ints_attribute("dilations", {2, 2})});
  const auto out = run_all(
      b.output("y"),
      {{"x", floats({1, 1, 4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})}});
  EXPECT_EQ(list(out.at("y")), (std::vector<float>{11, 12, 15, 16}));
}

}  // namespace
}  // namespace polyhalite::onnx::images_test
