// TopK of a number that elements decide, and Concat of what has such sizes: one program serves all.
#include <gtest/gtest.h>

#include "apps/onnx/session.h"
#include "test/onnx/model_builder.h"

namespace polyhalite::onnx::found_sizes_test {
namespace {

// The three largest of those above 0, or all of them where there are fewer.
ModelBuilder best_of_positive() {
  ModelBuilder b(18);
  b.input("x", {6}).weights("zero", {}, {0}).integers("most", {3});
  b.node("Greater", {"x", "zero"}, {"positive"}).node("Compress", {"x", "positive"}, {"found"});
  b.node("Shape", {"found"}, {"count"}).node("Min", {"count", "most"}, {"k"});
  b.node("TopK", {"found", "k"}, {"y", "at"}).output("y").output("at");
  return b;
}

TEST(onnx_found_sizes, a_number_of_results_is_bound_as_a_program_runs) {
  Session session(best_of_positive().load());
  const auto run = [&](const std::vector<float> &x) {
    const auto out = session.run({{"x", floats({6}, x)}});
    return std::pair{numbers(out.at("y")), numbers(out.at("at"))};
  };
  using List = std::vector<double>;
  EXPECT_EQ(run({3, -1, 5, 2, 4, -3}), (std::pair{List{5, 4, 3}, List{1, 3, 0}}));
  const auto program = session.program_for({{"x", floats({6}, {1, 2, 3, 4, 5, 6})}});
  EXPECT_EQ(run({-3, -1, 2, -2, -4, 7}), (std::pair{List{7, 2}, List{1, 0}}));
  EXPECT_EQ(run({-3, -1, -2, -2, -4, -7}), (std::pair{List{}, List{}}));
  EXPECT_EQ(session.program_for({{"x", floats({6}, {-1, 2, 3, 4, 5, -6})}}), program);
}

TEST(onnx_found_sizes, the_smallest_along_an_axis_and_equal_ones) {
  ModelBuilder b(18);
  b.input("x", {3, 2}).input("k", {1}, 7);
  b.node("TopK", {"x", "k"}, {"y", "at"}, {int_attribute("axis", 0), int_attribute("largest", 0)});
  b.output("y").output("at");
  Session session(b.load());
  for (const int64_t k : {1, 2, 3}) {
    const auto out =
        session.run({{"x", floats({3, 2}, {5, 1, 4, 1, 4, 0})}, {"k", Constant::integers({k})}});
    const std::vector<double> y{4, 0, 4, 1, 5, 1}, at{1, 2, 2, 0, 0, 1};
    EXPECT_EQ(numbers(out.at("y")), std::vector<double>(y.begin(), y.begin() + 2 * k));
    EXPECT_EQ(numbers(out.at("at")), std::vector<double>(at.begin(), at.begin() + 2 * k));
  }
  try {
    session.run({{"x", floats({3, 2}, {5, 1, 4, 1, 4, 0})}, {"k", Constant::integers({4})}});
    FAIL() << "four of three elements";
  } catch (const RuntimeError &e) {
    EXPECT_EQ(e.diagnostic().why, "the axis has 3 elements");
  }
}

// Sizes are not followed through floats, as exporters compute "t + 1": what follows from a size
// that is open becomes open as well, and one program serves all.
TEST(onnx_found_sizes, sizes_that_come_back_from_floats_are_open_as_well) {
  ModelBuilder b(18);
  b.input("x", {9}).input("t", {1}, 7).weights("one", {}, {1}).integers("most", {9});
  b.node("Cast", {"t"}, {"t_float"}, {int_attribute("to", 1)});
  b.node("Add", {"t_float", "one"}, {"next_float"});
  b.node("Cast", {"next_float"}, {"next"}, {int_attribute("to", 7)});
  b.node("Min", {"most", "next"}, {"end"});
  b.node("Slice", {"x", "t", "end"}, {"y"}).output("y");
  Session session(b.load());
  const Constant x = floats({9}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  std::shared_ptr<const Program> program;
  for (const int64_t t : {3, 4, 0, 5, 8, 9, 2}) {
    const auto run = session.run_program({{"x", x}, {"t", Constant::integers({t})}});
    const std::vector<double> wanted =
        t < 9 ? std::vector<double>{static_cast<double>(t)} : std::vector<double>{};
    EXPECT_EQ(numbers(run.outputs.at("y")), wanted) << t;
    if (t == 0) program = run.program;
    if (!program) continue;
    EXPECT_EQ(run.program, program) << t;
  }
}

TEST(onnx_found_sizes, many_open_parts_are_copied) {
  ModelBuilder b(18);
  std::vector<std::string> parts;
  for (int k = 0; k < 12; k++) {
    const std::string name = "x" + std::to_string(k);
    b.input(name, {2, ("n" + std::to_string(k)).c_str(), 2});
    parts.push_back(name);
  }
  b.node("Concat", parts, {"all"}, {int_attribute("axis", -2)}).node("Neg", {"all"}, {"y"});
  b.output("y");
  Session session(b.load());
  Program::Tensors in;
  std::vector<double> wanted[2];
  for (int k = 0; k < 12; k++) {
    const int64_t n = k % 4;
    std::vector<float> v;
    for (int64_t i = 0; i < 4 * n; i++) v.push_back(static_cast<float>(100 * k + i));
    for (size_t row = 0; row < 2; row++) {
      for (int64_t i = 0; i < 2 * n; i++)
        wanted[row].push_back(-v[row * static_cast<size_t>(2 * n) + static_cast<size_t>(i)]);
    }
    in["x" + std::to_string(k)] = floats({2, n, 2}, v);
  }
  wanted[0].insert(wanted[0].end(), wanted[1].begin(), wanted[1].end());
  const Constant y = session.run(in).at("y");
  EXPECT_EQ(y.shape(), (std::vector<int64_t>{2, 18, 2}));
  EXPECT_EQ(numbers(y), wanted[0]);
}

}  // namespace
}  // namespace polyhalite::onnx::found_sizes_test
