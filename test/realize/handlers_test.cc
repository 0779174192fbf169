// Handlers and contexts of calls in process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lang/messages.h"
#include "polyhalite/polyhalite.h"

extern "C" {

int throwing_stage(polyhalite_buffer_t *out) {
  if (out->host) throw std::logic_error("no stage");
  return 0;
}

int throwing_question(polyhalite_buffer_t *in, polyhalite_buffer_t *) {
  if (!in->host) throw std::logic_error("no answer");
  return 0;
}

int32_t throwing_call(int32_t x) {
  if (x == 5) throw std::logic_error("no value");
  return x;
}

}  // extern "C"

namespace polyhalite::handlers_test {
namespace {

struct Counts : JITUserContext {
  std::atomic<int> allocated{0}, freed{0}, tasks{0}, loops{0};
  std::string message;
};
Counts &counts(JITUserContext *c) { return *static_cast<Counts *>(c); }

void *count_malloc(JITUserContext *c, size_t bytes) {
  counts(c).allocated++;
  return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
}
void count_free(JITUserContext *c, void *p) {
  counts(c).freed++;
  std::free(p);
}
int count_task(JITUserContext *c, int (*f)(JITUserContext *, int, uint8_t *), int i,
               uint8_t *closure) {
  counts(c).tasks++;
  return f(c, i, closure);
}
int serial_loop(JITUserContext *c, int (*f)(JITUserContext *, int, uint8_t *), int min, int extent,
                uint8_t *closure) {
  counts(c).loops++;
  for (int i = min; i < min + extent; i++) {
    if (int code = f(c, i, closure)) return code;
  }
  return 0;
}
void keep_error(JITUserContext *c, const char *message) { counts(c).message = message; }

struct TwoStages {
  Func producer{"producer"}, consumer{"consumer"};
  Var x{"x"}, y{"y"};
  TwoStages() {
    producer(x, y) = x + y;
    consumer(x, y) = producer(x, y) + producer(x + 1, y);
    producer.compute_root();
    consumer.parallel(y);
  }
};

TEST(Handlers, OfAContextTakeAllocationsAndTasks) {
  TwoStages p;
  Counts c;
  c.handlers.custom_malloc = count_malloc;
  c.handlers.custom_free = count_free;
  c.handlers.custom_do_task = count_task;
  const Buffer<int> out = p.consumer.realize(&c, {100, 40});
  EXPECT_EQ(out(3, 4), 15);
  EXPECT_EQ(c.allocated, 1);
  EXPECT_EQ(c.freed, 1);
  EXPECT_EQ(c.tasks, 40);
  c.handlers.custom_do_task = nullptr;
  c.handlers.custom_do_par_for = serial_loop;
  p.consumer.realize(&c, {100, 40});
  EXPECT_EQ(c.loops, 1);
  EXPECT_EQ(c.tasks, 40);
}

TEST(Handlers, OfThePipelineServeContextsWithoutTheirOwn) {
  TwoStages p;
  p.consumer.jit_handlers().custom_malloc = count_malloc;
  p.consumer.jit_handlers().custom_free = count_free;
  Counts c;
  p.consumer.realize(&c, {10, 10});
  EXPECT_EQ(c.allocated, 1);
  EXPECT_EQ(c.handlers.custom_malloc, nullptr);
}

TEST(Handlers, OfErrorsReplaceTheException) {
  Func f("f");
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  f(x) = in(x);
  in.set(Buffer<int>(4));
  Counts c;
  c.handlers.custom_error = keep_error;
  f.realize(&c, {8});
  EXPECT_NE(c.message.find("buffer 'in' is accessed at 0 to 7"), std::string::npos) << c.message;
  in.reset();
  f.realize(&c, {8});
  EXPECT_NE(c.message.find("ImageParam 'in' is not bound"), std::string::npos) << c.message;
}

void *no_malloc(JITUserContext *, size_t) { return nullptr; }

TEST(Handlers, MayRefuseMemory) {
  TwoStages p;
  p.consumer.jit_handlers().custom_malloc = no_malloc;
  p.consumer.jit_handlers().custom_free = count_free;
  EXPECT_NE(
      message_of([&] { p.consumer.realize({100, 40}); }).find("there is no memory for 'producer'"),
      std::string::npos);
}

void *throwing_malloc(JITUserContext *, size_t) { throw std::logic_error("no thanks"); }
int throwing_task(JITUserContext *, int (*)(JITUserContext *, int, uint8_t *), int, uint8_t *) {
  throw std::logic_error("not this one");
}

TEST(Handlers, MayThrow) {
  TwoStages p;
  Counts c;
  c.handlers.custom_malloc = throwing_malloc;
  EXPECT_THROW(p.consumer.realize(&c, {100, 40}), std::logic_error);
  c.handlers.custom_malloc = count_malloc;
  c.handlers.custom_free = count_free;
  c.handlers.custom_do_task = throwing_task;
  EXPECT_THROW(p.consumer.realize(&c, {100, 40}), std::logic_error);
  EXPECT_EQ(c.allocated, c.freed);
}

Func *inner_func = nullptr;
void realize_inside(JITUserContext *c, const char *) {
  const Buffer<int> b = inner_func->realize({4});
  counts(c).tasks = b(3);
}

TEST(Handlers, MayRunPipelines) {
  Func inner("inner"), f("f");
  Var x("x");
  inner(x) = 10 * x;
  inner_func = &inner;
  ImageParam in(Int(32), 1, "in");
  f(x) = in(x);
  in.set(Buffer<int>(1));
  Counts c;
  c.handlers.custom_error = realize_inside;
  f.realize(&c, {8});
  EXPECT_EQ(c.tasks, 30);
}

TEST(Handlers, KeepThreadsApart) {
  TwoStages p;
  p.consumer.compile_jit();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      Counts c;
      c.handlers.custom_malloc = count_malloc;
      c.handlers.custom_free = count_free;
      for (int i = 0; i < 20; i++) p.consumer.realize(&c, {64, 16});
      wrong += c.allocated != 20 || c.freed != 20;
    });
  }
  for (std::thread &t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Functions of the program throw through compiled code and the tasks of parallel loops.
class ThrowingFunctions : public testing::TestWithParam<bool> {
 protected:
  Var x{"x"}, y{"y"};
  Func producer{"producer"}, consumer{"consumer"};
  Counts c;
  ThrowingFunctions() {
    c.handlers.custom_malloc = count_malloc;
    c.handlers.custom_free = count_free;
  }
  void expect_thrown(const char *text) {
    if (GetParam()) {
      producer.compute_at(consumer, y);
      consumer.parallel(y);
    } else {
      producer.compute_root();
    }
    producer.store_in(MemoryType::Heap);
    try {
      consumer.realize(&c, {40, 8});
      FAIL() << "nothing was thrown";
    } catch (const std::logic_error &e) {
      EXPECT_STREQ(e.what(), text);
    }
    EXPECT_GT(c.allocated, 0);
    EXPECT_EQ(c.allocated, c.freed);
  }
};

TEST_P(ThrowingFunctions, OfExternStages) {
  producer.define_extern("throwing_stage", {}, Int(32), 1);
  consumer(x, y) = producer(x) + y;
  expect_thrown("no stage");
}

TEST_P(ThrowingFunctions, OfQuestionsOfExternStages) {
  Func first("first");
  first(x) = x;
  first.compute_root();
  producer.define_extern("throwing_question", {first}, Int(32), 1);
  consumer(x, y) = producer(x) + y;
  producer.compute_root();
  if (GetParam()) consumer.parallel(y);
  EXPECT_THROW(consumer.realize(&c, {40, 8}), std::logic_error);
  EXPECT_EQ(c.allocated, c.freed);
}

TEST_P(ThrowingFunctions, OfCalls) {
  producer(x) = extern_call(Int(32), "throwing_call", {x}, {Int(32)});
  consumer(x, y) = producer(x) + y;
  producer.vectorize(x, 4, TailStrategy::GuardWithIf);
  expect_thrown("no value");
}

INSTANTIATE_TEST_SUITE_P(Serial, ThrowingFunctions, testing::Bool());

}  // namespace
}  // namespace polyhalite::handlers_test
