// Images that keep their channels innermost up to the graph's end, and normalisation of such
// images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/onnx/operators.h"
#include "test/onnx/run_all.h"

namespace polyhalite::onnx::turn_images_test {
namespace {

using Shape64 = std::vector<int64_t>;
using Names = std::vector<std::string>;

int64_t product(const Shape64 &shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

void random_weights(ModelBuilder *b, const std::string &name, const Shape64 &shape, uint32_t seed) {
  b->weights(name, shape, random_list(static_cast<size_t>(product(shape)), seed));
}
std::vector<TestDim> known_dims(const Shape64 &shape) { return {shape.begin(), shape.end()}; }
// A convolution of its own weights, from c channels to as many.
void convolution(ModelBuilder *b, const std::string &from, const std::string &to, int64_t c,
                 uint32_t seed, int64_t cells = 1) {
  random_weights(b, to + ".w", {c, c, cells, cells}, seed);
  const int64_t pad = cells / 2;
  b->node("Conv", {from, to + ".w"}, {to}, {ints_attribute("pads", {pad, pad, pad, pad})});
}

struct Checked {
  std::shared_ptr<const Program> program;
  Program::Tensors outputs;

  const Node *maker(const std::string &name) const {
    const Graph &g = program->graph();
    for (const Node &n : g.nodes) {
      for (const ValueId v : n.outputs) {
        if (v != kNone && g.value(v).name == name) return &n;
      }
    }
    return nullptr;
  }
  bool is_turned(const std::string &name) const { return maker(name) && is_turn(*maker(name)); }
  std::string ops() const {
    std::string text;
    for (const Node &n : program->graph().nodes) text += (text.empty() ? "" : " ") + n.op;
    return text;
  }
  int64_t turns() const {
    const std::vector<Node> &nodes = program->graph().nodes;
    return std::count_if(nodes.begin(), nodes.end(), is_turn);
  }
  std::string text() const { return to_text(program->graph()); }
};

Checked expect_plain(const ModelBuilder &b, const Program::Tensors &in, Session *session = nullptr,
                     double tolerance = 1e-4) {
  const Session::Run run = run_beside_nodes(b, in, tolerance, session);
  return {run.program, run.outputs};
}

// What reads images with channels innermost and stands at the end of the graph.
void add_readers(ModelBuilder *b, const std::string &c, int64_t channels) {
  b->node("MaxPool", {c}, {"peak"},
          {ints_attribute("kernel_shape", {3, 2}), ints_attribute("strides", {2, 1}),
           ints_attribute("pads", {1, 0, 1, 1})});
  b->node("AveragePool", {c}, {"mean"},
          {ints_attribute("kernel_shape", {2, 3}), ints_attribute("pads", {0, 1, 1, 1})});
  b->integers("around", {0, 0, 1, 2, 0, 0, 0, 3}).integers("planes", {0, 1, 0, 0, 0, 2, 0, 1});
  b->weights("fill", {}, {0.5f});
  b->node("Pad", {c, "around"}, {"mirrored"}, {text_attribute("mode", "reflect")});
  b->node("Pad", {c, "planes", "fill"}, {"filled"});
  convolution(b, "x", "c2", channels, 7);
  b->node("Concat", {c, "c2"}, {"both"}, {int_attribute("axis", 1)});
  b->node("Concat", {c, "x", c}, {"with_input"}, {int_attribute("axis", 1)});
  b->node("Concat", {"x", c}, {"under"}, {int_attribute("axis", 2)});
  b->integers("from", {1, 3}).integers("to", {INT32_MAX, -1}).integers("axes", {2, 3});
  b->integers("step", {1, 2}).integers("one", {1}).integers("end", {channels}).integers("two", {2});
  b->node("Slice", {c, "from", "to", "axes", "step"}, {"inner"});
  b->node("Slice", {c, "one", "end", "one", "two"}, {"every_other"});
  b->integers("parts", {1, channels - 1});
  b->node("Split", {c, "parts"}, {"first", "rest"}, {int_attribute("axis", 1)});
  b->weights("scales", {4}, {1, 1, 2, 1.5f});
  for (const char *mode : {"nearest", "linear"})
    b->node("Resize", {c, "", "scales"}, {mode}, {text_attribute("mode", mode)});
  random_weights(b, "scale", {channels}, 8);
  random_weights(b, "bias", {channels}, 9);
  b->node("GroupNormalization", {c, "scale", "bias"}, {"groups"},
          {int_attribute("num_groups", channels % 4 == 0 ? 4 : 1)});
  b->node("InstanceNormalization", {c, "scale", "bias"}, {"normal"})
      .node("Relu", {"normal"}, {"instances"});
  for (const char *name :
       {"peak", "mean", "mirrored", "filled", "both", "with_input", "under", "inner", "every_other",
        "first", "rest", "nearest", "linear", "groups", "instances"})
    b->output(name);
}
void expect_readers(int channels, const TestDim &images, const TestDim &rows,
                    const TestDim &columns, const std::vector<Shape64> &shapes) {
  ModelBuilder b(21);
  b.input("x", {images, channels, rows, columns});
  convolution(&b, "x", "c", channels, 6);
  add_readers(&b, "c", channels);
  Session session(b.load());
  for (const Shape64 &shape : shapes) {
    SCOPED_TRACE(testing::PrintToString(shape));
    const Checked got = expect_plain(b, {{"x", random_tensor(shape, 10)}}, &session);
    int64_t turns = 0;
    for (const auto &[name, y] : got.outputs) {
      constexpr int64_t kFewChannels = 4, kFewElements = 1024;
      const bool is_large = !rows.symbol.empty() || y.elements() >= kFewElements;
      const bool turned = y.shape()[1] >= kFewChannels && is_large;
      EXPECT_EQ(got.is_turned(name), turned) << name << "\n" << got.text();
      turns += turned ? 1 : 0;
    }
    // The input in front of the Concats, once for both of them.
    const bool turns_input = channels >= 4 && (!rows.symbol.empty() || product(shape) >= 1024);
    EXPECT_EQ(got.turns(), turns + (turns_input ? 1 : 0)) << got.text();
  }
}
TEST(onnx_turn_images, at_the_end_of_known_sizes) {
  expect_readers(8, 1, 9, 11, {{1, 8, 9, 11}});
  expect_readers(17, 2, 9, 11, {{2, 17, 9, 11}});
}
TEST(onnx_turn_images, at_the_end_of_open_sizes) {
  for (const int channels : {3, 64}) {
    expect_readers(channels, "N", "H", "W",
                   {{2, channels, 7, 11}, {1, channels, 5, 8}, {0, channels, 8, 9}});
  }
}

// 1024 elements, and one column less.
TEST(onnx_turn_images, few_elements_are_written_across) {
  for (const int columns : {16, 15}) {
    ModelBuilder b(18);
    b.input("x", {1, 8, 8, columns});
    convolution(&b, "x", "c", 8, 1);
    b.node("MaxPool", {"c"}, {"y"}, {ints_attribute("kernel_shape", {1, 1})}).output("y");
    const Checked got = expect_plain(b, {{"x", random_tensor({1, 8, 8, columns}, 2)}});
    EXPECT_EQ(got.turns(), columns == 16 ? 1 : 0) << got.text();
    EXPECT_EQ(got.is_turned("y"), columns == 16);
  }
}

// Nothing is turned on its own where no image has channels innermost, or where the layouts are
// switched off.
TEST(onnx_turn_images, images_as_they_are_given_stay) {
  ModelBuilder b(18);
  b.input("x", {2, 16, 9, 11});
  b.node("MaxPool", {"x"}, {"y"}, {ints_attribute("kernel_shape", {2, 2})}).output("y");
  EXPECT_EQ(expect_plain(b, {{"x", random_tensor({2, 16, 9, 11}, 1)}}).turns(), 0);
  ModelBuilder last(18);
  last.input("x", {2, 16, 9, 11});
  convolution(&last, "x", "c", 16, 2, 3);
  last.node("Relu", {"c"}, {"y"}).output("y");
  EXPECT_EQ(expect_plain(last, {{"x", random_tensor({2, 16, 9, 11}, 1)}}).turns(), 0);
  last.node("MaxPool", {"c"}, {"z"}, {ints_attribute("kernel_shape", {2, 2})}).output("z");
  CompileOptions options;
  options.switched_off = {"choose_layouts"};
  Session session(last.load(), options);
  EXPECT_EQ(expect_plain(last, {{"x", random_tensor({2, 16, 9, 11}, 1)}}, &session).turns(), 0);
}

// The graph gives them away, and convolutions and pools read them as they were made.
TEST(onnx_turn_images, outputs_that_others_read) {
  for (const Shape64 &shape : {Shape64{2, 8, 12, 14}, Shape64{1, 64, 6, 5}, Shape64{2, 3, 12, 14},
                               Shape64{1, 17, 9, 10}}) {
    const int64_t channels = shape[1];
    const bool open = channels % 2 != 0;
    ModelBuilder b(18);
    b.input("x", open ? std::vector<TestDim>{"N", static_cast<int>(channels), "H", "W"}
                      : known_dims(shape));
    convolution(&b, "x", "c", channels, 1);
    convolution(&b, "c", "d", channels, 2, 3);
    b.node("MaxPool", {"d"}, {"p"},
           {ints_attribute("kernel_shape", {3, 3}), ints_attribute("pads", {1, 1, 1, 1})});
    convolution(&b, "p", "e", channels, 3);
    b.node("AveragePool", {"p"}, {"q"},
           {ints_attribute("kernel_shape", {2, 2}), ints_attribute("pads", {1, 0, 0, 1})});
    for (const char *name : {"c", "d", "p", "e", "q"}) b.output(name);
    const Checked got = expect_plain(b, {{"x", random_tensor(shape, 4)}}, nullptr, 1e-3);
    for (const char *name : {"c", "d", "p", "q"})
      EXPECT_EQ(got.is_turned(name), channels >= 4) << name << "\n" << got.text();
    // A convolution that nothing reads writes across itself.
    EXPECT_EQ(got.turns(), channels >= 4 ? 4 : 0) << got.text();
  }
}

// What is made with channels innermost is joined as it was made.
// Between kernels images are row-major: nothing reads them as they were made.
TEST(onnx_turn_images, outputs_that_are_joined_between_kernels) {
  ModelBuilder b(18);
  b.input("x", {"n", 8, "h", "w"});
  convolution(&b, "x", "c", 8, 1);
  b.node("MaxPool", {"c"}, {"p"}, {ints_attribute("kernel_shape", {2, 2})});
  b.node("Concat", Names(9, "p"), {"y"}, {int_attribute("axis", 2)}).output("p").output("y");
  const Checked c = expect_plain(b, {{"x", random_tensor({1, 8, 14, 12}, 3)}});
  EXPECT_TRUE(c.is_turned("p")) << c.text();
  EXPECT_EQ(c.turns(), 1) << c.text();
}

TEST(onnx_turn_images, outputs_that_are_joined) {
  ModelBuilder b(18);
  b.input("x", {1, 8, 12, 14});
  convolution(&b, "x", "c", 8, 1);
  b.node("MaxPool", {"c"}, {"p"}, {ints_attribute("kernel_shape", {1, 1})});
  convolution(&b, "p", "d", 8, 2);
  b.node("Concat", {"p", "d"}, {"y"}, {int_attribute("axis", 1)}).output("p").output("y");
  const Checked got = expect_plain(b, {{"x", random_tensor({1, 8, 12, 14}, 3)}});
  EXPECT_TRUE(got.is_turned("p") && got.is_turned("y")) << got.text();
  EXPECT_EQ(got.turns(), 2) << got.text();
}

TEST(onnx_turn_images, pools_in_front_of_a_product) {
  for (const int channels : {8, 17, 64}) {
    const int64_t pixels = 64;
    ModelBuilder b(18);
    b.input("x", {2, channels, 16, 16});
    convolution(&b, "x", "c", channels, 1);
    b.node("MaxPool", {"c"}, {"p"},
           {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})});
    b.node("Relu", {"p"}, {"r"}).node("Flatten", {"r"}, {"rows"});
    random_weights(&b, "w", {channels * pixels, 10}, 2);
    b.node("Gemm", {"rows", "w"}, {"y"}).output("y");
    const Checked got =
        expect_plain(b, {{"x", random_tensor({2, channels, 16, 16}, 3)}}, nullptr, 1e-3);
    EXPECT_TRUE(got.is_turned("r")) << got.text();
    EXPECT_EQ(got.turns(), 1) << got.text();
  }
}

TEST(onnx_turn_images, views_of_images) {
  for (const int channels : {3, 8, 17}) {
    ModelBuilder b(18);
    b.input("x", {"N", channels, "H", "W"}).integers("rows", {0, channels, -1});
    convolution(&b, "x", "c", channels, 1);
    b.node("AveragePool", {"c"}, {"p"},
           {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})});
    convolution(&b, "p", "d", channels, 2);
    b.node("Reshape", {"p", "rows"}, {"r"}).node("Reshape", {"c", "rows"}, {"s"});
    b.node("Softmax", {"r"}, {"y"}).node("Neg", {"s"}, {"z"});
    b.output("y").output("z").output("d");
    Session session(b.load());
    for (const Shape64 &shape : {Shape64{2, channels, 16, 20}, Shape64{1, channels, 7, 5}}) {
      const Checked got = expect_plain(b, {{"x", random_tensor(shape, 3)}}, &session);
      EXPECT_EQ(got.is_turned("p"), channels >= 4) << got.text();
      EXPECT_EQ(got.is_turned("c"), channels >= 4) << got.text();
      EXPECT_EQ(got.turns(), channels >= 4 ? 2 : 0) << got.text();
    }
  }
}

