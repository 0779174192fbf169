// Convolutions of images whose sizes are open: their kernels are laid out when the model is loaded,
// and one program serves all sizes.
#include <gtest/gtest.h>

#include <cmath>

#include "apps/onnx/rearrange_constant.h"
#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::open_images_test {
namespace {

// Integers, so that sums are exact.
std::vector<float> kernels(size_t n, uint32_t seed) {
  std::vector<float> v = random_list(n, seed);
  for (float &f : v) f = std::round(8 * f);
  return v;
}

Constant image(const std::vector<int64_t> &shape) {
  size_t n = 1;
  for (const int64_t s : shape) n *= static_cast<size_t>(s);
  return floats(shape, kernels(n, 7));
}

// The compiled program of all sizes, held against the interpreter's.
std::shared_ptr<const Program> expect_equal(const ModelBuilder &b,
                                            const std::vector<std::vector<int64_t>> &shapes,
                                            double absolute = 1e-4) {
  CompileOptions options;
  options.engine = Engine::Interpreter;
  options.optimize = false;
  Session session(b.load()), reference(b.load(), options);
  std::shared_ptr<const Program> first;
  for (const std::vector<int64_t> &shape : shapes) {
    const Program::Tensors in{{"x", image(shape)}};
    const Session::Run got = session.run_program(in);
    if (!first) first = got.program;
    EXPECT_EQ(got.program, first);
    EXPECT_EQ(compare(got.outputs.at("y"), reference.run(in).at("y"), 1e-6, absolute), "")
        << shape_text(shape);
  }
  return first;
}

// Every class of the number of columns, and what lies between them.
std::vector<std::vector<int64_t>> many_widths(int64_t channels) {
  std::vector<std::vector<int64_t>> shapes;
  for (const int64_t columns : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 18})
    shapes.push_back({1 + columns % 2, channels, 3, columns});
  return shapes;
}

TEST(onnx_open_images, convolutions) {
  ModelBuilder b(18);
  b.input("x", {"N", 5, "H", "W"}).weights("w", {20, 5, 3, 3}, kernels(900, 1));
  b.weights("u", {24, 20, 1, 1}, kernels(480, 2)).weights("bias", {24}, kernels(24, 3));
  b.node("Conv", {"x", "w"}, {"c"}, {ints_attribute("pads", {1, 1, 1, 1})});
  b.node("Conv", {"c", "u", "bias"}, {"p"}).node("Relu", {"p"}, {"y"}).output("y");
  const auto program = expect_equal(b, many_widths(5));
  for (const Node &n : program->graph().nodes)
    EXPECT_EQ(n.has("strips_of"), n.is("Conv")) << n.describe();
}

TEST(onnx_open_images, strided_and_depthwise_ones) {
  ModelBuilder b(18);
  b.input("x", {"N", 6, "H", "W"}).weights("w", {16, 6, 3, 3}, kernels(864, 1));
  b.weights("d", {16, 1, 3, 3}, kernels(144, 2));
  b.node("Conv", {"x", "w"}, {"c"},
         {ints_attribute("pads", {1, 1, 1, 1}), ints_attribute("strides", {2, 2})});
  b.node("Conv", {"c", "d"}, {"y"},
         {ints_attribute("pads", {1, 1, 1, 1}), int_attribute("group", 16)});
  b.output("y");
  expect_equal(b, many_widths(6));
}

TEST(onnx_open_images, few_results) {
  ModelBuilder b(18);
  b.input("x", {"N", 8, "H", "W"}).weights("w", {3, 8, 3, 3}, kernels(216, 1));
  b.node("Conv", {"x", "w"}, {"y"}, {ints_attribute("pads", {1, 1, 1, 1})}).output("y");
  std::vector<std::vector<int64_t>> shapes = many_widths(8);
  shapes.push_back({1, 8, 4, 37});
  expect_equal(b, shapes);
}

