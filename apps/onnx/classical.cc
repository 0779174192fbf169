// Operators of ai.onnx.ml on numbers, but for trees: what stands around a classical model, and
// linear ones.
#include "apps/onnx/classical.h"

#include <cmath>
#include <optional>

namespace polyhalite::onnx {

namespace {

constexpr const char *kClassical = "ai.onnx.ml";
const Attributes kToFloat = {{"to", static_cast<int64_t>(ElementType::Float32)}};

void expand_features(Call &c) {
  const ValueId list = c.w.op("Reshape", {c.in(1), c.w.integers({-1})});
  const ValueId y = c.w.op("Gather", {c.in(0), list}, {{"axis", int64_t{-1}}});
  // A list is one row.
  c.define(0,
           by_rank(
               &c.w, c.in(0), 1, {y},
               [](Writer &w, const std::vector<ValueId> &v) {
                 return w.op("Unsqueeze", {v[0], w.integers({0})});
               },
               [](Writer &w, const std::vector<ValueId> &v) { return w.op("Identity", {v[0]}); }));
}

void expand_binarizer(Call &c) {
  const ValueId x = c.in(0);
  const ValueId above = c.w.op("Greater", {x, c.w.number(c.node.real("threshold", 0), x)});
  c.define(0, c.w.op("CastLike", {above, x}));
}

void expand_feature_vectorizer(Call &c) {
  std::vector<ValueId> parts;
  for (size_t i = 0; i < c.node.inputs.size(); i++)
    parts.push_back(c.w.op("Cast", {c.in(i)}, kToFloat));
  c.define(0, c.w.op("Concat", parts, {{"axis", int64_t{1}}}));
}

void expand_scaler(Call &c) {
  ValueId x = c.w.op("Cast", {c.in(0)}, kToFloat);
  if (c.node.has("offset")) x = c.w.op("Sub", {x, number_list(&c, reals(c, "offset"))});
  if (c.node.has("scale")) x = c.w.op("Mul", {x, number_list(&c, reals(c, "scale"))});
  c.define(0, x);
}

void expand_normalizer(Call &c) {
  const std::string norm = c.node.text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2")
    c.fail("its norm is '" + norm + "'", "it is MAX, L1 or L2");
  const ValueId x = c.w.op("Cast", {c.in(0)}, kToFloat), last = c.w.integers({-1});
  const ValueId size = norm == "MAX"  ? c.w.op("ReduceMax", {x, last})
                       : norm == "L1" ? c.w.op("ReduceL1", {x, last})
                                      : c.w.op("ReduceL2", {x, last});
  const ValueId nothing = c.w.op("Equal", {size, c.w.number(0, size)});
  c.define(0, c.w.op("Where", {nothing, x, c.w.op("Div", {x, size})}));
}

void expand_imputer(Call &c) {
  const ValueId x = c.in(0);
  if (c.node.has("imputed_value_int64s")) {
    const ValueId list = c.w.integers(c.node.integers("imputed_value_int64s"));
    const ValueId gap = c.w.integer(c.node.integer("replaced_value_int64", 0));
    c.define(0, c.w.op("Where", {c.w.op("Equal", {x, c.w.op("CastLike", {gap, x})}),
                                 c.w.op("CastLike", {list, x}), x}));
    return;
  }
  const std::vector<float> values = reals(c, "imputed_value_floats");
  if (values.empty()) c.fail("it has no values to put in", "imputed_value_floats lists them");
  const float gap = c.node.real("replaced_value_float", 0);
  const ValueId test =
      std::isnan(gap) ? c.w.op("IsNaN", {x}) : c.w.op("Equal", {x, c.w.number(gap, x)});
  c.define(0, c.w.op("Where", {test, c.w.op("CastLike", {number_list(&c, values), x}), x}));
}

// The attribute's numbers: a list, or a tensor; nothing where it is left out.
std::optional<Constant> listed(const Call &c, const std::string &what) {
  const auto tensor = c.node.attributes.find(what + "_tensor");
  if (tensor != c.node.attributes.end()) {
    const auto *given = std::get_if<Constant>(&tensor->second);
    if (!given) c.fail(what + "_tensor is no tensor", "it lists numbers");
    return given->reshaped({given->elements()});
  }
  if (c.node.has(what + "_int64s")) return Constant::integers(c.node.integers(what + "_int64s"));
  const std::vector<float> list = reals(c, what + "_floats");
  if (list.empty()) return std::nullopt;
  std::vector<uint8_t> bytes;
  for (float v : list) append_number(&bytes, ElementType::Float32, v);
  return Constant::of_bytes(ElementType::Float32, {static_cast<int64_t>(list.size())},
                            std::move(bytes));
}

// Each element is looked for among the keys.
void expand_label_encoder(Call &c) {
  for (const char *texts : {"keys_strings", "values_strings"}) {
    if (c.node.has(texts)) c.fail("it has " + std::string(texts), "numbers are supported");
  }
  const auto keys = listed(c, "keys"), values = listed(c, "values");
  if (!keys || !values || keys->elements() != values->elements() || keys->elements() < 1)
    c.fail("it has " + std::to_string(keys ? keys->elements() : 0) + " keys and " +
               std::to_string(values ? values->elements() : 0) + " values",
           "each key has a value");
  ValueId otherwise;
  const auto of_tensor = c.node.attributes.find("default_tensor");
  const auto *tensor =
      of_tensor == c.node.attributes.end() ? nullptr : std::get_if<Constant>(&of_tensor->second);
  if (tensor && tensor->elements() == 1) {
    otherwise = c.w.graph().add_constant("default", tensor->reshaped({}));
  } else if (values->type() == ElementType::Int64) {
    otherwise = c.w.integer(c.node.integer("default_int64", -1));
  } else {
    otherwise =
        c.w.graph().add_constant("default", Constant::real(c.node.real("default_float", 0)));
  }
  const ValueId key_list = c.w.graph().add_constant("keys", *keys),
                value_list = c.w.graph().add_constant("values", *values);
  const ValueId x = c.w.op("Unsqueeze", {c.in(0), c.w.integers({-1})});
  const ValueId is_key = c.w.op("Cast", {c.w.op("Equal", {x, key_list})},
                                {{"to", static_cast<int64_t>(ElementType::Int32)}});
  const ValueId at = c.w.op("ArgMax", {is_key}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}});
  const ValueId found =
      c.w.op("ReduceMax", {is_key, c.w.integers({-1})}, {{"keepdims", int64_t{0}}});
  c.define(
      0, c.w.op("Where",
                {c.w.op("Cast", {found}, {{"to", static_cast<int64_t>(ElementType::Bool)}}),
                 c.w.op("Gather", {value_list, at}), c.w.op("CastLike", {otherwise, value_list})}));
}

