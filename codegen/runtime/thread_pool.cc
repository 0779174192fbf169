// The thread pool behind parallel loops. Each thread has a part of a job's indices, the same one
// each time a loop runs, so that it finds in its caches what it left there; it takes a few at a
// time from the front, and when none is left, from the ends of others' parts. Waiting spins for a
// millisecond and then sleeps: to wake a thread takes as long as a small pipeline, up to 100 us
// where a core is a virtual one. Whoever else wants the core has it meanwhile. The system may wake
// a thread on the core of the one that calls, and leave it there for milliseconds: it goes to
// another one. Whether a short loop gains by threads at all is measured as it runs (habits.h).
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "codegen/runtime/habits.h"
#include "codegen/runtime/internal.h"

// Functions that a program may define anew are second names of these here: where it does, the two
// differ. Their labels are given, since compilers differ in what they call a static C function.
#define PH_WEAK_NAME_OF(FUNCTION) __attribute__((weak, alias(#FUNCTION)))
extern "C" {
static int own_default_do_task(void *, polyhalite_task_t, int, uint8_t *)
    __asm__("own_default_do_task");
static int own_do_task(void *, polyhalite_task_t, int, uint8_t *) __asm__("own_do_task");
PH_WEAK_NAME_OF(own_default_do_task)
int polyhalite_default_do_task(void *user_context, polyhalite_task_t task, int index,
                               uint8_t *closure);
PH_WEAK_NAME_OF(own_do_task)
int polyhalite_do_task(void *user_context, polyhalite_task_t task, int index, uint8_t *closure);
}