// Kernels that are inputs: known and open numbers of results, few pixels and many, windows of whole
// images.
TEST(onnx_open_images, kernels_that_are_inputs) {
  struct Case {
    const char *op;
    std::vector<int64_t> x, w;
    int64_t pad, stride;
    bool opens;
  };
  const std::vector<Case> cases{
      {"Conv", {2, 5, 9, 11}, {20, 5, 3, 3}, 1, 1, true},
      {"Conv", {1, 5, 3, 4}, {40, 5, 3, 2}, 1, 2, false},
      {"Conv", {1, 30, 4, 4}, {33, 30, 4, 4}, 0, 1, true},
      {"Conv", {3, 70, 1, 1}, {50, 70, 1, 1}, 0, 1, false},
      {"Conv", {1, 6, 12, 13}, {3, 6, 3, 3}, 1, 1, false},
      {"ConvTranspose", {1, 6, 5, 7}, {6, 9, 4, 4}, 1, 2, true},
      {"ConvTranspose", {2, 3, 8, 8}, {3, 20, 2, 2}, 0, 2, false},
  };
  for (const Case &c : cases) {
    for (const bool is_open : {false, true}) {
      if (is_open && !c.opens) continue;
      SCOPED_TRACE(c.op + shape_text(c.x) + shape_text(c.w) + (is_open ? " open" : ""));
      ModelBuilder b(18);
      const auto dims = [&](const std::vector<int64_t> &shape, const std::string &prefix) {
        std::vector<TestDim> list(shape.begin(), shape.end());
        for (size_t d = 0; is_open && d < list.size(); d++)
          list[d] = TestDim((prefix + std::to_string(d)).c_str());
        return list;
      };
      b.input("x", dims(c.x, "x")).input("w", dims(c.w, "w"));
      b.node(c.op, {"x", "w"}, {"y"},
             {ints_attribute("pads", {c.pad, c.pad, c.pad, c.pad}),
              ints_attribute("strides", {c.stride, c.stride}),
              ints_attribute("kernel_shape", {c.w[2], c.w[3]})});
      b.output("y");
      CompileOptions plain;
      plain.engine = Engine::Interpreter;
      plain.optimize = false;
      Session session(b.load()), reference(b.load(), plain);
      const Program::Tensors in{{"x", image(c.x)}, {"w", image(c.w)}};
      EXPECT_EQ(compare(session.run(in).at("y"), reference.run(in).at("y"), 1e-6, 1e-4), "");
    }
  }
}

TEST(onnx_open_images, transposed_ones) {
  struct Case {
    int64_t kernel, stride, before, extra;
  };
  for (const Case &c :
       {Case{2, 2, 0, 0}, Case{4, 2, 1, 0}, Case{3, 2, 1, 1}, Case{5, 3, 2, 2}, Case{3, 1, 1, 0}}) {
    SCOPED_TRACE(std::to_string(c.kernel) + "/" + std::to_string(c.stride));
    ModelBuilder b(18);
    b.input("x", {"N", 4, "H", "W"});
    b.weights("w", {4, 18, c.kernel, c.kernel},
              kernels(static_cast<size_t>(72 * c.kernel * c.kernel), 1));
    b.node("ConvTranspose", {"x", "w"}, {"y"},
           {ints_attribute("strides", {c.stride, c.stride}),
            ints_attribute("pads", {c.before, c.before, c.before, c.before}),
            ints_attribute("output_padding", {c.extra, c.extra})});
    b.output("y");
    const auto program = expect_equal(b, many_widths(4));
    EXPECT_TRUE(program->graph().nodes[0].has("strips_of"));
  }
}

// Images of one column, whose phases begin within the border: as if that were no dimension.
TEST(onnx_open_images, transposed_ones_of_one_column) {
  for (const char *rows : {"H", ""}) {
    ModelBuilder b(18);
    b.input("x", {1, 4, *rows ? TestDim(rows) : TestDim(5), 1});
    b.weights("w", {4, 16, 2, 2}, kernels(256, 1));
    b.node("ConvTranspose", {"x", "w"}, {"y"},
           {ints_attribute("strides", {2, 2}), ints_attribute("pads", {0, 1, 0, 0}),
            ints_attribute("output_padding", {0, 1})});
    expect_equal(b.output("y"), {{1, 4, 5, 1}});
  }
}