// Images of one and of three dimensions, and Concats one behind the other.
TEST(onnx_turn_images, rows_and_volumes) {
  for (const Shape64 &pixels : {Shape64{90}, Shape64{5, 6, 7}}) {
    constexpr int kChannels = 12;
    Shape64 shape{1, kChannels}, kernel{kChannels, kChannels}, window;
    shape.insert(shape.end(), pixels.begin(), pixels.end());
    kernel.resize(shape.size(), 1);
    window.resize(pixels.size(), 2);
    ModelBuilder b(18);
    b.input("x", known_dims(shape)).input("z", known_dims(shape));
    random_weights(&b, "w", kernel, 1);
    b.node("Conv", {"x", "w"}, {"c"});
    b.node("Concat", {"c", "z"}, {"one"}, {int_attribute("axis", 1)});
    b.node("Concat", {"one", "x"}, {"two"}, {int_attribute("axis", 1)});
    b.node("MaxPool", {"two"}, {"y"}, {ints_attribute("kernel_shape", window)});
    b.output("y").output("one");
    const Checked got =
        expect_plain(b, {{"x", random_tensor(shape, 2)}, {"z", random_tensor(shape, 3)}});
    EXPECT_TRUE(got.is_turned("y") && got.is_turned("one")) << got.text();
    EXPECT_EQ(got.turns(), 4) << got.text();
  }
}