namespace polyhalite::runtime {

namespace {

constexpr int kMaxThreads = 256;
constexpr int kShareOfRemaining = 4;  // a thread takes 1/4 of what is left of a part
constexpr int64_t kSpinNanoseconds = 1000000;
constexpr int kPausesAtOnce = 32;  // 140 cycles each at most

// Indices that nobody has taken yet, counted from the loop's first: [low half, high half). Atomic;
// of its own line of the cache.
struct alignas(64) Part {
  uint64_t left;
};
uint32_t begin_of(uint64_t left) { return static_cast<uint32_t>(left); }
uint32_t end_of(uint64_t left) { return static_cast<uint32_t>(left >> 32); }
uint64_t part_of(uint32_t begin, uint32_t end) { return uint64_t{end} << 32 | begin; }

// What a parallel loop does.
struct Loop {
  polyhalite_task_t task;
  void *user_context;
  uint8_t *closure;
  int min, extent;
};

struct Job {
  const Loop &loop;
  Part *parts;  // one for each thread
  int threads;
  int result;   // of the first task that failed; atomic
  int workers;  // threads inside, without the owner; changes under the lock, read atomically
  Job *parent;  // the job whose task started this one
  Job *older;   // in the pool's list
};

struct Pool {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t work = PTHREAD_COND_INITIALIZER;      // a job was added
  pthread_cond_t progress = PTHREAD_COND_INITIALIZER;  // a worker left a job, or a job was added
  Job *jobs = nullptr;                                 // newest first; those with indices left
  // Threads, with the caller; 0: not known yet. Changes under the lock, read atomically.
  int wanted = 0;
  int started = 0;
  int sleeping = 0;  // changes under the lock, read atomically
  bool stopping = false;
  unsigned generation = 0;  // counts added jobs; read atomically by spinning threads
  int caller_core = -1;     // of the last thread that is no worker; atomic
  pthread_t threads[kMaxThreads];
};

polyhalite_do_task_t do_task_handler = nullptr;
polyhalite_do_par_for_t do_par_for_handler = nullptr;
Pool pool;
thread_local Job *current_job = nullptr;
thread_local int own_part = 0;  // of each job; callers have the first one

int number_in_environment(const char *name) {
  const char *text = getenv(name);
  if (!text) return 0;
  const int n = atoi(text);
  return n < 0 ? 0 : n > kMaxThreads ? kMaxThreads : n;
}

int default_threads() {
  if (int n = number_in_environment("PH_NUM_THREADS")) return n;
  if (int n = number_in_environment("HL_NUM_THREADS")) return n;
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
    const int n = CPU_COUNT(&cores);
    if (n > 0) return n > kMaxThreads ? kMaxThreads : n;
  }
  return 1;
}

// Under the lock.
void want(int threads) { __atomic_store_n(&pool.wanted, threads, __ATOMIC_RELAXED); }

int64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

// That of the last thread that called: other threads' work there would not be at the same time.
void leave_callers_core() {
  const int core = __atomic_load_n(&pool.caller_core, __ATOMIC_RELAXED);
  cpu_set_t all;
  if (core < 0 || core >= CPU_SETSIZE || sched_getcpu() != core ||
      sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) {
    return;
  }
  cpu_set_t others = all;
  CPU_CLR(core, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof all, &all);
}

// Whether nobody looks at each task: no handler, and no function of the program's in the place of
// this file's own.
bool may_run_ranges() {
  return !__atomic_load_n(&do_task_handler, __ATOMIC_ACQUIRE) &&
         polyhalite_do_task == own_do_task && polyhalite_default_do_task == own_default_do_task;
}

// Runs `count` of a loop's indices, beginning with the one at `first` of them.
int run_range(const Loop &loop, uint32_t first, uint32_t count) {
  const int index = loop.min + static_cast<int>(first), n = static_cast<int>(count);
  if (loop.task == run_one_of_ranges && may_run_ranges()) {
    const Ranges &ranges = *reinterpret_cast<const Ranges *>(loop.closure);
    return ranges.range(loop.user_context, index, n, ranges.closure);
  }
  for (int i = 0; i < n; i++) {
    const int code = polyhalite_do_task(loop.user_context, loop.task, index + i, loop.closure);
    if (code) return code;
  }
  return 0;
}

int run_serially(const Loop &loop) {
  return run_range(loop, 0, static_cast<uint32_t>(loop.extent));
}

// What tells loops apart.
uintptr_t name_of(const Loop &loop) {
  if (loop.task != run_one_of_ranges) return reinterpret_cast<uintptr_t>(loop.task);
  return reinterpret_cast<uintptr_t>(reinterpret_cast<const Ranges *>(loop.closure)->range);
}

// Waits for it in spinning; false where it does not come soon. `step` is called from time to time.
template <typename Ready, typename Step>
bool spin_until(Ready ready, Step step) {
  int64_t begin = -1;
  for (;;) {
    for (int i = 0; i < kPausesAtOnce; i++) {
      if (ready()) return true;
      pause_briefly();
    }
    const int64_t now = nanoseconds();
    if (begin < 0) begin = now;
    if (now - begin > kSpinNanoseconds) return false;
    step();
    sched_yield();
  }
}

bool has_indices(const Job &job) {
  for (int i = 0; i < job.threads; i++) {
    const uint64_t left = __atomic_load_n(&job.parts[i].left, __ATOMIC_RELAXED);
    if (begin_of(left) < end_of(left)) return true;
  }
  return false;
}

// Do the indices that are left of it keep all threads busy?
bool is_enough(const Job &job) {
  int64_t left = 0;
  for (int i = 0; i < job.threads && left < job.threads; i++) {
    const uint64_t part = __atomic_load_n(&job.parts[i].left, __ATOMIC_RELAXED);
    if (begin_of(part) < end_of(part)) left += end_of(part) - begin_of(part);
  }
  return left >= job.threads;
}

// Takes [first, last) of a part, from its front or its end; false where none is left.
bool take(Part &part, bool front, uint32_t *first, uint32_t *last) {
  uint64_t left = __atomic_load_n(&part.left, __ATOMIC_RELAXED);
  for (;;) {
    const uint32_t begin = begin_of(left), end = end_of(left);
    if (begin >= end) return false;
    uint32_t count = (end - begin) / kShareOfRemaining;
    if (count < 1) count = 1;
    *first = front ? begin : end - count;
    *last = *first + count;
    const uint64_t rest = front ? part_of(*last, end) : part_of(begin, *first);
    if (__atomic_compare_exchange_n(&part.left, &left, rest, true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      return true;
    }
  }
}

bool take(Job &job, uint32_t *first, uint32_t *last) {
  const int own = own_part < job.threads ? own_part : 0;
  for (int i = 0; i < job.threads; i++) {
    if (take(job.parts[(own + i) % job.threads], i == 0, first, last)) return true;
  }
  return false;
}

void run_indices(Job &job) {
  Job *outside = current_job;
  current_job = &job;
  uint32_t first, last;
  while (take(job, &first, &last)) {
    const int code = run_range(job.loop, first, last - first);
    if (code == 0) continue;
    int none = 0;
    __atomic_compare_exchange_n(&job.result, &none, code, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
    for (int p = 0; p < job.threads; p++) {
      __atomic_store_n(&job.parts[p].left, uint64_t{0}, __ATOMIC_RELEASE);
    }
  }
  current_job = outside;
}

bool descends_from(const Job *job, const Job *ancestor) {
  for (; job; job = job->parent) {
    if (job == ancestor) return true;
  }
  return false;
}

// The newest job with indices left, of those below `ancestor` where it is given. Under the lock.
Job *find_job(const Job *ancestor) {
  for (Job *job = pool.jobs; job; job = job->older) {
    if (has_indices(*job) && (!ancestor || descends_from(job->parent, ancestor))) return job;
  }
  return nullptr;
}

// Works on a job of somebody else's. Enters and leaves with the lock held.
void help(Job &job) {
  __atomic_fetch_add(&job.workers, 1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&pool.lock);
  run_indices(job);
  pthread_mutex_lock(&pool.lock);
  // The owner may go on, and the job may end, as soon as this is seen.
  if (__atomic_sub_fetch(&job.workers, 1, __ATOMIC_RELEASE) == 0) {
    pthread_cond_broadcast(&pool.progress);
  }
}

void *worker(void *index) {
  const int self = static_cast<int>(reinterpret_cast<intptr_t>(index));
  own_part = self + 1;
  pthread_mutex_lock(&pool.lock);
  while (!pool.stopping) {
    Job *job = self + 1 < pool.wanted ? find_job(nullptr) : nullptr;
    if (job) {
      help(*job);
      continue;
    }
    const unsigned seen = pool.generation;
    pthread_mutex_unlock(&pool.lock);
    spin_until([seen] { return __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE) != seen; },
               leave_callers_core);
    pthread_mutex_lock(&pool.lock);
    if (pool.generation != seen || pool.stopping) continue;
    __atomic_fetch_add(&pool.sleeping, 1, __ATOMIC_RELAXED);
    pthread_cond_wait(&pool.work, &pool.lock);
    __atomic_fetch_sub(&pool.sleeping, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool.lock);
    leave_callers_core();
    pthread_mutex_lock(&pool.lock);
  }
  pthread_mutex_unlock(&pool.lock);
  return nullptr;
}

// Threads do not survive a fork: the child starts its own.
void after_fork_in_child() {
  pool = Pool();
  current_job = nullptr;
}

void start_threads() {
  static bool watching_forks = false;
  if (!watching_forks) {
    watching_forks = true;
    pthread_atfork(nullptr, nullptr, after_fork_in_child);
  }
  while (pool.started < pool.wanted - 1) {
    const intptr_t index = pool.started;
    if (pthread_create(&pool.threads[index], nullptr, worker, reinterpret_cast<void *>(index))) {
      break;  // fewer threads do the same work
    }
    pool.started++;
  }
}

void remove(Job &job) {
  for (Job **at = &pool.jobs; *at; at = &(*at)->older) {
    if (*at != &job) continue;
    *at = job.older;
    return;
  }
}

// Waits until no other thread is inside the job; meanwhile works on jobs that its tasks started.
// Enters and leaves with the lock held.
void wait_for_workers(Job &job) {
  const auto is_alone = [&] { return __atomic_load_n(&job.workers, __ATOMIC_ACQUIRE) == 0; };
  while (!is_alone()) {
    if (Job *below = find_job(&job)) {
      help(*below);
      continue;
    }
    const unsigned seen = pool.generation;
    pthread_mutex_unlock(&pool.lock);
    const bool changed = spin_until(
        [&] { return is_alone() || __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE) != seen; },
        [] {});
    pthread_mutex_lock(&pool.lock);
    if (!changed && !is_alone() && pool.generation == seen) {
      pthread_cond_wait(&pool.progress, &pool.lock);
    }
  }
}

int share(const Loop &loop) {
  pthread_mutex_lock(&pool.lock);
  if (pool.wanted == 0) want(default_threads());
  if (pool.wanted == 1) {
    pthread_mutex_unlock(&pool.lock);
    return run_serially(loop);
  }
  start_threads();
  const int threads = pool.wanted;
  Part *parts = static_cast<Part *>(__builtin_alloca_with_align(sizeof(Part) * threads, 512));
  for (int i = 0; i < threads; i++) {
    const auto edge = [&](int64_t part) {
      return static_cast<uint32_t>(part * loop.extent / threads);
    };
    parts[i].left = part_of(edge(i), edge(i + 1));
  }
  Job job = {loop, parts, threads, 0, 0, current_job, pool.jobs};
  pool.jobs = &job;
  if (own_part == 0) __atomic_store_n(&pool.caller_core, sched_getcpu(), __ATOMIC_RELAXED);
  __atomic_fetch_add(&pool.generation, 1, __ATOMIC_RELEASE);
  if (pool.sleeping > 0) {
    // A signal could wake a thread that a smaller number of threads has retired.
    if (loop.extent == 2 && pool.started < pool.wanted) {
      pthread_cond_signal(&pool.work);
    } else {
      pthread_cond_broadcast(&pool.work);
    }
  }
  if (job.parent) pthread_cond_broadcast(&pool.progress);
  pthread_mutex_unlock(&pool.lock);

  run_indices(job);

  pthread_mutex_lock(&pool.lock);
  remove(job);
  wait_for_workers(job);
  pthread_mutex_unlock(&pool.lock);
  return __atomic_load_n(&job.result, __ATOMIC_ACQUIRE);
}

int run_parallel(const Loop &loop) {
  const int threads = __atomic_load_n(&pool.wanted, __ATOMIC_RELAXED);
  if (threads == 1 || (current_job && is_enough(*current_job))) return run_serially(loop);
  if (current_job || threads == 0) return share(loop);
  Habit &habit = habit_of(name_of(loop), loop.extent, threads);
  const Way way = way_of(habit, __atomic_load_n(&pool.sleeping, __ATOMIC_RELAXED) > 0);
  if (way.wake) {
    pthread_mutex_lock(&pool.lock);
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
  }
  const uint64_t begin = ticks();
  const int code = way.alone ? run_serially(loop) : share(loop);
  if (way.counts) learn(habit, way.alone, ticks() - begin);
  return code;
}

void shut_down() {
  pthread_mutex_lock(&pool.lock);
  pool.stopping = true;
  __atomic_fetch_add(&pool.generation, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast(&pool.work);
  const int started = pool.started;
  pthread_mutex_unlock(&pool.lock);
  for (int i = 0; i < started; i++) pthread_join(pool.threads[i], nullptr);
  pthread_mutex_lock(&pool.lock);
  pool.stopping = false;
  pool.started = 0;
  pthread_mutex_unlock(&pool.lock);
  stop_fork_threads();
  release_cached_memory();
}

}  // namespace

void *current_job_of_thread() { return current_job; }
void set_current_job(void *job) { current_job = static_cast<Job *>(job); }

}  // namespace polyhalite::runtime

