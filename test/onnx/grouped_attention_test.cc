// GroupQueryAttention, as language models for onnxruntime have it, against plain loops: prompts and
// steps of decoders, packed operands, sinks, biases, windows, caps, norms and rotations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::grouped_attention_test {
namespace {

constexpr int64_t kHeads = 4, kGroups = 2, kWidth = 8, kPlaces = 16;

struct Case {
  std::string name;
  int64_t batch = 2, fresh = 3, past = 0;
  bool packed = true;
  bool rotary = false, interleaved = false, positions = false, norms = false, bias = false;
  bool sink = false, smooth = false;
  int64_t window = -1;
  float cap = 0, scale = 0;
};

using Vector = std::vector<double>;

class GroupedAttention : public Microsoft {
 protected:
  // Element e of head h of what is new at a place, behind its norm and its rotation.
  double element(const Case &c, const char *which, int64_t heads, int64_t b, int64_t at, int64_t h,
                 int64_t e) {
    const std::string name = which;
    auto raw = [&](int64_t i) -> double {
      if (!c.packed)
        return values_.at(name)[static_cast<size_t>(((b * c.fresh + at) * heads + h) * kWidth + i)];
      const int64_t first = name == "q" ? 0 : name == "k" ? kHeads : kHeads + kGroups;
      const int64_t all = kHeads + 2 * kGroups;
      return values_.at(
          "q")[static_cast<size_t>(((b * c.fresh + at) * all + first + h) * kWidth + i)];
    };
    if (name == "v") return raw(e);
    auto normed = [&](int64_t i) {
      if (!c.norms) return raw(i);
      double sum = 0;
      for (int64_t k = 0; k < kWidth; k++) sum += raw(k) * raw(k);
      return raw(i) / std::sqrt(sum / kWidth + 1e-6) *
             values_.at(name + "n")[static_cast<size_t>(i)];
    };
    if (!c.rotary) return normed(e);
    const int64_t place = c.positions ? 2 * at + b : c.past + at, half = kWidth / 2;
    const int64_t pair = c.interleaved ? e / 2 : e % half;
    const bool second = c.interleaved ? e % 2 == 1 : e >= half;
    const double x = normed(c.interleaved ? 2 * pair : pair),
                 y = normed(c.interleaved ? 2 * pair + 1 : pair + half);
    const double cosine = values_.at("cos")[static_cast<size_t>(place * half + pair)],
                 sine = values_.at("sin")[static_cast<size_t>(place * half + pair)];
    return second ? sine * x + cosine * y : cosine * x - sine * y;
  }

  // The same of keys and values that the node gives away.
  double kept(const Case &c, const char *which, int64_t b, int64_t h, int64_t at, int64_t e) {
    if (at >= c.past) return element(c, which, kGroups, b, at - c.past, h, e);
    return values_.at(std::string("past") +
                      which)[static_cast<size_t>(((b * kGroups + h) * c.past + at) * kWidth + e)];
  }

  Vector attended(const Case &c) {
    Vector result;
    const int64_t keys = c.past + c.fresh;
    for (int64_t b = 0; b < c.batch; b++) {
      for (int64_t q = 0; q < c.fresh; q++) {
        for (int64_t h = 0; h < kHeads; h++) {
          const int64_t group = h / (kHeads / kGroups), place = c.past + q;
          Vector sums(kWidth);
          double weights = c.sink     ? std::exp(values_.at("sink")[static_cast<size_t>(h)])
                           : c.smooth ? 1
                                      : 0;
          for (int64_t k = 0; k <= place; k++) {
            if (c.window >= 0 && k <= place - c.window) continue;
            double score = 0;
            for (int64_t e = 0; e < kWidth; e++)
              score += element(c, "q", kHeads, b, q, h, e) * kept(c, "k", b, group, k, e);
            score *= c.scale != 0 ? static_cast<double>(c.scale) : 1 / std::sqrt(kWidth);
            if (c.cap != 0) score = std::tanh(score / c.cap) * c.cap;
            if (c.bias)
              score += values_.at("bias")[static_cast<size_t>((h * c.fresh + q) * keys + k)];
            const double weight = std::exp(score);
            weights += weight;
            for (int64_t e = 0; e < kWidth; e++)
              sums[static_cast<size_t>(e)] += weight * kept(c, "v", b, group, k, e);
          }
          for (double s : sums) result.push_back(s / weights);
        }
      }
    }
    return result;
  }

