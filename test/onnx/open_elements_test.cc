// Elements that decide about shapes: written into a first program, sizes of one program for all
// from the second ones on, or from the first where data decide; and sizes that a run finds to
// differ where a program takes them for equal.
#include <gtest/gtest.h>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::open_elements_test {
namespace {

Program::Tensors interpreted(const ModelBuilder &b, const Program::Tensors &in) {
  CompileOptions options;
  options.engine = Engine::Interpreter;
  return Session(b.load(), options).run(in);
}

// The program of the last run.
std::shared_ptr<const Program> expect_interpreted(const ModelBuilder &b,
                                                  const std::vector<Program::Tensors> &runs) {
  Session session(b.load());
  std::shared_ptr<const Program> last;
  for (size_t i = 0; i < runs.size(); i++) {
    const Session::Run got = session.run_program(runs[i]);
    // A Session of its own has the elements of each run for constants.
    const auto want = interpreted(b, runs[i]);
    for (const auto &[name, tensor] : want)
      EXPECT_EQ(compare(got.outputs.at(name), tensor, 1e-5, 1e-5), "") << "run " << i;
    // From the third run on all elements have been met to change.
    if (i > 2) {
      EXPECT_EQ(got.program, last) << "run " << i;
    }
    last = got.program;
  }
  return last;
}

TEST(onnx_open_elements, slices_between_found_places) {
  ModelBuilder b(18);
  b.input("x", {"H", 7}).input("from", {2}, 7).input("to", {2}, 7);
  b.node("Slice", {"x", "from", "to"}, {"y"}).output("y");
  std::vector<Program::Tensors> runs;
  const std::vector<std::array<int64_t, 4>> places{
      {0, 0, 3, 3}, {1, 2, 4, 6}, {-3, -4, -1, INT64_MAX}, {5, INT64_MIN, 100, 3}, {2, 2, -1, -1},
      {8, 1, 9, 2}, {5, 5, 2, 2}};
  for (const auto &[top, left, bottom, right] : places) {
    runs.push_back({{"x", random_tensor({9, 7}, 1)},
                    {"from", Constant::integers({top, left})},
                    {"to", Constant::integers({bottom, right})}});
  }
  expect_interpreted(b, runs);
}

// What an image has is not found first, by a program of its own, to be a constant of one run.
TEST(onnx_open_elements, what_data_decide_is_open_at_once) {
  ModelBuilder b(18);
  b.input("x", {9}).weights("half", {}, {0.5F}).integers("axes", {0}).integers("zero", {0});
  b.node("Greater", {"x", "half"}, {"above"});
  b.node("Cast", {"above"}, {"ones"}, {int_attribute("to", 7)});
  b.node("ReduceSum", {"ones", "axes"}, {"count"}, {int_attribute("keepdims", 1)});
  b.node("Slice", {"x", "zero", "count"}, {"y"}).output("y");
  Session session(b.load());
  std::shared_ptr<const Program> first;
  for (const float scale : {1.0F, 0.6F, 0.0F}) {
    std::vector<float> x;
    for (int i = 0; i < 9; i++) x.push_back(scale * static_cast<float>(i) / 8);
    const Program::Tensors in{{"x", floats({9}, x)}};
    const Session::Run got = session.run_program(in);
    EXPECT_EQ(compare(got.outputs.at("y"), interpreted(b, in).at("y"), 0, 0), "") << scale;
    if (!first) first = got.program;
    EXPECT_EQ(got.program, first) << scale;
  }
}

// As exporters write the pasting of a mask into its box.
TEST(onnx_open_elements, images_of_sizes_that_boxes_have) {
  ModelBuilder b(18);
  b.input("x", {1, 2, 8, 9}).input("box", {4}).integers("first", {0, 1}).integers("last", {2, 3});
  b.node("Gather", {"box", "first"}, {"low"}).node("Gather", {"box", "last"}, {"high"});
  b.node("Sub", {"high", "low"}, {"size"})
      .node("Cast", {"size"}, {"whole"}, {int_attribute("to", 7)});
  b.integers("channels", {1, 2})
      .node("Concat", {"channels", "whole"}, {"sizes"}, {int_attribute("axis", 0)});
  b.node("Resize", {"x", "", "", "sizes"}, {"r"}, {text_attribute("mode", "linear")});
  b.node("Cast", {"low"}, {"begin"}, {int_attribute("to", 7)});
  b.integers("zeros", {0, 0}).integers("ends", {0, 0, 0, 0});
  b.node("Concat", {"zeros", "begin", "ends"}, {"pads"}, {int_attribute("axis", 0)});
  b.node("Pad", {"r", "pads"}, {"y"}).output("y");
  std::vector<Program::Tensors> runs;
  const std::vector<std::vector<float>> boxes{
      {0, 0, 4, 5}, {3, 1, 20, 4}, {2, 2, 3, 3}, {0, 5, 9, 14}, {1, 0, 17, 31}};
  for (const std::vector<float> &box : boxes)
    runs.push_back({{"x", random_tensor({1, 2, 8, 9}, 2)}, {"box", floats({4}, box)}});
  const auto program = expect_interpreted(b, runs);
  // Only the box's four elements are read: the channels stay what they are.
  size_t reads = 0;
  for (const Node &n : program->graph().nodes) reads += n.op == "ReadSizes" ? 1 : 0;
  EXPECT_EQ(reads, 2u);
}

TEST(onnx_open_elements, every_way_to_sample_open_sizes) {
  for (const char *mode : {"nearest", "linear", "cubic"}) {
    for (const char *places : {"half_pixel", "half_pixel_symmetric", "asymmetric", "align_corners",
                               "pytorch_half_pixel"}) {
      ModelBuilder b(18);
      b.input("x", {1, 2, "H", "W"}).input("sizes", {4}, 7);
      b.node("Resize", {"x", "", "", "sizes"}, {"y"},
             {text_attribute("mode", mode), int_attribute("exclude_outside", mode[0] == 'c'),
              text_attribute("coordinate_transformation_mode", places)});
      b.output("y");
      std::vector<Program::Tensors> runs;
      const std::vector<std::array<int64_t, 4>> sizes{
          {5, 7, 9, 14}, {6, 6, 3, 17}, {4, 9, 8, 3}, {8, 3, 1, 1}, {1, 5, 13, 5}};
      for (const auto &[h, w, rows, columns] : sizes) {
        runs.push_back({{"x", random_tensor({1, 2, h, w}, 3)},
                        {"sizes", Constant::integers({1, 2, rows, columns})}});
      }
      SCOPED_TRACE(std::string(mode) + " " + places);
      expect_interpreted(b, runs);
    }
  }
}

TEST(onnx_open_elements, scales_of_open_sizes) {
  for (const float scale : {0.25f, 0.75f, 1.5f, 2.0f}) {
    ModelBuilder b(18);
    b.input("x", {1, 2, "H", "W"}).weights("scales", {4}, {1, 1, scale, scale});
    b.node("Resize", {"x", "", "scales"}, {"y"}, {text_attribute("mode", "linear")}).output("y");
    std::vector<Program::Tensors> runs;
    for (const int64_t n : {4, 6, 9, 15, 22})
      runs.push_back({{"x", random_tensor({1, 2, n, 5}, 4)}});
    expect_interpreted(b, runs);
  }
}

TEST(onnx_open_elements, parts_depths_and_fills) {
  ModelBuilder b(18);
  b.input("x", {9, 2}).input("sizes", {2}, 7).input("depth", {1}, 7).input("at", {3}, 7);
  b.weights("values", {2}, {0, 1});
  b.node("Split", {"x", "sizes"}, {"front", "back"}, {int_attribute("axis", 0)});
  b.node("OneHot", {"at", "depth", "values"}, {"hot"})
      .node("ConstantOfShape", {"sizes"}, {"zeros"});
  b.output("front").output("back").output("hot").output("zeros");
  std::vector<Program::Tensors> runs;
  for (const int64_t n : {1, 4, 3, 9, 5}) {
    runs.push_back({{"x", random_tensor({9, 2}, 5)},
                    {"sizes", Constant::integers({n, 9 - n})},
                    {"depth", Constant::integers({n + 2})},
                    {"at", Constant::integers({0, 2, -1})}});
  }
  expect_interpreted(b, runs);
}

TEST(onnx_open_elements, axes_stay_numbers) {
  ModelBuilder b(18);
  b.input("x", {3, 4}).input("axis", {1}, 7).node("ReduceSum", {"x", "axis"}, {"y"}).output("y");
  Session session(b.load());
  for (const int64_t axis : {0, 1, -1, 0, -2, 1}) {
    const Program::Tensors in{{"x", random_tensor({3, 4}, 6)},
                              {"axis", Constant::integers({axis})}};
    EXPECT_EQ(compare(session.run(in).at("y"), interpreted(b, in).at("y"), 1e-5, 1e-6), "");
  }
}

TEST(onnx_open_elements, sizes_that_are_none_are_refused) {
  ModelBuilder b(18);
  b.input("sizes", {2}, 7).node("ConstantOfShape", {"sizes"}, {"y"}).output("y");
  Session session(b.load());
  const auto run = [&](int64_t rows, int64_t columns) {
    return session.run({{"sizes", Constant::integers({rows, columns})}}).at("y").shape();
  };
  run(1, 2);
  EXPECT_EQ(run(2, 3), (std::vector<int64_t>{2, 3}));
  for (const int64_t n : {int64_t{-1}, int64_t{1} << 40}) {
    try {
      run(n, 1);
      FAIL() << n << " rows";
    } catch (const CompileError &e) {
      EXPECT_NE(std::string(e.what()).find("sizes are from 0 to 2^31 - 2"), std::string::npos)
          << e.what();
    }
  }
  EXPECT_EQ(run(0, 7), (std::vector<int64_t>{0, 7}));
}

// Two numbers of elements above 0, which the sum takes for equal.
TEST(onnx_open_elements, found_sizes_that_differ_have_a_program_of_their_own) {
  ModelBuilder b(18);
  b.input("a", {"N"}).input("b", {"N"}).weights("zero", {}, {0});
  for (const std::string name : {"a", "b"}) {
    b.node("Greater", {name, "zero"}, {name + "_above"});
    b.node("Compress", {name, name + "_above"}, {name + "_found"});
  }
  b.node("Add", {"a_found", "b_found"}, {"y"}).output("y");
  Session session(b.load());
  const auto run = [&](const std::vector<float> &a, const std::vector<float> &c) {
    const auto n = static_cast<int64_t>(a.size());
    return numbers(session.run({{"a", floats({n}, a)}, {"b", floats({n}, c)}}).at("y"));
  };
  using List = std::vector<double>;
  EXPECT_EQ(run({1, -1, 2}, {-1, 5, 7}), (List{6, 9}));
  // numpy repeats what is one element.
  EXPECT_EQ(run({1, -1, -2}, {3, 5, 7}), (List{4, 6, 8}));
  EXPECT_EQ(run({1, 2, 3}, {-3, -5, 7}), (List{8, 9, 10}));
  try {
    run({1, 2, 3}, {-3, 5, 7});
    FAIL() << "3 and 2 elements";
  } catch (const CompileError &e) {
    EXPECT_NE(std::string(e.what()).find("are 3 and 2"), std::string::npos) << e.what();
  }
  EXPECT_EQ(run({4, -1, 2}, {-1, 5, 7}), (List{9, 9}));
}

}  // namespace
}  // namespace polyhalite::onnx::open_elements_test
