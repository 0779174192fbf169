// Trees of ai.onnx.ml, against a walk through random forests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::trees_test {
namespace {

constexpr int64_t kFeatures = 5, kRows = 40;

struct TestNode {
  int64_t tree = 0, id = 0, feature = 0, mode = 0, yes = 0, no = 0;
  bool leaf = false, missing_is_true = false;
  float split = 0;
  std::vector<float> weights;  // of a leaf, by target
};

const char *const kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                              "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};

bool passes(const TestNode &n, float x) {
  if (std::isnan(x) && n.missing_is_true) return true;
  const float s = n.split;
  const bool all[] = {x <= s, x<s, x >= s, x> s, x == s, x != s};
  return all[n.mode];
}

Message texts_attribute(const std::string &name, const std::vector<std::string> &list) {
  Message m;
  m.text(1, name);
  for (const std::string &s : list) m.text(9, s);
  return m.number(20, 8);
}
template <typename T>
Message tensor_attribute(const std::string &name, int type, const std::vector<T> &list) {
  const auto n = static_cast<int64_t>(list.size());
  return Message()
      .text(1, name)
      .message(5, ModelBuilder::tensor<T>(name, type, {n}, list))
      .number(20, 4);
}

class Trees : public Microsoft {
 protected:
  Trees() { again(); }
  void again() {
    ours_ = ModelBuilder(18);
    ours_.import("ai.onnx.ml", 5);
    in_.clear();
    values_.clear();
    nodes_.clear();
  }
  void node(const std::string &op, const Names &out, const std::vector<Message> &attributes) {
    ours_.node(op, {"x"}, out, attributes, "ai.onnx.ml");
    for (const std::string &o : out) ours_.output(o);
  }
  // Small whole numbers, that thresholds meet, some missing.
  void features(bool gaps) {
    std::vector<float> v;
    for (int64_t i = 0; i < kRows * kFeatures; i++)
      v.push_back(gaps && bits_() % 6 == 0 ? NAN : static_cast<float>(bits_() % 5));
    ours_.input("x", {"n", static_cast<int>(kFeatures)});
    values_["x"] = v;
    in_["x"] = floats({kRows, kFeatures}, v);
  }
  void forest(int64_t trees, int64_t modes, int64_t targets, bool negative) {
    for (int64_t t = 0; t < trees; t++) {
      int64_t next = 0;
      grow(t, 5, &next, modes, targets, negative);
    }
  }
  int64_t grow(int64_t tree, int depth, int64_t *next, int64_t modes, int64_t targets,
               bool negative) {
    const size_t at = nodes_.size();
    nodes_.emplace_back();
    TestNode n;
    n.tree = tree;
    n.id = (*next)++;
    n.leaf = depth == 0 || (depth < 5 && bits_() % 5 == 0);
    if (n.leaf) {
      for (int64_t k = 0; k < targets; k++)
        n.weights.push_back(static_cast<float>(bits_() % 1000) / 5000 - (negative ? 0.1f : 0));
    } else {
      n.mode = static_cast<int64_t>(bits_()) % modes;
      n.feature = bits_() % kFeatures;
      n.split = static_cast<float>(bits_() % 5);
      n.missing_is_true = bits_() % 2 == 0;
      n.yes = grow(tree, depth - 1, next, modes, targets, negative);
      n.no = grow(tree, depth - 1, next, modes, targets, negative);
    }
    nodes_[at] = n;
    return n.id;
  }
  const TestNode &find(int64_t tree, int64_t id) const {
    return *std::find_if(nodes_.begin(), nodes_.end(),
                         [&](const TestNode &n) { return n.tree == tree && n.id == id; });
  }
  // Weights of all trees for a row.
  std::vector<std::vector<float>> reached(int64_t row) const {
    std::vector<std::vector<float>> all;
    for (int64_t tree = 0; tree <= nodes_.back().tree; tree++) {
      const TestNode *n = &find(tree, 0);
      while (!n->leaf) {
        const float x = values_.at("x")[static_cast<size_t>(row * kFeatures + n->feature)];
        n = &find(tree, passes(*n, x) ? n->yes : n->no);
      }
      all.push_back(n->weights);
    }
    return all;
  }
  std::vector<Message> listed(const std::string &votes) const {
    std::map<std::string, std::vector<int64_t>> lists;
    std::vector<std::string> modes;
    std::vector<float> splits, weights;
    for (const TestNode &n : nodes_) {
      lists["nodes_treeids"].push_back(n.tree);
      lists["nodes_nodeids"].push_back(n.id);
      lists["nodes_featureids"].push_back(n.feature);
      lists["nodes_truenodeids"].push_back(n.yes);
      lists["nodes_falsenodeids"].push_back(n.no);
      lists["nodes_missing_value_tracks_true"].push_back(n.missing_is_true);
      modes.emplace_back(n.leaf ? "LEAF" : kModes[n.mode]);
      splits.push_back(n.split);
      for (size_t k = 0; k < n.weights.size(); k++) {
        lists[votes + "_treeids"].push_back(n.tree);
        lists[votes + "_nodeids"].push_back(n.id);
        lists[votes + "_ids"].push_back(static_cast<int64_t>(k));
        weights.push_back(n.weights[k]);
      }
    }
    std::vector<Message> attributes{texts_attribute("nodes_modes", modes),
                                    reals_attribute("nodes_values", splits),
                                    reals_attribute(votes + "_weights", weights)};
    for (const auto &[name, list] : lists) attributes.push_back(ints_attribute(name, list));
    return attributes;
  }

