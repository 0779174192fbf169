// Attention of com.microsoft against the same in standard operators, or in plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::microsoft_attention_test {
namespace {

// Heads of queries, keys and values [batch, positions, heads * width], with what is added to
// scores.
struct Scores {
  int64_t batch, queries, keys, heads, width;
  double scale;
  std::function<double(int64_t b, int64_t q, int64_t k)> added;

  std::vector<double> of(
      const std::function<double(int64_t b, int64_t at, int64_t e)> &query,
      const std::function<double(int64_t b, int64_t at, int64_t e)> &key,
      const std::function<double(int64_t b, int64_t at, int64_t e)> &value) const {
    std::vector<double> result;
    for (int64_t b = 0; b < batch; b++) {
      for (int64_t q = 0; q < queries; q++) {
        for (int64_t e = 0; e < heads * width; e++) {
          const int64_t first = e / width * width;
          double sum = 0, weights = 0;
          for (int64_t k = 0; k < keys; k++) {
            double score = 0;
            for (int64_t i = first; i < first + width; i++) score += query(b, q, i) * key(b, k, i);
            const double weight = std::exp(score * scale + added(b, q, k));
            weights += weight;
            sum += weight * value(b, k, e);
          }
          result.push_back(sum / weights);
        }
      }
    }
    return result;
  }
};

// Masks of all ranks, known where nodes are read (an input) or later (another node's result).
TEST_F(Microsoft, attention_under_masks) {
  constexpr int64_t kBatch = 2, kPast = 2, kNew = 3, kHeads = 2, kWidth = 4;
  constexpr int64_t kKeys = kPast + kNew, kHidden = kHeads * kWidth, kInputs = 5;
  const std::vector<std::vector<int32_t>> masks = {
      {4, 5},                                        // ends
      {4, 5, 1, 2},                                  // and beginnings
      {1, 0, 1, 1, 1, 1, 1, 0, 1, 1},                // keys
      {1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1,  // keys of each query
       1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}};
  const std::vector<Shape64> shapes = {
      {kBatch}, {2 * kBatch}, {kBatch, kKeys}, {kBatch, kNew, kKeys}};
  for (size_t kind = 0; kind < masks.size(); kind++) {
    for (const bool hidden : {false, true}) {
      ours_ = ModelBuilder(23);
      ours_.import("com.microsoft", 1);
      const std::vector<float> x = operand("x", {kBatch, kNew, kInputs}),
                               w = operand("w", {kInputs, 3 * kHidden}, true),
                               bias = operand("b", {3 * kHidden}, true),
                               past = operand("past", {2, kBatch, kHeads, kPast, kWidth});
      const std::vector<int32_t> &mask = masks[kind];
      ours_.input("given", std::vector<TestDim>(shapes[kind].begin(), shapes[kind].end()), 6);
      in_["given"] =
          Constant::of_bytes(ElementType::Int32, shapes[kind],
                             {reinterpret_cast<const uint8_t *>(mask.data()),
                              reinterpret_cast<const uint8_t *>(mask.data() + mask.size())});
      if (hidden) ours_.node("Neg", {"given"}, {"turned"}).node("Neg", {"turned"}, {"mask"});
      const std::vector<Message> attributes{int_attribute("num_heads", kHeads),
                                            int_attribute("unidirectional", 1)};
      ours("Attention", {"x", "w", "b", hidden ? "mask" : "given", "past"}, {"y", "present"},
           attributes);
      // Column `part` of the product, part 0 being queries.
      auto fresh = [&](int64_t part, int64_t b, int64_t at, int64_t e) {
        const int64_t column = part * kHidden + e;
        double sum = bias[static_cast<size_t>(column)];
        for (int64_t i = 0; i < kInputs; i++) {
          sum += static_cast<double>(x[static_cast<size_t>((b * kNew + at) * kInputs + i)]) *
                 w[static_cast<size_t>(i * 3 * kHidden + column)];
        }
        return sum;
      };
      auto with_past = [&](int64_t part) {
        return [&, part](int64_t b, int64_t at, int64_t e) -> double {
          if (at >= kPast) return fresh(part, b, at - kPast, e);
          const int64_t head = ((part - 1) * kBatch + b) * kHeads + e / kWidth;
          return past[static_cast<size_t>((head * kPast + at) * kWidth + e % kWidth)];
        };
      };
      auto taken = [&](int64_t b, int64_t q, int64_t k) {
        auto element = [&](int64_t i) { return mask[static_cast<size_t>(i)]; };
        if (kind < 2) return k < element(b) && (kind == 0 || k >= element(kBatch + b));
        return element(kind == 2 ? b * kKeys + k : (b * kNew + q) * kKeys + k) != 0;
      };
      const Scores scores{
          kBatch, kNew, kKeys, kHeads, kWidth, 0.5, [&](int64_t b, int64_t q, int64_t k) {
            if (k > q + kPast) return -1e6;
            return taken(b, q, k) ? 0.0 : -1e4;
          }};
      SCOPED_TRACE(std::to_string(kind) + (hidden ? " hidden" : ""));
      expect("y", {kBatch, kNew, kHidden},
             scores.of([&](int64_t b, int64_t at, int64_t e) { return fresh(0, b, at, e); },
                       with_past(1), with_past(2)));
      std::vector<double> present;
      for (int64_t part = 1; part < 3; part++) {
        for (int64_t i = 0; i < kBatch * kHeads; i++) {
          for (int64_t at = 0; at < kKeys; at++) {
            for (int64_t e = 0; e < kWidth; e++)
              present.push_back(with_past(part)(i / kHeads, at, i % kHeads * kWidth + e));
          }
        }
      }
      expect("present", {2, kBatch, kHeads, kKeys, kWidth}, present);
      in_.clear();
      values_.clear();
    }
  }
}

// Two sequences of different lengths get one position more, in a past that has room for it; both
// heads of queries see one of keys, through a window of 3.
TEST_F(Microsoft, grouped_attention_with_room) {
  constexpr int64_t kRoom = 6, kWidth = 4;
  const std::vector<int32_t> last{2, 4};
  const std::vector<float> q = operand("q", {2, 1, 2 * kWidth}), k = operand("k", {2, 1, kWidth}),
                           v = operand("v", {2, 1, kWidth}),
                           past_k = operand("pk", {2, 1, kRoom, kWidth}),
                           past_v = operand("pv", {2, 1, kRoom, kWidth});
  weights<int32_t>("last", 6, {2}, last);
  weights<int32_t>("total", 6, {}, {5});
  ours("GroupQueryAttention", {"q", "k", "v", "pk", "pv", "last", "total"}, {"y", "nk", "nv"},
       {int_attribute("num_heads", 2), int_attribute("kv_num_heads", 1),
        int_attribute("local_window_size", 3)});
  auto with_past = [&](const std::vector<float> &past, const std::vector<float> &fresh) {
    return [&](int64_t b, int64_t at, int64_t e) -> double {
      const int64_t end = last[static_cast<size_t>(b)];
      if (at > end) return 0;
      return at == end ? fresh[static_cast<size_t>(b * kWidth + e % kWidth)]
                       : past[static_cast<size_t>((b * kRoom + at) * kWidth + e % kWidth)];
    };
  };
  const Scores scores{2, 1, kRoom, 2, kWidth, 0.5, [&](int64_t b, int64_t, int64_t at) {
                        const int64_t end = last[static_cast<size_t>(b)];
                        return at > end || at <= end - 3 ? -1e6 : 0.0;
                      }};
  expect("y", {2, 1, 2 * kWidth},
         scores.of([&](int64_t b, int64_t,
                       int64_t e) -> double { return q[static_cast<size_t>(b * 2 * kWidth + e)]; },
                   with_past(past_k, k), with_past(past_v, v)));
  std::vector<double> keys;
  for (int64_t i = 0; i < 2 * kRoom * kWidth; i++)
    keys.push_back(with_past(past_k, k)(i / kWidth / kRoom, i / kWidth % kRoom, i % kWidth));
  expect("nk", {2, 1, kRoom, kWidth}, keys);
}

// Packed operands without a past are those of the standard's, after their rotation.
TEST_F(Microsoft, grouped_attention_of_packed_operands) {
  operand("x", {2, 3, 16});
  operand("c", {5, 2}, true);
  operand("s", {5, 2}, true);
  weights<int32_t>("last", 6, {2}, {2, 2});
  weights<int32_t>("total", 6, {}, {3});
  ours("GroupQueryAttention", {"x", "", "", "", "", "last", "total", "c", "s"}, {"y", "k", "v"},
       {int_attribute("num_heads", 2), int_attribute("kv_num_heads", 1),
        int_attribute("do_rotary", 1)});
  weights<int64_t>("parts", 7, {3}, {8, 4, 4});
  weights<int64_t>("at", 7, {2, 3}, {0, 1, 2, 0, 1, 2});
  plain_.node("Split", {"x", "parts"}, {"xq", "xk", "xv"}, {int_attribute("axis", 2)});
  plain("RotaryEmbedding", {"xq", "c", "s", "at"}, {"rq"}, {int_attribute("num_heads", 2)});
  plain("RotaryEmbedding", {"xk", "c", "s", "at"}, {"rk"}, {int_attribute("num_heads", 1)});
  plain("Attention", {"rq", "rk", "xv"}, {"y", "k", "v"},
        {int_attribute("q_num_heads", 2), int_attribute("kv_num_heads", 1),
         int_attribute("is_causal", 1)});
  expect_same({"y", "k", "v"});
}

// Keys with heads come from another sequence; others get their part of the bias.
TEST_F(Microsoft, attention_of_separate_operands) {
  operand("q", {2, 3, 8});
  operand("k", {2, 5, 8});
  operand("v", {2, 5, 6});
  operand("b", {22}, true);
  operand("added", {1, 2, 3, 5});
  for (const char *name : {"k", "v"}) {
    const std::string headed = std::string(name) + "4";
    weights<int64_t>(headed + "s", 7, {4}, {0, 0, 2, -1});
    for (ModelBuilder *b : {&ours_, &plain_}) {
      b->node("Reshape", {name, headed + "s"}, {headed + "r"});
      b->node("Transpose", {headed + "r"}, {headed}, {ints_attribute("perm", {0, 2, 1, 3})});
    }
  }
  const Message heads = int_attribute("num_heads", 2);
  ours("MultiHeadAttention", {"q", "k", "v", "b", "", "added"}, {"y", "pk", "pv"}, {heads});
  ours("MultiHeadAttention", {"q", "k4", "v4"}, {"z"}, {heads, real_attribute("scale", 0.25f)});
  weights<int64_t>("parts", 7, {3}, {8, 8, 6});
  plain("Split", {"b", "parts"}, {"bq", "bk", "bv"});
  for (const char *name : {"q", "k", "v"})
    plain("Add", {name, std::string("b") + name}, {std::string(name) + "b"});
  const std::vector<Message> both{int_attribute("q_num_heads", 2),
                                  int_attribute("kv_num_heads", 2)};
  plain("Attention", {"qb", "kb", "vb", "added"}, {"y", "pk", "pv"}, both);
  std::vector<Message> scaled = both;
  scaled.push_back(real_attribute("scale", 0.25f));
  plain("Attention", {"q", "k", "v"}, {"z"}, scaled);
  expect_same({"y", "pk", "pv", "z"});
}

// Positions from a first one on, and one for each element; heads side by side, or a dimension.
TEST_F(Microsoft, rotated_pairs) {
  operand("x", {2, 3, 8});
  operand("h", {2, 2, 3, 4});
  operand("c", {9, 2}, true);
  operand("s", {9, 2}, true);
  weights<int64_t>("first", 7, {1}, {4});
  weights<int64_t>("from_first", 7, {2, 3}, {4, 5, 6, 4, 5, 6});
  weights<int64_t>("each", 7, {2, 3}, {8, 1, 0, 2, 2, 7});
  const Message heads = int_attribute("num_heads", 2), pairs = int_attribute("interleaved", 1);
  ours("RotaryEmbedding", {"x", "first", "c", "s"}, {"y"});
  ours("RotaryEmbedding", {"x", "each", "c", "s"}, {"z"}, {heads, pairs});
  ours("RotaryEmbedding", {"h", "first", "c", "s"}, {"u"}, {pairs});
  plain("RotaryEmbedding", {"x", "c", "s", "from_first"}, {"y"}, {heads});
  plain("RotaryEmbedding", {"x", "c", "s", "each"}, {"z"}, {heads, pairs});
  plain("RotaryEmbedding", {"h", "c", "s", "from_first"}, {"u"}, {pairs});
  expect_same({"y", "z", "u"}, 1e-6);
}

TEST_F(Microsoft, embeddings_and_their_sum) {
  operand("words", {10, 8}, true);
  operand("places", {6, 8}, true);
  operand("segments", {2, 8}, true);
  operand("gamma", {8}, true);
  operand("beta", {8}, true);
  weights<int32_t>("ids", 6, {2, 3}, {1, 9, 4, 0, 2, 2});
  weights<int32_t>("segment", 6, {2, 3}, {0, 0, 1, 1, 0, 1});
  weights<int32_t>("mask", 6, {2, 3}, {1, 1, 0, 1, 1, 1});
  weights<int32_t>("at", 6, {1, 3}, {0, 1, 2});
  ours("EmbedLayerNormalization",
       {"ids", "segment", "words", "places", "segments", "gamma", "beta", "mask"},
       {"y", "lengths", "sum"});
  plain("Gather", {"words", "ids"}, {"w"});
  plain("Gather", {"places", "at"}, {"p"});
  plain("Gather", {"segments", "segment"}, {"s"});
  plain("Sum", {"w", "p", "s"}, {"sum"});
  plain("LayerNormalization", {"sum", "gamma", "beta"}, {"y"}, {real_attribute("epsilon", 1e-12f)});
  weights<int64_t>("one", 7, {1}, {1});
  plain("ReduceSum", {"mask", "one"}, {"lengths"}, {int_attribute("keepdims", 0)});
  expect_same({"y", "lengths", "sum"});
}

TEST_F(Microsoft, masks_of_other_sizes_are_refused) {
  operand("x", {2, 3, 8});
  operand("mask", {2, 2});
  ours_.node("Neg", {"mask"}, {"turned"});
  ours("MultiHeadAttention", {"x", "x", "x", "", "turned"}, {"y"}, {int_attribute("num_heads", 2)});
  EXPECT_NE(error().find("Reshape"), std::string::npos) << error();
}

TEST_F(Microsoft, packed_attention_is_refused) {
  operand("x", {1, 2, 2, 3, 4});
  ours("MultiHeadAttention", {"x"}, {"y"}, {int_attribute("num_heads", 2)});
  EXPECT_NE(error().find("node 'make_y' (com.microsoft.MultiHeadAttention): keys or values are "
                         "packed with the queries"),
            std::string::npos)
      << error();
}

}  // namespace
}  // namespace polyhalite::onnx::microsoft_attention_test
