// The thread pool behind parallel loops. Threads take indices of a job from a shared counter, a few
// at a time while many are left. Waiting spins for some microseconds and then sleeps: a machine
// that delivers fewer cores than it shows must not lose them to spinning.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "codegen/runtime/internal.h"

namespace polyhalite::runtime {

namespace {

constexpr int kMaxThreads = 256;
constexpr int kShareOfRemaining = 4;  // a thread takes 1/(4 * threads) of what is left

struct Job {
  polyhalite_task_t task;
  void *user_context;
  uint8_t *closure;
  int64_t next, end;  // indices not taken yet; atomic
  int result;         // of the first task that failed; atomic
  int workers;        // threads inside, without the owner; changes under the lock, read atomically
  int threads;
  Job *parent;  // the job whose task started this one
  Job *older;   // in the pool's list
};

struct Pool {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t work = PTHREAD_COND_INITIALIZER;      // a job was added
  pthread_cond_t progress = PTHREAD_COND_INITIALIZER;  // a worker left a job, or a job was added
  Job *jobs = nullptr;                                 // newest first; those with indices left
  int wanted = 0;                                      // threads, with the caller; 0: not known yet
  int started = 0;
  int sleeping = 0;
  bool stopping = false;
  unsigned generation = 0;  // counts added jobs; read atomically by spinning threads
  pthread_t threads[kMaxThreads];
};

polyhalite_do_task_t do_task_handler = nullptr;
polyhalite_do_par_for_t do_par_for_handler = nullptr;
Pool pool;
thread_local Job *current_job = nullptr;

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

bool has_indices(const Job &job) {
  return __atomic_load_n(&job.next, __ATOMIC_RELAXED) < __atomic_load_n(&job.end, __ATOMIC_RELAXED);
}

// Takes [first, last) of the job's indices; false where none is left.
bool take(Job &job, int64_t *first, int64_t *last) {
  int64_t next = __atomic_load_n(&job.next, __ATOMIC_RELAXED);
  for (;;) {
    const int64_t end = __atomic_load_n(&job.end, __ATOMIC_RELAXED);
    if (next >= end) return false;
    int64_t count = (end - next) / (int64_t{kShareOfRemaining} * job.threads);
    if (count < 1) count = 1;
    if (__atomic_compare_exchange_n(&job.next, &next, next + count, true, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
      *first = next;
      *last = next + count;
      return true;
    }
  }
}

void run_indices(Job &job) {
  Job *outside = current_job;
  current_job = &job;
  int64_t first, last;
  while (take(job, &first, &last)) {
    for (int64_t i = first; i < last; i++) {
      const int code =
          polyhalite_do_task(job.user_context, job.task, static_cast<int>(i), job.closure);
      if (code == 0) continue;
      int none = 0;
      __atomic_compare_exchange_n(&job.result, &none, code, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED);
      __atomic_store_n(&job.end, INT64_MIN, __ATOMIC_RELEASE);
      break;
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
  pthread_mutex_lock(&pool.lock);
  while (!pool.stopping) {
    Job *job = self + 1 < pool.wanted ? find_job(nullptr) : nullptr;
    if (job) {
      help(*job);
      continue;
    }
    const unsigned seen = pool.generation;
    pthread_mutex_unlock(&pool.lock);
    bool fresh = false;
    for (int i = 0; i < kSpins && !fresh; i++) {
      pause_briefly();
      fresh = __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE) != seen;
    }
    pthread_mutex_lock(&pool.lock);
    if (pool.generation != seen || pool.stopping) continue;
    pool.sleeping++;
    pthread_cond_wait(&pool.work, &pool.lock);
    pool.sleeping--;
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
  pthread_mutex_unlock(&pool.lock);
  for (int i = 0; i < kSpins && __atomic_load_n(&job.workers, __ATOMIC_ACQUIRE) > 0; i++) {
    pause_briefly();
  }
  pthread_mutex_lock(&pool.lock);
  while (__atomic_load_n(&job.workers, __ATOMIC_ACQUIRE) > 0) {
    if (Job *below = find_job(&job)) {
      help(*below);
    } else {
      pthread_cond_wait(&pool.progress, &pool.lock);
    }
  }
}

int run_serially(void *user_context, polyhalite_task_t task, int min, int extent,
                 uint8_t *closure) {
  for (int i = 0; i < extent; i++) {
    if (int code = polyhalite_do_task(user_context, task, min + i, closure)) return code;
  }
  return 0;
}

int run_parallel(void *user_context, polyhalite_task_t task, int min, int extent,
                 uint8_t *closure) {
  pthread_mutex_lock(&pool.lock);
  if (pool.wanted == 0) pool.wanted = default_threads();
  if (pool.wanted == 1) {
    pthread_mutex_unlock(&pool.lock);
    return run_serially(user_context, task, min, extent, closure);
  }
  start_threads();
  Job job = {task, user_context, closure,     min,      int64_t{min} + extent, 0,
             0,    pool.wanted,  current_job, pool.jobs};
  pool.jobs = &job;
  __atomic_fetch_add(&pool.generation, 1, __ATOMIC_RELEASE);
  if (pool.sleeping > 0) {
    // A signal could wake a thread that a smaller number of threads has retired.
    if (extent == 2 && pool.started < pool.wanted) {
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

PH_WEAK int polyhalite_default_do_task(void *user_context, polyhalite_task_t task, int index,
                                       uint8_t *closure) {
  return task(user_context, index, closure);
}

PH_WEAK int polyhalite_do_task(void *user_context, polyhalite_task_t task, int index,
                               uint8_t *closure) {
  polyhalite_do_task_t handler = __atomic_load_n(&runtime::do_task_handler, __ATOMIC_ACQUIRE);
  return handler ? handler(user_context, task, index, closure)
                 : polyhalite_default_do_task(user_context, task, index, closure);
}

PH_WEAK int polyhalite_default_do_par_for(void *user_context, polyhalite_task_t task, int min,
                                          int extent, uint8_t *closure) {
  if (extent <= 0) return 0;
  if (extent == 1) return polyhalite_do_task(user_context, task, min, closure);
  return runtime::run_parallel(user_context, task, min, extent, closure);
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

PH_WEAK polyhalite_do_par_for_t polyhalite_set_custom_do_par_for(polyhalite_do_par_for_t handler) {
  return __atomic_exchange_n(&runtime::do_par_for_handler, handler, __ATOMIC_ACQ_REL);
}

PH_WEAK int polyhalite_set_num_threads(int n) {
  if (n > runtime::kMaxThreads) n = runtime::kMaxThreads;
  const int old = polyhalite_get_num_threads();
  pthread_mutex_lock(&runtime::pool.lock);
  runtime::pool.wanted = n > 0 ? n : runtime::default_threads();
  pthread_mutex_unlock(&runtime::pool.lock);
  return old;
}

PH_WEAK int polyhalite_get_num_threads(void) {
  pthread_mutex_lock(&runtime::pool.lock);
  if (runtime::pool.wanted == 0) runtime::pool.wanted = runtime::default_threads();
  const int n = runtime::pool.wanted;
  pthread_mutex_unlock(&runtime::pool.lock);
  return n;
}

PH_WEAK void polyhalite_shutdown_thread_pool(void) { runtime::shut_down(); }

}  // extern "C"
