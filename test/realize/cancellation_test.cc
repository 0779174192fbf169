// Compilations that are asked to end.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "lang/output_file.h"
#include "polyhalite/polyhalite.h"

namespace polyhalite::cancellation_test {
namespace {

// A chain whose compilation takes some hundredths of a second.
class Cancelling : public ::testing::Test {
 protected:
  Cancelling() {
    stages.emplace_back("s0");
    stages[0](x, y) = x + 2 * y;
    for (int i = 1; i < 12; i++) {
      stages.emplace_back("s" + std::to_string(i));
      stages[i](x, y) = stages[i - 1](x - 1, y) + stages[i - 1](x, y + 1);
      if (i < 11) stages[i].compute_root().vectorize(x, 8);
    }
  }
  // All that the chain's last stage is: 11 steps, each x' = 2x - 1 + 2y + 1 of a linear function.
  void expect_right() {
    Buffer<int32_t> out = stages.back().realize({16, 16});
    Func plain("plain");
    plain(x, y) = 2048 * x + 2 * 2048 * y + 11 * 1024;
    Buffer<int32_t> wanted = plain.realize({16, 16});
    int wrong = 0;
    out.for_each_element([&](int i, int j) { wrong += out(i, j) != wanted(i, j); });
    EXPECT_EQ(wrong, 0);
  }
  std::vector<Func> stages;
  Var x{"x"}, y{"y"};
};

TEST_F(Cancelling, BeforeItBegins) {
  Cancellation stop;
  stop.request();
  {
    CancellationScope scope(stop);
    try {
      stages.back().compile_jit();
      FAIL() << "it was compiled";
    } catch (const Cancelled &e) {
      EXPECT_STREQ(e.what(), "error: the compilation was cancelled");
    }
  }
  expect_right();
}

TEST_F(Cancelling, AnOuterRequestCounts) {
  Cancellation outer, inner;
  CancellationScope a(outer), b(inner);
  outer.request();
  EXPECT_THROW(stages.back().compile_jit(), Cancelled);
}

TEST_F(Cancelling, AtAnyTimeLeavesThePipelineWhole) {
  int ended = 0;
  for (int i = 0; i < 40; i++) {
    // A directive makes the compiled pipeline stale.
    stages.back().bound_extent(x, 16);
    Cancellation stop;
    std::thread other([stop, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(500 * i));
      stop.request();
    });
    try {
      CancellationScope scope(stop);
      stages.back().compile_jit();
    } catch (const Cancelled &) {
      ended++;
    }
    other.join();
  }
  EXPECT_GT(ended, 0);
  expect_right();
}

TEST_F(Cancelling, OtherThreadsGoOn) {
  Cancellation stop;
  stop.request();
  CancellationScope scope(stop);
  std::thread other([&] { expect_right(); });
  other.join();
}

TEST_F(Cancelling, WritesNoFile) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("polyhalite_cancelling_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  Cancellation stop;
  stop.request();
  {
    CancellationScope scope(stop);
    EXPECT_THROW(stages.back().compile_to_object((folder / "s.o").string(), {}, "s"), Cancelled);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  // What was there stays, and what is written leaves nothing beside it.
  write_file((folder / "s.o").string(), "old", "the object");
  write_file((folder / "s.o").string(), "new", "the object");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace polyhalite::cancellation_test