// Tiles of 2 by 2 results, of 4 rows and of 4 columns; sizes with tiles that lie beyond the image.
TEST(onnx_open_images, winograds_form) {
  struct Case {
    int64_t rows, columns, stride;
  };
  for (const Case &c : {Case{3, 3, 1}, Case{7, 1, 1}, Case{1, 5, 1}, Case{7, 7, 2}}) {
    SCOPED_TRACE(std::to_string(c.rows) + " by " + std::to_string(c.columns));
    ModelBuilder b(18);
    b.input("x", {"N", 32, "H", "W"});
    b.weights("w", {40, 32, c.rows, c.columns},
              kernels(static_cast<size_t>(1280 * c.rows * c.columns), 1));
    const int64_t above = c.rows / 2, left = c.columns / 2;
    b.node("Conv", {"x", "w"}, {"c"},
           {ints_attribute("pads", {above, left, above, left}),
            ints_attribute("strides", {c.stride, c.stride})});
    b.node("Relu", {"c"}, {"y"}).output("y");
    std::vector<std::vector<int64_t>> shapes = many_widths(32);
    for (const int64_t rows : {1, 2, 5, 8, 13, 30}) shapes.push_back({1, 32, rows, 7});
    // Sums of up to 2 * 10^5, in units of rounding that long tiles take several of.
    const auto program = expect_equal(b, shapes, 1e-2);
    EXPECT_TRUE(program->graph().nodes[0].has("winograd_tile"));
  }
}

// Nothing surrounds the image, so that what tiles read beyond the last window would lie outside.
TEST(onnx_open_images, windows_without_padding) {
  for (const int64_t cells : {1, 2, 3}) {
    SCOPED_TRACE(cells);
    const auto size = static_cast<size_t>(cells * cells);
    ModelBuilder b(18);
    b.input("x", {"N", 8, "H", "W"}).weights("w", {20, 8, cells, cells}, kernels(160 * size, 1));
    b.weights("g", {20, 4, 1, 1}, kernels(80, 2)).weights("d", {20, 1, 1, 1}, kernels(20, 3));
    b.node("Conv", {"x", "w"}, {"c"});
    b.node("Conv", {"c", "g"}, {"g5"}, {int_attribute("group", 5)});
    b.node("Conv", {"g5", "d"}, {"y"}, {int_attribute("group", 20)}).output("y");
    std::vector<std::vector<int64_t>> shapes = many_widths(8);
    for (std::vector<int64_t> &shape : shapes) shape[3] += cells - 1;
    expect_equal(b, shapes);
  }
}

