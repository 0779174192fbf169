// Convolutions between one pixel and an image as large as their kernels become products.
#include <gtest/gtest.h>

#include "test/onnx/run_all.h"

namespace polyhalite::onnx::pixel_products_test {
namespace {

using Shape64 = std::vector<int64_t>;

struct Pixel {
  const char *op;
  Shape64 image, kernels;  // [channels, ...], whole
  Shape64 strides, dilations, pads;
  int64_t groups = 1;
  bool is_product = true;
};

void expect_results(const Pixel &p, bool open_batch, bool bias) {
  const int64_t results = std::string(p.op) == "Conv" ? p.kernels[0] : p.kernels[1] * p.groups;
  Shape64 shape{3};
  shape.insert(shape.end(), p.image.begin(), p.image.end());
  std::vector<TestDim> dims{open_batch ? TestDim("n") : TestDim(3)};
  for (const int64_t n : p.image) dims.emplace_back(static_cast<int>(n));
  int64_t elements = 1;
  for (const int64_t n : p.kernels) elements *= n;
  ModelBuilder b;
  b.input("x", dims);
  b.weights("w", p.kernels, random_list(static_cast<size_t>(elements), 3));
  b.weights("b", {results}, random_list(static_cast<size_t>(results), 4));
  const std::vector<std::string> operands =
      bias ? std::vector<std::string>{"x", "w", "b"} : std::vector<std::string>{"x", "w"};
  b.node(p.op, operands, {"c"},
         {ints_attribute("strides", p.strides), ints_attribute("dilations", p.dilations),
          ints_attribute("pads", p.pads), int_attribute("group", p.groups)});
  b.node("Relu", {"c"}, {"y"}).output("y");
  const Program::Tensors in{{"x", random_tensor(shape, 5)}};
  const Session::Run run = run_beside_nodes(b, in, 1e-4);
  const std::string graph = to_text(run.program->graph());
  EXPECT_EQ(graph.find("Gemm") != std::string::npos, p.is_product) << graph;
}

TEST(onnx_pixel_products, whole_kernels_are_matrices) {
  for (const Pixel &p :
       {Pixel{"ConvTranspose", {10, 1, 1}, {10, 20, 4, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Pixel{"ConvTranspose", {10, 1}, {10, 20, 4}, {2}, {1}, {0, 0}},
        Pixel{"Conv", {10, 5, 4}, {64, 10, 5, 4}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Pixel{"Conv", {3, 2, 3, 2}, {70, 3, 2, 3, 2}, {2, 1, 1}, {1, 1, 1}, Shape64(6, 0)},
        // Few results, one cell, padding, distances, groups, more pixels.
        Pixel{"Conv", {10, 5, 4}, {63, 10, 5, 4}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false},
        Pixel{"Conv", {10, 1, 1}, {64, 10, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false},
        Pixel{"Conv", {10, 5, 4}, {64, 10, 5, 4}, {6, 5}, {1, 1}, {1, 0, 1, 0}, 1, false},
        Pixel{"Conv", {10, 3, 5}, {64, 10, 3, 3}, {1, 1}, {1, 2}, {0, 0, 0, 0}, 1, false},
        Pixel{"Conv", {10, 5, 4}, {64, 5, 5, 4}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 2, false},
        Pixel{"Conv", {10, 5, 5}, {64, 10, 5, 4}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false},
        Pixel{"ConvTranspose", {10, 1, 2}, {10, 20, 4, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false},
        Pixel{"ConvTranspose", {10, 1, 1}, {10, 20, 4, 3}, {1, 1}, {1, 1}, {1, 0, 1, 0}, 1, false}})
    for (const bool open_batch : {false, true})
      for (const bool bias : {false, true}) expect_results(p, open_batch, bias);
}

}  // namespace
}  // namespace polyhalite::onnx::pixel_products_test
