// Threads, mutexes and condition variables of the runtime.
#include <gtest/gtest.h>

#include <vector>

#include "lang/abi/polyhalite_threads.h"

namespace polyhalite::threads_test {
namespace {

constexpr int kThreads = 4, kRounds = 2000;

struct Counter {
  polyhalite_mutex mutex = {};
  int value = 0;
  static void count(void *self) {
    auto *c = static_cast<Counter *>(self);
    for (int i = 0; i < kRounds; i++) {
      polyhalite_mutex_lock(&c->mutex);
      c->value++;
      polyhalite_mutex_unlock(&c->mutex);
    }
  }
};

TEST(Threads, CountUnderAMutex) {
  Counter counter;
  std::vector<polyhalite_thread *> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.push_back(polyhalite_spawn_thread(Counter::count, &counter));
    ASSERT_NE(threads.back(), nullptr);
  }
  for (polyhalite_thread *t : threads) polyhalite_join_thread(t);
  EXPECT_EQ(counter.value, kThreads * kRounds);
}

// Each waits for its turn: a signal that gets lost would leave all of them waiting.
struct Turns {
  polyhalite_mutex mutex = {};
  polyhalite_cond changed = {};
  int turn = 0;
};

struct Player {
  Turns *turns;
  int number;
  static void play(void *self) {
    auto *p = static_cast<Player *>(self);
    Turns &t = *p->turns;
    for (int i = 0; i < kRounds / 10; i++) {
      polyhalite_mutex_lock(&t.mutex);
      while (t.turn % kThreads != p->number) polyhalite_cond_wait(&t.changed, &t.mutex);
      t.turn++;
      (i % 2 ? polyhalite_cond_signal : polyhalite_cond_broadcast)(&t.changed);
      polyhalite_mutex_unlock(&t.mutex);
    }
  }
};

TEST(Threads, TakeTurnsByACondition) {
  Turns turns;
  std::vector<Player> players;
  for (int i = 0; i < kThreads; i++) players.push_back({&turns, i});
  std::vector<polyhalite_thread *> threads;
  for (Player &p : players) threads.push_back(polyhalite_spawn_thread(Player::play, &p));
  for (polyhalite_thread *t : threads) polyhalite_join_thread(t);
  EXPECT_EQ(turns.turn, kThreads * (kRounds / 10));
}

struct Cells {
  polyhalite_mutex_array *mutexes;
  std::vector<int> *values;
  static void count(void *self) {
    auto *c = static_cast<Cells *>(self);
    for (int i = 0; i < kRounds; i++) {
      EXPECT_EQ(polyhalite_mutex_array_lock(c->mutexes, i % 3), 0);
      (*c->values)[static_cast<size_t>(i % 3)]++;
      EXPECT_EQ(polyhalite_mutex_array_unlock(c->mutexes, i % 3), 0);
    }
  }
};

TEST(Threads, CountCellsUnderAnArrayOfMutexes) {
  std::vector<int> values(3);
  Cells cells{polyhalite_mutex_array_create(3), &values};
  ASSERT_NE(cells.mutexes, nullptr);
  std::vector<polyhalite_thread *> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.push_back(polyhalite_spawn_thread(Cells::count, &cells));
  }
  for (polyhalite_thread *t : threads) polyhalite_join_thread(t);
  EXPECT_EQ(values[0] + values[1] + values[2], kThreads * kRounds);
  EXPECT_EQ(values[2], kThreads * (kRounds / 3));
  polyhalite_mutex_array_destroy(nullptr, cells.mutexes);
  polyhalite_mutex_array_destroy(nullptr, nullptr);
}

}  // namespace
}  // namespace polyhalite::threads_test