// In double, group by group.
std::vector<double> normalized(const Constant &x, int64_t groups, const std::vector<float> &scale,
                               const std::vector<float> &bias, double epsilon) {
  const int64_t channels = x.shape()[1], each = x.elements() / (x.shape()[0] * groups);
  const int64_t pixels = x.elements() / (x.shape()[0] * channels);
  std::vector<double> y;
  for (int64_t first = 0; first < x.elements(); first += each) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < each; i++) mean += x.number(first + i) / static_cast<double>(each);
    for (int64_t i = 0; i < each; i++)
      variance += std::pow(x.number(first + i) - mean, 2) / static_cast<double>(each);
    for (int64_t i = 0; i < each; i++) {
      const auto c = static_cast<size_t>((first + i) / pixels % channels);
      y.push_back((x.number(first + i) - mean) / std::sqrt(variance + epsilon) * scale[c] +
                  bias[c]);
    }
  }
  return y;
}
// Behind a convolution whose results are about `middle`, far from 0 in units of their deviation.
void expect_normalized(const Shape64 &shape, int64_t groups, int64_t opset, float middle) {
  SCOPED_TRACE(testing::PrintToString(shape) + " in " + std::to_string(groups) + " groups, " +
               std::to_string(opset));
  const int64_t channels = shape[1];
  const bool by_groups = groups > 0 && opset < 21;
  const int64_t given = by_groups ? groups : channels;
  const std::vector<float> scale = random_list(static_cast<size_t>(given), 1),
                           bias = random_list(static_cast<size_t>(given), 2);
  ModelBuilder b(opset);
  b.input("x", known_dims(shape));
  Shape64 kernel{channels, channels};
  kernel.resize(shape.size(), 1);
  random_weights(&b, "w", kernel, 3);
  b.weights("m", {channels}, std::vector<float>(static_cast<size_t>(channels), middle));
  b.weights("scale", {given}, scale).weights("bias", {given}, bias);
  b.node("Conv", {"x", "w", "m"}, {"c"});
  ModelBuilder convolved = b;
  std::vector<Message> attributes{real_attribute("epsilon", 1e-3f)};
  if (groups > 0) attributes.push_back(int_attribute("num_groups", groups));
  b.node(groups > 0 ? "GroupNormalization" : "InstanceNormalization", {"c", "scale", "bias"}, {"y"},
         attributes);
  b.output("y");
  const Program::Tensors in{{"x", random_tensor(shape, 4)}};
  CompileOptions interpreted;
  interpreted.engine = Engine::Interpreter;
  const Constant c = Session(convolved.output("c").load(), interpreted).run(in).at("c");
  std::vector<float> scales, biases;  // of channels
  for (int64_t k = 0; k < channels; k++) {
    const auto at = static_cast<size_t>(k / (channels / given));
    scales.push_back(scale[at]);
    biases.push_back(bias[at]);
  }
  const std::vector<double> wanted =
      normalized(c, groups > 0 ? groups : channels, scales, biases, 1e-3);
  const Constant y = Session(b.load()).run(in).at("y");
  ASSERT_EQ(y.elements(), static_cast<int64_t>(wanted.size()));
  for (int64_t i = 0; i < y.elements(); i++)
    ASSERT_NEAR(y.number(i), wanted[static_cast<size_t>(i)], middle == 0 ? 1e-5 : 3e-3) << i;
}
TEST(onnx_turn_images, normalisation_of_channels) {
  for (const int64_t opset : {18, 21}) {
    expect_normalized({2, 8, 9, 11}, 4, opset, 0);
    expect_normalized({1, 64, 7, 6}, 8, opset, 0);
    expect_normalized({1, 12, 5, 6, 3}, 3, opset, 0);
  }
  expect_normalized({2, 17, 9, 11}, 1, 18, 0);
  expect_normalized({2, 3, 5, 5}, 3, 21, 0);
  expect_normalized({1, 12, 200}, 3, 21, 0);
  expect_normalized({1, 16, 1, 1}, 2, 18, 0);
  expect_normalized({1, 16, 30, 20}, 4, 18, 1000);
  expect_normalized({2, 8, 9, 11}, 0, 18, 0);
  expect_normalized({1, 17, 40}, 0, 22, 0);
  expect_normalized({1, 16, 30, 20}, 0, 18, 1000);
}

