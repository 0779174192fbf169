// Scan as it was in version 8: a batch of sequences.
#include <gtest/gtest.h>

#include "test/onnx/microsoft_fixture.h"

namespace polyhalite::onnx::batched_scan_test {
namespace {

// The sum so far times a number around the Scan.
Message running_sum() {
  ModelBuilder b(8);
  b.input("sum", {2}).input("x", {2});
  b.node("Add", {"sum", "x"}, {"next"}).node("Mul", {"next", "factor"}, {"out"});
  b.output("next").output("out");
  return b.region("body");
}

ModelBuilder scan(std::vector<Message> attributes, const std::string &lengths = "") {
  ModelBuilder b(8);
  b.input("s", {"b", 2}).input("x", {"b", "t", 2}).weights("factor", {2}, {10, 100});
  b.integers("lengths", {1, 2});
  attributes.push_back(graph_attribute("body", running_sum()));
  attributes.push_back(int_attribute("num_scan_inputs", 1));
  b.node("Scan", {lengths, "s", "x"}, {"last", "all"}, attributes).output("last").output("all");
  return b;
}

TEST(onnx_batched_scan, each_sequence_is_scanned_on_its_own) {
  for (const bool backwards : {false, true}) {
    std::vector<Message> attributes;
    if (backwards) attributes.push_back(ints_attribute("directions", {1}));
    Session session(scan(attributes).load());
    for (const int64_t length : {3, 5}) {
      const std::vector<float> s = random_floats(4, 1), x = random_floats(4 * length, 2);
      const Program::Tensors out =
          session.run({{"s", floats({2, 2}, s)}, {"x", floats({2, length, 2}, x)}});
      EXPECT_EQ(out.at("last").shape(), (Shape64{2, 2}));
      ASSERT_EQ(out.at("all").shape(), (Shape64{2, length, 2}));
      for (int64_t b = 0; b < 2; b++) {
        for (int64_t e = 0; e < 2; e++) {
          double sum = s[static_cast<size_t>(2 * b + e)];
          for (int64_t t = 0; t < length; t++) {
            const int64_t at = backwards ? length - 1 - t : t;
            sum += x[static_cast<size_t>((b * length + at) * 2 + e)];
            EXPECT_NEAR(out.at("all").number((b * length + t) * 2 + e), sum * (e ? 100 : 10), 1e-3);
          }
          EXPECT_NEAR(out.at("last").number(2 * b + e), sum, 1e-5);
        }
      }
    }
  }
}

TEST(onnx_batched_scan, lengths_are_refused) {
  const std::string error = error_of([] {
    Session(scan({}, "lengths").load())
        .run({{"s", floats({2, 2}, {0, 0, 0, 0})}, {"x", floats({2, 1, 2}, {0, 0, 0, 0})}});
  });
  EXPECT_NE(error.find("(Scan, version 8): its sequences have lengths of their own\n  why: "
                       "sequences of one length are supported"),
            std::string::npos)
      << error;
}

}  // namespace
}  // namespace polyhalite::onnx::batched_scan_test