  void run(const Case &c) {
    SCOPED_TRACE(c.name);
    ours_ = ModelBuilder(23);
    ours_.import("com.microsoft", 1);
    in_.clear();
    values_.clear();
    Names in{"q", "", "", "", "", "last", "total"};
    const int64_t heads = c.packed ? kHeads + 2 * kGroups : kHeads, keys = c.past + c.fresh;
    operand("q", {c.batch, c.fresh, heads * kWidth});
    if (!c.packed) {
      for (size_t i : {1, 2}) {
        in[i] = i == 1 ? "k" : "v";
        operand(in[i], {c.batch, c.fresh, kGroups * kWidth});
      }
    }
    if (c.past > 0) {
      for (size_t i : {3, 4}) {
        in[i] = i == 3 ? "pastk" : "pastv";
        operand(in[i], {c.batch, kGroups, c.past, kWidth});
      }
    }
    weights<int32_t>(
        "last", 6, {c.batch},
        std::vector<int32_t>(static_cast<size_t>(c.batch), static_cast<int32_t>(keys - 1)));
    weights<int32_t>("total", 6, {}, {static_cast<int32_t>(keys)});
    in.resize(16);
    if (c.rotary) {
      for (size_t i : {7, 8}) {
        in[i] = i == 7 ? "cos" : "sin";
        operand(in[i], {kPlaces, kWidth / 2}, true);
      }
    }
    if (c.positions) {
      std::vector<int64_t> places;
      for (int64_t b = 0; b < c.batch; b++) {
        for (int64_t at = 0; at < c.fresh; at++) places.push_back(2 * at + b);
      }
      weights<int64_t>(in[9] = "places", 7, {c.batch, c.fresh}, places);
    }
    if (c.bias) operand(in[10] = "bias", {1, kHeads, c.fresh, keys});
    if (c.sink) operand(in[11] = "sink", {kHeads}, true);
    if (c.norms) {
      operand(in[14] = "qn", {kWidth}, true);
      operand(in[15] = "kn", {kWidth}, true);
    }
    ours("GroupQueryAttention", in, {"y", "nk", "nv"},
         {int_attribute("num_heads", kHeads), int_attribute("kv_num_heads", kGroups),
          int_attribute("do_rotary", c.rotary), int_attribute("rotary_interleaved", c.interleaved),
          int_attribute("local_window_size", c.window), int_attribute("smooth_softmax", c.smooth),
          real_attribute("softcap", c.cap), real_attribute("scale", c.scale)});
    const Program::Tensors got = Session(ours_.load()).run(in_);
    compare_with(got.at("y"), {c.batch, c.fresh, kHeads * kWidth}, attended(c));
    for (const char *which : {"k", "v"}) {
      Vector all;
      for (int64_t i = 0; i < c.batch * kGroups * keys * kWidth; i++) {
        const int64_t row = i / kWidth / keys;
        all.push_back(kept(c, which, row / kGroups, row % kGroups, i / kWidth % keys, i % kWidth));
      }
      compare_with(got.at(std::string("n") + which), {c.batch, kGroups, keys, kWidth}, all);
    }
  }

  static void compare_with(const Constant &got, const Shape64 &shape, const Vector &wanted) {
    ASSERT_EQ(got.shape(), shape);
    for (int64_t i = 0; i < got.elements(); i++)
      ASSERT_NEAR(got.number(i), wanted.at(static_cast<size_t>(i)), 1e-5) << i;
  }
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const bool packed : {true, false}) {
    for (const int64_t past : {0, 5}) {
      Case c;
      c.packed = packed;
      c.past = past;
      c.fresh = past > 0 ? 1 : 4;
      auto add = [&](const std::string &name, auto &&change) {
        Case one = c;
        one.name = name + (packed ? " packed" : "") + (past > 0 ? " step" : " prompt");
        change(&one);
        list.push_back(one);
      };
      add("pairs", [](Case *o) { o->rotary = o->interleaved = true; });
      if (!packed) continue;
      add("plain", [](Case *) {});
      add("rotary", [](Case *o) { o->rotary = true; });
      add("positions", [](Case *o) { o->rotary = o->positions = true; });
      add("window", [](Case *o) { o->window = 3; });
      add("cap", [](Case *o) {
        o->cap = 0.5f;
        o->scale = 0.7f;
      });
      add("sink", [](Case *o) { o->sink = true; });
      add("smooth", [](Case *o) { o->smooth = true; });
      add("bias", [](Case *o) { o->bias = true; });
      add("norms", [](Case *o) { o->norms = o->rotary = true; });
      add("all", [](Case *o) {
        o->rotary = o->sink = o->bias = true;
        o->window = 2;
        o->cap = 2;
      });
    }
  }
  return list;
}

TEST_F(GroupedAttention, of_prompts_and_of_steps) {
  for (const Case &c : cases()) run(c);
}

// A step with several positions behind a past, as speculative decoders ask for.
TEST_F(GroupedAttention, of_several_positions_behind_a_past) {
  Case c;
  c.name = "several";
  c.past = 5;
  c.sink = c.rotary = c.bias = true;
  run(c);
}

TEST_F(GroupedAttention, refused_with_reasons) {
  operand("q", {1, 2, (kHeads + 2 * kGroups) * kWidth});
  operand("scales", {1});
  operand("sinks", {3});
  weights<int32_t>("last", 6, {1}, {1});
  weights<int32_t>("total", 6, {}, {2});
  const std::vector<Message> heads{int_attribute("num_heads", kHeads),
                                   int_attribute("kv_num_heads", kGroups)};
  const std::string before = "node 'make_y' (com.microsoft.GroupQueryAttention): ";
  auto expect_error = [&](const Names &in, const std::string &what,
                          const std::vector<Message> &attributes) {
    ModelBuilder kept = ours_;
    ours("GroupQueryAttention", in, {"y", "nk", "nv"}, attributes);
    EXPECT_NE(error().find(what), std::string::npos) << error();
    ours_ = kept;
  };
  Names in{"q", "", "", "", "", "last", "total", "", "", "", "", "", "scales"};
  expect_error(in, before + "it has scales of keys, operand 12", heads);
  in.resize(11);
  in.push_back("sinks");
  expect_error(in, "sizes of sinks and heads are 3 and 4", heads);
  in.resize(7);
  expect_error(in, before + "it has 4 heads of queries and 3 of keys",
               {int_attribute("num_heads", 4), int_attribute("kv_num_heads", 3)});
  in[1] = "q";
  expect_error(in, before + "it has keys or values", heads);
}

}  // namespace
}  // namespace polyhalite::onnx::grouped_attention_test
