// The standard's Attention against plain loops: places of queries behind a past or at the end of a
// length, windows, masks of all ranks, grouped heads, queries that see no key.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "apps/onnx/session.h"
#include "test/onnx/backend_case.h"
#include "test/onnx/model_builder.h"
#include "test/onnx/run_all.h"

namespace polyhalite::onnx::attention_test {
namespace {

using Dims = std::vector<int64_t>;

constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr int kFloat = 1, kHalf = 10, kDouble = 11, kBfloat = 16;

struct Case {
  std::string name;
  int64_t version = 25;
  int64_t batch = 2, heads = 4, groups = 2, queries = 5, fresh = 5, past = 0, width = 8;
  std::vector<int64_t> lengths = {};  // of each image, or none
  int64_t left = -1, right = -1;
  bool causal = false;
  enum { NoMask, Bools, Floats } mask = NoMask;
  Dims mask_shape = {};
  std::vector<float> mask_values = {};  // random where empty
  bool flat = false, open = false;
  int type = kFloat;
  int64_t softmax_type = 0;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

int64_t elements(const Dims &shape) {
  int64_t n = 1;
  for (const int64_t d : shape) n *= d;
  return n;
}

// Eighths, which all types hold.
std::vector<float> eighths(const Dims &shape, uint32_t seed) {
  std::mt19937 bits(seed);
  std::vector<float> v(static_cast<size_t>(elements(shape)));
  for (float &f : v) f = static_cast<float>(static_cast<int>(bits() % 33) - 16) / 8;
  return v;
}

class AttentionCase {
 public:
  explicit AttentionCase(const Case &c) : c_(c), keys_(c.past + c.fresh) {
    q_ = operand("q", {c.batch, c.heads, c.queries, c.width}, 1);
    k_ = operand("k", {c.batch, c.groups, c.fresh, c.width}, 2);
    v_ = operand("v", {c.batch, c.groups, c.fresh, c.width}, 3);
    if (c.past > 0) {
      past_k_ = operand("pk", {c.batch, c.groups, c.past, c.width}, 4);
      past_v_ = operand("pv", {c.batch, c.groups, c.past, c.width}, 5);
    }
    if (c.mask != Case::NoMask) mask_ = mask();
    if (!c.lengths.empty()) {
      model_.input("lengths", {static_cast<int>(c.batch)}, 7);
      in_["lengths"] = Constant::integers(c.lengths);
    }
    std::vector<Message> attributes{int_attribute("is_causal", c.causal),
                                    int_attribute("qk_matmul_output_mode", 3)};
    if (c.version >= 25) {
      attributes.push_back(int_attribute("left_window_size", c.left));
      attributes.push_back(int_attribute("right_window_size", c.right));
    }
    if (c.flat) {
      attributes.push_back(int_attribute("q_num_heads", c.heads));
      attributes.push_back(int_attribute("kv_num_heads", c.groups));
    }
    if (c.softmax_type != 0)
      attributes.push_back(int_attribute("softmax_precision", c.softmax_type));
    const std::string past = c.past > 0 ? "p" : "";
    model_.node("Attention",
                {typed("q"), typed("k"), typed("v"),
                 c.mask == Case::NoMask  ? ""
                 : c.mask == Case::Bools ? "mask"
                                         : typed("mask"),
                 c.past > 0 ? typed("pk") : "", c.past > 0 ? typed("pv") : "",
                 c.lengths.empty() ? "" : "lengths"},
                {"narrow", "", "", "weights"}, attributes);
    model_.node("Cast", {"narrow"}, {"y"}, {int_attribute("to", kDouble)}).output("y");
    model_.node("Cast", {"weights"}, {"w"}, {int_attribute("to", kDouble)}).output("w");
    model_.output("weights");
  }