namespace runtime = polyhalite::runtime;

extern "C" {

static int own_default_do_task(void *user_context, polyhalite_task_t task, int index,
                               uint8_t *closure) {
  return task(user_context, index, closure);
}

static int own_do_task(void *user_context, polyhalite_task_t task, int index, uint8_t *closure) {
  polyhalite_do_task_t handler = __atomic_load_n(&runtime::do_task_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context, task, index, closure)
                 : polyhalite_default_do_task(user_context, task, index, closure);
}

PH_WEAK int polyhalite_default_do_par_for(void *user_context, polyhalite_task_t task, int min,
                                          int extent, uint8_t *closure) {
  if (extent <= 0) return 0;
  const runtime::Loop loop = {task, user_context, closure, min, extent};
  return extent == 1 ? runtime::run_serially(loop) : runtime::run_parallel(loop);
}

PH_WEAK int polyhalite_do_par_for(void *user_context, polyhalite_task_t task, int min, int extent,
                                  uint8_t *closure) {
  polyhalite_do_par_for_t handler = __atomic_load_n(&runtime::do_par_for_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context, task, min, extent, closure)
                 : polyhalite_default_do_par_for(user_context, task, min, extent, closure);
}

PH_WEAK polyhalite_do_task_t polyhalite_set_custom_do_task(polyhalite_do_task_t handler) {
  return __atomic_exchange_n(&runtime::do_task_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK int polyhalite_do_par_for_ranges(void *user_context, polyhalite_range_t range, int min,
                                         int extent, uint8_t *closure) {
  runtime::Ranges ranges = {range, closure};
  return polyhalite_do_par_for(user_context, runtime::run_one_of_ranges, min, extent,
                               reinterpret_cast<uint8_t *>(&ranges));
}

PH_WEAK polyhalite_do_par_for_t polyhalite_set_custom_do_par_for(polyhalite_do_par_for_t handler) {
  return __atomic_exchange_n(&runtime::do_par_for_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK int polyhalite_set_num_threads(int n) {
  if (n > runtime::kMaxThreads) n = runtime::kMaxThreads;
  const int old = polyhalite_get_num_threads();
  pthread_mutex_lock(&runtime::pool.lock);
  runtime::want(n > 0 ? n : runtime::default_threads());
  pthread_mutex_unlock(&runtime::pool.lock);
  return old;
}

PH_WEAK int polyhalite_get_num_threads(void) {
  pthread_mutex_lock(&runtime::pool.lock);
  if (runtime::pool.wanted == 0) runtime::want(runtime::default_threads());
  const int n = runtime::pool.wanted;
  pthread_mutex_unlock(&runtime::pool.lock);
  return n;
}

PH_WEAK void polyhalite_shutdown_thread_pool(void) { runtime::shut_down(); }

}  // extern "C"
