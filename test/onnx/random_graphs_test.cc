// Random graphs, compiled with every pass, against the interpreter node by node.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>
#include <sstream>

#include "apps/onnx/session.h"
#include "test/onnx/random_graph.h"

namespace polyhalite::onnx::random_graphs_test {
namespace {

constexpr uint32_t kGraphs = 48, kGraphsOfATest = 12;

class RandomGraphs : public testing::TestWithParam<uint32_t> {};

// Both compute in float32, with sums of up to some thousand terms in orders of their own; a chain
// of normalisations magnifies that. In units of the output's largest number; of 200 other
// graphs the worst is 4e-5 apart.
constexpr double kMostError = 2e-4;

void compare(const Constant &compiled, const Constant &wanted) {
  ASSERT_EQ(compiled.shape(), wanted.shape());
  double largest = 1e-3, worst = 0;
  int64_t place = 0;
  for (int64_t i = 0; i < wanted.elements(); i++) {
    ASSERT_TRUE(std::isfinite(wanted.number(i)) && std::isfinite(compiled.number(i))) << i;
    largest = std::max(largest, std::fabs(wanted.number(i)));
    const double error = std::fabs(compiled.number(i) - wanted.number(i));
    if (error > worst) worst = error, place = i;
  }
  if (worst > kMostError * largest)
    ADD_FAILURE() << "element " << place << " is " << compiled.number(place) << ", not "
                  << wanted.number(place);
}

TEST_P(RandomGraphs, compiled_equal_interpreted) {
  for (uint32_t seed = GetParam(); seed < GetParam() + kGraphsOfATest; seed++) {
    const RandomGraph graph = random_graph(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + graph.text);
    CompileOptions plain;
    plain.engine = Engine::Interpreter;
    plain.optimize = false;
    try {
      const auto wanted = Session(graph.model.load(), plain).run(graph.inputs);
      const auto results = Session(graph.model.load()).run(graph.inputs);
      for (const auto &[name, value] : wanted) {
        SCOPED_TRACE(name);
        compare(results.at(name), value);
      }
    } catch (const Error &e) {
      ADD_FAILURE() << e.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, RandomGraphs, testing::Range(0u, kGraphs, kGraphsOfATest),
                         testing::PrintToStringParamName());

TEST(onnx_random_graphs, these_have_all_operators) {
  std::set<std::string> missing{"Conv",
                                "MaxPool",
                                "AveragePool",
                                "GlobalAveragePool",
                                "GlobalMaxPool",
                                "MatMul",
                                "Gemm",
                                "Softmax",
                                "LogSoftmax",
                                "LayerNormalization",
                                "InstanceNormalization",
                                "BatchNormalization",
                                "ReduceMean",
                                "ReduceSum",
                                "ReduceMax",
                                "ReduceL2",
                                "Transpose",
                                "Reshape",
                                "Slice",
                                "Concat",
                                "Pad",
                                "Expand",
                                "Split",
                                "Squeeze",
                                "Unsqueeze",
                                "Where",
                                "Resize",
                                "DepthToSpace",
                                "SpaceToDepth",
                                "Add",
                                "Mul",
                                "Sub",
                                "Max",
                                "Min"};
  bool has_open = false, has_depthwise = false, has_groups = false;
  for (uint32_t seed = 0; seed < kGraphs; seed++) {
    std::istringstream lines(random_graph(seed).text);
    for (std::string line; std::getline(lines, line);) {
      has_open |= line.find(" open: ") != std::string::npos;
      std::smatch found;
      if (!std::regex_search(line, found, std::regex(" = (\\w+)"))) continue;
      missing.erase(found[1]);
      if (!std::regex_search(line, found, std::regex("  \\[\\d+, (\\d+), .* group (\\d+)")))
        continue;
      const bool single = found[1] == "1", grouped = found[2] != "1";
      has_depthwise |= single && grouped;
      has_groups |= !single && grouped;
    }
  }
  EXPECT_EQ(missing, std::set<std::string>());
  EXPECT_TRUE(has_open) << "sizes of an input";
  EXPECT_TRUE(has_depthwise && has_groups) << has_depthwise << has_groups;
  EXPECT_EQ(random_graph(1).text, random_graph(1).text);
  EXPECT_NE(random_graph(1).text, random_graph(2).text);
}

}  // namespace
}  // namespace polyhalite::onnx::random_graphs_test
