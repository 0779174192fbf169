// Ranges whose sizes follow from elements: one program serves all of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::found_range_test {
namespace {

template <typename T>
Constant scalar(ElementType type, T v) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&v);
  return Constant::of_bytes(type, {}, {bytes, bytes + sizeof v});
}

template <typename T>
void expect_ranges(ElementType type, const std::vector<std::array<T, 3>> &list) {
  ModelBuilder b;
  for (const char *name : {"start", "limit", "step"}) b.input(name, {}, static_cast<int>(type));
  b.node("Range", {"start", "limit", "step"}, {"r"}).node("Add", {"r", "r"}, {"y"}).output("y");
  Session session(b.load());
  std::shared_ptr<const Program> program;
  for (const auto &[start, limit, step] : list) {
    const Program::Tensors in = {{"start", scalar(type, start)},
                                 {"limit", scalar(type, limit)},
                                 {"step", scalar(type, step)}};
    if (!program) program = session.program_for(in);
    EXPECT_EQ(session.program_for(in), program);
    const Constant y = session.run(in).at("y");
    EXPECT_EQ(y.type(), type);
    const double count = std::ceil(static_cast<double>(limit - start) / static_cast<double>(step));
    ASSERT_EQ(y.elements(), std::max<int64_t>(0, static_cast<int64_t>(count)));
    for (int64_t i = 0; i < y.elements(); i++)
      EXPECT_EQ(y.number(i), 2 * (static_cast<double>(start) + static_cast<double>(i * step)));
  }
}

TEST(onnx_found_range, one_program_serves_all_sizes) {
  expect_ranges<int64_t>(ElementType::Int64, {{0, 5, 1}, {0, 9, 1}, {3, -4, -2}, {7, 7, 1}});
  expect_ranges<int32_t>(ElementType::Int32, {{0, 5, 1}, {-3, 9, 4}});
  expect_ranges<float>(ElementType::Float32, {{0, 5, 0.5f}, {1, 2, 0.25f}});
}

// What is only known as it runs may be of no use, and then says so.
TEST(onnx_found_range, operands_that_are_lists_are_refused) {
  ModelBuilder b;
  b.input("limit", {"n"}, 7);
  b.initializer(ModelBuilder::tensor<int64_t>("none", 7, {}, {0}));
  b.initializer(ModelBuilder::tensor<int64_t>("one", 7, {}, {1}));
  b.node("Range", {"none", "limit", "one"}, {"y"}).output("y");
  const std::vector<int64_t> two{4, 5};
  const auto *bytes = reinterpret_cast<const uint8_t *>(two.data());
  std::string message;
  try {
    Session(b.load()).run(
        {{"limit", Constant::of_bytes(ElementType::Int64, {2}, {bytes, bytes + 16})}});
  } catch (const RuntimeError &e) {
    message = e.what();
  }
  EXPECT_NE(message.find("an operand has 2 elements\n  why: start, limit and step are numbers"),
            std::string::npos)
      << message;
}

// Each step of a decoder has a longer past, and is told how long.
TEST(onnx_found_range, steps_of_a_decoder_share_a_program) {
  constexpr int64_t kHeads = 2, kWidth = 4;
  ModelBuilder b(21);
  b.import("com.microsoft", 1);
  b.input("x", {1, "s", 3 * kHeads * kWidth}).input("k", {1, kHeads, "p", kWidth});
  b.input("v", {1, kHeads, "p", kWidth}).input("last", {1}, 6).input("total", {}, 6);
  b.node("GroupQueryAttention", {"x", "", "", "k", "v", "last", "total"}, {"y", "nk", "nv"},
         {int_attribute("num_heads", kHeads), int_attribute("kv_num_heads", kHeads)},
         "com.microsoft");
  b.output("y").output("nk").output("nv");
  Session session(b.load());
  std::shared_ptr<const Program> program;
  Constant k = floats({1, kHeads, 0, kWidth}, {}), v = k;
  for (int32_t total = 3; total < 8; total++) {
    const int64_t fresh = total == 3 ? 3 : 1;
    const std::vector<float> x =
        random_floats(fresh * 3 * kHeads * kWidth, static_cast<uint32_t>(total));
    const int32_t last = total - 1;
    const auto *bytes = reinterpret_cast<const uint8_t *>(&last);
    const Program::Tensors in = {
        {"x", floats({1, fresh, 3 * kHeads * kWidth}, x)},
        {"k", k},
        {"v", v},
        {"last", Constant::of_bytes(ElementType::Int32, {1}, {bytes, bytes + 4})},
        {"total", scalar(ElementType::Int32, total)}};
    const auto now = session.program_for(in);
    if (total > 3) {
      EXPECT_TRUE(!program || now == program) << total;
      program = now;
    }
    const Program::Tensors out = session.run(in);
    EXPECT_EQ(out.at("nk").shape(), (Shape64{1, kHeads, total, kWidth}));
    k = out.at("nk");
    v = out.at("nv");
    // The last query's scores of all keys.
    for (int64_t h = 0; h < kHeads; h++) {
      std::vector<double> sums(kWidth);
      double weights = 0;
      for (int64_t at = 0; at < total; at++) {
        double score = 0;
        for (int64_t e = 0; e < kWidth; e++) {
          const auto q = static_cast<size_t>((fresh - 1) * 3 * kHeads * kWidth + h * kWidth + e);
          score += x[q] * k.number((h * total + at) * kWidth + e);
        }
        const double weight = std::exp(score / 2);
        weights += weight;
        for (int64_t e = 0; e < kWidth; e++)
          sums[static_cast<size_t>(e)] += weight * v.number((h * total + at) * kWidth + e);
      }
      for (int64_t e = 0; e < kWidth; e++) {
        ASSERT_NEAR(out.at("y").number(((fresh - 1) * kHeads + h) * kWidth + e),
                    sums[static_cast<size_t>(e)] / weights, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace polyhalite::onnx::found_range_test
