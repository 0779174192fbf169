// Requirements of pipelines: checked before anything is computed, in order.
#include <gtest/gtest.h>

#include "lang/interpret/interpret.h"
#include "lang/ir/text.h"
#include "lang/language/pipeline_contents.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::requirement_test {
namespace {

class Requirement : public testing::Test {
 protected:
  std::string run(int extent = 4) {
    return message_of([&] { pipeline.realize({extent}); });
  }

  Param<int> k{"k"};
  Var x{"x"};
  Func out{"out"};
  Pipeline pipeline{[this] {
    out(x) = x * k;
    return Pipeline(out);
  }()};
};

TEST_F(Requirement, EndsTheRunWithItsMessage) {
  pipeline.add_requirement(k > 0, "k must be positive, not", k);
  k.set(1);
  EXPECT_EQ(run(), "no error");
  k.set(-5);
  const std::string message = run();
  EXPECT_NE(message.find("k must be positive, not -5"), std::string::npos) << message;
}

TEST_F(Requirement, AddedLaterCountsToo) {
  k.set(-1);
  EXPECT_EQ(run(), "no error");
  pipeline.add_requirement(k > 0);
  EXPECT_NE(run(), "no error");
}

TEST_F(Requirement, FirstOfSeveralIsTold) {
  pipeline.add_requirement(k != 3, "first");
  pipeline.add_requirement(k < 3, std::vector<Expr>{Expr(std::string("second"))});
  k.set(3);
  EXPECT_NE(run().find("first"), std::string::npos);
  k.set(4);
  EXPECT_NE(run().find("second"), std::string::npos);
}

TEST_F(Requirement, OfTheOutputsShape) {
  pipeline.add_requirement(out.output_buffer().dim(0).extent() % 8 == 0, "whole vectors");
  k.set(1);
  EXPECT_EQ(run(16), "no error");
  EXPECT_NE(run(12).find("whole vectors"), std::string::npos);
}

TEST_F(Requirement, InterpretsAndReadsBack) {
  pipeline.add_requirement(k > 0 && out.output_buffer().dim(0).extent() <= 4, "too large", k);
  const Algorithm a = freeze_pipeline(*pipeline.pipeline_contents()).algorithm;
  EXPECT_EQ(to_text(parse_algorithm(to_text(a))), to_text(a));
  Buffer<int> small(4), large(5);
  const std::map<std::string, uint64_t> good = {{"k", 2}}, bad = {{"k", 0}};
  EXPECT_EQ(message_of([&] { interpret(a, {}, good, {small.raw_buffer()}); }), "no error");
  EXPECT_EQ(small(3), 6);
  for (auto &[scalars, buffer] : {std::pair{bad, small}, std::pair{good, large}}) {
    EXPECT_NE(message_of([&, &s = scalars, &b = buffer] {
                interpret(a, {}, s, {const_cast<Buffer<int> &>(b).raw_buffer()});
              }).find("a requirement does not hold: too large"),
              std::string::npos);
  }
}

TEST_F(Requirement, SurvivesSerialization) {
  pipeline.add_requirement(k > 0, "positive", k);
  std::vector<uint8_t> data;
  serialize_pipeline(pipeline, data);
  Pipeline again = deserialize_pipeline(data, {{"k", k.parameter()}});
  k.set(0);
  EXPECT_NE(message_of([&] { again.realize({4}); }).find("positive 0"), std::string::npos);
  k.set(1);
  EXPECT_EQ(message_of([&] { again.realize({4}); }), "no error");
}

TEST_F(Requirement, DependsOnInputsOnly) {
  const std::string message = message_of([&] { pipeline.add_requirement(x == 4); });
  EXPECT_NE(message.find("a requirement"), std::string::npos) << message;
  EXPECT_NE(message_of([] {
              Pipeline().add_requirement(Expr(true));
            }).find("a requirement of an undefined Pipeline"),
            std::string::npos);
}

TEST(RequirementOfVectors, TellsOfTheLaneThatFails) {
  for (const int lanes : {1, 3, 8, 16}) {
    Var x("x");
    Func f("f");
    f(x) = require(x != 13, x, "thirteen is bad, x =", x);
    if (lanes > 1) f.vectorize(x, lanes);
    const std::string message = message_of([&] { f.realize({32}); });
    EXPECT_NE(message.find("thirteen is bad, x = 13"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace polyhalite::requirement_test
