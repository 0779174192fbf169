// Tasks of async Funcs: a fork runs a producer beside its consumers. Each running fork has a thread
// of its own for the producer, so that a task that waits for a semaphore never keeps the thread
// that would release it: no number of threads of the pool, not even one, is too small. Such threads
// are kept for later forks.
#include <pthread.h>
#include <stdlib.h>

#include <new>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

constexpr int kBuckets = 64;

// What a semaphore's 16 bytes hold.
struct Semaphore {
  int32_t count;    // atomic
  int32_t waiting;  // threads; atomic
  int32_t failed;   // the code with which the other task ended, or 0; atomic
  int32_t unused;
};
static_assert(sizeof(Semaphore) == sizeof(polyhalite_semaphore_t));

struct Bucket {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
};
Bucket buckets[kBuckets];

Bucket &bucket_of(const Semaphore *s) {
  return buckets[(reinterpret_cast<uintptr_t>(s) / sizeof(Semaphore)) % kBuckets];
}

Semaphore *inside(polyhalite_semaphore_t *s) { return reinterpret_cast<Semaphore *>(s); }

bool try_acquire(Semaphore *s) {
  int32_t n = __atomic_load_n(&s->count, __ATOMIC_SEQ_CST);
  while (n > 0) {
    if (__atomic_compare_exchange_n(&s->count, &n, n - 1, true, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
  }
  return false;
}

int32_t failure(const Semaphore *s) { return __atomic_load_n(&s->failed, __ATOMIC_ACQUIRE); }

int acquire(Semaphore *s) {
  for (int i = 0; i < kSpins; i++) {
    if (try_acquire(s)) return 0;
    if (int code = failure(s)) return code;
    pause_briefly();
  }
  Bucket &b = bucket_of(s);
  pthread_mutex_lock(&b.lock);
  __atomic_fetch_add(&s->waiting, 1, __ATOMIC_SEQ_CST);
  int code = 0;
  while (!try_acquire(s) && !(code = failure(s))) pthread_cond_wait(&b.changed, &b.lock);
  __atomic_fetch_sub(&s->waiting, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&b.lock);
  return code;
}

void wake(Semaphore *s) {
  Bucket &b = bucket_of(s);
  pthread_mutex_lock(&b.lock);
  pthread_cond_broadcast(&b.changed);
  pthread_mutex_unlock(&b.lock);
}

void release(Semaphore *s) {
  __atomic_fetch_add(&s->count, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&s->waiting, __ATOMIC_SEQ_CST) > 0) wake(s);
}

// A fork that is running. Its two tasks have indices 0 and 1.
struct Fork {
  polyhalite_task_t tasks[2];
  void *user_context;
  uint8_t *closure;
  polyhalite_semaphore_t *const *semaphores;
  int count;
  void *job;   // of the pool, that the fork is part of
  int result;  // of the first task that failed; atomic

  void run(int task) {
    const int code = tasks[task](user_context, task, closure);
    if (code == 0) return;
    int none = 0;
    __atomic_compare_exchange_n(&result, &none, code, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    // The other task would wait for ever.
    for (int i = 0; i < count; i++) {
      Semaphore *s = inside(semaphores[i]);
      __atomic_store_n(&s->failed, code, __ATOMIC_SEQ_CST);
      wake(s);
    }
  }
};

struct ForkThread {
  pthread_t thread;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
  Fork *fork = nullptr;  // under the lock; null again when its task has ended
  bool stopping = false;
  ForkThread *next = nullptr;  // idle ones
};

struct Threads {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
  ForkThread *idle = nullptr;
};
Threads threads;

void *serve(void *argument) {
  auto *self = static_cast<ForkThread *>(argument);
  pthread_mutex_lock(&threads.lock);
  while (!self->stopping) {
    if (!self->fork) {
      pthread_cond_wait(&self->wake, &threads.lock);
      continue;
    }
    Fork *fork = self->fork;
    pthread_mutex_unlock(&threads.lock);
    set_current_job(fork->job);
    fork->run(0);
    set_current_job(nullptr);
    pthread_mutex_lock(&threads.lock);
    self->fork = nullptr;
    self->next = threads.idle;
    threads.idle = self;
    pthread_cond_broadcast(&threads.finished);
  }
  pthread_mutex_unlock(&threads.lock);
  return nullptr;
}

// Threads do not survive a process's fork: the child starts its own.
void after_fork_in_child() { threads = Threads(); }

// Under the lock. Null where the system has no thread left.
ForkThread *take_thread() {
  static bool watching_forks = false;
  if (!watching_forks) {
    watching_forks = true;
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
  }
  if (ForkThread *t = threads.idle) {
    threads.idle = t->next;
    return t;
  }
  void *memory = malloc(sizeof(ForkThread));
  if (!memory) return nullptr;
  auto *t = new (memory) ForkThread();
  if (pthread_create(&t->thread, nullptr, serve, t) == 0) return t;
  free(t);
  return nullptr;
}

}  // namespace

void stop_fork_threads() {
  pthread_mutex_lock(&threads.lock);
  ForkThread *list = threads.idle;
  threads.idle = nullptr;
  for (ForkThread *t = list; t; t = t->next) {
    t->stopping = true;
    pthread_cond_signal(&t->wake);
  }
  pthread_mutex_unlock(&threads.lock);
  while (list) {
    ForkThread *next = list->next;
    pthread_join(list->thread, nullptr);
    free(list);
    list = next;
  }
}

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

PH_WEAK void polyhalite_semaphore_init(polyhalite_semaphore_t *s, int count) {
  *runtime::inside(s) = {count, 0, 0, 0};
}

PH_WEAK int polyhalite_semaphore_acquire(polyhalite_semaphore_t *s) {
  return runtime::acquire(runtime::inside(s));
}

PH_WEAK void polyhalite_semaphore_release(polyhalite_semaphore_t *s) {
  runtime::release(runtime::inside(s));
}

PH_WEAK int polyhalite_do_fork(void *user_context, polyhalite_task_t producer,
                               polyhalite_task_t consumer, uint8_t *closure,
                               polyhalite_semaphore_t *const *semaphores, int count) {
  runtime::Fork fork = {{producer, consumer},
                        user_context,
                        closure,
                        semaphores,
                        count,
                        runtime::current_job_of_thread(),
                        0};
  pthread_mutex_lock(&runtime::threads.lock);
  runtime::ForkThread *thread = runtime::take_thread();
  if (!thread) {
    pthread_mutex_unlock(&runtime::threads.lock);
    runtime::report(user_context, "no thread could be started for an asynchronous producer");
    return polyhalite_error_code_generic_error;
  }
  thread->fork = &fork;
  pthread_cond_signal(&thread->wake);
  pthread_mutex_unlock(&runtime::threads.lock);

  fork.run(1);

  pthread_mutex_lock(&runtime::threads.lock);
  while (thread->fork == &fork)
    pthread_cond_wait(&runtime::threads.finished, &runtime::threads.lock);
  pthread_mutex_unlock(&runtime::threads.lock);
  return __atomic_load_n(&fork.result, __ATOMIC_ACQUIRE);
}

}  // extern "C"