// GroupNormalization as exporters write it. Steps that differ are put in place of these.
struct Exported {
  static constexpr int kChannels = 8, kGroups = 4, kRows = 6, kColumns = 8;
  bool open = false, convolved = false, swapped = false, adds = true, multiplies = true;
  std::vector<float> norm_scale = std::vector<float>(kGroups, 1),
                     norm_bias = std::vector<float>(kGroups);
  Shape64 split{0, kGroups, -1}, whole{2, kChannels, kRows, kColumns};
  Shape64 scale_shape{kChannels, 1, 1}, bias_shape{kChannels, 1, 1};
  bool known_scale = true;
  std::vector<std::string> outputs{"y"};
  std::function<void(ModelBuilder *)> more = [](ModelBuilder *) {};

  Checked check() const {
    ModelBuilder b(18);
    const Shape64 shape{2, kChannels, kRows, kColumns};
    Program::Tensors in{{"x", random_tensor(shape, 1)}};
    if (open) {
      b.input("x", {"N", kChannels, "H", "W"});
    } else {
      b.input("x", known_dims(shape));
    }
    std::string image = "x";
    if (convolved) convolution(&b, "x", image = "c", kChannels, 2);
    const auto groups = static_cast<int64_t>(norm_scale.size());
    b.weights("ns", {groups}, norm_scale).weights("nb", {groups}, norm_bias);
    b.integers("split", split).node("Reshape", {image, "split"}, {"grouped"});
    b.node("InstanceNormalization", {"grouped", "ns", "nb"}, {"n"},
           {real_attribute("epsilon", 0.25f)});
    if (open) {
      b.node("Shape", {image}, {"whole"});
    } else {
      b.integers("whole", whole);
    }
    const bool both = multiplies && adds;
    b.node("Reshape", {"n", "whole"}, {multiplies || adds ? "s" : "y"});
    if (known_scale) {
      random_weights(&b, "w", scale_shape, 3);
    } else {
      b.input("w", known_dims(scale_shape));
      in["w"] = random_tensor(scale_shape, 3);
    }
    random_weights(&b, "b", bias_shape, 4);
    using Names = std::vector<std::string>;
    if (multiplies) b.node("Mul", swapped ? Names{"w", "s"} : Names{"s", "w"}, {both ? "t" : "y"});
    const std::string scaled = multiplies ? "t" : "s";
    if (adds) b.node("Add", swapped ? Names{"b", scaled} : Names{scaled, "b"}, {"y"});
    more(&b);
    for (const std::string &name : outputs) b.output(name);
    return expect_plain(b, in);
  }
};

