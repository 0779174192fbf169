// The thread pool: every index once, nesting, errors, callers at once, changing sizes, forks.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "lang/abi/polyhalite_runtime.h"

namespace {

using Task = std::function<int(int)>;

int call(void *, int index, uint8_t *closure) {
  return (*reinterpret_cast<Task *>(closure))(index);
}

int parallel_for(int min, int extent, Task task) {
  return polyhalite_do_par_for(nullptr, call, min, extent, reinterpret_cast<uint8_t *>(&task));
}

class ThreadPool : public testing::TestWithParam<int> {
 protected:
  ThreadPool() { polyhalite_set_num_threads(GetParam()); }
  ~ThreadPool() override {
    polyhalite_shutdown_thread_pool();
    polyhalite_set_num_threads(0);
  }
};

TEST_P(ThreadPool, runs_every_index_once) {
  for (int extent : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<std::atomic<int>> counts(static_cast<size_t>(extent));
    const int code = parallel_for(-5, extent, [&](int i) {
      counts[static_cast<size_t>(i + 5)]++;
      return 0;
    });
    EXPECT_EQ(code, 0);
    for (auto &c : counts) EXPECT_EQ(c, 1);
  }
  EXPECT_EQ(parallel_for(0, -3, [](int) { return 1; }), 0);
}

int add_range(void *, int first, int count, uint8_t *closure) {
  auto &counts = *reinterpret_cast<std::vector<std::atomic<int>> *>(closure);
  for (int i = first; i < first + count; i++) counts[static_cast<size_t>(i + 5)]++;
  counts.back()++;
  return 0;
}

TEST_P(ThreadPool, runs_ranges_of_indices) {
  for (int extent : {0, 1, 2, 7, 1000}) {
    std::vector<std::atomic<int>> counts(static_cast<size_t>(extent) + 1);
    const auto run = [&] {
      for (auto &c : counts) c = 0;
      EXPECT_EQ(polyhalite_do_par_for_ranges(nullptr, add_range, -5, extent,
                                             reinterpret_cast<uint8_t *>(&counts)),
                0);
      for (size_t i = 0; i + 1 < counts.size(); i++) EXPECT_EQ(counts[i], 1);
    };
    run();
    if (extent == 1000) {
      EXPECT_LT(counts.back(), 200);
    }
    // A handler sees each index.
    polyhalite_set_custom_do_task(
        [](void *user_context, polyhalite_task_t task, int index, uint8_t *closure) {
          return task(user_context, index, closure);
        });
    run();
    EXPECT_EQ(counts.back(), extent);
    polyhalite_set_custom_do_task(nullptr);
  }
}

TEST_P(ThreadPool, stops_ranges_at_an_error) {
  const auto fail = [](void *, int first, int count, uint8_t *) {
    return first <= 100 && 100 < first + count ? -7 : 0;
  };
  EXPECT_EQ(polyhalite_do_par_for_ranges(nullptr, fail, 0, 1000000, nullptr), -7);
}

TEST_P(ThreadPool, runs_many_jobs_in_turn) {
  std::atomic<int64_t> sum = 0;
  for (int job = 0; job < 2000; job++) {
    parallel_for(0, 5, [&](int i) {
      sum += i;
      return 0;
    });
  }
  EXPECT_EQ(sum, 2000 * 10);
}

TEST_P(ThreadPool, nests) {
  std::atomic<int> count = 0;
  const int code = parallel_for(0, 8, [&](int) {
    return parallel_for(0, 8, [&](int) {
      return parallel_for(0, 8, [&](int) {
        count++;
        return 0;
      });
    });
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(count, 512);
}

TEST_P(ThreadPool, stops_at_an_error_and_returns_it) {
  std::atomic<int> count = 0;
  const int code = parallel_for(0, 1000000, [&](int i) {
    count++;
    return i == 100 ? -7 : 0;
  });
  EXPECT_EQ(code, -7);
  EXPECT_LT(count, 1000000);
  EXPECT_EQ(parallel_for(0, 4, [](int) { return parallel_for(0, 4, [](int) { return -9; }); }), -9);
}

TEST_P(ThreadPool, serves_callers_at_once) {
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int c = 0; c < 6; c++) {
    callers.emplace_back([&] {
      for (int job = 0; job < 200; job++) {
        parallel_for(0, 16, [&](int i) {
          sum += i;
          return 0;
        });
      }
    });
  }
  for (std::thread &t : callers) t.join();
  EXPECT_EQ(sum, 6 * 200 * 120);
}

INSTANTIATE_TEST_SUITE_P(threads, ThreadPool, testing::Values(1, 2, 5),
                         [](const auto &info) { return std::to_string(info.param); });

TEST(ThreadPoolSize, is_what_was_set_last) {
  polyhalite_set_num_threads(3);
  EXPECT_EQ(polyhalite_get_num_threads(), 3);
  EXPECT_EQ(polyhalite_set_num_threads(2), 3);
  EXPECT_EQ(polyhalite_get_num_threads(), 2);
  setenv("PH_NUM_THREADS", "5", 1);
  setenv("HL_NUM_THREADS", "6", 1);
  polyhalite_set_num_threads(0);
  EXPECT_EQ(polyhalite_get_num_threads(), 5);
  unsetenv("PH_NUM_THREADS");
  polyhalite_set_num_threads(0);
  EXPECT_EQ(polyhalite_get_num_threads(), 6);
  unsetenv("HL_NUM_THREADS");
  polyhalite_set_num_threads(0);
  EXPECT_GE(polyhalite_get_num_threads(), 1);
}

TEST(ThreadPoolSize, shrinks_and_grows_between_jobs) {
  for (int n : {4, 1, 2, 6, 2}) {
    polyhalite_set_num_threads(n);
    std::atomic<int> count = 0;
    parallel_for(0, 100, [&](int) {
      count++;
      return 0;
    });
    EXPECT_EQ(count, 100);
  }
  polyhalite_set_num_threads(0);
}

TEST(ThreadPoolFork, child_starts_its_own_threads) {
  polyhalite_set_num_threads(3);
  parallel_for(0, 100, [](int) { return 0; });
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> count = 0;
    polyhalite_set_num_threads(3);
    parallel_for(0, 100, [&](int) {
      count++;
      return 0;
    });
    _exit(count == 100 ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  polyhalite_set_num_threads(0);
}

}  // namespace
