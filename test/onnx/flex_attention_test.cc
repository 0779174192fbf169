// FlexAttention against plain loops: heads that share keys, graphs of the model's own between the
// products, and what those read around them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::flex_attention_test {
namespace {

constexpr int64_t kBatch = 2, kHeads = 4, kGroups = 2, kQueries = 3, kKeys = 5, kWidth = 4,
                  kValues = 6;
constexpr const char *kDomain = "ai.onnx.preview";

class FlexAttention : public Microsoft {
 protected:
  FlexAttention() {
    ours_ = ModelBuilder(26);
    ours_.import(kDomain, 1);
    operand("q", {kBatch, kHeads, kQueries, kWidth});
    operand("k", {kBatch, kGroups, kKeys, kWidth});
    operand("v", {kBatch, kGroups, kKeys, kValues});
  }
  void attend(const std::vector<Message> &attributes) {
    ours_.node("FlexAttention", {"q", "k", "v"}, {"y"}, attributes, kDomain);
    ours_.output("y");
  }
  using Change = std::function<double(double, int64_t head, int64_t query, int64_t key)>;
  std::vector<double> wanted(double scale, const Change &score, const Change &weight) {
    std::vector<double> y;
    for (int64_t row = 0; row < kBatch * kHeads * kQueries; row++) {
      const int64_t query = row % kQueries, head = row / kQueries % kHeads,
                    group = row / kQueries / kHeads * kGroups + head / (kHeads / kGroups);
      std::vector<double> weights;
      double sum = 0;
      for (int64_t key = 0; key < kKeys; key++) {
        double s = 0;
        for (int64_t e = 0; e < kWidth; e++) {
          s += static_cast<double>(values_["q"][static_cast<size_t>(row * kWidth + e)]) *
               values_["k"][static_cast<size_t>((group * kKeys + key) * kWidth + e)];
        }
        weights.push_back(std::exp(score(s * scale, head, query, key)));
        sum += weights.back();
      }
      for (int64_t e = 0; e < kValues; e++) {
        double result = 0;
        for (int64_t key = 0; key < kKeys; key++) {
          result += weight(weights[static_cast<size_t>(key)] / sum, head, query, key) *
                    values_["v"][static_cast<size_t>((group * kKeys + key) * kValues + e)];
        }
        y.push_back(result);
      }
    }
    return y;
  }
  void expect_y(double scale, const Change &score, const Change &weight) {
    expect("y", {kBatch, kHeads, kQueries, kValues}, wanted(scale, score, weight));
  }
  static double same(double x, int64_t, int64_t, int64_t) { return x; }
};

// Scores minus the distance of query and key, which is masked where a key comes later.
Message distances() {
  ModelBuilder b(26);
  b.input("s", {"b", "h", "l", "k"});
  b.initializer(ModelBuilder::tensor<int64_t>("two", 7, {}, {2}));
  b.initializer(ModelBuilder::tensor<int64_t>("three", 7, {}, {3}));
  b.initializer(ModelBuilder::tensor<int64_t>("none", 7, {}, {0}));
  b.initializer(ModelBuilder::tensor<int64_t>("one", 7, {}, {1}));
  b.integers("column", {-1, 1}).weights("low", {}, {-1e9f});
  b.node("Shape", {"s"}, {"sizes"});
  b.node("Gather", {"sizes", "two"}, {"l"}).node("Gather", {"sizes", "three"}, {"k"});
  b.node("Range", {"none", "l", "one"}, {"queries"}).node("Range", {"none", "k", "one"}, {"keys"});
  b.node("Reshape", {"queries", "column"}, {"rows"});
  b.node("Sub", {"keys", "rows"}, {"ahead"});
  b.node("Cast", {"ahead"}, {"distance"}, {int_attribute("to", 1)});
  b.node("Add", {"s", "distance"}, {"biased"}).node("Greater", {"ahead", "one"}, {"late"});
  b.node("Where", {"late", "low", "biased"}, {"out"}).output("out");
  return b.region("score_mod");
}
double distance_of(double s, int64_t, int64_t query, int64_t key) {
  return key - query > 1 ? -1e9 : s + static_cast<double>(key - query);
}

// Reads a value of the graph around it.
Message scaled_by(const std::string &outer) {
  ModelBuilder b(26);
  b.input("p", {"b", "h", "l", "k"}).node("Mul", {"p", outer}, {"out"}).output("out");
  return b.region("prob_mod");
}

TEST_F(FlexAttention, heads_share_keys) {
  attend({});
  expect_y(0.5, same, same);
}

TEST_F(FlexAttention, scores_are_changed) {
  attend({graph_attribute("score_mod", distances()), real_attribute("scale", 0.7f)});
  expect_y(0.7f, distance_of, same);
}

TEST_F(FlexAttention, weights_are_changed_by_values_around) {
  operand("by", {1, kHeads, 1, 1});
  attend({graph_attribute("prob_mod", scaled_by("by")), graph_attribute("score_mod", distances()),
          int_attribute("softmax_precision", 11)});
  expect_y(0.5, distance_of, [&](double w, int64_t head, int64_t, int64_t) {
    return w * values_["by"][static_cast<size_t>(head)];
  });
}

// A graph inside of the graph reads both of those around it.
TEST_F(FlexAttention, branches_inside_of_what_changes_scores) {
  operand("by", {1, kHeads, 1, 1});
  ModelBuilder yes(26), no(26), b(26);
  yes.node("Add", {"s", "by"}, {"u"}).output("u");
  no.node("Neg", {"s"}, {"n"}).output("n");
  b.input("s", {"b", "h", "l", "k"})
      .node("ReduceMax", {"s"}, {"most"}, {int_attribute("keepdims", 0)});
  b.weights("high", {}, {100}).node("Less", {"most", "high"}, {"test"});
  b.node("If", {"test"}, {"out"},
         {graph_attribute("then_branch", yes.region("yes")),
          graph_attribute("else_branch", no.region("no"))});
  b.output("out");
  attend({graph_attribute("score_mod", b.region("score_mod"))});
  expect_y(
      0.5,
      [&](double s, int64_t head, int64_t, int64_t) {
        return s + values_["by"][static_cast<size_t>(head)];
      },
      same);
}

TEST_F(FlexAttention, refused_with_reasons) {
  ModelBuilder b(26);
  b.input("s", {1}).input("t", {1}).node("Add", {"s", "t"}, {"out"}).output("out");
  attend({graph_attribute("score_mod", b.region("score_mod"))});
  EXPECT_NE(error().find("node 'make_y' (ai.onnx.preview.FlexAttention): score_mod is no graph "
                         "with one input and one output"),
            std::string::npos)
      << error();
  ours_ = ModelBuilder(26);
  ours_.import(kDomain, 1);
  for (const char *name : {"q", "k", "v"}) operand(name, {2, 3, 8});
  attend({});
  EXPECT_NE(error().find("operand 0 has rank 3\n  why: it is [batch, heads, positions, width]"),
            std::string::npos)
      << error();
}

}  // namespace
}  // namespace polyhalite::onnx::flex_attention_test
