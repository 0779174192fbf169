// Convolutions whose cells are far apart become one for each cell, on the pixels that it sees.
#include <gtest/gtest.h>

#include "test/onnx/run_all.h"

namespace polyhalite::onnx::split_kernels_test {
namespace {

using Shape64 = std::vector<int64_t>;

struct Far {
  Shape64 image, kernel, dilations, pads, strides;
  bool splits;
};

void expect_convolution(const Far &f, bool open_batch) {
  constexpr int64_t kChannels = 33, kResults = 40;
  const Shape64 shape{2, kChannels, f.image[0], f.image[1]};
  const Shape64 weights{kResults, kChannels, f.kernel[0], f.kernel[1]};
  ModelBuilder b;
  b.input("x", {open_batch ? TestDim("n") : TestDim(2), static_cast<int>(kChannels),
                static_cast<int>(f.image[0]), static_cast<int>(f.image[1])});
  b.weights("w", weights,
            random_list(static_cast<size_t>(kResults * kChannels * f.kernel[0] * f.kernel[1]), 3));
  b.weights("b", {kResults}, random_list(kResults, 4));
  b.node("Conv", {"x", "w", "b"}, {"c"},
         {ints_attribute("dilations", f.dilations), ints_attribute("pads", f.pads),
          ints_attribute("strides", f.strides)});
  b.node("Relu", {"c"}, {"y"}).output("y");
  const Program::Tensors in{{"x", random_tensor(shape, 5)}};
  const Session::Run run = run_beside_nodes(b, in, 1e-4);
  const std::string graph = to_text(run.program->graph());
  EXPECT_EQ(graph.find("Pad") != std::string::npos, f.splits) << graph;
}

TEST(onnx_split_kernels, each_cell_has_its_own_pixels) {
  for (const Far &f : {Far{{14, 14}, {3, 3}, {12, 12}, {12, 12, 12, 12}, {1, 1}, true},
                       Far{{9, 20}, {3, 3}, {6, 7}, {6, 7, 6, 7}, {1, 1}, true},
                       Far{{12, 10}, {1, 3}, {1, 8}, {0, 8, 0, 8}, {1, 1}, true},
                       // The first cell sees no pixel in the first rows, the last one in none.
                       Far{{10, 11}, {3, 2}, {9, 9}, {9, 0, 9, 9}, {1, 1}, true},
                       // Near ones, strides, and none that is inside everywhere.
                       Far{{14, 14}, {3, 3}, {2, 2}, {2, 2, 2, 2}, {1, 1}, false},
                       Far{{14, 14}, {3, 3}, {12, 12}, {12, 12, 12, 12}, {2, 2}, false},
                       Far{{10, 10}, {2, 2}, {8, 8}, {4, 4, 4, 4}, {1, 1}, false}})
    for (const bool open_batch : {false, true}) expect_convolution(f, open_batch);
}

}  // namespace
}  // namespace polyhalite::onnx::split_kernels_test