  void check() {
    const double tolerance = c_.type == kBfloat ? 2e-2 : c_.type == kHalf ? 3e-3 : 1e-5;
    CompileOptions options;
    for (const bool optimize : {true, false}) {
      options.optimize = optimize;
      const Program::Tensors got = Session(model_.load(), options).run(in_);
      EXPECT_EQ(static_cast<int>(got.at("weights").type()), c_.type);
      std::vector<double> y, w;
      attend(&y, &w);
      compare_with("y", got.at("y"), y, tolerance);
      compare_with("w", got.at("w"), w, tolerance);
    }
  }

 private:
  std::string typed(const std::string &name) { return c_.type == kFloat ? name : name + "_"; }

  std::vector<float> operand(const std::string &name, const Dims &shape, uint32_t seed) {
    std::vector<float> values = eighths(shape, seed);
    Dims given = shape;
    if (c_.flat && name.size() == 1) {
      // [batch, heads, position, width] as [batch, position, heads * width]
      given = {shape[0], shape[2], shape[1] * shape[3]};
      std::vector<float> turned;
      for (int64_t b = 0; b < shape[0]; b++) {
        for (int64_t p = 0; p < shape[2]; p++) {
          for (int64_t h = 0; h < shape[1]; h++) {
            for (int64_t e = 0; e < shape[3]; e++)
              turned.push_back(
                  values[static_cast<size_t>(((b * shape[1] + h) * shape[2] + p) * shape[3] + e)]);
          }
        }
      }
      feed(name, given, turned);
    } else {
      feed(name, given, values);
    }
    return values;
  }

  void feed(const std::string &name, const Dims &shape, const std::vector<float> &values) {
    std::vector<TestDim> dims(shape.begin(), shape.end());
    if (c_.open) {
      const size_t places = shape.size() == 4 && name != "mask" ? 2 : shape.size() - 2;
      dims[places] = TestDim(name == "k" || name == "v"     ? "fresh"
                             : name == "pk" || name == "pv" ? "past"
                                                            : "queries");
    }
    model_.input(name, dims);
    in_[name] = floats(shape, values);
    if (typed(name) != name)
      model_.node("Cast", {name}, {typed(name)}, {int_attribute("to", c_.type)});
  }

  std::vector<float> mask() {
    std::vector<float> values = c_.mask_values;
    if (values.empty()) {
      values = eighths(c_.mask_shape, 6);
      for (size_t i = 0; i < values.size(); i++) {
        if (c_.mask == Case::Bools) values[i] = values[i] > -0.5f;
        if (c_.mask == Case::Floats && i % 3 == 1) values[i] = kNothing;
      }
    }
    if (c_.mask == Case::Floats) {
      feed("mask", c_.mask_shape, values);
    } else {
      model_.input("mask", std::vector<TestDim>(c_.mask_shape.begin(), c_.mask_shape.end()), 9);
      in_["mask"] =
          Constant::of_bytes(ElementType::Bool, c_.mask_shape, {values.begin(), values.end()});
    }
    return values;
  }

  // What the mask adds to a score.
  double added(int64_t b, int64_t h, int64_t q, int64_t key) const {
    if (c_.mask == Case::NoMask) return 0;
    const Dims at{b, h, q, key};
    int64_t place = 0;
    for (size_t d = 0; d < c_.mask_shape.size(); d++) {
      const int64_t size = c_.mask_shape[d];
      int64_t i = at[4 - c_.mask_shape.size() + d];
      const bool of_keys = d + 1 == c_.mask_shape.size();
      if (size == 1 && (!of_keys || c_.version < 24)) i = 0;
      if (i >= size) return kNothing;  // there are fewer keys
      place = place * size + i;
    }
    const double m = mask_[static_cast<size_t>(place)];
    if (c_.mask == Case::Bools) return m != 0 ? 0 : kNothing;
    return m;
  }

