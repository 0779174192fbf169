// LoopLevels: handles whose place is settled when a pipeline is compiled.
#include <gtest/gtest.h>

#include "lang/ir/freeze.h"
#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::loop_level_test {
namespace {

struct LoopLevels : testing::Test {
  Var x{"x"}, y{"y"};
  Func producer{"producer"}, consumer{"consumer"};
  void SetUp() override {
    producer(x, y) = x + y;
    consumer(x, y) = producer(x, y) + 1;
  }
  std::string schedule() const {
    std::string s;
    for (const Directive &d : freeze({consumer.function()}).directives) {
      s += directive_name(d.kind);
      if (!d.target_func.empty()) {
        s += " " + d.target_func + "." + std::to_string(d.target_stage) + "." + d.loops[0];
      }
      s += "\n";
    }
    return s;
  }
};

TEST_F(LoopLevels, APlaceThatIsSetLaterHoldsForEveryCopy) {
  LoopLevel compute, store;
  const LoopLevel copy = compute;
  producer.compute_at(copy).store_at(store);
  EXPECT_FALSE(copy.defined());
  compute.set(LoopLevel(consumer, x));
  store.set(LoopLevel(consumer, y));
  EXPECT_TRUE(copy.defined());
  EXPECT_EQ(schedule(), "compute_at consumer.0.x\nstore_at consumer.0.y\n");
}

TEST_F(LoopLevels, RootAndInlinedAreOtherDirectives) {
  LoopLevel compute = LoopLevel::inlined(), store = LoopLevel::inlined();
  producer.compute_at(compute).store_at(store);
  compute.set(LoopLevel::root());
  EXPECT_EQ(schedule(), "compute_root\n") << "an inlined store level says nothing";
}

TEST_F(LoopLevels, TheOutermostLoopHasAName) {
  producer.compute_at(consumer, Var::outermost());
  EXPECT_EQ(schedule(), "compute_at consumer.0.__outermost\n");
}

TEST_F(LoopLevels, PlacesAreToldOnceThePipelineIsCompiled) {
  LoopLevel level(consumer, y);
  EXPECT_EQ(message_of([&] { level.to_string(); }),
            at(__LINE__ - 1) +
                "error: to_string() of a LoopLevel that no compiled pipeline has\n"
                "  why: set() may still give it another place\n"
                "  fix: ask after the pipeline is compiled");
  producer.compute_at(level);
  schedule();
  EXPECT_EQ(level.to_string(), "consumer.y");
  EXPECT_EQ(level.var().name, "y");
  EXPECT_FALSE(level.is_root());
  EXPECT_FALSE(level.is_inlined());
  EXPECT_EQ(message_of([&] { level.set(LoopLevel::root()); }),
            at(__LINE__ - 1) +
                "error: cannot set() the LoopLevel consumer.y any more\n"
                "  why: a pipeline that has it is compiled\n"
                "  fix: set it before the first realize or compile");
}

TEST_F(LoopLevels, RootIsNoLoop) {
  const LoopLevel level = LoopLevel::root();
  producer.compute_at(level);
  schedule();
  EXPECT_TRUE(level.is_root());
  EXPECT_EQ(message_of([&] { level.func(); }), at(__LINE__) +
                                                   "error: func() of the LoopLevel root\n"
                                                   "  why: it is no loop\n"
                                                   "  fix: ask is_root() and is_inlined() first");
}

TEST_F(LoopLevels, AnUndefinedPlaceIsRefusedAtTheDirective) {
  const LoopLevel level;
  producer.compute_at(level);
  const int line = __LINE__ - 1;
  EXPECT_EQ(message_of([&] { schedule(); }),
            at(line) +
                "error: cannot compute_at 'producer' at an undefined LoopLevel\n"
                "  why: a LoopLevel made without a place has to get one with set()\n"
                "  fix: set() it before the pipeline is compiled");
}

}  // namespace
}  // namespace polyhalite::loop_level_test