// Scores of rows: x times each row of coefficients, plus its intercept.
ValueId linear_scores(Call &c, int64_t results) {
  const std::vector<float> rows = reals(c, "coefficients"), constants = reals(c, "intercepts");
  if (results < 1 || rows.empty() || static_cast<int64_t>(rows.size()) % results != 0)
    c.fail("it has " + std::to_string(rows.size()) + " coefficients for " +
               std::to_string(results) + " results",
           "each result has as many");
  if (!constants.empty() && static_cast<int64_t>(constants.size()) != results)
    c.fail("it has " + std::to_string(constants.size()) + " intercepts for " +
               std::to_string(results) + " results",
           "each result has one");
  ValueId x = c.w.op("Cast", {c.in(0)}, kToFloat);
  // A list is one row.
  x = by_rank(
      &c.w, c.in(0), 1, {x},
      [](Writer &w, const std::vector<ValueId> &v) {
        return w.op("Unsqueeze", {v[0], w.integers({0})});
      },
      [](Writer &w, const std::vector<ValueId> &v) { return w.op("Identity", {v[0]}); });
  const ValueId table = c.w.op("Reshape", {number_list(&c, rows), c.w.integers({results, -1})});
  ValueId y =
      c.w.op("MatMul", {x, c.w.op("Transpose", {table}, {{"perm", std::vector<int64_t>{1, 0}}})});
  if (!constants.empty()) y = c.w.op("Add", {y, number_list(&c, constants)});
  return y;
}

void expand_linear_regressor(Call &c) {
  c.define(0, post_transformed(&c, linear_scores(c, c.node.integer("targets", 1)),
                               c.node.text("post_transform", "NONE")));
}