TEST(onnx_turn_images, exported_group_normalisation_is_one_node) {
  const auto expect_joined = [](const Exported &e, const std::string &ops = "GroupNormalization") {
    const Checked got = e.check();
    EXPECT_EQ(got.ops(), ops) << got.text();
    EXPECT_NE(got.text().find("GroupNormalization.21"), std::string::npos) << got.text();
    EXPECT_NE(got.text().find("num_groups = 4"), std::string::npos) << got.text();
    EXPECT_NE(got.text().find("epsilon = 0.25"), std::string::npos) << got.text();
  };
  Exported e;
  expect_joined(e);
  e.open = true;
  expect_joined(e);
  e.swapped = true;
  expect_joined(e);
  e.convolved = true;
  expect_joined(e, "Conv GroupNormalization Turn");
  e.open = false;
  expect_joined(e, "Conv GroupNormalization");
  e = {};
  e.norm_scale = {0.5f, -2, 3, 0};
  e.norm_bias = {1, -1, 0.25f, 2};
  expect_joined(e);
  e.adds = false;
  expect_joined(e);
  e.multiplies = false;
  expect_joined(e);
  e.adds = true;
  expect_joined(e);
  // One for all channels.
  for (const Shape64 &one : {Shape64{}, Shape64{1}, Shape64{1, 1, 1, 1}}) {
    e = {};
    e.scale_shape = e.bias_shape = one;
    expect_joined(e);
  }
  e.scale_shape = {1, Exported::kChannels, 1, 1};
  expect_joined(e);
}

