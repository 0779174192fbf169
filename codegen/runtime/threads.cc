// Threads, mutexes and condition variables for programs that go by the runtime's. What begins as
// zeros needs no construction.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "codegen/runtime/internal.h"
#include "lang/abi/polyhalite_threads.h"

struct polyhalite_thread {
  pthread_t handle;
  void (*run)(void *);
  void *closure;
};

struct polyhalite_mutex_array {
  polyhalite_mutex *mutexes;
};

namespace polyhalite::runtime {

namespace {

constexpr int kBuckets = 16;

// Waiting threads sleep by their condition's address.
struct Bucket {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
};
Bucket buckets[kBuckets];

Bucket &bucket_of(const polyhalite_cond *c) {
  return buckets[(reinterpret_cast<uintptr_t>(c) / sizeof(polyhalite_cond)) % kBuckets];
}

void *run_thread(void *thread) {
  auto *t = static_cast<polyhalite_thread *>(thread);
  t->run(t->closure);
  return nullptr;
}

}  // namespace

bool try_lock(polyhalite_mutex *m) {
  return __atomic_exchange_n(&m->_private[0], uintptr_t{1}, __ATOMIC_ACQUIRE) == 0;
}

}  // namespace polyhalite::runtime

using namespace polyhalite::runtime;  // NOLINT: all of this file

extern "C" {

PH_WEAK void polyhalite_mutex_lock(polyhalite_mutex *m) {
  for (int i = 0; !try_lock(m); i++) {
    if (i < kSpins) {
      pause_briefly();
    } else {
      sched_yield();
    }
  }
}

PH_WEAK void polyhalite_mutex_unlock(polyhalite_mutex *m) {
  __atomic_store_n(&m->_private[0], uintptr_t{0}, __ATOMIC_RELEASE);
}

// A condition counts its signals.
PH_WEAK void polyhalite_cond_broadcast(polyhalite_cond *c) {
  Bucket &b = bucket_of(c);
  pthread_mutex_lock(&b.lock);
  c->_private[0]++;
  pthread_cond_broadcast(&b.changed);
  pthread_mutex_unlock(&b.lock);
}

PH_WEAK void polyhalite_cond_signal(polyhalite_cond *c) { polyhalite_cond_broadcast(c); }

PH_WEAK void polyhalite_cond_wait(polyhalite_cond *c, polyhalite_mutex *m) {
  Bucket &b = bucket_of(c);
  pthread_mutex_lock(&b.lock);
  const uintptr_t before = c->_private[0];
  polyhalite_mutex_unlock(m);
  while (c->_private[0] == before) pthread_cond_wait(&b.changed, &b.lock);
  pthread_mutex_unlock(&b.lock);
  polyhalite_mutex_lock(m);
}

PH_WEAK polyhalite_mutex_array *polyhalite_mutex_array_create(uint64_t count) {
  auto *array = static_cast<polyhalite_mutex_array *>(malloc(sizeof(polyhalite_mutex_array)));
  if (!array) return nullptr;
  array->mutexes =
      static_cast<polyhalite_mutex *>(calloc(count ? count : 1, sizeof(polyhalite_mutex)));
  if (array->mutexes) return array;
  free(array);
  return nullptr;
}

PH_WEAK void polyhalite_mutex_array_destroy(void *, void *array) {
  if (!array) return;
  free(static_cast<polyhalite_mutex_array *>(array)->mutexes);
  free(array);
}

PH_WEAK int polyhalite_mutex_array_lock(polyhalite_mutex_array *array, int entry) {
  polyhalite_mutex_lock(&array->mutexes[entry]);
  return 0;
}

PH_WEAK int polyhalite_mutex_array_unlock(polyhalite_mutex_array *array, int entry) {
  polyhalite_mutex_unlock(&array->mutexes[entry]);
  return 0;
}

PH_WEAK polyhalite_thread *polyhalite_spawn_thread(void (*run)(void *), void *closure) {
  auto *t = static_cast<polyhalite_thread *>(malloc(sizeof(polyhalite_thread)));
  if (!t) return nullptr;
  t->run = run;
  t->closure = closure;
  if (pthread_create(&t->handle, nullptr, run_thread, t) == 0) return t;
  free(t);
  return nullptr;
}

PH_WEAK void polyhalite_join_thread(polyhalite_thread *t) {
  if (!t) return;
  pthread_join(t->handle, nullptr);
  free(t);
}

}  // extern "C"