void expand_linear_classifier(Call &c) {
  const std::vector<int64_t> labels = class_labels(c, "classlabels_ints");
  const auto classes = static_cast<int64_t>(labels.size());
  const auto intercepts = static_cast<int64_t>(reals(c, "intercepts").size());
  if (intercepts == 1 && classes == 2)
    c.fail("it has one score for two classes", "each class has a score");
  const ValueId scores = linear_scores(c, classes);
  const ValueId best = c.w.op("ArgMax", {scores}, {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}});
  c.define(0, c.w.op("Gather", {c.w.integers(labels), best}));
  c.define(1, post_transformed(&c, scores, c.node.text("post_transform", "NONE")));
}

}  // namespace

ValueId number_list(Call *c, const std::vector<float> &list) {
  return c->w.graph().add_constant(c->node.name + ".list",
                                   Constant::reals({static_cast<int64_t>(list.size())}, list));
}

std::vector<float> reals(const Call &c, const std::string &attribute) {
  const auto at = c.node.attributes.find(attribute);
  if (at == c.node.attributes.end()) return {};
  const auto *list = std::get_if<std::vector<float>>(&at->second);
  if (!list) c.fail(attribute + " is no list of numbers", "its elements are numbers");
  return *list;
}

std::vector<int64_t> class_labels(const Call &c, const std::string &attribute) {
  if (c.node.has("classlabels_strings"))
    c.fail("its classes have texts as labels", "numbers are supported");
  const std::vector<int64_t> labels = c.node.integers(attribute);
  if (labels.empty()) c.fail("its classes have no labels", attribute + " lists them");
  return labels;
}

ValueId post_transformed(Call *c, ValueId scores, const std::string &how) {
  const Attributes along = {{"axis", int64_t{-1}}};
  if (how == "NONE") return scores;
  if (how == "LOGISTIC") return c->w.op("Sigmoid", {scores});
  if (how == "SOFTMAX") return c->w.op("Softmax", {scores}, along);
  if (how != "SOFTMAX_ZERO")
    c->fail("post_transform is '" + how + "'",
            "NONE, LOGISTIC, SOFTMAX and SOFTMAX_ZERO are supported");
  // Scores of 0 stay, and have no part in the sum.
  const ValueId last = c->w.integers({-1}), zero = c->w.number(0, scores);
  const ValueId most = c->w.op("ReduceMax", {scores, last});
  const ValueId part = c->w.op("Where", {c->w.op("Equal", {scores, zero}), zero,
                                         c->w.op("Exp", {c->w.op("Sub", {scores, most})})});
  return c->w.op("Div", {part, c->w.op("ReduceSum", {part, last})});
}

std::vector<Expansion> classical_expansions() {
  constexpr size_t kAny = 1 << 16;
  return {
      {kClassical, "ArrayFeatureExtractor", 2, 2, 1, {}, expand_features},
      {kClassical, "Binarizer", 1, 1, 1, {"threshold"}, expand_binarizer},
      {kClassical, "FeatureVectorizer", 1, kAny, 1, {"inputdimensions"}, expand_feature_vectorizer},
      {kClassical,
       "Imputer",
       1,
       1,
       1,
       {"imputed_value_floats", "imputed_value_int64s", "replaced_value_float",
        "replaced_value_int64"},
       expand_imputer},
      {kClassical,
       "LabelEncoder",
       1,
       1,
       1,
       {"default_float", "default_int64", "default_string", "default_tensor", "keys_floats",
        "keys_int64s", "keys_strings", "keys_tensor", "values_floats", "values_int64s",
        "values_strings", "values_tensor"},
       expand_label_encoder},
      {kClassical,
       "LinearClassifier",
       1,
       1,
       2,
       {"classlabels_ints", "classlabels_strings", "coefficients", "intercepts", "multi_class",
        "post_transform"},
       expand_linear_classifier},
      {kClassical,
       "LinearRegressor",
       1,
       1,
       1,
       {"coefficients", "intercepts", "post_transform", "targets"},
       expand_linear_regressor},
      {kClassical, "Normalizer", 1, 1, 1, {"norm"}, expand_normalizer},
      {kClassical, "Scaler", 1, 1, 1, {"offset", "scale"}, expand_scaler},
  };
}

}  // namespace polyhalite::onnx
