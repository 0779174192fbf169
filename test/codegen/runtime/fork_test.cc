// Forks and their semaphores.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lang/abi/polyhalite_runtime.h"

namespace {

struct Pipe {
  polyhalite_semaphore_t room, ready;
  int count = 0, cell = 0;
  long sum = 0;
  int fail_at = -1;
};

int produce(void *, int, uint8_t *closure) {
  auto *p = reinterpret_cast<Pipe *>(closure);
  for (int i = 0; i < p->count; i++) {
    if (int code = polyhalite_semaphore_acquire(&p->room)) return code;
    if (i == p->fail_at) return -42;
    p->cell = i;
    polyhalite_semaphore_release(&p->ready);
  }
  return 0;
}

int consume(void *, int, uint8_t *closure) {
  auto *p = reinterpret_cast<Pipe *>(closure);
  for (int i = 0; i < p->count; i++) {
    if (int code = polyhalite_semaphore_acquire(&p->ready)) return code;
    p->sum += p->cell;
    polyhalite_semaphore_release(&p->room);
  }
  return 0;
}

int run(Pipe &p) {
  polyhalite_semaphore_init(&p.room, 1);
  polyhalite_semaphore_init(&p.ready, 0);
  polyhalite_semaphore_t *const all[] = {&p.room, &p.ready};
  return polyhalite_do_fork(nullptr, produce, consume, reinterpret_cast<uint8_t *>(&p), all, 2);
}

TEST(Fork, TasksPassOneCellToAndFro) {
  Pipe p;
  p.count = 5000;
  EXPECT_EQ(run(p), 0);
  EXPECT_EQ(p.sum, 5000L * 4999 / 2);
}

TEST(Fork, ATaskThatFailsEndsTheOthersWaiting) {
  for (int fail_at : {0, 1, 30}) {
    Pipe p;
    p.count = 100;
    p.fail_at = fail_at;
    EXPECT_EQ(run(p), -42);
  }
}

TEST(Fork, ManyForksAtOnceAndAfterTheThreadsWereStopped) {
  for (int round = 0; round < 2; round++) {
    std::vector<std::thread> callers;
    for (int i = 0; i < 6; i++) {
      callers.emplace_back([] {
        for (int k = 0; k < 50; k++) {
          Pipe p;
          p.count = 20;
          EXPECT_EQ(run(p), 0);
          EXPECT_EQ(p.sum, 190);
        }
      });
    }
    for (std::thread &t : callers) t.join();
    polyhalite_shutdown_thread_pool();
  }
}

}  // namespace