  bool sees(int64_t b, int64_t q, int64_t key) const {
    int64_t position = q;
    if (c_.past > 0) {
      position += c_.past;
    } else if (!c_.lengths.empty()) {
      position += c_.lengths[static_cast<size_t>(b)] - c_.queries;
    }
    if (!c_.lengths.empty() && key >= c_.lengths[static_cast<size_t>(b)]) return false;
    if (c_.left >= 0 && key < position - c_.left) return false;
    if (c_.right >= 0 && key > position + c_.right) return false;
    return !c_.causal || key <= position;
  }

  double key_or_value(bool key, int64_t b, int64_t group, int64_t at, int64_t e) const {
    const bool before = at < c_.past;
    const int64_t count = before ? c_.past : c_.fresh, place = before ? at : at - c_.past;
    const auto i = static_cast<size_t>(((b * c_.groups + group) * count + place) * c_.width + e);
    return before ? (key ? past_k_ : past_v_)[i] : (key ? k_ : v_)[i];
  }

  void attend(std::vector<double> *y, std::vector<double> *w) const {
    const Dims result{c_.batch, c_.heads, c_.queries, c_.width};
    y->assign(static_cast<size_t>(elements(result)), 0);
    for (int64_t b = 0; b < c_.batch; b++) {
      for (int64_t h = 0; h < c_.heads; h++) {
        const int64_t group = h / (c_.heads / c_.groups);
        for (int64_t q = 0; q < c_.queries; q++) {
          std::vector<double> weights;
          double peak = -HUGE_VAL, total = 0;
          for (int64_t key = 0; key < keys_; key++) {
            double score = 0;
            for (int64_t e = 0; e < c_.width; e++)
              score +=
                  q_[static_cast<size_t>(((b * c_.heads + h) * c_.queries + q) * c_.width + e)] *
                  key_or_value(true, b, group, key, e);
            score = score / std::sqrt(static_cast<double>(c_.width)) + added(b, h, q, key);
            weights.push_back(sees(b, q, key) ? score : -HUGE_VAL);
            peak = std::max(peak, weights.back());
          }
          for (double &weight : weights) {
            weight = weight == -HUGE_VAL ? 0 : std::exp(weight - peak);
            total += weight;
          }
          for (int64_t key = 0; key < keys_; key++) {
            const double weight = total == 0 ? 0 : weights[static_cast<size_t>(key)] / total;
            w->push_back(weight);
            for (int64_t e = 0; e < c_.width; e++) {
              const int64_t at = c_.flat ? ((b * c_.queries + q) * c_.heads + h) * c_.width + e
                                         : ((b * c_.heads + h) * c_.queries + q) * c_.width + e;
              (*y)[static_cast<size_t>(at)] += weight * key_or_value(false, b, group, key, e);
            }
          }
        }
      }
    }
  }

  static void compare_with(const std::string &name, const Constant &got,
                           const std::vector<double> &wanted, double tolerance) {
    ASSERT_EQ(got.elements(), static_cast<int64_t>(wanted.size())) << name;
    for (int64_t i = 0; i < got.elements(); i++) {
      const double value = wanted[static_cast<size_t>(i)];
      if (value == 0) {
        ASSERT_EQ(got.number(i), 0) << name << " " << i;  // of a query that sees nothing, or less
      } else {
        ASSERT_NEAR(got.number(i), value, tolerance) << name << " " << i;
      }
    }
  }