TEST(onnx_turn_images, steps_of_others_stay) {
  const auto expect_ops = [](const Exported &e, const std::string &ops) {
    const Checked got = e.check();
    EXPECT_EQ(got.ops(), ops) << got.text();
  };
  const std::string apart = "Reshape InstanceNormalization Reshape Mul Add";
  Exported e;
  // Others read what is between.
  e.outputs = {"y", "n"};
  expect_ops(e, apart);
  e.outputs = {"y", "z"};
  e.more = [](ModelBuilder *b) { b->node("Neg", {"n"}, {"z"}); };
  expect_ops(e, apart + " Neg");
  e.more = [](ModelBuilder *b) { b->node("Neg", {"s"}, {"z"}); };
  expect_ops(e, "GroupNormalization Mul Add Neg");
  e.more = [](ModelBuilder *b) { b->node("Neg", {"t"}, {"z"}); };
  expect_ops(e, "GroupNormalization Add Neg");
  e.more = [](ModelBuilder *b) { b->node("Mul", {"y", "y"}, {"z"}); };
  expect_ops(e, "GroupNormalization Mul");
  e.more = [](ModelBuilder *b) { b->node("Neg", {"grouped"}, {"z"}); };
  expect_ops(e, "Reshape GroupNormalization Neg");
  e = {};
  e.outputs = {"y", "s"};
  expect_ops(e, "GroupNormalization Mul Add");
  e.outputs = {"y", "t"};
  expect_ops(e, "GroupNormalization Add");
  // Elements of other dimensions than channels, of which one has as many.
  for (const Shape64 &shape : {Shape64{8, 1, 8}, Shape64{8}, Shape64{6, 1}, Shape64{2, 8, 1, 1}}) {
    e = {};
    e.scale_shape = shape;
    expect_ops(e, "GroupNormalization Mul Add");
    e = {};
    e.bias_shape = shape;
    expect_ops(e, "GroupNormalization Add");
  }
  e = {};
  e.scale_shape = {1, 1, 8, 1, 1};
  expect_ops(e, "GroupNormalization Mul Add");
  e = {};
  e.known_scale = false;
  expect_ops(e, "GroupNormalization Mul Add");
  // Groups that cut channels, and groups of two images.
  e = {};
  e.split = {0, 3, -1};
  e.norm_scale = {1, 1, 1};
  e.norm_bias = {0, 0, 0};
  expect_ops(e, apart);
  e = {};
  e.split = {1, 8, -1};
  e.norm_scale = std::vector<float>(8, 1);
  e.norm_bias = std::vector<float>(8, 0);
  expect_ops(e, apart);
  // Another shape behind.
  e = {};
  e.whole = {2, 4, Exported::kRows, 2 * Exported::kColumns};
  e.scale_shape = e.bias_shape = {4, 1, 1};
  expect_ops(e, apart);
}

// The first one's result is the second one's operand, and images between them keep their layout.
TEST(onnx_turn_images, exported_group_normalisations_in_a_row) {
  Exported e;
  e.convolved = true;
  e.outputs = {"v"};
  e.more = [](ModelBuilder *b) {
    b->node("Reshape", {"y", "split"}, {"grouped2"});
    b->node("InstanceNormalization", {"grouped2", "ns", "nb"}, {"n2"});
    b->node("Reshape", {"n2", "whole"}, {"s2"}).node("Mul", {"s2", "w"}, {"u"});
    convolution(b, "u", "v", Exported::kChannels, 5, 3);
  };
  const Checked got = e.check();
  EXPECT_EQ(got.ops(), "Conv GroupNormalization GroupNormalization Conv") << got.text();
}

}  // namespace
}  // namespace polyhalite::onnx::turn_images_test