// Sums of bytes are dot products for all sizes. A window of one cell that moves beyond the image
// is no row of a matrix.
TEST(onnx_open_images, of_bytes) {
  struct Case {
    int64_t channels, results, cells, group;
    std::vector<int64_t> pads, strides;
  };
  const std::vector<Case> cases{
      {8, 20, 1, 1, {0, 0, 0, 0}, {1, 1}},   {32, 32, 1, 1, {0, 0, 0, 0}, {1, 1}},
      {32, 16, 1, 1, {0, 0, 1, 1}, {1, 1}},  {3, 20, 3, 1, {1, 1, 1, 1}, {2, 2}},
      {32, 48, 3, 1, {1, 1, 1, 1}, {1, 1}},  {16, 32, 3, 2, {1, 0, 1, 2}, {1, 1}},
      {16, 16, 3, 16, {1, 1, 1, 1}, {1, 1}}, {30, 30, 3, 1, {1, 1, 1, 1}, {2, 1}},
  };
  for (const std::string target : {"", "x86-64-linux-sse41-avx-avx2-fma-f16c"}) {
    for (const Case &c : cases) {
      SCOPED_TRACE(target + " " + std::to_string(c.channels) + " to " + std::to_string(c.results) +
                   " by " + std::to_string(c.cells));
      ModelBuilder b(18);
      const std::vector<int64_t> shape{c.results, c.channels / c.group, c.cells, c.cells};
      const auto n = static_cast<size_t>(c.results * shape[1] * c.cells * c.cells);
      b.input("x", {"N", TestDim(c.channels), "H", "W"}, 2).input("zero", {}, 2);
      b.weights("w", shape, kernels(n, 1)).weights("z", {}, {3});
      b.node("Cast", {"w"}, {"bytes"}, {int_attribute("to", 3)});
      b.node("Cast", {"z"}, {"point"}, {int_attribute("to", 3)});
      b.node("ConvInteger", {"x", "bytes", "zero", "point"}, {"c"},
             {ints_attribute("pads", c.pads), ints_attribute("strides", c.strides),
              int_attribute("group", c.group)});
      b.node("Cast", {"c"}, {"y"}, {int_attribute("to", 1)}).output("y");
      CompileOptions options, plain;
      if (!target.empty()) options.target = Target(target);
      plain.engine = Engine::Interpreter;
      plain.optimize = false;
      Session session(b.load(), options), reference(b.load(), plain);
      for (const std::vector<int64_t> &image : many_widths(c.channels)) {
        std::vector<uint8_t> bytes(static_cast<size_t>(image[0] * image[1] * image[2] * image[3]));
        for (size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(37 * i);
        const Program::Tensors in{{"x", Constant::of_bytes(ElementType::UInt8, image, bytes)},
                                  {"zero", Constant::of_bytes(ElementType::UInt8, {}, {7})}};
        const Session::Run got = session.run_program(in);
        EXPECT_EQ(compare(got.outputs.at("y"), reference.run(in).at("y"), 0, 0), "")
            << shape_text(image);
        if (c.channels < 32) continue;
        for (const Node &n : got.program->graph().nodes)
          EXPECT_EQ(n.has("packed_kernels") || n.has("packed_columns"), n.is("ConvInteger"));
      }
    }
  }
}

TEST(onnx_open_images, transposed_ones_in_groups) {
  ModelBuilder b(18);
  b.input("x", {"N", "C", "H", "W"}).weights("w", {8, 1, 3, 3}, kernels(72, 1));
  b.node("ConvTranspose", {"x", "w"}, {"y"},
         {int_attribute("group", 8), ints_attribute("strides", {2, 2})});
  b.output("y");
  expect_equal(b, many_widths(8));
}

TEST(onnx_open_images, transposes) {
  for (const std::vector<int64_t> &to :
       {std::vector<int64_t>{0, 2, 3, 1}, {3, 2, 1, 0}, {0, 1, 3, 2}}) {
    ModelBuilder b(18);
    b.input("x", {"N", 17, "H", "W"});
    b.node("Transpose", {"x"}, {"t"}, {ints_attribute("perm", to)});
    b.node("Neg", {"t"}, {"y"}).output("y");
    std::vector<std::vector<int64_t>> shapes = many_widths(17);
    shapes.push_back({1, 17, 23, 40});
    shapes.push_back({20, 17, 1, 9});
    expect_equal(b, shapes);
  }
}

TEST(onnx_open_images, winograds_form_of_open_batches) {
  ModelBuilder b(18);
  b.input("x", {"N", 32, 9, 10}).weights("w", {32, 32, 3, 3}, kernels(9216, 1));
  b.node("Conv", {"x", "w"}, {"y"}, {ints_attribute("pads", {1, 1, 1, 1})}).output("y");
  const auto program = expect_equal(b, {{1, 32, 9, 10}, {3, 32, 9, 10}, {0, 32, 9, 10}});
  EXPECT_TRUE(program->graph().nodes[0].has("winograd_tile"));
}

}  // namespace
}  // namespace polyhalite::onnx::open_images_test