  const Case c_;
  const int64_t keys_;
  std::vector<float> q_, k_, v_, past_k_, past_v_, mask_;
  ModelBuilder model_{c_.version};
  Program::Tensors in_;
};

class OnnxAttention : public testing::TestWithParam<Case> {};

TEST_P(OnnxAttention, equals_plain_loops) { AttentionCase(GetParam()).check(); }

std::vector<Case> cases() {
  std::vector<Case> all{
      {.name = "all_keys"},
      {.name = "causal", .causal = true},
      {.name = "more_queries_than_keys", .queries = 7, .fresh = 4, .causal = true},
      {.name = "past", .fresh = 5, .past = 6, .causal = true},
      // Queries stand at the end of a length: below 0 where there are more.
      {.name = "length", .queries = 3, .fresh = 9, .lengths = {4, 9}},
      {.name = "causal_length", .queries = 3, .fresh = 9, .lengths = {4, 9}, .causal = true},
      {.name = "first_queries_see_nothing", .fresh = 9, .lengths = {3, 5}, .causal = true},
      {.name = "no_key_at_all", .fresh = 9, .lengths = {0, 1}, .causal = true},
      {.name = "no_key_of_one_image", .fresh = 9, .lengths = {0, 9}},
      {.name = "one_step", .queries = 1, .fresh = 16, .lengths = {7, 16}, .causal = true},
      {.name = "version_24", .version = 24, .fresh = 9, .lengths = {3, 8}, .causal = true},
      {.name = "version_23", .version = 23, .past = 3, .causal = true},
      // Windows.
      {.name = "left", .queries = 9, .fresh = 9, .left = 2},
      {.name = "right", .queries = 9, .fresh = 9, .right = 1},
      {.name = "both", .queries = 9, .fresh = 9, .left = 3, .right = 1},
      {.name = "itself", .queries = 9, .fresh = 9, .left = 0, .right = 0},
      {.name = "causal_left", .queries = 9, .fresh = 9, .left = 2, .causal = true},
      {.name = "causal_right", .queries = 9, .fresh = 9, .right = 3, .causal = true},
      {.name = "far", .left = int64_t{1} << 40, .right = int64_t{1} << 41},
      {.name = "left_with_past", .past = 6, .left = 3},
      {.name = "both_with_past", .past = 6, .left = 3, .right = 2},
      {.name = "causal_left_with_past", .past = 6, .left = 4, .causal = true},
      {.name = "left_of_no_key", .queries = 9, .fresh = 4, .left = 1},
      {.name = "left_with_length", .queries = 3, .fresh = 9, .lengths = {4, 9}, .left = 2},
      {.name = "right_with_length",
       .queries = 3,
       .fresh = 9,
       .lengths = {4, 8},
       .left = 4,
       .right = 1},
      {.name = "window_below_zero", .fresh = 9, .lengths = {3, 6}, .left = 1, .right = 2},
      {.name = "causal_left_below_zero", .fresh = 9, .lengths = {2, 7}, .left = 1, .causal = true},
      // Masks, aligned at the last dimension.
      {.name = "bools", .mask = Case::Bools, .mask_shape = {2, 4, 5, 5}},
      {.name = "bools_of_heads", .mask = Case::Bools, .mask_shape = {4, 5, 5}},
      {.name = "bools_of_queries", .mask = Case::Bools, .mask_shape = {5, 5}},
      {.name = "bools_of_keys", .mask = Case::Bools, .mask_shape = {5}},
      {.name = "bools_of_images", .mask = Case::Bools, .mask_shape = {2, 1, 1, 5}},
      {.name = "nothing_taken",
       .causal = true,
       .mask = Case::Bools,
       .mask_shape = {1, 5},
       .mask_values = {0, 0, 0, 1, 1}},
      {.name = "floats", .mask = Case::Floats, .mask_shape = {2, 1, 5, 5}},
      {.name = "floats_of_nothing",
       .mask = Case::Floats,
       .mask_shape = {5},
       .mask_values = std::vector<float>(5, kNothing)},
      {.name = "floats_of_keys", .causal = true, .mask = Case::Floats, .mask_shape = {5}},
      {.name = "fewer_bools", .mask = Case::Bools, .mask_shape = {5, 3}},
      {.name = "fewer_floats", .mask = Case::Floats, .mask_shape = {4, 5, 3}},
      {.name = "one_key",
       .mask = Case::Floats,
       .mask_shape = {5, 1},
       .mask_values = {1, 2, kNothing, 3, 4}},
      {.name = "one_for_all_keys",
       .version = 23,
       .mask = Case::Floats,
       .mask_shape = {5, 1},
       .mask_values = {1, 2, kNothing, 3, 4}},
      {.name = "bools_with_length",
       .queries = 3,
       .fresh = 9,
       .lengths = {4, 8},
       .causal = true,
       .mask = Case::Bools,
       .mask_shape = {2, 1, 3, 8}},
      {.name = "floats_in_window",
       .queries = 3,
       .fresh = 9,
       .lengths = {4, 8},
       .left = 3,
       .right = 1,
       .mask = Case::Floats,
       .mask_shape = {4, 3, 9}},
      {.name = "bools_with_past_in_window",
       .past = 4,
       .left = 2,
       .right = 2,
       .mask = Case::Bools,
       .mask_shape = {5, 9}},
      // Forms and schedules.
      {.name = "flat", .past = 6, .left = 3, .causal = true, .flat = true},
      {.name = "flat_with_length", .fresh = 9, .lengths = {3, 7}, .causal = true, .flat = true},
      {.name = "one_group", .groups = 1, .fresh = 9, .lengths = {3, 7}, .left = 2},
      {.name = "no_groups", .groups = 4, .fresh = 9, .lengths = {3, 7}, .left = 2},
      {.name = "open", .past = 6, .left = 3, .causal = true, .open = true},
      {.name = "open_with_length", .fresh = 9, .lengths = {3, 7}, .left = 2, .open = true},
      {.name = "open_floats", .mask = Case::Floats, .mask_shape = {5, 5}, .open = true},
      {.name = "double_softmax",
       .fresh = 9,
       .lengths = {3, 7},
       .causal = true,
       .softmax_type = kDouble},
      {.name = "rows_of_vectors",
       .heads = 2,
       .groups = 1,
       .queries = 70,
       .fresh = 96,
       .width = 32,
       .lengths = {40, 90},
       .left = 20,
       .causal = true},
  };
  for (const auto &[type, name] :
       {std::pair{kHalf, "half"}, {kBfloat, "bfloat"}, {kDouble, "double"}}) {
    Case c{.name = name, .fresh = 9, .lengths = {3, 7}, .left = 4, .causal = true};
    c.type = type;
    all.push_back(c);
    c.name += "_floats";
    c.mask = Case::Floats;
    c.mask_shape = {5, 9};
    c.softmax_type = kFloat;
    all.push_back(c);
    c.name += "_nothing";
    c.mask_shape = {1};
    c.mask_values = {kNothing};
    all.push_back(c);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(onnx, OnnxAttention, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

// Scores that are no numbers are not seen where keys are masked.
TEST(onnx_attention, masked_keys_may_hold_anything) {
  for (const bool bools : {true, false}) {
    ModelBuilder b(25);
    b.input("q", {1, 1, 2, 4}).input("k", {1, 1, 2, 4}).input("v", {1, 1, 2, 4});
    b.input("m", {2, 2}, bools ? 9 : kFloat);
    b.node("Attention", {"q", "k", "v", "m"}, {"y"}).output("y");
    const float huge = std::numeric_limits<float>::infinity(), none = NAN;
    const Program::Tensors out =
        run_all(b, {{"q", floats({1, 1, 2, 4}, {1, 1, 1, 1, 1, 1, 1, 1})},
                    {"k", floats({1, 1, 2, 4}, {1, 1, 1, 1, none, 1, huge, 1})},
                    {"v", floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                    {"m", bools ? Constant::of_bytes(ElementType::Bool, {2, 2}, {1, 0, 0, 0})
                                : floats({2, 2}, {0, kNothing, kNothing, kNothing})}});
    EXPECT_EQ(list(out.at("y")), (std::vector<float>{1, 2, 3, 4, 0, 0, 0, 0}));
  }
}

}  // namespace
}  // namespace polyhalite::onnx::attention_test