  std::mt19937 bits_{3};
  std::vector<TestNode> nodes_;
};

TEST_F(Trees, weights_meet_as_the_model_says) {
  for (const char *how : {"SUM", "AVERAGE", "MIN", "MAX"}) {
    for (const int64_t modes : {1, 6}) {
      again();
      features(modes == 6);
      forest(7, modes, 2, true);
      std::vector<Message> attributes = listed("target");
      attributes.push_back(int_attribute("n_targets", 2));
      attributes.push_back(text_attribute("aggregate_function", how));
      attributes.push_back(reals_attribute("base_values", {0.5f, -1}));
      node("TreeEnsembleRegressor", {"y"}, attributes);
      std::vector<double> wanted;
      for (int64_t row = 0; row < kRows; row++) {
        const auto all = reached(row);
        for (size_t k = 0; k < 2; k++) {
          double sum = 0, least = INFINITY, most = -INFINITY;
          for (const auto &weights : all) {
            sum += weights[k];
            least = std::min<double>(least, weights[k]);
            most = std::max<double>(most, weights[k]);
          }
          const std::string name = how;
          wanted.push_back((k == 0 ? 0.5 : -1) + (name == "SUM"       ? sum
                                                  : name == "AVERAGE" ? sum / 7
                                                  : name == "MIN"     ? least
                                                                      : most));
        }
      }
      SCOPED_TRACE(std::string(how) + std::to_string(modes));
      expect("y", {kRows, 2}, wanted);
    }
  }
}

TEST_F(Trees, classes_with_most_votes) {
  features(true);
  forest(6, 6, 3, true);
  std::vector<Message> attributes = listed("class");
  attributes.push_back(ints_attribute("classlabels_int64s", {7, 5, 9}));
  attributes.push_back(text_attribute("post_transform", "LOGISTIC"));
  node("TreeEnsembleClassifier", {"label", "score"}, attributes);
  std::vector<double> labels, scores;
  for (int64_t row = 0; row < kRows; row++) {
    std::vector<double> sums(3);
    for (const auto &weights : reached(row)) {
      for (size_t k = 0; k < 3; k++) sums[k] += weights[k];
    }
    const double names[] = {7, 5, 9};
    labels.push_back(names[std::max_element(sums.begin(), sums.end()) - sums.begin()]);
    for (double s : sums) scores.push_back(1 / (1 + std::exp(-s)));
  }
  expect("label", {kRows}, labels, 0);
  expect("score", {kRows, 3}, scores);
}

// As boosted trees have it: votes for the first class are those for the second.
TEST_F(Trees, one_score_for_two_classes) {
  for (const bool negative : {false, true}) {
    for (const char *how : {"NONE", "LOGISTIC"}) {
      again();
      features(false);
      forest(5, 1, 1, negative);
      std::vector<Message> attributes = listed("class");
      attributes.push_back(ints_attribute("classlabels_int64s", {4, 9}));
      attributes.push_back(text_attribute("post_transform", how));
      node("TreeEnsembleClassifier", {"label", "score"}, attributes);
      std::vector<double> labels, scores;
      for (int64_t row = 0; row < kRows; row++) {
        double sum = 0;
        for (const auto &weights : reached(row)) sum += weights[0];
        const bool logistic = std::string(how) == "LOGISTIC";
        labels.push_back(sum > (negative ? 0 : 0.5) ? 9 : 4);
        const double part = 1 / (1 + std::exp(-sum));
        scores.push_back(logistic ? 1 - part : negative ? -sum : 1 - sum);
        scores.push_back(logistic ? part : sum);
      }
      SCOPED_TRACE(std::string(how) + (negative ? " negative" : ""));
      expect("label", {kRows}, labels, 0);
      expect("score", {kRows, 2}, scores);
    }
  }
}

// Nodes and leaves in lists of their own, and sets of members.
TEST_F(Trees, ensembles_of_version_5) {
  features(true);
  const std::vector<Message> attributes{
      int_attribute("n_targets", 2),
      ints_attribute("tree_roots", {0}),
      ints_attribute("nodes_featureids", {0, 1, 2}),
      tensor_attribute<uint8_t>("nodes_modes", 2, {0, 6, 6}),
      tensor_attribute<float>("nodes_splits", 1, {2, 0, 0}),
      tensor_attribute<float>("membership_values", 1, {1, 3, 4, NAN, 0}),
      ints_attribute("nodes_truenodeids", {1, 0, 1}),
      ints_attribute("nodes_trueleafs", {0, 1, 1}),
      ints_attribute("nodes_falsenodeids", {2, 1, 2}),
      ints_attribute("nodes_falseleafs", {0, 1, 1}),
      ints_attribute("leaf_targetids", {0, 1, 0}),
      tensor_attribute<float>("leaf_weights", 1, {1.5f, 2.5f, -4})};
  node("TreeEnsemble", {"y"}, attributes);
  std::vector<double> wanted;
  for (int64_t row = 0; row < kRows; row++) {
    const float *x = &values_["x"][static_cast<size_t>(row * kFeatures)];
    const size_t leaf =
        x[0] <= 2 ? (x[1] == 1 || x[1] == 3 || x[1] == 4 ? 0 : 1) : (x[2] == 0 ? 1 : 2);
    const double weights[] = {1.5, 2.5, -4};
    wanted.push_back(leaf == 1 ? 0 : weights[leaf]);
    wanted.push_back(leaf == 1 ? weights[leaf] : 0);
  }
  expect("y", {kRows, 2}, wanted);
}

TEST_F(Trees, refused_with_reasons) {
  auto expect_error = [&](const std::vector<Message> &attributes, const std::string &what) {
    again();
    features(false);
    node("TreeEnsembleRegressor", {"y"}, attributes);
    EXPECT_NE(error().find(what), std::string::npos) << error();
  };
  auto tree = [](const std::vector<int64_t> &yes, const std::string &mode) {
    return std::vector<Message>{texts_attribute("nodes_modes", {mode, "LEAF"}),
                                ints_attribute("nodes_treeids", {0, 0}),
                                ints_attribute("nodes_nodeids", {0, 1}),
                                ints_attribute("nodes_featureids", {0, 0}),
                                ints_attribute("nodes_truenodeids", yes),
                                ints_attribute("nodes_falsenodeids", {1, 0}),
                                reals_attribute("nodes_values", {0, 0})};
  };
  expect_error({}, "node 'make_y' (ai.onnx.ml.TreeEnsembleRegressor): nodes_modes is left out");
  expect_error(tree({1, 0}, "BRANCH_MAYBE"),
               "a node's mode is 'BRANCH_MAYBE'\n  why: it is none of the format's");
  expect_error(tree({1}, "BRANCH_LT"),
               "nodes_truenodeids has 1 elements\n  why: the other lists have 2");
  expect_error(tree({4, 0}, "BRANCH_LT"), "a node's child is 4\n  why: its tree has no such node");
  expect_error(tree({0, 0}, "BRANCH_LT"), "it has no trees\n  why: a forest has at least one");
  std::vector<Message> beyond = tree({1, 0}, "LEAF");
  beyond[3] = ints_attribute("nodes_featureids", {0, 5});
  beyond[0] = texts_attribute("nodes_modes", {"LEAF", "BRANCH_LT"});
  beyond[4] = ints_attribute("nodes_truenodeids", {0, 0});
  beyond[5] = ints_attribute("nodes_falsenodeids", {0, 0});
  expect_error(beyond, "a node asks for feature 5\n  why: rows have 5");
  std::vector<Message> voted = tree({1, 0}, "BRANCH_LT");
  voted.push_back(ints_attribute("target_treeids", {0}));
  voted.push_back(ints_attribute("target_nodeids", {0}));
  voted.push_back(ints_attribute("target_ids", {0}));
  voted.push_back(reals_attribute("target_weights", {1}));
  expect_error(voted, "a vote is that of node 0\n  why: it is no leaf");
  std::vector<Message> looped = tree({1, 0}, "BRANCH_LT");
  looped[0] = texts_attribute("nodes_modes", {"BRANCH_LT", "BRANCH_LT", "BRANCH_LT"});
  looped[1] = ints_attribute("nodes_treeids", {0, 0, 0});
  looped[2] = ints_attribute("nodes_nodeids", {0, 1, 2});
  looped[3] = ints_attribute("nodes_featureids", {0, 0, 0});
  looped[4] = ints_attribute("nodes_truenodeids", {1, 2, 1});
  looped[5] = ints_attribute("nodes_falsenodeids", {1, 2, 1});
  looped[6] = reals_attribute("nodes_values", {0, 0, 0});
  expect_error(looped, "a tree's node is its own ancestor\n  why: paths end at leaves");
  std::vector<Message> meeting = tree({1, 0}, "BRANCH_LT");
  meeting.push_back(text_attribute("aggregate_function", "MEDIAN"));
  expect_error(meeting, "its weights meet by 'MEDIAN'\n  why: they do by SUM, AVERAGE, MIN or MAX");
}

}  // namespace
}  // namespace polyhalite::onnx::trees_test
