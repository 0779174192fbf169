// Habits of loops, with made-up times: which way they learn to run, and how they notice a change.
#include "codegen/runtime/habits.h"

#include <gtest/gtest.h>

namespace polyhalite::runtime::habits_test {
namespace {

// A loop that takes so many ticks by one thread, and by several.
struct Played {
  Habit habit{};
  uint64_t alone, shared;
  bool asleep = false;
  int woken = 0;

  Played(uint64_t by_one, uint64_t by_several) : alone(by_one), shared(by_several) {}
  // Of so many runs those of one thread.
  int run(int times) {
    int by_one = 0;
    for (int i = 0; i < times; i++) {
      const Way way = way_of(habit, asleep);
      by_one += way.alone ? 1 : 0;
      woken += way.wake ? 1 : 0;
      if (way.counts) learn(habit, way.alone, way.alone ? alone : shared + (asleep ? 500000 : 0));
    }
    return by_one;
  }
};

TEST(Habits, short_loops_run_by_one_thread) {
  Played loop(5000, 9000);
  loop.run(20);
  EXPECT_GE(loop.run(4096), 4096 - 8);  // where threads lose much, few runs look
  Played close(5000, 6000);
  close.run(20);
  EXPECT_GE(close.run(1024), 1024 - 4 * 8);
  EXPECT_LT(close.run(1024), 1024);
}

TEST(Habits, others_are_shared) {
  Played loop(20000, 12000);
  EXPECT_LE(loop.run(20), 4);
  EXPECT_LE(loop.run(4096), 8);
  // Long ones are never tried by one thread.
  Played long_one(4000000, 2000000);
  EXPECT_EQ(long_one.run(10000), 0);
}

TEST(Habits, what_changes_is_noticed) {
  Played loop(5000, 6000);
  loop.run(20);
  loop.shared = 3000;
  loop.run(300);
  EXPECT_LE(loop.run(256), 8);
  loop.shared = 12000;
  loop.run(300);
  EXPECT_GE(loop.run(256), 248);
  // The least of the runs that look counts: one that was interrupted says nothing.
  loop.shared = 3000;
  for (int i = 0; i < 5000; i++) {
    loop.alone = i % 9 == 0 ? 40000 : 5000;
    loop.run(1);
  }
  EXPECT_LE(loop.run(256), 8);
}

// What a thread takes to wake is no part of the loop.
TEST(Habits, threads_that_sleep_are_woken_before_a_look) {
  Played loop(5000, 6000);
  loop.run(20);
  loop.shared = 3000;
  loop.asleep = true;
  EXPECT_EQ(loop.run(1000), 1000);
  EXPECT_GT(loop.woken, 0);
  loop.asleep = false;
  loop.run(20);
  EXPECT_LE(loop.run(200), 8);
  // Of a loop whose threads always sleep nothing is known, and it is shared.
  Played seldom(5000, 6000);
  seldom.asleep = true;
  seldom.run(20);
  EXPECT_LE(seldom.run(1000), 8);
}

TEST(Habits, belong_to_a_loop_and_its_size) {
  Habit &h = habit_of(4711, 8, 2);
  h.runs = 77;
  EXPECT_EQ(habit_of(4711, 8, 2).runs, 77u);
  EXPECT_NE(habit_of(4711, 9, 2).runs, 77u);
  EXPECT_NE(habit_of(4711, 8, 3).runs, 77u);
}

}  // namespace
}  // namespace polyhalite::runtime::habits_test
