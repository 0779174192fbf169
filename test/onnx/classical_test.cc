// Operators of ai.onnx.ml around a classical model, and linear models, against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::classical_test {
namespace {

class Classical : public Microsoft {
 protected:
  Classical() { again(); }
  void again() {
    ours_ = ModelBuilder(18);
    ours_.import("ai.onnx.ml", 3);
    in_.clear();
    values_.clear();
  }
  void node(const std::string &op, const Names &in, const Names &out,
            const std::vector<Message> &attributes = {}) {
    ours_.node(op, in, out, attributes, "ai.onnx.ml");
    for (const std::string &o : out) ours_.output(o);
  }
  // Each element and its column.
  template <typename F>
  std::vector<double> each(const std::string &name, int64_t columns, const F &f) {
    std::vector<double> v;
    for (float x : values_[name])
      v.push_back(f(static_cast<double>(x), static_cast<int64_t>(v.size()) % columns));
    return v;
  }
};

TEST_F(Classical, features_are_taken_by_their_places) {
  const std::vector<float> x = operand("x", {2, 4}), z = operand("z", {4});
  ours_.initializer(ModelBuilder::tensor<int64_t>("at", 7, {1, 3}, {3, 0, 3}));
  node("ArrayFeatureExtractor", {"x", "at"}, {"y"});
  node("ArrayFeatureExtractor", {"z", "at"}, {"row"});
  expect("y", {2, 3}, {x[3], x[0], x[3], x[7], x[4], x[7]});
  expect("row", {1, 3}, {z[3], z[0], z[3]});
}

TEST_F(Classical, features_side_by_side) {
  const std::vector<float> x = operand("x", {2, 1}), z = operand("z", {2, 2});
  node("FeatureVectorizer", {"x", "z"}, {"y"}, {ints_attribute("inputdimensions", {1, 2})});
  expect("y", {2, 3}, {x[0], z[0], z[1], x[1], z[2], z[3]});
}

TEST_F(Classical, scaled_and_cut) {
  operand("x", {3, 4});
  node("Scaler", {"x"}, {"s"},
       {reals_attribute("offset", {0.1f, 0.2f, 0.3f, 0.4f}),
        reals_attribute("scale", {1, 2, 3, 4})});
  node("Binarizer", {"x"}, {"b"}, {real_attribute("threshold", 0.2f)});
  expect("s", {3, 4}, each("x", 4, [](double x, int64_t c) {
           const auto n = static_cast<double>(c + 1);
           return (x - 0.1 * n) * n;
         }));
  expect("b", {3, 4}, each("x", 4, [](double x, int64_t) { return x > 0.2 ? 1.0 : 0.0; }));
}

TEST_F(Classical, rows_of_one_size) {
  for (const char *norm : {"MAX", "L1", "L2"}) {
    again();
    operand("x", {3, 2});
    values_["x"][2] = values_["x"][3] = 0;
    in_["x"] = floats({3, 2}, values_["x"]);
    node("Normalizer", {"x"}, {"y"}, {text_attribute("norm", norm)});
    std::vector<double> wanted;
    for (size_t row = 0; row < 3; row++) {
      const double a = values_["x"][2 * row], b = values_["x"][2 * row + 1];
      double size = std::string(norm) == "MAX"  ? std::max(a, b)
                    : std::string(norm) == "L1" ? std::fabs(a) + std::fabs(b)
                                                : std::hypot(a, b);
      if (size == 0) size = 1;
      wanted.insert(wanted.end(), {a / size, b / size});
    }
    SCOPED_TRACE(norm);
    expect("y", {3, 2}, wanted);
  }
}

TEST_F(Classical, gaps_are_filled) {
  const float gap = std::numeric_limits<float>::quiet_NaN();
  for (const float marked : {gap, -1.0f}) {
    again();
    operand("x", {2, 2});
    values_["x"][1] = values_["x"][2] = marked;
    in_["x"] = floats({2, 2}, values_["x"]);
    node("Imputer", {"x"}, {"y"},
         {reals_attribute("imputed_value_floats", {5, 6}),
          real_attribute("replaced_value_float", marked)});
    expect("y", {2, 2}, {values_["x"][0], 6, 5, values_["x"][3]});
  }
  again();
  ours_.initializer(ModelBuilder::tensor<int64_t>("i", 7, {1, 3}, {4, 0, 2}));
  node("Imputer", {"i"}, {"y"},
       {ints_attribute("imputed_value_int64s", {9}), int_attribute("replaced_value_int64", 0)});
  expect("y", {1, 3}, {4, 9, 2});
}

TEST_F(Classical, labels_are_looked_up) {
  ours_.initializer(ModelBuilder::tensor<int64_t>("i", 7, {2, 2}, {4, 0, 2, 4}));
  node("LabelEncoder", {"i"}, {"y"},
       {ints_attribute("keys_int64s", {0, 4}), reals_attribute("values_floats", {1.5f, -2}),
        real_attribute("default_float", 9)});
  node("LabelEncoder", {"i"}, {"z"},
       {ints_attribute("keys_int64s", {2, 4}), ints_attribute("values_int64s", {7, 8})});
  expect("y", {2, 2}, {-2, 1.5, 9, -2});
  expect("z", {2, 2}, {8, -1, 7, 8});
  again();
  operand("x", {3});
  in_["x"] = floats({3}, {0.5f, 3, 0.25f});
  const auto tensor = [](const std::string &name, const Message &t) {
    return Message().text(1, name).message(5, t).number(20, 4);
  };
  node("LabelEncoder", {"x"}, {"y"},
       {tensor("keys_tensor", ModelBuilder::tensor<float>("", 1, {2}, {0.25f, 0.5f})),
        tensor("values_tensor", ModelBuilder::tensor<int16_t>("", 5, {2}, {300, -300})),
        tensor("default_tensor", ModelBuilder::tensor<int16_t>("", 5, {1}, {7}))});
  expect("y", {3}, {-300, 7, 300}, 0);
}

// Scores behind each transform.
std::vector<double> transformed(std::vector<double> scores, const std::string &how) {
  double sum = 0;
  for (double &s : scores) {
    if (how == "LOGISTIC") s = 1 / (1 + std::exp(-s));
    if (how == "SOFTMAX" || (how == "SOFTMAX_ZERO" && s != 0)) s = std::exp(s);
    sum += s;
  }
  for (double &s : scores) s /= how.rfind("SOFTMAX", 0) == 0 ? sum : 1;
  return scores;
}

TEST_F(Classical, linear_models) {
  const std::vector<float> table = random_floats(12, 5), constants = random_floats(3, 6);
  for (const char *how : {"NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"}) {
    again();
    const std::vector<float> x = operand("x", {5, 4});
    const std::vector<Message> model{reals_attribute("coefficients", table),
                                     reals_attribute("intercepts", constants),
                                     text_attribute("post_transform", how)};
    std::vector<Message> regressor = model, classifier = model;
    regressor.push_back(int_attribute("targets", 3));
    classifier.push_back(ints_attribute("classlabels_ints", {7, 5, 9}));
    node("LinearRegressor", {"x"}, {"y"}, regressor);
    node("LinearClassifier", {"x"}, {"label", "score"}, classifier);
    std::vector<double> wanted, labels;
    for (size_t row = 0; row < 5; row++) {
      std::vector<double> scores;
      for (size_t k = 0; k < 3; k++) {
        double s = constants[k];
        for (size_t i = 0; i < 4; i++) s += static_cast<double>(x[row * 4 + i]) * table[k * 4 + i];
        scores.push_back(s);
      }
      const double names[] = {7, 5, 9};
      labels.push_back(names[std::max_element(scores.begin(), scores.end()) - scores.begin()]);
      for (double s : transformed(scores, how)) wanted.push_back(s);
    }
    SCOPED_TRACE(how);
    expect("y", {5, 3}, wanted);
    expect("score", {5, 3}, wanted);
    expect("label", {5}, labels, 0);
  }
}

TEST_F(Classical, scores_of_zero_stay) {
  operand("x", {1, 2});
  in_["x"] = floats({1, 2}, {0, 1});
  node("LinearRegressor", {"x"}, {"y"},
       {reals_attribute("coefficients", {1, 0, 0, 2, 0, 1}), int_attribute("targets", 3),
        text_attribute("post_transform", "SOFTMAX_ZERO")});
  const double a = std::exp(2), b = std::exp(1);
  expect("y", {1, 3}, {0, a / (a + b), b / (a + b)});
}

TEST_F(Classical, refused_with_reasons) {
  auto expect_error = [&](const std::string &op, const std::vector<Message> &attributes,
                          const std::string &what) {
    again();
    operand("x", {2, 3});
    node(op, {"x"}, {"y"}, attributes);
    EXPECT_NE(error().find(what), std::string::npos) << error();
  };
  const Message two = reals_attribute("coefficients", {1, 2});
  expect_error("Normalizer", {text_attribute("norm", "L3")},
               "node 'make_y' (ai.onnx.ml.Normalizer): its norm is 'L3'\n  why: it is MAX, L1 or "
               "L2");
  expect_error("Imputer", {}, "it has no values to put in");
  expect_error("LabelEncoder", {ints_attribute("keys_int64s", {1, 2})},
               "it has 2 keys and 0 values\n  why: each key has a value");
  expect_error("LabelEncoder", {Message().text(1, "keys_strings").text(9, "a").number(20, 8)},
               "it has keys_strings\n  why: numbers are supported");
  expect_error("LinearRegressor", {two, int_attribute("targets", 3)},
               "it has 2 coefficients for 3 results\n  why: each result has as many");
  expect_error("LinearRegressor", {two, reals_attribute("intercepts", {1, 2})},
               "it has 2 intercepts for 1 results\n  why: each result has one");
  expect_error("LinearRegressor", {two, text_attribute("post_transform", "PROBIT")},
               "post_transform is 'PROBIT'\n  why: NONE, LOGISTIC, SOFTMAX and SOFTMAX_ZERO are "
               "supported");
  expect_error(
      "LinearClassifier",
      {two, reals_attribute("intercepts", {1}), ints_attribute("classlabels_ints", {0, 1})},
      "it has one score for two classes\n  why: each class has a score");
  expect_error("LinearClassifier", {two},
               "its classes have no labels\n  why: classlabels_ints lists them");
  expect_error("LinearClassifier",
               {two, Message().text(1, "classlabels_strings").text(9, "a").number(20, 8)},
               "its classes have texts as labels\n  why: numbers are supported");
}

}  // namespace
}  // namespace polyhalite::onnx::classical_test
